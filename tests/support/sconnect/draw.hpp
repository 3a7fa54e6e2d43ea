#pragma once
/// Random configurations of small fabrics, and a record of the deliveries to their hosts.
#include <algorithm>
#include <map>
#include <random>
#include <utility>

#include "host/routers/sconnect/plan.hpp"
#include "tests/support/build.hpp"
#include "tests/support/draw.hpp"

namespace flitlab::testing {

/// Returns all parameters except the mode of the traffic. `ring`: a graph file of five nodes in a ring.
inline RawConfig random_small_sconnect(u64 seed, const std::string& ring) {
  Draw draw(seed);
  RawConfig c = Settings("router.kind=sconnect run.seed=", static_cast<std::int64_t>(seed));
  const u32 fabric = draw.below(5);
  if (fabric == 0) {
    set(c, "topology.kind=graph topology.file=", ring);
  } else {
    set(c, "topology.kind=mesh topology.shape=",
        fabric == 1   ? IntList{2}
        : fabric == 2 ? IntList{2, 2}
                      : IntList{3, 3});
  }
  c["topology.node"] = word(draw.below(3) ? "single" : "dual");
  c["topology.host_ports"] = draw.between(1, 2);
  c["topology.channel_delay"] = draw.between(6, 30);
  c["topology.phase_seed"] = draw.between(0, 99);
  c["channel.error_rate"] = draw.one_of({1e-5, 1e-4, 1e-3, 1e-3, 5e-3});
  // Quads need four reserved buffers in every queue, so with quads only one priority is in use. Otherwise the pool
  // would be too small.
  const bool quads = draw.coin();
  const IntList weights =
      quads ? IntList{1, 0, 0, 0} : draw.one_of<IntList>({{1, 0, 0, 0}, {3, 2, 1, 1}, {1, 1, 0, 0}});
  c["host.priorities"] = weights;
  if (quads) c["traffic.packet_flits"] = draw.one_of<Lengths>({{{4, 1.0}}, {{1, 3.0}, {4, 1.0}}, {{1, 1.0}, {4, 1.0}}});
  const std::int64_t used = 4 - std::count(weights.begin(), weights.end(), 0), least = used * 12 * (quads ? 4 : 1);
  c["router.buffers"] = draw.one_of<std::int64_t>({least, least + 1, 64});
  return c;
}

/// Counts of injections and deliveries of each message.
class Deliveries {
 public:
  /// Adds the events since the last call.
  void note(Engine& engine) {
    for (const auto& item : engine.take_events(0))
      for (const Event& event : item) {
        if (event.kind == EventKind::kInjected) ++sent_[{event.src, event.id}];
        if (event.kind == EventKind::kDelivered) ++got_[{event.src, event.id}];
      }
  }
  /// Number of messages that arrived more than once or were never sent.
  u64 wrong() const {
    u64 n = 0;
    for (const auto& [message, times] : got_) n += times != 1 || !sent_.contains(message);
    return n;
  }
  u64 missing() const {
    u64 n = 0;
    for (const auto& [message, times] : sent_) n += !got_.contains(message);
    return n;
  }
  u64 got() const { return got_.size(); }

 private:
  std::map<std::pair<u32, u32>, u32> sent_, got_;
};

}  // namespace flitlab::testing
