#pragma once
/// What a wire carries in a clock: a word of w bits, and outside of them what kind of word it is. The paper names the
/// words and leaves their encoding open (METRO, 4 and 5.1); here three bits beside the word tell them apart, and the
/// backward control bit is the eighth kind, which only ever travels back.
#include "kernels/common/types.hpp"

namespace flitlab::metro {

/// Bits of a word: payload in the lower 16, kind above.
using Word = u32;

enum class Kind : u8 {
  kNothing,  ///< nobody drives the wire
  kData,
  kIdle,     ///< DATA-IDLE: holds a connection open
  kTurn,     ///< TURN: reverses it
  kDrop,     ///< DROP: closes it
  kStatus,   ///< STATUS of a router that has switched a connection: first its backward port, then its checksum
  kBlocked,  ///< STATUS of one that could not: first the direction, then its checksum
  kBackDrop  ///< the backward control bit: the connection is given up
};

inline constexpr u32 kKindShift = 16;
inline constexpr u32 kMaxWidth = 16;  ///< w, bits
inline constexpr u32 kKindBits = 3;

FLITLAB_HD constexpr Word make_word(Kind kind, u32 payload = 0) {
  return static_cast<u32>(kind) << kKindShift | payload;
}
FLITLAB_HD constexpr Kind kind_of(Word word) { return static_cast<Kind>(word >> kKindShift & 7); }
FLITLAB_HD constexpr u32 payload_of(Word word) { return word & 0xFFFF; }

/// Whether a connection ends with the word: it is dropped, or whoever should drive the wire no longer does.
FLITLAB_HD constexpr bool ends(Word word) { return kind_of(word) == Kind::kDrop || kind_of(word) == Kind::kNothing; }

/// The words of an item's mail in one cycle, where they lie: W words further is the next.
template <int W>
struct MailWords {
  Word* first;

  FLITLAB_HD Word operator[](u32 i) const { return first[i * W]; }
  FLITLAB_HD MailWords operator+(u32 n) const { return {first + n * W}; }
  /// Nobody hears them again.
  FLITLAB_HD void clear(u32 n) const { FLITLAB_ROLLED for (u32 i = 0; i < n; ++i) first[i * W] = 0; }
};

}  // namespace flitlab::metro
