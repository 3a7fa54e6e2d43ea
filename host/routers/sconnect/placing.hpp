#pragma once
/// Ways to one destination after another, each TIC's by one queue, so that one order of all queues agrees with all.
#include <vector>

#include "host/routers/sconnect/fabric.hpp"
#include "host/routers/sconnect/order.hpp"
#include "host/routers/sconnect/queue_order.hpp"

namespace flitlab {

class SconnectPlacing {
 public:
  explicit SconnectPlacing(const SconnectFabric& fabric);

  /// Shortest ways, as far as queues can be put in order for them. First only those that the order to begin with
  /// allows: what is in use is hard to move.
  void fill();

  /// Longer ways for TICs that have none yet, those with hosts first; false: some stay without.
  bool make_detours();

  /// One way each, and alternates.
  std::vector<u16> tables();

 private:
  static constexpr u32 kMostAtOnce = 60;          ///< destinations that make way for one more step
  static constexpr u64 kMostWork = u64{1} << 21;  ///< TICs looked at in all attempts
  static constexpr u8 kNoWayYet = 0xFF;

  std::size_t place(u32 tic, u32 d) const { return std::size_t{d} * f_.tics + tic; }
  u32 level(u32 tic, u32 d) const { return level_[place(tic, d)]; }
  u8& label(u32 tic, u32 d) { return label_[place(tic, d)]; }
  u16& entry(u32 tic, u32 d) { return entry_[std::size_t{tic} * f_.nodes + d]; }
  u32 far(u32 tic, u32 bit) const { return f_.link(tic, bit / 2).far; }

  u32 random(u32 n);

  /// Lets a TIC take a queue, unless that would close a circle.
  bool use(u32 tic, u32 bit, u32 d);

  /// Takes all ways to a destination away.
  void rip_up(u32 d);

  /// f(bit) for the queues of a TIC that lead to neighbours nearer to a destination which have a way.
  template <class F>
  void for_each_nearer(u32 tic, u32 d, F f) {
    for (u32 port = 0; port < sconnect::kPorts; ++port) {
      const sconnect::Link& link = f_.link(tic, port);
      if (!leads_to_tic(link) || level(link.far, d) + 1 != level(tic, d)) continue;
      if (level(link.far, d) && label(link.far, d) == kNoWayYet) continue;
      for (u32 vc = 0; vc < f_.vcs(tic, port); ++vc) f(2 * port + vc);
    }
  }

  /// A shortest way of a TIC whose neighbours have theirs: by a step that is in use, else by one that agrees with the
  /// order, and of these by the latest queue, which leaves most room for those before it; else, if they may `move`, by
  /// one that queues can be moved for.
  bool settle(u32 tic, u32 d, bool move);

  /// Returns how many TICs have found no shortest way.
  u32 complete(u32 d, bool move);

  /// Forces one more step into the order, rips up what is in its way, fills that in again, and keeps the outcome unless
  /// more is missing than before, or in the beginning a little more.
  void improve();

  /// Pairs of a host's TIC and a destination without a shortest way.
  u32 hosts_missing();

  /// Begins anew with another order of the queues, if one is found that leaves more hosts shortest ways.
  void reorder();

  /// All labels of a destination.
  std::vector<u8> labels(u32 d) const { return {label_.begin() + place(0, d), label_.begin() + place(0, d + 1)}; }

  /// Makes room for a step, and takes it: ways that need the opposite are ripped up. `touched`: their destinations,
  /// beside `d`; `old`: their labels. False: too many, or one to the same destination.
  bool force(u32 tic, u32 bit, u32 d, std::vector<u32>& touched, std::vector<std::vector<u8>>& old);

  bool has_way(u32 tic, u32 d) { return !level(tic, d) || label(tic, d) != kNoWayYet; }

  void set_lengths(u32 d) {
    for (u32 tic = 0; tic < f_.tics; ++tic) length_[place(tic, d)] = static_cast<u16>(level(tic, d));
  }

  /// The same, for TICs with hosts only or all; TICs that are stuck displace others.
  bool make_detours(bool hosts_only);

  /// What hosts' ways cost, and how many TICs have none.
  std::pair<u64, u32> cost();

  /// A way for a TIC without hosts, which its own answers to software take, if that costs hosts nothing.
  void squeeze_in(u32 tic, u32 d);

  /// Ways of any length for TICs without one. Returns those that stay without.
  std::vector<u32> go_round(u32 d);

  const SconnectFabric& f_;
  SconnectQueueOrder order_;
  std::vector<std::vector<u32>> hosts_;
  std::vector<bool> is_host_;
  // [destinations][TICs]
  std::vector<u8> label_;  ///< queue that a TIC's messages to the destination take: 2 port + virtual channel
  std::vector<u16> level_, by_level_;  ///< hops of the graph; TICs, the nearest first
  std::vector<u16> length_;            ///< hops that tables take
  std::vector<u16> entry_;
  std::vector<u32> missing_;  ///< [destinations] TICs without a shortest way
  u64 work_ = 0, draws_ = 0;
};

}  // namespace flitlab
