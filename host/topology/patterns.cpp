#include "host/topology/patterns.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "host/config/cross_checks.hpp"
#include "host/config/csv.hpp"
#include "host/config/value.hpp"
#include "kernels/common/error.hpp"
#include "kernels/common/philox.hpp"
#include "kernels/common/streams.hpp"
#include "kernels/traffic/params.hpp"

namespace flitlab {
namespace {

u32 reverse_bits(u32 x, u32 bits) {
  u32 y = 0;
  for (u32 i = 0; i < bits; ++i) y |= ((x >> i) & 1) << (bits - 1 - i);
  return y;
}

/// Returns the destinations of a pattern in which every coordinate of a router moves by `shift(radix)`, with
/// wrap-around.
template <class Shift>
std::vector<u32> move_coordinates(const Topology& t, Shift shift) {
  std::vector<u32> to(t.terminals);
  for (u32 s = 0; s < t.terminals; ++s) {
    u32 router = 0, stride = 1, rest = s / t.concentration;
    for (u32 k : t.shape) {
      router += (rest % k + shift(k)) % k * stride;
      rest /= k;
      stride *= k;
    }
    to[s] = router * t.concentration + s % t.concentration;
  }
  return to;
}

std::vector<u32> random_permutation(u32 n, u64 seed) {
  std::vector<u32> to(n);
  std::iota(to.begin(), to.end(), 0u);
  for (u32 i = n; i > 1; --i) std::swap(to[i - 1], to[below(philox(seed, stream::kPermutation, 0, i).word[0], i)]);
  return to;
}

/// Returns whether the grid is complete, so that coordinates follow from the number of a terminal.
bool is_whole(const Topology& t) { return count_terminals(t.shape, t.concentration) == t.terminals; }

}  // namespace

std::vector<u32> make_permutation(const std::string& pattern, const Topology& t, u64 seed) {
  const u32 n = t.terminals;
  if (!is_whole(t)) return make_permutation(pattern, n, seed);
  check_permutation(pattern, t.shape, n);
  if (pattern == "tornado") return move_coordinates(t, [](u32 k) { return (k + 1) / 2 - 1; });
  if (pattern == "neighbour") return move_coordinates(t, [](u32) { return 1u; });
  if (pattern != "transpose" || !is_square(t.shape)) return make_permutation(pattern, n, seed);
  std::vector<u32> to(n);
  for (u32 s = 0; s < n; ++s) {
    const u32 r = s / t.concentration, k = t.shape[0];
    to[s] = (r / k + r % k * k) * t.concentration + s % t.concentration;
  }
  return to;
}

std::vector<u32> make_permutation(const std::string& pattern, u32 n, u64 seed) {
  if (pattern == "tornado" || pattern == "neighbour")
    throw ConfigError("traffic.pattern = \"" + pattern +
                      "\" needs the coordinates of a whole machine, but some terminals are missing or take no part. "
                      "Use a pattern that depends on terminal numbers only, such as transpose.");
  check_permutation(pattern, {n}, n);
  if (pattern == "random_permutation") return random_permutation(n, seed);
  std::vector<u32> to(n);
  const u32 bits = static_cast<u32>(std::countr_zero(n));
  for (u32 s = 0; s < n; ++s) {
    if (pattern == "bit_complement") to[s] = ~s & (n - 1);
    if (pattern == "bit_reverse") to[s] = reverse_bits(s, bits);
    if (pattern == "shuffle") to[s] = ((s << 1) | (bits ? s >> (bits - 1) : 0)) & (n - 1);
    if (pattern == "transpose") to[s] = ((s << bits / 2) | (s >> bits / 2)) & (n - 1);
  }
  return to;
}

std::vector<std::vector<u32>> exchange_partners(const std::string& pattern, u32 n) {
  check_permutation(pattern, {n}, n);
  std::vector<std::vector<u32>> partners(n);
  for (u32 i = 0; i < n; ++i)
    for (u32 bit = 1; bit < n; bit <<= 1) {
      partners[i].push_back(i ^ bit);
      // A partner in `divide` with a lower number is the parent in the tree; higher bits do not lead to neighbours.
      if (pattern == "divide" && i & bit) break;
    }
  return partners;
}

std::vector<std::vector<u32>> next_partners(const std::string& pattern, const Topology& t) {
  const auto part_of = [&](u32 terminal) -> u32 {
    const u32 router = t.terminal_router(terminal);
    return pattern == "next_group" ? t.group[router] : router;
  };
  std::vector<std::vector<u32>> members(t.terminals);  // of each part; the last lists may be empty
  u32 parts = 0;
  for (u32 terminal = 0; terminal < t.terminals; ++terminal) {
    members[part_of(terminal)].push_back(terminal);
    parts = std::max(parts, part_of(terminal) + 1);
  }
  std::vector<std::vector<u32>> partners;
  for (u32 terminal = 0; terminal < t.terminals; ++terminal)
    partners.push_back(members[(part_of(terminal) + 1) % parts]);
  return partners;
}

std::vector<u32> hot_region(const Topology& t, const std::vector<u32>& extent) {
  const bool by_address = t.has_coordinates() && t.terminals == t.routers * t.concentration;
  if (extent.size() != t.shape.size() || !(by_address || is_whole(t)))
    throw ConfigError("traffic.hot_shape = " + shown(Value{IntList(extent.begin(), extent.end())}) +
                      " needs coordinates, but the terminals of this network have none, or others. Use traffic.pattern "
                      "= \"hot_spot\", with terminal numbers.");
  std::vector<u32> hot;
  for (u32 s = 0; s < t.terminals; ++s) {
    bool inside = true;
    u32 rest = s / t.concentration;
    for (u32 d = 0; d < extent.size(); rest /= t.shape[d++])
      inside = inside && (by_address ? t.coordinate(s / t.concentration, d) : rest % t.shape[d]) < extent[d];
    if (inside) hot.push_back(s);
  }
  return hot;
}

std::vector<u32> cumulative_thresholds(const std::vector<double>& weights) {
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<u32> thresholds;
  double sum = 0;
  for (double weight : weights) {
    sum += weight;
    thresholds.push_back(static_cast<u32>(std::min(std::floor(sum / total * 4294967296.0), 4294967295.0)));
  }
  return thresholds;
}

TrafficMatrix even_matrix(const std::vector<std::vector<u32>>& rows) {
  TrafficMatrix matrix;
  matrix.row_start.push_back(0);
  for (const std::vector<u32>& row : rows) {
    matrix.sum.push_back(static_cast<double>(row.size()));
    matrix.column.insert(matrix.column.end(), row.begin(), row.end());
    for (u32 threshold : cumulative_thresholds(std::vector<double>(row.size(), 1.0)))
      matrix.cumulative.push_back(threshold);
    matrix.row_start.push_back(static_cast<u32>(matrix.column.size()));
  }
  return matrix;
}

TrafficMatrix read_matrix(const TextSource& text, u32 terminals) {
  const std::string& path = text.path();
  std::vector<std::vector<std::pair<u32, double>>> rows(terminals);
  std::vector<bool> listed(terminals, false);
  read_csv(param::traffic.matrix_file.path, text, [&](const std::vector<double>& f, std::size_t line) {
    const std::string where = "traffic.matrix_file: " + path + ":" + std::to_string(line) + ": ";
    if (f.size() != 3) throw ConfigError(where + "a line is source,destination,value.");
    for (int i = 0; i < 2; ++i)
      if (f[i] < 0 || f[i] >= terminals || f[i] != std::floor(f[i]))
        throw ConfigError(where + "terminals are numbered 0 to " + std::to_string(terminals - 1) + ".");
    if (!(f[2] >= 0 && f[2] <= 1e100))  // limited, so that the sum of all values is a finite number
      throw ConfigError(where + "the value must be a number from 0 to 1e100.");
    listed[static_cast<u32>(f[0])] = true;
    if (f[2] > 0) rows[static_cast<u32>(f[0])].emplace_back(static_cast<u32>(f[1]), f[2]);
  });
  TrafficMatrix matrix;
  matrix.row_start.push_back(0);
  for (u32 s = 0; s < terminals; ++s) {
    const std::string name = std::to_string(s);
    if (!listed[s])
      throw ConfigError("traffic.matrix_file: " + path + ": terminal " + name + " has no line. Add one, " + name +
                        ",DESTINATION,VALUE; with value 0 if it sends nothing.");
    std::vector<double> weights;
    for (const auto& [destination, weight] : rows[s]) {
      matrix.column.push_back(destination);
      weights.push_back(weight);
    }
    matrix.sum.push_back(std::accumulate(weights.begin(), weights.end(), 0.0));
    if (!weights.empty())
      for (u32 threshold : cumulative_thresholds(weights)) matrix.cumulative.push_back(threshold);
    matrix.row_start.push_back(static_cast<u32>(matrix.column.size()));
  }
  return matrix;
}

}  // namespace flitlab
