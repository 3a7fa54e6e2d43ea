#pragma once
/// Logical and virtual PE numbers (manual, Node and PE Numbers), and PEs that are spare or out of service (paper,
/// section 9).
#include <string>
#include <vector>

#include "host/routers/t3e/shape.hpp"

namespace flitlab::t3e {

/// The logical number of every node, [nodes]. `format`: bits of R_PWHO that make up the number, highest first; `file`:
/// CSV lines x,y,z,number; neither: as nodes are numbered or, in modes 1 and 2, groups of 2 x 2 nodes in that order.
/// ConfigError if numbers are not distinct, or do not fit the mode of R_NET_LUT.
std::vector<u32> number_pes(const Shape& shape, u32 lut_mode, const std::vector<u32>& format, const std::string& file);

/// Nodes that work on something, in the order of their virtual numbers.
using Application = std::vector<u32>;

/// Which PEs do what.
struct Staff {
  std::vector<bool> in_service;           ///< [nodes] the PE and its router work
  std::vector<Application> applications;  ///< PEs in service that are in none are idle
  bool everybody = false;                 ///< one application of all nodes, in their order
};

/// Broken nodes, which must exist, are out of service; each gives its logical number to the next spare that is in
/// service and takes the spare's (changes `logical`). `partitions`: base logical number and virtual limit of each;
/// none: all PEs in service but the spares left over work on one application, a spare in the place of the node whose
/// number it has. ConfigError for what does not exist, or does not fit.
Staff assign_pes(const Shape& shape, u32 lut_mode, std::vector<u32>& logical, const std::vector<u32>& broken_nodes,
                 const std::vector<u32>& spares, const std::vector<u32>& partitions);

}  // namespace flitlab::t3e
