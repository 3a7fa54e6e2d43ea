#pragma once
/// Destinations of the traffic patterns (Dally & Towles Table 3.1).
#include <string>
#include <vector>

#include "host/topology/topology.hpp"

namespace flitlab {

/// Throws ConfigError if a pattern does not fit so many terminals: the one place of the rule. `shape` is that
/// of a Topology; patterns that fit any size pass.
void check_permutation(const std::string& pattern, const std::vector<u32>& shape, u32 terminals);

/// Destination terminal of every terminal: bit_complement, bit_reverse, shuffle, transpose, tornado, neighbour,
/// random_permutation. Bit patterns act on the terminal number; tornado and neighbour on router coordinates, with
/// the place at the router kept; transpose swaps the coordinates of a square network, else the halves of the number.
std::vector<u32> make_permutation(const std::string& pattern, const Topology& topology, u64 seed);

/// The same by number alone, for terminals that are part of a machine. ConfigError for patterns that go by coordinates.
std::vector<u32> make_permutation(const std::string& pattern, u32 terminals, u64 seed);

/// Terminals of the routers whose coordinates are all below `extent`.
std::vector<u32> hot_region(const Topology& topology, const std::vector<u32>& extent);

/// Whether a pattern has several destinations for a terminal, by its number: fft, divide.
bool is_exchange(const std::string& pattern);

/// Destinations of each of so many terminals, all equally likely. ConfigError unless their number is a power of two.
/// fft: the terminals whose numbers differ in one bit, as in the stages of a fast Fourier transform. divide: the
/// neighbours in a binomial tree with terminal 0 at its root, in which i and i + 2^k are joined if the k + 1 low bits
/// of i are zero; divide-and-conquer algorithms distribute work and combine results along it. S-Connect, 2.1, names
/// both traffics and leaves their details to a thesis: that all partners are equally likely, and all terminals send
/// alike, is a reading.
std::vector<std::vector<u32>> exchange_partners(const std::string& pattern, u32 terminals);

/// Rows of weights, as rising 32-bit thresholds.
struct TrafficMatrix {
  std::vector<double> sum;      ///< [terminals] of the row's values
  std::vector<u32> row_start;   ///< [terminals + 1]
  std::vector<u32> column;      ///< [entries] destination
  std::vector<u32> cumulative;  ///< [entries] draws below this, and not below the entry before, go to this column
};

/// Rows of destinations that are equally likely; one without any sends nothing.
TrafficMatrix even_matrix(const std::vector<std::vector<u32>>& rows);

/// Reads CSV lines source,destination,value. Every terminal needs a line; one with value 0 alone sends nothing.
TrafficMatrix read_matrix(const TextSource& text, u32 terminals);

/// Rising thresholds for weights that add up to anything positive.
std::vector<u32> cumulative_thresholds(const std::vector<double>& weights);

}  // namespace flitlab
