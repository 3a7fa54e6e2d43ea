#pragma once
/// Which of a node's ports leads where (manual, Figures 4 to 6), and how R_ORIENT gets from one node to all others
/// (Direction Assignments).
#include <string>
#include <vector>

#include "host/config/experiment.hpp"
#include "host/routers/t3e/shape.hpp"

namespace flitlab::t3e {

struct Machine;

/// [nodes] R_ORIENT by which + leads to higher coordinates: bit 0, 1, 2 is set if port 1 of X, Y, Z leads there.
/// ConfigError if topology.plus_ports is no list of three.
std::vector<u8> wiring_of(const Experiment& experiment, const Shape& shape);

/// "X0" to "Z1": the hardware's name of a port that leads in a direction by coordinates.
std::string hardware_port(u32 wired, u32 direction);

/// [nodes] R_ORIENT after software has written `orient` into that of `node` at clock `now`; kNone where no way of
/// working links leads. What SpecialPhase does hop by hop, all at once.
std::vector<u32> orientations(const Machine& machine, u32 node, u32 orient, u64 now);

}  // namespace flitlab::t3e
