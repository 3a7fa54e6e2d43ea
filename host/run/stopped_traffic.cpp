#include "host/run/stopped_traffic.hpp"

#include <algorithm>

#include "kernels/traffic/matching.hpp"
#include "kernels/traffic/params.hpp"
#include "kernels/traffic/terminal_state.hpp"

namespace flitlab {
namespace {

/// Returns a field of all terminals, as an array [terminal][element].
template <class T>
std::vector<T> of_terminals(const Engine& engine, u32 replica, std::string_view name) {
  const ItemKind& terminals = engine.layout().kinds[1];
  const FieldInfo& field = terminals.field(name);
  std::vector<T> values(std::size_t{terminals.count} * field.count);
  engine.get_field(replica, 1, field, values.data());
  return values;
}

/// Returns why a closed loop has stopped, or "" if it can continue. It can continue while a terminal has a reply to
/// send, or has another request to create and room in its window.
std::string lost_transactions(const Experiment& e, const Engine& engine, u32 replica, const std::string& lost) {
  const auto has_loops = [](const FieldInfo& field) { return field.name == "loop"; };
  const auto& fields = engine.layout().kinds[1].fields;
  if (std::none_of(fields.begin(), fields.end(), has_loops)) return "";
  const u32 window = e.u32_of(param::traffic.window);
  const std::vector<LoopControl> loops = of_terminals<LoopControl>(engine, replica, "loop");
  const std::vector<TerminalControl> controls = of_terminals<TerminalControl>(engine, replica, "control");
  u32 waiting = 0, first = kNone;
  for (u32 i = 0; i < loops.size(); ++i) {
    const bool full = loops[i].outstanding >= window;
    if (loops[i].replies || loops[i].promised || (!full && controls[i].next.at != kNever)) return "";
    if (full && !waiting++) first = i;
  }
  if (!waiting) return "";
  return "the closed loop cannot continue: " + std::to_string(waiting) + " terminals (terminal " +
         std::to_string(first) + (waiting > 1 ? ", ..." : "") + ") have " + std::to_string(window) +
         " requests without a reply each, the limit of traffic.window, and " + lost + ".";
}

/// Returns which messages a program waits for that cannot come, or "" if it can continue. No packet must be under way.
/// Only programs whose messages are matched during the run can stop in this way: others have been checked before it.
std::string waiting_ranks(const Plan& plan, const Engine& engine, u32 replica) {
  constexpr u32 kMostShown = 4;
  const ProgramTable& p = *plan.facts().program;
  if (!p.receives) return "";
  const auto controls = of_terminals<ProgramControl>(engine, replica, "program");
  const auto arrived = of_terminals<u32>(engine, replica, "program_arrived");
  const auto match = of_terminals<u32>(engine, replica, "program_match");
  const auto name = [](u32 number) { return number == kNone ? "any rank" : "rank " + std::to_string(number); };
  std::string text;
  u32 waiting = 0;
  for (u32 rank = 0; rank < controls.size(); ++rank) {
    const ProgramControl& c = controls[rank];
    if (c.done) continue;
    const u32 terminal = rank / p.ranks;
    if (c.busy_until > engine.now() || c.draining || c.sending != c.next) return "";
    if (p.first[rank] + c.next == p.first[rank + 1]) return "";
    const ProgramCall& call = p.calls[p.first[rank] + c.next];
    if (call.kind == CallKind::kMatch) {
      if (match[terminal * p.receives + call.slot] != detail::kUnmatched) return "";
      const ProgramReceive& receive = p.receive[p.first_receive[terminal] + call.slot];
      if (waiting++ < kMostShown)
        text += (text.empty() ? "" : "; ") + name(receive.mailbox) + " waits for a message from " +
                name(receive.source) + (receive.tag == kNone ? "" : " with tag " + std::to_string(receive.tag));
    } else if (call.kind == CallKind::kReceive || call.kind == CallKind::kAfter) {
      if (arrived[terminal * p.slots + call.slot] >= call.amount) return "";
    } else {
      return "";
    }
  }
  if (!waiting) return "";
  if (waiting > kMostShown) text += " and so on, " + std::to_string(waiting) + " ranks in all";
  return "the program cannot continue: " + text +
         ". No such message is under way, because other receives took messages that these need (receives from any "
         "source or with any tag take the first that arrives). Give them a source or a tag.";
}

}  // namespace

std::string explain_stopped_traffic(const Experiment& e, const Plan& plan, const Engine& engine, u32 replica,
                                    const Totals& totals, const TraceFeed* feed) {
  const u64 created = total_of(totals, Total::kPacketsCreated), dropped = total_of(totals, Total::kPacketsDropped),
            misdelivered = total_of(totals, Total::kPacketsMisdelivered);
  if (created != total_of(totals, Total::kPacketsDelivered) + dropped) return "";
  const std::string& mode = e.str(param::traffic.mode);
  if (mode == "program" && dropped && total_of(totals, Total::kProgramsFinished) < plan.topology().terminals)
    return "the program cannot continue: " + std::to_string(dropped) + " packets of its messages were lost.";
  if (mode == "program")
    if (const std::string why = waiting_ranks(plan, engine, replica); !why.empty()) return why;
  if (feed && !feed->finished(created) &&
      feed->waits_for_lost_packets(created, total_of(totals, Total::kLastDelivery), engine.now()))
    return "the trace cannot continue: " + std::to_string(feed->packets() - created) +
           " packets need others that were lost (" + std::to_string(dropped) + ") or misdelivered (" +
           std::to_string(misdelivered) + ").";
  // A terminal may process a reply one cycle after the reply arrives.
  if (mode == "request_reply" && dropped + misdelivered && engine.now() > total_of(totals, Total::kLastDelivery) + 2)
    return lost_transactions(
        e, engine, replica,
        std::to_string(dropped) + " packets were lost and " + std::to_string(misdelivered) + " misdelivered");
  return "";
}

}  // namespace flitlab
