#pragma once
/// Which message goes to which channel in a routing cycle (S-Connect, 2.2, Figure 4). Messages are given in the order
/// of steps 2.1 a to d, the one to be preferred first.
#include "kernels/common/bits.hpp"

namespace flitlab::adaptive {

inline constexpr u32 kMaxChannels = 32;
inline constexpr u32 kMaxSpare = 96;
/// A router has as many buffers as channels and spare ones; as many messages as it has channels may come to full ones.
inline constexpr u32 kMaxMessages = 2 * kMaxChannels + kMaxSpare;

inline constexpr u8 kStays = 0xFF;      ///< no channel
inline constexpr u8 kDelivered = 0xFE;  ///< left for its terminal

enum class Assignment : u8 { kGreedy, kFixed, kOptimal };

struct Pending {
  u32 count;
  u32 options[kMaxMessages];  ///< channels that a message may take, as a set
  u8 channel[kMaxMessages];   ///< that it has been given, or kStays

  FLITLAB_HD u32 options_of(u32 m) const { return options[m]; }
  FLITLAB_HD bool stays(u32 m) const { return channel[m] == kStays; }
  FLITLAB_HD void stay(u32 m) { channel[m] = kStays; }
  FLITLAB_HD void deliver(u32 m) { channel[m] = kDelivered; }
  FLITLAB_HD void give(u32 m, u32 to) { channel[m] = static_cast<u8>(to); }
  /// Calls send(message, channel) for all that have been given one.
  template <class Send>
  FLITLAB_INLINE void for_each_given(Send&& send) const {
    for (u32 m = 0; m < count; ++m)
      if (channel[m] < kMaxChannels) send(m, u32{channel[m]});
  }
};

/// The same in few bytes, for GPUs, where such arrays lie in memory: options stay where they are, and messages that
/// have no channel are bits.
template <class OptionsOf>
struct PackedPending {
  static constexpr u32 kWords = (kMaxMessages + 63) / 64;

  OptionsOf options_of;
  u32 count = 0, given = 0;  ///< given: channels
  u64 (&left)[kWords];       ///< apart, so that the rest is in registers
  u8 (&message_of)[kMaxChannels];

  FLITLAB_HD bool stays(u32 m) const { return left[m / 64] >> m % 64 & 1; }
  FLITLAB_HD void stay(u32 m) { left[m / 64] |= u64{1} << m % 64; }
  FLITLAB_HD void deliver(u32 m) { left[m / 64] &= ~(u64{1} << m % 64); }
  FLITLAB_HD void give(u32 m, u32 to) {
    deliver(m);
    given |= 1u << to;
    message_of[to] = static_cast<u8>(m);
  }
  template <class Send>
  FLITLAB_INLINE void for_each_given(Send&& send) const {
    for (u32 set = given; set; set &= set - 1) send(u32{message_of[lowest_bit(set)]}, lowest_bit(set));
  }
};

/// Member n, counted from 0, of a set of channels.
FLITLAB_HD inline u32 nth_channel(u32 set, u32 n) {
  for (; n; --n) set &= set - 1;
  return lowest_bit(set);
}

/// Step 1: channels by the number of messages that may take them, the fewest first; of equals, the lower number.
/// Returns how many there are.
template <class P>
FLITLAB_HD inline u32 sort_channels(const P& pending, u32 channels, u8* sorted) {
  u8 waiting[kMaxChannels];
  for (u32 set = channels; set; set &= set - 1) waiting[lowest_bit(set)] = 0;
  for (u32 m = 0; m < pending.count; ++m)
    for (u32 set = pending.options_of(m); set; set &= set - 1) ++waiting[lowest_bit(set)];
  u32 n = 0;
  for (u32 set = channels; set; set &= set - 1) {
    const u32 channel = lowest_bit(set);
    u32 place = n++;
    for (; place && waiting[sorted[place - 1]] > waiting[channel]; --place) sorted[place] = sorted[place - 1];
    sorted[place] = static_cast<u8>(channel);
  }
  return n;
}

/// Step 2 for one channel: the first message that may take it and has none.
template <class P>
FLITLAB_HD inline void choose_message(P& pending, u32 channel) {
  for (u32 m = 0; m < pending.count; ++m)
    if (pending.stays(m) && pending.options_of(m) >> channel & 1) return pending.give(m, channel);
}

template <class P>
FLITLAB_HD inline void assign_greedy(P& pending, u32 channels) {
  u8 sorted[kMaxChannels];
  const u32 n = sort_channels(pending, channels, sorted);
  for (u32 i = 0; i < n; ++i) choose_message(pending, sorted[i]);
}

template <class P>
FLITLAB_HD inline void assign_fixed(P& pending, u32 channels) {
  for (u32 set = channels; set; set &= set - 1) choose_message(pending, lowest_bit(set));
}

/// As many messages as possible, by augmenting paths. Messages ask in their order, and who has been given a channel
/// may get another one but never none; so no set of as many messages would be preferred to the one that is sent.
template <class P>
FLITLAB_HD inline void assign_optimal(P& pending, u32 channels) {
  u8 holders[kMaxChannels];
  u8* holder = holders;  // message that has been given a channel
  if constexpr (requires { pending.message_of; }) holder = pending.message_of;
  u8 from[kMaxChannels];  // channel whose holder would take this one instead; kStays: the message that asks
  u8 queue[kMaxChannels];
  u32 free = channels;
  for (u32 m = 0; m < pending.count && free; ++m) {
    u32 unseen = channels, head = 0, tail = 0, found = kNone;
    u8 via = kStays;
    u32 asks = m;
    for (;;) {
      const u32 reached = pending.options_of(asks) & unseen;
      unseen &= ~reached;
      for (u32 set = reached; set; set &= set - 1) {
        const u32 channel = lowest_bit(set);
        from[channel] = via;
        queue[tail++] = static_cast<u8>(channel);
      }
      if (reached & free) {
        found = lowest_bit(reached & free);
        break;
      }
      if (head == tail) break;
      via = queue[head++];
      asks = holder[via];
    }
    if (found == kNone) continue;
    free &= ~(1u << found);
    for (u32 channel = found;; channel = from[channel]) {
      const u32 mover = from[channel] == kStays ? m : holder[from[channel]];
      holder[channel] = static_cast<u8>(mover);
      pending.give(mover, channel);
      if (mover == m) break;
    }
  }
}

template <class P>
FLITLAB_HD inline void assign(Assignment how, P& pending, u32 channels) {
  switch (how) {
    case Assignment::kGreedy: return assign_greedy(pending, channels);
    case Assignment::kFixed: return assign_fixed(pending, channels);
    case Assignment::kOptimal: return assign_optimal(pending, channels);
  }
}

}  // namespace flitlab::adaptive
