#pragma once
/// Replay of a trace file, on the host's side: reads the file line by line, a little ahead of the clock, hands each
/// terminal its next packets, and collects what has arrived. Memory does not depend on the length of the file, only
/// on how many packets wait at their sources.
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
  /// Opens `path`. Packets may have `min_flits` to `max_flits` flits; terminals are numbered below `terminals`, and
  /// lines must not name `dead` ones, nor packets that they need unless `knows_arrivals`. ConfigError if it cannot be
  /// read; errors in a line are found when the clock comes near it.
  TraceFeed(std::string path, u32 terminals, u32 max_flits, bool to_itself, std::vector<u32> dead = {},
            u32 min_flits = 1, bool knows_arrivals = true);

  /// To be called between cycles, whenever the clock is a multiple of kTraceRing.
  void exchange(Engine& engine, u32 replica);

  /// True once every packet of the file has arrived or is lost, given how many have and are.
  bool finished(u64 settled) const { return at_end_ && settled == packets_; }
  /// Whether packets are still to be created though the time of all lines has come, and that of all that arrivals until
  /// `last_arrival` have set free: if nothing is under way, they never will be.
  bool waits_for_ever(u64 created, u64 last_arrival, u64 now) const {
    return at_end_ && created < packets_ && now > std::max<u64>(last_cycle_, last_arrival) + 2 * kTraceRing;
  }

  /// Whether all packets read so far have arrived or are lost.
  bool settled(u64 settled) const { return settled == packets_; }
  /// Cycle of the next packet that has not been read yet; kNever: none.
  u64 next_cycle() const { return at_end_ ? kNever : pending_ ? next_.cycle : 0; }

  u64 packets() const { return packets_; }  ///< read so far

  /// Everything but the file, for checkpoints. ConfigError if the file is not the one it was.
  void save(Saver& saver) const;
  void load(Loader& loader);

 private:
  struct Line {
    Cycle cycle;
    u32 source;
    TraceEntry entry;
  };

  /// How far back a line may name a packet: destinations are remembered that long.
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
  bool to_itself_;       ///< a packet may be for its own source
  bool knows_arrivals_;  ///< and may need another one
  std::vector<u32> dead_;
  std::ifstream file_;
  std::string text_;    ///< the line being read
  u64 line_ = 0;        ///< its number in the file, from 1
  u64 line_start_ = 0;  ///< its byte offset
  u64 size_ = 0;        ///< of the file, bytes
  bool at_end_ = false, pending_ = false;
  Line next_{};  ///< read, but not due yet
  Cycle last_cycle_ = 0;
  u32 packets_ = 0;                             ///< lines handed over
  std::vector<u32> destinations_;               ///< of packet id, at id % kReach; no longer than it needs be
  std::vector<std::deque<TraceEntry>> queues_;  ///< per terminal: due, but not yet in its ring
  std::deque<char> arrived_;                    ///< of packets from first_open_ on
  u32 first_open_ = 0;                          ///< all packets before this one have arrived
  std::unordered_set<u32> awaited_;             ///< packets that entries in queues_ wait for
  std::vector<TraceControl> controls_;          ///< scratch for exchange()
  std::vector<TraceEntry> entries_;
  std::vector<TraceArrival> arrivals_;
};

}  // namespace flitlab
