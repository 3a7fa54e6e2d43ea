#pragma once
/// The host's end of the special network: what software on the PEs wants sent, handed to the PEs a little ahead of the
/// clock, and the answers they have got.
#include <array>
#include <deque>
#include <string>
#include <vector>

#include "host/run/checkpoint.hpp"
#include "kernels/engines/engine.hpp"
#include "kernels/routers/t3e/special_state.hpp"

namespace flitlab::t3e {

/// Hops of a special packet: primary X, Y, Z, then secondary X, Y, Z; negative: in the - direction.
using Deltas = std::array<int, 6>;

/// An answer to an SGET.
struct TimedAnswer {
  u32 ticket;
  u32 node;  ///< whose PE it has reached: where the R_SGET_RTRN of the node that was asked has sent it
  u64 value;
  Cycle cycle;
};

class SpecialFeed {
 public:
  explicit SpecialFeed(u32 pes) : queues_(pes), taken_(pes) {}

  /// The PE of `node` sends an SPUT. ConfigError for a register, a value or deltas that cannot be.
  void put(u32 node, const Deltas& deltas, const std::string& name, u64 value);
  /// It sends an SGET; returns the ticket that the answer will bear.
  u32 get(u32 node, const Deltas& deltas, const std::string& name);

  /// To be called between cycles, at least every kSpecialRing of them.
  void exchange(Engine& engine);

  /// Answers since the last call, in the order of their arrival.
  std::vector<TimedAnswer> take_answers();

  void save(Saver& saver) const { visit(saver, *this); }
  void load(Loader& loader) {
    const std::size_t pes = taken_.size();
    visit(loader, *this);
    Loader::require(queues_.size() == pes && taken_.size() == pes);
  }

 private:
  template <class Archive, class Self>
  static void visit(Archive& archive, Self& self) {
    archive(self.queues_, self.taken_, self.answers_, self.tickets_, self.waiting_);
  }

  void queue(u32 node, const Deltas& deltas, SpecialPacket packet);

  std::vector<std::deque<SpecialPacket>> queues_;  ///< [PEs]
  std::vector<u32> taken_;                         ///< [PEs] answers collected
  std::vector<TimedAnswer> answers_;
  u32 tickets_ = 0;
  u64 waiting_ = 0;  ///< requests in queues_
};

}  // namespace flitlab::t3e
