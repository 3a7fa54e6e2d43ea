#include "host/run/feed.hpp"

#include <algorithm>

#include "host/config/cross_checks.hpp"
#include "host/config/experiment.hpp"
#include "kernels/common/error.hpp"
#include "kernels/traffic/params.hpp"

namespace flitlab {

PacketLimits::PacketLimits(const Experiment& experiment, const Plan& plan)
    : terminals(plan.topology().terminals),
      min_flits(plan.facts().shortest_packet),
      max_flits(plan.facts().longest_packet),
      classes(traffic_classes(experiment)),
      allow_self(experiment.flag(param::traffic.self)),
      identifies_arrivals(plan.facts().identifies_arrivals),
      dead_terminals(plan.facts().dead_terminals) {}

std::string PacketLimits::classes_text() const {
  return "classes of packets are numbered 0 to " + std::to_string(classes - 1) +
         " (traffic.classes = " + std::to_string(classes) + ")";
}

std::string PacketLimits::why_impossible(u64 source, u64 destination, u64 flits, const std::string& leave_out) const {
  for (const u64 terminal : {source, destination})
    if (terminal >= terminals)
      return "terminal " + std::to_string(terminal) + " does not exist: terminals are numbered 0 to " +
             std::to_string(terminals - 1) + ".";
  for (const u64 terminal : {source, destination})
    if (std::count(dead_terminals.begin(), dead_terminals.end(), terminal))
      return "terminal " + std::to_string(terminal) + " is at a dead node, which no channel reaches. " + leave_out +
             ".";
  if (source == destination && !allow_self)
    return "terminal " + std::to_string(source) + " sends to itself, and traffic.self = false. " + leave_out +
           ", or set traffic.self = true.";
  if (flits < min_flits || flits > max_flits)
    return "a packet must have " + std::to_string(min_flits) + " to " + std::to_string(max_flits) + " flits.";
  return "";
}

Feed::Fields& Feed::fields(Engine& engine, u32 replica) {
  if (!fields_)
    fields_.emplace(
        Fields{{engine, replica, "trace"}, {engine, replica, "trace_entry"}, {engine, replica, "trace_arrival"}});
  return *fields_;
}

void Feed::collect(Engine& engine, u32 replica) {
  auto& [controls, entries, arrivals] = fields(engine, replica);
  controls.read();
  arrivals.read();
  bool any = false;
  for (u32 t = 0; t < limits_.terminals; ++t) {
    TraceControl& control = *controls[t];
    if (!control.arrivals) continue;
    if (control.arrivals > kTraceQueue)
      throw RunError("terminal " + std::to_string(t) + " lists " + std::to_string(control.arrivals) +
                     " arrivals, more than it can store: its state is damaged.");
    for (u32 i = 0; i < control.arrivals; ++i) {
      arrived(t, arrivals[t][i]);
      arrivals[t][i] = {};  // so that the state does not depend on when the host looks
    }
    control.arrivals = 0;
    any = true;
  }
  if (!any) return;
  controls.write();
  arrivals.write();
}

u32 Feed::fill(Engine& engine, u32 replica, const std::vector<u32>* which) {
  auto& [controls, entries, arrivals] = fields(engine, replica);
  controls.read();
  entries.read();
  const u64 end = u64{engine.now()} + kTraceQueue;
  const u32 n = static_cast<u32>(which ? which->size() : queues_.size());
  u32 moved = 0;
  for (u32 i = 0; i < n; ++i) {
    const u32 index = which ? (*which)[i] : i, before = moved;
    std::deque<TraceEntry>& queue = queues_[index];
    if (queue.empty()) continue;
    const u32 terminal = index / limits_.classes, of_class = index % limits_.classes;
    TraceControl& control = controls[terminal][of_class];
    TraceEntry* const given = entries[terminal] + of_class * kTraceQueue;
    for (; control.entries < kTraceQueue && !queue.empty() && queue.front().cycle < end &&
           may_move(terminal, queue.front());
         ++moved) {
      given[(control.first + control.entries++) % kTraceQueue] = queue.front();
      queue.pop_front();
    }
    if (moved != before) engine.wake(replica, terminal);
  }
  if (!moved) return 0;
  controls.write();
  entries.write();
  return moved;
}

u32 Feed::given(Engine& engine, u32 replica, u32 terminal, u32 of_class) {
  TerminalField<TraceControl>& controls = fields(engine, replica).controls;
  controls.read();
  return controls[terminal][of_class].entries;
}

}  // namespace flitlab
