#pragma once
/// Wiring of a node's ports (manual, Figures 4 to 6), and propagation of R_ORIENT from one node to all others
/// (Direction Assignments).
#include <string>
#include <vector>

#include "host/config/experiment.hpp"
#include "host/routers/t3e/shape.hpp"

namespace flitlab::t3e {

struct Machine;

/// Returns, [nodes], the value of R_ORIENT for which + leads to higher coordinates: bit 0, 1, 2 is set if port 1 of X,
/// Y, Z leads there. ConfigError if topology.plus_ports does not have three numbers.
std::vector<u8> wiring_of(const Experiment& experiment, const Shape& shape);

/// Returns "X0" to "Z1": the hardware's name of the port that leads in a direction by coordinates.
std::string hardware_port(u32 wired, u32 direction);

/// Returns, [nodes], R_ORIENT after software has written `orient` into `node` at clock `now`; kNone for nodes without a
/// working path from there. The same result as SpecialPhase, without its delays.
std::vector<u32> orientations(const Machine& machine, u32 node, u32 orient, u64 now);

}  // namespace flitlab::t3e
