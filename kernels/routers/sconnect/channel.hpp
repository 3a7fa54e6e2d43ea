#pragma once
/// The channel protocol (S-Connect, 3.2): a conveyor of slots. A slot comes back to its transmitter after the round of
/// the channel, delay + delay back + 2 routing cycles, with the receiver's answer to what it has carried; each slot of
/// a round is a protocol engine of its own with a window of one bit. Each end counts routing cycles of its own, which
/// may begin at other clocks than the far end's; a delay is from one count to the other, so those of the two directions
/// differ (host/routers/sconnect/build.hpp). Time in routing cycles:
///
///     t                       the transmitter fills slot t mod round
///     t + delay               the receiver has it, and decides
///     t + delay + 1           its answer leaves with the slot that is sent then
///     t + delay + back + 1    the answer is here, its check known at the end of the cycle
///     t + round               the outcome is acted upon, and the slot is filled anew
///
/// The answer is the sequence bit that the receiver expects next in that slot: unchanged, the message has not been
/// taken (it came damaged, or there was no buffer) and can take another way; changed, it has. If the answer cannot be
/// read the message goes again in the same slot, and a receiver that has it already discards it by its sequence bit.
///
/// A quad goes in four slots in a row and is taken whole or not at all: the window of its first slot is its own, the
/// other three ride in theirs without touching their windows, whatever these wait for. It has come a routing cycle
/// before the second answer to its first slot, so the first one says nothing; no answer is asked for again with an
/// empty slot.
///
/// Here is all that decides what becomes of messages; host/routers/sconnect/explore.hpp goes through everything that
/// can happen to two ends that follow these functions.
#include "kernels/common/fields.hpp"
#include "kernels/routers/sconnect/link.hpp"

namespace flitlab::sconnect {

/// What crosses a channel in a slot beside a message: the six bits of the protocol.
inline constexpr u8 kPresent = 1;     ///< there is a message, or part of a quad
inline constexpr u8 kSequence = 2;    ///< of the message, or of the quad
inline constexpr u8 kAnswer = 4;      ///< to the slot that came a routing cycle before this one was sent
inline constexpr u8 kAbort = 8;       ///< late abort: the message is void, the answer is not
inline constexpr u8 kQuad = 16;       ///< part of a quad
inline constexpr u8 kLast = 32;       ///< its last part; without a message: asks for an answer
inline constexpr u8 kHit = 64;        ///< emulator: bits have been hit on the way
inline constexpr u8 kOccupied = 128;  ///< emulator: something has been sent at all

inline constexpr u8 kNoBuffer = 0xFF;
inline constexpr u32 kQuadParts = 4;

/// Round of a channel, routing cycles.
FLITLAB_HD constexpr u32 round_of(u32 delay, u32 back) { return delay + back + 2; }

/// One slot of a channel at one of its ends: what has been sent in it, and what is expected.
struct Slot {
  FLITLAB_MEMBERS(Slot,
    (u8, buffer, "", "buffer of the message that it holds on to; kNoBuffer: none"),
    (u8, bits, "", "kSending, kExpected, kHoldsQuad, kTooEarly"))
};
static_assert(sizeof(Slot) == 2);

inline constexpr u8 kSending = 1;   ///< sequence bit of what is sent
inline constexpr u8 kExpected = 2;  ///< sequence bit that is expected of what comes
inline constexpr u8 kHoldsQuad = 4;
inline constexpr u8 kTooEarly = 8;  ///< the next answer comes before the quad

enum class Outcome : u8 { kFree, kTaken, kFailed, kUnknown, kWaits };

/// Transmitter: what has become of a slot's message, by what came in the routing cycle before (0: nothing could be
/// read).
FLITLAB_HD inline Outcome settle(Slot& slot, u8 heard) {
  if (slot.buffer == kNoBuffer) return Outcome::kFree;
  if (slot.bits & kTooEarly) {
    slot.bits = static_cast<u8>(slot.bits & ~kTooEarly);
    return Outcome::kWaits;
  }
  const bool readable = (heard & kOccupied) && !(heard & kHit);
  if (!readable) return slot.bits & kHoldsQuad ? Outcome::kWaits : Outcome::kUnknown;
  const bool taken = bool(heard & kAnswer) != bool(slot.bits & kSending);
  if (taken) slot.bits ^= kSending;
  slot.buffer = kNoBuffer;
  slot.bits = static_cast<u8>(slot.bits & ~kHoldsQuad);
  return taken ? Outcome::kTaken : Outcome::kFailed;
}

/// Transmitter: a message, or a quad, enters a slot, which must be free.
FLITLAB_HD inline void hold(Slot& slot, u8 buffer, bool quad) {
  slot.buffer = buffer;
  if (quad) slot.bits |= kHoldsQuad | kTooEarly;
}

/// Transmitter: what it does with a slot whose outcome it knows. A quad that is going out goes on in whatever slot
/// comes.
enum class Turn : u8 { kPart, kAgain, kStart, kAsk };
FLITLAB_HD inline Turn turn_of(const Slot& slot, Outcome outcome, bool quad_goes) {
  if (quad_goes) return Turn::kPart;
  if (outcome == Outcome::kUnknown) return Turn::kAgain;
  return slot.buffer == kNoBuffer ? Turn::kStart : Turn::kAsk;
}

inline constexpr u8 kAskBits = kLast;

FLITLAB_HD inline u8 sequence_of(const Slot& slot) { return slot.bits & kSending ? kSequence : u8{0}; }

/// Bits of a single message sent in a slot, or sent again.
FLITLAB_HD inline u8 single_bits(const Slot& slot) { return static_cast<u8>(kPresent | sequence_of(slot)); }

/// Bits of a quad's part 0 to 3, by the slot of its first one.
FLITLAB_HD inline u8 part_bits(const Slot& first, u32 part) {
  return static_cast<u8>(kPresent | kQuad | sequence_of(first) | (part + 1 == kQuadParts ? kLast : 0));
}

/// Transmitter: what is sent in a slot. `due`: kOccupied if an answer has been asked for; `answer`: answer_of the slot
/// before. That bit says the same in every slot, asked for or not: who has lost slots may listen to any.
FLITLAB_HD inline u8 sent_bits(u8 bits, u8 due, u8 answer) {
  bits |= due;
  return bits ? static_cast<u8>(bits | kOccupied | answer) : u8{0};
}

/// Transmitter: the quad that is going out is void, so nobody will ask what has become of it.
FLITLAB_HD inline void let_go(Slot& first) {
  first.buffer = kNoBuffer;
  first.bits = static_cast<u8>(first.bits & ~(kHoldsQuad | kTooEarly));
}

/// Receiver: whether a message of this sequence bit is new in its slot.
FLITLAB_HD inline bool is_new(const Slot& slot, u8 bits) {
  return bool(bits & kSequence) == bool(slot.bits & kExpected);
}

/// Receiver: the message in this slot has been taken.
FLITLAB_HD inline void take(Slot& slot) { slot.bits ^= kExpected; }

/// Receiver: the answer to a slot.
FLITLAB_HD inline u8 answer_of(const Slot& slot) { return slot.bits & kExpected ? kAnswer : u8{0}; }

/// Receiver: whether what came asks for an answer. An answer to an answer alone would never end.
FLITLAB_HD inline bool wants_answer(u8 bits) { return bits & (kPresent | kLast | kHit); }

/// Receiver: what a slot means for single messages. kNone: nothing; kVoid: late abort; kKnown: had already; kDamaged:
/// it will turn out so at the end of the cycle; kNew: to be taken if there is a buffer.
enum class Single : u8 { kNone, kVoid, kKnown, kDamaged, kNew };
FLITLAB_HD inline Single note_single(const Slot& slot, u8 bits) {
  if (!(bits & kPresent) || bits & kQuad) return Single::kNone;
  if (bits & kAbort) return Single::kVoid;
  if (!is_new(slot, bits)) return Single::kKnown;
  return bits & kHit ? Single::kDamaged : Single::kNew;
}

/// A quad that is coming in.
struct Train {
  FLITLAB_MEMBERS(Train,
    (u8, slot, "", "slot of its first part"),
    (u8, parts, "", "slots since, damaged ones included; 0: none is coming"),
    (u8, buffer, "", "that it goes to; kNoBuffer: there was none"),
    (u8, spoiled, "", "1: a part came damaged"))
};
static_assert(sizeof(Train) == 4);

/// Receiver: whether a slot is to be noted for quads.
FLITLAB_HD inline bool concerns_quads(const Train& train, u8 bits) { return train.parts || bits & kQuad; }

enum class Part : u8 { kNone, kFirst, kMiddle, kWhole, kSpoiled };

/// Receiver: notes what a slot means for the quad that is coming in. kFirst: a quad begins, and the caller sets its
/// buffer; kWhole: its last part is here and none was hit; kSpoiled: it has ended otherwise.
FLITLAB_HD inline Part note_part(Train& train, u8 bits, u32 slot) {
  const bool readable = !(bits & kHit), part = readable && (bits & kPresent) && (bits & kQuad);
  if (!train.parts) {
    if (!part || (bits & kLast)) return Part::kNone;  // of a last part alone all before it have been lost
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

/// Receiver: whether a quad that has come whole, by its first slot and the bits of its last part, is new; it is taken.
FLITLAB_HD inline bool take_quad(Slot& first, u8 bits) {
  if (!is_new(first, bits)) return false;
  take(first);
  return true;
}

}  // namespace flitlab::sconnect
