#include "host/routers/sconnect/queues.hpp"

#include <algorithm>
#include <numeric>

#include "host/plan/interrupt.hpp"
#include "host/routers/sconnect/make_tables.hpp"
#include "host/routers/sconnect/order.hpp"
#include "host/routers/sconnect/queue_order.hpp"
#include "kernels/common/bits.hpp"
#include "kernels/common/philox.hpp"
#include "kernels/routers/sconnect/route.hpp"
#include "kernels/routers/sconnect/streams.hpp"

namespace flitlab {

using sconnect::kOnVc1;
using sconnect::kPorts;

namespace {

constexpr u32 kMostAtOnce = 60;             ///< destinations that make way for one more step
constexpr u64 kMostWork = u64{1} << 21;     ///< TICs looked at in all attempts
constexpr u32 kOthers = 8;                  ///< destinations that begin anew with one whose ways obstruct themselves
constexpr u32 kMostForced = 20;             ///< detours for each destination that displace others
constexpr u64 kMostEntries = u64{1} << 18;  ///< of tables that are made in this way

constexpr u8 kNoWayYet = 0xFF;

class Placing {
 public:
  explicit Placing(const SconnectFabric& f)
      : f_(f),
        order_(f),
        hosts_(sconnect_hosts(f)),
        label_(std::size_t{f.tics} * f.nodes, kNoWayYet),
        level_(label_.size()),
        by_level_(label_.size()),
        length_(label_.size()),
        entry_(sconnect_host_entries(f)),
        missing_(f.nodes) {
    for (u32 d = 0; d < f_.nodes; ++d) {
      check_interrupt();
      const std::vector<u32> hops = sconnect_hops(f_, hosts_[d]);
      const auto first = by_level_.begin() + place(0, d);
      std::copy(hops.begin(), hops.end(), level_.begin() + place(0, d));
      std::iota(first, first + f_.tics, u16{0});
      std::stable_sort(first, first + f_.tics, [&](u32 a, u32 b) { return hops[a] < hops[b]; });
    }
  }

  /// Shortest ways, as far as queues can be put in order for them. First only those that the order to begin with
  /// allows: what is in use is hard to move.
  void fill() {
    for (bool move : {false, true}) {
      order_.forget_refusals();
      for (u32 d = 0; d < f_.nodes; ++d) {
        check_interrupt();
        rip_up(d);
        missing_[d] = complete(d, move);
      }
    }
    improve();
  }

  /// Longer ways for TICs that have none yet; false: some stay without.
  bool make_detours() {
    std::vector<u32> todo(f_.nodes);
    std::iota(todo.rbegin(), todo.rend(), 0u);
    for (u32 d : todo) set_lengths(d);
    for (u32 tries = 0; !todo.empty();) {
      check_interrupt();
      const u32 d = todo.back();
      const std::vector<u32> stuck = go_round(d);
      if (stuck.empty()) {
        todo.pop_back();
        continue;
      }
      if (++tries > kMostForced * f_.nodes || work_ > 2 * kMostWork) return false;
      // One of them is forced in, and what that displaces looks for other ways.
      const u32 tic = stuck[random(static_cast<u32>(stuck.size()))];
      std::vector<u32> ends, touched;
      for (u32 bit = 0; bit < kQueueBits; ++bit)
        if (has_queue(f_, tic, bit) && has_way(far(tic, bit), d)) ends.push_back(bit);
      if (ends.empty()) return false;
      const u32 bit = ends[random(static_cast<u32>(ends.size()))];
      std::vector<std::vector<u8>> old;
      if (force(tic, bit, d, touched, old)) {
        length_[place(tic, d)] = static_cast<u16>(length_[place(far(tic, bit), d)] + 1);
      } else {  // its own ways are in the way: it begins anew, before some others
        touched.insert(touched.begin(), d);
        for (u32 i = 0; i < kOthers; ++i) touched.push_back(random(f_.nodes));
        for (u32 x : touched) rip_up(x);
        order_.forget_refusals();
      }
      for (u32 x : touched) {
        complete(x, true);
        set_lengths(x);
        todo.push_back(x);
      }
    }
    return true;
  }

  std::vector<u16> tables() {
    for (u32 d = 0; d < f_.nodes; ++d)
      for (u32 tic = 0; tic < f_.tics; ++tic)
        if (level(tic, d)) entry(tic, d) = static_cast<u16>(1u << label(tic, d));
    for (u32 d = 0; d < f_.nodes; ++d) {
      check_interrupt();
      add_alternates(d);
    }
    return std::move(entry_);
  }

 private:
  std::ptrdiff_t place(u32 tic, u32 d) const { return std::ptrdiff_t{d} * f_.tics + tic; }
  u32 level(u32 tic, u32 d) const { return level_[place(tic, d)]; }
  u8& label(u32 tic, u32 d) { return label_[place(tic, d)]; }
  u16& entry(u32 tic, u32 d) { return entry_[std::size_t{tic} * f_.nodes + d]; }
  u32 far(u32 tic, u32 bit) const { return f_.link(tic, bit / 2).far; }

  u32 random(u32 n) { return below(philox(1, sconnect::stream::kFabric, draws_++, 2).word[0], n); }

  bool use(u32 tic, u32 bit, u32 d) {
    if (const u32 n = far(tic, bit); level(n, d) && !order_.use(kQueueBits * tic + bit, label(n, d))) return false;
    label(tic, d) = static_cast<u8>(bit);
    return true;
  }

  void rip_up(u32 d) {
    for (u32 tic = 0; tic < f_.tics; ++tic) {
      const u32 bit = label(tic, d);
      if (bit == kNoWayYet) continue;
      if (const u32 n = far(tic, bit); level(n, d)) order_.drop(kQueueBits * tic + bit, label(n, d));
    }
    std::fill_n(label_.begin() + place(0, d), f_.tics, kNoWayYet);
  }

  /// f(bit) for the queues of a TIC that lead to neighbours nearer to a destination which have a way.
  template <class F>
  void for_each_nearer(u32 tic, u32 d, F f) {
    for (u32 port = 0; port < kPorts; ++port) {
      const sconnect::Link& link = f_.link(tic, port);
      if (!leads_to_tic(link) || level(link.far, d) + 1 != level(tic, d)) continue;
      if (level(link.far, d) && label(link.far, d) == kNoWayYet) continue;
      for (u32 vc = 0; vc < f_.vcs(tic, port); ++vc) f(2 * port + vc);
    }
  }

  /// A shortest way of a TIC whose neighbours have theirs: by a step that is in use, else by one that agrees with the
  /// order, and of these by the latest queue, which leaves most room for those before it; else, if they may `move`, by
  /// one that queues can be moved for.
  bool settle(u32 tic, u32 d, bool move) {
    ++work_;
    u32 best = kNone, best_new = 1, best_rank = 0, hards = 0, hard[kQueueBits];
    for_each_nearer(tic, d, [&](u32 bit) {
      const u32 q = kQueueBits * tic + bit, rank = order_.rank(q), n = far(tic, bit);
      const bool fresh = level(n, d) && !order_.used(q, label(n, d));
      if (fresh && rank >= order_.rank(order_.next(q, label(n, d)))) {
        hard[hards++] = bit;
        return;
      }
      if (best != kNone && (fresh > best_new || (fresh == best_new && rank <= best_rank))) return;
      best = bit, best_new = fresh, best_rank = rank;
    });
    if (best != kNone) return use(tic, best, d);
    if (!move) return false;
    std::sort(hard, hard + hards,
              [&](u32 a, u32 b) { return order_.rank(kQueueBits * tic + a) < order_.rank(kQueueBits * tic + b); });
    return std::any_of(hard, hard + hards, [&](u32 bit) { return use(tic, bit, d); });
  }

  /// Returns how many TICs have found no shortest way.
  u32 complete(u32 d, bool move) {
    u32 missing = 0;
    for (u32 i = 0; i < f_.tics; ++i) {
      const u32 tic = by_level_[place(i, d)];
      if (level(tic, d) && label(tic, d) == kNoWayYet) missing += !settle(tic, d, move);
    }
    return missing;
  }

  /// Forces one more step into the order, rips up what is in its way, fills that in again, and keeps the outcome unless
  /// more is missing than before, or in the beginning a little more.
  void improve() {
    u32 total = std::accumulate(missing_.begin(), missing_.end(), 0u);
    for (work_ = 0; total && work_ < kMostWork;) {
      check_interrupt();
      const u64 left = kMostWork - work_;
      work_ += 4 * u64{f_.tics};  // for the copy
      std::vector<u32> failing;
      for (u32 d = 0; d < f_.nodes; ++d)
        if (missing_[d]) failing.push_back(d);
      const u32 d = failing[random(static_cast<u32>(failing.size()))];
      std::vector<std::pair<u32, u32>> ends;
      for (u32 tic = 0; tic < f_.tics; ++tic)
        if (level(tic, d) && label(tic, d) == kNoWayYet)
          for_each_nearer(tic, d, [&](u32 bit) { ends.emplace_back(tic, bit); });
      const auto [tic, bit] = ends[random(static_cast<u32>(ends.size()))];
      const SconnectQueueOrder before = order_;
      std::vector<u32> touched{d}, counts;
      std::vector<std::vector<u8>> old(1, labels(d));
      u32 now = ~0u;
      if (force(tic, bit, d, touched, old)) {
        now = total;
        for (u32 x : touched) {
          counts.push_back(complete(x, true));
          now = now - missing_[x] + counts.back();
        }
      }
      const u32 slack = static_cast<u32>(total * left / kMostWork / 300);
      if (now > total + slack) {
        order_ = before;
        for (u32 i = 0; i < touched.size(); ++i)
          std::copy(old[i].begin(), old[i].end(), label_.begin() + place(0, touched[i]));
        continue;
      }
      for (u32 i = 0; i < touched.size(); ++i) missing_[touched[i]] = counts[i];
      total = now;
    }
  }

  std::vector<u8> labels(u32 d) const { return {label_.begin() + place(0, d), label_.begin() + place(0, d + 1)}; }

  bool force(u32 tic, u32 bit, u32 d, std::vector<u32>& touched, std::vector<std::vector<u8>>& old) {
    order_.forget_refusals();
    while (!use(tic, bit, d)) {
      const auto [queue, on] =
          order_.weakest(order_.next(kQueueBits * tic + bit, label(far(tic, bit), d)), kQueueBits * tic + bit);
      const u32 from = queue / kQueueBits, to = far(from, queue % kQueueBits);
      for (u32 x = 0; x < f_.nodes; ++x) {
        if (label(from, x) != queue % kQueueBits || label(to, x) != on) continue;
        if (x == d || touched.size() >= kMostAtOnce) return false;
        touched.push_back(x);
        old.push_back(labels(x));
        rip_up(x);
      }
      order_.forget_refusals();
    }
    return true;
  }

  bool has_way(u32 tic, u32 d) { return !level(tic, d) || label(tic, d) != kNoWayYet; }

  void set_lengths(u32 d) {
    for (u32 tic = 0; tic < f_.tics; ++tic) length_[place(tic, d)] = static_cast<u16>(level(tic, d));
  }

  /// Ways of any length for TICs without one. Returns those that stay without.
  std::vector<u32> go_round(u32 d) {
    std::vector<u32> left;
    for (u32 tic = 0; tic < f_.tics; ++tic)
      if (!has_way(tic, d)) left.push_back(tic);
    for (bool found = true; !left.empty() && found;) {
      found = false;
      // The shortest first.
      for (u32 length = 2; length <= 2 * f_.tics && !found; ++length) {
        bool any = false;
        for (std::size_t i = 0; i < left.size() && !found; ++i) {
          const u32 tic = left[i];
          for (u32 bit = 0; bit < kQueueBits && !found; ++bit) {
            if (!has_queue(f_, tic, bit) || !has_way(far(tic, bit), d)) continue;
            const u32 mine = length_[place(far(tic, bit), d)] + 1u;
            any |= mine >= length;
            if (mine != length || !use(tic, bit, d)) continue;
            length_[place(tic, d)] = static_cast<u16>(mine);
            left.erase(left.begin() + static_cast<std::ptrdiff_t>(i));
            found = true;
          }
        }
        if (!any) break;
      }
    }
    return left;
  }

  /// Whether a step agrees with the order as it is.
  bool fits(u32 queue, u32 bit) const {
    return order_.used(queue, bit) || order_.rank(queue) < order_.rank(order_.next(queue, bit));
  }

  /// f(queue, next) for all steps that one more option of a TIC brings with it; false if any is.
  template <class F>
  bool all_steps(u32 tic, u32 bit, u32 d, F f) {
    const u32 mine = entry(tic, d) | 1u << bit, n = far(tic, bit);
    for (u32 p = 0; p < kPorts; ++p) {
      const sconnect::Link& back = f_.link(tic, p);
      if (!leads_to_tic(back) || !level(back.far, d)) continue;
      for (u32 vc = 0; vc < 2; ++vc) {
        const u32 from = 2 * back.port + vc;
        if (!(entry(back.far, d) >> from & 1) || !(sconnect::allowed(mine, vc) >> bit & 1)) continue;
        if (!f(kQueueBits * back.far + from, bit)) return false;
      }
    }
    if (!level(n, d)) return true;
    for (u32 set = sconnect::allowed(entry(n, d), bit % 2); set; set &= set - 1)
      if (!f(kQueueBits * tic + bit, lowest_bit(set))) return false;
    return true;
  }

  /// Other neighbours as near, where the order allows them.
  void add_alternates(u32 d) {
    for (u32 tic = 0; tic < f_.tics; ++tic) {
      if (!level(tic, d)) continue;
      for (u32 port = 0; port < kPorts; ++port) {
        const sconnect::Link& link = f_.link(tic, port);
        if (!leads_to_tic(link) || length_[place(link.far, d)] + 1 != length_[place(tic, d)]) continue;
        if (entry(tic, d) >> 2 * port & 3) continue;
        for (u32 bit : {2 * port + 1, 2 * port}) {
          if (!has_queue(f_, tic, bit) || (!f_.mixed_entries && sconnect::is_mixed(entry(tic, d) | 1u << bit)))
            continue;
          if (!all_steps(tic, bit, d, [&](u32 queue, u32 next) { return fits(queue, next); })) continue;
          all_steps(tic, bit, d, [&](u32 queue, u32 next) { return order_.use(queue, next); });
          entry(tic, d) = static_cast<u16>(entry(tic, d) | 1u << bit);
          break;
        }
      }
    }
  }

  const SconnectFabric& f_;
  SconnectQueueOrder order_;
  std::vector<std::vector<u32>> hosts_;
  // [destinations][TICs]
  std::vector<u8> label_;  ///< queue that a TIC's messages to the destination take: 2 port + virtual channel
  std::vector<u16> level_, by_level_;  ///< hops of the graph; TICs, the nearest first
  std::vector<u16> length_;            ///< hops that tables take
  std::vector<u16> entry_;
  std::vector<u32> missing_;  ///< [destinations] TICs without a shortest way
  u64 work_ = 0, draws_ = 0;
};

}  // namespace

std::vector<u16> sconnect_tables_by_queues(const SconnectFabric& f) {
  if (u64{f.tics} * f.nodes > kMostEntries) return {};
  Placing placing(f);
  placing.fill();
  if (!placing.make_detours()) return {};
  return placing.tables();
}

}  // namespace flitlab
