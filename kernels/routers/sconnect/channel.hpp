#pragma once
/// The channel protocol (S-Connect, 3.2). A channel has a fixed number of slots, which the transmitter uses in turn,
/// one in each routing cycle. A round, after which the first slot is used again, takes delay + back + 2 routing cycles:
/// `delay` to the far end, `back` for the opposite direction, and one cycle at each end. After a round, the transmitter
/// has the acknowledgment of a slot and reuses the slot. Each slot is an independent protocol engine with a window of
/// one bit. Each end counts its own routing cycles; a delay converts one count to the other, so the delays of the two
/// directions can differ (host/routers/sconnect/build.hpp). Time in routing cycles:
///
///     t                       the transmitter fills slot t mod round
///     t + delay               the receiver reads the slot and accepts or rejects the message
///     t + delay + 1           the receiver sends the acknowledgment with its next slot
///     t + delay + back + 1    the acknowledgment arrives; its CRC is known at the end of the cycle
///     t + round               the transmitter acts on it and refills the slot
///
/// The acknowledgment is the sequence bit that the receiver expects next in that slot. Changed: the receiver has
/// accepted the message. Unchanged: the message was damaged or found no buffer, and returns to the router. If the
/// acknowledgment is unreadable, the transmitter repeats the message in the same slot; a receiver that has it discards
/// the duplicate by its sequence bit.
///
/// A quad, a message of four parts, takes four consecutive slots and is accepted whole or not at all, by the window of
/// its first slot. The other three parts leave the windows of their slots untouched, even while these slots wait for
/// acknowledgments. The first acknowledgment of the first slot precedes the last part, so the transmitter ignores it
/// and waits for the second. While the transmitter waits, it repeats the request for an acknowledgment in a slot that
/// is otherwise empty.
///
/// These functions contain every decision of the protocol; host/routers/sconnect/explore.hpp explores all states of two
/// ends that execute them.
#include "kernels/common/fields.hpp"
#include "kernels/routers/sconnect/link.hpp"

namespace flitlab::sconnect {

/// Bits that a slot carries besides the message: six of the protocol, two of the emulator.
inline constexpr u8 kPresent = 1;      ///< the slot holds a message, or part of a quad
inline constexpr u8 kSequence = 2;     ///< sequence bit of the message or quad
inline constexpr u8 kAcknowledge = 4;  ///< acknowledgment of the slot received one routing cycle before
inline constexpr u8 kAbort = 8;        ///< late abort: the message does not count, the acknowledgment is valid
inline constexpr u8 kQuad = 16;        ///< part of a quad
inline constexpr u8 kLast = 32;        ///< last part of a quad; in a slot without kPresent: requests an acknowledgment
inline constexpr u8 kHit = 64;         ///< emulator: a bit error has damaged the slot
inline constexpr u8 kOccupied = 128;   ///< emulator: the slot has been sent

inline constexpr u8 kNoBuffer = 0xFF;
inline constexpr u32 kQuadParts = 4;

/// Returns the round of a channel in routing cycles, from its delays in both directions.
FLITLAB_HD constexpr u32 round_of(u32 delay, u32 back) { return delay + back + 2; }

/// State of one slot at one end of a channel.
struct Slot {
  FLITLAB_MEMBERS(Slot,
    (u8, buffer, "", "buffer of the unacknowledged message; kNoBuffer: none"),
    (u8, bits, "", "kSending, kExpected, kHoldsQuad, kTooEarly"))
};
static_assert(sizeof(Slot) == 2);

inline constexpr u8 kSending = 1;    ///< sequence bit of the message sent
inline constexpr u8 kExpected = 2;   ///< sequence bit expected of the next message received
inline constexpr u8 kHoldsQuad = 4;  ///< the unacknowledged message is a quad
inline constexpr u8 kTooEarly = 8;   ///< the next acknowledgment precedes the quad's last part

/// Outcome of a slot's message: kFree: the slot has no message; kTaken: accepted; kFailed: damaged or rejected;
/// kUnknown: the acknowledgment is unreadable; kWaits: the acknowledgment of a quad is still to come.
enum class Outcome : u8 { kFree, kTaken, kFailed, kUnknown, kWaits };

/// Transmitter: returns the outcome of a slot's message, from the protocol bits received in the previous routing cycle
/// (0: none), and updates the slot.
FLITLAB_HD inline Outcome settle(Slot& slot, u8 received) {
  if (slot.buffer == kNoBuffer) return Outcome::kFree;
  if (slot.bits & kTooEarly) {
    slot.bits = static_cast<u8>(slot.bits & ~kTooEarly);
    return Outcome::kWaits;
  }
  const bool readable = (received & kOccupied) && !(received & kHit);
  if (!readable) return slot.bits & kHoldsQuad ? Outcome::kWaits : Outcome::kUnknown;
  const bool taken = bool(received & kAcknowledge) != bool(slot.bits & kSending);
  if (taken) slot.bits ^= kSending;
  slot.buffer = kNoBuffer;
  slot.bits = static_cast<u8>(slot.bits & ~kHoldsQuad);
  return taken ? Outcome::kTaken : Outcome::kFailed;
}

/// Transmitter: assigns a message or quad to a free slot.
FLITLAB_HD inline void hold(Slot& slot, u8 buffer, bool quad) {
  slot.buffer = buffer;
  if (quad) slot.bits |= kHoldsQuad | kTooEarly;
}

/// Transmitter: returns the use of a slot: next part of the quad in transmission, retransmission, new message, or
/// request for an acknowledgment. A quad in transmission takes every slot.
enum class Turn : u8 { kPart, kAgain, kStart, kRequest };
FLITLAB_HD inline Turn turn_of(const Slot& slot, Outcome outcome, bool quad_goes) {
  if (quad_goes) return Turn::kPart;
  if (outcome == Outcome::kUnknown) return Turn::kAgain;
  return slot.buffer == kNoBuffer ? Turn::kStart : Turn::kRequest;
}

inline constexpr u8 kRequestBits = kLast;

FLITLAB_HD inline u8 sequence_of(const Slot& slot) { return slot.bits & kSending ? kSequence : u8{0}; }

/// Returns the protocol bits of a single message, for its first transmission and for retransmissions.
FLITLAB_HD inline u8 single_bits(const Slot& slot) { return static_cast<u8>(kPresent | sequence_of(slot)); }

/// Returns the protocol bits of a quad's part 0 to 3; `first` is the slot of part 0.
FLITLAB_HD inline u8 part_bits(const Slot& first, u32 part) {
  return static_cast<u8>(kPresent | kQuad | sequence_of(first) | (part + 1 == kQuadParts ? kLast : 0));
}

/// Transmitter: returns the protocol bits to send; 0: nothing is sent. `due`: kOccupied if an acknowledgment is due;
/// `answer`: acknowledgment_of the previous slot. Every slot that is sent carries a valid acknowledgment, so a
/// transmitter that has missed an acknowledgment can use a later one.
FLITLAB_HD inline u8 sent_bits(u8 bits, u8 due, u8 answer) {
  bits |= due;
  return bits ? static_cast<u8>(bits | kOccupied | answer) : u8{0};
}

/// Transmitter: frees the first slot of a quad that has been aborted (kAbort), because the acknowledgment of the quad
/// does not matter.
FLITLAB_HD inline void release_void(Slot& first) {
  first.buffer = kNoBuffer;
  first.bits = static_cast<u8>(first.bits & ~(kHoldsQuad | kTooEarly));
}

/// Receiver: returns whether a message with these bits is new in its slot.
FLITLAB_HD inline bool is_new(const Slot& slot, u8 bits) {
  return bool(bits & kSequence) == bool(slot.bits & kExpected);
}

/// Receiver: accepts the message in this slot.
FLITLAB_HD inline void take(Slot& slot) { slot.bits ^= kExpected; }

/// Receiver: returns the acknowledgment of a slot.
FLITLAB_HD inline u8 acknowledgment_of(const Slot& slot) { return slot.bits & kExpected ? kAcknowledge : u8{0}; }

/// Receiver: returns whether a slot with these bits must be acknowledged. A slot that carries only an acknowledgment is
/// not acknowledged, so that the exchange ends.
FLITLAB_HD inline bool needs_acknowledgment(u8 bits) { return bits & (kPresent | kLast | kHit); }

/// Receiver: classifies the single message (not a quad) of a slot. kNone: no single message; kVoid: aborted by the
/// transmitter (kAbort); kKnown: duplicate; kDamaged: the CRC will fail at the end of the cycle; kNew: to be accepted
/// if there is a buffer.
enum class Single : u8 { kNone, kVoid, kKnown, kDamaged, kNew };
FLITLAB_HD inline Single note_single(const Slot& slot, u8 bits) {
  if (!(bits & kPresent) || bits & kQuad) return Single::kNone;
  if (bits & kAbort) return Single::kVoid;
  if (!is_new(slot, bits)) return Single::kKnown;
  return bits & kHit ? Single::kDamaged : Single::kNew;
}

/// A quad in reception.
struct Train {
  FLITLAB_MEMBERS(Train,
    (u8, slot, "", "slot of its first part"),
    (u8, parts, "", "slots since its first part, damaged ones included; 0: no quad in reception"),
    (u8, buffer, "", "buffer that stores it; kNoBuffer: rejected"),
    (u8, spoiled, "", "1: a part arrived damaged"))
};
static_assert(sizeof(Train) == 4);

/// Receiver: returns whether note_part must process a slot.
FLITLAB_HD inline bool concerns_quads(const Train& train, u8 bits) { return train.parts || bits & kQuad; }

enum class Part : u8 { kNone, kFirst, kMiddle, kWhole, kSpoiled };

/// Receiver: updates the quad in reception with a slot. kFirst: a quad begins, and the caller sets its buffer; kWhole:
/// the last part has arrived and all parts are undamaged; kSpoiled: the quad has ended in another way.
FLITLAB_HD inline Part note_part(Train& train, u8 bits, u32 slot) {
  const bool readable = !(bits & kHit), part = readable && (bits & kPresent) && (bits & kQuad);
  if (!train.parts) {
    if (!part || (bits & kLast)) return Part::kNone;  // a last part; the other parts were lost
    train = Train{static_cast<u8>(slot), 1, kNoBuffer, 0};
    return Part::kFirst;
  }
  ++train.parts;
  if (!part || (bits & kAbort)) train.spoiled = 1;
  const bool last = part && (bits & kLast);
  if (!last && train.parts < kQuadParts) return Part::kMiddle;
  const bool whole = last && train.parts == kQuadParts && !train.spoiled && train.buffer != kNoBuffer;
  train.parts = 0;
  return whole ? Part::kWhole : Part::kSpoiled;
}

/// Receiver: accepts a complete quad, by its first slot and the bits of its last part. Returns false for a duplicate.
FLITLAB_HD inline bool take_quad(Slot& first, u8 bits) {
  if (!is_new(first, bits)) return false;
  take(first);
  return true;
}

}  // namespace flitlab::sconnect
