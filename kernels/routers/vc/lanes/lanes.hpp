#pragma once
/// Plain routers in lanes, as kernels/engines/lane_engine.hpp wants them.
#include "kernels/routers/vc/lanes/code.hpp"
#include "kernels/routers/vc/lanes/wire.hpp"

namespace flitlab::vc::lanes {

/// Lanes of the width that this processor has (kernels/engines/processor.hpp) for routers of so many ports and virtual
/// channels; null: there are none. `fixed`: for FixedVcTable, else for RoundRobinVcTable. `roomy`: see Sizes.
const Code* code_for(u32 ports, u32 vcs, bool fixed, bool roomy);

/// The longest packet of a plan's traffic, flits.
u32 longest_packet(const TrafficTable& traffic);

/// The table that lanes for `T` work with.
template <class T>
struct TableOf {
  using Type = RoundRobinVcTable;
  static constexpr bool fixed = false;
};
template <u32 P, u32 V>
struct TableOf<FixedVcTable<P, V>> {
  using Type = FixedVcTable<P, V>;
  static constexpr bool fixed = true;
};

/// `T`: FixedVcTable, PlainVcTable or VcTable.
template <class T>
class Lanes {
  using Table = typename TableOf<T>::Type;

 public:
  static constexpr double busy = 0.06, idle = 0.03;

  static bool fits(const T& t) { return Table::fits(t) && code(t) != nullptr; }

  explicit Lanes(const T& table) : table_(table), code_(*code(table)), wires_(wire(table, code_.width)) {
    wiring_ = {wires_.first.data(), wires_.pull.data(), wires_.mask_base};
  }
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;

  u32 width() const { return code_.width; }
  std::size_t bytes() const { return code_.bytes(table_.routers, table_.slot_mask + 1, table_.ring); }
  void load(std::byte* memory, std::byte* canonical, const Placement& place, const ReplicaRow& row, Cycle now) const {
    code_.load({&table_, &wiring_, memory, &row}, canonical, place, now);
  }
  void store(std::byte* memory, std::byte* canonical, const Placement& place, const ReplicaRow& row, Cycle now) const {
    code_.store({&table_, &wiring_, memory, &row}, canonical, place, now);
  }
  void run(std::byte* memory, const ReplicaRow& row, CounterShard& shard, u32 begin, u32 end, Cycle now,
           u32 cycles) const {
    code_.run({&table_, &wiring_, memory, &row}, shard, begin, end, now, cycles);
  }

 private:
  /// Counts have a few bits, delays one cycle where lanes know no other, and routers have few neighbours.
  static const Code* code(const T& t) {
    if (t.buffer_flits > 63 || t.routing_delay != 1 || t.allocation_delay != 1 || t.message_classes != 1)
      return nullptr;
    if (t.routers < 16 || t.concentration != 1 || longest_packet(t.traffic) > 255 || t.ring > 31) return nullptr;
    if (t.one_port_per_dim) return nullptr;
    const bool roomy = longest_packet(t.traffic) > 7 || t.ring > 3 || t.buffer_flits > 15;
    return code_for(t.ports, t.vcs, TableOf<T>::fixed, roomy);
  }

  const Table table_;
  const Code& code_;
  Wires wires_;
  Wiring wiring_{};
};

}  // namespace flitlab::vc::lanes
