#pragma once
/// Contents of a network of bufferless routers, read from its state.
#include <tuple>
#include <utility>
#include <vector>

#include "host/routers/bless/plan.hpp"
#include "tests/support/build.hpp"

namespace flitlab::testing {

/// A flit in transit. In cycle `arrives` it reaches `router` by input `channel`.
struct FlyingFlit {
  Cycle arrives;
  u32 router, channel;
  Packet flit;

  auto all() const {
    return std::make_tuple(arrives, router, channel, flit.src, flit.id, flit.via, flit.dst, flit.created, flit.injected,
                           flit.flits, flit.hops);
  }
  bool operator==(const FlyingFlit& other) const { return all() == other.all(); }
  bool operator<(const FlyingFlit& other) const { return all() < other.all(); }
};

/// A network with its plan and access to the flits in its state.
struct BlessNetwork : Network {
  explicit BlessNetwork(const Experiment& e, EngineChoice choice = {"cpu", 1, false, 1})
      : Network(e, choice), bless(dynamic_cast<const BlessPlan&>(*plan)), t(bless.table()) {}

  u64 counted(auto count) { return engine->counters(0).total[static_cast<u32>(count)]; }

  /// Returns all flits, ordered by cycle of arrival and then by location.
  std::vector<FlyingFlit> flits() const {
    std::vector<FlyingFlit> list;
    const std::vector<std::byte> state = engine->state(0);
    const Cycle now = engine->now();
    for (u32 ahead = 0; ahead <= t.slot_mask; ++ahead)
      for (u32 r = 0; r < t.routers; ++r)
        for (u32 c = 0; c < t.channels; ++c) {
          const u32 slot_index = ((now + ahead) & t.slot_mask) * t.channels + c;
          const Item<1> router = item_of(state, bless.layout(), 0, r);
          if (router.at(t.router_fields.came, slot_index))
            list.push_back({now + ahead, r, c, router.at(t.router_fields.mail, slot_index)});
        }
    return list;
  }

  const BlessPlan& bless;
  const bless::Table& t;
};

}  // namespace flitlab::testing
