#pragma once
/// Reasons, as text, why the heads of a Blue Gene/L node's queues have not left. Arbiters do not store their decisions,
/// so the last cycle's grants are undone first. Then the kernel's functions show which heads could have left, and the
/// links or tokens that others lacked.
#include <string>
#include <vector>

#include "host/routers/bgl/plan.hpp"
#include "kernels/routers/bgl/state.hpp"

namespace flitlab {

/// Returns the name of a link's virtual channel.
std::string bgl_vc_name(const bgl::Table& t, u32 vc);

class BglReasons {
 public:
  /// Reads a node's state at the beginning of cycle `now`.
  BglReasons(const BglPlan& plan, const std::vector<std::byte>& state, u32 node, Cycle now);

  /// Returns one line about the head of a queue; "" if the queue is empty.
  std::string of(u32 queue) const;

 private:
  struct Way {
    u32 direction, vc;
    bool bubble;  ///< the bubble rule applies
    bool stays;   ///< the packet continues along its ring on its VC
  };

  void undo_grants();
  /// Item has no const form.
  Item<1> node() const { return {const_cast<std::byte*>(bytes_.data())}; }
  bool has_begun(u16 end, u32 queue) const;
  std::string name(u32 queue) const;
  std::string names(u64 queues) const;
  Cycle time_of(u16 lower_half) const;
  std::vector<Way> ways_of(u32 queue) const;
  bool can_go(u32 queue) const;
  bool can_take(const Way& way) const;
  std::string why_not(u32 queue) const;
  std::string link_taken_by(u32 direction) const;
  std::string missing_tokens(const Way& way) const;
  std::string why_denied(u32 queue) const;
  std::string of_reception(const bgl::NodeControl& then, u32 queue) const;

  const BglPlan& plan_;
  const bgl::Table& t_;
  Cycle now_;
  std::vector<std::byte> bytes_;                    ///< the node's state with the last cycle's grants undone
  bgl::NodeControl present_, passing_, receiving_;  ///< now; before links were granted; before reception FIFOs were
  u32 winner_[bgl::kDirections];                    ///< `[direction]`: queue that was granted the link; kNone: no queue
  u64 received_ = 0;                                ///< queues whose head was granted its reception FIFO
};

}  // namespace flitlab
