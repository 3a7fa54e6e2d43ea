#pragma once
/// The transmitter of a channel (S-Connect, 3, 3.2). Port p's turn is clock p of the routing cycle, so a
/// message that arrived at a port with a lower number can leave in the same cycle.
#include "kernels/common/philox.hpp"
#include "kernels/routers/sconnect/streams.hpp"
#include "kernels/routers/sconnect/tic.hpp"
#include "kernels/routers/sconnect/totals.hpp"

namespace flitlab::sconnect {

template <class V, int W>
struct Transmitter {
  const Tic<V, W>& tic;
  u32 p;
  Port& port;

  /// Returns the slot of this cycle, or of `back` cycles ago.
  FLITLAB_INLINE Slot& slot(u32 back = 0) const {
    return tic.item.at(tic.v.t.fields.slot,
                       tic.v.t.slot_first[tic.index * kPorts + p] + (tic.now - back) % tic.link(p).round);
  }

  /// Determines the outcome of the message sent one round ago. Releases the message's buffer, or returns the message to
  /// the router.
  FLITLAB_INLINE Outcome settle_slot(Slot& s) const {
    const u32 buffer = s.buffer;
    const Outcome outcome = settle(s, port.heard);
    port.heard = 0;
    if (outcome == Outcome::kTaken) {
      tic.release(buffer);
    } else if (outcome == Outcome::kFailed) {
      return_to_router(buffer);
    } else if (outcome == Outcome::kUnknown) {
      add_to_register(port.lost);
      count(*tic.v.shard, Count::kAnswersLost);
    }
    return outcome;
  }

  /// Returns a message whose transmission failed to the router.
  FLITLAB_INLINE void return_to_router(u32 buffer) const {
    Message& m = tic.message(buffer);
    if (m.age < 0xFF) ++m.age;
    m.tried = static_cast<u8>(p);
    port.requeued = static_cast<u8>(buffer);
    add_to_register(port.failed);
    tic.note(p, PortEvent::kCameBack);
    count(*tic.v.shard, Count::kFailed);
  }

  /// Returns the port's non-empty queues, as bits.
  FLITLAB_INLINE u32 waiting() const { return static_cast<u32>(tic.control.waiting >> p * kQueuesOfPort & 0xFF); }

  /// Returns the non-empty queue that is served. It has the highest priority of them; the virtual channels of a
  /// priority alternate.
  FLITLAB_INLINE u32 next_queue(u32 waiting) const {
    const u32 priority = log2_floor(waiting) / kVcs, vcs = waiting >> priority * kVcs & 3;
    const u32 first = tic.control.next_vc >> p & 1, vc = first ^ (~vcs >> first & 1);
    tic.control.next_vc = static_cast<u8>((tic.control.next_vc & ~(1u << p)) | (1 - vc) << p);
    return tic.queue_of(p, priority, vc);
  }

  /// Sends the first message of a queue. Returns the protocol bits to send.
  FLITLAB_INLINE u8 start(Slot& s, u32 q) const {
    const u32 buffer = tic.pop(q);
    const Message& m = tic.message(buffer);
    tic.log(EventKind::kSwitchGranted, m, tic.state(buffer).source, q);
    send(buffer);
    const bool quad = m.flits > 1;
    const u8 bits = quad ? part_bits(s, 0) : single_bits(s);
    // A damaged message is sent with an abort (kAbort). Its buffer is free at once, because the message is never sent
    // again.
    if (!quad && tic.state(buffer).flags & kBad) {
      tic.drop_void(buffer);
      return bits | kAbort;
    }
    hold(s, static_cast<u8>(buffer), quad);
    if (quad) {
      port.sending = static_cast<u8>(buffer);
      port.parts = 1;
    }
    return bits;
  }

  /// Sends the next part of a quad. Returns the protocol bits to send.
  FLITLAB_INLINE u8 send_next_part() const {
    Slot& first = slot(port.parts);
    const u8 bits = part_bits(first, port.parts);
    send(port.sending);
    if (++port.parts < kQuadParts) return bits;
    const u32 buffer = port.sending;
    port.sending = kNoBuffer;
    if (!(tic.state(buffer).flags & kBad)) return bits;
    release_void(first);
    tic.drop_void(buffer);
    return bits | kAbort;
  }

  /// Writes a message into the far end's inbox. A quad is written with each of its parts.
  FLITLAB_INLINE void send(u32 buffer) const {
    const Message& m = tic.message(buffer);
    const Link& link = tic.link(p);
    const auto& t = tic.v.t;
    Message& there =
        tic.v.tics[link.far].at(t.fields.arriving, ((tic.now + link.delay) & t.slot_mask) * kPorts + link.port);
    there = m;
    there.vc = static_cast<u8>(tic.state(buffer).queue % kVcs);
    there.tried = kPorts;
    if (!m.control) ++there.hops;
  }

  /// Returns whether a bit error damages the slot. Channels between parallel ports have no errors.
  FLITLAB_INLINE bool hit() const {
    const auto& t = tic.v.t;
    if (!t.hit_threshold || tic.link(p).kind != LinkKind::kSerial) return false;
    const u32 draw = philox(tic.v.row->seed, sconnect::stream::kError, 8 * tic.index + p, tic.now).word[0];
    return draw < t.hit_threshold;
  }

  FLITLAB_INLINE u8 send_again(const Slot& s) const {
    send(s.buffer);
    count(*tic.v.shard, Count::kSentAgain);
    return single_bits(s);
  }

  /// Does the transmitter's work in the port's turn: settles the slot of this cycle and fills it again.
  FLITLAB_INLINE void work() const {
    Slot& s = slot();
    const Outcome outcome = settle_slot(s);
    u8 bits = kRequestBits;
    switch (turn_of(s, outcome, port.sending != kNoBuffer)) {
      case Turn::kPart: bits = send_next_part(); break;
      case Turn::kAgain: bits = send_again(s); break;
      case Turn::kStart: bits = waiting() ? start(s, next_queue(waiting())) : u8{0}; break;
      case Turn::kRequest: break;
    }
    if (bits & kPresent) {
      ++port.carried;
      tic.note(p, PortEvent::kSent);
      count(*tic.v.shard, Count::kSlotsSent);
      count(*tic.v.shard, Total::kFlitMoves);
    }
    bits = sent_bits(bits, port.reply, acknowledgment_of(slot(1)));
    port.reply = 0;
    if (bits) put_byte(bits);
  }

  /// Writes protocol bits to the far end's inbox.
  FLITLAB_INLINE void put_byte(u8 bits) const {
    const auto& t = tic.v.t;
    if (hit() || tic.silent(p)) bits |= kHit;
    const Link& link = tic.link(p);
    reinterpret_cast<u8*>(&tic.v.tics[link.far].at(t.fields.mail, (tic.now + link.delay) & t.slot_mask))[link.port] =
        bits;
  }
};

}  // namespace flitlab::sconnect
