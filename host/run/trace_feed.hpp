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

#include "host/plan/plan.hpp"
#include "host/run/checkpoint.hpp"
#include "kernels/engines/engine.hpp"
#include "kernels/traffic/trace.hpp"

namespace flitlab {

class TraceFeed {
 public:
  /// Opens `path`. Packets must have `min_flits` to `max_flits` flits. Terminals must be below `terminals` and not in
  /// `dead`; source and destination may be the same if `allow_self`; a packet may need another one if
  /// `identifies_arrivals`. ConfigError if the file cannot be read. exchange() throws ConfigError for a wrong line,
  /// shortly before its cycle.
  TraceFeed(std::string path, u32 terminals, u32 max_flits, bool allow_self, std::vector<u32> dead = {},
            u32 min_flits = 1, bool identifies_arrivals = true);

  /// Fills the terminals' queues and reads their arrivals. Call it between cycles, whenever the clock is a multiple of
  /// kTraceQueue.
  void exchange(Engine& engine, u32 replica);

  /// Returns whether every packet of the file has been delivered or dropped; `settled`: packets delivered or dropped.
  bool finished(u64 settled) const { return at_end_ && settled == packets_; }
  /// Returns whether packets that are still to be created wait for packets that will never arrive, if no packet is in
  /// flight: the cycles of all lines have passed, and packets that needed an arrival up to `last_arrival` were created.
  bool waits_for_lost_packets(u64 created, u64 last_arrival, u64 now) const {
    return at_end_ && created < packets_ && now > std::max<u64>(last_cycle_, last_arrival) + 2 * kTraceQueue;
  }

  /// Returns whether all packets read so far have been delivered or dropped.
  bool settled(u64 settled) const { return settled == packets_; }
  /// Returns the cycle of the next packet that has not been read yet; kNever: end of file; 0: unknown.
  u64 next_cycle() const { return at_end_ ? kNever : pending_ ? next_.cycle : 0; }

  u64 packets() const { return packets_; }  ///< read so far

  /// Checkpoints, without the file. load() throws ConfigError if the size of the file has changed.
  void save(Saver& saver) const;
  void load(Loader& loader);

 private:
  struct Line {
    Cycle cycle;
    u32 source;
    TraceEntry entry;
  };

  /// How many packets back a line may name a needed packet; destinations are kept that long.
  static constexpr u32 kReach = 1u << 20;

  template <class Archive, class Self>
  static void visit(Archive& archive, Self& self) {
    archive(self.last_cycle_, self.packets_, self.first_open_, self.destinations_, self.queues_, self.arrived_,
            self.awaited_);
  }

  void open();
  void read_until(u64 cycle);
  bool read_line();
  [[noreturn]] void fail(const std::string& what) const;
  bool has_arrived(u32 id) const { return id < first_open_ || arrived_[id - first_open_]; }
  void collect(u32 terminal, const TraceArrival& arrival);

  std::string path_;
  u32 terminals_, min_flits_, max_flits_;
  bool allow_self_;           ///< a packet may be addressed to its source
  bool identifies_arrivals_;  ///< a packet may need another one
  std::vector<u32> dead_;
  std::ifstream file_;
  std::string text_;    ///< the line being read
  u64 line_ = 0;        ///< its number in the file, from 1
  u64 line_start_ = 0;  ///< its byte offset
  u64 size_ = 0;        ///< of the file, bytes
  bool at_end_ = false, pending_ = false;
  Line next_{};  ///< read, but not yet in `queues_`
  Cycle last_cycle_ = 0;
  u32 packets_ = 0;                             ///< packets in `queues_` so far
  std::vector<u32> destinations_;               ///< `[id % kReach]`: destination of a packet
  std::vector<std::deque<TraceEntry>> queues_;  ///< `[terminal]`: packets not yet in the terminal's own queue
  std::deque<char> arrived_;                    ///< `[id - first_open_]`: whether the packet has arrived
  u32 first_open_ = 0;                          ///< all packets before this one have arrived
  std::unordered_set<u32> awaited_;             ///< packets that entries in queues_ wait for
  std::vector<TraceControl> controls_;          ///< temporary buffers of exchange()
  std::vector<TraceEntry> entries_;
  std::vector<TraceArrival> arrivals_;
};

}  // namespace flitlab
