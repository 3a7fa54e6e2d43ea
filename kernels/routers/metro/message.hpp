#pragma once
/// What a message is made of. Words of the header lead it to its destination; the body's are the number of its source,
/// a serial number among the messages from there to here, data, and a check. The destination's number is not sent, but
/// the check begins with it, so that a message that has gone astray is refused.
#include "kernels/common/bits.hpp"
#include "kernels/routers/metro/state.hpp"

namespace flitlab::metro {

template <class T>
FLITLAB_INLINE u64 channel_mask(const T& t) {
  return ~u64{0} >> (64 - t.word_bits());
}

namespace detail {

FLITLAB_CALLED u64 data(u64 seed, u32 source, u32 destination, u32 serial, u32 word) {
  const u64 key = mix64(seed ^ mix64(u64{source} << 32 | destination));
  return mix64(key + (u64{serial} << 32 | word));
}

}  // namespace detail

/// Data of a message, which both ends know: what the source sends, and what is compared to find out whether a
/// destination has been taken in by a check that fits by chance.
template <class T>
FLITLAB_INLINE u64 data_word(const T& t, u64 seed, u32 source, u32 destination, u32 serial, u32 word) {
  return detail::data(seed, source, destination, serial, word) & channel_mask(t);
}

/// A check before the first word of a message to an endpoint: another one for each, as long as it has enough bits.
template <class T>
FLITLAB_INLINE u32 first_crc(const T& t, u32 destination) {
  return t.crc.bits ? ~destination & (~u32{0} >> (32 - t.crc.bits)) : 0;
}

/// A check before the first word of an answer that acknowledges a message, and no other one. Who refuses a message may
/// not know whose it is, so a refusal's begins with first_crc(t, 0).
template <class T>
FLITLAB_INLINE u32 first_answer_crc(const T& t, u32 source, u32 destination, u32 serial) {
  return add_to_crc(t.crc, first_crc(t, source), u64{destination} << 8 | serial, 40);
}

/// Bits of the check's words that are zero, before those of the check itself.
template <class T>
FLITLAB_INLINE u32 crc_padding(const T& t) {
  return t.crc_words * t.word_bits() - t.crc.bits;
}

/// Word n of a check's words.
template <class T>
FLITLAB_INLINE u64 crc_word(const T& t, u32 crc, u32 n) {
  const u32 shift = (t.crc_words - 1 - n) * t.word_bits();
  return shift >= 32 ? 0 : (u64{crc} >> shift) & channel_mask(t);
}

/// Takes the next word of a body or a reply into a check, or the padding if what follows is the check itself.
template <class T>
FLITLAB_INLINE u64 checked_word(const T& t, u32& crc, u32 word, u32 words, u64 content) {
  const u32 check = words - t.crc_words;
  if (word == check) crc = add_to_crc(t.crc, crc, 0, crc_padding(t));
  if (word >= check) return crc_word(t, crc, word - check);
  crc = add_to_crc(t.crc, crc, content, t.word_bits());
  return content;
}

/// Word n of a message's body, in order from 0; `crc` goes along.
template <class V>
FLITLAB_INLINE u64 body_word(const V& v, u32 index, u32 destination, u32 serial, u32 word, u32 words, u32& crc) {
  const auto& t = v.t;
  u64 content;
  if (word < t.source_words) {
    const u32 shift = (t.source_words - 1 - word) * t.word_bits();
    content = u64{index} >> (shift < 63 ? shift : 63) & channel_mask(t);
  } else if (word < t.source_words + t.serial_words) {
    const u32 shift = (t.source_words + t.serial_words - 1 - word) * t.word_bits();
    content = u64{serial} >> (shift < 63 ? shift : 63) & channel_mask(t);
  } else {
    content = data_word(t, v.row->seed, index, destination, serial, word);
  }
  return checked_word(t, crc, word, words, content);
}

/// Word n of a reply: data and a check. Its key is the message's, from the other end.
template <class V>
FLITLAB_INLINE u64 reply_word(const V& v, u32 index, u32 source, u32 serial, u32 word, u32 words, u32& crc) {
  const auto& t = v.t;
  return checked_word(t, crc, word, words, data_word(t, v.row->seed, index, source, serial | 1u << 16, word));
}

/// The first word of an answer; its check follows.
inline constexpr u64 kAcknowledged = 0x6666666666666666ull;  ///< as many bits of it as a channel has
inline constexpr u64 kRefused = ~kAcknowledged;

/// Word n of an answer of 1 + crc_words words.
template <class T>
FLITLAB_INLINE u64 answer_word(const T& t, u32& crc, u32 word, bool accepted) {
  return checked_word(t, crc, word, 1 + t.crc_words, (accepted ? kAcknowledged : kRefused) & channel_mask(t));
}

/// What all cascaded wires of a link bring, as one; their kinds should be the same.
struct Arrived {
  Kind kind;
  bool agree;
  u64 content;
};

/// `in`: an endpoint's words of this cycle, [link][cascaded router].
template <class T, class Words>
FLITLAB_INLINE Arrived arrived_at(const T& t, Words in, u32 link) {
  const Words words = in + link * t.slices;
  Arrived a{kind_of(words[0]), true, payload_of(words[0])};
  FLITLAB_ROLLED for (u32 s = 1; s < t.slices; ++s) {
    const Word word = words[s];
    a.agree = a.agree && kind_of(word) == a.kind;
    a.content |= u64{payload_of(word)} << s * t.width;
    if (kind_of(word) == Kind::kBackDrop) a.kind = Kind::kBackDrop;  // one is enough
  }
  if (a.kind == Kind::kBackDrop) a.agree = true;
  return a;
}

}  // namespace flitlab::metro
