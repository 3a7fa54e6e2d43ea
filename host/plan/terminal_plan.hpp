#pragma once
/// What the plans of all router models have in common: the tables of the traffic, the terminals' part of the layout,
/// the choice of an engine.
#include <initializer_list>
#include <string>
#include <vector>

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

/// Tables of the traffic of an experiment. They point into the object, which must stay where it is. `others_only`: what
/// a terminal sends to itself does not enter the network. `groups`: terminals that send to one another, each in the
/// order in which patterns number them; without groups all do.
struct TerminalPlan {
  using Groups = std::vector<std::vector<u32>>;
  TerminalPlan(const Experiment& experiment, const Topology& topology, bool others_only = false,
               const Groups& groups = {});
  TerminalPlan(const TerminalPlan&) = delete;
  TerminalPlan& operator=(const TerminalPlan&) = delete;

  TrafficMode mode = TrafficMode::kOpen;
  TrafficTable table;
  double mean_flits = 1;
  u32 shortest = 1;  ///< flits
  u32 active = 0;    ///< terminals that are in a group

 private:
  void set_groups(const Groups& groups);
  void set_all_to_all(const Experiment& experiment);
  void set_program(const Experiment& experiment);
  void set_matrix(TrafficMatrix matrix);
  /// A pattern of exchange_partners(), within each group if there are any.
  void set_exchange(const std::string& pattern, const Groups& groups);
  void set_region(const Experiment& experiment, const Topology& topology);
  /// Order and number of turns of a terminal that has so many destinations.
  void set_turns(const Experiment& experiment, u32 destinations);
  /// Terminals that a parameter names must be in a group.
  void require_active(std::string_view path, u32 terminal) const;

  std::vector<TrafficGroup> groups_;
  std::vector<u32> members_;
  TrafficMatrix matrix_;
  std::vector<u32> destinations_;
  PacketLengths packet_lengths_, reply_lengths_;
  Program program_;
};

struct TerminalSize {
  u32 terminals;
  u32 vcs;    ///< of the channels to and from the router
  u32 ring;   ///< descriptors per virtual channel
  u32 slots;  ///< of mail
};

/// Describes what terminals need for traces and programs.
void add_script_fields(ItemKind& kind, TerminalFields& fields, const TrafficTable& traffic, TrafficMode mode);

/// Describes the terminals' state.
void add_terminal_kind(ItemKind& kind, TerminalFields& fields, const TrafficTable& traffic, TrafficMode mode,
                       const TerminalSize& size);

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

/// Position of a word in the '|'-separated list that an enum follows.
u8 word_index(const std::string& word, std::initializer_list<const char*> words);

}  // namespace flitlab
