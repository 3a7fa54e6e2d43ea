#pragma once
/// Fabrics whose nodes have two host ports each, with access to the messages that their TICs have sent and hold.
#include <vector>

#include "tests/support/sconnect/sconnect.hpp"

namespace flitlab::testing::two_hosts {

/// Returns nodes in a line with two host ports each (terminals 2 n and 2 n + 1). Port 0 leads forward, port 1 back.
inline RawConfig line(std::int64_t nodes, std::int64_t delay = 2) {
  return Settings("topology.shape=", IntList{nodes}, " topology.host_ports=2 topology.channel_delay=", 6 * delay);
}

inline RawConfig graph(const TextFile& file, std::int64_t delay = 2) {
  return Settings("topology.kind=graph topology.file=", file.path,
                  " topology.host_ports=2 topology.channel_delay=", 6 * delay);
}

/// Returns the numbers of the messages that a TIC has started to send by a port, in order.
inline std::vector<u32> sent_by(const SconnectNet& net, u32 tic, u32 p) {
  std::vector<u32> ids;
  for (const auto& e : net.events_at(EventKind::kSwitchGranted, tic))
    if (e.event.out_port == p) ids.push_back(e.event.id);
  return ids;
}

/// Returns the number of buffers that messages to a TIC's two host ports use.
inline u32 held_for_hosts(const SconnectNet& net, u32 tic) {
  return u32{net.control(tic).held[4 * 8]} + net.control(tic).held[5 * 8];
}

}  // namespace flitlab::testing::two_hosts
