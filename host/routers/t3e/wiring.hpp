#pragma once
/// Wiring of a node's ports (manual, Figures 4 to 6), and propagation of R_ORIENT from one node to all others
/// (Direction Assignments).
#include <string>
#include <vector>

#include "host/config/experiment.hpp"
#include "host/routers/t3e/shape.hpp"

namespace flitlab::t3e {

struct Machine;

/// Returns for each node the value of R_ORIENT for which + leads to higher coordinates: bit 0, 1 or 2 is set if port 1
/// of X, Y or Z leads there. ConfigError if topology.plus_ports does not have three numbers.
std::vector<u8> wiring_of(const Experiment& experiment, const Shape& shape);

/// Returns the hardware's name, "X0" to "Z1", of the port that leads in a direction of the coordinates.
std::string hardware_port(u32 wired, u32 direction);

/// Returns for each node its R_ORIENT after software has written `orient` into `node` at clock `now`; kNone for nodes
/// to which no working path leads from there. The result is the same as that of SpecialPhase, without its delays.
std::vector<u32> orientations(const Machine& machine, u32 node, u32 orient, u64 now);

}  // namespace flitlab::t3e
