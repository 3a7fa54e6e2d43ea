/// Bounds of state fields, checked before a state from outside is used.
#include <algorithm>

#include "host/routers/sconnect/plan.hpp"

namespace flitlab {
namespace sconnect {
namespace {

void add_message(std::vector<Bound>& bounds, const std::string& where, const Table& t) {
  bounds.push_back(record_bound<Message>(where, [&t](const Message& m, u32, u32) {
    return m.control || (m.dst < t.terminals && m.node < t.nodes && (!t.loops() || m.tag < t.traffic.window));
  }));
  bounds.push_back({where + ".src", below(t.terminals)});
  bounds.push_back({where + ".flits", at_most(kQuadParts)});
  bounds.push_back({where + ".priority", below(kPriorities)});
  bounds.push_back({where + ".vc", below(kVcs)});
  bounds.push_back({where + ".tried", at_most(kPorts)});
  bounds.push_back({where + ".entered", at_most(kMostTurn)});
}

/// Returns whether every queue's list has the stated length and exactly the buffers that wait in the queue.
bool queues_end(const Item<1>& tic, const Table& t) {
  u32 waiting = 0;
  for (u32 b = 0; b < t.buffers; ++b) waiting += (tic.at(t.fields.buffer, b).flags & kWaiting) != 0;
  for (u32 q = 0; q < kQueues; ++q) {
    const Queue& queue = tic.at(t.fields.queue, q);
    u32 buffer = queue.head;
    for (u32 n = 0; n < queue.messages; ++n) {
      if (buffer >= t.buffers) return false;
      if (n + 1 == queue.messages && buffer != queue.tail) return false;
      const auto& state = tic.at(t.fields.buffer, buffer);
      if (!(state.flags & kWaiting) || state.queue != q || !waiting--) return false;
      buffer = state.next;
    }
  }
  return waiting == 0;
}

/// Returns whether no cursor of a host's queues is beyond its creations; such a cursor would never reach their end.
bool host_queues_end(const Item<1>& terminal, const Table& t) {
  const TerminalControl& control = terminal.at(t.terminal_fields.control);
  const bool trace = t.mode == TrafficMode::kTrace;
  const u32 created = trace ? terminal.at(t.terminal_fields.trace.control).created : control.next.index;
  for (u32 i = 0; i < t.host_queues(); ++i)
    if (terminal.at(t.host_fields.queue, i).oldest.index > created) return false;
  return trace || !t.host_queues() || control.next.index == control.created;
}

/// Returns whether the transactions in use match the counters. A host searches for an unused one without a limit.
bool transactions_end(const Item<1>& terminal, const Table& t) {
  u32 used = 0;
  for (u32 tag = 0; tag < t.traffic.window; ++tag) used += terminal.at(t.terminal_fields.transaction, tag).id != kNone;
  const TerminalControl& control = terminal.at(t.terminal_fields.control);
  return used == terminal.at(t.terminal_fields.loop).outstanding && control.created == control.next.index;
}

void add_loop(std::vector<Bound>& bounds, const Table& t) {
  if (!t.loops()) return;
  bounds.push_back(item_bound("terminal", [&t](const Item<1>& item, u32) { return transactions_end(item, t); }));
  bounds.push_back({"terminal.loop.outstanding", at_most(t.traffic.window)});
  bounds.push_back({"terminal.loop.reply_first", below(t.traffic.reply_queue)});
  for (const char* replies : {"terminal.loop.replies", "terminal.loop.created"})
    bounds.push_back({replies, at_most(t.traffic.reply_queue)});
  bounds.push_back({"terminal.loop.promised", at_most(0)});
  bounds.push_back({"terminal.reply.to", below(t.terminals)});
  bounds.push_back({"terminal.reply.tag", below(t.traffic.window)});
  bounds.push_back({"terminal.heard.to", below_or(t.terminals, kNone)});
  bounds.push_back({"terminal.heard.tag", below(t.traffic.window)});
}

}  // namespace
}  // namespace sconnect

std::vector<Bound> SconnectPlan::bounds() const {
  using namespace sconnect;
  const Table& t = table_;
  const u64 all_buffers = t.buffers < 64 ? (u64{1} << t.buffers) - 1 : ~u64{0};
  const Check buffer = below(t.buffers), buffer_or_none = below_or(t.buffers, kNoBuffer);
  const Check ports = below(1u << kPorts), count = at_most(t.buffers);
  std::vector<Bound> bounds{
      {"router.control.free", subset(all_buffers)},
      {"router.control.waiting", below(u64{1} << kQueues)},
      {"router.control.used", count},
      {"router.control.enabled", ports},
      {"router.control.next_vc", ports},
      {"router.control.held", count},
      {"router.mail", below(u64{1} << 8 * kPorts)},
      {"router.port.doubtful", buffer_or_none},
      {"router.port.spoiled", buffer_or_none},
      {"router.port.sending", buffer_or_none},
      {"router.port.parts", at_most(kQuadParts)},
      {"router.port.requeued", buffer_or_none},
      {"router.port.entering", at_most(kQuadParts)},
      {"router.port.train.parts", at_most(kQuadParts)},
      {"router.port.train.buffer", buffer_or_none},
      item_bound("router", [&t](const Item<1>& tic, u32) { return queues_end(tic, t); }),
      {"router.buffer.next", buffer_or_none},
      {"router.buffer.queue", below(kQueues)},
      {"router.buffer.source", below(kPorts)},
      {"router.slot.buffer", buffer_or_none},
      {"router.table",
       [&t](u64 options, u32 tic, u32) { return entry_of(t, tic, static_cast<Options>(options)) == options; }},
      {"terminal.host.address", below(t.nodes)},
      {"terminal.host.ready", below(1u << (kPriorities + t.loops()))},
      item_bound("terminal", [&t](const Item<1>& terminal, u32) { return host_queues_end(terminal, t); }),
      {"terminal.host.out_first", below(kMailbox)},
      {"terminal.host.out_count", at_most(kMailbox)},
      {"terminal.host.in_count", at_most(kMailbox)}};
  for (const char* where : {"router.message", "router.arriving", "terminal.host.offered", "terminal.host_queue.offered",
                            "terminal.offered_reply", "terminal.outbox", "terminal.inbox"})
    add_message(bounds, where, t);
  add_loop(bounds, t);
  add_source(bounds, t.traffic, t.mode, t.terminal_fields);
  bounds.push_back({"router.control.fault", at_most(0)});
  return bounds;
}

}  // namespace flitlab
