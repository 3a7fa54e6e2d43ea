#pragma once
/// Destinations of the traffic patterns (Dally & Towles Table 3.1).
#include <string>
#include <vector>

#include "host/topology/topology.hpp"

namespace flitlab {

/// Returns the destination of every terminal for the patterns bit_complement, bit_reverse, shuffle, transpose, tornado,
/// neighbour and random_permutation. Bit patterns act on the number of the terminal. tornado and neighbour act on the
/// coordinates of the router, and keep the index of the terminal at its router. transpose exchanges the coordinates of
/// a square network; in other networks it exchanges the two halves of the terminal's number.
std::vector<u32> make_permutation(const std::string& pattern, const Topology& topology, u64 seed);

/// Returns the destinations for patterns that act on terminal numbers, for a part of a machine that has `terminals`
/// terminals. ConfigError for patterns that need coordinates.
std::vector<u32> make_permutation(const std::string& pattern, u32 terminals, u64 seed);

/// Returns the destinations of each terminal for the patterns next_router and next_group, all equally likely: the
/// terminals of the router, or of the group of routers, with the next number. The last one sends to the first one.
std::vector<std::vector<u32>> next_partners(const std::string& pattern, const Topology& topology);

/// Returns the terminals of all routers whose coordinates are below `extent` in every dimension.
std::vector<u32> hot_region(const Topology& topology, const std::vector<u32>& extent);

/// Returns the destinations of each terminal, all equally likely. ConfigError unless the number of terminals is a power
/// of two. fft: the terminals whose numbers differ in one bit, as in a fast Fourier transform. divide: the neighbours
/// in a binomial tree with terminal 0 as its root; divide-and-conquer algorithms distribute work and combine results
/// along this tree. Terminals i and i + 2^k are joined if the k + 1 low bits of i are zero. S-Connect, 2.1, names both
/// patterns but leaves their details to a thesis. flitlab's interpretation is that all partners are equally likely, and
/// that all terminals send at the same rate.
std::vector<std::vector<u32>> exchange_partners(const std::string& pattern, u32 terminals);

/// Matrix of weights [source][destination], stored as rising 32-bit thresholds: a random draw below a threshold selects
/// a destination.
struct TrafficMatrix {
  std::vector<double> sum;     ///< [terminals] sum of the row's values
  std::vector<u32> row_start;  ///< [terminals + 1] index of the row's first entry
  std::vector<u32> column;     ///< [entries] destination terminal
  /// [entries] threshold; a draw selects the first entry of the row whose threshold is above the draw.
  std::vector<u32> cumulative;
};

/// Returns a matrix from lists of equally likely destinations, one for each source. A terminal with an empty list sends
/// nothing.
TrafficMatrix even_matrix(const std::vector<std::vector<u32>>& rows);

/// Reads a matrix from CSV lines source,destination,value. Every terminal needs a line as a source; a terminal whose
/// only value is 0 sends nothing.
TrafficMatrix read_matrix(const TextSource& text, u32 terminals);

/// Returns rising 32-bit thresholds for weights whose sum is positive.
std::vector<u32> cumulative_thresholds(const std::vector<double>& weights);

}  // namespace flitlab
