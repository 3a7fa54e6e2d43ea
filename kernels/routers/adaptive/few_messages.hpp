#pragma once
/// The messages of a router, with the functions of ManyMessages (messages.hpp), for up to 31 messages and 16 channels
/// on a CPU. Sets of messages are machine words, messages are sorted by counting, and the code has no unpredictable
/// branches (reason: kernels/common/lists.hpp). Networks run 1.5 to 1.9 times as fast as with ManyMessages; sorting
/// alone gains a factor of 1.07 (low load) to 1.4 (high load).
#include "kernels/common/lists.hpp"
#include "kernels/routers/adaptive/choose.hpp"

namespace flitlab::adaptive {

/// Returns the set of channels on which messages arrive at a router, and clears their flags, which start at element
/// `first` of `came`. It leaves the flags of other slots alone, because another thread may be writing them.
template <class V>
FLITLAB_INLINE u32 take_arrivals(const V& v, const Item<1>& node, u32 first) {
  const u32 channels = v.t.channels;
  u8* flags = &node.at(v.t.router_fields.came, first);
  if (channels >= 4 && channels <= 8) {
    const u32 last = channels - 4, none = 0;
    u32 low, high;
    std::memcpy(&low, flags, 4);
    std::memcpy(&high, flags + last, 4);
    std::memcpy(flags, &none, 4);
    std::memcpy(flags + last, &none, 4);
    const u64 present = bytes_present(low | u64{high} << 8 * last) >> 7;
    return static_cast<u32>(present * 0x0102040810204080ull >> 56);
  }
  u32 arriving = 0;
  for (u32 channel = 0; channel < channels; ++channel) {
    arriving |= u32{flags[channel] != 0} << channel;
    flags[channel] = 0;
  }
  return arriving;
}

/// `kHalves` * 8: most channels.
template <u32 kHalves>
struct FewMessages {
  static constexpr u32 kMessages = kFewMessages, kChannels = kHalves * 8;

  u32 local = 0;                ///< set of messages for terminals of this router
  u32 left;                     ///< set of messages that have not departed
  Choices<kHalves> choices{};   ///< channels that messages may take
  u8 sorted[kFewMessages + 1];  ///< `sorted[rank]`: position in the pool

  template <class V>
  FLITLAB_INLINE u32 position(const V&, const Item<1>&, u32 rank) const {
    return sorted[rank];
  }

  template <class V>
  FLITLAB_INLINE u32 collect(const V& v, const Item<1>& node, u32 index, u32 first) {
    const auto& t = v.t;
    const RouterFields& f = t.router_fields;
    RouterControl& control = node.at(f.control);
    const u32 wired = t.wired[index], stored = control.stored;
    const u32* minimal = t.minimal + std::size_t{index} * t.routers;
    const u8* order = &node.at(f.order);
    Packet* pool = &node.at(f.pool);
    u32* options = &node.at(f.options);
    u64 key[kChannels];
    u32 rank[kChannels], arrived = 0;
    const auto take_rank = [&](u32 message_rank, u32 position) {
      sorted[message_rank] = static_cast<u8>(position);
      choices.add(message_rank, options[position] & wired);
      local |= u32{pool[position].dst == index} << message_rank;
    };
    for (u32 arriving = take_arrivals(v, node, first); arriving; arriving &= arriving - 1) {
      if (stored + arrived >= t.positions) {
        raise_fault(control.fault, kFaultBufferOverflow, kNoFaultPort);
        break;
      }
      const Packet& packet = node.at(f.mail, first + lowest_bit(arriving));
      const u32 position = order[stored + arrived], message_options = minimal[packet.dst], i = arrived++;
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
    left = (1u << (stored + arrived)) - 1;
    return stored + arrived;
  }

  FLITLAB_INLINE u32 waiting(u32) const { return bit_count64(left); }

  template <class V, class Deliver>
  FLITLAB_INLINE void take_local(const V&, const Item<1>&, u32, u32, u32 limit, Deliver&& deliver) {
    for (; local && limit; local &= local - 1, --limit) {
      deliver(u32{sorted[lowest_bit(local)]});
      left &= ~(local & (0 - local));
    }
  }

  template <class V, class Send>
  FLITLAB_INLINE u32 assign_to(const V& v, const Item<1>&, u32 count, u32 channels, Send&& send) {
    const auto choose = [&](u32 channel, u32 messages) __attribute__((always_inline)) {
      const u32 may = messages & left, first = may & (0 - may);
      send(may != 0, u32{sorted[lowest_bit(first | 1u << 31)]}, channel);
      channels &= ~(u32{may != 0} << channel);
      left ^= first;
    };
    if (left & (left - 1)) {
      choices.for_each_channel(v.t.assignment, v.t.channels, count, choose);
    } else if (left) {  // a single message takes the first of its channels
      const u32 options = choices.options(lowest_bit(left));
      if (options) choose(lowest_bit(options), left);
    }
    return channels;
  }

  FLITLAB_INLINE u32 take_last(u32) {
    const u32 rank = log2_floor(left);
    left &= ~(1u << rank);
    return rank;
  }

  template <class V>
  FLITLAB_INLINE void store(const V& v, const Item<1>& node, u32 count) const {
    u8* order = &node.at(v.t.router_fields.order);
    u8 freed[kFewMessages + 1];
    u32 kept = 0, free = 0;
    for (u32 rank = 0; rank < count; ++rank) {
      const u32 stays = left >> rank & 1;
      order[kept] = sorted[rank];  // overwritten later if the message departs
      freed[free] = sorted[rank];
      kept += stays;
      free += stays ^ 1;
    }
    for (u32 i = 0; i < free; ++i) order[kept + i] = freed[i];
    node.at(v.t.router_fields.control).stored = kept;
  }
};

}  // namespace flitlab::adaptive
