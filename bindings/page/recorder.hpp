#pragma once
/// Frames of a network, cycle by cycle, for the scope in a page: what bindings/flitlab/scope/recorder.py writes in a
/// notebook. Frame c has the state before cycle c, and the events of cycle c - 1, which led there.
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bindings/page/json.hpp"
#include "host/config/experiment.hpp"
#include "host/run/stepped.hpp"

namespace flitlab {

/// A traced network of one experiment, which is stepped and written down.
class Recorder {
 public:
  static constexpr u32 kDrawn = 1024;  ///< routers at most; of more the first are drawn

  /// Throws ConfigError if the experiment can have no network.
  explicit Recorder(const Experiment& experiment);

  SteppedNetwork& network() { return *network_; }
  const std::string& deadlock() const { return deadlock_; }
  const std::vector<std::string>& stages() const { return stages_; }
  /// Whose whole state frames hold too.
  void inspect(u32 router) { inspected_ = {router}; }

  /// Puts what does not change: routers, their names, ports and peers, links, terminals.
  void put_network(Json& json) const;
  /// Puts the frame of the network as it is, complete: a recording begins anew.
  void put_first(Json& json);
  /// Advances by so many cycles and puts their frames.
  void put_steps(Json& json, u32 cycles);
  /// Advances without frames, by the fast engine.
  void skip(u32 cycles);
  /// The network at cycle 0 again.
  void reset();

 private:
  using Packet = std::pair<u32, u32>;  ///< source terminal and number there

  void put_frame(Json& json, const std::vector<TimedEvent>& events, bool complete);
  void put_events(Json& json, const std::vector<TimedEvent>& events) const;
  void put_rows(Json& json, bool complete);
  void put_queues(Json& json, const std::vector<TimedEvent>& events, bool complete);
  void put_use(Json& json);
  void put_latencies(Json& json, const std::vector<TimedEvent>& events);
  void look_for_deadlock();

  Experiment experiment_;
  std::unique_ptr<SteppedNetwork> network_;
  std::unique_ptr<SteppedNetwork> fast_;  ///< the same without events, which skips; null until it is asked for
  std::vector<u32> routers_;              ///< that are drawn
  u32 all_ = 0;                           ///< routers there are
  std::set<u32> inspected_;
  std::vector<std::string> stages_;
  std::vector<std::int64_t> rows_;
  std::map<u32, u32> queued_;  ///< by terminal of a drawn router
  std::vector<ChannelUse> carried_;
  std::map<Packet, u64> created_;  ///< cycle
  u64 flits_created_ = 0, flits_delivered_ = 0;
  std::string deadlock_;
};

}  // namespace flitlab
