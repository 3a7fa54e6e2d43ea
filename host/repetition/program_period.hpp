#pragma once
/// What the ranks of a program did in a period, and how often their calls let them do the same again. Between two
/// repetitions each rank either moves on by a number of calls, to calls that have the same effect, or passes on the
/// same number of further packets of one long message.
#include <functional>
#include <vector>

#include "host/plan/motion.hpp"
#include "host/repetition/elements.hpp"
#include "host/repetition/snapshot.hpp"

namespace flitlab {

class ProgramPeriod {
 public:
  /// The arguments must outlive the object.
  ProgramPeriod(const StateLayout& layout, const Motion& motion);

  /// Compares what ranks have reached. Returns false if they cannot repeat what they did.
  bool begin(const Glance& before, const Glance& after);
  /// Returns by how many numbers packets of a source move on that are like packet `id` in the first snapshot.
  u32 packets_moved(u32 source, u32 id) const { return ranks_[rank_of_packet(source, id)].packets; }
  /// Returns the packets that a terminal created in the period.
  u32 packets_created(u32 terminal) const;
  /// States that a packet, or one that is like it, may arrive in the period.
  void note(u32 source, u32 id);
  /// Returns how often the period can be repeated, at most `most`. Follows begin() and note().
  u64 repeats(const Period& period, u64 most);
  /// Moves a copy of the second snapshot on by `times` repetitions. Times in it have been moved.
  void move_on(const Period& period, Snapshot& next, u64 times) const;

 private:
  /// What a rank did in the period.
  struct Rank {
    u32 next = 0, sending = 0;  ///< calls, in the first snapshot
    u32 calls = 0;              ///< by which it moved on
    u32 handed = 0;             ///< packets of the same message, if it did not move on
    u32 packets = 0;            ///< that it passed to the network interface
    u32 messages = 0;           ///< by which the numbers of the messages that it receives moved on
    u32 lowest = kNone;         ///< lowest number of a packet in the network, in the first snapshot
    u32 live = 0;               ///< first message in the first snapshot that matters, if `messages` is not 0
  };

  const ProgramCall* calls(u32 rank) const { return p_.calls + p_.first[rank]; }
  u32 count(u32 rank) const { return p_.first[rank + 1] - p_.first[rank]; }
  u32 rank_of_packet(u32 terminal, u32 id) const;
  u32 rank_of_message(u32 terminal, u32 slot) const;
  u32 packets_before(u32 rank, u32 call) const;
  bool same_effect(u32 rank, u32 call, u32 distance) const;
  u64 repeats_of_calls(u32 rank, u64 most) const;
  u64 repeats_of_message(u32 rank, const ProgramControl& after) const;
  u64 repeats_of_arrivals(u32 rank, const Period& period);
  bool arrivals_move(u32 rank, const Period& period);
  void move_arrivals(u32 rank, const Period& period, std::vector<std::byte>& state, u64 times) const;

  const StateLayout& layout_;
  const ProgramTable& p_;
  const std::function<bool(u32, u32)>& draws_;
  Elements control_, arrived_, latest_;
  std::vector<Rank> ranks_;           ///< [terminals * ranks]
  std::vector<u32> first_packet_;     ///< [terminals * ranks] packets of the terminal in the calls of earlier ranks
  std::vector<u32> first_message_;    ///< [terminals * ranks + 1] messages to earlier ranks of all terminals
  std::vector<u32> first_slot_;       ///< [terminals * ranks] slot of the first message to the rank
  std::vector<u32> lowest_slot_;      ///< [calls] lowest slot of a receive from this call on, in the same rank
  std::vector<u32> message_packets_;  ///< [messages]
};

}  // namespace flitlab
