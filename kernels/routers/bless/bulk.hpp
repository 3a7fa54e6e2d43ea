#pragma once
/// Bulk phase (many routers per call) of two-dimensional networks on a CPU thread: each step of `RouterCycle`
/// (router.hpp) runs for up to `kRouters` routers before the next step begins. The lists between steps are built
/// without branches (reason: kernels/common/lists.hpp), and the four flits of a router are processed side by side.
/// A flit's position among the four is its input; an injected flit takes the position of a free input.
#include <cstring>

#include "kernels/common/lists.hpp"
#include "kernels/routers/bless/interface.hpp"
#include "kernels/routers/bless/quad.hpp"
#include "kernels/routers/bless/rank.hpp"

namespace flitlab::bless {

/// `kRouters`: most routers per call of the bulk phase. `kInputs`: inputs of a router.
inline constexpr u32 kRouters = 32;
inline constexpr u32 kInputs = 4;

/// `kMembersOfFour[set]`: the members of a set of inputs, lowest first, one byte each. `kSizeOfFour[set]`: the number
/// of its members.
inline constexpr std::array<u32, 16> kMembersOfFour = [] {
  std::array<u32, 16> members{};
  for (u32 set = 0; set < 16; ++set) members[set] = static_cast<u32>(kMembersOf[set]);
  return members;
}();
inline constexpr u8 kSizeOfFour[16] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};

template <class V>
struct BulkCycle {
  const V& v;
  const u32* index;
  u32 n;
  Cycle now;
  /// In router 0: inbox flags and slots of this cycle (now) and of the arrival cycle of sent flits (next); `sent`:
  /// counters of sent flits.
  std::byte *now_flags, *now_inbox, *next_flags, *next_inbox, *sent;
  std::size_t offset[kRouters];  ///< `offset[i]`: bytes from router 0's state to the state of router i of this call
  Item<1> terminal[kRouters];
  u32 occupied[kRouters];  ///< `occupied[i]`: set of inputs of router i that hold a flit
  Flit seat[kRouters][kInputs];
  alignas(16) u32 productive[kRouters][kInputs];  ///< `productive[i][input]`: set of channels that bring the flit
                                                  ///< nearer to its destination
  alignas(16) u32 preferred[kRouters][kInputs];   ///< `preferred[i][input]`: preferred channel, as a set of one

  FLITLAB_INLINE BulkCycle(const V& view, const u32* list, u32 count, Cycle cycle)
      : v(view), index(list), n(count), now(cycle) {
    const auto& t = v.t;
    const auto zero = v.routers[0];
    const u32 arrives = (now & t.slot_mask) * kInputs, leaves = ((now + t.hop_delay) & t.slot_mask) * kInputs;
    now_flags = reinterpret_cast<std::byte*>(&zero.at(t.router_fields.came, arrives));
    now_inbox = reinterpret_cast<std::byte*>(&zero.at(t.router_fields.mail, arrives));
    next_flags = reinterpret_cast<std::byte*>(&zero.at(t.router_fields.came, leaves));
    next_inbox = reinterpret_cast<std::byte*>(&zero.at(t.router_fields.mail, leaves));
    sent = reinterpret_cast<std::byte*>(&zero.at(t.router_fields.sent));
    for (u32 i = 0; i < n; ++i) {
      offset[i] = std::size_t{list[i]} * v.routers.item_bytes;
      terminal[i] = v.terminals[list[i]];
    }
  }

  FLITLAB_INLINE TerminalControl& control(u32 r) const { return terminal[r].at(v.t.terminal_fields.control); }

  FLITLAB_INLINE static Quad elements_of(u32 set) { return (all_four(set) & Quad{1, 2, 4, 8}) != Quad{}; }

  FLITLAB_INLINE void collect_and_eject() {
    const auto& t = v.t;
    const Coordinates<typename V::Table> coordinates(t);
    SetList<kRouters> ejecting;
    for (u32 i = 0; i < n; ++i) {
      u32 flags;
      std::memcpy(&flags, now_flags + offset[i], sizeof flags);
      std::memset(now_flags + offset[i], 0, sizeof flags);
      std::memcpy(seat[i], now_inbox + offset[i], sizeof seat[i]);
      const Quad nearer = coordinates.productive(all_four(t.address[index[i]]), FourFlits(seat[i]).dst);
      const Quad good = nearer & all_four(t.wired[index[i]]);
      std::memcpy(productive[i], &good, sizeof good);
      occupied[i] = static_cast<u32>((bytes_present(flags) >> 7) * 0x10204080u >> 28) & 15;
      ejecting.add(i, members(nearer == Quad{}) & occupied[i]);
    }
    for (u32 k = 0; k < ejecting.count; ++k) eject_oldest(ejecting.item[k], static_cast<u32>(ejecting.set[k]));
  }

  /// Ejects the oldest flits of `set`, the inputs whose flits are addressed to this router's terminal.
  FLITLAB_INLINE void eject_oldest(u32 r, u32 set) {
    for (u32 taken = 0; set && taken < v.t.ejection_width;) {
      u32 oldest = lowest_bit(set);
      for (u32 others = set & (set - 1); others; others &= others - 1)
        if (older(seat[r][lowest_bit(others)], seat[r][oldest])) oldest = lowest_bit(others);
      set &= ~(1u << oldest);
      if (!eject(v, terminal[r], index[r], seat[r][oldest], now)) continue;
      occupied[r] &= ~(1u << oldest);
      ++taken;
    }
  }

  FLITLAB_INLINE void inject() {
    const auto& t = v.t;
    ItemList<kRouters> creating, starting, sending;
    u32 blocked = 0;
    for (u32 i = 0; i < n; ++i) creating.add(i, control(i).next.at <= now);
    for (u32 i : creating) create_packets(v, index[i], control(i), now);
    for (u32 i = 0; i < n; ++i) {
      const TerminalControl& c = control(i);
      const u32 busy = c.lane.left != 0, has = busy | (c.sent != c.created), full = occupied[i] == t.wired[index[i]];
      const u32 sends = has & (full ^ 1);
      blocked += has & full;
      sending.add(i, sends);
      starting.add(i, sends & (busy ^ 1));
    }
    count(*v.shard, Count::kBlocked, blocked);
    for (u32 r : starting) begin_packet(v, terminal[r], index[r], control(r), now);
    for (u32 r : sending) {
      const u32 free = lowest_bit(~occupied[r]);
      const Flit flit = take_flit(v, terminal[r], control(r));
      seat[r][free] = flit;
      productive[r][free] = productive_channels(t, t.address[index[r]], flit.dst) & t.wired[index[r]];
      occupied[r] |= 1u << free;
    }
    count(*v.shard, Total::kFlitsInjected, sending.count);
  }

  /// A flit and the channel that it takes: (router * kInputs + input) << 8 | channel.
  using Move = u16;

  /// Sends all flits. If all flits of a router prefer different channels, each gets its preferred one without an age
  /// comparison; otherwise they choose in the order of age.
  FLITLAB_INLINE void send_all() {
    u8 uncontended[kRouters * kInputs + kInputs];  // router * kInputs + input
    Move moves[kRouters * kInputs + 1];
    SetList<kRouters> contending;
    u32 uncontended_count = 0, deflected = 0;
    for (u32 i = 0; i < n; ++i) {
      const u32 conflict = preferences_conflict(i), set = occupied[i] & (conflict - 1);
      const u32 inputs = kMembersOfFour[set] + i * (kInputs * 0x01010101u);
      contending.add(i, occupied[i] & (0 - conflict));
      std::memcpy(uncontended + uncontended_count, &inputs, sizeof inputs);
      uncontended_count += kSizeOfFour[set];
    }
    for (u32 i = 0; i < uncontended_count; ++i) {
      const u32 input = uncontended[i];
      moves[i] = static_cast<Move>(input << 8 | lowest_bit(preferred[input / kInputs][input % kInputs]));
    }
    u32 move_count = uncontended_count;
    for (u32 k = 0; k < contending.count; ++k) deflected += contend(contending.item[k], moves, move_count);
    for (u32 i = 0; i < move_count; ++i) send(moves[i] >> 8 >> 2, moves[i] >> 8 & 3, moves[i] & 0xFF);
    count(*v.shard, Total::kFlitMoves, move_count);
    count(*v.shard, Count::kSent, move_count);
    count(*v.shard, Count::kDeflections, deflected);
  }

  /// Sets the preferred channel of each flit of a router. Returns 1 if two flits prefer the same channel or if a flit
  /// has no productive channel, else 0.
  FLITLAB_INLINE u32 preferences_conflict(u32 r) {
    const Quad present = elements_of(occupied[r]);
    Quad good;
    std::memcpy(&good, productive[r], sizeof good);
    Quad first = good & -good;
    std::memcpy(preferred[r], &first, sizeof first);
    if constexpr (V::Table::wraps != 0) {
      for (u32 set = members((good & good >> 1 & all_four(5)) != Quad{}) & occupied[r]; set; set &= set - 1) {
        const u32 element = lowest_bit(set);
        productive[r][element] |= (preference(seat[r][element]) & 3) << kInputs;
        preferred[r][element] = 1u << (kChoiceOf[0][productive[r][element]][kAll] & kChannel);
      }
      std::memcpy(&first, preferred[r], sizeof first);
    }
    first &= present;
    // The sum of one-element sets equals their union exactly if all sets differ.
    Quad sum = first + rotate<2>(first), all = first | rotate<2>(first);
    sum += rotate<1>(sum);
    all |= rotate<1>(all);
    return members((sum != all) | (present & (first == Quad{}))) != 0;
  }

  /// Lets the flits of a router choose channels in the order of age. Returns the number of deflected flits. Inputs
  /// without a flit come last in the order and choose no channel.
  FLITLAB_INLINE u32 contend(u32 r, Move* moves, u32& move_count) {
    const auto& t = v.t;
    u32 free = t.wired[index[r]], deflected = 0, turns = kSizeOfFour[occupied[r]];
    u32 order = order_of(FourFlits(seat[r]), elements_of(occupied[r]));
    if (turns > kSizeOfFour[free]) {
      raise_fault(v.routers[index[r]].at(t.router_fields.control).fault, kFaultBufferOverflow, kNoFaultPort);
      turns = kSizeOfFour[free];
    }
    const auto& choices = kChoiceOf[now % kInputs];
#pragma GCC unroll 4
    for (u32 turn = 0; turn < kInputs; ++turn, order >>= 8) {
      const u32 from = order & 3, can = turn < turns, choice = choices[productive[r][from]][free];
      free &= ~(1u << (choice & kChannel));
      deflected += choice / kDeflected & can;
      moves[move_count] = static_cast<Move>((r * kInputs + from) << 8 | (choice & kChannel));
      move_count += can;
    }
    return deflected;
  }

  FLITLAB_INLINE void send(u32 r, u32 from, u32 channel) const {
    const auto& t = v.t;
    const Peer peer = t.peers[std::size_t{index[r]} * t.ports + channel];
    const std::size_t next = std::size_t{peer.item} * v.routers.item_bytes;
    Flit& arrives = *reinterpret_cast<Flit*>(next_inbox + next + peer.port * sizeof(Flit));
    arrives = seat[r][from];
    ++arrives.hops;
    next_flags[next + peer.port] = std::byte{1};
    ++reinterpret_cast<u32*>(sent + offset[r])[channel];
  }
};

template <class V>
FLITLAB_INLINE void bulk_step(const V& v, const u32* list, u32 n, Cycle now) {
  BulkCycle<V> batch(v, list, n, now);
  batch.collect_and_eject();
  batch.inject();
  batch.send_all();
}

}  // namespace flitlab::bless
