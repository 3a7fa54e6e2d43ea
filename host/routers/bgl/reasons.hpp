#pragma once
/// Reasons, as text, why the heads of the queues of a Blue Gene/L node have not left. Arbiters do not store their
/// decisions. So the grants of the last cycle are undone first. Then the kernel's functions show which heads could have
/// left, and which links or tokens the other heads lacked.
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
    bool bubble;  ///< the bubble rule applies to the VC
    bool stays;   ///< the packet continues in the same ring on the same VC
  };

  void undo_grants();
  /// const_cast, because Item has no const form; the item is only read.
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
  std::vector<std::byte> bytes_;  ///< the node's state with the last cycle's grants undone
  /// The node's control now; before links were granted; before links and reception FIFOs were granted.
  bgl::NodeControl present_, passing_, receiving_;
  u32 winner_[bgl::kDirections];  ///< `[direction]`: queue whose head was granted the link; kNone: no queue
  u64 received_ = 0;              ///< queues whose heads were granted their reception FIFOs (bits)
};

}  // namespace flitlab
