#pragma once
/// METRO's state for kernels/engines/lane_engine.hpp: the inboxes of all items are one array. All other state stays in
/// the scalar state and is changed there.
///
/// The rules of ports, sources and sinks exist once (router.hpp, source.hpp, sink.hpp); this folder finds the items
/// that need them and calls them. Measured on one core, that is 1.7 to 2.9 times as fast as one router and endpoint
/// after the other (64 and 1024 endpoints, loads of 0.05 to 0.3; 2026-11-30).
#include <algorithm>
#include <span>

#include "kernels/routers/metro/lanes/endpoints.hpp"
#include "kernels/routers/metro/lanes/routers.hpp"

namespace flitlab::metro::lanes {

template <class T>
class Lanes {
  using V = View<1, false, T>;

 public:
  /// Returns -1: the engine uses this form of the state at every load, because it is always the faster one.
  double busy() const { return -1; }

  static bool fits(const T&) { return true; }

  explicit Lanes(const T& table) : table_(table), inbox_layout_(table), wiring_(table) {}

  u32 width() const { return kBlock; }
  std::size_t bytes() const { return Memory::bytes(table_); }

  void load(std::byte* memory, std::byte* canonical, const Placement& placement, const ReplicaRow& row,
            Cycle now) const {
    const Memory to(table_, memory);
    const V v = view(canonical, placement, row, nullptr);
    exchange(v, to, [](Word& here, Word& there) { here = there; });
    for (u32 i = 0; i < table_.routers; ++i) {
      const RouterControl& control = v.routers[i].at(table_.router_fields.control);
      to.busy[i] = {0, control.active, control.dead || control.some_off, 0, {}};
    }
    std::fill_n(to.streams, Memory::blocks(table_), 0u);
    for (u32 i = 0; i < table_.terminals; ++i) to.wake[i] = now;
  }

  void store(std::byte* memory, std::byte* canonical, const Placement& placement, const ReplicaRow& row, Cycle) const {
    const Memory from(table_, memory);
    const V v = view(canonical, placement, row, nullptr);
    exchange(v, from, [](Word& here, Word& there) { there = here; });
    for (u32 block = 0; block < Memory::blocks(table_); ++block) {
      const Streams streams = from.of_block(table_, block);
      for (const Stream& s : std::span(streams.stream, *streams.count)) {
        ForwardPort& f = v.routers[block * kBlock + s.router].at(table_.router_fields.forward, s.port);
        f.checksum = s.checksum;
        f.words = s.words;
      }
    }
  }

  void run(std::byte* memory, std::byte* canonical, const Placement& placement, const ReplicaRow& row,
           CounterShard& shard, u32 begin, u32 end, Cycle now, u32 cycles) const {
    const Memory m(table_, memory);
    // Two views: functions that create messages take the address of endpoint_view, so only router_view's members stay
    // in registers.
    const V endpoint_view = view(canonical, placement, row, &shard),
            router_view = view(canonical, placement, row, &shard);
    for (const Cycle last = now + cycles; now != last; ++now) {
      run_endpoints(endpoint_view, m, begin, end, now);
      run_routers(router_view, m, begin, end, now);
    }
  }

 private:
  V view(std::byte* canonical, const Placement& placement, const ReplicaRow& row, CounterShard* shard) const {
    return {{table_, &row, shard, {}}, placement.items<1>(canonical, 0), placement.items<1>(canonical, 1)};
  }

  /// Calls move(here, there) for all inbox words: `here` in `m`, `there` in the scalar state.
  template <class Move>
  void exchange(const V& v, const Memory& m, Move&& move) const {
    const T& t = table_;
    const u32 words = link_words();
    for (u32 slot = 0; slot <= t.slot_mask; ++slot) {
      Word* here = m.inbox + std::size_t{slot} * inbox_layout_.slot_words;
      for (u32 i = 0; i < t.routers; ++i) {
        Word* there = &v.routers[i].at(t.router_fields.mail, slot * t.ports());
        for (u32 p = 0; p < t.inputs; ++p) move(here[i * t.inputs + p], there[p]);
        for (u32 p = 0; p < t.outputs; ++p) move(here[inbox_layout_.backward + i * t.outputs + p], there[t.inputs + p]);
      }
      for (u32 i = 0; i < t.terminals; ++i) {
        Word* there = &v.terminals[i].at(t.endpoint_fields.mail, slot * words);
        for (u32 l = 0; l < words; ++l) move(here[inbox_layout_.endpoints + i * words + l], there[l]);
      }
    }
  }

  FLITLAB_INLINE Outbox outbox(const Memory& m) const {
    return {wiring_.port.data(),      wiring_.link.data(), table_.ports(), link_words(), m.inbox,
            inbox_layout_.slot_words, table_.slot_mask};
  }
  FLITLAB_INLINE u32 link_words() const { return 2 * table_.links * table_.slices; }

  FLITLAB_INLINE void run_routers(const V& v, const Memory& m, u32 begin, u32 end, Cycle now) const {
    const Outbox out = outbox(m);
    Word* slot = m.inbox + std::size_t{now & v.t.slot_mask} * inbox_layout_.slot_words;
    for (u32 block = begin; block < end; ++block) {
      const u32 first = block * kBlock, last = std::min(first + kBlock, v.t.routers);
      RouterBatch<V>(v, out, m.busy, m.of_block(v.t, block), slot, inbox_layout_.backward, first, last, now).work();
      std::fill(slot + first * v.t.inputs, slot + last * v.t.inputs, 0);
      std::fill(slot + inbox_layout_.backward + first * v.t.outputs, slot + inbox_layout_.backward + last * v.t.outputs,
                0);
    }
  }

  /// Runs a share of the endpoints. It is the share that the routers' blocks `begin` to `end - 1` are of all blocks.
  FLITLAB_INLINE void run_endpoints(const V& v, const Memory& m, u32 begin, u32 end, Cycle now) const {
    const u32 blocks = Memory::blocks(v.t);
    const Outbox out = outbox(m);
    Word* inbox = m.inbox + std::size_t{now & v.t.slot_mask} * inbox_layout_.slot_words + inbox_layout_.endpoints;
    const auto part = [&](u32 block) { return static_cast<u32>(u64{v.t.terminals} * block / blocks); };
    for (u32 first = part(begin), stop = part(end); first < stop; first += kBlock) {
      const u32 last = std::min(first + kBlock, stop);
      EndpointBatch<V>(v, out, m.wake, inbox, now).work(first, last);
      std::fill(inbox + first * link_words(), inbox + last * link_words(), 0);
    }
  }

  const T table_;
  const InboxLayout inbox_layout_;
  const Wiring wiring_;
};

}  // namespace flitlab::metro::lanes
