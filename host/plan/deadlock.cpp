#include "host/plan/deadlock.hpp"

#include <algorithm>

namespace flitlab {
namespace {

/// Returns the members of the deadlocked set; empty if there is no deadlock.
std::vector<u64> deadlocked(const WaitsFor& state) {
  std::vector<bool> blocked(state.size());
  for (u64 i = 0; i < blocked.size(); ++i) blocked[i] = !state.can_move(i);
  // Begin with all blocked members. Repeatedly remove the members that a member outside the set can release.
  for (bool changed = true; changed;) {
    changed = false;
    for (u64 i = 0; i < blocked.size(); ++i) {
      if (!blocked[i]) continue;
      const std::vector<u64> waits = state.waits_for(i);
      if (waits.empty() || std::any_of(waits.begin(), waits.end(), [&](u64 w) { return !blocked[w]; })) {
        blocked[i] = false;
        changed = true;
      }
    }
  }
  std::vector<u64> members;
  for (u64 i = 0; i < blocked.size(); ++i)
    if (blocked[i]) members.push_back(i);
  return members;
}

/// Returns members of the set that wait for one another in a cycle, starting from `from`, which is in the set.
std::vector<u64> waiting_cycle(const WaitsFor& state, u64 from) {
  std::vector<u64> walk{from};
  for (;;) {
    const u64 next = state.waits_for(walk.back()).front();
    const auto seen = std::find(walk.begin(), walk.end(), next);
    if (seen != walk.end()) return {seen, walk.end()};
    walk.push_back(next);
  }
}

}  // namespace

std::string describe_deadlock(const WaitsFor& state, const std::string& members) {
  const std::vector<u64> set = deadlocked(state);
  if (set.empty()) return "";
  const std::vector<u64> cycle = waiting_cycle(state, set.front());
  std::string text = std::to_string(set.size()) + " " + members + " are deadlocked; " + std::to_string(cycle.size()) +
                     " of them wait for one another in a cycle:";
  for (std::size_t i = 0; i < cycle.size() && i < 32; ++i)
    text += "\n  " + state.name(cycle[i]) + (i + 1 < cycle.size() ? " waits for" : " waits for the first");
  if (cycle.size() > 32) text += "\n  ... and " + std::to_string(cycle.size() - 32) + " more";
  return text;
}

}  // namespace flitlab
