#include "host/routers/sconnect/alternates.hpp"

#include "host/plan/interrupt.hpp"
#include "host/routers/sconnect/order.hpp"
#include "host/routers/sconnect/queue_order.hpp"
#include "kernels/common/bits.hpp"
#include "kernels/routers/sconnect/route.hpp"

namespace flitlab {

using sconnect::kPorts;

namespace {

class Alternates {
 public:
  Alternates(const SconnectFabric& f, const std::vector<u32>& rank, const std::vector<u16>& length,
             std::vector<u16>& entry)
      : f_(f), rank_(rank), length_(length), entry_(entry) {}

  void add(u32 d) {
    for (u32 tic = 0; tic < f_.tics; ++tic) {
      if (!length(tic, d) || !entry(tic, d)) continue;
      for (u32 port = 0; port < kPorts; ++port) {
        const sconnect::Link& link = f_.link(tic, port);
        if (!leads_to_tic(link) || length(link.far, d) + 1 != length(tic, d)) continue;
        if (entry(tic, d) >> 2 * port & 3) continue;
        for (u32 bit : {2 * port + 1, 2 * port}) {
          if (!has_queue(f_, tic, bit) || (!f_.mixed_entries && sconnect::is_mixed(entry(tic, d) | 1u << bit)))
            continue;
          if (!fits(tic, bit, d)) continue;
          entry(tic, d) = static_cast<u16>(entry(tic, d) | 1u << bit);
          break;
        }
      }
    }
  }

 private:
  u32 length(u32 tic, u32 d) const { return length_[std::size_t{d} * f_.tics + tic]; }
  u16& entry(u32 tic, u32 d) { return entry_[std::size_t{tic} * f_.nodes + d]; }

  /// Returns whether queue `bit` can be an additional option of a TIC for destination `d`: all steps into it and out of
  /// it must lead to later queues.
  bool fits(u32 tic, u32 bit, u32 d) {
    const u32 new_entry = entry(tic, d) | 1u << bit, n = f_.link(tic, bit / 2).far,
              rank = rank_[kQueueBits * tic + bit];
    for (u32 p = 0; p < kPorts; ++p) {
      const sconnect::Link& back = f_.link(tic, p);
      if (!leads_to_tic(back) || !length(back.far, d)) continue;
      for (u32 vc = 0; vc < 2; ++vc) {
        const u32 from = 2 * back.port + vc;
        if (!(entry(back.far, d) >> from & 1) || !(sconnect::allowed(new_entry, vc) >> bit & 1)) continue;
        if (rank_[kQueueBits * back.far + from] >= rank) return false;
      }
    }
    if (!length(n, d)) return true;
    const u32 onward = sconnect::allowed(entry(n, d), bit % 2);
    for (u32 set = onward; set; set &= set - 1)
      if (rank >= rank_[kQueueBits * n + lowest_bit(set)]) return false;
    return onward != 0;
  }

  const SconnectFabric& f_;
  const std::vector<u32>& rank_;
  const std::vector<u16>& length_;
  std::vector<u16>& entry_;
};

}  // namespace

void add_sconnect_alternates(const SconnectFabric& f, const std::vector<u32>& rank, const std::vector<u16>& length,
                             std::vector<u16>& entry) {
  Alternates alternates(f, rank, length, entry);
  for (u32 d = 0; d < f.nodes; ++d) {
    check_interrupt();
    alternates.add(d);
  }
}

}  // namespace flitlab
