#pragma once
/// What the plans of all router models have in common: the tables of the traffic, the terminals' part of the layout,
/// the choice of an engine.
#include <algorithm>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "host/plan/flows.hpp"
#include "host/plan/plan.hpp"
#include "host/programs/program.hpp"
#include "host/topology/patterns.hpp"
#include "kernels/traffic/terminal_state.hpp"

namespace flitlab {

/// Storage behind a LengthTable.
struct PacketLengths {
  std::vector<u32> flits, cumulative;
  LengthTable set(const Lengths& lengths);
};

/// Tables of the traffic of an experiment. They point into the object, which must stay where it is. `groups`: terminals
/// that send to one another, each in the order in which patterns number them; without groups all do. `devices`:
/// terminals outside of all groups, which send and receive only what a matrix, a trace or a program names.
struct TerminalPlan {
  using Groups = std::vector<std::vector<u32>>;
  TerminalPlan(const Experiment& experiment, const Topology& topology, const Groups& groups = {},
               const std::vector<u32>& devices = {});
  TerminalPlan(const TerminalPlan&) = delete;
  TerminalPlan& operator=(const TerminalPlan&) = delete;

  /// Mean of a quantity over all packets that the experiment creates (mean_over_packets()).
  double mean_over(const PairValue& value) const { return mean_over_packets(table, mode, value); }
  /// Mean over the same packets of a quantity that follows from a packet's length in flits.
  double mean_over_lengths(const std::function<double(u32 flits)>& value) const;
  /// Mean length of the same packets, flits: of a closed loop, of requests and replies.
  double mean_length() const;

  TrafficMode mode = TrafficMode::kOpen;
  TrafficTable table;
  double mean_flits = 1;          ///< of open-loop packets or of requests
  u32 shortest = 1, longest = 1;  ///< flits
  u32 active = 0;                 ///< terminals in a group
  std::vector<std::string> warnings;

  /// Packets of a batch, all terminals together; 0 in other modes, but 1 in a broadcast, whose root creates some.
  u64 batch_packets() const;

 private:
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
  /// The rows of the matrix are rates, flits/cycle.
  void set_rates(const Experiment& experiment);
  /// Warns if rows of weights differ in their sums, which do not count.
  void compare_sums();
  /// A pattern of exchange_partners(), within each group if there are any.
  void set_exchange(const std::string& pattern, const Groups& groups);
  void set_region(const Experiment& experiment, const Topology& topology);
  /// Order and number of turns of a terminal that has so many destinations.
  void set_turns(const Experiment& experiment, u32 destinations);
  /// ConfigError unless a terminal that a parameter names is in a group or a device.
  void require_active(std::string_view path, u32 terminal) const;

  std::vector<TrafficGroup> groups_;
  std::vector<u32> members_;
  std::vector<bool> takes_part_;  ///< [terminals] in a group, or a device
  TrafficMatrix matrix_;
  std::vector<SourceRate> rates_;
  std::vector<u32> destinations_;
  PacketLengths packet_lengths_, reply_lengths_;
  Program program_;
};

/// Packets that a buffer can hold parts of: at most the end of one, the head of another, and whole ones between.
inline u32 ring_places(u32 buffer_flits, u32 shortest) {
  return buffer_flits < 2 ? 1 : std::min(buffer_flits, (buffer_flits - 2) / shortest + 2);
}

/// Sizes of a terminal's fields. Without virtual channels it has the queue of its packets and what its mode adds.
TerminalSize terminal_size(const TrafficTable& traffic, TrafficMode mode, u32 vcs = 0, u32 ring = 0, u32 slots = 0);

/// A kind of item without fields as yet.
ItemKind& add_kind(StateLayout& layout, const char* name, u32 count);

/// Adds the terminals' control to their kind, and what they need for traces and programs. A model whose terminals have
/// no virtual channels adds fields of its own before, between and behind them.
void add_terminal_control(ItemKind& kind, TerminalFields& fields);
void add_script_fields(ItemKind& kind, TerminalFields& fields, const TrafficTable& traffic, TrafficMode mode);
/// What they need for a closed loop: transactions, and replies that wait.
void add_loop_fields(ItemKind& kind, TerminalFields& fields, const TrafficTable& traffic, TrafficMode mode);

/// An item of a state, which must not be changed.
Item<1> item_of(const std::vector<std::byte>& state, const StateLayout& layout, u32 kind, u32 index);

/// A terminal of a state (item kind 1), with `vcs` virtual channels.
TerminalSnapshot terminal_snapshot(const std::vector<std::byte>& state, const StateLayout& layout,
                                   const TerminalFields& fields, u32 terminal, u32 vcs);

/// Cycle in which each terminal's program ended; kNever if it has not.
std::vector<Cycle> program_ends(const std::vector<std::byte>& state, const StateLayout& layout,
                                const ProgramFields& fields);

/// Run parameters of all replicas, except their windows.
std::vector<ReplicaRow> make_rows(const std::vector<Experiment>& replicas);

}  // namespace flitlab
