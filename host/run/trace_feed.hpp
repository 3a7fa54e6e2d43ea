#pragma once
/// Packets from a trace file. It is read line by line, a little ahead of the clock, so that memory depends on the
/// number of packets that wait at their sources, not on the length of the file.
#include <algorithm>
#include <deque>
#include <fstream>
#include <string>
#include <unordered_set>
#include <vector>

#include "host/run/feed.hpp"

namespace flitlab {

class TraceFeed final : public Feed {
 public:
  /// Opens the trace file `path`. ConfigError if the file cannot be read. A wrong line is found later: exchange()
  /// throws ConfigError shortly before the line's cycle.
  TraceFeed(std::string path, PacketLimits limits);

  void exchange(Engine& engine, u32 replica) override;

  /// Returns whether every packet of the file has been delivered or dropped. `settled`: number of packets delivered or
  /// dropped.
  bool finished(u64 settled) const { return at_end_ && settled == packets_; }
  /// Returns whether the packets that are still to be created wait for packets that will never arrive. Requires that no
  /// packet is in flight. It is true if the cycles of all lines have passed, and all packets that waited for an arrival
  /// up to cycle `last_arrival` have been created.
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

 private:
  struct Line {
    Cycle cycle;
    u32 source;
    TraceEntry entry;
  };

  /// Largest distance, in packets, between a packet and an earlier packet that it waits for. Destinations are kept that
  /// long.
  static constexpr u32 kReach = 1u << 20;

  template <class Archive, class Self>
  static void visit(Archive& archive, Self& self) {
    archive(self.last_cycle_, self.packets_, self.first_open_, self.destinations_, self.queues_, self.arrived_,
            self.awaited_);
  }

  void open();
  void begin_lines(u64 offset);
  void read_until(u64 cycle);
  bool read_line();
  [[noreturn]] void fail(const std::string& what) const;
  bool has_arrived(u32 id) const { return id < first_open_ || arrived_[id - first_open_]; }

  std::string path_;
  std::ifstream file_;
  std::string text_;    ///< the line being read
  u64 line_ = 0;        ///< number of this line in the file, from 1
  u64 line_start_ = 0;  ///< byte offset of this line in the file
  u64 next_line_ = 0;   ///< byte offset of the line after it
  u64 size_ = 0;        ///< size of the file, bytes
  bool at_end_ = false, pending_ = false;
  Line next_{};  ///< line that has been read, but is not yet in `queues_`
  Cycle last_cycle_ = 0;
  u32 packets_ = 0;                ///< number of packets that have been put into `queues_` so far
  std::vector<u32> destinations_;  ///< `[id % kReach]`: destination of packet `id`
  std::deque<char> arrived_;       ///< `[id - first_open_]`: whether the packet has arrived
  u32 first_open_ = 0;  ///< number of the first packet that has not arrived; all packets before it have arrived
  std::unordered_set<u32> awaited_;  ///< packets for whose arrival entries in queues_ wait
};

}  // namespace flitlab
