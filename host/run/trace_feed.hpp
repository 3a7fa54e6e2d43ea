#pragma once
/// Packets from a trace file. It is read packet by packet, a little ahead of the clock, so that memory depends on the
/// number of packets that wait at their sources, not on the length of the file.
#include <algorithm>
#include <deque>
#include <map>
#include <unordered_set>
#include <vector>

#include "host/run/feed.hpp"
#include "host/run/trace_reader.hpp"

namespace flitlab {

class TraceFeed final : public Feed {
 public:
  /// Opens the trace file of an experiment. ConfigError if the file cannot be read. A wrong packet is found later:
  /// exchange() throws ConfigError shortly before the packet's cycle.
  TraceFeed(const Experiment& experiment, PacketLimits limits);

  void exchange(Engine& engine, u32 replica) override;

  /// Returns whether every packet of the file has been delivered or dropped. `settled`: number of packets delivered or
  /// dropped.
  bool finished(u64 settled) const { return at_end_ && settled == packets_; }
  /// Returns whether the packets that are still to be created wait for packets that will never arrive. Requires that no
  /// packet is in flight. It is true if the cycles of all packets have passed, and all packets that waited for an
  /// arrival up to cycle `last_arrival` have been created.
  bool waits_for_lost_packets(u64 created, u64 last_arrival, u64 now) const {
    return at_end_ && created < packets_ && now > std::max<u64>(last_cycle_, last_arrival) + 2 * kTraceQueue;
  }

  bool settled(u64 settled) const override { return settled == packets_; }
  u64 next_cycle() const override { return at_end_ ? kNever : pending_ ? next_.cycle : 0; }

  u64 packets() const { return packets_; }  ///< number of packets read so far

  /// Save and load the feed without the contents of the file. load() throws ConfigError if the size of the file has
  /// changed.
  void save(Saver& saver) const override;
  void load(Loader& loader) override;

 protected:
  void arrived(u32 terminal, const TraceArrival& arrival) override;
  bool may_move(u32 terminal, const TraceEntry& entry) override;

 private:
  /// Largest distance, in packets, between a packet and an earlier packet that it waits for. Destinations are kept that
  /// long.
  static constexpr u32 kReach = 1u << 20;
  /// Most packets that a packet can need.
  static constexpr u32 kMostNeeds = 64;

  template <class Archive, class Self>
  static void visit(Archive& archive, Self& self) {
    archive(self.last_cycle_, self.packets_, self.first_open_, self.destinations_, self.queues_, self.arrived_,
            self.awaited_);
  }

  void check(const TracePacket& packet) const;
  void read_until(u64 now);
  void queue(const TracePacket& packet, u64 now);
  u32 take_further_need(u32 packet);
  bool has_arrived(u32 id) const { return id < first_open_ || arrived_[id - first_open_]; }

  bool window_, self_throttling_;
  std::unique_ptr<TraceReader> reader_;
  bool at_end_ = false, pending_ = false;
  TracePacket next_{};  ///< packet that has been read, but is not yet in `queues_`
  Cycle last_cycle_ = 0;
  u32 packets_ = 0;                ///< number of packets that have been put into `queues_` so far
  std::vector<u32> destinations_;  ///< `[id % kReach]`: destination of packet `id`
  std::deque<char> arrived_;       ///< `[id - first_open_]`: whether the packet has arrived
  u32 first_open_ = 0;  ///< number of the first packet that has not arrived; all packets before it have arrived
  std::unordered_set<u32> awaited_;  ///< packets for whose arrival entries in queues_ wait
  /// For entries in queues_: packets that they need beside TraceEntry::needs.
  std::multimap<u32, u32> further_;
  std::optional<TerminalField<TraceNeed>> needs_;  ///< the same for entries in the terminals' state
  bool needs_changed_ = false;
};

}  // namespace flitlab
