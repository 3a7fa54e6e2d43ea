#pragma once
/// The three phases of arbitration (paper, "Torus network"), all decided in the cycle in which requests are presented.
/// The time that the phases take is part of the delay before a head's first request. Phase 1: the head of every queue
/// chooses a direction and a VC. Phase 2: every receiver presents the request of one head. Phase 3: every sender grants
/// one request.
#include "kernels/common/block_lists.hpp"
#include "kernels/common/philox.hpp"
#include "kernels/routers/bgl/move.hpp"
#include "kernels/routers/bgl/streams.hpp"

namespace flitlab::bgl {

/// Random words of a node for one cycle, one for each arbiter. They are derived from one random number, which is drawn
/// at the first use.
class ArbiterDraws {
 public:
  FLITLAB_HD ArbiterDraws(u64 seed, u32 node, Cycle now) : seed_(seed), node_(node), now_(now) {}

  FLITLAB_INLINE u32 operator()(u32 arbiter) {
    if (!word_) {
      const Random4 r = philox(seed_, bgl::stream::kArbiter, node_, now_);
      word_ = u64{r.word[0]} << 32 | r.word[1];
    }
    return mixed(word_, arbiter);
  }

 private:
  FLITLAB_CALLED static u32 mixed(u64 word, u32 arbiter) {
    return static_cast<u32>(mix64(word + arbiter * 0x9E3779B97F4A7C15ull) >> 32);
  }

  u64 seed_, word_ = 0;  ///< 0: not drawn yet; a drawn 0 is drawn again, with the same result
  u32 node_;
  Cycle now_;
};

inline constexpr u64 kEveryReceiver = 0x0000010101010101ull;        ///< first queue of each receiver
inline constexpr u64 kReceivers = (u64{1} << kInjectionQueue) - 1;  ///< queues of all receivers

/// Indices of the random words in ArbiterDraws. A queue's choice has the index of the queue. The Dice constants are the
/// first indices of the receivers, of their reception FIFOs (8 for each priority) and of the senders. The Coin
/// constants are for choices that hold for all arbiters of a node in a cycle.
inline constexpr u32 kReceiverDice = 64, kReceptionDice = 72, kSenderDice = 96, kShortestCoin = 112, kNetworkCoin = 113;

/// Returns a random member of a set, all with equal probability.
FLITLAB_HD FLITLAB_ONE_COPY inline u32 random_member(u64 set, u32 draw) {
  u32 skip = below(draw, bit_count64(set));
#if defined(__CUDA_ARCH__)
  FLITLAB_ROLLED for (; skip; --skip) set &= set - 1;
  return lowest_bit(set);
#else
  // No loop, because the branch at its end would be mispredicted: finds the byte that contains the member, then the
  // member's bit in that byte.
  u64 counts = set - (set >> 1 & 0x5555555555555555ull);
  counts = (counts & 0x3333333333333333ull) + (counts >> 2 & 0x3333333333333333ull);
  counts = ((counts + (counts >> 4)) & 0x0F0F0F0F0F0F0F0Full) * 0x0101010101010101ull;  // members up to each byte
  constexpr u64 kHigh = 0x8080808080808080ull;
  const u64 before = (((skip * 0x0101010101010101ull) | kHigh) - counts) & kHigh;  // skipped bytes
  const u32 shift = static_cast<u32>((before >> 7) * 0x0101010101010101ull >> 56) * 8;
  skip -= static_cast<u32>((counts << 8) >> shift & 0xFF);
  return shift + static_cast<u32>(kMembersOf[set >> shift & 0xFF] >> 8 * skip & 0xFF);
#endif
}

/// Returns whether this cycle belongs to a random fraction of all cycles. `coin`: index of the random word;
/// `threshold`: the fraction times 2^32, or kNone for all cycles.
FLITLAB_INLINE bool is_selected_cycle(ArbiterDraws& draws, u32 coin, u32 threshold) {
  return threshold == kNone || (threshold && draws(coin) < threshold);
}

/// Returns the longest queues of a set. Lengths are compared by two bits: in quarters of the buffer's size.
template <class T, int W>
FLITLAB_CALLED u64 longest_of(const T& t, Item<W> node, u64 set) {
  u64 longest = 0;
  u32 most = 0;
  FLITLAB_ROLLED for (u64 left = set; left; left &= left - 1) {
    const u32 queue = lowest_bit(left);
    const u32 size = queue >= kInjectionQueue ? t.injection_flits : t.buffer[queue & 7];
    const u32 range = range_of(queue_in(t, node, queue).held, size);
    if (range > most || !longest) longest = 0, most = range;
    if (range == most) longest |= bit(queue);
  }
  return longest;
}

/// Returns the queue that an arbiter serves. In an SLQ cycle (serve the longest queue) it is one of the longest queues,
/// in other cycles any queue; the choice between them is random.
template <class V, int W>
FLITLAB_INLINE u32 serve(const V& v, const Item<W>& node, u64 set, ArbiterDraws& draws, u32 arbiter) {
  if (!(set & (set - 1))) return lowest_bit(set);
  if (is_selected_cycle(draws, kShortestCoin, v.t.slq_threshold)) set = longest_of(v.t, node, set);
  return set & (set - 1) ? random_member(set, draws(arbiter)) : lowest_bit(set);
}

/// Returns whether a head that leaves in `direction` on `vc` arrived in the same direction and on the same VC: it
/// continues along its ring.
FLITLAB_HD inline bool stays_in_ring(u32 queue, u32 direction, u32 vc) {
  return queue < kInjectionQueue && (queue >> 3 ^ 1u) == direction && (queue & 7) == vc;
}

/// Phase 1: chooses the direction and VC that a head requests, among the free links, and writes them to the head's
/// queue. Returns false if no pair is available. A dynamic packet takes a dynamic VC with space; with JSQ (join the
/// shortest queue) one with the most tokens, compared by two bits. If no dynamic VC has space, the packet takes the
/// escape VC.
template <class V, int W>
FLITLAB_INLINE bool choose(const V& v, const Item<W>& node, u32 address, u32 queue, Queue& state, u32 links,
                           ArbiterDraws& draws) {
  const auto& t = v.t;
  const u32 hints = state.route & kHints;
  if (!(hints & links)) return false;
  if (state.route & kDynamic && !(state.route & kHighPriority)) {
    const Levels& levels = node.at(t.node_fields.levels);
    u64 best = levels.open & spread(hints & links) * t.dynamic_set;
    for (u32 i = 3; t.jsq && i; --i)
      if (const u64 fuller = best & levels.fuller[i - 1]) {
        best = fuller;
        break;
      }
    if (best) {
      const u32 pair = best & (best - 1) ? random_member(best, draws(queue)) : lowest_bit(best);
      state.direction = pair >> 3 & 7;
      state.vc = pair & 7;
      return true;
    }
  }
  const u32 direction = escape_direction(t.order, hints);
  if (!(links >> direction & 1)) return false;
  const u32 vc = state.route & kHighPriority ? t.high_vc : escape_vc(t, address, state.route, direction);
  if (!(enterable(v, node, direction, stays_in_ring(queue, direction, vc)) >> vc & 1)) return false;
  state.direction = direction & 7;
  state.vc = vc & 7;
  return true;
}

/// Returns whether a receiver can start a transfer to its reception FIFO: the bus of the packet's priority is free and
/// the FIFO has space.
template <class V>
FLITLAB_INLINE bool can_arrive(const V&, const NodeControl& control, u32 receiver, const Queue& state, u64 high_heads) {
  const u64 byte = u64{0xFF} << 8 * receiver;
  const u64 busy = control.arriving & byte & (state.route & kHighPriority ? high_heads : ~high_heads);
  return !busy && control.reception_room[reception_fifo(receiver, state.route)] >= chunks_of(state.route);
}

/// Returns whether a receiver has a free transfer bus.
template <class T>
FLITLAB_HD inline bool has_bus(const T& t, const NodeControl& control, u32 receiver) {
  u64 busy = control.leaving & u64{0xFF} << 8 * receiver;
  FLITLAB_ROLLED for (u32 path = 1; path < t.paths; ++path) busy &= busy - 1;  // an empty set stays empty
  return !busy;
}

/// For each receiver and priority, starts the transfer of one head that is at its destination to its reception FIFO.
/// Returns whether a receiver had more heads whose transfer could have started.
template <class V, int W>
FLITLAB_INLINE bool receive(const V& v, const Item<W>& node, NodeControl& control, u32 index, u64 bypass,
                            ArbiterDraws draws, Cycle now) {
  const u64 high_vcs = kEveryReceiver << v.t.high_vc;
  bool again = false;
  for (u64 left = control.here; left;) {
    const u32 receiver = lowest_bit(left) >> 3;
    const u64 heads = left & u64{0xFF} << 8 * receiver;
    left &= ~heads;
    FLITLAB_ROLLED for (u32 high = 0; high < 2; ++high) {
      u64 able = 0;
      for (u64 rest = heads & (high ? high_vcs : ~high_vcs); rest; rest &= rest - 1)
        if (can_arrive(v, control, receiver, queue_at(v, node, lowest_bit(rest)), high_vcs)) able |= rest & (~rest + 1);
      if (!able) continue;
      const u64 stored = able & ~bypass;
      const u32 queue = serve(v, node, stored ? stored : able, draws, kReceptionDice + receiver + 8 * high);
      arrive(v, node, control, index, queue, bypass & bit(queue), now);
      again |= (able & (able - 1)) != 0;
    }
  }
  return again;
}

/// Removes a granted head from the requests, and the link that it takes from the free links.
template <class V, int W>
FLITLAB_INLINE void grant_link(const V& v, const Item<W>& node, NodeControl& control, u32 queue) {
  control.waiting &= ~bit(queue);
  control.links = static_cast<u8>(control.links & ~(1u << queue_at(v, node, queue).direction));
}

/// Requests granted by the senders of many nodes. The transfers start later, so that the prefetches of their data can
/// complete.
struct Grants {
  struct Grant {
    u32 index;
    u8 queue;
    u8 bypass;
  };
  Grant* list;
  u32 count = 0;

  template <class V, int W>
  FLITLAB_INLINE void add(const V& v, const Item<W>& node, NodeControl& control, u32 index, u32 queue, u64 bypass,
                          Cycle now) {
    list[count++] = {index, static_cast<u8>(queue), (bypass & bit(queue)) != 0};
    grant_link(v, node, control, queue);
#if !defined(__CUDA_ARCH__)
    const auto& t = v.t;
    const Queue& state = queue_at(v, node, queue);
    const u32 direction = state.direction, peer = node.at(t.node_fields.neighbour, direction);
    const auto next = v.nodes[peer];
    const Cycle left = now + kChunkBytes * chunks_of(state.route);
    __builtin_prefetch(&packet_at(v, node, queue, state.first));
    __builtin_prefetch(&packet_at(v, next, queue_of(direction ^ 1, state.vc),
                                  node.at(t.node_fields.tail, direction * t.vcs + state.vc)),
                       1);
    __builtin_prefetch(&next.at(t.node_fields.head, head_slot(t, direction ^ 1, now + t.hop_delay)), 1);
    __builtin_prefetch(&next.at(t.node_fields.head_comes, head_slot(t, direction ^ 1, now + t.hop_delay)), 1);
    __builtin_prefetch(&arrival_note(v, t.calendar_fields.heads, peer, now + t.hop_delay), 1);
    __builtin_prefetch(&notes_at(v, t.calendar_fields.queues, index, left), 1);
    __builtin_prefetch(&notes_at(v, t.calendar_fields.again, index, left + t.overhead), 1);
    if (!t.acks && bypass & bit(queue)) prefetch_return(v, node, queue >> 3, now + t.token_delay);
#endif
  }
  FLITLAB_INLINE void end_node(u32) {}
};

/// Requests granted by the senders of one node, as sets of queues.
struct NodeGrants {
  u64 queues = 0, bypassing = 0;

  template <class V, int W>
  FLITLAB_INLINE void add(const V& v, const Item<W>& node, NodeControl& control, u32, u32 queue, u64 bypass, Cycle) {
    queues |= bit(queue);
    bypassing |= bypass & bit(queue);
    grant_link(v, node, control, queue);
  }
  FLITLAB_INLINE void end_node(u32) {}
};

/// Requests granted by the senders of a group's nodes, in a block of GPU threads. A thread has this object for one node
/// after the other.
struct BlockGrants {
  SetList<kGpuBlock>& granted;
  NodeGrants of_node;

  template <class V, int W>
  FLITLAB_INLINE void add(const V& v, const Item<W>& node, NodeControl& control, u32 index, u32 queue, u64 bypass,
                          Cycle now) {
    of_node.add(v, node, control, index, queue, bypass, now);
  }
  /// Lists the requests of a node, given by its number in the group.
  FLITLAB_INLINE void end_node(u32 number) {
    granted.add(number, of_node.queues);
    of_node = {};
  }
};

/// All three phases of arbitration for a node in which a single head can win a link, so that no arbiter has to choose.
template <class V, int W, class G>
FLITLAB_INLINE void grant_uncontested(const V& v, const Item<W>& node, NodeControl& control, u32 index, u32 queue,
                                      u64 bypass, ArbiterDraws draws, G& grants, Cycle now) {
  Queue& state = queue_at(v, node, queue);
  if (queue < kInjectionQueue) {
    if (!has_bus(v.t, control, queue >> 3)) return;
    if (state.route & kDeposit && !can_arrive(v, control, queue >> 3, state, kEveryReceiver << v.t.high_vc)) return;
  }
  if (choose(v, node, control.address, queue, state, control.links, draws))
    grants.add(v, node, control, index, queue, bypass, now);
}

/// All three phases of arbitration for the heads that request links. Returns whether a denied request may be granted in
/// the next cycle.
template <class V, int W, class G>
FLITLAB_INLINE bool arbitrate(const V& v, const Item<W>& node, NodeControl& control, u32 index, u64 waiting, u64 bypass,
                              ArbiterDraws draws, G& grants, Cycle now) {
  const auto& t = v.t;
  u64 requests[kDirections] = {};
  u64 high = 0;  // presented heads of high priority
  u32 requesting = 0, granted = 0, directions = 0;
  for (u64 left = waiting; left & kReceivers;) {
    const u32 receiver = lowest_bit(left) >> 3;
    u64 heads = left & u64{0xFF} << 8 * receiver;
    left &= ~heads;
    if (!has_bus(t, control, receiver)) continue;
    u64 onward = 0, onward_high = 0;
    for (; heads; heads &= heads - 1) {
      const u32 queue = lowest_bit(heads);
      Queue& state = queue_at(v, node, queue);
      if (state.route & kDeposit && !can_arrive(v, control, receiver, state, kEveryReceiver << t.high_vc)) continue;
      const bool possible = choose(v, node, control.address, queue, state, control.links, draws);
      if (t.gap) {
        u64& blocked = node.at(t.node_fields.blocked);
        const bool was = blocked & bit(queue);
        blocked = possible ? blocked & ~bit(queue) : blocked | bit(queue);
        if (possible && was) {  // this head presents its request a cycle later
          ++requesting;
          continue;
        }
      }
      if (!possible) continue;
      ++requesting;
      onward |= bit(queue);
      if (state.route & kHighPriority) onward_high |= bit(queue);
    }
    if (!onward) continue;
    if (onward_high)
      onward = onward_high;
    else if (onward & ~bypass)
      onward &= ~bypass;
    const u32 queue = serve(v, node, onward, draws, kReceiverDice + receiver);
    const u32 direction = queue_at(v, node, queue).direction;
    requests[direction] |= bit(queue);
    directions |= 1u << direction;
    high |= onward_high & bit(queue);
  }
  for (u64 heads = waiting & ~kReceivers; heads; heads &= heads - 1) {
    const u32 queue = lowest_bit(heads);
    Queue& state = queue_at(v, node, queue);
    if (!choose(v, node, control.address, queue, state, control.links, draws)) continue;
    requests[state.direction] |= bit(queue);
    directions |= 1u << state.direction;
    if (state.route & kHighPriority) high |= bit(queue);
    ++requesting;
  }
  for (; directions; directions &= directions - 1) {
    const u32 direction = lowest_bit(directions);
    u64 set = requests[direction];
    if (set & high) set &= high;
    if (set & kReceivers && set & ~kReceivers && is_selected_cycle(draws, kNetworkCoin, t.network_threshold))
      set &= kReceivers;
    const u32 queue = serve(v, node, set, draws, kSenderDice + direction);
    grants.add(v, node, control, index, queue, bypass, now);
    ++granted;
  }
  return requesting > granted;
}

/// Returns the heads that have a free link with tokens for a full packet on some VC. With the arbitration gap
/// (router.arbitration_gap): all heads, because phase 1 records which heads were blocked.
template <class V, int W>
FLITLAB_INLINE u64 able_heads(const V& v, const Item<W>& node, const NodeControl& control) {
  const auto& t = v.t;
  if (t.gap) return control.waiting;
  return union_of(control.wanting, bytes_set(node.at(t.node_fields.levels).open) & control.links) & control.waiting;
}

}  // namespace flitlab::bgl
