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
    const u32 crossbar = t.ports * t.crossbar_factor;
    for (u32 out = 0; t.arbiter == ArbiterKind::kMatrix && out < crossbar; ++out)
      for (u32 in = 0; in < crossbar; ++in)
        router.at(t.router_fields.output_matrix, out * crossbar + in) = ~0u << in << 1;
  }
};

}  // namespace flitlab::vc
