#pragma once
/// State before cycle 0: empty buffers, full credits, the first creation of every terminal.
#include "kernels/routers/vc/state.hpp"

namespace flitlab::vc {

struct StartRouter {
  template <class V>
  FLITLAB_HD static u32 items(const V& v) {
    return v.t.routers;
  }
  template <class V>
  FLITLAB_HD static void run(const V& v, u32 index, Cycle) {
    const auto& t = v.t;
    const auto router = v.routers[index];
    for (u32 port = 0; port < t.ports; ++port) {
      const bool wired = t.peers[std::size_t{index} * t.ports + port].item != kNone;
      for (u32 vc = 0; vc < t.vcs; ++vc) {
        OutputVc& out = router.at(t.router_fields.output, port * t.vcs + vc);
        out.credits = static_cast<u16>(wired ? t.buffer_flits : 0);
        out.owner = kNoOwner;
        router.at(t.router_fields.claim, port * t.vcs + vc) = kNoOwner;
      }
      if (t.arbiter == ArbiterKind::kMatrix) {
        // Upper triangle: lower numbers beat higher ones until somebody has been served.
        for (u32 vc = 0; vc < t.vcs; ++vc) router.at(t.router_fields.input_matrix, port * t.vcs + vc) = ~0u << vc << 1;
        for (u32 in = 0; in < t.ports; ++in)
          router.at(t.router_fields.output_matrix, port * t.ports + in) = ~0u << in << 1;
      }
    }
  }
};

struct StartTerminal {
  template <class V>
  FLITLAB_HD static u32 items(const V& v) {
    return v.t.terminals;
  }
  template <class V>
  FLITLAB_HD static void run(const V& v, u32 index, Cycle) {
    const auto& t = v.t;
    const auto terminal = v.terminals[index];
    TerminalControl& control = terminal.at(t.terminal_fields.control);
    control.next = first_creation(t.traffic, *v.row, index);
    control.oldest = control.next;
    for (u32 vc = 0; vc < t.vcs; ++vc) {
      OutputVc& out = terminal.at(t.terminal_fields.output, vc);
      out.credits = static_cast<u16>(t.buffer_flits);
      out.owner = kNoOwner;
    }
    if (t.mode == TrafficMode::kRequestReply)
      for (u32 i = 0; i < t.traffic.window; ++i) terminal.at(t.terminal_fields.transaction, i).id = kNone;
  }
};

}  // namespace flitlab::vc
