#pragma once
/// Headers in the second implementation of METRO (naive.hpp): the words that lead from one endpoint to another, and the
/// position in them at which the router of a stage reads its direction.
#include <algorithm>
#include <string>
#include <vector>

#include "host/routers/metro/network.hpp"
#include "tests/support/metro/naive_wires.hpp"

namespace flitlab::testing {

class NaiveHeaders {
 public:
  NaiveHeaders(const MetroNetwork& net, const NaiveCommon& c, bool straddles) : net_(net), c_(c), bits_(net.stages) {
    for (const metro::RouterSetup& s : net_.setup) bits_[s.stage] = s.log_radix;
    own_words_ = net_.levelled ? c_.header_words : std::max(c_.header_words, 1u);
    const u32 whole = lay_out(false);
    divided_ = straddles && !own_words_ && lay_out(true) < whole;
    lay_out(divided_);
    for (u32 from = 0; from < net_.terminals; ++from)
      for (u32 to = 0; to < net_.terminals; ++to) headers_.push_back(made(from, to));
  }

  const std::vector<u64>& of(u32 from, u32 to) const { return headers_[from * net_.terminals + to]; }
  /// Returns whether the router of a stage is the last one that uses bits of its word.
  bool last(u32 stage) const {
    return own_words_ || stage + 1 == net_.stages || first_bit_[stage + 1] / c_.width > decides(stage);
  }
  /// Returns the index of the word with which the router of a stage has its complete direction.
  u32 decides(u32 stage) const {
    return own_words_ ? (stage + 1) * own_words_ - 1 : (first_bit_[stage] + bits_[stage] - 1) / c_.width;
  }
  /// Returns the number of bits in its first word that are left for the router of a stage and those after it.
  u32 left(u32 stage) const { return divided_ ? c_.width - first_bit_[stage] % c_.width : c_.width; }

 private:
  /// Lays out the directions, with or without straddling. Returns the number of header words.
  u32 lay_out(bool divided) {
    first_bit_.clear();
    u32 at = 0;
    for (u32 bits : bits_) {
      if (own_words_)
        at = static_cast<u32>(first_bit_.size()) * own_words_ * c_.width;
      else if (!divided && at % c_.width + bits > c_.width)
        at += c_.width - at % c_.width;
      first_bit_.push_back(at);
      at += bits;
    }
    return (at + c_.width - 1) / c_.width;
  }

  std::vector<u64> made(u32 from, u32 to) const {
    std::vector<u32> way;
    if (net_.levelled) {
      u32 left = to;
      for (u32 s = net_.stages; s-- > 0; left >>= bits_[s]) way.insert(way.begin(), left % (1u << bits_[s]));
    } else {
      way = metro_directions(net_, from, to);
    }
    std::string header;  // bits of the header, as text
    u32 at = net_.leaving(from, 0).item;
    for (u32 s = 0; s < way.size(); ++s) {
      header.resize(first_bit_[s], '0');
      for (u32 bit = 1u << net_.setup[at].log_radix >> 1; bit; bit >>= 1) header += way[s] & bit ? '1' : '0';
      at = net_.wire(at, net_.inputs + (way[s] << net_.setup[at].log_dilation)).item;
    }
    while (header.size() % (c_.width * std::max(own_words_, 1u))) header += '0';
    std::vector<u64> words;
    for (std::size_t w = 0; w < header.size(); w += c_.width) {
      u64 everywhere = 0;  // the word, repeated for each of the cascaded routers
      for (u32 c = 0; c < c_.slices; ++c)
        everywhere |= u64{std::stoul(header.substr(w, c_.width), nullptr, 2)} << c * c_.width;
      words.push_back(everywhere);
    }
    return words;
  }

  const MetroNetwork& net_;
  const NaiveCommon& c_;
  std::vector<u32> bits_;       // number of bits that each stage uses
  std::vector<u32> first_bit_;  // [stage] index of its first bit
  u32 own_words_;               // header words for each router; 0: routers share words
  bool divided_ = false;
  std::vector<std::vector<u64>> headers_;
};

}  // namespace flitlab::testing
