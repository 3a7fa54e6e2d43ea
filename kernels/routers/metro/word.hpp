#pragma once
/// Words of a channel: w bits of payload, and the kind of the word. The paper names the kinds and leaves their encoding
/// open (METRO, 4 and 5.1). Here three bits beside the payload encode the kind. The backward control bit is the eighth
/// kind; it travels only toward the source.
#include "kernels/common/choices.hpp"

namespace flitlab::metro {

/// A word: the payload in the lower 16 bits, the kind above.
using Word = u32;

/// kNothing: the wire is not driven. DATA-IDLE holds a connection open, TURN reverses it, DROP closes it. STATUS of a
/// router with an open connection: first its backward port, then its checksum. kBlocked: STATUS of a router that
/// blocked the connection: first the requested direction, then its checksum. kBackDrop, the backward control bit: the
/// connection is released.
FLITLAB_CHOICES(Kind, (kNothing, "nothing"), (kData, "DATA"), (kIdle, "DATA-IDLE"), (kTurn, "TURN"), (kDrop, "DROP"),
                (kStatus, "STATUS"), (kBlocked, "STATUS (blocked)"), (kBackDrop, "backward drop"))

inline constexpr u32 kKindShift = 16;
inline constexpr u32 kMaxWidth = 16;  ///< w, bits
inline constexpr u32 kKindBits = 3;
inline constexpr u32 kWordBits = kKindShift + kKindBits;

FLITLAB_HD constexpr Word make_word(Kind kind, u32 payload = 0) {
  return static_cast<u32>(kind) << kKindShift | payload;
}
FLITLAB_HD constexpr Kind kind_of(Word word) { return static_cast<Kind>(word >> kKindShift & 7); }
FLITLAB_HD constexpr u32 payload_of(Word word) { return word & 0xFFFF; }

/// Returns whether the word ends a connection: DROP, or an undriven wire.
FLITLAB_HD constexpr bool ends(Word word) { return kind_of(word) == Kind::kDrop || kind_of(word) == Kind::kNothing; }

/// Words of an item's inbox in one cycle. Consecutive words are W words apart in memory.
template <int W>
struct InboxWords {
  Word* first;

  FLITLAB_HD Word operator[](u32 i) const { return first[i * W]; }
  FLITLAB_HD InboxWords operator+(u32 n) const { return {first + n * W}; }
  /// Empties the first n words, so that they are not read again when the slot is reused.
  FLITLAB_HD void clear(u32 n) const { FLITLAB_ROLLED for (u32 i = 0; i < n; ++i) first[i * W] = 0; }
};

}  // namespace flitlab::metro
