#pragma once
/// A network that is advanced by hand: looked into between steps, traced, saved and restored.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "host/plan/plan.hpp"
#include "host/routers/t3e/special_feed.hpp"
#include "host/run/trace_feed.hpp"

namespace flitlab {

struct TimedEvent {
  u64 cycle;
  bool terminal;  ///< written by a terminal, else by a router
  u32 index;
  Event event;
};

struct ChannelUse {
  u32 router, port;  ///< where it begins
  u32 flits;
};

/// A channel between two routers: where it begins and where it ends.
struct ChannelEnds {
  u32 router, port, to_router, to_port;
};

class SteppedNetwork {
 public:
  /// `trace`: keep the events of every cycle stepped (slower; CPU only).
  SteppedNetwork(const Experiment& experiment, const std::string& backend, u32 threads, bool trace);

  void step(u32 cycles);
  u64 cycle() const { return engine_->now(); }
  std::string state_hash() const;
  std::vector<std::string> warnings() const { return plan_->warnings(); }
  /// Throws ConfigError if there is no such router or terminal.
  std::vector<PortSnapshot> router(u32 index) const;
  TerminalSnapshot terminal(u32 index) const;
  std::string router_name(u32 index) const;
  /// Registers of a node, for models that have them; see Plan.
  u64 read_register(u32 node, const std::string& name) const;
  std::map<std::string, u64> read_registers(u32 node) const;
  std::vector<std::string> write_register(u32 node, const std::string& name, u64 value);
  /// Barrier units of models that have them; see Plan.
  std::string barrier_state(u32 pe, u32 unit) const;
  void barrier_operation(u32 pe, u32 unit, const std::string& operation);
  BarrierSnapshot barrier_register(u32 node, u32 unit) const;
  /// The special network of a T3E (host/routers/t3e/special_feed.hpp). A PE sends what it is told in order, one a clock
  /// while the network is stepped. ConfigError if there is none.
  void special_put(u32 node, const t3e::Deltas& deltas, const std::string& name, u64 value);
  u32 special_get(u32 node, const t3e::Deltas& deltas, const std::string& name);
  std::vector<t3e::TimedAnswer> special_answers();
  /// Cycle in which each program ended; see Plan.
  std::vector<u32> program_ends() const { return plan_->program_ends(engine_->state(0)); }
  /// What has been counted since cycle 0, by name.
  std::map<std::string, u64> totals();
  /// What every channel has carried since cycle 0, modulo 2^32; see Plan::channel_flits.
  std::vector<ChannelUse> channels() const;
  /// Both ends of every channel, in the same order.
  std::vector<ChannelEnds> links() const;
  /// Control messages of models that have them; see Plan.
  u32 send_control(u32 terminal, const std::vector<ControlRequest>& requests);
  std::vector<ControlReply> take_replies(u32 terminal);
  void set_addresses(const std::vector<u32>& addresses) { plan_->set_addresses(*engine_, addresses); }
  /// Throws RunError if flits have been lost, the state is damaged or channels wait for one another for ever.
  void check();
  std::vector<TimedEvent> take_events();

  /// Writes a checkpoint; resuming from it continues bit by bit as if there had been no pause.
  void save(const std::string& path);
  /// Throws ConfigError if the file is not a whole, undamaged checkpoint of this very configuration.
  void load(const std::string& path);
  /// Takes over the state, counters and clock of a network of this very configuration, traced or not.
  void go_on_from(const SteppedNetwork& other);

 private:
  void require_router(u32 index) const;
  t3e::SpecialFeed& special_at(u32 node);
  void advance(u32 cycles);
  void save_state(Saver& saver) const;
  void load_state(Loader& loader);

  Experiment experiment_;
  std::unique_ptr<Plan> plan_;
  std::unique_ptr<Engine> engine_;
  std::vector<TraceFeed> feeds_;               ///< one if a trace is replayed
  std::unique_ptr<t3e::SpecialFeed> special_;  ///< none: there is no special network
  bool trace_;
  std::vector<TimedEvent> events_;
};

}  // namespace flitlab
