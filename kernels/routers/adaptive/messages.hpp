#pragma once
/// The messages of a router in a routing cycle: any number of them, in the order of their ranks. FewMessages
/// (few_messages.hpp) has the same functions for few messages.
#include "kernels/routers/adaptive/pool.hpp"

namespace flitlab::adaptive {

struct ManyMessages {
  static constexpr u32 kMessages = kMaxMessages, kChannels = kMaxChannels;

  Assigned assigned;

  /// Returns a message's position in the pool.
  template <class V, int W>
  FLITLAB_INLINE static u32 position(const V& v, const Item<W>& node, u32 rank) {
    return node.at(v.t.router_fields.order, rank);
  }

  /// Adds arriving messages to the stored ones, and returns the number of all messages. `first`: element of `came` and
  /// `mail` for channel 0.
  template <class V, int W>
  FLITLAB_INLINE u32 collect(const V& v, const Item<W>& node, u32 index, u32 first) {
    const RouterFields& f = v.t.router_fields;
    RouterControl& control = node.at(f.control);
    for (u32 channel = 0; channel < v.t.channels; ++channel) {
      u8& flag = node.at(f.came, first + channel);
      if (!flag) continue;
      flag = 0;
      const Packet& packet = node.at(f.mail, first + channel);
      if constexpr (V::traced)
        v.log.write(index, Event{packet.src, packet.id, EventKind::kArrived, u8(channel), 0, 0, 0, 3, 1});
      insert(v, node, index, control, packet);
    }
    return control.stored;
  }

  /// Returns the number of messages that have not departed, out of `count`.
  FLITLAB_INLINE u32 waiting(u32 count) const { return count - assigned.departed.size; }

  /// Removes the messages for terminals of this router, at most `limit`, in their order. Calls deliver(position) for
  /// each, with its position in the pool.
  template <class V, int W, class Deliver>
  FLITLAB_INLINE void take_local(const V& v, const Item<W>& node, u32 index, u32 count, u32 limit, Deliver&& deliver) {
    for (u32 rank = 0; rank < count && assigned.departed.size < limit; ++rank) {
      if (node.at(v.t.router_fields.pool, position(v, node, rank)).dst != index) continue;
      assigned.departed.add(rank);
      deliver(position(v, node, rank));
    }
  }

  /// Assigns messages to a set of channels. Calls send(if_so, position, channel); the message at `position` is
  /// assigned if `if_so` is true. Returns the channels without a message.
  template <class V, int W, class Send>
  FLITLAB_INLINE u32 assign_to(const V& v, const Item<W>& node, u32 count, u32 channels, Send&& send) {
    const auto options = [&](u32 rank) { return node.at(v.t.router_fields.options, position(v, node, rank)); };
    assign(v.t.assignment, assigned, count, options, channels);
    const auto send_on = [&](u32 set, u32 rank) {
      for (; set; set &= set - 1)
        if (rank == kNone || assigned.message[lowest_bit(set)] == rank)
          send(true, position(v, node, assigned.message[lowest_bit(set)]), lowest_bit(set));
    };
    if constexpr (V::traced)
      for (u32 rank = 0; rank < count; ++rank) send_on(assigned.channels, rank);  // events are in the order of ranks
    else
      send_on(assigned.channels, kNone);
    return channels & ~assigned.channels;
  }

  /// Removes the last waiting message whose rank is below `before`, and returns its rank.
  FLITLAB_INLINE u32 take_last(u32 before) {
    do --before;
    while (assigned.departed.has(before));
    assigned.departed.add(before);
    return before;
  }

  /// Moves the pool positions of the waiting messages to the front of `order`. The other positions
  /// follow; they are free.
  template <class V, int W>
  FLITLAB_INLINE void store(const V& v, const Item<W>& node, u32 count) const {
    const Field<u8> order = v.t.router_fields.order;
    u32 kept = 0;
    for (u32 rank = 0; rank < count; ++rank) {
      if (assigned.departed.has(rank)) continue;
      const u8 position = node.at(order, rank);
      for (u32 i = rank; i > kept; --i) node.at(order, i) = node.at(order, i - 1);
      node.at(order, kept++) = position;
    }
    node.at(v.t.router_fields.control).stored = kept;
  }
};

}  // namespace flitlab::adaptive
