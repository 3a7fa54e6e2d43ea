#pragma once
/// Destinations of the traffic patterns (Dally & Towles Table 3.1).
#include <string>
#include <vector>

#include "host/topology/topology.hpp"

namespace flitlab {

/// Throws ConfigError if a pattern is no permutation of so many terminals: the one place of the rule. `shape` is that
/// of a Topology; patterns that fit any size, and those that are no permutations, pass.
void check_permutation(const std::string& pattern, const std::vector<u32>& shape, u32 terminals);

/// Destination terminal of every terminal: bit_complement, bit_reverse, shuffle, transpose, tornado, neighbour,
/// random_permutation. Bit patterns act on the terminal number; tornado and neighbour on router coordinates, with
/// the place at the router kept; transpose swaps the coordinates of a square network, else the halves of the number.
std::vector<u32> make_permutation(const std::string& pattern, const Topology& topology, u64 seed);

/// The same by number alone, for terminals that are part of a machine. ConfigError for patterns that go by coordinates.
std::vector<u32> make_permutation(const std::string& pattern, u32 terminals, u64 seed);

/// Terminals of the routers whose coordinates are all below `extent`.
std::vector<u32> hot_region(const Topology& topology, const std::vector<u32>& extent);

/// Rows of weights, as rising 32-bit thresholds.
struct TrafficMatrix {
  std::vector<u32> row_start;   ///< [terminals + 1]
  std::vector<u32> column;      ///< [entries] destination
  std::vector<u32> cumulative;  ///< [entries] draws below this, and not below the entry before, go to this column
};

/// Reads CSV lines source,destination,weight. Every terminal needs a line; one with weight 0 alone sends nothing.
TrafficMatrix read_matrix(const std::string& path, u32 terminals);

/// Rising thresholds for weights that add up to anything positive.
std::vector<u32> cumulative_thresholds(const std::vector<double>& weights);

}  // namespace flitlab
