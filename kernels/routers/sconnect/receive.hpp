#pragma once
/// The receiver of a channel (S-Connect, 3.1, 3.2). What comes is stored, and can leave, before it is known whether it
/// has come whole: a damaged message is a message until the cycle is over, and what of it is on its way out by then is
/// made void. One that is still waiting is thrown away.
#include "kernels/routers/sconnect/control.hpp"

namespace flitlab::sconnect {

template <class V, int W>
struct Receiver {
  const Tic<V, W>& tic;
  u32 p;
  Port& port;

  FLITLAB_INLINE Slot& slot(u32 place) const {
    return tic.item.at(tic.v.t.fields.slot, tic.v.t.slot_first[tic.index * kPorts + p] + place);
  }
  FLITLAB_INLINE u32 place() const { return tic.now % round_of(tic.link(p).delay); }
  FLITLAB_INLINE const Message& arriving() const {
    return tic.item.at(tic.v.t.fields.arriving, (tic.now & tic.v.t.slot_mask) * kPorts + p);
  }

  /// The check of the message of the last cycle is through: it was damaged.
  FLITLAB_INLINE void resolve_doubt() const {
    const u32 buffer = port.doubtful;
    if (buffer == kNoBuffer) return;
    port.doubtful = kNoBuffer;
    if (!(tic.state(buffer).flags & kWaiting)) return;  // on its way out: its transmitter makes it void
    tic.unlink(buffer);
    tic.release(buffer);
  }

  FLITLAB_INLINE u32 store(u8 flags) const {
    const Message& m = arriving();
    tic.log(EventKind::kArrived, m, p, 0);
    tic.note(p, PortEvent::kReceived);
    return ControlUnit<V, W>{tic}.store(m, p, flags);
  }

  FLITLAB_INLINE bool room() const {
    const Message& m = arriving();
    return tic.can_take(ControlUnit<V, W>{tic}.class_here(m), m.flits);
  }

  FLITLAB_INLINE void refuse() const {
    add_to_register(port.refused);
    tic.note(p, PortEvent::kRefused);
    count(*tic.v.shard, Total::kRejected);
  }

  FLITLAB_INLINE void take_single(u8 bits, Slot& s) const {
    if (bits & kAbort) return;
    if (!is_new(s, bits)) {
      if (!(bits & kHit)) count(*tic.v.shard, Total::kDuplicates);
      return;
    }
    if (bits & kHit) {
      if (room() && !arriving().control) port.doubtful = static_cast<u8>(store(kBad));
      return;
    }
    if (!room()) return refuse();
    take(s);
    store(0);
  }

  FLITLAB_INLINE void take_part(u8 bits, u32 place) const {
    const Train before = port.train;
    switch (note_part(port.train, bits, place)) {
      case Part::kFirst:
        if (room())
          port.train.buffer = static_cast<u8>(store(kComing));
        else
          refuse();
        return;
      case Part::kWhole: {
        Slot& first = slot(before.slot);
        if (is_new(first, bits)) {
          take(first);
          tic.state(before.buffer).flags &= static_cast<u8>(~kComing);
          return;
        }
        return spoil(before.buffer);
      }
      case Part::kSpoiled: return spoil(before.buffer);
      default: return;
    }
  }

  FLITLAB_INLINE void spoil(u32 buffer) const {
    if (buffer == kNoBuffer) return;
    tic.state(buffer).flags |= kBad;
    port.doubtful = static_cast<u8>(buffer);
  }

  FLITLAB_INLINE void work(u8 bits) const {
    resolve_doubt();
    port.heard = bits;
    if (!bits) {
      if (port.train.parts) take_part(kHit, place());  // nothing comes from who has been switched off
      return;
    }
    if (bits & kHit) {
      add_to_register(port.damaged);
      tic.note(p, PortEvent::kDamaged);
      count(*tic.v.shard, Total::kSlotsHit);
    }
    const u32 r = place();
    const bool part = bits & kQuad;
    if (port.train.parts || part) take_part(bits, r);
    if ((bits & kPresent) && !part) take_single(bits, slot(r));
    // An answer to an answer alone would never end.
    if (bits & (kPresent | kLast | kHit)) port.reply = static_cast<u8>(kOccupied | answer_of(slot(r)));
  }
};

}  // namespace flitlab::sconnect
