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

namespace flitlab::vc::lanes {

/// Returns the lane code for this processor's vector width (kernels/engines/processor.hpp).
const Code& code_for(const CodeChoice& choice);

/// Returns the longest packet or reply of a plan's traffic, flits.
inline u32 longest_packet(const TrafficTable& traffic) {
  if (traffic.length_law == LengthLaw::kGeometric) return traffic.max_flits;
  u32 longest = 0;
  for (const LengthTable* lengths : {&traffic.packets, &traffic.replies})
    for (u32 i = 0; lengths->flits && i < lengths->count; ++i)
      if (longest < lengths->flits[i]) longest = lengths->flits[i];
  return longest;
}

/// Returns the parameter that keeps a plan's routers out of lane state; null if none does.
inline const char* excluded_from_lanes(const VcTable& t) {
  if (t.ports > kMostPorts) return t.algorithm == Algorithm::kTable ? "topology.file" : "topology.concentration";
  if (t.arbiter != ArbiterKind::kRoundRobin && t.arbiter != ArbiterKind::kMatrix &&
      t.arbiter != ArbiterKind::kOldestFirst)
    return "router.arbiter";
  for (const Allocator allocator : {t.vc_allocator, t.switch_allocator})
    if (allocator != Allocator::kInputFirst && allocator != Allocator::kOutputFirst && allocator != Allocator::kIslip &&
        allocator != Allocator::kWavefront)
      return allocator == t.vc_allocator ? "router.vc_allocator" : "router.switch_allocator";
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

/// How many cycles a lane block may run ahead of other lane blocks.
struct Lookahead {
  u32 cycles;  ///< most cycles ahead: flits and credits that a block sends in these cycles are read only after them
  u32 slots;   ///< cycles for which slots are kept, so that a block ahead does not overwrite unread flits and
               ///< credits
};
inline Lookahead lookahead_of(const VcTable& t) {
  constexpr u32 kMostSlots = 16;  // more take memory and save little where links are long
  const u32 first = std::min(t.link_delay, t.credit_delay), last = std::max(t.link_delay, t.credit_delay);
  const u32 slots = std::max(t.slot_mask + 1, std::min(std::bit_ceil(first + last), kMostSlots));
  return {std::min(first, slots - last), slots};
}

/// Returns the parameter that keeps a plan out of lane state on a GPU (kernels/routers/vc/cuda.cu); null if none does.
inline const char* excluded_from_device_lanes(const VcTable& t) {
  if (t.channel)
    return t.algorithm == Algorithm::kTable ? "topology.file"
           : t.narrow                       ? "topology.channel_width"
                                            : "topology.channel_delay";
  if (t.mode != TrafficMode::kOpen) return "traffic.mode";
  if (t.vc_allocator != Allocator::kInputFirst) return "router.vc_allocator";
  if (t.switch_allocator != Allocator::kInputFirst) return "router.switch_allocator";
  if (t.arbiter != ArbiterKind::kRoundRobin) return "router.arbiter";
  if (t.speculative) return "router.speculative";
  if (t.routing_delay != 1) return "router.routing_delay";
  if (t.allocation_delay != 1) return "router.vc_allocation_delay";
  if (t.concentration != 1) return "topology.concentration";
  if (t.vcs > 8) return "router.vcs";
  if (t.one_port_per_dim || (t.ports != 5 && t.ports != 7)) return "topology.kind";
  if (t.routers < 16) return "topology.shape";
  if (t.buffer_flits > 63 || t.ring > 31) return "router.buffer_flits";
  return longest_packet(t.traffic) > 255 ? "traffic.packet_flits" : nullptr;
}
inline bool fits_device_lanes(const VcTable& t) { return !excluded_from_device_lanes(t); }

/// Returns whether a plan agrees with the constants of FixedVcTable.
template <class Traffic>
bool has_fixed_sizes(const VcTable& t) {
  return FixedVcTable<5, 4, Traffic>::fits(t) || FixedVcTable<7, 4, Traffic>::fits(t);
}
static_assert(sizeof(FixedVcTable<5, 4, TraceVcTable>) == sizeof(VcTable));
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
        wires_(wire(table, code_.width, code_.element_bytes, code_.vcs, blocks_of(table.routers, code_.width))) {
    wiring_ = {wires_.to.data(), wires_.first.data(), wires_.sender_rows.data(), wires_.mask_base, wires_.width_base};
  }
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;

  u32 width() const { return code_.width; }
  /// Returns the flit moves per router and cycle above which lane state pays; < 0: always. Measured for one network of a
  /// few routers: scalar state takes 4 ns per router and 100 ns per flit move, a lane block 185 ns and 30 ns.
  double busy() const {
    const double routers = any_.routers;
    if (routers < 4) return std::numeric_limits<double>::infinity();
    return (185 - 4 * routers) / 70 / routers;
  }
  /// Terminals without lane state, and the host that hands them a trace, work on the canonical state; lane state has
  /// only their inboxes.
  bool is_shared(u32 kind, const FieldInfo& field) const {
    const TerminalFields& fields = any_.terminal_fields;
    return kind == 1 && any_.mode == TrafficMode::kTrace && field.offset != fields.flit_mail.offset &&
           field.offset != fields.credit_mail.offset;
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

 private:
  static TableKind kind(const VcTable& t) {
    if (kIsFixed<T> && room_of(t) != Room::kHuge) return TableKind::kFixed;
    if (has_fixed_sizes<LoopVcTable>(t) && room_of(t) != Room::kHuge) return TableKind::kFixedLoop;
    if (has_fixed_sizes<TraceVcTable>(t) && has_small_buffers(t)) return TableKind::kFixedTrace;
    return t.mode == TrafficMode::kTrace ? TableKind::kTrace : TableKind::kNoTrace;
  }

  Replica replica(std::byte* memory, const ReplicaRow& row) const {
    // All table types but T have the same layout: they differ in constants.
    return {kind_ == TableKind::kFixed ? static_cast<const void*>(&table_) : &any_, &wiring_, memory, &row};
  }

  static CodeChoice choice(const VcTable& t) {
    const Room room = room_of(t);
    // Matrix arbiters need a bit more (Conversion::extended).
    const u32 bits = std::max(t.ports, t.vcs) + (t.arbiter == ArbiterKind::kMatrix);
    // Terminals with lane state count the flits of a packet that they have not sent in an element.
    const bool counts = t.mode != TrafficMode::kTrace && longest_packet(t.traffic) > 255;
    return {kind(t), room, bits > 16 ? 32u : bits > 8 || counts ? 16u : 8u, t.ports};
  }

  const T table_;
  const VcTable any_;  ///< the same without compile-time constants
  const TableKind kind_;
  const Code& code_;
  Wires wires_;
  Wiring wiring_{};
};

}  // namespace flitlab::vc::lanes
