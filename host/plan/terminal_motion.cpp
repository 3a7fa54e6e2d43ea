/// The terminals' part of the description of how a state changes while its traffic repeats itself.
#include "host/plan/terminal_plan.hpp"

namespace flitlab {

Motion terminal_motion(const TrafficTable& traffic, TrafficMode mode, u32 slots, u32 vcs, u32 ring) {
  Motion m;
  if (mode != TrafficMode::kTrace || !traffic.program.queued) {
    m.never = "traffic.mode is not \"program\"";
    return m;
  }
  if (traffic.program.receives) {
    m.never = "messages are matched during the run (a receive from any source or with any tag, or threads)";
    return m;
  }
  m.program = &traffic.program;
  m.quick = {"terminal.control.lane", "terminal.output.credits", "terminal.trace.entries"};
  m.buffers = {{"terminal.ring", vcs, ring, "terminal.first", "", "", slots + 1},
               {"terminal.trace_entry", 1, kTraceQueue, "terminal.trace.first", "terminal.trace.entries"},
               {"terminal.flit_mail", 1, slots},
               {"terminal.credit_mail", 1, slots}};
  m.counters = {"terminal.control.created", "terminal.control.sent", "terminal.control.received"};
  return m;
}

}  // namespace flitlab
