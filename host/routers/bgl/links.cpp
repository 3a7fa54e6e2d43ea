/// Link protocol of a Blue Gene/L torus: its parameters, and a comparison of the running CRCs at both ends of each
/// link.
#include <bit>
#include <cmath>

#include "host/routers/bgl/plan.hpp"
#include "kernels/common/error.hpp"
#include "kernels/routers/bgl/acknowledge.hpp"
#include "kernels/routers/bgl/params.hpp"
#include "kernels/routers/bgl/totals.hpp"

namespace flitlab {
namespace {

constexpr double kHeaderBytes = 8;

/// Returns the threshold of 32-bit draws for the event that an error hits at least one of `bytes` bytes. `rate`: errors
/// per byte.
u32 threshold(double rate, double bytes) {
  return static_cast<u32>(std::min(-std::expm1(bytes * std::log1p(-rate)) * 4294967296.0, 4294967295.0));
}

}  // namespace

void BglPlan::set_links(const Experiment& e) {
  bgl::Table& t = table_;
  t.protocol = e.flag(bgl::param::router.link_protocol);
  if (!t.protocol) return;
  t.kept_chunks = e.u32_of(bgl::param::router.retransmission_flits);
  t.kept_packets = std::bit_ceil(t.kept_chunks / std::min(traffic_.shortest, bgl::kFullPacket));
  t.timeout = e.u32_of(bgl::param::router.retransmission_timeout);
  t.crc_bits = static_cast<u8>(e.u32_of(bgl::param::faults.crc_bits));
  const double rate = e.f64(bgl::param::faults.error_rate);
  for (u32 n = 1; n <= bgl::kFullPacket; ++n)
    t.hit_threshold[n] = threshold(rate, bgl::kChunkBytes * n + e.u32_of(bgl::param::router.trailer_bytes));
  t.header_threshold = threshold(rate, kHeaderBytes);
  t.idle_acks = e.u32_of(bgl::param::router.idle_acks);
  t.acknowledgment_threshold = threshold(rate, e.u32_of(bgl::param::router.ack_bytes));
}

/// Totals of the link protocol are shown only if it is in use.
bool BglPlan::shows(const TotalRecord&, u32, const CounterShard&) const { return table_.protocol; }

std::map<std::string, double> BglPlan::figures(const CounterShard&, const std::vector<std::byte>& state, u64) const {
  if (!table_.protocol) return {};
  const Items<1> nodes{const_cast<std::byte*>(state.data()), layout_.kinds[0].item_bytes};
  const bgl::View<1, false, bgl::Table> view{{table_, nullptr, nullptr, {}}, nodes, {}, {}};
  u32 different = 0;
  for (u32 n = 0; n < table_.routers; ++n)
    for (u32 d = 0; d < topology_.network_ports; ++d) {
      const Peer& peer = topology_.peer(n, d);
      if (peer.item == kNone) continue;
      const bgl::LinkReceiver& there = bgl::receiver_at(view, nodes[peer.item], peer.port);
      const bgl::LinkSender& here = bgl::sender_at(view, nodes[n], d);
      // The receiver's CRC also includes packets that it has accepted and whose acknowledgment is in transit.
      u32 crc = here.crc;
      for (u8 i = here.oldest; i != there.expected; ++i) {
        const Packet& packet = bgl::kept_at(view, nodes[n], d, i).packet;
        if (!(packet.tag & bgl::kNotValid)) crc = bgl::add_to_crc(crc, bgl::content_of(packet));
      }
      different += crc != there.crc;
    }
  return {{"links_with_different_crcs", different}};
}

}  // namespace flitlab
