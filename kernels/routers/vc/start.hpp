#pragma once
/// State before cycle 0: empty buffers and full credits.
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
      if (t.arbiter == ArbiterKind::kMatrix) {  // and output_matrix below
        // Upper triangle: lower numbers beat higher ones until the first grant.
        for (u32 vc = 0; vc < t.vcs; ++vc) router.at(t.router_fields.input_matrix, port * t.vcs + vc) = ~0u << vc << 1;
      }
    }
    if (t.arbiter == ArbiterKind::kRoundRobinByTwo) start_pointers(t, router);
    const u32 crossbar = t.ports * t.crossbar_factor;
    for (u32 out = 0; t.arbiter == ArbiterKind::kMatrix && out < crossbar; ++out)
      for (u32 in = 0; in < crossbar; ++in)
        router.at(t.router_fields.output_matrix, out * crossbar + in) = ~0u << in << 1;
  }

 private:
  /// Sets all round-robin pointers to 1, or to 0 if there is one requester.
  template <class T, int W>
  FLITLAB_HD static void start_pointers(const T& t, const Item<W>& router) {
    const u8 of_vcs = t.vcs > 1, of_ports = t.ports > 1;
    for (u32 i = 0; i < t.ports * t.crossbar_factor; ++i) {
      PortState& port = router.at(t.router_fields.port, i);
      port.pick_vc = of_vcs;
      port.pick_input = t.ports * t.input_speedup > 1;
      port.pick_output = t.ports * t.output_speedup > 1;
    }
    for (u32 flat = 0; flat < t.ports * t.vcs; ++flat) {
      router.at(t.router_fields.input, flat).pick = of_vcs;
      router.at(t.router_fields.output, flat).pick = t.vc_arbiter_by_port ? of_ports : t.ports * t.vcs > 1;
    }
    for (u32 i = 0; t.vc_arbiter_by_port && i < t.ports * t.vcs * t.ports; ++i)
      router.at(t.router_fields.pick_of_port, i) = of_vcs;
  }
};

}  // namespace flitlab::vc
