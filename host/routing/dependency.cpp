#include "host/routing/dependency.hpp"

#include <algorithm>

namespace flitlab {

bool DependencyGraph::has(u32 from, u32 to) const {
  return std::find(after_[from].begin(), after_[from].end(), to) != after_[from].end();
}

void DependencyGraph::add(u32 from, u32 to) {
  if (!has(from, to)) after_[from].push_back(to);
}

void DependencyGraph::remove(u32 from, u32 to) { std::erase(after_[from], to); }

std::vector<u32> DependencyGraph::path(u32 from, u32 to) const {
  std::vector<u32> before(after_.size(), kNone), stack{from};
  std::vector<bool> seen(after_.size(), false);
  while (!stack.empty()) {
    const u32 at = stack.back();
    stack.pop_back();
    for (u32 next : after_[at]) {
      if (next == to) {
        std::vector<u32> found{to};
        for (u32 c = at; c != from; c = before[c]) found.push_back(c);
        found.push_back(from);
        std::reverse(found.begin(), found.end());
        return found;
      }
      if (seen[next] || next == from) continue;
      seen[next] = true;
      before[next] = at;
      stack.push_back(next);
    }
  }
  return {};
}

std::vector<u32> DependencyGraph::cycle() const {
  // A channel without a predecessor is not on a cycle. Such channels are removed until every channel left has a
  // predecessor.
  std::vector<u32> incoming(after_.size(), 0), ready;
  for (const auto& list : after_)
    for (u32 next : list) ++incoming[next];
  for (u32 c = 0; c < after_.size(); ++c)
    if (!incoming[c]) ready.push_back(c);
  std::vector<bool> cleared(after_.size(), false);
  while (!ready.empty()) {
    const u32 c = ready.back();
    ready.pop_back();
    cleared[c] = true;
    for (u32 next : after_[c])
      if (!--incoming[next]) ready.push_back(next);
  }
  for (u32 c = 0; c < after_.size(); ++c) {
    if (cleared[c]) continue;
    if (std::vector<u32> found = path(c, c); !found.empty()) return found;
  }
  return {};
}

}  // namespace flitlab
