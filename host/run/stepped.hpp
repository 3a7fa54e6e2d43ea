#pragma once
/// A network that the caller steps. Between steps the caller can inspect, save and restore it; its events can be
/// traced.
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "host/plan/inspection.hpp"
#include "host/plan/plan.hpp"
#include "host/run/host_feed.hpp"
#include "host/run/skips.hpp"
#include "host/run/work_slicer.hpp"

namespace flitlab {

struct TimedEvent {
  u64 cycle;
  bool terminal;  ///< true: event of a terminal; false: of a router
  u32 index;
  Event event;
};

struct ChannelUse {
  u32 router, port;  ///< router and its output port at which the channel begins
  u32 flits;         ///< number of flits carried since cycle 0, modulo 2^32
};

/// A channel between two routers: the output port at which it begins, and the input port at which it ends.
struct ChannelEnds {
  u32 router, port, to_router, to_port;
  u32 cycles = 0;  ///< Plan::channel_cycles()
  Channel own;     ///< delay and width of this channel, if they are not as for the others
};

class SteppedNetwork {
 public:
  /// `trace`: whether to record the events of every cycle (slower; CPU only).
  SteppedNetwork(const Experiment& experiment, const std::string& backend, u32 threads, bool trace);

  void step(u64 cycles);
  u64 cycle() const { return engine_->now(); }

  /// Packets from the caller, with traffic.mode = "host"; otherwise these functions throw ConfigError.
  /// Offers packets to their sources; see HostFeed::offer().
  std::size_t offer(std::span<const OfferedPacket> packets);
  /// Return the number of packets that wait at a source, of all classes or of one: offered, and their head has not left
  /// the source queue.
  u32 waiting(u32 source);
  u32 waiting(u32 source, u32 of_class);
  /// Returns the number of classes of packets that the caller may offer (traffic.classes).
  u32 classes() { return host().limits().classes; }
  /// Returns how many flits of the packet being sent each source has not sent, [terminal][class].
  std::vector<u32> flits_left() { return host().flits_left(*engine_, 0); }
  /// Steps until a packet arrives, or to cycle `limit`. Returns whether there are packets to take. With a limit from
  /// kEndOfTime on it does not step if no packet is on its way.
  bool step_to_arrival(u64 limit);
  /// Returns the number of packets that have arrived and have not been taken.
  std::size_t arrivals();
  /// Takes packets that have arrived, at most `most`, by cycle, destination and source.
  std::vector<ArrivedPacket> take_arrivals(std::size_t most = ~std::size_t{0});

  std::string state_hash() const;
  const PlanFacts& facts() const { return plan_->facts(); }
  std::vector<std::string> warnings() const { return facts().warnings; }
  /// Return the tree of a router's ports with their virtual channels, or of a terminal. ConfigError if there is no such
  /// index.
  InspectNode router(u32 index) const;
  InspectNode terminal(u32 index) const;
  /// Returns the ports of a router as plain numbers, without names and notes in the machine's terms. This is faster for
  /// a caller that reads all routers.
  std::vector<PortSnapshot> ports(u32 router) const;
  /// Returns the occupancy of a router. `ports`: result of ports(router).
  Fill fill(u32 router, const std::vector<PortSnapshot>& ports) const;
  std::string_view fill_of() const;  ///< unit of fill()
  u32 queued(u32 terminal) const;    ///< number of packets in the terminal's source queue
  const StateLayout& layout() const { return plan_->layout(); }
  /// Returns the complete state of an item as a tree. `kind`: a kind of item in the layout, for example "router".
  InspectNode item(const std::string& kind, u32 index) const;
  /// Returns the state of a router as bytes in canonical order. The bytes are valid until the next step or operation.
  std::span<const std::byte> router_bytes(u32 index) const;
  std::string router_name(u32 index) const;
  u32 routers() const { return plan_->topology().routers; }
  u32 terminals() const { return plan_->topology().terminals; }
  /// Return the operations that the machine offers to software between cycles, and its registers; empty if there are
  /// none.
  const std::vector<Operation>& operations() const;
  const std::vector<RegisterRecord>& registers() const;
  /// Executes an operation between cycles. ConfigError if the name or an argument is wrong.
  Datum call(std::string_view operation, Datum::Map arguments);
  /// Returns warnings about operations since the last call. These operations have been carried out.
  std::vector<std::string> take_warnings();
  /// Returns the cycle in which each terminal's program ended (Plan::program_ends).
  std::vector<u32> program_ends() const { return plan_->program_ends(state()); }
  /// Returns the totals since cycle 0, by name. Totals that only audits write are left out.
  std::map<std::string, u64> totals();
  /// Returns for each router-to-router channel the number of flits that it has carried (Plan::channel_flits).
  std::vector<ChannelUse> channels() const;
  /// Returns both ends of each router-to-router channel, in the order of channels().
  std::vector<ChannelEnds> links() const;
  /// Throws RunError if flits have been lost, the state is damaged, the network is deadlocked, or its traffic cannot
  /// continue.
  void check();
  std::vector<TimedEvent> take_events();
  /// Returns the name of the event kind that only this router model has.
  std::string_view own_event() const;

  /// Writes a checkpoint. A network that loads it continues bit by bit as this network would. ConfigError if the file
  /// cannot be written.
  void save(const std::string& path);
  /// Loads a checkpoint. ConfigError unless the file is an undamaged checkpoint of the same configuration.
  void load(const std::string& path);
  /// Copies state, counters and clock from another network. It must have the same configuration, but may differ in
  /// tracing.
  void go_on_from(const SteppedNetwork& other);

 private:
  void require_router(u32 index) const;
  void require_terminal(u32 index) const;
  void advance(u32 cycles);
  HostFeed& host();
  /// Returns the state in canonical order. It is copied only once between two steps, even if the caller reads all
  /// routers one by one.
  const std::vector<std::byte>& state() const;
  /// Number of copies: `state_`, which keeps its memory even when it is out of date.
  static constexpr u32 kKeptStates = 1;
  void require_room_to_load() const;
  void save_state(Saver& saver) const;
  void load_state(Loader& loader);

  Experiment experiment_;
  std::unique_ptr<Plan> plan_;
  std::unique_ptr<Engine> engine_;
  mutable std::vector<std::byte> state_;  ///< copy of the state; empty: out of date
  Feeds feeds_;                           ///< one feed if packets come from the host; otherwise empty
  HostFeed* host_ = nullptr;              ///< the feed if the caller offers packets; otherwise null
  Skips skips_;
  WorkSlicer slicer_;
  std::unique_ptr<Console> console_;  ///< null: the machine has no console
  bool trace_;
  std::vector<TimedEvent> events_;
};

}  // namespace flitlab
