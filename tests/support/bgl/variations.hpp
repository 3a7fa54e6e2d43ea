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
  add(Settings("topology.shape=[5,5,3] traffic.load=0.05 traffic.packet_flits=", mixed));
  add(Settings("topology.shape=[8,8,3] traffic.mode=batch traffic.batch_packets=20 traffic.packet_flits=", mixed,
               " injection.priority_share=0.2 reception.groups=2"));
  add(Settings("topology.shape=[6,5,5] traffic.load=0.2 traffic.packet_flits=", mixed,
               " router.escape=dateline router.escape_order=direction router.jsq=false router.slq=0.5 "
               "router.network_first=0.5 router.arbitration_gap=true router.bypass=false router.count_unblocking=true "
               "routing.dynamic=0.5 injection.infinite=true"));
  add(Settings("topology.shape=[7,1,2] traffic.load=0.3 traffic.packet_flits=", mixed,
               " router.dynamic_vcs=0 router.escape_flits=16 router.bubble_rule=actual_size injection.fifos=2 "
               "injection.put_interval=3 reception.fifo_flits=9 reception.take_interval=70"));
  add(Settings("topology.shape=[5,5,3] traffic.load=0.1 traffic.packet_flits=", mixed,
               " router.link_protocol=true router.idle_acks=1024 faults.error_rate=5e-4"));
  add(Settings("topology.shape=[5,4,4] traffic.load=0.2 traffic.packet_flits=", mixed,
               " faults.nodes=[7,33,54] routing.hints=",
               IntList{0, 9, 0b010100, 9, 0, 0b101000, 9, 3, 0b010100, 9, 14, 0b001000, 9, 40, 0b100110},
               " routing.dynamic=0.5"));
  add(
      Settings("topology.shape=[4,4,2] traffic.mode=broadcast broadcast.dimensions=[0,1] broadcast.root=5 "
               "broadcast.packets=10"));
  add(Settings("traffic.mode=trace traffic.trace_file=", trace));
  add(Settings("topology.shape=[5,3] traffic.load=0.1 traffic.packet_flits=", mixed,
               " router.link_protocol=true router.acks=charged faults.error_rate=5e-4"));
  add(Settings("traffic.load=0.3 traffic.self=true"));
}

}  // namespace flitlab::testing
