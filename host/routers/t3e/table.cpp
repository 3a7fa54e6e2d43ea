#include "host/routers/t3e/table.hpp"

#include <algorithm>
#include <bit>

#include "host/plan/terminal_plan.hpp"
#include "kernels/routers/t3e/params.hpp"

namespace flitlab::t3e {
namespace {

/// Returns the delays of all writes into inboxes, clocks.
std::vector<u32> inbox_delays(const Table& t) {
  std::vector<u32> delays{t.link_delay + t.wait, t.link_delay, t.inject_delay, t.eject_delay, t.credit_delay};
  if (t.barrier_units) delays.insert(delays.end(), {t.link_delay + t.barrier_wait, t.barrier_eject});
  if (t.special) delays.insert(delays.end(), {t.special_delay, t.special_eject});
  return delays;
}

/// Returns the clocks for which an entry may stay in its slot after its arrival.
std::vector<u32> inbox_stays(const Table& t) {
  return t.barrier_units ? std::vector{t.wait, t.barrier_wait} : std::vector{t.wait};
}

/// Returns the threshold below which a 32-bit draw corrupts a flit.
u32 error_threshold(const Experiment& e) {
  return static_cast<u32>(std::min(e.f64(param::faults.error_rate) * 4294967296.0, 4294967295.0));
}

}  // namespace

u32 link_delay(const Experiment& e) { return e.u32_of(param::router.straight_delay); }
u32 arbitration_wait(const Experiment& e) { return e.u32_of(param::router.turn_delay) - link_delay(e); }
u32 inject_delay(const Experiment& e) { return e.u32_of(param::router.source_delay) - link_delay(e); }
u32 eject_delay(const Experiment& e) { return e.u32_of(param::router.destination_delay) - arbitration_wait(e); }
u32 barrier_wait(const Experiment& e) { return e.u32_of(param::barrier.router_delay) - link_delay(e); }
u32 barrier_eject(const Experiment& e) { return e.u32_of(param::router.destination_delay) - barrier_wait(e); }

/// A flit or packet must not be written into a slot in the cycle in which the receiver clears the slot.
u32 inbox_slots(const Table& t) {
  const std::vector<u32> delays = inbox_delays(t), stays = inbox_stays(t);
  u32 slots = std::bit_ceil(*std::max_element(delays.begin(), delays.end()) + 1);
  const auto clash = [&] {
    for (u32 delay : delays)
      for (u32 stay : stays)
        if (delay % slots == 0 || (delay + stay) % slots == 0) return true;
    return false;
  };
  while (clash()) slots *= 2;
  return slots;
}

void set_delays(Table& t, const Experiment& e) {
  t.wait = arbitration_wait(e);
  t.link_delay = link_delay(e);
  t.inject_delay = inject_delay(e);
  t.eject_delay = eject_delay(e);
  t.credit_delay = e.u32_of(param::router.credit_delay);
}

void set_barrier_delays(Table& t, const Experiment& e) {
  t.barrier_units = e.u32_of(param::barrier.units);
  if (t.barrier_units) {
    t.barrier_wait = barrier_wait(e);
    t.barrier_eject = barrier_eject(e);
  }
  t.barrier_work = e.u32_of(param::barrier.work);
  t.barrier_program = e.choice<BarrierProgram>(param::barrier.operation);
}

void set_special_delays(Table& t, const Experiment& e) {
  t.special = e.flag(param::special.enabled);
  t.orient_inverts = e.flag(param::router.orient_inverts);
  if (!t.special) return;
  t.special_delay = e.u32_of(param::special.router_delay);
  t.special_eject = e.u32_of(param::router.destination_delay);
}

void set_sizes(Table& t, const Experiment& e, u32 shortest) {
  t.link_vcs = kDeterministicVcs + e.u32_of(param::router.adaptive_vcs);
  t.buffer_flits = e.u32_of(param::router.deterministic_buffer_flits);
  t.adaptive_buffer_flits = e.u32_of(param::router.adaptive_buffer_flits);
  t.ring = most_packets_in_buffer(t.buffer_flits, shortest);
  t.most_adaptive_packets = most_packets_in_buffer(t.adaptive_buffer_flits, shortest);
  t.slot_mask = inbox_slots(t) - 1;
}

void set_choices(Table& t, const Experiment& e) {
  t.short_circuit = e.flag(param::router.short_circuit);
  t.any_direction = e.is({param::router.adaptive_choice, "any"});
  t.ordered_requests = e.flag(param::routing.ordered_requests);
  t.error_threshold = error_threshold(e);
}

}  // namespace flitlab::t3e
