#pragma once
/// A small S-Connect fabric whose state a test can read and change between routing cycles.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "host/routers/sconnect/control.hpp"
#include "host/routers/sconnect/plan.hpp"
#include "tests/support/build.hpp"
#include "tests/support/fields.hpp"
#include "tests/support/temporary.hpp"

namespace flitlab::testing {

using sconnect::kPorts;
using sconnect::LinkKind;
using sconnect::option;

/// Returns an experiment with a fabric and with defaults for the rest. It has no shape unless the topology has one.
inline Experiment sconnect_experiment(RawConfig changes) {
  changes.insert({"router.kind", word("sconnect")});
  return Experiment::resolve(changes, ".");
}

/// A message, identified by its source and its number at the source. In a trace this is the number of its line.
struct MessageName {
  u32 src = kNone, id = 0;
  friend bool operator==(const MessageName&, const MessageName&) = default;
  friend auto operator<=>(const MessageName&, const MessageName&) = default;
};

struct SconnectEvent {
  Cycle cycle;
  u32 item;  ///< TIC, or TICs + terminal
  Event event;
  MessageName name() const { return {event.src, event.id}; }
  /// Returns the clock of an event at a port, counted from cycle 0. The caller adds the phase of the node if it has
  /// one.
  u32 clock(u32 port) const { return sconnect::kClocks * cycle + port; }
};

/// Runs a fabric cycle by cycle and keeps all events. With a trace (lines cycle,source,destination,flits) only the
/// messages of the trace are sent. By default all nodes have the same phase and channels take two routing cycles, so
/// that cycles can be counted.
class SconnectNet {
 public:
  explicit SconnectNet(RawConfig changes, const std::string& trace = "") : trace_(trace) {
    changes.merge(Settings("topology.phases=equal topology.channel_delay=12"));
    if (!trace.empty()) changes.merge(Settings("traffic.mode=trace traffic.trace_file=", trace_.path));
    net_ = std::make_unique<Network>(sconnect_experiment(changes), EngineChoice{"cpu", 1, true, 1});
  }

  Network& network() { return *net_; }
  const SconnectPlan& plan() const { return dynamic_cast<const SconnectPlan&>(*net_->plan); }
  const sconnect::Table& table() const { return plan().table(); }
  const SconnectFabric& fabric() const { return plan().fabric(); }
  Engine& engine() { return *net_->engine; }
  u32 now() const { return net_->engine->now(); }
  u64 total(TotalIndex t, u32 i = 0) { return net_->engine->counters(0).total[t.value + i]; }
  void check() { check_conservation(*net_->engine, *net_->plan, 0); }

  void step(u32 cycles = 1) {
    for (; cycles; --cycles) {
      const Cycle cycle = now();
      net_->step(1);
      const auto all = net_->engine->take_events(0);
      for (u32 item = 0; item < all.size(); ++item)
        for (const Event& e : all[item]) events_.push_back({cycle, item, e});
    }
  }
  /// Steps until `messages` messages have been delivered, at most `most` cycles.
  void deliver(u64 messages, u32 most = 2000) {
    while (total(Total::kPacketsDelivered) < messages && most--) step();
  }

  const std::vector<SconnectEvent>& events() const { return events_; }
  void discard_events() { events_.clear(); }
  /// Returns the events of a kind for a message, in order.
  std::vector<SconnectEvent> events(EventKind kind, MessageName name) const {
    std::vector<SconnectEvent> some;
    for (const SconnectEvent& e : events_)
      if (e.event.kind == kind && e.name() == name) some.push_back(e);
    return some;
  }
  /// Returns the events of a kind at a TIC, for all messages.
  std::vector<SconnectEvent> events_at(EventKind kind, u32 tic) const {
    std::vector<SconnectEvent> some;
    for (const SconnectEvent& e : events_)
      if (e.event.kind == kind && e.item == tic) some.push_back(e);
    return some;
  }
  /// Returns the cycle of a message's delivery, kNever if it has not been delivered.
  Cycle delivered(MessageName name) const {
    const auto some = events(EventKind::kDelivered, name);
    return some.empty() ? kNever : some.front().cycle;
  }
  Cycle injected(MessageName name) const {
    const auto some = events(EventKind::kInjected, name);
    return some.empty() ? kNever : some.front().cycle;
  }

  template <class T>
  ItemFields<T> fields(u32 kind, const char* name) const {
    ItemFields<T> f(*net_, kind, name);
    f.read();
    return f;
  }
  sconnect::TicControl control(u32 tic) const { return fields<sconnect::TicControl>(0, "control")(tic); }
  sconnect::Port port(u32 tic, u32 p) const { return fields<sconnect::Port>(0, "port")(tic, p); }
  u64 register_of(u32 tic, const std::string& name) { return sconnect_register(engine(), plan().table(), tic, name); }
  void set_register(u32 tic, const std::string& name, u64 value) {
    set_sconnect_register(engine(), plan().table(), tic, name, value);
  }
  void set_table(u32 tic, u32 node, sconnect::Options options) {
    set_register(tic, "table." + std::to_string(node), options);
  }
  void disable(u32 tic, u32 p) { set_register(tic, "enabled", control(tic).enabled & ~(1u << p)); }
  void enable(u32 tic, u32 p) { set_register(tic, "enabled", control(tic).enabled | 1u << p); }

  /// Returns the messages in a queue, its head first.
  std::vector<sconnect::Message> queue(u32 tic, u32 p, u32 priority, u32 vc) const {
    const auto list =
        fields<sconnect::Queue>(0, "queue")(tic, p * sconnect::kQueuesOfPort + priority * sconnect::kVcs + vc);
    const auto buffer = fields<sconnect::BufferState>(0, "buffer");
    const auto message = fields<sconnect::Message>(0, "message");
    std::vector<sconnect::Message> all;
    for (u32 i = 0, b = list.head; i < list.messages; ++i, b = buffer(tic, b).next) all.push_back(message(tic, b));
    return all;
  }

  /// Returns the protocol bits (0: none) and the message that a port sent in the previous cycle. They can be read while
  /// they are in transit.
  std::pair<u8, sconnect::Message> sent(u32 tic, u32 p) const { return arriving(tic, p, now() - 1); }
  std::pair<u8, sconnect::Message> arriving(u32 tic, u32 p, Cycle sent) const {
    const sconnect::Link& link = fabric().link(tic, p);
    const u32 slot_index = (sent + link.delay) & table().slot_mask;
    return {static_cast<u8>(fields<u64>(0, "mail")(link.far, slot_index) >> 8 * link.port),
            fields<sconnect::Message>(0, "arriving")(link.far, slot_index * kPorts + link.port)};
  }
  /// Damages the slot that a port has just sent, whatever the slot carries.
  void hit(u32 tic, u32 p) {
    const sconnect::Link& link = fabric().link(tic, p);
    auto inbox = fields<u64>(0, "mail");
    u64& word = inbox(link.far, (now() - 1 + link.delay) & table().slot_mask);
    if (word >> 8 * link.port & 0xFF) word |= u64{sconnect::kHit} << 8 * link.port;
    inbox.write();
  }

  /// Returns the TIC and port of a terminal.
  std::pair<u32, u32> host_port(u32 terminal) const {
    for (u32 tic = 0; tic < fabric().tics; ++tic)
      for (u32 p = 0; p < kPorts; ++p)
        if (fabric().link(tic, p).kind == LinkKind::kHost && fabric().link(tic, p).far == terminal) return {tic, p};
    return {kNone, kNone};
  }

 private:
  TextFile trace_;
  std::unique_ptr<Network> net_;
  std::vector<SconnectEvent> events_;
};

/// Returns a line of a trace.
inline std::string sends(u32 cycle, u32 source, u32 destination, u32 flits = 1) {
  return std::to_string(cycle) + "," + std::to_string(source) + "," + std::to_string(destination) + "," +
         std::to_string(flits) + "\n";
}

/// Finds a seed with which the messages of a trace have given priorities. The first `kinds` (2 or 4) priorities are
/// equally likely (host.priorities). Draws are functions of the seed, so trying seeds finds any pattern.
struct Priority {
  MessageName name;
  u32 priority;
};
inline std::int64_t seed_for(const std::vector<Priority>& wanted, u32 kinds) {
  const u32 shift = kinds == 2 ? 31 : 30;
  for (u64 seed = 1;; ++seed) {
    ReplicaRow row;
    row.seed = seed;
    if (std::all_of(wanted.begin(), wanted.end(), [&](const Priority& w) {
          return packet_draws(row, w.name.src, w.name.id).word[3] >> shift == w.priority;
        }))
      return static_cast<std::int64_t>(seed);
  }
}

/// A line of a trace whose message has a given priority.
struct ScriptLine {
  u32 cycle, source, destination, priority, flits = 1;
};
class SconnectScript {
 public:
  /// Sets parameters in `changes` so that the lines are sent with their priorities, of which two or four are in use.
  /// Lines are in order of their cycles.
  SconnectScript(RawConfig& changes, const std::vector<ScriptLine>& lines, u32 kinds = 4) {
    std::vector<Priority> wanted;
    for (const ScriptLine& line : lines) {
      wanted.push_back({{line.source, static_cast<u32>(wanted.size())}, line.priority});
      text += sends(line.cycle, line.source, line.destination, line.flits);
    }
    set(changes, "host.priorities=", kinds == 2 ? IntList{1, 1, 0, 0} : IntList{1, 1, 1, 1},
        " run.seed=", seed_for(wanted, kinds));
  }
  std::string text;
};

}  // namespace flitlab::testing
