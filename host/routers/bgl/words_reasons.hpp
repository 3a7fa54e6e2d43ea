#pragma once
/// Why the head of a queue of a Blue Gene/L node is still where it is, in words. Arbiters keep no record of what they
/// have decided, but what has left can be put back: then the node is as they found it in the cycle before, and the
/// kernel's own rules say who could have left, and what others lacked.
#include <string>
#include <vector>

#include "host/routers/bgl/plan.hpp"
#include "kernels/routers/bgl/state.hpp"

namespace flitlab {

/// What a virtual channel of a link is called.
std::string bgl_vc_name(const bgl::Table& t, u32 vc);

class BglReasons {
 public:
  /// A node at the beginning of cycle `now`.
  BglReasons(const BglPlan& plan, const std::vector<std::byte>& state, u32 node, Cycle now);

  /// Of the head of a queue: "" if it has none, else one line.
  std::string of(u32 queue) const;

 private:
  struct Way {
    u32 direction, vc;
    bool bubble;  ///< the bubble rule holds for it
    bool stays;   ///< in the ring in which it is
  };

  void put_back();
  /// Item has no form for those who only read.
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
  std::string tokens_lack(const Way& way) const;
  std::string who_won(u32 queue) const;
  std::string of_reception(const bgl::NodeControl& then, u32 queue) const;

  const BglPlan& plan_;
  const bgl::Table& t_;
  Cycle now_;
  std::vector<std::byte> bytes_;                    ///< of the node, as it was
  bgl::NodeControl present_, passing_, receiving_;  ///< now; when links were given away; before that, FIFOs
  u32 winner_[bgl::kDirections];                    ///< queue that got a link; kNone: nobody
  u64 received_ = 0;                                ///< queues whose head began to go into a reception FIFO
};

}  // namespace flitlab
