#pragma once
/// Logical and virtual PE numbers (manual, Node and PE Numbers), and PEs that are spares or out of service (paper,
/// section 9).
#include <string>
#include <vector>

#include "host/routers/t3e/shape.hpp"

namespace flitlab::t3e {

/// Returns the logical PE number of every node, [nodes]. `format`: bits of R_PWHO that make up the number, highest bit
/// first. `file`: CSV lines x,y,z,number. If both are empty, numbers follow the order of the nodes; in modes 1 and 2
/// they follow the order of groups of 2 x 2 nodes. ConfigError if two numbers are equal, or if the numbers do not fit
/// the mode of R_NET_LUT.
std::vector<u32> number_pes(const Shape& shape, u32 lut_mode, const std::vector<u32>& format, const std::string& file);

/// Nodes of one application, in the order of their virtual numbers.
using Application = std::vector<u32>;

/// Assignment of PEs to applications.
struct Assignment {
  std::vector<bool> in_service;  ///< [nodes] whether the PE and its router work
  /// Each application's nodes. A PE in service that is in no application is idle.
  std::vector<Application> applications;
  bool all_nodes = false;  ///< whether the assignment is one application of all nodes, in their order
};

/// Assigns the PEs to applications. Broken nodes, which must exist, are out of service. Each broken node exchanges its
/// logical number in `logical` with the next spare that is in service. `partitions`: base logical number and virtual
/// limit of each partition. Without partitions, one application has all PEs in service except unused spares; a spare in
/// use has the position of the node that it replaces. ConfigError for spares or partitions that do not fit the machine.
Assignment assign_pes(const Shape& shape, u32 lut_mode, std::vector<u32>& logical, const std::vector<u32>& broken_nodes,
                      const std::vector<u32>& spares, const std::vector<u32>& partitions);

}  // namespace flitlab::t3e
