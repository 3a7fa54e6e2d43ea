#pragma once
/// Packets of a trace that meet at node (2,2,2) of a T3E of 8x8x8 nodes, far from the datelines. A packet that is
/// created at clock t in a neighbour's PE leaves the neighbour at t + 7 and arrives here at t + 10. It may leave
/// through the crossbar from t + 13 on. A packet of this node's PE may leave from t + 7 on. Flits follow at intervals
/// of one clock.
#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "host/routers/t3e/plan.hpp"
#include "kernels/routers/t3e/route.hpp"
#include "tests/support/build.hpp"
#include "tests/support/temporary.hpp"

namespace flitlab::testing::t3e_machine {

constexpr u32 at(u32 x, u32 y, u32 z) { return x + 8 * (y + 8 * z); }
inline constexpr u32 kHere = at(2, 2, 2);
/// Neighbours of this node. +X is east, +Y north and +Z up.
inline constexpr u32 kWest = at(1, 2, 2), kEast = at(3, 2, 2), kSouth = at(2, 1, 2), kBelow = at(2, 2, 1),
                     kTwoBelow = at(2, 2, 0);
/// Output ports, and the adaptive virtual channel.
inline constexpr u32 kPlusX = 0, kPlusY = 1, kMinusZ = t3e::kMinusZ, kAdaptive = t3e::kDeterministicVcs;

struct Line {
  u32 clock, src, dst, flits;
};

/// The departure of a flit from a router.
struct Departure {
  u32 clock, node;
  Event event;
};

using Clocks = std::vector<u32>;
using Outputs = std::vector<std::pair<u32, u32>>;  // (port, VC)

inline Clocks from(u32 first, u32 flits) {
  Clocks list(flits);
  for (u32 n = 0; n < flits; ++n) list[n] = first + n;
  return list;
}

/// A machine that runs a trace. By default packets do not adapt and every SELECT bit is 0.
class Machine {
 public:
  explicit Machine(std::vector<Line> lines, RawConfig changes = {}) : trace_(text(std::move(lines))) {
    changes.insert({{"router.kind", word("t3e")},
                    {"topology.shape", IntList{8, 8, 8}},
                    {"routing.adaptive", false},
                    {"routing.vc_select", word("time_of_crossing")}});
    if (!changes.contains("traffic.mode")) {
      changes["traffic.mode"] = word("trace");
      changes["traffic.trace_file"] = trace_.path;
    }
    net_ = std::make_unique<Network>(experiment(changes), EngineChoice{"cpu", 1, true, 1});
  }

  template <class Change>
  void registers(u32 node, Change change) {
    edit<t3e::Registers>(0, "registers", node, change);
  }
  /// Sets SELECT bits: packets that turn into this direction, or start in it, use set 1 if they go to nodes with this
  /// ordinate.
  void select_one(u32 node, u32 direction, u32 ordinate) {
    registers(node, [&](t3e::Registers& r) { r.vcsel[direction] |= static_cast<u16>(1u << ordinate); });
  }
  void no_adapt(u32 node, u32 direction) {
    registers(node, [&](t3e::Registers& r) { r.chan[direction] |= t3e::kNoAdapt; });
  }
  /// Changes the routing tag of packets from one PE to another.
  template <class Change>
  void tag(u32 src, u32 dst, Change change) {
    edit<t3e::Tag>(2, "lut", src * t3e::kLutRegisters + dst, change);
  }
  void adapt(u32 src, u32 dst) {
    tag(src, dst, [](t3e::Tag& tag) { tag |= 1u << 18; });
  }

  void run(u32 clocks) {
    for (u32 n = 0; n < clocks; ++n, ++now_) {
      net_->step(1);
      const auto events = net_->engine->take_events(0);
      for (u32 node = 0; node < 512; ++node)
        for (const Event& event : events[node])
          if (event.kind == EventKind::kSwitchGranted) departures.push_back({now_, node, event});
    }
    check_conservation(*net_->engine, *net_->plan, 0);
  }

  /// Returns the clocks in which the flits of a PE's n-th packet leave this node.
  Clocks clocks(u32 src, u32 n = 0) const {
    std::map<u32, Clocks> packets;  // by number, which increases along the trace
    for (const Departure& d : departures)
      if (d.event.src == src) {
        Clocks& list = packets[d.event.id];
        if (d.node == kHere) list.push_back(d.clock);
      }
    return n < packets.size() ? std::next(packets.begin(), n)->second : Clocks{};
  }
  /// Returns the outputs by which the heads of a PE's packets leave a node, in the order of their departure.
  Outputs outputs(u32 src, u32 node = kHere) const {
    Outputs list;
    for (const Departure& d : departures)
      if (d.node == node && d.event.src == src && (d.event.flit & 1))
        list.emplace_back(d.event.out_port, d.event.out_vc);
    return list;
  }
  u64 total(TotalIndex t) { return net_->total(t); }
  const t3e::Table& table() const { return dynamic_cast<const T3ePlan&>(*net_->plan).table(); }

  std::vector<Departure> departures;

 private:
  static std::string text(std::vector<Line> lines) {
    std::stable_sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) { return a.clock < b.clock; });
    std::string all;
    for (const Line& l : lines)
      all += std::to_string(l.clock) + "," + std::to_string(l.src) + "," + std::to_string(l.dst) + "," +
             std::to_string(l.flits) + "\n";
    return all;
  }
  template <class T, class Change>
  void edit(u32 kind, const char* name, u32 index, Change change) {
    const ItemKind& items = net_->plan->layout().kinds[kind];
    const FieldInfo& field = items.field(name);
    std::vector<T> all(std::size_t{items.count} * field.count);
    net_->engine->get_field(0, kind, field, all.data());
    change(all[index]);
    net_->engine->set_field(0, kind, field, all.data());
  }

  TextFile trace_;
  std::unique_ptr<Network> net_;
  u32 now_ = 0;
};

}  // namespace flitlab::testing::t3e_machine
