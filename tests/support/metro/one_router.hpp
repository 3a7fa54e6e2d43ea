#pragma once
/// A single METRO router, with words written to its wires by hand.
#include <utility>

#include "tests/support/metro/metro.hpp"

namespace flitlab::testing {

using metro::Kind;
using metro::make_word;
using metro::Word;

/// Creation cycle of a message that is never created, because it is later than the end of any test.
inline constexpr u32 kNeverCreated = 1000000;

/// A 4x2 router of dilation 2, in a network of four endpoints. The test writes words to its wires by hand.
class OneRouter {
 public:
  explicit OneRouter(RawConfig changes = {})
      : net_(with(Settings("topology.radix=[2,2] topology.dilation=[2,1]"), std::move(changes)), 0, 1, kNeverCreated) {}

  /// Writes a word that a port reads in the next cycle.
  void put(u32 port, Word w) { net_.put_at_router(0, port, w); }
  void data(u32 port, u32 payload) { put(port, make_word(Kind::kData, payload)); }
  void step(u32 n = 1) { net_.step(n); }
  /// Returns the word on the wire that a port drives. Its far end reads the word in the next cycle.
  Word sent(u32 port) const {
    const metro::Wire& wire = net_.network().wire(0, port);
    return wire.to_endpoint ? net_.at_endpoint(wire.item, wire.port) : net_.at_router(wire.item, wire.port);
  }
  Word sent_forward(u32 out) const { return sent(net_.table().inputs + out); }
  metro::ForwardPort port(u32 p) const { return net_.forward(0, p); }
  u32 backward(u32 out) const { return net_.table().inputs + out; }
  MetroNet& net() { return net_; }

 private:
  static RawConfig with(RawConfig base, RawConfig changes) {
    for (const auto& [key, value] : changes) base[key] = value;
    return base;
  }
  MetroNet net_;
};

}  // namespace flitlab::testing
