#pragma once
/// Host side of traffic whose packets come from the host (kernels/traffic/trace.hpp): it writes each terminal's next
/// packets into the terminal's state, and reads which packets have arrived.
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/plan/archive.hpp"
#include "host/plan/plan.hpp"
#include "host/run/terminal_field.hpp"
#include "kernels/traffic/trace.hpp"

namespace flitlab {

/// Properties of a network that limit the packets that it can carry.
struct PacketLimits {
  PacketLimits(const Experiment& experiment, const Plan& plan);

  u32 terminals, min_flits, max_flits;
  u32 classes;                      ///< classes of packets
  bool allow_self;                  ///< whether a packet may be addressed to its source
  bool identifies_arrivals;         ///< whether a terminal can identify which packet has arrived
  std::vector<u32> dead_terminals;  ///< terminals that no channel reaches

  /// Returns which classes there are, for messages.
  std::string classes_text() const;
  /// Returns why the network cannot carry a packet, with the fix; "" if it can. `leave_out`: the fix if the packet must
  /// not be sent at all.
  std::string why_impossible(u64 source, u64 destination, u64 flits, const std::string& leave_out) const;
};

class Feed {
 public:
  virtual ~Feed() = default;

  const PacketLimits& limits() const { return limits_; }

  /// Returns whether exchange() is due before cycle `now`: in every multiple of kTraceQueue at least.
  virtual bool due(Cycle now) const { return now % kTraceQueue == 0; }
  /// Reads which packets have arrived, and fills the queues in the terminals' state. Call it between cycles.
  virtual void exchange(Engine& engine, u32 replica) = 0;
  /// Reads which packets have arrived.
  void collect(Engine& engine, u32 replica);

  /// Returns whether all packets that terminals have been given have been delivered or dropped. `settled`: number of
  /// packets delivered or dropped.
  virtual bool settled(u64 settled) const = 0;
  /// Returns the cycle of the next packet that terminals have not been given; kNever: there is none; 0: unknown.
  virtual u64 next_cycle() const = 0;

  /// Save and load the feed for checkpoints.
  virtual void save(Saver& saver) const = 0;
  virtual void load(Loader& loader) = 0;

 protected:
  explicit Feed(PacketLimits limits)
      : limits_(std::move(limits)), queues_(std::size_t{limits_.terminals} * limits_.classes) {}

  /// Takes note of the arrival of a packet at a terminal.
  virtual void arrived(u32 terminal, const TraceArrival& arrival) = 0;

  /// Moves packets from queues_ to the queues in the terminals' state: as many as fit, and only packets that may be
  /// created before the next exchange. Returns their number. `which`: indices of queues; null: all.
  u32 fill(Engine& engine, u32 replica, const std::vector<u32>* which = nullptr);

  /// Called before a packet moves to the queue in a terminal's state. Returns false if it must stay in queues_, with
  /// the packets after it.
  virtual bool may_move(u32 terminal, const TraceEntry& entry) {
    (void)terminal, (void)entry;
    return true;
  }

  /// Returns whether queues that have been loaded are possible. `is_known`: whether the feed knows the packet of an
  /// entry.
  template <class Known>
  bool has_sound_queues(Known&& is_known) const {
    for (const std::deque<TraceEntry>& queue : queues_)
      for (const TraceEntry& e : queue)
        if (!is_known(e) || e.destination >= limits_.terminals || e.flits < limits_.min_flits ||
            e.flits > limits_.max_flits)
          return false;
    return queues_.size() == std::size_t{limits_.terminals} * limits_.classes;
  }

  /// Returns the number of packets in the queue of a terminal's state for a class.
  u32 given(Engine& engine, u32 replica, u32 terminal, u32 of_class);

  /// Returns the index in queues_ of a terminal's queue for a class.
  std::size_t queue_of(u32 terminal, u32 of_class) const { return std::size_t{terminal} * limits_.classes + of_class; }

  PacketLimits limits_;
  /// `[terminal][class]`: packets that are not yet in the queue of the terminal's state.
  std::vector<std::deque<TraceEntry>> queues_;

 private:
  struct Fields {
    TerminalField<TraceControl> controls;
    TerminalField<TraceEntry> entries;
    TerminalField<TraceArrival> arrivals;
  };
  Fields& fields(Engine& engine, u32 replica);

  std::optional<Fields> fields_;  ///< of the engine that the feed exchanges packets with
};

/// One feed for each replica; empty if packets do not come from the host.
using Feeds = std::vector<std::unique_ptr<Feed>>;

}  // namespace flitlab
