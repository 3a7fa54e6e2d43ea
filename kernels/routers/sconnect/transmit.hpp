#pragma once
/// The transmitter of a channel (S-Connect, 3, 3.2). Its turn in a routing cycle is the clock of its number: the order
/// of the transmitters is that of the pipeline, and what has come by a port before it can leave at once.
#include "kernels/common/philox.hpp"
#include "kernels/common/streams.hpp"
#include "kernels/routers/sconnect/tic.hpp"

namespace flitlab::sconnect {

template <class V, int W>
struct Transmitter {
  const Tic<V, W>& tic;
  u32 p;
  Port& port;

  FLITLAB_INLINE Slot& slot(u32 back = 0) const {
    const u32 round = round_of(tic.link(p).delay);
    return tic.item.at(tic.v.t.fields.slot, tic.v.t.slot_first[tic.index * kPorts + p] + (tic.now - back) % round);
  }

  /// The outcome of what went a round ago. Returns whether it goes again: nobody knows.
  FLITLAB_INLINE bool settle_slot(Slot& s) const {
    const u32 buffer = s.buffer;
    const Outcome outcome = settle(s, port.heard);
    if (outcome == Outcome::kTaken) {
      tic.release(buffer);
    } else if (outcome == Outcome::kFailed) {
      come_back(buffer);
    } else if (outcome == Outcome::kUnknown) {
      add_to_register(port.lost);
      count(*tic.v.shard, Total::kAnswersLost);
      return true;
    }
    return false;
  }

  FLITLAB_INLINE void come_back(u32 buffer) const {
    Message& m = tic.message(buffer);
    if (m.age < 0xFF) ++m.age;
    m.tried = static_cast<u8>(p);
    port.requeued = static_cast<u8>(buffer);
    add_to_register(port.failed);
    tic.note(p, PortEvent::kCameBack);
    count(*tic.v.shard, Total::kFailed);
  }

  /// Queue that is served: the highest priority; virtual channels in turns.
  FLITLAB_INLINE u32 next_queue() const {
    const u32 waiting = static_cast<u32>(tic.control.waiting >> p * kClasses & 0xFF);
    if (!waiting) return kNone;
    const u32 priority = (bit_width(waiting) - 1) / kVcs, vcs = waiting >> priority * kVcs & 3;
    const u32 first = tic.control.next_vc >> p & 1, vc = vcs >> first & 1 ? first : 1 - first;
    tic.control.next_vc = static_cast<u8>((tic.control.next_vc & ~(1u << p)) | (1 - vc) << p);
    return tic.queue_of(p, priority, vc);
  }

  /// What has come in damaged goes out void. Its buffer is free at once: nobody will ask for it again.
  FLITLAB_INLINE void annihilate(u32 buffer) const {
    const u32 source = tic.state(buffer).source;
    if (tic.port(source).doubtful == buffer) tic.port(source).doubtful = kNoBuffer;
    tic.release(buffer);
    count(*tic.v.shard, Total::kAborted);
  }

  FLITLAB_INLINE u8 start(Slot& s) const {
    const u32 q = next_queue();
    if (q == kNone) return 0;
    const u32 buffer = tic.pop(q);
    const Message& m = tic.message(buffer);
    tic.log(EventKind::kSwitchGranted, m, tic.state(buffer).source, q);
    send(buffer);
    const bool quad = m.flits > 1;
    const u8 bits = static_cast<u8>(kPresent | sequence_of(s) | (quad ? kQuad : 0));
    if (!quad && tic.state(buffer).flags & kBad) {
      annihilate(buffer);
      return bits | kAbort;
    }
    hold(s, static_cast<u8>(buffer), quad);
    if (quad) {
      port.sending = static_cast<u8>(buffer);
      port.parts = 1;
    }
    return bits;
  }

  /// The next part of a quad.
  FLITLAB_INLINE u8 go_on() const {
    Slot& first = slot(port.parts);
    u8 bits = static_cast<u8>(kPresent | kQuad | sequence_of(first));
    send(port.sending);
    if (++port.parts < kQuadParts) return bits;
    const u32 buffer = port.sending;
    port.sending = kNoBuffer;
    bits |= kLast;
    if (!(tic.state(buffer).flags & kBad)) return bits;
    first.buffer = kNoBuffer;
    first.bits &= static_cast<u8>(~(kHoldsQuad | kTooEarly));
    annihilate(buffer);
    return bits | kAbort;
  }

  /// The channel is off: a quad of which parts have gone has been sent to nobody, and is routed anew. No answer that
  /// was due is given, or it would be taken for one to something else when the channel is on again. Returns whether
  /// there was a quad.
  FLITLAB_INLINE bool cut_off() const {
    port.reply = 0;
    if (port.sending == kNoBuffer) return false;
    Slot& first = slot(port.parts);
    first.buffer = kNoBuffer;
    first.bits &= static_cast<u8>(~(kHoldsQuad | kTooEarly));
    port.requeued = port.sending;
    tic.message(port.sending).tried = static_cast<u8>(p);
    port.sending = kNoBuffer;
    return true;
  }

  /// Puts a buffer's message into the far end's mail. Parts of a quad all bear what it is.
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

  /// Whether bits of the slot are hit on the way. Channels between parallel ports are free of errors.
  FLITLAB_INLINE bool hit() const {
    const auto& t = tic.v.t;
    if (!t.hit_threshold || tic.link(p).kind != LinkKind::kSerial) return false;
    const u32 draw = philox(tic.v.row->seed, stream::kSconnectError, 8 * tic.index + p, tic.now).word[0];
    return draw < t.hit_threshold;
  }

  FLITLAB_INLINE void work() const {
    const auto& t = tic.v.t;
    Slot& s = slot();
    const bool again = settle_slot(s);
    port.heard = 0;
    u8 bits = 0;
    if (port.sending != kNoBuffer) {
      bits = go_on();
    } else if (again) {
      bits = static_cast<u8>(kPresent | sequence_of(s));
      send(s.buffer);
      count(*tic.v.shard, Total::kSentAgain);
    } else if (s.buffer == kNoBuffer) {
      bits = start(s);
    } else {
      bits = kLast;
    }
    if (bits & kPresent) {
      ++port.carried;
      tic.note(p, PortEvent::kSent);
      count(*tic.v.shard, Total::kSlotsSent);
      count(*tic.v.shard, Total::kFlitMoves);
    }
    bits |= port.reply;
    port.reply = 0;
    if (!bits) return;
    // Whatever is sent has the answer to what came last, even if nothing did: the far end may ask about a message that
    // came when one of the ports was off.
    bits |= kOccupied | answer_of(slot(1));
    if (hit()) bits |= kHit;
    const Link& link = tic.link(p);
    reinterpret_cast<u8*>(&tic.v.tics[link.far].at(t.fields.mail, (tic.now + link.delay) & t.slot_mask))[link.port] =
        bits;
  }
};

}  // namespace flitlab::sconnect
