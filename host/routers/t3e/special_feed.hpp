#pragma once
/// The host's side of the special network, through which PEs write and read registers of other nodes (SPUT, SGET). It
/// queues the packets that software on the PEs sends, copies them into the PEs' state ahead of time, and collects the
/// answers.
#include <array>
#include <deque>
#include <string>
#include <vector>

#include "host/plan/archive.hpp"
#include "kernels/engines/engine.hpp"
#include "kernels/routers/t3e/special_state.hpp"

namespace flitlab::t3e {

/// Hops of a special packet: primary hops in X, Y and Z, then secondary hops in X, Y and Z. A negative number means
/// hops in the - direction.
using Deltas = std::array<int, 6>;

/// An answer to an SGET, with its time of arrival.
struct TimedAnswer {
  u32 ticket;
  u32 node;  ///< node whose PE received the answer; register R_SGET_RTRN of the node that was read decides which
  u64 value;
  Cycle cycle;
};

class SpecialFeed {
 public:
  explicit SpecialFeed(u32 pes) : queues_(pes), taken_(pes) {}

  /// Sends an SPUT, a write of a register, from the PE of `node`. ConfigError for an unknown register, or for a value
  /// or deltas out of range.
  void put(u32 node, const Deltas& deltas, const std::string& name, u64 value);
  /// Sends an SGET, a read of a register, from the PE of `node`. Returns a ticket, which the answer repeats.
  u32 get(u32 node, const Deltas& deltas, const std::string& name);

  /// Exchanges requests and answers with the PEs. Must be called between cycles, at least every kSpecialQueue cycles.
  void exchange(Engine& engine);

  /// Returns the answers since the last call, in the order of arrival.
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

  std::vector<std::deque<SpecialPacket>> queues_;  ///< [PEs] packets that the PE has not yet taken
  std::vector<u32> taken_;                         ///< [PEs] number of answers collected
  std::vector<TimedAnswer> answers_;
  u32 tickets_ = 0;  ///< number of tickets given out
  u64 waiting_ = 0;  ///< number of requests in queues_
};

}  // namespace flitlab::t3e
