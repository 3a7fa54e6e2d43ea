#pragma once
/// Exact deadlock search: finds the largest set of blocked members (virtual channels, queues) in which every
/// alternative of each member also leads into the set. A packet that waits for any one of several resources is in the
/// set only if all of them are.
#include <string>
#include <vector>

#include "kernels/common/types.hpp"

namespace flitlab {

/// The waits-for graph of a state; each model implements it.
class WaitsFor {
 public:
  virtual ~WaitsFor() = default;
  virtual u64 size() const = 0;
  /// Returns whether a member can progress without another member's moving (or is empty).
  virtual bool can_move(u64 member) const = 0;
  /// Returns the members that block this one; it can move as soon as any of them has moved.
  virtual std::vector<u64> waits_for(u64 member) const = 0;
  virtual std::string name(u64 member) const = 0;
};

/// Returns "" if there is no deadlock; else how many `members` are blocked, and a cycle in which some of them wait for
/// one another.
std::string describe_deadlock(const WaitsFor& state, const std::string& members);

}  // namespace flitlab
