#pragma once
/// Routing cycle of many routers at once on one CPU thread: `RoutingCycle` (router.hpp) in steps without unpredictable
/// branches (reason: kernels/common/lists.hpp). A router's messages are a sorted list of numbers, and sets of
/// messages are machine words. Departing messages are listed, and sent after all routers have chosen.
#include "kernels/common/lists.hpp"
#include "kernels/routers/adaptive/choose.hpp"
#include "kernels/routers/adaptive/source.hpp"

namespace flitlab::adaptive {

/// Routers per bulk call.
inline constexpr u32 kRouters = 32;

template <class V, u32 kHalves>
struct BulkCycle {
  static constexpr u32 kChannels = kHalves * 8;

  const V& v;
  const u32* index;
  u32 n;
  Cycle now;

  Item<1> node[kRouters];
  u32 room[kRouters];                     ///< `room[i]`: number of buffers of router i
  u8 sorted[kRouters][kFewMessages + 1];  ///< `sorted[i][rank]`: pool positions of the messages of router i
  /// A departing message: router << 16 | rank << 8 | channel.
  using Departure = u32;
  Departure sent[kRouters * kChannels + 1], delivered[kRouters * kFewMessages + 1];
  u32 sent_count = 0, delivered_count = 0, misrouted = 0;

  FLITLAB_INLINE BulkCycle(const V& view, const u32* list, u32 count, Cycle cycle)
      : v(view), index(list), n(count), now(cycle) {
    for (u32 i = 0; i < n; ++i) {
      const u32 wired = v.t.wired[list[i]];
      node[i] = v.routers[list[i]];
      room[i] = (kSizeOf[wired & 0xFF] + kSizeOf[wired >> 8 & 0xFF]) * v.t.channel_buffers + v.t.spare;
    }
  }

  FLITLAB_INLINE RouterControl& control(u32 router_index) const {
    return node[router_index].at(v.t.router_fields.control);
  }
  FLITLAB_INLINE TerminalControl& source(u32 terminal) const {
    return v.terminals[terminal].at(v.t.terminal_fields.control);
  }

  /// Lists in `arriving` the channels on which messages arrive, clears their flags in `arrived_flags`, and returns
  /// their number. It leaves the bytes of other slots alone, because another thread may be writing them.
  FLITLAB_INLINE u32 take_arrivals(u8* arrived_flags, u8* arriving) const {
    const u32 channels = v.t.channels;
    u32 arrived = 0;
    if (kHalves == 1 && channels >= 4) {
      const u32 last = channels - 4, none = 0;
      u32 low, high;
      std::memcpy(&low, arrived_flags, 4);
      std::memcpy(&high, arrived_flags + last, 4);
      std::memcpy(arrived_flags, &none, 4);
      std::memcpy(arrived_flags + last, &none, 4);
      const u64 present = bytes_present(low | u64{high} << 8 * last) >> 7;
      const u32 set = static_cast<u32>(present * 0x0102040810204080ull >> 56);
      std::memcpy(arriving, &kMembersOf[set], 8);
      return kSizeOf[set];
    }
    for (u32 channel = 0; channel < channels; ++channel) {
      arriving[arrived] = static_cast<u8>(channel);
      arrived += arrived_flags[channel] != 0;
      arrived_flags[channel] = 0;
    }
    return arrived;
  }

  /// Messages of a router, numbered by rank (rank 0 is the most preferred).
  struct Ranked {
    u32 count;
    u32 local = 0;               ///< set of messages for terminals of this router
    Choices<kHalves> choices{};  ///< channels that messages may take
  };

  /// Sorts a router's messages. Arriving messages take free positions in the pool.
  FLITLAB_INLINE void collect(u32 router_index, Ranked& ranked) {
    const auto& t = v.t;
    const RouterFields& f = t.router_fields;
    const auto router = node[router_index];
    const u32 first = (now & t.slot_mask) * t.channels, stored = control(router_index).stored,
              here = index[router_index];
    const u32 wired = t.wired[here];
    const u32* minimal = t.minimal + std::size_t{here} * t.routers;
    const u8* order = &router.at(f.order);
    Packet* pool = &router.at(f.pool);
    u32* options = &router.at(f.options);
    u8 arriving[kChannels + 1];
    u64 key[kChannels];
    u32 rank[kChannels];
    u32 arrived = take_arrivals(&router.at(f.came, first), arriving);
    if (stored + arrived > t.positions) {
      raise_fault(control(router_index).fault, kFaultBufferOverflow, kNoFaultPort);
      arrived = t.positions - stored;
    }
    const auto take_rank = [&](u32 message_rank, u32 position) {
      sorted[router_index][message_rank] = static_cast<u8>(position);
      ranked.choices.add(message_rank, options[position] & wired);
      ranked.local |= u32{pool[position].dst == here} << message_rank;
    };
    for (u32 i = 0; i < arrived; ++i) {
      const Packet& packet = router.at(f.mail, first + arriving[i]);
      const u32 position = order[stored + i], message_options = minimal[packet.dst];
      pool[position] = packet;
      options[position] = message_options;
      key[i] = key_of(packet, message_options);
      rank[i] = 0;
      for (u32 j = 0; j < i; ++j) {
        const u32 later = key[j] < key[i];
        rank[i] += later;
        rank[j] += later ^ 1;
      }
    }
    for (u32 i = 0; i < stored; ++i) {
      const u32 position = order[i];
      const u64 stored_key = key_of(pool[position], options[position]);
      u32 message_rank = i;
      for (u32 j = 0; j < arrived; ++j) {
        const u32 later = key[j] < stored_key;
        message_rank += later;
        rank[j] += later ^ 1;
      }
      take_rank(message_rank, position);
    }
    for (u32 i = 0; i < arrived; ++i) take_rank(rank[i], order[stored + i]);
    ranked.count = stored + arrived;
  }

  /// Delivers, assigns and stores a router's messages.
  FLITLAB_INLINE void route(u32 router_index) {
    const auto& t = v.t;
    Ranked ranked;
    collect(router_index, ranked);
    if (!ranked.count) return;
    u32 waiting = (1u << ranked.count) - 1, limit = t.ejection ? t.ejection : kFewMessages;
    for (u32 local = ranked.local; local && limit; local &= local - 1, --limit) {
      delivered[delivered_count++] = router_index << 16 | lowest_bit(local) << 8;
      waiting &= ~(local & (0 - local));
    }
    const u32 first_sent = sent_count;
    const auto choose = [&](u32 channel, u32 messages) __attribute__((always_inline)) {
      const u32 may = messages & waiting, first = may & (0 - may);
      sent[sent_count] = router_index << 16 | lowest_bit(first | 1u << 31) << 8 | channel;
      sent_count += may != 0;
      waiting ^= first;
    };
    if (waiting & (waiting - 1)) {
      ranked.choices.for_each_channel(t.assignment, t.channels, ranked.count, choose);
    } else if (waiting) {  // a single message takes the first of its channels
      const u32 options = ranked.choices.options(lowest_bit(waiting));
      if (options) choose(lowest_bit(options), waiting);
    }
    if (bit_count64(waiting) > room[router_index]) send_excess(router_index, waiting, first_sent);
    store_waiting(router_index, ranked.count, waiting);
  }

  /// Steps 3 and 4 of S-Connect, Figure 4, if there are more messages than buffers: misroutes the last messages in the
  /// order.
  void send_excess(u32 router_index, u32& waiting, u32 first_sent) {
    Random4 random{};
    u32 free = v.t.wired[index[router_index]];
    for (u32 i = first_sent; i < sent_count; ++i) free &= ~(1u << (sent[i] & 0xFF));
    for (u32 draws = 0; bit_count64(waiting) > room[router_index]; ++draws) {
      if (!free) return raise_fault(control(router_index).fault, kFaultBufferOverflow, kNoFaultPort);
      if (draws % 4 == 0)
        random = philox(v.row->seed, adaptive::stream::kMisroute, index[router_index], u64{draws / 4} << 32 | now);
      const u32 rank = log2_floor(waiting);
      const u32 channel = nth_channel(free, below(random.word[draws % 4], bit_count64(free)));
      sent[sent_count++] = router_index << 16 | rank << 8 | channel;
      waiting &= ~(1u << rank);
      free &= ~(1u << channel);
      ++misrouted;
    }
  }

  /// Writes to the router's `order` the pool positions of the waiting messages, in order of rank, and behind them the
  /// free positions.
  FLITLAB_INLINE void store_waiting(u32 router_index, u32 count, u32 waiting) const {
    u8* order = &node[router_index].at(v.t.router_fields.order);
    u8 freed[kFewMessages + 1];
    u32 kept = 0, free = 0;
    for (u32 rank = 0; rank < count; ++rank) {
      const u32 stays = waiting >> rank & 1;
      order[kept] = sorted[router_index][rank];  // overwritten later if the message departs
      freed[free] = sorted[router_index][rank];
      kept += stays;
      free += stays ^ 1;
    }
    for (u32 i = 0; i < free; ++i) order[kept + i] = freed[i];
    control(router_index).stored = kept;
  }

  FLITLAB_INLINE void deliver_and_send() {
    const auto& t = v.t;
    const RouterFields& f = t.router_fields;
    const auto message = [&](Departure m) -> const Packet& {
      return node[m >> 16].at(f.pool, sorted[m >> 16][m >> 8 & 0xFF]);
    };
    const u32 slot = ((now + t.delay) & t.slot_mask) * t.channels;
    for (u32 i = 0; i < delivered_count; ++i) eject(v, message(delivered[i]), now);
    for (u32 i = 0; i < sent_count; ++i) {
      const u32 router_index = sent[i] >> 16, channel = sent[i] & 0xFF;
      const Peer peer = t.peers[std::size_t{index[router_index]} * t.ports + channel];
      const auto next = v.routers[peer.item];
      Packet& arrives = next.at(f.mail, slot + peer.port);
      arrives = message(sent[i]);
      ++arrives.hops;
      arrives.route_bits = static_cast<u8>(peer.port);
      next.at(f.came, slot + peer.port) = 1;
      ++node[router_index].at(f.sent, channel);
    }
    count(*v.shard, Total::kFlitMoves, sent_count);
    count(*v.shard, Count::kSent, sent_count);
    count(*v.shard, Count::kMisrouted, misrouted);
  }

  /// Stores new messages of terminals in free buffers. The terminal that is served first changes every cycle.
  FLITLAB_INLINE void serve_terminals() const {
    const auto& t = v.t;
    for (u32 turn = 0; turn < t.concentration; ++turn) {
      const u32 which = (now + turn) % t.concentration;
      ItemList<kRouters> creating, entering;
      for (u32 i = 0; i < n; ++i) {
        const u32 terminal = index[i] * t.concentration + which;
        creating.add(terminal, source(terminal).next.at <= now);
      }
      for (u32 terminal : creating) create_packets(v, terminal, source(terminal), now);
      for (u32 i = 0; i < n; ++i) {
        const TerminalControl& c = source(index[i] * t.concentration + which);
        entering.add(i, u32{c.sent != c.created} & u32{control(i).stored < room[i]});
      }
      for (u32 router_index : entering) {
        const u32 terminal_index = index[router_index] * t.concentration + which;
        insert(v, node[router_index], index[router_index], control(router_index),
               take_oldest(v, v.terminals[terminal_index], terminal_index, source(terminal_index), now));
      }
    }
  }
};

template <u32 kHalves, class V>
FLITLAB_INLINE void step_many(const V& v, const u32* list, u32 n, Cycle now) {
  BulkCycle<V, kHalves> bulk(v, list, n, now);
  for (u32 i = 0; i < n; ++i) bulk.route(i);
  bulk.deliver_and_send();
  bulk.serve_terminals();
}

template <class V>
FLITLAB_INLINE void step_many(const V& v, const u32* list, u32 n, Cycle now) {
  return v.t.channels <= 8 ? step_many<1>(v, list, n, now) : step_many<2>(v, list, n, now);
}

}  // namespace flitlab::adaptive
