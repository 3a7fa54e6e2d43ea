#pragma once
/// Plain routers in lanes, as kernels/engines/lane_engine.hpp wants them.
#include "kernels/routers/vc/lanes/code.hpp"
#include "kernels/routers/vc/lanes/wire.hpp"

namespace flitlab::vc::lanes {

/// Lanes of the width that this processor has (kernels/engines/processor.hpp) for routers of so many ports, and packets
/// that may be long; null: there are none.
const Code* code_for(u32 ports, bool long_packets);

/// The longest packet of a plan's traffic, flits.
u32 longest_packet(const TrafficTable& traffic);

/// `T`: FixedVcTable.
template <class T>
class Lanes {
 public:
  static constexpr double busy = 0.06, idle = 0.03;

  static bool fits(const T& t) { return code(t) != nullptr; }

  explicit Lanes(const T& table) : table_(table), code_(*code(table)), wires_(wire(table, code_.width)) {
    wiring_ = {wires_.first.data(), wires_.pull.data(), wires_.mask_base};
  }
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;

  u32 width() const { return code_.width; }
  std::size_t bytes() const { return code_.bytes(table_.routers, table_.ring); }
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
    if (t.buffer_flits > 15 || t.routing_delay != 1 || t.allocation_delay != 1 || t.message_classes != 1)
      return nullptr;
    if (t.routers < 16 || t.concentration != 1 || longest_packet(t.traffic) > 255 || t.ring > 31) return nullptr;
    return code_for(t.ports, longest_packet(t.traffic) > 7 || t.ring > 3);
  }

  const T& table_;
  const Code& code_;
  Wires wires_;
  Wiring wiring_{};
};

}  // namespace flitlab::vc::lanes
