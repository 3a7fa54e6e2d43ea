#pragma once
/// Assignment of messages to channels in a routing cycle (S-Connect, 2.2, Figure 4). A message's rank is its position
/// in the order of steps 2.1 a to d; the message of rank 0 is the most preferred.
#include "kernels/common/bits.hpp"
#include "kernels/routers/adaptive/choices.hpp"

namespace flitlab::adaptive {

inline constexpr u32 kMaxChannels = 32;
inline constexpr u32 kMaxSpare = 96;
/// Most messages that a router assigns in a cycle. A router has a buffer for each channel, and spare buffers. If all
/// buffers are full, one more message may arrive on each channel.
inline constexpr u32 kMaxMessages = 2 * kMaxChannels + kMaxSpare;

/// Set of messages; bit r stands for the message of rank r.
struct MessageSet {
  u32 word[kMaxMessages / 32]{};
  u32 size = 0;

  FLITLAB_HD bool has(u32 m) const { return word[m / 32] >> m % 32 & 1; }
  FLITLAB_HD void add(u32 m) {
    word[m / 32] |= 1u << m % 32;
    ++size;
  }
};
static_assert(kMaxMessages % 32 == 0);

/// The messages that have been assigned to channels. `message` is indexed by channel, because an array over all
/// messages would need a GPU's stack.
struct Assigned {
  MessageSet departed;       ///< messages that have a channel, or have left for their terminals
  u32 channels = 0;          ///< assigned channels, as a set
  u8 message[kMaxChannels];  ///< `message[channel]`: rank of the assigned message

  FLITLAB_HD void give(u32 m, u32 channel) {
    departed.add(m);
    channels |= 1u << channel;
    message[channel] = static_cast<u8>(m);
  }
};

/// Returns member n, counted from 0, of a set of channels.
FLITLAB_HD inline u32 nth_channel(u32 set, u32 n) {
  for (; n; --n) set &= set - 1;
  return lowest_bit(set);
}

/// Step 1: for each channel, the number of pending messages (messages that may take it), as 8-bit counters in bit
/// planes: `plane[j]` holds bit j of all counters.
struct Waiting {
  static constexpr u32 kPlanes = 8;
  static_assert(kMaxMessages < 1u << kPlanes);
  u32 plane[kPlanes]{};

  FLITLAB_HD void add(u32 options) {
    for (u32 i = 0; i < kPlanes; ++i) {
      const u32 carry = plane[i] & options;
      plane[i] ^= options;
      options = carry;
    }
  }

  /// Returns the channel of a nonempty set that has the fewest pending messages; ties go to the channel with the lower
  /// number.
  FLITLAB_HD u32 fewest(u32 channels) const {
    for (u32 i = kPlanes; i-- > 0;) {
      const u32 fewer = channels & ~plane[i];
      channels = fewer ? fewer : channels;
    }
    return lowest_bit(channels);
  }
};

/// Step 2 for one channel: assigns the first unassigned message that may take it. `options(m)`: set of m's channels.
template <class Options>
FLITLAB_HD inline void choose_message(Assigned& assigned, u32 count, const Options& options, u32 channel) {
  for (u32 m = 0; m < count; ++m)
    if (!assigned.departed.has(m) && (options(m) >> channel & 1)) return assigned.give(m, channel);
}

template <class Options>
FLITLAB_HD inline void assign_greedy(Assigned& assigned, u32 count, const Options& options, u32 channels) {
  Waiting waiting;
  for (u32 m = 0; m < count; ++m) waiting.add(options(m));
  while (channels) {
    const u32 channel = waiting.fewest(channels);
    channels &= ~(1u << channel);
    choose_message(assigned, count, options, channel);
  }
}

template <class Options>
FLITLAB_HD inline void assign_fixed(Assigned& assigned, u32 count, const Options& options, u32 channels) {
  for (u32 set = channels; set; set &= set - 1) choose_message(assigned, count, options, lowest_bit(set));
}

/// Assigns as many messages as possible, by augmenting paths. Messages request channels in the order of their ranks. An
/// assigned message may move to another channel but remains assigned, so no other set of as many messages would be
/// preferred to the result.
template <class Options>
FLITLAB_HD inline void assign_optimal(Assigned& assigned, u32 count, const Options& options, u32 channels) {
  constexpr u8 kRequester = 0xFF;
  u8 from[kMaxChannels];  // [channel] the other channel, whose message would move to this channel; kRequester: the
                          // requesting message
  u8 queue[kMaxChannels];
  u8* holder = assigned.message;
  for (u32 m = 0; m < count && channels & ~assigned.channels; ++m) {
    u32 unseen = channels, head = 0, tail = 0, found = kNone;
    u8 via = kRequester;
    u32 requester = m;
    for (;;) {
      const u32 reached = options(requester) & unseen, free = reached & ~assigned.channels;
      unseen &= ~reached;
      for (u32 set = reached; set; set &= set - 1) {
        const u32 channel = lowest_bit(set);
        from[channel] = via;
        queue[tail++] = static_cast<u8>(channel);
      }
      if (free) {
        found = lowest_bit(free);
        break;
      }
      if (head == tail) break;
      via = queue[head++];
      requester = holder[via];
    }
    if (found == kNone) continue;
    assigned.departed.add(m);
    assigned.channels |= 1u << found;
    for (u32 channel = found;; channel = from[channel]) {
      const u32 mover = from[channel] == kRequester ? m : holder[from[channel]];
      holder[channel] = static_cast<u8>(mover);
      if (mover == m) break;
    }
  }
}

template <class Options>
FLITLAB_HD inline void assign(Assignment how, Assigned& assigned, u32 count, const Options& options, u32 channels) {
  switch (how) {
    case Assignment::kGreedy: return assign_greedy(assigned, count, options, channels);
    case Assignment::kFixed: return assign_fixed(assigned, count, options, channels);
    case Assignment::kOptimal: return assign_optimal(assigned, count, options, channels);
  }
}

}  // namespace flitlab::adaptive
