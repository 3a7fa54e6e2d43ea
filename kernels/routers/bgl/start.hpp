#pragma once
/// State before cycle 0: empty queues, all tokens at the senders, the first packet creations in the calendar.
#include "kernels/routers/bgl/software.hpp"
#include "kernels/routers/bgl/tokens.hpp"

namespace flitlab::bgl {

struct StartNode {
  template <class V>
  FLITLAB_HD static u32 items(const V& v) {
    return v.t.routers;
  }
  template <class V>
  FLITLAB_HD static void run(const V& v, u32 index, Cycle) {
    const auto& t = v.t;
    const auto node = v.nodes[index];
    for (u32 d = 0; d < 2 * t.dims; ++d) {
      const u32 peer = t.peers[index * t.ports + d].item;
      node.at(t.node_fields.neighbour, d) = peer;
      if (peer == kNone) continue;
      for (u32 vc = 0; vc < t.vcs; ++vc) set_tokens(v, node, d, vc, t.buffer[vc]);
    }
    NodeControl& control = node.at(t.node_fields.control);
    control.address = t.address[index];
    control.links = static_cast<u8>((1u << 2 * t.dims) - 1);
    if (t.protocol && t.acks) {
      node.at(t.link_fields.back).round = t.idle_acks;
      wake_queues(v, index, 0);
    }
    for (u32 f = 0; f < kReceptionFifos; ++f) control.reception_room[f] = static_cast<u8>(t.reception_flits);
  }
};

struct StartSoftware {
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
    if (t.mode == TrafficMode::kTrace || t.mode == TrafficMode::kProgram || t.mode == TrafficMode::kBroadcast ||
        never_sends(t.traffic, index))
      control.next.at = kNever;
    control.oldest = control.next;
    for (u32 f = 0; f < kInjectionFifos; ++f) {
      InjectionFifo& fifo = terminal.at(t.software_fields.injection, f);
      fifo.room = static_cast<u8>(t.injection_flits);
      fifo.cursor = control.next;
      if (t.infinite_fifos && control.next.at != kNever)
        for (u32 i = 0; i < f; ++i) next_creation(t.traffic, *v.row, index, fifo.cursor);
    }
    if (t.mode == TrafficMode::kProgram || (t.mode == TrafficMode::kBroadcast && index == t.fill_root))
      wake_software(v, index, 0);
    SoftwareControl& software = terminal.at(t.software_fields.control);
    if (t.start_spread)
      software.next_put = below(philox(v.row->seed, bgl::stream::kStart, index, 0).word[0], t.start_spread);
    set_alarm(v, software, index, control.next.at, 0);
  }
};

}  // namespace flitlab::bgl
