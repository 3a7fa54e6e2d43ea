#pragma once
/// The parts that the plans of all router models share: traffic tables, the terminals' part of the state layout, and
/// the choice of an engine.
#include <algorithm>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "host/plan/flows.hpp"
#include "host/plan/plan.hpp"
#include "host/programs/program.hpp"
#include "host/topology/patterns.hpp"
#include "kernels/traffic/terminal_state.hpp"

namespace flitlab {

/// Storage of the arrays to which a LengthTable points.
struct PacketLengths {
  std::vector<u32> flits, cumulative;
  LengthTable set(const Lengths& lengths);
};

/// Traffic tables of an experiment. They point into this object, which must not be moved. With several classes of
/// packets, this object has the tables of class 0 and a TerminalPlan for each of the other classes. `groups`: sets
/// of terminals that send to one another, in the order in which patterns number them; if there are no groups, all
/// terminals send to one another. `devices`: terminals outside of all groups (I/O devices), which send and receive only
/// if a matrix, a trace or a program names them.
struct TerminalPlan {
  using Groups = std::vector<std::vector<u32>>;
  TerminalPlan(const Experiment& experiment, const Topology& topology, const Groups& groups = {},
               const std::vector<u32>& devices = {}, u32 class_number = 0);
  TerminalPlan(const TerminalPlan&) = delete;
  TerminalPlan& operator=(const TerminalPlan&) = delete;

  /// Returns the mean of a quantity over all packets that the experiment creates (mean_over_packets()).
  double mean_over(const PairValue& value) const;
  /// Returns the mean over all these packets of a quantity that depends on the packet's length in flits.
  double mean_over_lengths(const std::function<double(u32 flits)>& value) const;
  /// Returns the mean length of all these packets, flits; in a closed loop both requests and replies count.
  double mean_length() const;

  TrafficMode mode = TrafficMode::kOpen;
  TrafficTable table;
  double mean_flits = 1;          ///< mean length of the packets of an open loop, or of requests, flits; of class 0
  double share = 1;               ///< part of the load that this class offers
  u32 shortest = 1, longest = 1;  ///< lengths of the shortest and the longest packet of all classes, flits
  u32 active = 0;                 ///< number of terminals that are members of a group
  std::vector<std::string> warnings;

  /// Returns the number of packets of a batch, over all terminals; in a broadcast 1, because its root creates at least
  /// one; in other modes 0.
  u64 batch_packets() const;

  /// Returns this plan and the plans of further classes, by class.
  std::vector<const TerminalPlan*> classes() const;

 private:
  /// Makes the plans of further classes, and sets the tables of all.
  void set_priorities(const Experiment& experiment);
  void set_classes(const Experiment& experiment, const Topology& topology, const Groups& groups,
                   const std::vector<u32>& devices);
  double mean_over_own_lengths(const std::function<double(u32 flits)>& value) const;
  /// Returns a mean over all packets. `mean_of(plan)`: mean over the packets of one class.
  double mean_over_classes(const std::function<double(const TerminalPlan&)>& mean_of) const;
  void set_groups(const Groups& groups, const std::vector<u32>& devices);
  void set_injection(const Experiment& experiment);
  void set_pattern(const Experiment& experiment, const Topology& topology, const Groups& groups);
  void set_hot(const Experiment& experiment, const Topology& topology);
  void set_permutation(const std::string& pattern, const Topology& topology, const Groups& groups);
  void set_lengths(const Experiment& experiment);
  void set_replies(const Experiment& experiment);
  void set_all_to_all(const Experiment& experiment);
  void set_program(const Experiment& experiment);
  void set_matrix(TrafficMatrix matrix);
  void read_matrix_of(const Experiment& experiment);
  /// Takes the entries of each row of the matrix as rates, flits/cycle.
  void set_rates(const Experiment& experiment);
  /// Warns if the rows of a matrix of weights have different sums, because these sums have no effect.
  void compare_sums();
  /// Sets a pattern of exchange_partners(); if there are groups, each group has its own pattern.
  void set_exchange(const std::string& pattern, const Groups& groups);
  void set_next(const std::string& pattern, const Topology& topology);
  void set_region(const Experiment& experiment, const Topology& topology);
  /// Sets the order in which a terminal sends to its destinations, and how often it goes through them. `destinations`:
  /// their number.
  void set_turns(const Experiment& experiment, u32 destinations);
  /// Throws ConfigError if a terminal that a parameter names is neither in a group nor a device.
  void require_active(std::string_view path, u32 terminal) const;

  std::vector<TrafficGroup> groups_;
  std::vector<u32> members_;
  std::vector<bool> takes_part_;  ///< [terminals] whether the terminal is in a group or is a device
  TrafficMatrix matrix_;
  std::vector<SourceRate> rates_;
  std::vector<u32> destinations_;
  PacketLengths packet_lengths_, reply_lengths_;
  Program program_;
  u32 class_number_ = 0;
  std::vector<std::unique_ptr<TerminalPlan>> more_;  ///< [class - 1]
  std::vector<TrafficTable> more_tables_;            ///< [class - 1] copies of their tables
};

/// Returns the largest number of packets of which a buffer can hold flits: the end of one packet, whole packets, and
/// the head of one more packet.
inline u32 most_packets_in_buffer(u32 buffer_flits, u32 shortest) {
  return buffer_flits < 2 ? 1 : std::min(buffer_flits, (buffer_flits - 2) / shortest + 2);
}

/// Returns the sizes of a terminal's fields. A terminal without virtual channels has its source queue and the fields of
/// its traffic mode.
TerminalSize terminal_size(const TrafficTable& traffic, TrafficMode mode, u32 vcs = 0, u32 ring = 0, u32 slots = 0);

/// Adds a kind of item to a layout and returns it; the kind has no fields yet.
ItemKind& add_kind(StateLayout& layout, const char* name, u32 count);

/// Add fields to the terminals' kind: the control of the terminal, and the fields for traces and programs. A model
/// whose terminals have no virtual channels adds its own fields before, between and behind these.
void add_terminal_control(ItemKind& kind, TerminalFields& fields);
void add_script_fields(ItemKind& kind, TerminalFields& fields, const TrafficTable& traffic, TrafficMode mode);
/// Adds the fields of a closed loop: transactions and queued replies.
void add_loop_fields(ItemKind& kind, TerminalFields& fields, const TrafficTable& traffic, TrafficMode mode);

/// Returns how the terminals' state changes while the traffic of a program repeats itself. A model adds its routers.
Motion terminal_motion(const TrafficTable& traffic, TrafficMode mode, u32 slots, u32 vcs, u32 ring);
/// Index in Motion::buffers of the descriptors of packets that arrive at terminals, a buffer for each VC.
inline constexpr u32 kTerminalPackets = 0;

/// Returns an item of a state. The caller must not change the item.
Item<1> item_of(const std::vector<std::byte>& state, const StateLayout& layout, u32 kind, u32 index);

/// Returns a snapshot of a terminal (item kind 1) that has `vcs` virtual channels.
TerminalSnapshot terminal_snapshot(const std::vector<std::byte>& state, const StateLayout& layout,
                                   const TerminalFields& fields, u32 terminal, u32 vcs);

/// Returns the run parameters of all replicas, except their measurement windows.
std::vector<ReplicaRow> make_rows(const std::vector<Experiment>& replicas);

}  // namespace flitlab
