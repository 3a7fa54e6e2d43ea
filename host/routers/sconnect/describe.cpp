/// Text about a TIC: its buffer pool, reservations of queues, and slots of channels.
#include "host/routers/sconnect/plan.hpp"
#include "kernels/routers/sconnect/tic.hpp"

namespace flitlab {

Fill SconnectPlan::fill(const std::vector<std::byte>& state, u32 index, const std::vector<PortSnapshot>&) const {
  return {item_of(state, layout_, 0, index).at(table_.fields.control).used, table_.buffers};
}

void SconnectPlan::describe_router(const std::vector<std::byte>& state, u32 index, Cycle now,
                                   std::vector<PortSnapshot>& ports) const {
  const sconnect::Table& t = table_;
  const Item<1> tic = item_of(state, layout_, 0, index);
  const sconnect::TicControl& control = tic.at(t.fields.control);
  const std::string pool = "pool: " + std::to_string(control.used) + " of " + std::to_string(t.buffers) +
                           " buffers in use, " + std::to_string(control.reserved) + " reserved";

  const auto slots = [&](u32 port) -> std::string {
    const sconnect::Link& link = fabric_.link(index, port);
    if (!link.round) return "";
    u32 held = 0;
    for (u32 i = 0; i < link.round; ++i)
      held += tic.at(t.fields.slot, t.slot_first[index * sconnect::kPorts + port] + i).buffer != sconnect::kNoBuffer;
    return "; of " + std::to_string(link.round) + " slots " + std::to_string(held) + " hold messages, and slot " +
           std::to_string(now % link.round) + " is next";
  };

  for (u32 p = 0; p < ports.size(); ++p) {
    if (ports[p].peer == kNone) continue;
    ports[p].note = pool + slots(p);
    for (u32 v = 0; v < ports[p].vcs.size(); ++v) {
      ports[p].vcs[v].name = "queues, VC " + std::to_string(v);
      for (u32 priority = sconnect::kPriorities; priority-- > 0;) {
        const u32 q = p * sconnect::kQueuesOfPort + priority * sconnect::kVcs + v;
        const u32 reservation = sconnect::reserved_buffers(t, index, q), held = control.held[q];
        if (!reservation && !held) continue;
        std::string& note = ports[p].vcs[v].note;
        note += (note.empty() ? "" : "; ") + std::string("priority ") + std::to_string(priority) + ": " +
                std::to_string(held) + " buffered, " + std::to_string(reservation) + " reserved";
      }
    }
  }
}

}  // namespace flitlab
