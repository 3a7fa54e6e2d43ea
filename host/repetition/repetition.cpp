#include "host/repetition/repetition.hpp"

#include <algorithm>

#include "host/config/registry.hpp"
#include "host/config/run_params.hpp"
#include "host/plan/state_numbers.hpp"
#include "kernels/traffic/params.hpp"
#include "kernels/traffic/program.hpp"
#include "kernels/traffic/trace.hpp"

namespace flitlab {
namespace {

/// A message with fewer packets left is over before its packets can be seen to repeat themselves.
constexpr u32 kLongMessage = 32;
/// Cycles after which the host may choose other ranks to watch.
constexpr u32 kChoice = 256;
/// Routers and terminals at which the host glances.
constexpr u32 kSampled = 64;
/// A state is forgotten if it was not seen again within so many periods.
constexpr u64 kPatience = 8;
/// A message has begun when so many of its packets have been passed on.
constexpr u32 kBegun = 5;
/// A network is quiet if nothing has moved for this long; its state is compared with that so many cycles later.
constexpr u32 kQuiet = 128, kQuietPeriod = 64;
/// Cycles from an event to the look at the state, on a CPU and on a GPU, where the host asks less often.
constexpr u32 kGap = 16, kDeviceGap = 512;
/// Estimated costs, ns. They only decide how often it is worth looking: of a flit's move and of a router in a cycle; of
/// asking a rank, and of a glance for each rank; of a look for each byte of the state.
constexpr double kMoveNs = 40, kRouterNs = 3, kPollNs = 1000, kGlanceNs = 2000, kRankNs = 10, kByteNs = 0.25;
/// Looking may take this part of the time of stepping and of the time that skipping has saved, and at first so much.
constexpr double kPartOfStepping = 0.01, kPartOfGain = 0.3, kFreePolls = 1000, kFreeLooks = 24;
/// When the credit is used up, the host waits until it suffices for so many polls and looks.
constexpr double kPolls = 100, kLooks = 4;

double glance_ns(const Glance& g) { return kGlanceNs + kRankNs * static_cast<double>(g.controls.size()); }

/// Returns whether all packets are measured, or none, whatever cycle they are created in.
bool measures_all_or_none(const ReplicaRow& row) {
  return row.window_begin == row.window_end || (row.window_begin == 0 && row.window_end >= kNever - 1);
}

bool is_power_of_two(u32 n) { return !(n & (n - 1)); }

}  // namespace

Repetition::Repetition(const Experiment& e, const Plan& plan) : plan_(plan), motion_(plan.motion()) {
  forget();
  if (motion_.never.empty() && !e.flag(param::run.fast_forward)) motion_.never = "run.fast_forward is false";
  if (motion_.never.empty() && plan.next_change(0) != kNever) motion_.never = "the network changes during the run";
  if (!motion_.never.empty()) return;
  period_ = std::make_unique<StatePeriod>(plan, motion_, model_of(e.kind()).totals);
  const ItemKind& terminals = plan.layout().kinds[1];
  controls_ = &terminals.field("program");
  trace_ = &terminals.field("trace");
  for (const std::string& name : motion_.quick)
    quick_.push_back({find_elements(plan.layout(), name), find_numbers(plan.layout(), name).field});
  look_ns_ = kByteNs * static_cast<double>(plan.layout().bytes(1));
  credit_ns_ = kFreePolls * kPollNs + kFreeLooks * look_ns_;
}

u32 Repetition::pause(u64 now) const {
  u64 next = next_poll_;
  for (const Watch& w : watches_) next = std::min(next, w.due);
  return period_ ? static_cast<u32>(std::max(next, now + 1) - now) : kNever;
}

void Repetition::forget() {
  for (u32 i = 0; i < watches_.size(); ++i) watches_[i] = {.event = static_cast<Event>(i)};
  next_poll_ = next_choice_ = 0;
  quiet_since_ = kNever;
  accounted_ = kNever;
}

/// Reads a field of a terminal, from the engine's memory if the host has access to it.
void Repetition::read(Engine& engine, u32 replica, u32 terminal, const FieldInfo& field, void* out) const {
  const std::size_t distance = plan_.layout().kinds[1].item_bytes;
  if (const std::byte* first = engine.in_place(replica, 1, field))
    std::memcpy(out, first + terminal * distance, std::size_t{field.count} * field.element_bytes);
  else
    engine.get_item(replica, 1, terminal, field, out);
}

ProgramControl Repetition::control_of(Engine& engine, u32 replica, u32 rank) const {
  ProgramControl c;
  const u32 ranks = motion_.program->ranks;
  read(engine, replica, rank / ranks, controls_->only(rank % ranks), &c);
  return c;
}

/// Looks for a new event of a watch's rank. The look at the state is due a fixed time after it.
void Repetition::notice(Watch& watch, Engine& engine, u32 replica) {
  if (watch.rank == kNone || watch.due != kNever) return;
  const ProgramTable& p = *motion_.program;
  const ProgramControl c = control_of(engine, replica, watch.rank);
  if (watch.event == Event::kCall) return notice_call(watch, c, engine.now());
  TraceControl trace;
  read(engine, replica, watch.rank / p.ranks, *trace_, &trace);
  notice_packet(watch, c, engine.now(), trace.last_created);
}

void Repetition::notice_call(Watch& watch, const ProgramControl& c, u64 now) {
  const ProgramTable& p = *motion_.program;
  const u32 first = p.first[watch.rank], count = p.first[watch.rank + 1] - first;
  if (c.next && c.next != watch.seen) {
    watch.seen = c.next;
    const u64 at = c.busy_until - detail::cycles_of(p, p.calls[first + c.next - 1]);
    if (at + gap_ >= now) watch.due = at + gap_;
  }
  if (c.next == count) watch.rank = kNone;
}

/// `last_created`: cycle in which the rank's terminal passed on its latest packet.
void Repetition::notice_packet(Watch& watch, const ProgramControl& c, u64 now, u64 last_created) {
  const ProgramTable& p = *motion_.program;
  const bool begins = watch.event == Event::kMessage;
  if (c.done || c.sending == c.next) {
    if (!begins) watch.rank = kNone;
    return;
  }
  const ProgramCall& call = p.calls[p.first[watch.rank] + c.sending];
  const u32 packets = p.format.packets(call.amount);
  const u32 number = begins ? c.sending : call.before + c.handed;
  if (!begins && packets - c.handed < 2) watch.rank = kNone;  // the message is over
  if (number == watch.seen) return;
  // A message is seen when it begins if the host asks in every cycle until its packet kBegun has been passed on.
  if (begins && packets > kBegun && c.handed < kBegun) {
    next_poll_ = now + 1;
    return;
  }
  watch.seen = number;
  if (begins && c.handed != kBegun) return;
  if (last_created + gap_ >= now) watch.due = last_created + gap_;
}

/// Chooses the ranks to watch: those with most calls, messages and packets left.
void Repetition::choose_rank(Engine& engine, u32 replica) {
  Watch &calls = watch(Event::kCall), &messages = watch(Event::kMessage), &packets = watch(Event::kPacket);
  if (engine.now() < next_choice_) return;
  if (calls.rank != kNone && messages.rank != kNone && packets.rank != kNone) return;
  next_choice_ = engine.now() + kChoice;
  const ProgramTable& p = *motion_.program;
  const Glance now = glance(engine, replica);
  credit_ns_ -= glance_ns(now);
  struct Best {
    u32 most, rank = kNone;
    void offer(u32 left, u32 by) {
      if (left > most) most = left, rank = by;
    }
  } by_calls{1}, by_messages{1}, by_packets{kLongMessage};
  for (u32 rank = 0; rank < now.controls.size(); ++rank) {
    const ProgramControl& c = now.controls[rank];
    const u32 count = p.first[rank + 1] - p.first[rank];
    by_calls.offer(count - c.next, rank);
    by_messages.offer(count - c.sending, rank);
    if (c.done || c.sending == c.next) continue;
    by_packets.offer(p.format.packets(p.calls[p.first[rank] + c.sending].amount) - c.handed, rank);
  }
  if (calls.rank == kNone) calls = {.event = Event::kCall, .rank = by_calls.rank};
  if (messages.rank == kNone) messages = {.event = Event::kMessage, .rank = by_messages.rank};
  if (packets.rank == kNone) packets = {.event = Event::kPacket, .rank = by_packets.rank};
}

Glance Repetition::glance(Engine& engine, u32 replica) const {
  Glance g{.cycle = engine.now(), .controls = {}, .sample = {}};
  const u32 terminals = plan_.layout().kinds[1].count;
  g.controls.resize(std::size_t{terminals} * controls_->count);
  if (engine.in_place(replica, 1, *controls_))
    for (u32 i = 0; i < terminals; ++i) read(engine, replica, i, *controls_, &g.controls[i * controls_->count]);
  else
    engine.get_field(replica, 1, *controls_, g.controls.data());
  for (const auto& [numbers, field] : quick_) {
    const ItemKind& items = plan_.layout().kinds[numbers.kind];
    const std::byte* first = engine.in_place(replica, numbers.kind, *field);
    for (u32 i = 0; first && i < std::min(items.count, kSampled); ++i) {
      const u32 item = items.count <= kSampled ? i : static_cast<u32>(u64{items.count} * i / kSampled);
      const std::byte* at = first + std::size_t{item} * items.item_bytes + (numbers.offset - field->offset);
      for (u32 n = 0; n < numbers.count; ++n, at += numbers.stride)
        g.sample.insert(g.sample.end(), at, at + numbers.bytes);
    }
  }
  return g;
}

/// Adds the time of the cycles that were stepped since the last call to the credit, and notices whether anything has
/// moved.
void Repetition::account(Engine& engine, u32 replica) {
  const u32 only[] = {replica};
  const Totals totals = engine.totals(only).front();
  const u64 now = engine.now(), moves = total_of(totals, Total::kFlitMoves);
  const u64 activity = moves + total_of(totals, Total::kPacketsCreated) + total_of(totals, Total::kFlitsInjected) +
                       total_of(totals, Total::kFlitsDelivered);
  if (activity != activity_ || quiet_since_ == kNever) quiet_since_ = now;
  activity_ = activity;
  if (accounted_ <= now) {
    const double ns = kMoveNs * static_cast<double>(moves - moves_) +
                      kRouterNs * plan_.layout().kinds[0].count * static_cast<double>(now - accounted_);
    stepped_ += now - accounted_;
    stepped_ns_ += ns;
    credit_ns_ += kPartOfStepping * ns;
  }
  accounted_ = now;
  moves_ = moves;
}

/// Returns whether there is credit to look for repetitions. If it is used up, it must grow again first; sets the cycle
/// in which that is expected.
bool Repetition::affordable(u64 now) {
  const double enough = kPolls * kPollNs + kLooks * look_ns_;
  if (credit_ns_ < 0) waits_ = true;
  if (credit_ns_ >= enough) waits_ = false;
  if (!waits_) return true;
  const double per_cycle = stepped_ ? kPartOfStepping * stepped_ns_ / static_cast<double>(stepped_) : 0;
  next_poll_ = now + static_cast<u64>(std::clamp((enough - credit_ns_) / std::max(per_cycle, 1e-3), 1e3, 1e6));
  for (Watch& w : watches_) w = {.event = w.event, .rank = w.rank, .period = w.period};
  return false;
}

/// Returns whether no packet is in the network or in a source queue. Otherwise a network in which nothing moves has
/// stopped, which the host finds out only if it is not skipped.
bool Repetition::nothing_under_way(const Snapshot& s) {
  return total_of(s.counters, Total::kPacketsCreated) ==
         total_of(s.counters, Total::kPacketsDelivered) + total_of(s.counters, Total::kPacketsDropped);
}

/// Returns whether the complete state is needed: glances are alike, or the state may be that of the earlier look.
bool Repetition::must_look(Watch& w, const Glance& now) {
  if (w.earlier) {
    if (period_->plausible(*w.earlier, now)) return true;
    if (now.cycle > w.earlier->cycle + kPatience * w.period) w.earlier.reset();
    return false;
  }
  ++w.glances;
  const std::optional<Glance>* found = nullptr;
  for (const auto* before : {&w.recent, &w.glance})
    if (!found && *before && period_->plausible(**before, now)) found = before;
  const bool alike = found != nullptr;
  if (alike) w.period = now.cycle - (*found)->cycle;
  if (!w.glance || is_power_of_two(w.glances)) w.glance = now;
  // The period is often the latest one.
  if (w.period && (!w.recent || now.cycle >= w.recent->cycle + w.period)) w.recent = now;
  return alike;
}

void Repetition::set(const Snapshot& next, Engine& engine, u32 replica, double gain) {
  skipped_ += next.cycle - engine.now();
  credit_ns_ += kPartOfGain * gain;
  engine.set_now(static_cast<Cycle>(next.cycle));
  engine.set_state(replica, next.state);
  engine.set_counters(replica, next.counters);
  accounted_ = next.cycle;
  moves_ = total_of(next.counters, Total::kFlitMoves);
  quiet_since_ = kNever;
  next_poll_ = next.cycle + 1;
  for (Watch& w : watches_) w.due = kNever;
}

u64 Repetition::look(Watch& w, Engine& engine, u32 replica, u64 most) {
  w.due = kNever;
  Glance seen = glance(engine, replica);
  credit_ns_ -= glance_ns(seen);
  if (!must_look(w, seen)) return 0;
  credit_ns_ -= look_ns_;
  Snapshot now{std::move(seen), engine.state(replica), engine.counters(replica)};
  if (w.earlier) {
    const Period period{*w.earlier, now};
    u64 times = period_->repeats(period, most / period.cycles());
    if (w.event == Event::kQuiet && (times == most / period.cycles() || !nothing_under_way(now))) times = 0;
    const u64 cycles = times * period.cycles();
    const double gain = stepped_ ? stepped_ns_ / double(stepped_) * double(cycles) : 0;
    if (times && gain >= look_ns_) {
      set(period_->after(period, times), engine, replica, gain);
      w = {.event = w.event, .rank = w.rank, .period = period.cycles()};
      return cycles;
    }
  }
  if (w.earlier) ++w.looks;
  if (!w.earlier || is_power_of_two(w.looks)) w.earlier = std::move(now);
  return 0;
}

u64 Repetition::skip(Engine& engine, u32 replica, u64 most) {
  if (!period_ || most == 0 || !measures_all_or_none(engine.row(replica))) return 0;
  const u64 now = engine.now();
  for (Watch& watch : watches_) {
    if (watch.due == now)
      if (const u64 cycles = look(watch, engine, replica, most)) return cycles;
    if (watch.due < now) watch.due = kNever;
  }
  if (now < next_poll_) return 0;
  if (!gap_) gap_ = engine.backend() == "cuda" ? kDeviceGap : kGap;
  credit_ns_ -= kPollNs;
  account(engine, replica);
  if (!affordable(now)) return 0;
  next_poll_ = now + gap_;
  Watch& quiet = watch(Event::kQuiet);
  if (now >= quiet_since_ + kQuiet) {
    if (quiet.due == kNever) quiet.due = now + kQuietPeriod;
    return 0;
  }
  quiet = {.event = Event::kQuiet};
  choose_rank(engine, replica);
  for (const Event event : {Event::kCall, Event::kMessage, Event::kPacket}) notice(watch(event), engine, replica);
  return 0;
}

}  // namespace flitlab
