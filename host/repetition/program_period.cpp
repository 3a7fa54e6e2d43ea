#include "host/repetition/program_period.hpp"

#include <algorithm>

namespace flitlab {
namespace {

constexpr u64 kAnyNumber = ~u64{0};

bool sends_packets(const ProgramCall& c) { return c.kind == CallKind::kSend || c.kind == CallKind::kIsend; }
bool receives(const ProgramCall& c) { return c.kind == CallKind::kReceive || c.kind == CallKind::kAfter; }

}  // namespace

ProgramPeriod::ProgramPeriod(const StateLayout& layout, const Motion& motion)
    : layout_(layout),
      p_(*motion.program),
      draws_(motion.draws),
      control_(find_elements(layout, "terminal.program")),
      arrived_(find_elements(layout, "terminal.program_arrived")),
      latest_(find_elements(layout, "terminal.program_latest")) {
  const u32 ranks = p_.terminals * p_.ranks;
  ranks_.resize(ranks);
  first_slot_.assign(ranks, 0);
  first_message_.assign(ranks + std::size_t{1}, 0);
  lowest_slot_.resize(p_.first[ranks]);
  u32 packets = 0;
  for (u32 rank = 0; rank < ranks; ++rank) {
    if (rank % p_.ranks == 0) packets = 0;
    first_packet_.push_back(packets);
    packets = packets_before(rank, count(rank));
    u32 least = kNone, end = 0;
    for (u32 c = count(rank); c-- > 0;) {
      const ProgramCall& call = calls(rank)[c];
      u32& lowest = lowest_slot_[p_.first[rank] + c];
      lowest = c + 1 < count(rank) ? lowest_slot_[p_.first[rank] + c + 1] : kNone;
      if (receives(call)) lowest = std::min(lowest, call.slot);
      if (!receives(call) && call.kind != CallKind::kIreceive) continue;
      least = std::min(least, call.slot);
      end = std::max(end, call.slot + 1);
    }
    first_slot_[rank] = end ? least : 0;
    first_message_[rank + 1] = first_message_[rank] + (end ? end - least : 0);
  }
  message_packets_.assign(first_message_[ranks], 0);
  for (u32 rank = 0; rank < ranks; ++rank)
    for (u32 c = 0; c < count(rank); ++c)
      if (const ProgramCall& call = calls(rank)[c]; receives(call) || call.kind == CallKind::kIreceive)
        message_packets_[first_message_[rank] + call.slot - first_slot_[rank]] = call.amount;
}

/// Returns the packets of a rank's terminal in all calls before call `call` of the rank, in the order of the table.
u32 ProgramPeriod::packets_before(u32 rank, u32 call) const {
  if (!call && !count(rank)) return first_packet_[rank];
  if (call < count(rank)) return calls(rank)[call].before;
  const ProgramCall& last = calls(rank)[call - 1];
  return last.before + (sends_packets(last) ? p_.format.packets(last.amount) : 0);
}

u32 ProgramPeriod::rank_of_packet(u32 terminal, u32 id) const {
  if (p_.ranks == 1) return terminal;
  const auto first = first_packet_.begin() + std::size_t{terminal} * p_.ranks, last = first + p_.ranks;
  return terminal * p_.ranks + static_cast<u32>(std::upper_bound(first, last, id) - first) - 1;
}

u32 ProgramPeriod::rank_of_message(u32 terminal, u32 slot) const {
  u32 rank = terminal * p_.ranks;
  for (const u32 last = rank + p_.ranks - 1; rank < last; ++rank)
    if (slot - first_slot_[rank] < first_message_[rank + 1] - first_message_[rank]) break;
  return rank;
}

u32 ProgramPeriod::packets_created(u32 terminal) const {
  u32 packets = 0;
  for (u32 i = 0; i < p_.ranks; ++i) packets += ranks_[terminal * p_.ranks + i].packets;
  return packets;
}

void ProgramPeriod::note(u32 source, u32 id) {
  u32& lowest = ranks_[rank_of_packet(source, id)].lowest;
  lowest = std::min(lowest, id);
}

bool ProgramPeriod::begin(const Glance& before, const Glance& after) {
  for (u32 rank = 0; rank < ranks_.size(); ++rank) {
    const ProgramControl &a = before.controls[rank], &b = after.controls[rank];
    Rank& r = ranks_[rank];
    r = {.next = a.next, .sending = a.sending, .calls = b.next - a.next, .handed = b.handed - a.handed};
    if (a.draining != b.draining || a.done != b.done || b.sending - a.sending != r.calls) return false;
    if (r.calls ? r.handed != 0 : b.handed < a.handed) return false;
    r.packets = packets_before(rank, b.sending) + b.handed - packets_before(rank, a.sending) - a.handed;
    for (u32 c = a.next; c < b.next; ++c)
      if (receives(calls(rank)[c]) && c + r.calls < count(rank)) {
        r.messages = calls(rank)[c + r.calls].slot - calls(rank)[c].slot;
        break;
      }
  }
  return true;
}

/// Returns whether two calls of a rank, `distance` calls apart, have the same effect one period apart.
bool ProgramPeriod::same_effect(u32 rank, u32 call, u32 distance) const {
  const ProgramCall &a = calls(rank)[call], &b = calls(rank)[call + distance];
  if (a.kind != b.kind) return false;
  const u32 terminal = rank / p_.ranks;
  switch (a.kind) {
    case CallKind::kSend:
    case CallKind::kIsend: {
      const u32 packets = p_.format.packets(a.amount), whole = (packets - 1) * p_.format.payload_bytes;
      return a.peer == b.peer && p_.format.packets(b.amount) == packets &&
             p_.format.flits(a.amount - whole) == p_.format.flits(b.amount - whole) &&
             b.slot - a.slot == ranks_[rank_of_message(a.peer, a.slot)].messages && !draws_(terminal, a.peer);
    }
    case CallKind::kSignal:
      return a.amount == b.amount && b.slot - a.slot == ranks_[rank_of_message(terminal, a.slot)].messages;
    case CallKind::kReceive:
    case CallKind::kAfter: return a.amount == b.amount && b.slot - a.slot == ranks_[rank].messages;
    case CallKind::kWait: return b.amount - a.amount == distance;
    case CallKind::kCompute: return a.amount == b.amount;
    case CallKind::kIreceive: return true;
    case CallKind::kPost:
    case CallKind::kMatch: break;  // such programs are stepped (terminal_motion.cpp)
  }
  return false;
}

/// Returns how often a rank can go on as in the period, if it has moved on by some calls.
u64 ProgramPeriod::repeats_of_calls(u32 rank, u64 most) const {
  const Rank& r = ranks_[rank];
  u32 call = std::min(r.sending, r.next);
  if (r.lowest != kNone) {
    const auto earlier = [](const ProgramCall& c, u32 id) { return c.before <= id; };
    const ProgramCall* found = std::lower_bound(calls(rank), calls(rank) + call, r.lowest, earlier);
    call = found == calls(rank) ? 0 : std::min<u32>(call, static_cast<u32>(found - calls(rank)) - 1);
  }
  // The last repetition reads the calls up to the one that the rank then waits to make.
  const u64 last = r.next + u64{r.calls};
  const u64 end = std::min<u64>(count(rank) - u64{r.calls}, last + (most - 1) * r.calls + 1);
  if (count(rank) <= r.calls) return 0;
  while (call < end && same_effect(rank, call, r.calls)) ++call;
  return call > last ? (call - 1 - last) / r.calls + 1 : 0;
}

/// Returns how often a rank can go on as in the period, if it has made no call: as long as the last packet of its
/// message is not reached.
u64 ProgramPeriod::repeats_of_message(u32 rank, const ProgramControl& after) const {
  const Rank& r = ranks_[rank];
  if (!r.handed) return kAnyNumber;
  const ProgramCall& call = calls(rank)[r.sending];
  if (r.lowest < call.before || draws_(rank / p_.ranks, call.peer)) return 0;
  if (ranks_[rank_of_message(call.peer, call.slot)].messages) return 0;
  return (p_.format.packets(call.amount) - 1 - after.handed) / r.handed;
}

/// Returns how often packets can arrive as in the period at a rank whose messages keep their numbers.
u64 ProgramPeriod::repeats_of_arrivals(u32 rank, const Period& period) {
  const std::byte *a = item_at(layout_, period.before.state, arrived_.kind, rank / p_.ranks),
                  *b = item_at(layout_, period.after.state, arrived_.kind, rank / p_.ranks);
  u64 repeats = kAnyNumber;
  for (u32 i = 0; i < first_message_[rank + 1] - first_message_[rank]; ++i) {
    const u32 slot = first_slot_[rank] + i, before = arrived_.read(a, slot), after = arrived_.read(b, slot);
    const u32 moved = latest_.read(b, slot) - latest_.read(a, slot);
    if (before == after && !moved) continue;
    const u32 packets = message_packets_[first_message_[rank] + i];
    if (moved != period.cycles() || after <= before || !before || after >= packets) return 0;
    repeats = std::min<u64>(repeats, (packets - 1 - after) / (after - before));
  }
  return repeats;
}

/// Returns whether the messages of a rank have moved on by Rank::messages numbers.
bool ProgramPeriod::arrivals_move(u32 rank, const Period& period) {
  const std::byte *a = item_at(layout_, period.before.state, arrived_.kind, rank / p_.ranks),
                  *b = item_at(layout_, period.after.state, arrived_.kind, rank / p_.ranks);
  Rank& r = ranks_[rank];
  const u32 first = first_slot_[rank], end = first + first_message_[rank + 1] - first_message_[rank];
  const u32* packets = message_packets_.data() + first_message_[rank] - first;
  u32 live = first;
  while (live < end && arrived_.read(a, live) == packets[live]) ++live;
  if (r.next < count(rank)) live = std::min(live, lowest_slot_[p_.first[rank] + r.next]);
  r.live = live;
  if (r.messages > end - live) return false;
  for (u32 slot = first; slot < live; ++slot)
    if (arrived_.read(b, slot) != arrived_.read(a, slot) || latest_.read(b, slot) != latest_.read(a, slot))
      return false;
  for (u32 slot = live; slot < live + r.messages; ++slot)
    if (arrived_.read(b, slot) != packets[slot]) return false;
  for (u32 slot = live; slot < end; ++slot) {
    const u32 count = arrived_.read(a, slot), at = latest_.read(a, slot);
    if (slot + r.messages >= end) {
      if (count || at) return false;
    } else if (arrived_.read(b, slot + r.messages) != count ||
               latest_.read(b, slot + r.messages) != (at ? at + period.cycles() : 0)) {
      return false;
    }
  }
  return true;
}

u64 ProgramPeriod::repeats(const Period& period, u64 most) {
  for (u32 rank = 0; rank < ranks_.size() && most; ++rank) {
    const Rank& r = ranks_[rank];
    if (r.messages ? !arrivals_move(rank, period) : false) return 0;
    if (!r.messages) most = std::min(most, repeats_of_arrivals(rank, period));
    if (!r.calls) most = std::min(most, repeats_of_message(rank, period.after.controls[rank]));
  }
  for (u32 rank = 0; rank < ranks_.size() && most; ++rank)
    if (ranks_[rank].calls) most = std::min(most, repeats_of_calls(rank, most));
  return most;
}

void ProgramPeriod::move_on(const Period& period, Snapshot& next, u64 times) const {
  for (u32 rank = 0; rank < ranks_.size(); ++rank) {
    const Rank& r = ranks_[rank];
    ProgramControl& c = next.controls[rank];
    std::byte* at = item_at(layout_, next.state, control_.kind, rank / p_.ranks) + control_.offset +
                    rank % p_.ranks * control_.stride;
    std::memcpy(&c, at, sizeof c);  // its times have moved on
    c.next += static_cast<u32>(times) * r.calls;
    c.sending += static_cast<u32>(times) * r.calls;
    c.handed += static_cast<u32>(times) * r.handed;
    std::memcpy(at, &c, sizeof c);
    move_arrivals(rank, period, next.state, times);
  }
}

/// If a rank's messages have moved on by m numbers, message x after `times` more repetitions is what message
/// x - times * m is in the second snapshot, or a complete message that arrived during these repetitions.
void ProgramPeriod::move_arrivals(u32 rank, const Period& period, std::vector<std::byte>& state, u64 times) const {
  const std::byte *a = item_at(layout_, period.before.state, arrived_.kind, rank / p_.ranks),
                  *b = item_at(layout_, period.after.state, arrived_.kind, rank / p_.ranks);
  std::byte* out = item_at(layout_, state, arrived_.kind, rank / p_.ranks);
  const Rank& r = ranks_[rank];
  const u32 first = first_slot_[rank], end = first + first_message_[rank + 1] - first_message_[rank];
  const auto set = [&](u32 slot, u32 from, u64 periods) {
    const u32 at = latest_.read(b, from);
    arrived_.write(out, slot, arrived_.read(b, from));
    latest_.write(out, slot, at ? at + static_cast<u32>(periods) * period.cycles() : 0);
  };
  if (!r.messages) {
    for (u32 slot = first; slot < end; ++slot)
      if (const u32 more = arrived_.read(b, slot) - arrived_.read(a, slot)) {
        arrived_.write(out, slot, arrived_.read(b, slot) + static_cast<u32>(times) * more);
        latest_.write(out, slot, latest_.read(b, slot) + static_cast<u32>(times) * period.cycles());
      }
    return;
  }
  const u32 m = r.messages, settled = r.live + m;  // in the second snapshot, all messages before are complete
  for (u32 slot = settled; slot < end; ++slot) {
    const u64 periods = (slot - settled) / m;
    if (periods >= times)
      set(slot, static_cast<u32>(slot - times * m), times);
    else
      set(slot, static_cast<u32>(slot - (periods + 1) * m), periods + 1);
  }
}

}  // namespace flitlab
