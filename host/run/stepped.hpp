#pragma once
/// A network that is advanced by hand: looked into between steps, traced, saved and restored.
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "host/plan/plan.hpp"
#include "host/run/idle.hpp"
#include "host/run/pace.hpp"
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

  void step(u64 cycles);
  u64 cycle() const { return engine_->now(); }
  std::string state_hash() const;
  std::vector<std::string> warnings() const { return plan_->facts().warnings; }
  /// Ports of a router and their virtual channels, or a terminal. Throws ConfigError if there is none of that number.
  InspectNode router(u32 index) const;
  InspectNode terminal(u32 index) const;
  /// The same as plain numbers, without the machine's words: for whoever looks at all of them.
  std::vector<PortSnapshot> ports(u32 router) const;
  /// How full a router is; `ports` are what ports(router) returns.
  Fill fill(u32 router, const std::vector<PortSnapshot>& ports) const;
  std::string_view fill_of() const;  ///< what is counted there
  u32 queued(u32 terminal) const;    ///< packets in its source queue
  const StateLayout& layout() const { return plan_->layout(); }
  /// All that an item's state consists of: one of a kind of the layout, "router" for example.
  InspectNode item(const std::string& kind, u32 index) const;
  /// The bytes of the same of a router, in canonical order, up to the next step or operation.
  std::span<const std::byte> router_bytes(u32 index) const;
  std::string router_name(u32 index) const;
  u32 routers() const { return plan_->topology().routers; }
  u32 terminals() const { return plan_->topology().terminals; }
  /// What this machine offers software between cycles; empty: nothing.
  const std::vector<Operation>& operations() const;
  const std::vector<RegisterRecord>& registers() const;
  /// Carries out an operation. ConfigError if there is none of that name, or the arguments are wrong.
  Datum call(std::string_view operation, Datum::Map arguments);
  /// What users should know about operations since the last call of this, though they have been carried out.
  std::vector<std::string> take_warnings();
  /// Cycle in which each program ended; see Inspector.
  std::vector<u32> program_ends() const {
    return plan_->inspector() ? plan_->inspector()->program_ends(state()) : std::vector<u32>{};
  }
  /// What has been counted since cycle 0, by name.
  std::map<std::string, u64> totals();
  /// What every channel has carried since cycle 0, modulo 2^32; see Inspector::channel_flits.
  std::vector<ChannelUse> channels() const;
  /// Both ends of every channel, in the same order.
  std::vector<ChannelEnds> links() const;
  /// Throws RunError if flits have been lost, the state is damaged or channels wait for one another for ever.
  void check();
  std::vector<TimedEvent> take_events();
  /// Name of the events that only its router model has.
  std::string_view own_event() const;

  /// Writes a checkpoint; resuming from it continues bit by bit as if there had been no pause.
  void save(const std::string& path);
  /// Throws ConfigError if the file is not a whole, undamaged checkpoint of this very configuration.
  void load(const std::string& path);
  /// Takes over the state, counters and clock of a network of this very configuration, traced or not.
  void go_on_from(const SteppedNetwork& other);

 private:
  void require_router(u32 index) const;
  void require_terminal(u32 index) const;
  void advance(u32 cycles);
  /// The canonical state. Whoever looks at all routers, one by one, copies it once.
  const std::vector<std::byte>& state() const;
  static constexpr u32 kKeptStates = 1;  ///< `state_`, whose memory is not freed when the state changes
  void require_room_to_load() const;
  void save_state(Saver& saver) const;
  void load_state(Loader& loader);

  Experiment experiment_;
  std::unique_ptr<Plan> plan_;
  std::unique_ptr<Engine> engine_;
  mutable std::vector<std::byte> state_;  ///< as it was when last looked at; empty: it may have changed since
  std::vector<TraceFeed> feeds_;          ///< one if a trace is replayed
  Idle idle_;
  WorkPace pace_;
  std::unique_ptr<Console> console_;  ///< null: the machine has none
  bool trace_;
  std::vector<TimedEvent> events_;
};

}  // namespace flitlab
