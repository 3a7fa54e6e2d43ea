#pragma once
/// A routing cycle of many TICs at once, for one CPU thread: a step of one port of all of them before the next step of
/// any, by lists that are made without branches (kernels/routers/vc/batch.hpp says why). Within a TIC the order is that
/// of TicPhase::work. What is plain goes by these steps: single data messages that come whole, taken or refused. A port
/// in which anything else happens is worked by the functions of a single TIC, and so is all of a TIC that software has
/// changed or asks something of.
#include "kernels/routers/sconnect/choice.hpp"
#include "kernels/routers/sconnect/gather.hpp"
#include "kernels/routers/sconnect/receive.hpp"
#include "kernels/routers/sconnect/transmit.hpp"

namespace flitlab::sconnect {

template <class V, class Phase>
struct Batch : Gathered<V, Phase> {
  using Base = Gathered<V, Phase>;
  using Base::arriving, Base::control, Base::host, Base::link, Base::list_of, Base::note, Base::note_all, Base::place,
      Base::port, Base::slot, Base::tic, Base::waiting_at;
  using Base::v, Base::now, Base::n, Base::item, Base::mail, Base::slot_first, Base::channels, Base::hosts, Base::busy,
      Base::offers, Base::requeued, Base::special;
  using typename Base::List, typename Base::SingleTic;
  static constexpr int W = V::width;

  // Of a channel: its slot of this cycle and of the one before, by their places in TicFields::slot; whether an answer
  // is due; what came; queues that wait.
  u16 slot_now[kTics], slot_before[kTics];
  u8 reply[kTics], bits[kTics], waiting[kTics];
  u8 again[kTics];  ///< buffers of what has come back by a port, by asker
  u64 sent = 0;

  FLITLAB_INLINE Batch(const V& view, Cycle cycle) : Base(view, cycle) {}

  FLITLAB_INLINE void work_port(u32 p) {
    List list;
    work_channels(list, list_of(busy[p] & channels[p], list), p);
    if (p >= kSerial) work_hosts(p);
  }

  FLITLAB_INLINE void work_channels(const List& list, u32 size, u32 p) {
    List odd, releasing, failing, starting, answering, receiving;
    u32 odd_count = 0, release_count = 0, fail_count = 0, start_count = 0, answer_count = 0, receive_count = 0;
    for (u32 k = 0; k < size; ++k) {
      const u32 i = list[k];
      Port& own = port(i, p);
      const u32 round = link(i, p).round, in_round = place(round), here = slot_first[i][p] + in_round;
      const Slot s = slot(i, here);
      const u32 came = reinterpret_cast<const u8*>(&mail[i])[p], heard = own.heard;
      const bool holds = s.buffer != kNoBuffer, readable = (heard & (kOccupied | kHit)) == kOccupied;
      const bool taken = readable & ((heard / kAnswer ^ s.bits / kSending) & 1);
      const bool quiet = ((own.doubtful & own.spoiled & own.sending) == kNoBuffer) & !own.train.parts;
      const bool clear = !((came & (kHit | kQuad | kAbort)) | (s.bits & (kHoldsQuad | kTooEarly)));
      const bool plain = quiet & (!holds | readable) & clear;
      odd[odd_count] = static_cast<u8>(i);
      odd_count += !plain;
      if (!plain) continue;
      slot_now[i] = static_cast<u16>(here);
      slot_before[i] = static_cast<u16>(here + (in_round ? 0 : round) - 1);
      reply[i] = own.reply;
      bits[i] = static_cast<u8>(came);
      waiting[i] = static_cast<u8>(waiting_at(i, p));
      releasing[release_count] = failing[fail_count] = starting[start_count] = answering[answer_count] =
          receiving[receive_count] = static_cast<u8>(i);
      release_count += holds & taken;
      fail_count += holds & !taken;
      start_count += waiting[i] != 0;
      answer_count += !waiting[i] & (own.reply != 0);
      receive_count += came & kPresent;
      own.heard = static_cast<u8>(came);
      own.reply = wants_answer(static_cast<u8>(came)) ? kOccupied : u8{0};
    }
    for (u32 k = 0; k < odd_count; ++k) {
      special |= u64{1} << odd[k];
      Phase::work_port(tic(odd[k]), p, static_cast<u8>(mail[odd[k]] >> 8 * p));
      note_all(odd[k]);
    }
    for (u32 k = 0; k < release_count; ++k) release(releasing[k]);
    for (u32 k = 0; k < fail_count; ++k) {
      const SingleTic t = tic(failing[k]);
      Slot& s = slot(failing[k], slot_now[failing[k]]);
      Transmitter<V, W>{t, p, t.port(p)}.come_back(s.buffer);
      __builtin_prefetch(&t.item.at(v.t.fields.table, t.message(s.buffer).node));
      s.buffer = kNoBuffer;
      requeued[p] |= u64{1} << failing[k];
    }
    for (u32 k = 0; k < start_count; ++k) start(starting[k], p);
    for (u32 k = 0; k < answer_count; ++k) post(answering[k], p, 0);
    receive(receiving, receive_count, p);
  }

  /// What a slot holds on to has been taken.
  FLITLAB_INLINE void release(u32 i) const {
    Slot& s = slot(i, slot_now[i]);
    const u32 buffer = s.buffer, q = item[i].at(v.t.fields.buffer, buffer).queue;
    tic(i).release_single(q);
    control(i).free |= u64{1} << buffer;
    s.buffer = kNoBuffer;
    s.bits ^= kSending;
  }

  /// The message that is served next leaves.
  FLITLAB_INLINE void start(u32 i, u32 p) {
    Slot& s = slot(i, slot_now[i]);
    const SingleTic t = tic(i);
    const Transmitter<V, W> transmitter{t, p, port(i, p)};
    const u32 q = transmitter.next_queue(waiting[i]), buffer = t.queue(q).head;
    u8 bits;
    if (t.state(buffer).flags == kWaiting && t.message(buffer).flits == 1) {
      t.pop(q);
      transmitter.send(buffer);
      bits = single_bits(s);
      hold(s, static_cast<u8>(buffer), false);
    } else {
      special |= u64{1} << i;
      bits = transmitter.start(s, q);
    }
    ++port(i, p).carried;
    ++sent;
    post(i, p, bits);
  }

  FLITLAB_INLINE void post(u32 i, u32 p, u8 bits) const {
    const SingleTic t = tic(i);
    Transmitter<V, W>{t, p, port(i, p)}.post(sent_bits(bits, reply[i], answer_of(slot(i, slot_before[i]))));
  }

  FLITLAB_INLINE void receive(const List& receiving, u32 size, u32 p) {
    Choice<V, kTics> choice;
    u32 known = 0;
    for (u32 k = 0; k < size; ++k) {
      const u32 i = receiving[k];
      const Message& m = arriving(i, p);
      const bool fresh = is_new(slot(i, slot_now[i]), bits[i]);
      choice.ask(fresh, i, m, item[i].at(v.t.fields.table, m.node));
      known += !fresh;
    }
    count(*v.shard, Count::kDuplicates, known);
    choice.decide(p, [&](u32 i) __attribute__((always_inline)) { return tic(i); });
    List taken;  // askers
    u32 take_count = 0;
    for (u32 k = 0; k < choice.count; ++k) {
      const bool any = choice.best[k] != kNone;
      taken[take_count] = static_cast<u8>(k);
      take_count += any;
      u16& refused = port(choice.who(k), p).refused;
      refused = static_cast<u16>(refused + (!any & (refused < 0xFFFF)));
    }
    count(*v.shard, Count::kRejected, choice.count - take_count);
    for (u32 k = 0; k < take_count; ++k) {
      const u32 asker = taken[k], i = choice.who(asker);
      take(slot(i, slot_now[i]));
      store(i, *choice.message[asker], p, choice.queue(asker));
    }
  }

  FLITLAB_INLINE void store(u32 i, const Message& m, u32 source, u32 q) {
    const SingleTic t = tic(i);
    t.hold_single(q);
    t.put(m, source, 0, q);
    note(i, q);
  }

  FLITLAB_INLINE void work_hosts(u32 p) {
    List list, singles;
    u32 single_count = 0;
    const bool plain = v.t.mode == TrafficMode::kOpen && !v.t.queues[p - kSerial];
    for (u32 k = 0, size = list_of(busy[p] & hosts[p], list); k < size; ++k) {
      const SingleTic t = tic(list[k]);
      host(t, p).present();
    }
    for (u32 k = 0, size = list_of(offers[p], list); k < size; ++k) {
      const u32 i = list[k];
      const SingleTic t = tic(i);
      singles[single_count] = static_cast<u8>(i);
      single_count += plain & !t.port(p).entering;
      if (plain && !t.port(p).entering) continue;
      host(t, p).offer();
      special |= u64{1} << i;
      note_all(i);
    }
    Choice<V, kTics> choice;
    for (u32 k = 0; k < single_count; ++k) {
      const u32 i = singles[k];
      const SingleTic t = tic(i);
      const auto from = host(t, p);
      if (!from.queues().offers()) continue;
      const Message& m = from.host.offered;
      choice.ask(m.flits == 1, i, m, item[i].at(v.t.fields.table, m.node));
      if (m.flits == 1) continue;
      special |= u64{1} << i;
      from.accept(0);
      note_all(i);
    }
    choice.decide(p, [&](u32 i) __attribute__((always_inline)) { return tic(i); });
    for (u32 k = 0; k < choice.count; ++k) {
      const SingleTic t = tic(choice.who(k));
      const auto from = host(t, p);
      if (!from.may_enter(choice.queue(k))) continue;
      from.enter(0, choice.queue(k));
      note(choice.who(k), choice.queue(k));
    }
  }

  /// What has come back by a port is routed anew.
  FLITLAB_INLINE void route_again(u32 p) {
    List list;
    Choice<V, kTics> choice;
    for (u32 k = 0, size = list_of(requeued[p], list); k < size; ++k) {
      const u32 i = list[k];
      const SingleTic t = tic(i);
      const u32 buffer = t.port(p).requeued;
      const Message& m = t.message(buffer);
      t.port(p).requeued = kNoBuffer;
      if (!SingleTic::is_single(m) || t.state(buffer).flags & kBad) {
        t.route_again(buffer, p);
        continue;
      }
      again[choice.count] = static_cast<u8>(buffer);
      t.release_single(t.state(buffer).queue);
      choice.ask(true, i, m, item[i].at(v.t.fields.table, m.node));
    }
    choice.decide(p, [&](u32 i) __attribute__((always_inline)) { return tic(i); });
    for (u32 k = 0; k < choice.count; ++k) {
      const SingleTic t = tic(choice.who(k));
      const u32 q = choice.best[k] == kNone ? t.state(again[k]).queue : choice.queue(k);
      t.hold_single(q);
      t.push(q, again[k]);
    }
  }

  FLITLAB_INLINE void finish() {
    for (u32 i = 0; i < n; ++i) control(i).awake = mail[i] != 0;
    for (u64 set = special; set; set &= set - 1) {
      const u32 i = lowest_bit(set);
      control(i).awake = Phase::is_awake(tic(i));
      for (u32 p = 0; p < kPorts; ++p) requeued[p] |= u64{port(i, p).requeued != kNoBuffer} << i;
    }
    for (u32 p = 0; p < kPorts; ++p)
      if (requeued[p]) route_again(p);
    count(*v.shard, Count::kSlotsSent, sent);
    count(*v.shard, Total::kFlitMoves, sent);
  }
};

/// Up to kTics TICs, whose clocks are not emulated.
template <class Phase, class V>
FLITLAB_INLINE void step_many(const V& v, const u32* list, u32 count, Cycle now) {
  Batch<V, Phase> batch(v, now);
  batch.gather(list, count);
  for (u32 p = 0; p < kPorts; ++p) batch.work_port(p);
  batch.finish();
}

}  // namespace flitlab::sconnect
