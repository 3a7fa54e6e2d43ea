#pragma once
/// The host's end of the special network. It holds the packets that software on the PEs sends, queues them in the PEs'
/// state ahead of time, and collects the answers.
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
  u32 node;  ///< node whose PE it has reached, by R_SGET_RTRN of the node that was read
  u64 value;
  Cycle cycle;
};

class SpecialFeed {
 public:
  explicit SpecialFeed(u32 pes) : queues_(pes), taken_(pes) {}

  /// The PE of `node` sends an SPUT. ConfigError for an unknown register, a value or deltas out of range.
  void put(u32 node, const Deltas& deltas, const std::string& name, u64 value);
  /// The PE of `node` sends an SGET. Returns the ticket that the answer repeats.
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

  std::vector<std::deque<SpecialPacket>> queues_;  ///< [PEs]
  std::vector<u32> taken_;                         ///< [PEs] answers collected
  std::vector<TimedAnswer> answers_;
  u32 tickets_ = 0;
  u64 waiting_ = 0;  ///< requests in queues_
};

}  // namespace flitlab::t3e
