#pragma once
/// Conservation, checked between cycles: on every channel and VC, credits at the sender, credits on their way back,
/// flits on their way and flits in the buffer add up to the buffer.
#include "kernels/common/fault.hpp"
#include "kernels/routers/vc/state.hpp"

namespace flitlab::vc {

FLITLAB_INLINE u8 mail_byte(u64 word, u32 port) { return static_cast<u8>(word >> ((port & 7) * 8)); }

struct AuditRouter {
  template <class V>
  FLITLAB_HD static u32 items(const V& v) {
    return v.t.routers;
  }

  /// Checks the channels that enter this router and the one that leaves for each of its terminals.
  template <class V>
  FLITLAB_HD static void run(const V& v, u32 index, Cycle) {
    const auto& t = v.t;
    const auto router = v.routers[index];
    u32 fault = 0, flits = 0;
    for (u32 port = 0; port < t.ports; ++port) {
      const Peer peer = t.peers[std::size_t{index} * t.ports + port];
      if (peer.item == kNone) continue;
      for (u32 vc = 0; vc < t.vcs; ++vc) {
        u32 in_sum = router.at(t.router_fields.input, port * t.vcs + vc).flits;
        flits += in_sum;
        u32 out_sum = 0;  // router to terminal
        for (u32 slot = 0; slot <= t.slot_mask; ++slot) {
          const u32 word = slot * t.port_words + port / 8;
          const u8 flit = mail_byte(router.at(t.router_fields.flit_mail, word), port);
          if (flit && (flit & kVcBits) == vc + 1) ++in_sum, ++flits;
          if (peer.is_terminal) {
            const auto terminal = v.terminals[peer.item];
            if (terminal.at(t.terminal_fields.credit_mail, slot) == vc + 1) ++in_sum;
            const u8 leaving = terminal.at(t.terminal_fields.flit_mail, slot);
            if (leaving && (leaving & kVcBits) == vc + 1) ++out_sum, ++flits;
            if (mail_byte(router.at(t.router_fields.credit_mail, word), port) == vc + 1) ++out_sum;
          } else {
            const u64 back = v.routers[peer.item].at(t.router_fields.credit_mail, slot * t.port_words + peer.port / 8);
            if (mail_byte(back, peer.port) == vc + 1) ++in_sum;
          }
        }
        if (peer.is_terminal) {
          if (t.mode == TrafficMode::kRequestReply) {
            const u32 held = v.terminals[peer.item].at(t.terminal_fields.held, vc).flits;
            out_sum += held;
            flits += held;
          }
          in_sum += v.terminals[peer.item].at(t.terminal_fields.output, vc).credits;
          out_sum += router.at(t.router_fields.output, port * t.vcs + vc).credits;
          if (out_sum != t.buffer_flits) fault |= kFaultCreditLost;
        } else {
          in_sum += v.routers[peer.item].at(t.router_fields.output, peer.port * t.vcs + vc).credits;
        }
        if (in_sum != t.buffer_flits) fault |= kFaultCreditLost;
      }
    }
    count(*v.shard, Total::kAuditedFlits, flits);
    if (fault) router.at(t.router_fields.control).fault |= fault;
  }
};

}  // namespace flitlab::vc
