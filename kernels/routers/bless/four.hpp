#pragma once
/// The inputs of up to `kMost` routers of a two-dimensional network, on a CPU. The four flits of a router are processed
/// side by side, and choices are looked up. A flit's position among the four is its input; an injected flit takes the
/// position of a free input. The general form would have 0.53 to 0.73 times the rate in these networks.
#include <cstring>

#include "kernels/common/lists.hpp"
#include "kernels/routers/bless/inputs.hpp"
#include "kernels/routers/bless/quad.hpp"

namespace flitlab::bless {

template <u32 kMost, class V>
  requires(kMost > 1 && V::Table::kPlane)
struct Inputs<kMost, V> : Routers<kMost, V> {
  using Base = Routers<kMost, V>;
  using Base::v, Base::index, Base::n, Base::now, Base::came, Base::mail, Base::router, Base::occupied;
  static constexpr u32 kInputs = V::Table::channels;
  using Moves = MoveList<kMost, kInputs>;  ///< inputs, each with the channel that its flit takes

  const Coordinates<typename V::Table> coordinates;
  Flit seat[kMost][kInputs];
  alignas(16) u32 productive[kMost][kInputs];  ///< set of channels that bring the flit nearer to its destination
  alignas(16) u32 preferred[kMost][kInputs];   ///< preferred channel, as a set of one

  FLITLAB_INLINE Inputs(const V& view, const u32* list, u32 count, Cycle cycle)
      : Base(view, list, count, cycle), coordinates(view.t) {}

  // flit(), collect(), inject() and choose() do the same as in the general form.
  FLITLAB_INLINE const Flit& flit(u32 i, u32 input) const { return seat[i][input]; }

  FLITLAB_INLINE u32 collect(u32 i) {
    const auto& t = v.t;
    u8* flag = &router[i].at(came);
    u32 flags;
    std::memcpy(&flags, flag, sizeof flags);
    std::memset(flag, 0, sizeof flags);
    std::memcpy(seat[i], &router[i].at(mail), sizeof seat[i]);
    const Quad nearer = coordinates.productive(all_four(t.address[index[i]]), FourFlits(seat[i]).dst);
    const Quad good = nearer & all_four(t.wired[index[i]]);
    std::memcpy(productive[i], &good, sizeof good);
    occupied[i] = static_cast<u32>((bytes_present(flags) >> 7) * 0x10204080u >> 28) & 15;
    return members(nearer == Quad{}) & occupied[i];
  }

  FLITLAB_INLINE void inject(u32 i, const Flit& flit) {
    const u32 wired = v.t.wired[index[i]], input = lowest_bit(~occupied[i]);
    seat[i][input] = flit;
    productive[i][input] = productive_channels(v.t, v.t.address[index[i]], flit.dst) & wired;
    occupied[i] |= 1u << input;
  }

  /// If all flits of a router prefer different channels, each gets its preferred one without an age comparison;
  /// otherwise they choose in the order of age.
  template <class Send>
  FLITLAB_INLINE u32 choose(Send&& send) {
    PortList<kMost> uncontended;
    SetList<kMost> contending;
    Moves moves;
    u32 deflected = 0;
    for (u32 i = 0; i < n; ++i) {
      const Quad present = elements_of(occupied[i]), first = prefer(i) & present;
      // The sum of one-element sets equals their union exactly if all sets differ.
      Quad sum = first + rotate<2>(first), all = first | rotate<2>(first);
      sum += rotate<1>(sum);
      all |= rotate<1>(all);
      const u32 conflict = members((sum != all) | (present & (first == Quad{}))) != 0;
      uncontended.add(i, occupied[i] & (conflict - 1));
      contending.add(i, occupied[i] & (0 - conflict));
    }
    uncontended.for_each([&](u32 i, u32 input)
                             __attribute__((always_inline)) { send(i, input, lowest_bit(preferred[i][input])); });
    contending.for_each_set([&](u32 i, u64) __attribute__((always_inline)) { deflected += contend(i, moves); });
    moves.for_each(send);
    return deflected;
  }

  static FLITLAB_INLINE Quad elements_of(u32 set) { return (all_four(set) & Quad{1, 2, 4, 8}) != Quad{}; }

  /// Sets and returns the preferred channels of a router's flits; an empty set if no channel is productive.
  FLITLAB_INLINE Quad prefer(u32 i) {
    Quad good;
    std::memcpy(&good, productive[i], sizeof good);
    Quad first = good & -good;
    std::memcpy(preferred[i], &first, sizeof first);
    if constexpr (V::Table::wraps != 0) {
      for (u32 set = members((good & good >> 1 & all_four(5)) != Quad{}) & occupied[i]; set; set &= set - 1) {
        const u32 input = lowest_bit(set);
        productive[i][input] |= (preference(seat[i][input]) & 3) << kInputs;
        preferred[i][input] = 1u << (kChoiceOf[0][productive[i][input]][kAll] & kChannel);
      }
      std::memcpy(&first, preferred[i], sizeof first);
    }
    return first;
  }

  /// Lets the flits of a router choose channels in the order of age. Returns the number of deflected flits. Inputs
  /// without a flit come last in the order and choose no channel.
  FLITLAB_INLINE u32 contend(u32 i, Moves& moves) {
    const auto& t = v.t;
    u32 free = t.wired[index[i]], deflected = 0, turns = kSizeOf[occupied[i]];
    u32 order = order_of(FourFlits(seat[i]), elements_of(occupied[i]));
    if (turns > kSizeOf[free]) {
      raise_fault(router[i].at(t.router_fields.control).fault, kFaultBufferOverflow, kNoFaultPort);
      turns = kSizeOf[free];
    }
    const auto& choices = kChoiceOf[now % kInputs];
#pragma GCC unroll 4
    for (u32 turn = 0; turn < kInputs; ++turn, order >>= 8) {
      const u32 from = order & 3, can = turn < turns, choice = choices[productive[i][from]][free];
      free &= ~(1u << (choice & kChannel));
      deflected += choice / kDeflected & can;
      moves.add(can, i, from, choice & kChannel);
    }
    return deflected;
  }
};

}  // namespace flitlab::bless
