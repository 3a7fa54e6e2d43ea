#pragma once
/// The receiver of a channel (S-Connect, 3.1, 3.2). A message is stored, and can leave, before its CRC check ends with
/// the routing cycle. If the message is damaged and is already leaving, the transmitter aborts it (late abort);
/// otherwise the TIC drops it.
#include "kernels/routers/sconnect/control.hpp"
#include "kernels/routers/sconnect/totals.hpp"

namespace flitlab::sconnect {

template <class V, int W>
struct Receiver {
  const Tic<V, W>& tic;
  u32 p;
  Port& port;

  FLITLAB_INLINE Slot& slot(u32 slot_index) const {
    return tic.item.at(tic.v.t.fields.slot, tic.v.t.slot_first[tic.index * kPorts + p] + slot_index);
  }
  FLITLAB_INLINE u32 slot_index() const { return tic.now % tic.link(p).round; }
  FLITLAB_INLINE const Message& arriving() const {
    return tic.item.at(tic.v.t.fields.arriving, (tic.now & tic.v.t.slot_mask) * kPorts + p);
  }

  /// Drops a message that the CRC check of the previous cycle found damaged, unless it has left its queue.
  FLITLAB_INLINE void resolve_doubt(u8& doubtful) const {
    const u32 buffer = doubtful;
    if (buffer == kNoBuffer) return;
    doubtful = kNoBuffer;
    if (!(tic.state(buffer).flags & kWaiting)) return;  // the message is leaving: the transmitter aborts it
    tic.unlink(buffer);
    tic.release(buffer);
  }

  FLITLAB_INLINE u32 store(const Message& m, u8 flags, u32 q) const {
    tic.log(EventKind::kArrived, m, p, 0);
    tic.note(p, PortEvent::kReceived);
    return tic.store(m, p, flags, q);
  }

  FLITLAB_INLINE void refuse() const {
    add_to_register(port.refused);
    tic.note(p, PortEvent::kRefused);
    count(*tic.v.shard, Count::kRejected);
  }

  FLITLAB_INLINE void take_single(u8 bits, Slot& s) const {
    switch (note_single(s, bits)) {
      case Single::kKnown:
        if (!(bits & kHit)) count(*tic.v.shard, Count::kDuplicates);
        return;
      case Single::kDamaged: {
        // A damaged control message is not stored.
        const u32 q = arriving().control ? kNone : tic.decide(arriving(), p);
        if (q != kNone) port.doubtful = static_cast<u8>(store(arriving(), kBad, q));
        return;
      }
      case Single::kNew: return take_new(s);
      default: return;
    }
  }

  FLITLAB_INLINE void take_new(Slot& s) const {
    Message m = arriving();
    const ControlUnit<V, W> unit{tic};
    bool here;
    const u32 q = unit.next_queue_for(m, p, here);
    if (q == kNone) return refuse();
    take(s);
    if (here) unit.carry_out(m, p);
    if (q != kNowhere) store(m, 0, q);
  }

  FLITLAB_INLINE void take_part(u8 bits, u32 slot_index) const {
    const Train before = port.train;
    switch (note_part(port.train, bits, slot_index)) {
      case Part::kFirst: {
        const u32 q = tic.decide(arriving(), p);
        if (q == kNone) return refuse();
        port.train.buffer = static_cast<u8>(store(arriving(), kComing, q));
        return;
      }
      case Part::kWhole:
        if (!take_quad(slot(before.slot), bits)) return spoil(before.buffer);
        tic.state(before.buffer).flags &= static_cast<u8>(~kComing);
        return;
      case Part::kSpoiled: return spoil(before.buffer);
      default: return;
    }
  }

  /// Marks a quad as damaged; the quad is dropped in the next cycle.
  FLITLAB_INLINE void spoil(u32 buffer) const {
    if (buffer == kNoBuffer) return;
    tic.state(buffer).flags |= kBad;
    port.spoiled = static_cast<u8>(buffer);
  }

  /// Processes the slot that arrives in this cycle. `bits`: the slot's protocol bits; 0: no slot arrives.
  FLITLAB_INLINE void work(u8 bits) const {
    resolve_doubt(port.doubtful);
    resolve_doubt(port.spoiled);
    port.heard = bits;
    if (!bits) {
      if (port.train.parts) take_part(kHit, slot_index());  // a switched-off far end sends nothing
      return;
    }
    if (bits & kHit) {
      add_to_register(port.damaged);
      tic.note(p, PortEvent::kDamaged);
      count(*tic.v.shard, Count::kSlotsHit);
    }
    const u32 r = slot_index();
    if (concerns_quads(port.train, bits)) take_part(bits, r);
    take_single(bits, slot(r));
    if (needs_acknowledgment(bits)) port.reply = kOccupied;
  }
};

}  // namespace flitlab::sconnect
