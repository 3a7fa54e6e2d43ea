#pragma once
/// Bulk phase of routers, for one CPU thread: each step runs for all routers of a block before the next step begins
/// (for the reason see kernels/common/lists.hpp). The steps are as in a single router (router.hpp), except for
/// streams (streams.hpp). Ports in the same state are collected in lists, without branches that depend on a port's
/// state.
#include "kernels/common/lists.hpp"
#include "kernels/routers/metro/lanes/memory.hpp"
#include "kernels/routers/metro/router.hpp"

namespace flitlab::metro::lanes {

/// One cycle of the routers of a block. In the functions, `member` is the position of a router in `index`, the list of
/// active routers.
template <class V>
struct RouterBatch {
  using Step = RouterCycle<V, Outbox>;

  using PortList = BitList<kBlock, kMaxPorts>;  ///< forward ports of routers, which are positions in `index`

  const V& v;
  const Outbox& outbox;
  BusyPorts* busy;  ///< Memory::busy
  Streams streams;
  const Word* slot;  ///< inbox slot of this cycle
  u32 backward;      ///< InboxLayout::backward
  u32 first, last;   ///< routers of the block: `first` to `last - 1`
  Cycle now;
  u32 n = 0;              ///< number of active routers, which have work other than streams
  u32 index[kBlock + 1];  ///< numbers of the active routers
  RouterName name[kBlock];
  RouterResult result[kBlock];
  PortList listed, sending, receiving, other;  ///< all ports with a step, then these ports by state

  FLITLAB_INLINE RouterBatch(const V& view, const Outbox& words, BusyPorts* busy_ports, const Streams& flows,
                             const Word* inbox_slot, u32 at_backward, u32 begin, u32 end, Cycle cycle)
      : v(view),
        outbox(words),
        busy(busy_ports),
        streams(flows),
        slot(inbox_slot),
        backward(at_backward),
        first(begin),
        last(end),
        now(cycle) {}

  FLITLAB_INLINE Item<1> node(u32 member) const { return v.routers[index[member]]; }
  FLITLAB_INLINE ForwardPort& port_of(u32 router, u32 port) const {
    return v.routers[router].at(v.t.router_fields.forward, port);
  }
  FLITLAB_INLINE RouterControl& control(u32 member) const { return node(member).at(v.t.router_fields.control); }
  FLITLAB_INLINE u32 forward_index(u32 router) const { return router * v.t.inputs; }
  FLITLAB_INLINE u32 backward_index(u32 router) const { return backward + router * v.t.outputs; }
  FLITLAB_INLINE Step step(u32 member) {
    return {v,
            outbox,
            node(member),
            name[member],
            now,
            control(member),
            slot + forward_index(index[member]),
            slot + backward_index(index[member]),
            result[member]};
  }

  /// Copies the counts of a stream back to its port, and makes the port an ordinary one, which has a step in every
  /// cycle.
  FLITLAB_INLINE void end_stream(const Stream& s) const {
    const u32 router = first + s.router;
    ForwardPort& f = port_of(router, s.port);
    f.checksum = s.checksum;
    f.words = s.words;
    busy[router].streaming &= ~(1u << s.port);
    busy[router].other |= 1u << s.port;
  }

  /// Calls act(name) for all routers of the block. The slices of a wide router have consecutive numbers.
  template <class Act>
  FLITLAB_INLINE void for_each_router(Act&& act) const {
    for (RouterName r = router_name(v.t, first); r.index < last; ++r.index) {
      act(r);
      const bool next = ++r.slice == v.t.slices;
      r.wide += next;
      r.slice = next ? 0 : r.slice;
    }
  }

  /// Ends the streams of routers whose ports in use differ from another slice's, because these routers shut
  /// connections.
  FLITLAB_INLINE void compare_cascades() const {
    for_each_router([&](const RouterName& r) __attribute__((always_inline)) {
      BusyPorts& ports = busy[r.index];
      ports.disagrees = (ports.streaming | ports.other) && disagreement(v, v.routers[r.index], r, now);
      if (ports.disagrees)
        streams.leave(r.index - first, [&](const Stream& s) __attribute__((always_inline)) { end_stream(s); });
    });
  }

  /// Moves the words of all streams.
  FLITLAB_INLINE void flow() const {
    streams.flow(
        slot, v.t.width,
        [&](const Stream& s, Word word) __attribute__((always_inline)) { outbox.put_wired(s.to, word, now); },
        [&](const Stream& s) __attribute__((always_inline)) { end_stream(s); });
  }

  /// Finds the active routers and fills the lists of ports.
  FLITLAB_INLINE void list_ports() {
    const auto& t = v.t;
    u32 sets[kBlock + 1];
    for (u32 r = first; r < last; ++r) {
      index[n] = r;
      sets[n] = (words_present(slot + forward_index(r), t.inputs) & ~busy[r].streaming) | busy[r].other;
      n += (sets[n] | busy[r].special | busy[r].disagrees) != 0;
    }
    SetList<kBlock> ports;
    for (u32 i = 0; i < n; ++i) {
      name[i] = router_name(t, index[i]);
      result[i].clear();
      const BusyPorts& b = busy[index[i]];
      if (b.special | b.disagrees) sets[i] = begin_router(step(i), sets[i]) & ~b.streaming;
      ports.add(i, sets[i]);
    }
    ports.for_each([&](u32 member, u32 port) __attribute__((always_inline)) {
      const PortState state = port_of(index[member], port).state;
      const bool sends = state == PortState::kForward, receives = state == PortState::kReverse;
      listed.add(true, member, port);
      sending.add(sends, member, port);
      receiving.add(receives, member, port);
      other.add(!(sends | receives), member, port);
    });
  }

  template <class Do>
  FLITLAB_INLINE void for_each(const PortList& ports, Do&& act) {
    ports.for_each([&](u32 member, u32 port)
                       __attribute__((always_inline)) { act(member, port, port_of(index[member], port)); });
  }

  /// Makes streams of the open connections whose routers have sent all words of their own that follow a turn.
  FLITLAB_INLINE void add_streams() {
    const auto& t = v.t;
    PortList flowing;
    for_each(listed, [&](u32 member, u32 port, const ForwardPort& f) __attribute__((always_inline)) {
      const bool sends = f.state == PortState::kForward, receives = f.state == PortState::kReverse;
      const u32 from = select(receives, t.inputs + f.out, port);
      flowing.add((sends | receives) & (f.count >= step(member).wait(from)), member, port);
    });
    for_each(flowing, [&](u32 member, u32 port, const ForwardPort& f) __attribute__((always_inline)) {
      const u32 router = index[member], in = forward_index(router) + port, back = backward_index(router) + f.out;
      const bool sends = f.state == PortState::kForward;
      const u32 driven = sends ? t.inputs + f.out : port;
      const FarEnd to = outbox.far_end(router, driven);
      if (to.position == kNone || busy[router].special) return;
      if (t.faulty && node(member).at(t.router_fields.wire, driven).fault != WireFault::kNone) return;
      streams.stream[(*streams.count)++] = {sends ? in : back,
                                            sends ? back : in,
                                            to,
                                            f.words,
                                            f.checksum,
                                            static_cast<u8>(router - first),
                                            static_cast<u8>(port),
                                            sends ? Kind::kBackDrop : Kind::kDrop};
      busy[router].streaming |= 1u << port;
    });
  }

  /// Runs one cycle of the block.
  FLITLAB_INLINE void work() {
    const bool compares = v.t.slices > 1 && v.t.in_use_check;
    if (compares) compare_cascades();
    flow();
    list_ports();
    const auto word = [&](u32 member, u32 port)
                          __attribute__((always_inline)) { return slot[forward_index(index[member]) + port]; };
    for_each(sending, [&](u32 member, u32 port, ForwardPort& f)
                          __attribute__((always_inline)) { step(member).flow_forward(port, f, word(member, port)); });
    for_each(receiving, [&](u32 member, u32 port, ForwardPort& f)
                            __attribute__((always_inline)) { step(member).flow_back(port, f, word(member, port)); });
    for_each(other,
             [&](u32 member, u32 port, ForwardPort&) __attribute__((always_inline)) { step(member).step(port); });
    ItemList<kBlock> requesting;
    for (u32 i = 0; i < n; ++i) requesting.add(i, result[i].requests != 0);
    for (u32 i : requesting) step(i).allocate();
    add_streams();
    for (u32 i = 0; i < n; ++i) {
      control(i).used &= ~result[i].freed;
      BusyPorts& ports = busy[index[i]];
      ports.other = control(i).active & ~ports.streaming;
    }
    if (v.t.slices > 1)
      for_each_router([&](const RouterName& r)
                          __attribute__((always_inline)) { publish_in_use(v, v.routers[r.index], r, now); });
  }
};

}  // namespace flitlab::metro::lanes
