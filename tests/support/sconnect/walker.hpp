#pragma once
/// Follows messages by S-Connect's routing tables, independently of the code that builds and checks these tables.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "host/routers/sconnect/fabric.hpp"
#include "host/routers/sconnect/order.hpp"
#include "host/routers/sconnect/tables.hpp"

namespace flitlab::testing::sconnect_walker {

using sconnect::kPorts;
using sconnect::Link;
using sconnect::LinkKind;

struct Place {
  u32 tic, vc;
  auto operator<=>(const Place&) const = default;
};

/// A queue of a TIC whose messages wait for a buffer at the far end of its channel.
struct Queue {
  u32 tic, bit;
  auto operator<=>(const Queue&) const = default;
};

/// Follows messages, for every source and destination, as the TICs route them. Finds cyclic waits by removing queues
/// whose messages can always move on.
struct Walker {
  const SconnectFabric& f;
  const std::vector<u16>& entry;
  bool all_arrive = true;
  std::map<Queue, std::set<Queue>> waits = {};

  void walk_all() {
    for (u32 d = 0; d < f.nodes; ++d) {
      std::set<Place> reached;
      for (u32 tic = 0; tic < f.tics; ++tic)
        for (u32 port = 4; port < kPorts; ++port)
          if (f.link(tic, port).kind == LinkKind::kHost) walk({tic, 0}, d, reached);
    }
  }

  u32 bits_at(Place at, u32 d) const {
    const u32 bits = entry[std::size_t{at.tic} * f.nodes + d];
    return at.vc == 1 && bits & 0xAAAA ? bits & 0xAAAA : bits;
  }

  void walk(Place at, u32 d, std::set<Place>& reached) {
    if (!reached.insert(at).second) return;
    const u32 bits = bits_at(at, d);
    if (!bits) all_arrive = false;
    if (!f.mixed_entries && entry[std::size_t{at.tic} * f.nodes + d] & 0xFF &&
        entry[std::size_t{at.tic} * f.nodes + d] & 0xFF00)
      all_arrive = false;
    for (u32 bit = 0; bit < 16; ++bit) {
      if (!(bits >> bit & 1)) continue;
      if (bit >= 2 * kPorts) {
        all_arrive = false;
        continue;
      }
      const Link& l = f.link(at.tic, bit / 2);
      if (l.kind == LinkKind::kNone || (l.kind == LinkKind::kParallel && bit % 2 && f.parallel_vcs == 1) ||
          (l.kind == LinkKind::kHost && (bit % 2 || f.node_of[at.tic] != d))) {
        all_arrive = false;
      } else if (l.kind != LinkKind::kHost) {
        const Place next{l.far, bit % 2};
        std::set<Queue>& for_those = waits[Queue{at.tic, bit}];
        const u32 there = bits_at(next, d);
        for (u32 b = 0; b < 2 * kPorts; ++b)
          if (there >> b & 1 && leads_to_tic(f.link(next.tic, b / 2))) for_those.insert(Queue{next.tic, b});
        walk(next, d, reached);
      }
    }
  }

  bool circles() const {
    std::set<Queue> left;
    for (const auto& [from, to] : waits) left.insert(from);
    for (bool more = true; more;) {
      more = false;
      for (auto at = left.begin(); at != left.end();) {
        const std::set<Queue>& to = waits.at(*at);
        if (std::none_of(to.begin(), to.end(), [&](const Queue& q) { return left.contains(q); }))
          at = left.erase(at), more = true;
        else
          ++at;
      }
    }
    return !left.empty();
  }

  bool good() {
    walk_all();
    return all_arrive && !circles();
  }
};

inline void expect_good(const SconnectFabric& f, const SconnectTables& t) {
  EXPECT_EQ(sconnect_table_fault(f, t.entry), "");
  Walker walker{f, t.entry};
  EXPECT_TRUE(walker.good());
}

}  // namespace flitlab::testing::sconnect_walker
