#pragma once
/// Wires of the second implementation of METRO (naive.hpp), which are queues of words, and data that routers and
/// endpoints share.
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "kernels/common/counters.hpp"
#include "kernels/common/philox.hpp"
#include "kernels/common/replica.hpp"
#include "kernels/routers/metro/streams.hpp"
#include "kernels/routers/metro/word.hpp"

namespace flitlab::testing {

using metro::Kind;
using metro::kind_of;
using metro::make_word;
using metro::payload_of;
using metro::Word;

/// Data that all parts share: word sizes, the clock, and the totals.
struct NaiveCommon {
  const ReplicaRow& row;
  u32 width, slices;  // bits of a word; number of cascaded routers
  u32 header_words;
  u32 dp;  // pipeline stages of a router
  Cycle now = 0;
  u64 total[kTotals] = {};

  u64& count(TotalIndex first, u32 i = 0) { return total[first.value + i]; }
  /// Returns the checksum after one more word.
  u32 added(u32 sum, u32 payload) const { return ((sum << 1) % (1u << width) + (sum >> (width - 1))) ^ payload; }
};

/// One direction of a wire, including the pipeline of its driver.
struct NaiveMetroWire {
  std::deque<Word> words;
  std::string fault;  // "", "dead", "stuck0", "stuck1", "noise"
  u32 bit = 0;
  double part = 0;
  u32 sender = 0;  // key of the random draws for noise
};

/// The two directions of a wire, as seen by the port at one end.
struct NaiveEnd {
  NaiveMetroWire* in = nullptr;
  NaiveMetroWire* out = nullptr;
  u32 delay = 0;
  Word word = 0;  // word that the port reads in this cycle
  Word sent = 0;
};

class NaiveWires {
 public:
  explicit NaiveWires(const NaiveCommon& common) : c_(common) {}

  /// Joins two ends. `*_name`: key for noise on the words that this end drives. `*_time`: cycles from the driver to the
  /// wire.
  void join(NaiveEnd& a, u32 a_name, u32 a_time, NaiveEnd& b, u32 b_name, u32 b_time, u32 delay) {
    const auto make = [&](u32 name, u32 time) {
      wires_.push_back(std::make_unique<NaiveMetroWire>());
      wires_.back()->words.assign(time + delay, 0);
      wires_.back()->sender = name;
      return wires_.back().get();
    };
    a.out = b.in = make(a_name, a_time);
    b.out = a.in = make(b_name, b_time);
    a.delay = b.delay = delay;
  }

  /// First half of a cycle: the port reads the arriving word.
  static void read_wire(NaiveEnd& end) {
    end.sent = end.word = 0;
    if (!end.in) return;
    end.word = end.in->words.front();
    end.in->words.pop_front();
  }

  /// Second half of a cycle: puts the sent word on the wire.
  void write_wire(NaiveEnd& end) {
    if (!end.out) return;
    NaiveMetroWire& w = *end.out;
    Word sent = end.sent;
    if (sent != 0) {
      const u32 bit = w.bit < c_.width ? w.bit : 16 + w.bit - c_.width;
      if (w.fault == "dead") sent = 0;
      if (w.fault == "stuck0") sent &= ~(1u << bit);
      if (w.fault == "stuck1") sent |= 1u << bit;
      if (w.fault == "noise") {
        const Random4 r = philox(c_.row.seed, metro::stream::kNoise, w.sender, c_.now);
        if (r.word[0] % 65536 < w.part * 65536) sent ^= 1u << below(r.word[1], c_.width);
      }
    }
    w.words.push_back(sent);
  }

 private:
  const NaiveCommon& c_;
  std::vector<std::unique_ptr<NaiveMetroWire>> wires_;
};

}  // namespace flitlab::testing
