#pragma once
/// Host side of the replay of a trace file. It reads the file line by line, a little ahead of the clock, writes each
/// terminal's next packets into its state, and collects the arrivals. Memory depends on the number of packets that wait
/// at their sources, not on the length of the file.
#include <algorithm>
#include <deque>
#include <fstream>
#include <string>
#include <unordered_set>
#include <vector>

#include "host/plan/archive.hpp"
#include "host/plan/plan.hpp"
#include "kernels/engines/engine.hpp"
#include "kernels/traffic/trace.hpp"

namespace flitlab {

class TraceFeed {
 public:
  /// Opens the trace file `path`. Packets must have `min_flits` to `max_flits` flits. Terminals must be below
  /// `terminals` and not in `dead`. `allow_self`: whether source and destination may be the same.
  /// `identifies_arrivals`: whether a packet may wait for the arrival of another packet. ConfigError if the file cannot
  /// be read. A wrong line is found later: exchange() throws ConfigError shortly before the line's cycle.
  TraceFeed(std::string path, u32 terminals, u32 max_flits, bool allow_self, std::vector<u32> dead = {},
            u32 min_flits = 1, bool identifies_arrivals = true);

  /// Fills the queues in the terminals' state, and reads which packets have arrived. Call it between cycles, whenever
  /// the clock is a multiple of kTraceQueue.
  void exchange(Engine& engine, u32 replica);

  /// Returns whether every packet of the file has been delivered or dropped. `settled`: number of packets delivered or
  /// dropped.
  bool finished(u64 settled) const { return at_end_ && settled == packets_; }
  /// Returns whether the packets that are still to be created wait for packets that will never arrive. Requires that no
  /// packet is in flight. It is true if the cycles of all lines have passed, and all packets that waited for an arrival
  /// up to cycle `last_arrival` have been created.
  bool waits_for_lost_packets(u64 created, u64 last_arrival, u64 now) const {
    return at_end_ && created < packets_ && now > std::max<u64>(last_cycle_, last_arrival) + 2 * kTraceQueue;
  }

  /// Returns whether all packets read so far have been delivered or dropped.
  bool settled(u64 settled) const { return settled == packets_; }
  /// Returns the cycle of the next packet that has not been read yet; kNever: end of file; 0: unknown.
  u64 next_cycle() const { return at_end_ ? kNever : pending_ ? next_.cycle : 0; }

  u64 packets() const { return packets_; }  ///< number of packets read so far

  /// Save and load the feed for checkpoints, without the contents of the file. load() throws ConfigError if the size of
  /// the file has changed.
  void save(Saver& saver) const;
  void load(Loader& loader);

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
  void collect(u32 terminal, const TraceArrival& arrival);

  std::string path_;
  u32 terminals_, min_flits_, max_flits_;
  bool allow_self_;           ///< whether a packet may be addressed to its source
  bool identifies_arrivals_;  ///< whether a packet may wait for the arrival of another packet
  std::vector<u32> dead_;
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
  /// `[terminal]`: packets that are not yet in the queue of the terminal's state.
  std::vector<std::deque<TraceEntry>> queues_;
  std::deque<char> arrived_;  ///< `[id - first_open_]`: whether the packet has arrived
  u32 first_open_ = 0;        ///< number of the first packet that has not arrived; all packets before it have arrived
  std::unordered_set<u32> awaited_;  ///< packets for whose arrival entries in queues_ wait
};

}  // namespace flitlab
