#pragma once
/// Experiments of Blue Gene/L that together reach all of its code, for tests over all models.
#include <string>

#include "tests/support/build.hpp"

namespace flitlab::testing {

/// Calls `add(changes)` for each experiment. `trace`: a file of packets for 16 terminals.
template <class Add>
void add_bgl_variations(Add add, const std::string& trace) {
  // More than 64 nodes, which threads share or not; the published router, whose parameters are compiled in, and other
  // routers.
  const Lengths mixed{{1, 1.0}, {3, 1.0}, {8, 1.0}};
  add({{"topology.shape", IntList{5, 5, 3}}, {"traffic.load", 0.05}, {"traffic.packet_flits", mixed}});
  add({{"topology.shape", IntList{8, 8, 3}},
       {"traffic.mode", word("batch")},
       {"traffic.batch_packets", integer(20)},
       {"traffic.packet_flits", mixed},
       {"injection.priority_share", 0.2},
       {"reception.groups", integer(2)}});
  add({{"topology.shape", IntList{6, 5, 5}},
       {"traffic.load", 0.2},
       {"traffic.packet_flits", mixed},
       {"router.escape", word("dateline")},
       {"router.escape_order", word("direction")},
       {"router.jsq", false},
       {"router.slq", 0.5},
       {"router.network_first", 0.5},
       {"router.arbitration_gap", true},
       {"router.bypass", false},
       {"router.count_unblocking", true},
       {"routing.dynamic", 0.5},
       {"injection.infinite", true}});
  add({{"topology.shape", IntList{7, 1, 2}},
       {"traffic.load", 0.3},
       {"traffic.packet_flits", mixed},
       {"router.dynamic_vcs", integer(0)},
       {"router.escape_flits", integer(16)},
       {"router.bubble_rule", word("actual_size")},
       {"injection.fifos", integer(2)},
       {"injection.put_interval", integer(3)},
       {"reception.fifo_flits", integer(9)},
       {"reception.take_interval", integer(70)}});
  add({{"topology.shape", IntList{5, 5, 3}},
       {"traffic.load", 0.1},
       {"traffic.packet_flits", mixed},
       {"router.link_protocol", true},
       {"router.idle_acks", integer(1024)},
       {"faults.error_rate", 5e-4}});
  add({{"topology.shape", IntList{5, 4, 4}},
       {"traffic.load", 0.2},
       {"traffic.packet_flits", mixed},
       {"faults.nodes", IntList{7, 33, 54}},
       {"routing.hints", IntList{0, 9, 0b010100, 9, 0, 0b101000, 9, 3, 0b010100, 9, 14, 0b001000, 9, 40, 0b100110}},
       {"routing.dynamic", 0.5}});
  add({{"topology.shape", IntList{4, 4, 2}},
       {"traffic.mode", word("broadcast")},
       {"broadcast.dimensions", IntList{0, 1}},
       {"broadcast.root", integer(5)},
       {"broadcast.packets", integer(10)}});
  add({{"traffic.mode", word("trace")}, {"traffic.trace_file", trace}});
  add({{"topology.shape", IntList{5, 3}},
       {"traffic.load", 0.1},
       {"traffic.packet_flits", mixed},
       {"router.link_protocol", true},
       {"router.acks", word("charged")},
       {"faults.error_rate", 5e-4}});
  add({{"traffic.load", 0.3}, {"traffic.self", true}});
}

}  // namespace flitlab::testing
