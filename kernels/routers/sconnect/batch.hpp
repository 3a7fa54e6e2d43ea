#pragma once
/// A routing cycle of many TICs at once, for one CPU thread: a step of one port of all of them before the next step of
/// any, by lists that are made without branches (kernels/routers/vc/batch.hpp says why). Within a TIC the order is that
/// of TicPhase::work. What is plain goes by these steps: single data messages that come whole and are taken. A port in
/// which anything else happens is worked by the functions of a single TIC, and so is all of a TIC that software has
/// changed or asks something of.
#include <array>
#include <cstring>

#include "kernels/routers/sconnect/choice.hpp"
#include "kernels/routers/sconnect/host_port.hpp"
#include "kernels/routers/sconnect/receive.hpp"
#include "kernels/routers/sconnect/transmit.hpp"

namespace flitlab::sconnect {

/// TICs visited at once.
inline constexpr u32 kTics = 32;

/// now % round without a division (Lemire, Kaser and Kurz, "Faster remainder by direct computation", 2019).
inline constexpr std::array<u64, 256> kReciprocals = [] {
  std::array<u64, 256> reciprocals{};
  for (u32 round = 1; round < 256; ++round) reciprocals[round] = ~u64{0} / round + 1;
  return reciprocals;
}();
FLITLAB_INLINE u32 place_in_round(Cycle now, u32 round) {
  __extension__ using u128 = unsigned __int128;
  return static_cast<u32>(u128{kReciprocals[round] * now} * round >> 64);
}

/// `Phase`: TicPhase, whose functions of a single TIC work what is not plain.
template <class V, class Phase>
struct Batch {
  static constexpr int W = V::width;
  using SingleTic = Tic<V, W>;
  using List = u8[kTics + 1];  ///< TICs by their numbers in the batch, and one that is not kept

  /// What happens at a port of a TIC.
  struct Now {
    u16 slot, before;  ///< the slot of this cycle, and of the one before, by their places in TicFields::slot
    u8 reply;          ///< kOccupied: an answer is due
    u8 bits;           ///< that came
    u8 waiting;        ///< queues, as bits
    u8 pad;
  };

  const V& v;
  Cycle now;
  u32 n = 0;
  Promises promises;
  u32 index[kTics];
  Item<W> item[kTics];
  u64 mail[kTics];
  u32 special = 0;  ///< TICs of which a port was not plain, as bits
  Now at[kTics];
  u64 sent = 0, accepted = 0;

  FLITLAB_INLINE Batch(const V& view, Cycle cycle) : v(view), now(cycle), promises(view.t) {}

  FLITLAB_INLINE TicControl& control(u32 i) const { return item[i].at(v.t.fields.control); }
  FLITLAB_INLINE Port& port(u32 i, u32 p) const { return item[i].at(v.t.fields.port, p); }
  FLITLAB_INLINE Slot& slot(u32 i, u32 place) const { return item[i].at(v.t.fields.slot, place); }
  FLITLAB_INLINE const Link& link(u32 i, u32 p) const { return v.t.links[index[i] * kPorts + p]; }
  FLITLAB_INLINE SingleTic tic(u32 i) const { return {v, item[i], index[i], now, control(i)}; }
  FLITLAB_INLINE const Message& arriving(u32 i, u32 p) const {
    return item[i].at(v.t.fields.arriving, (now & v.t.slot_mask) * kPorts + p);
  }

  /// Those of a list that are plain enough; the others are worked at once.
  FLITLAB_INLINE void gather(const u32* list, u32 count) {
    const auto& t = v.t;
    PortList<kTics> coming;
    u32 others = 0;
    for (u32 i = 0; i < count; ++i) {
      item[i] = v.tics[list[i]];
      const TicControl& c = control(i);
      mail[i] = item[i].at(t.fields.mail, now & t.slot_mask);
      coming.add(i, bytes_present(mail[i]));
      const bool asked = (c.held_control[0] | c.held_control[1]) != 0;
      const bool changed = c.counting <= kEveryCycle || c.enabled != (1u << kPorts) - 1;
      others |= u32{asked || changed} << i;
      for (u32 p = kSerial; p < kPorts; ++p) {
        const Link& l = t.links[list[i] * kPorts + p];
        if (l.kind == LinkKind::kHost) others |= u32{v.terminals[l.far].at(t.host_fields.host).out_count != 0} << i;
      }
    }
    for (u32 k = 0; k < coming.count; ++k) {
      const u32 i = coming.entry[k] / 8, p = coming.entry[k] % 8;
      const Message& m = arriving(i, p);
      const bool known = !m.control && (t.age != Age::kAll || !m.age);
      others |= static_cast<u32>(!known && mail[i] >> 8 * p & kPresent) << i;
      __builtin_prefetch(&item[i].at(t.fields.table, known ? u32{m.node} : 0u));
    }
    for (u32 i = 0; i < count; ++i) {
      index[n] = list[i];
      item[n] = item[i];
      mail[n] = mail[i];
      n += !(others >> i & 1);
    }
    for (; others; others &= others - 1) Phase::work(v, list[lowest_bit(others)], now);
    for (u32 i = 0; i < n; ++i) item[i].at(t.fields.mail, now & t.slot_mask) = 0;
  }

  FLITLAB_INLINE void create() {
    for (u32 p = kSerial; p < kPorts; ++p) {
      List due;
      u32 count = 0;
      for (u32 i = 0; i < n; ++i) {
        if (link(i, p).kind != LinkKind::kHost) continue;
        due[count] = static_cast<u8>(i);
        count += v.t.mode != TrafficMode::kOpen ||
                 v.terminals[link(i, p).far].at(v.t.terminal_fields.control).next.at <= now;
      }
      for (u32 k = 0; k < count; ++k) Phase::host_port(tic(due[k]), p, link(due[k], p).far).create();
    }
  }

  FLITLAB_INLINE void work_port(u32 p) {
    List hosts, odd, releasing, starting, answering, receiving;
    u32 host_count = 0, odd_count = 0, release_count = 0, start_count = 0, answer_count = 0, receive_count = 0;
    for (u32 i = 0; i < n; ++i) {
      const Link& l = link(i, p);
      if (l.kind == LinkKind::kNone) continue;
      if (l.kind == LinkKind::kHost) {
        hosts[host_count++] = static_cast<u8>(i);
        continue;
      }
      Port& own = port(i, p);
      const u32 first = v.t.slot_first[index[i] * kPorts + p], place = place_in_round(now, l.round);
      const Slot& s = slot(i, first + place);
      const u32 bits = static_cast<u32>(mail[i] >> 8 * p & 0xFF), heard = own.heard, reply = own.reply;
      const u32 waiting = static_cast<u32>(control(i).waiting >> p * kQueuesOfPort & 0xFF);
      const bool holds = s.buffer != kNoBuffer, readable = (heard & (kOccupied | kHit)) == kOccupied;
      const bool taken = readable & bool((heard / kAnswer ^ s.bits / kSending) & 1);
      const bool quiet = (own.doubtful & own.spoiled & own.sending) == kNoBuffer && !own.train.parts;
      const bool plain = quiet & (!holds | taken) & !(s.bits & (kHoldsQuad | kTooEarly)) &
                         !(bits & (kHit | kQuad | kAbort));
      if (!plain) {
        odd[odd_count++] = static_cast<u8>(i);
        continue;
      }
      at[i] = Now{static_cast<u16>(first + place), static_cast<u16>(first + (place ? place : l.round) - 1),
                  static_cast<u8>(reply), static_cast<u8>(bits), static_cast<u8>(waiting), 0};
      own.heard = static_cast<u8>(bits);
      own.reply = wants_answer(static_cast<u8>(bits)) ? kOccupied : u8{0};
      releasing[release_count] = starting[start_count] = answering[answer_count] = receiving[receive_count] =
          static_cast<u8>(i);
      release_count += holds;
      start_count += waiting != 0;
      answer_count += !waiting & (reply != 0);
      receive_count += bits & kPresent;
    }
    for (u32 k = 0; k < odd_count; ++k) {
      special |= 1u << odd[k];
      Phase::work_port(tic(odd[k]), p, static_cast<u8>(mail[odd[k]] >> 8 * p));
    }
    for (u32 k = 0; k < release_count; ++k) release(releasing[k], p);
    for (u32 k = 0; k < start_count; ++k) start(starting[k], p);
    for (u32 k = 0; k < answer_count; ++k) post(answering[k], p, 0);
    receive(receiving, receive_count, p);
    if (host_count) work_hosts(hosts, host_count, p);
  }

  /// What a slot holds on to has been taken.
  FLITLAB_INLINE void release(u32 i, u32 p) const {
    Slot& s = slot(i, at[i].slot);
    const u32 buffer = s.buffer, q = item[i].at(v.t.fields.buffer, buffer).queue;
    tic(i).hold_single(q, promises.to(link(i, p).kind, q % kQueuesOfPort), 0u - 1);
    control(i).free |= u64{1} << buffer;
    s.buffer = kNoBuffer;
    s.bits ^= kSending;
  }

  /// The message that is served next leaves.
  FLITLAB_INLINE void start(u32 i, u32 p) {
    Slot& s = slot(i, at[i].slot);
    const SingleTic t = tic(i);
    const Transmitter<V, W> transmitter{t, p, port(i, p)};
    const u32 q = transmitter.next_queue(at[i].waiting), buffer = t.queue(q).head;
    u8 bits;
    if (t.state(buffer).flags == kWaiting && t.message(buffer).flits == 1) {
      t.pop(q);
      transmitter.send(buffer);
      bits = single_bits(s);
      hold(s, static_cast<u8>(buffer), false);
    } else {
      special |= 1u << i;
      bits = transmitter.start(s, q);
    }
    ++port(i, p).carried;
    ++sent;
    post(i, p, bits);
  }

  FLITLAB_INLINE void post(u32 i, u32 p, u8 bits) const {
    const SingleTic t = tic(i);
    Transmitter<V, W>{t, p, port(i, p)}.post(sent_bits(bits, at[i].reply, answer_of(slot(i, at[i].before))));
  }

  FLITLAB_INLINE void receive(const List& receiving, u32 size, u32 p) {
    Choice<V, kTics> choice(promises);
    u32 known = 0;
    for (u32 k = 0; k < size; ++k) {
      const u32 i = receiving[k];
      const Message& m = arriving(i, p);
      const bool fresh = is_new(slot(i, at[i].slot), at[i].bits);
      choice.ask(fresh, i, m, item[i].at(v.t.fields.table, m.node));
      known += !fresh;
    }
    count(*v.shard, Count::kDuplicates, known);
    choice.decide(p, [&](u32 i) __attribute__((always_inline)) { return tic(i); });
    for (u32 k = 0; k < choice.count; ++k) {
      const u32 i = choice.who(k), q = choice.queue(k);
      if (q == kNone) {
        const SingleTic t = tic(i);
        Receiver<V, W>{t, p, port(i, p)}.refuse();
        continue;
      }
      take(slot(i, at[i].slot));
      store(i, *choice.message[k], p, q);
    }
  }

  FLITLAB_INLINE void store(u32 i, const Message& m, u32 source, u32 q) const {
    const SingleTic t = tic(i);
    t.hold_single(q, promises.to(link(i, q / kQueuesOfPort).kind, q % kQueuesOfPort), 1);
    t.put(m, source, 0, q);
  }

  FLITLAB_INLINE void work_hosts(const List& hosts, u32 count, u32 p) {
    List presenting, offering, single;
    u32 present_count = 0, offer_count = 0, single_count = 0;
    const bool plain = v.t.mode == TrafficMode::kOpen && !v.t.queues[p - kSerial];
    for (u32 k = 0; k < count; ++k) {
      const u32 i = hosts[k];
      const Port& own = port(i, p);
      const TerminalControl& c = v.terminals[link(i, p).far].at(v.t.terminal_fields.control);
      const bool presents = (own.sending != kNoBuffer) | ((control(i).waiting >> p * kQueuesOfPort & 0xFF) != 0);
      const bool waits = c.sent != c.created, enters = own.entering != 0;
      presenting[present_count] = offering[offer_count] = single[single_count] = static_cast<u8>(i);
      present_count += presents;
      offer_count += enters | !plain;
      single_count += plain & !enters & waits;
    }
    for (u32 k = 0; k < present_count; ++k) Phase::host_port(tic(presenting[k]), p, link(presenting[k], p).far).present();
    for (u32 k = 0; k < offer_count; ++k) {
      special |= 1u << offering[k];
      Phase::host_port(tic(offering[k]), p, link(offering[k], p).far).offer();
    }
    Choice<V, kTics> choice(promises);
    for (u32 k = 0; k < single_count; ++k) {
      const u32 i = single[k];
      const SingleTic t = tic(i);
      const auto host = Phase::host_port(t, p, link(i, p).far);
      host.queues().offers();
      const Message& m = host.host.offered;
      choice.ask(m.flits == 1, i, m, item[i].at(v.t.fields.table, m.node));
      if (m.flits == 1) continue;
      special |= 1u << i;
      host.accept(0);
    }
    choice.decide(p, [&](u32 i) __attribute__((always_inline)) { return tic(i); });
    for (u32 k = 0; k < choice.count; ++k) {
      const u32 i = choice.who(k), q = choice.queue(k);
      const SingleTic t = tic(i);
      const auto host = Phase::host_port(t, p, link(i, p).far);
      if (host.may_enter(q)) host.enter(0, q);
    }
  }

  FLITLAB_INLINE void finish() const {
    for (u32 i = 0; i < n; ++i) control(i).awake = mail[i] != 0;
    for (u32 set = special; set; set &= set - 1) Phase::end(tic(lowest_bit(set)));
    count(*v.shard, Count::kSlotsSent, sent);
    count(*v.shard, Total::kFlitMoves, sent);
  }
};

/// Up to kTics TICs, whose clocks are not emulated.
template <class Phase, class V>
FLITLAB_INLINE void step_many(const V& v, const u32* list, u32 count, Cycle now) {
  Batch<V, Phase> batch(v, now);
  batch.gather(list, count);
  batch.create();
  for (u32 p = 0; p < kPorts; ++p) batch.work_port(p);
  batch.finish();
}

}  // namespace flitlab::sconnect
