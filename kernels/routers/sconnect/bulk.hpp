#pragma once
/// A routing cycle of many TICs in bulk, for one CPU thread: each step of a port is executed for all TICs before the
/// next step. Sets of TICs replace unpredictable branches (kernels/common/lists.hpp gives the reason). Within a TIC
/// the order is that of TicPhase::work. These steps handle undamaged single data messages. A port in any other
/// situation uses the functions of a single TIC. So does a TIC that software has changed or that handles control
/// messages.
///
/// Rules for single data messages therefore exist here and in transmit.hpp, receive.hpp and tic.hpp, whose functions
/// also handle quads, damage and control messages. Measured on one core, these steps are 1.5 and 1.6 times as fast as
/// those functions (8x8 mesh, loads of 0.05 and 0.2; 2026-11-30).
#include "kernels/routers/sconnect/choice.hpp"
#include "kernels/routers/sconnect/gather.hpp"
#include "kernels/routers/sconnect/receive.hpp"
#include "kernels/routers/sconnect/transmit.hpp"

namespace flitlab::sconnect {

/// TICs that are processed together, and the steps of their ports.
template <class V, class Phase>
struct BulkStep : Gathered<V, Phase> {
  using Base = Gathered<V, Phase>;
  using Base::arriving, Base::arrival_bits, Base::control, Base::for_each, Base::host, Base::link, Base::note,
      Base::note_all, Base::now_modulo, Base::port, Base::slot, Base::tic, Base::waiting_at;
  using Base::v, Base::now, Base::n, Base::item, Base::arriving_bits, Base::slot_first, Base::channels, Base::hosts,
      Base::waits, Base::work, Base::offers, Base::presents, Base::requeued, Base::slot_now, Base::special;
  using typename Base::SingleTic;
  static constexpr int W = V::width;

  u8 again[kTics];  ///< [request] buffers of the messages that one port has returned to the router
  u64 sent = 0;

  FLITLAB_INLINE BulkStep(const V& view, Cycle cycle) : Base(view, cycle) {}

  FLITLAB_INLINE void work_port(u32 p) {
    if (channels[p]) work_channels(p);
    if (p >= kSerial) work_hosts(p);
  }

  FLITLAB_INLINE void work_channels(u32 p) {
    const Work& todo = work[p];
    const u64 starting = waits[p] & channels[p] & ~todo.odd;
    special |= todo.odd;
    for_each(todo.odd, [&](u32 i) {
      Phase::work_port(tic(i), p, static_cast<u8>(arrival_bits(i, p)));
      note_all(i);
    });
    for_each(todo.taken, [&](u32 i) { release(i, p); });
    for_each(todo.failed, [&](u32 i) {
      const SingleTic t = tic(i);
      Slot& s = slot(i, slot_now[p][i]);
      Transmitter<V, W>{t, p, t.port(p)}.return_to_router(s.buffer);
      __builtin_prefetch(&t.item.at(v.t.fields.table, t.message(s.buffer).node));
      s.buffer = kNoBuffer;
    });
    requeued[p] |= todo.failed;
    for_each(starting, [&](u32 i) { start(i, p); });
    for_each(todo.due & ~starting, [&](u32 i) { put_byte(i, p, 0); });
    receive(todo.comes, p);
  }

  /// Releases the buffer of a slot's message, which the far end has accepted.
  FLITLAB_INLINE void release(u32 i, u32 p) const {
    Slot& s = slot(i, slot_now[p][i]);
    tic(i).release_buffer_of_single(s.buffer);
    s.buffer = kNoBuffer;
    s.bits ^= kSending;
  }

  /// Sends the message that is served next.
  FLITLAB_INLINE void start(u32 i, u32 p) {
    Slot& s = slot(i, slot_now[p][i]);
    const SingleTic t = tic(i);
    const Transmitter<V, W> transmitter{t, p, port(i, p)};
    const u32 q = transmitter.next_queue(waiting_at(i, p)), buffer = t.queue(q).head;
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
    put_byte(i, p, bits);
  }

  FLITLAB_INLINE void put_byte(u32 i, u32 p, u8 bits) const {
    const SingleTic t = tic(i);
    const u32 now_at = slot_now[p][i], first = slot_first[i][p];
    const Slot& before = slot(i, (now_at == first ? now_at + link(i, p).round : now_at) - 1);
    const u8 due = static_cast<u8>((work[p].due >> i & 1) * kOccupied);
    Transmitter<V, W>{t, p, port(i, p)}.put_byte(sent_bits(bits, due, acknowledgment_of(before)));
  }

  FLITLAB_INLINE void receive(u64 receiving, u32 p) {
    Choice<V, kTics> choice;
    u32 known = 0;
    for_each(receiving, [&](u32 i) {
      const Message& m = arriving(i, p);
      const bool fresh = is_new(slot(i, slot_now[p][i]), static_cast<u8>(arrival_bits(i, p)));
      choice.add_request(fresh, i, m, item[i].at(v.t.fields.table, m.node));
      known += !fresh;
    });
    count(*v.shard, Count::kDuplicates, known);
    choice.decide(p, [&](u32 i) __attribute__((always_inline)) { return tic(i); });
    ItemList<kTics> taken;  // requests that get a queue
    for (u32 k = 0; k < choice.count(); ++k) {
      const bool any = choice.best[k] != kNone;
      taken.add(k, any);
      u16& refused = port(choice.tic_of_request(k), p).refused;
      refused = static_cast<u16>(refused + (!any & (refused < 0xFFFF)));
    }
    count(*v.shard, Count::kRejected, choice.count() - taken.count);
    for (u32 requester : taken) {
      const u32 i = choice.tic_of_request(requester);
      take(slot(i, slot_now[p][i]));
      store(i, *choice.message[requester], p, choice.queue(requester));
    }
  }

  FLITLAB_INLINE void store(u32 i, const Message& m, u32 source, u32 q) {
    tic(i).store_single(m, source, q);
    note(i, q);
  }

  FLITLAB_INLINE void work_hosts(u32 p) {
    ItemList<kTics> singles;
    const bool plain = v.t.mode == TrafficMode::kOpen && !v.t.queues[p - kSerial];
    for_each((waits[p] | presents[p]) & hosts[p], [&](u32 i) {
      const SingleTic t = tic(i);
      host(t, p).present();
    });
    for_each(offers[p], [&](u32 i) {
      const SingleTic t = tic(i);
      singles.add(i, plain & !t.port(p).entering);
      if (plain && !t.port(p).entering) return;
      host(t, p).offer();
      special |= u64{1} << i;
      note_all(i);
    });
    Choice<V, kTics> choice;
    for (u32 i : singles) {
      const SingleTic t = tic(i);
      const auto from = host(t, p);
      if (!from.queues().offers()) continue;
      const Message& m = from.host.offered;
      choice.add_request(m.flits == 1, i, m, item[i].at(v.t.fields.table, m.node));
      if (m.flits == 1) continue;
      special |= u64{1} << i;
      from.accept(0);
      note_all(i);
    }
    choice.decide(p, [&](u32 i) __attribute__((always_inline)) { return tic(i); });
    for (u32 k = 0; k < choice.count(); ++k) {
      const SingleTic t = tic(choice.tic_of_request(k));
      const auto from = host(t, p);
      if (!from.may_enter(choice.queue(k))) continue;
      from.enter(0, choice.queue(k));
      note(choice.tic_of_request(k), choice.queue(k));
    }
  }

  /// Routes again the messages that port p has returned to the router.
  FLITLAB_INLINE void route_again(u32 p) {
    Choice<V, kTics> choice;
    for_each(requeued[p], [&](u32 i) {
      const SingleTic t = tic(i);
      const u32 buffer = t.port(p).requeued;
      const Message& m = t.message(buffer);
      t.port(p).requeued = kNoBuffer;
      if (!SingleTic::is_single(m) || t.state(buffer).flags & kBad) {
        t.route_again(buffer, p);
        return;
      }
      again[choice.count()] = static_cast<u8>(buffer);
      t.release_single(t.state(buffer).queue);
      choice.add_request(true, i, m, item[i].at(v.t.fields.table, m.node));
    });
    choice.decide(p, [&](u32 i) __attribute__((always_inline)) { return tic(i); });
    for (u32 k = 0; k < choice.count(); ++k) {
      const SingleTic t = tic(choice.tic_of_request(k));
      const u32 q = choice.best[k] == kNone ? t.state(again[k]).queue : choice.queue(k);
      t.hold_single(q);
      t.push(q, again[k]);
    }
  }

  FLITLAB_INLINE void finish() {
    for (u32 i = 0; i < n; ++i) control(i).awake = arriving_bits[i] != 0;
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

/// Runs a routing cycle of the listed TICs. Their clocks must not be emulated.
template <class Phase, class V>
FLITLAB_INLINE void step_many(const V& v, const u32* list, u32 count, Cycle now) {
  const u32 most = is_far(v) ? kFarTics : kTics;
  for (u32 first = 0; first < count; first += most) {
    BulkStep<V, Phase> batch(v, now);
    batch.gather(list + first, count - first < most ? count - first : most);
    for (u32 p = 0; p < kPorts; ++p) batch.work_port(p);
    batch.finish();
  }
}

}  // namespace flitlab::sconnect
