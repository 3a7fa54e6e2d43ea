#pragma once
/// Destinations of the traffic patterns (Dally & Towles Table 3.1).
#include <string>
#include <vector>

#include "host/topology/topology.hpp"

namespace flitlab {

/// Throws ConfigError if a pattern does not fit this number of terminals; no other code checks this rule. `shape` is a
/// Topology's shape. Patterns that fit any size pass.
void check_permutation(const std::string& pattern, const std::vector<u32>& shape, u32 terminals);

/// Returns the destination terminal of every terminal: bit_complement, bit_reverse, shuffle, transpose, tornado,
/// neighbour, random_permutation. Bit patterns act on the terminal number. tornado and neighbour act on router
/// coordinates and keep the terminal's index at its router. transpose swaps the coordinates of a square network,
/// otherwise the halves of the number.
std::vector<u32> make_permutation(const std::string& pattern, const Topology& topology, u64 seed);

/// The same by terminal number alone, for the terminals of a part of a machine. ConfigError for patterns that need
/// coordinates.
std::vector<u32> make_permutation(const std::string& pattern, u32 terminals, u64 seed);

/// Returns the terminals of the routers whose coordinates are all below `extent`.
std::vector<u32> hot_region(const Topology& topology, const std::vector<u32>& extent);

/// Returns whether a pattern gives a terminal several destinations, by its number: fft, divide.
bool is_exchange(const std::string& pattern);

/// Returns the destinations of each terminal, all equally likely. ConfigError unless the number of terminals is a power
/// of two. fft: the terminals whose numbers differ in one bit, as in a fast Fourier transform. divide: the
/// neighbours in a binomial tree with terminal 0 at its root, in which i and i + 2^k are joined if the k + 1 low bits
/// of i are zero; divide-and-conquer algorithms distribute work and combine results along it. S-Connect, 2.1, names
/// both patterns but leaves their details to a thesis. That all partners are equally likely and all terminals send at
/// the same rate is an interpretation.
std::vector<std::vector<u32>> exchange_partners(const std::string& pattern, u32 terminals);

/// Rows of weights, as rising 32-bit thresholds.
struct TrafficMatrix {
  std::vector<double> sum;      ///< [terminals] sum of the row's values
  std::vector<u32> row_start;   ///< [terminals + 1]
  std::vector<u32> column;      ///< [entries] destination
  std::vector<u32> cumulative;  ///< [entries] a draw takes the first entry of its row whose threshold is above it
};

/// Returns a matrix whose rows list equally likely destinations; a terminal with an empty row sends nothing.
TrafficMatrix even_matrix(const std::vector<std::vector<u32>>& rows);

/// Reads CSV lines source,destination,value. Every terminal needs a line; a terminal whose only value is 0 sends
/// nothing.
TrafficMatrix read_matrix(const TextSource& text, u32 terminals);

/// Returns rising thresholds for weights with a positive sum.
std::vector<u32> cumulative_thresholds(const std::vector<double>& weights);

}  // namespace flitlab
