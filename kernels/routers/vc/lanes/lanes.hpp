#pragma once
/// Lane state of canonical routers for the CPU engine, with the interface that kernels/engines/lane_engine.hpp
/// requires.
#include <algorithm>
#include <bit>
#include <limits>

#include "kernels/engines/processor.hpp"
#include "kernels/engines/state_layout.hpp"
#include "kernels/routers/vc/lanes/code.hpp"
#include "kernels/routers/vc/lanes/wire.hpp"
#include "kernels/routers/vc/route.hpp"

namespace flitlab::vc::lanes {

/// Returns the lane code for this processor's vector width (kernels/engines/processor.hpp).
const Code& code_for(const CodeChoice& choice);

/// Returns whether terminals have scalar state where routers have lane state (scalar_terminals.hpp).
inline bool has_scalar_terminals(const VcTable& t) { return ScriptVcTable::fits(t); }

/// Returns the longest packet or reply of a plan's traffic, flits.
inline u32 longest_packet(const TrafficTable& traffic) {
  u32 longest = traffic.length_law == LengthLaw::kGeometric ? traffic.max_flits : 0;
  for (u32 c = 1; c < traffic.classes; ++c) longest = std::max(longest, longest_packet(traffic.more[c - 1]));
  for (const LengthTable* lengths : {&traffic.packets, &traffic.replies})
    for (u32 i = 0; lengths->flits && i < lengths->count; ++i)
      if (longest < lengths->flits[i]) longest = lengths->flits[i];
  return longest;
}

/// Returns the parameter that gives routers most of their ports, if these are too many.
inline const char* parameter_of_ports(const VcTable& t) {
  return t.algorithm == Algorithm::kTable ? "topology.file" : t.by_tables ? "topology.kind" : "topology.concentration";
}

/// Returns the parameter that keeps a plan's routers out of lane state; null if none does.
inline const char* excluded_from_lanes(const VcTable& t) {
  if (t.ports > kMostPorts) return parameter_of_ports(t);
  if (!compares_ranks(t.arbiter) && t.arbiter != ArbiterKind::kRoundRobin && t.arbiter != ArbiterKind::kMatrix &&
      t.arbiter != ArbiterKind::kFixedPriority)
    return "router.arbiter";
  if (t.vc_arbiter_by_port) return "router.vc_arbiter_by_port";
  if (t.vc_needs_credit) return "router.vc_needs_credit";
  if (t.early_vc_credits) return "router.early_vc_credits";
  if (t.hold_switch) return "router.hold_switch_for_packet";
  if (t.input_speedup > 1) return "router.input_speedup";
  if (t.output_speedup > 1) return "router.output_speedup";
  if (t.rounds > t.round_cycles) return "router.internal_speedup";
  if (t.selection != Selection::kMostCredits && !t.by_tables) return "routing.selection";
  if (t.stay_on_escape) return "routing.stay_on_escape";
  if (t.routing_delay > kMostDelay) return "router.routing_delay";
  if (t.allocation_delay > kMostDelay) return "router.vc_allocation_delay";
  return t.buffer_flits > 2047 ? "router.buffer_flits" : nullptr;
}
inline bool fits_lanes(const VcTable& t) { return !excluded_from_lanes(t); }

inline bool has_small_buffers(const VcTable& t) { return t.ring <= 31 && t.buffer_flits <= 63; }

/// Returns the least room that a plan needs. Packets of a trace may have any length.
inline Room room_of(const VcTable& t) {
  if (t.mode == TrafficMode::kTrace) return Room::kHuge;
  const u32 longest = longest_packet(t.traffic);
  if (longest <= 7 && t.ring <= 3 && t.buffer_flits <= 15) return Room::kTight;
  return longest <= 255 && has_small_buffers(t) ? Room::kRoomy : Room::kHuge;
}

/// Returns the least bits of an element: one for each port and virtual channel.
inline u32 element_bits(const VcTable& t) {
  // Matrix arbiters need a bit more (Conversion::extended).
  const u32 bits = std::max(t.ports, t.vcs) + (t.arbiter == ArbiterKind::kMatrix);
  // Terminals with lane state count the flits of a packet that they have not sent in an element.
  const bool counts = !has_scalar_terminals(t) && longest_packet(t.traffic) > 255;
  return bits > 16 ? 32 : bits > 8 || counts ? 16 : 8;
}

/// Returns whether a field lies only in the canonical state while routers have lane state and terminals do not. These
/// terminals, and the host that hands them a trace, work on the canonical state; lane state has only their inboxes.
inline bool is_shared_with_lanes(const VcTable& t, u32 kind, const FieldInfo& field) {
  const TerminalFields& fields = t.terminal_fields;
  return kind == 1 && field.offset != fields.flit_mail.offset && field.offset != fields.credit_mail.offset;
}

/// How many cycles a lane block may run ahead of other lane blocks.
struct Lookahead {
  u32 cycles;  ///< most cycles ahead: flits and credits that a block sends in these cycles are read only after them
  u32 slots;   ///< cycles for which slots are kept, so that a block ahead does not overwrite unread flits and
               ///< credits
};
inline Lookahead lookahead_of(const VcTable& t) {
  constexpr u32 kMostSlots = 16;  // more take memory and save little where links are long
  u32 first = t.channel ? kNone : std::min(t.link_delay, t.credit_delay);
  u32 last = t.channel ? 0 : std::max(t.link_delay, t.credit_delay);
  for (u32 i = 0; t.channel && i < t.routers * t.network_ports; ++i)
    for (u32 delay : {t.channel[i].link_delay, t.channel[i].credit_delay}) {
      if (t.peers[i / t.network_ports * t.ports + i % t.network_ports].item == kNone) continue;
      first = std::min(first, delay);
      last = std::max(last, delay);
    }
  const u32 slots = std::max(t.slot_mask + 1, std::min(std::bit_ceil(first + last), kMostSlots));
  return {std::min(first, slots - last), slots};
}

/// Returns whether a GPU has code for exactly the sizes of a plan: 5 or 7 ports, up to 8 virtual channels, one terminal
/// per router, default delays and allocators, channels that are all alike, open traffic, and few rows of senders.
inline bool has_exact_sizes(const VcTable& t) {
  return (t.ports == 5 || t.ports == 7) && t.vcs <= 8 && has_default_allocators(t) && t.routing_delay == 1 &&
         t.allocation_delay == 1 && t.concentration == 1 && t.terminals == t.routers && !t.channel &&
         !t.one_port_per_dim && t.mode == TrafficMode::kOpen && room_of(t) != Room::kHuge && !has_many_rows(t, 64) &&
         !has_long_routes(t);
}

/// Ports of a router with lane state on a GPU, with its ports to terminals. Terminals without lane state, and long
/// routes, need registers that only 12 warps have.
inline u32 most_device_ports(const VcTable& t) { return t.mode == TrafficMode::kOpen && !has_long_routes(t) ? 16 : 12; }

/// Returns the parameter that keeps a plan out of lane state on a GPU (kernels/routers/vc/cuda.cu); null if none does.
inline const char* excluded_from_device_lanes(const VcTable& t) {
  if (const char* excluded = excluded_from_lanes(t)) return excluded;
  if (t.traffic.classes > 1) return "traffic.classes";  // their tallies have no totals of classes
  if (t.routers < 16) return "topology.shape";          // most lanes would be empty
  // Kernels that know these would spill registers.
  if (t.injection_credit_delay != t.credit_delay) return "router.injection_credit_delay";
  if (t.pointer_spans_ports) return "router.vc_pointer_spans_ports";
  if (t.ports > most_device_ports(t))
    return t.ports > 16 ? parameter_of_ports(t) : t.mode != TrafficMode::kOpen ? "traffic.mode" : "routing.algorithm";
  return element_bits(t) > 16 ? "router.arbiter" : nullptr;
}
inline bool fits_device_lanes(const VcTable& t) { return !excluded_from_device_lanes(t); }

/// Returns whether a plan agrees with the constants of FixedVcTable.
template <class Traffic>
bool has_fixed_sizes(const VcTable& t) {
  return FixedVcTable<5, 4, Traffic>::fits(t) || FixedVcTable<7, 4, Traffic>::fits(t);
}
static_assert(sizeof(FixedVcTable<5, 4, TraceVcTable>) == sizeof(VcTable) &&
              sizeof(FixedVcTable<5, 4, LoopVcTable>) == sizeof(VcTable));
template <class T>
inline constexpr bool kIsFixed = false;
template <u32 P, u32 V>
inline constexpr bool kIsFixed<FixedVcTable<P, V>> = true;

/// Lane state for the CPU engine. `T`: FixedVcTable or VcTable.
template <class T>
class Lanes {
 public:
  static bool fits(const T& t) { return lane_width() && fits_lanes(t); }

  explicit Lanes(const T& table)
      : table_(table),
        any_(table),
        kind_(kind(table)),
        code_(code_for(choice(table))),
        wires_(wire(table, code_.width, code_.element_bytes, code_.vcs, blocks_of(table.routers, code_.width),
                    kind_ == TableKind::kNoScript || kind_ == TableKind::kScript)) {
    wiring_ = {wires_.to.data(),
               wires_.first.data(),
               wires_.sender_rows.data(),
               wires_.mask_base,
               wires_.other_end.empty() ? nullptr : wires_.other_end.data(),
               wires_.width_base};
  }
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;

  u32 width() const { return code_.width; }
  /// Returns the flit moves per router and cycle above which lane state pays; < 0: always. Measured for one network of
  /// a few routers: scalar state takes 4 ns per router and 100 ns per flit move, a lane block 185 ns and 30 ns.
  double busy() const {
    const double routers = any_.routers;
    if (routers < 4) return std::numeric_limits<double>::infinity();
    return (185 - 4 * routers) / 70 / routers;
  }
  bool is_shared(u32 kind, const FieldInfo& field) const {
    return has_scalar_terminals(any_) && is_shared_with_lanes(any_, kind, field);
  }
  std::size_t bytes() const { return code_.bytes(any_); }
  void load(std::byte* memory, std::byte* canonical, const Placement& placement, const ReplicaRow& row,
            Cycle now) const {
    code_.load(replica(memory, row), canonical, placement, now);
  }
  void store(std::byte* memory, std::byte* canonical, const Placement& placement, const ReplicaRow& row,
             Cycle now) const {
    code_.store(replica(memory, row), canonical, placement, now);
  }
  void run(std::byte* memory, std::byte* canonical, const Placement& placement, const ReplicaRow& row,
           CounterShard& shard, u32 begin, u32 end, Cycle now, u32 cycles) const {
    code_.run(replica(memory, row), canonical, placement, shard, begin, end, now, cycles);
  }
  bool audit(std::byte* memory, std::byte* canonical, const Placement& placement, const ReplicaRow& row,
             CounterShard& shard, Cycle now) const {
    return code_.audit(replica(memory, row), canonical, placement, shard, now);
  }
  void wake(std::byte* memory, const ReplicaRow& row, u32 terminal) const {
    code_.wake(replica(memory, row), terminal);
  }

 private:
  static TableKind kind(const VcTable& t) {
    if (kIsFixed<T> && room_of(t) != Room::kHuge) return TableKind::kFixed;
    if (has_fixed_sizes<LoopVcTable>(t) && room_of(t) != Room::kHuge) return TableKind::kFixedLoop;
    if (has_fixed_sizes<TraceVcTable>(t) && has_small_buffers(t)) return TableKind::kFixedTrace;
    return has_scalar_terminals(t) ? TableKind::kScript : TableKind::kNoScript;
  }

  Replica replica(std::byte* memory, const ReplicaRow& row) const {
    // All table types but T have the same layout: they differ in constants.
    return {kind_ == TableKind::kFixed ? static_cast<const void*>(&table_) : &any_, &wiring_, memory, &row};
  }

  static CodeChoice choice(const VcTable& t) { return {kind(t), room_of(t), element_bits(t), t.ports}; }

  const T table_;
  const VcTable any_;  ///< the same without compile-time constants
  const TableKind kind_;
  const Code& code_;
  Wires wires_;
  Wiring wiring_{};
};

}  // namespace flitlab::vc::lanes
