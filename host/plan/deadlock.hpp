#pragma once
/// Exact deadlock search. Members of the waits-for graph are virtual channels or queues. The deadlocked set is the
/// largest set of blocked members that can only be released by members of the same set. So a packet that may use any
/// one of several resources belongs to the set only if all of these resources do.
#include <string>
#include <vector>

#include "kernels/common/types.hpp"

namespace flitlab {

/// The waits-for graph of a state. Each model implements it.
class WaitsFor {
 public:
  virtual ~WaitsFor() = default;
  virtual u64 size() const = 0;
  /// Returns whether a member is empty, or can progress although no other member moves.
  virtual bool can_move(u64 member) const = 0;
  /// Returns the members for which a member waits. The member can move as soon as any of them has moved.
  virtual std::vector<u64> waits_for(u64 member) const = 0;
  virtual std::string name(u64 member) const = 0;
};

/// Returns "" if there is no deadlock. Otherwise returns a text with the number of blocked `members` (for example
/// "virtual channels") and a cycle in which some of them wait for one another.
std::string describe_deadlock(const WaitsFor& state, const std::string& members);

}  // namespace flitlab
