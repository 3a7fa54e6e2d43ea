#pragma once
/// A switch that records the times of each message.
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/build.hpp"
#include "tests/support/draw.hpp"
#include "tests/support/temporary.hpp"

namespace flitlab::testing {

/// A line of a trace, which creates one message.
struct SwitchLine {
  u32 cycle, src, dst, flits;
};

/// Times of a message. kNone: the event has not occurred.
struct SwitchTimes {
  u32 flits = 0, dst = kNone;
  u32 created = kNone, moved = kNone, delivered = kNone;
};

class WatchedSwitch {
 public:
  explicit WatchedSwitch(RawConfig changes) {
    changes["router.kind"] = std::string("switch");
    net_ = std::make_unique<Network>(flitlab::testing::experiment(changes), EngineChoice{"cpu", 1, true, 1});
  }
  /// Replays a trace. Lines are sorted by cycle, and messages are numbered in this order.
  WatchedSwitch(const std::vector<SwitchLine>& lines, RawConfig changes) {
    std::string text;
    for (const SwitchLine& l : lines)
      text += std::to_string(l.cycle) + "," + std::to_string(l.src) + "," + std::to_string(l.dst) + "," +
              std::to_string(l.flits) + "\n";
    trace_ = std::make_unique<TextFile>(text);
    set(changes, "router.kind=switch traffic.mode=trace traffic.trace_file=", trace_->path);
    net_ = std::make_unique<Network>(flitlab::testing::experiment(changes), EngineChoice{"cpu", 1, true, 1});
  }

  void run(u32 cycles) {
    for (u32 n = 0; n < cycles; ++n) {
      const u32 cycle = net_->engine->now();
      net_->step(1);
      for (const std::vector<Event>& item : net_->engine->take_events(0))
        for (const Event& e : item) {
          SwitchTimes& m = messages[{e.src, e.id}];
          m.flits = e.flits;
          if (e.kind == EventKind::kCreated) m.created = cycle;
          if (e.kind == EventKind::kDelivered) m.delivered = cycle;
          if (e.kind == EventKind::kSwitchGranted) {
            m.moved = cycle;
            m.dst = e.out_port;
          }
        }
    }
    check_conservation(*net_->engine, *net_->plan, 0);
  }

  Network& net() { return *net_; }
  /// Returns the cycle in which the message of a line was delivered.
  u32 delivered(u32 line) const {
    for (const auto& [name, m] : messages)
      if (name.second == line) return m.delivered;
    return kNone;
  }

  std::map<std::pair<u32, u32>, SwitchTimes> messages;  ///< by source and message number

 private:
  std::unique_ptr<TextFile> trace_;
  std::unique_ptr<Network> net_;
};

}  // namespace flitlab::testing
