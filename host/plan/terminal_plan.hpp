#pragma once
/// The parts that the plans of all router models share: traffic tables, the terminals' part of the layout, the choice
/// of an engine.
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

/// Storage for a LengthTable.
struct PacketLengths {
  std::vector<u32> flits, cumulative;
  LengthTable set(const Lengths& lengths);
};

/// Traffic tables of an experiment. They point into this object, which must not be moved. `groups`: terminals that send
/// to one another, in the order in which patterns number them; without groups, all terminals are one group. `devices`:
/// terminals outside of all groups, which send and receive only as a matrix, a trace or a program specifies.
struct TerminalPlan {
  using Groups = std::vector<std::vector<u32>>;
  TerminalPlan(const Experiment& experiment, const Topology& topology, const Groups& groups = {},
               const std::vector<u32>& devices = {});
  TerminalPlan(const TerminalPlan&) = delete;
  TerminalPlan& operator=(const TerminalPlan&) = delete;

  /// Returns the mean of a quantity over all packets that the experiment creates (mean_over_packets()).
  double mean_over(const PairValue& value) const { return mean_over_packets(table, mode, value); }
  /// Returns the mean over the same packets of a quantity that depends on a packet's length in flits.
  double mean_over_lengths(const std::function<double(u32 flits)>& value) const;
  /// Returns the mean length of the same packets, flits; in a closed loop, of requests and replies.
  double mean_length() const;

  TrafficMode mode = TrafficMode::kOpen;
  TrafficTable table;
  double mean_flits = 1;          ///< open-loop packets or requests
  u32 shortest = 1, longest = 1;  ///< flits
  u32 active = 0;                 ///< terminals that are members of a group
  std::vector<std::string> warnings;

  /// Returns the packets of a batch, all terminals together; 1 in a broadcast, whose root creates at least one; 0 in
  /// other modes.
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
  /// Uses the rows of the matrix as rates, flits/cycle.
  void set_rates(const Experiment& experiment);
  /// Warns if the sums of rows of weights differ, because these sums have no effect.
  void compare_sums();
  /// Uses a pattern of exchange_partners(), within each group if there are groups.
  void set_exchange(const std::string& pattern, const Groups& groups);
  void set_region(const Experiment& experiment, const Topology& topology);
  /// Sets the order and number of turns of a terminal with this number of destinations.
  void set_turns(const Experiment& experiment, u32 destinations);
  /// Throws ConfigError unless a terminal that a parameter names is in a group or is a device.
  void require_active(std::string_view path, u32 terminal) const;

  std::vector<TrafficGroup> groups_;
  std::vector<u32> members_;
  std::vector<bool> takes_part_;  ///< [terminals] is in a group or a device
  TrafficMatrix matrix_;
  std::vector<SourceRate> rates_;
  std::vector<u32> destinations_;
  PacketLengths packet_lengths_, reply_lengths_;
  Program program_;
};

/// Returns the most packets that a buffer can hold parts of: the end of one, the head of another, and whole packets
/// between.
inline u32 most_packets_in_buffer(u32 buffer_flits, u32 shortest) {
  return buffer_flits < 2 ? 1 : std::min(buffer_flits, (buffer_flits - 2) / shortest + 2);
}

/// Returns the sizes of a terminal's fields. Without virtual channels a terminal has its source queue and the fields of
/// its traffic mode.
TerminalSize terminal_size(const TrafficTable& traffic, TrafficMode mode, u32 vcs = 0, u32 ring = 0, u32 slots = 0);

/// Appends a kind of item without fields.
ItemKind& add_kind(StateLayout& layout, const char* name, u32 count);

/// Add the terminals' control to their kind, and the fields for traces and programs. A model whose terminals have no
/// virtual channels adds its own fields before, between and behind them.
void add_terminal_control(ItemKind& kind, TerminalFields& fields);
void add_script_fields(ItemKind& kind, TerminalFields& fields, const TrafficTable& traffic, TrafficMode mode);
/// Adds the fields of a closed loop: transactions and queued replies.
void add_loop_fields(ItemKind& kind, TerminalFields& fields, const TrafficTable& traffic, TrafficMode mode);

/// Returns an item of a state; the caller must not change it.
Item<1> item_of(const std::vector<std::byte>& state, const StateLayout& layout, u32 kind, u32 index);

/// Returns a snapshot of a terminal (item kind 1) with `vcs` virtual channels.
TerminalSnapshot terminal_snapshot(const std::vector<std::byte>& state, const StateLayout& layout,
                                   const TerminalFields& fields, u32 terminal, u32 vcs);

/// Returns the cycle in which each terminal's program ended; kNever if it has not.
std::vector<Cycle> program_ends(const std::vector<std::byte>& state, const StateLayout& layout,
                                const ProgramFields& fields);

/// Returns the run parameters of all replicas, except their windows.
std::vector<ReplicaRow> make_rows(const std::vector<Experiment>& replicas);

}  // namespace flitlab
