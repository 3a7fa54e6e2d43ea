/// Balancing of channel loads by changing the options of tables.
#include <algorithm>

#include "host/plan/interrupt.hpp"
#include "host/routers/sconnect/alternates.hpp"
#include "host/routers/sconnect/loads.hpp"
#include "host/routers/sconnect/order.hpp"
#include "host/routers/sconnect/queue_order.hpp"
#include "kernels/common/bits.hpp"
#include "kernels/routers/sconnect/route.hpp"

namespace flitlab {

using sconnect::kPorts;

namespace {

constexpr u64 kWorkLimit = u64{1} << 25;  ///< limit of work, in recomputed loads of TICs
constexpr u32 kUpstreamLimit = 24;  ///< largest number of TICs whose entries are tried for one channel and destination

class Balance {
 public:
  Balance(const SconnectFabric& f, const std::vector<u32>& rank, const std::vector<u16>& length,
          std::vector<u16>& entry)
      : f_(f), rank_(rank), length_(length), entry_(entry), loads_(f, entry) {
    for (u32 channel : loads_.serial()) mean_ += loads_.of(channel);
    mean_ /= static_cast<double>(loads_.serial().size());
  }

  /// Lowers the load of the busiest channel repeatedly, until no change of an entry helps or the limit of work is
  /// reached.
  void run() {
    u64 work = 0;
    for (bool better = true; better && work < kWorkLimit;) {
      check_interrupt();
      better = false;
      const u32 busiest = *std::max_element(loads_.serial().begin(), loads_.serial().end(),
                                            [&](u32 a, u32 b) { return loads_.of(a) < loads_.of(b); });
      const u32 tic = busiest / kPorts, port = busiest % kPorts;
      for (u32 d = 0; d < f_.nodes && work < kWorkLimit; ++d) {
        if (!(entry(tic, d) >> 2 * port & 3)) continue;
        // Change the entry of this TIC, or of TICs upstream.
        upstream_.assign(1, {tic, port});
        for (std::size_t i = 0; i < upstream_.size() && i < kUpstreamLimit; ++i) {
          const auto [x, on] = upstream_[i];
          better |= relieve(x, on, d, work);
          for (u32 p = 0; p < kPorts; ++p)
            if (const sconnect::Link& back = f_.link(x, p);
                leads_to_tic(back) && entry(back.far, d) >> 2 * back.port & 3)
              upstream_.emplace_back(back.far, back.port);
        }
      }
    }
  }

 private:
  u32 length(u32 tic, u32 d) const { return length_[std::size_t{d} * f_.tics + tic]; }
  u16& entry(u32 tic, u32 d) { return entry_[std::size_t{tic} * f_.nodes + d]; }

  /// Returns the cost of the tables: the sum of (load / mean load)^16 over all channels. The highest loads dominate it.
  double cost() const {
    double sum = 0;
    for (u32 channel : loads_.serial()) {
      double x = loads_.of(channel) / mean_;
      for (u32 i = 0; i < 4; ++i) x *= x;
      sum += x;
    }
    return sum;
  }

  /// Tries a TIC's entry for destination `d` without `port`, first alone, then with one other queue added. Keeps the
  /// first change that lowers the cost. Returns whether there is such a change.
  bool relieve(u32 tic, u32 port, u32 d, u64& work) {
    if (!length(tic, d)) return false;
    const u16 before = entry(tic, d);
    const u32 rest = before & ~(3u << 2 * port);
    const double was = cost();
    for (u32 more = 0; more <= kQueueBits; ++more) {
      u32 new_entry = rest;
      if (more) {
        const u32 bit = more - 1;
        if (bit / 2 == port || rest >> bit & 1 || !has_queue(f_, tic, bit)) continue;
        if (length(f_.link(tic, bit / 2).far, d) + 1 != length(tic, d)) continue;
        new_entry |= 1u << bit;
      }
      if (!new_entry || !fits(tic, new_entry, d)) continue;
      work += 2 * u64{f_.tics};
      loads_.add(d, -1);
      entry(tic, d) = static_cast<u16>(new_entry);
      loads_.add(d, 1);
      if (cost() < was * (1 - 1e-9)) return true;
      loads_.add(d, -1);
      entry(tic, d) = before;
      loads_.add(d, 1);
    }
    return false;
  }

  /// Returns whether all messages to `d` through a TIC with this entry move to later queues at each hop.
  bool fits(u32 tic, u32 new_entry, u32 d) {
    if (!f_.mixed_entries && sconnect::is_mixed(new_entry)) return false;
    for (u32 p = 0; p < kPorts; ++p) {
      const sconnect::Link& back = f_.link(tic, p);
      if (!leads_to_tic(back) || !length(back.far, d)) continue;
      for (u32 vc = 0; vc < 2; ++vc) {
        const u32 from = 2u * back.port + vc;
        if (entry(back.far, d) >> from & 1 &&
            !later(kQueueBits * back.far + from, tic, sconnect::allowed(new_entry, vc)))
          return false;
      }
    }
    for (u32 set = new_entry; set; set &= set - 1) {
      const u32 bit = lowest_bit(set), n = f_.link(tic, bit / 2).far;
      if (length(n, d) && !later(kQueueBits * tic + bit, n, sconnect::allowed(entry(n, d), bit % 2))) return false;
    }
    return true;
  }

  /// Returns whether a queue precedes all the queues of a TIC that `options` names.
  bool later(u32 queue, u32 tic, u32 options) const {
    for (u32 set = options; set; set &= set - 1)
      if (rank_[queue] >= rank_[kQueueBits * tic + lowest_bit(set)]) return false;
    return true;
  }

  const SconnectFabric& f_;
  const std::vector<u32>& rank_;
  const std::vector<u16>& length_;
  std::vector<u16>& entry_;
  SconnectLoads loads_;
  std::vector<std::pair<u32, u32>> upstream_;  ///< TICs and ports over which messages reach the busiest channel
  double mean_ = 0;
};

}  // namespace

void balance_sconnect_tables(const SconnectFabric& f, const std::vector<u32>& rank, const std::vector<u16>& length,
                             std::vector<u16>& entry) {
  Balance(f, rank, length, entry).run();
}

}  // namespace flitlab
