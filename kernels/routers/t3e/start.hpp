#pragma once
/// State before cycle 0: empty buffers, full credits, registers and tables from the plan.
#include "kernels/routers/t3e/barrier.hpp"
#include "kernels/routers/t3e/move.hpp"

namespace flitlab::t3e {

struct StartRouter {
  template <class V>
  FLITLAB_HD static u32 items(const V& v) {
    return v.t.routers;
  }
  template <class V>
  FLITLAB_HD static void run(const V& v, u32 index, Cycle) {
    const auto& t = v.t;
    const auto router = v.routers[index];
    router.at(t.router_fields.registers) = t.registers[index];
    v.tables[index].at(t.table_fields.software) = t.software[index];
    for (u32 entry = 0; entry < t.lut_entries; ++entry)
      v.tables[index].at(t.table_fields.lut, entry) = t.lut[std::size_t{index} * t.lut_entries + entry];
    for (u32 unit = 0; unit < t.barrier_units; ++unit)
      router.at(t.barrier_fields.registers, unit) = t.barrier[unit * t.routers + index];
    for (u32 port = 0; port < kPorts; ++port) {
      PortState& state = router.at(t.router_fields.port, port);
      state.asking = kNoVc;
      state.sending = kNoVc;
      const bool wired = t.peers[index * kPorts + port].item != kNone;
      for (u32 vc = 0; vc < t.link_vcs; ++vc) {
        const bool exists = wired && (!is_terminal_port(port) || vc < kDeterministicVcs);
        OutputVc& out = output_vc(v, router, port, vc);
        out.credits = static_cast<u16>(exists ? buffer_of(t, vc) : 0);
        out.owner = kNoVc;
        input_vc(v, router, port, vc).adaptive_port = kNoVc;
      }
    }
  }
};

struct StartBarriers {
  template <class V>
  FLITLAB_HD static u32 items(const V& v) {
    return v.t.barrier_units ? v.t.routers : 0;
  }
  template <class V>
  FLITLAB_HD static void run(const V& v, u32 index, Cycle) {
    for (u32 unit = 0; unit < v.t.barrier_units; ++unit) {
      const bool takes_part = v.t.barrier[unit * v.t.routers + index].children >> kNodePort & 1;
      v.terminals[index].at(v.t.barrier_pe_fields.unit, unit).next =
          takes_part ? next_action(v, index, unit, 0, 0) : kNever;
    }
  }
};

}  // namespace flitlab::t3e
