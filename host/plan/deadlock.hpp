#pragma once
/// Deadlock, found exactly: the largest set of blocked members (virtual channels, queues) each of whose ways forward
/// leads into the set. A packet that waits for any one of several things is only in it if all of them are.
#include <string>
#include <vector>

#include "kernels/common/types.hpp"

namespace flitlab {

/// What a model says of a state.
class WaitsFor {
 public:
  virtual ~WaitsFor() = default;
  virtual u64 size() const = 0;
  /// Whether nothing but time stands between a member and progress (or it is empty).
  virtual bool can_move(u64 member) const = 0;
  /// Members any one of which, by moving, would let this one move.
  virtual std::vector<u64> waits_for(u64 member) const = 0;
  virtual std::string name(u64 member) const = 0;
};

/// "" if there is none; else how many `members` are blocked, and a cycle in which some of them wait for each other.
std::string describe_deadlock(const WaitsFor& state, const std::string& members);

}  // namespace flitlab
