#pragma once
/// Headers of the second METRO (naive.hpp): which words lead from one endpoint to another, and where in them the
/// router of a stage reads its direction.
#include <algorithm>
#include <bit>
#include <vector>

#include "host/routers/metro/network.hpp"
#include "tests/support/metro/naive_wires.hpp"

namespace flitlab::testing {

class NaiveHeaders {
 public:
  NaiveHeaders(const MetroNetwork& net, const NaiveCommon& c) : net_(net), c_(c), bits_(net.stages) {
    for (const metro::RouterSetup& s : net_.setup) bits_[s.stage] = s.log_radix;
    last_.assign(net_.stages, true);
    u32 used = 0, words = 0;
    for (u32 s = 0; s < net_.stages; ++s) {
      used += bits_[s];
      last_[s] = !net_.levelled || c_.header_words || s + 1 == net_.stages || used + bits_[s + 1] > c_.width;
      words += std::max(c_.header_words, 1u) - 1;
      decides_.push_back(words);
      if (last_[s]) ++words, used = 0;
    }
    for (u32 from = 0; from < net_.terminals; ++from)
      for (u32 to = 0; to < net_.terminals; ++to) headers_.push_back(made(from, to));
  }

  const std::vector<u64>& of(u32 from, u32 to) const { return headers_[from * net_.terminals + to]; }
  /// Whether the router of a stage is the last to take bits of a word.
  bool last(u32 stage) const { return last_[stage]; }
  /// Place of the word with which the router of a stage knows where to.
  u32 decides(u32 stage) const { return decides_[stage]; }

 private:
  std::vector<u64> made(u32 from, u32 to) const {
    std::vector<u32> way;
    if (net_.levelled) {
      u32 left = to;
      for (u32 s = net_.stages; s-- > 0; left >>= bits_[s]) way.insert(way.begin(), left % (1u << bits_[s]));
    } else {
      way = metro_directions(net_, from, to);
    }
    std::vector<u64> header;
    u32 value = 0, place = c_.width;
    u32 at = net_.leaving(from, 0).item;
    for (u32 s = 0; s < way.size(); ++s) {
      place -= net_.setup[at].log_radix;
      value += way[s] << place;
      at = net_.wire(at, net_.inputs + (way[s] << net_.setup[at].log_dilation)).item;
      if (!last_[s]) continue;
      u64 everywhere = 0;  // each of cascaded routers has it
      for (u32 c = 0; c < c_.slices; ++c) everywhere |= u64{value} << c * c_.width;
      header.push_back(everywhere);
      for (u32 k = 1; k < c_.header_words; ++k) header.push_back(0);
      value = 0;
      place = c_.width;
    }
    return header;
  }

  const MetroNetwork& net_;
  const NaiveCommon& c_;
  std::vector<u32> bits_;  // that a stage takes
  std::vector<bool> last_;
  std::vector<u32> decides_;
  std::vector<std::vector<u64>> headers_;
};

}  // namespace flitlab::testing
