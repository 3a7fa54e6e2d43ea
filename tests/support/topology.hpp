#pragma once
/// Checks that apply to the wiring of any network.
#include <gtest/gtest.h>

#include "host/topology/topology.hpp"

namespace flitlab::testing {

/// Expects that the two ends of a channel name each other, and that every channel is counted.
inline void expect_consistent(const Topology& t) {
  u64 channels = 0;
  for (u32 r = 0; r < t.routers; ++r)
    for (u32 p = 0; p < t.ports; ++p) {
      const Peer& peer = t.peer(r, p);
      if (peer.item == kNone) continue;
      if (peer.is_terminal) {
        EXPECT_EQ(t.terminal_router(peer.item), r);
        EXPECT_EQ(t.terminal_port(peer.item), p);
        continue;
      }
      ++channels;
      EXPECT_EQ(t.peer(peer.item, peer.port).item, r);
      EXPECT_EQ(t.peer(peer.item, peer.port).port, p);
    }
  EXPECT_EQ(channels, t.channels);
}

}  // namespace flitlab::testing
