#pragma once
/// Contents of messages. Header words route a message to its destination. The body consists of the source's number, a
/// serial number (per source and destination), data, and an end-to-end check. The check starts from the destination's
/// number, which is not sent, so that a wrong endpoint rejects the message.
#include "kernels/common/bits.hpp"
#include "kernels/routers/metro/state.hpp"

namespace flitlab::metro {

/// Returns a mask of the bits of a channel's word, all slices together.
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

/// Returns a data word of a message. Both ends can compute the word. The source sends it, and the destination compares
/// the received word with it, so that damaged messages whose check fits by chance are counted.
template <class T>
FLITLAB_INLINE u64 data_word(const T& t, u64 seed, u32 source, u32 destination, u32 serial, u32 word) {
  return detail::data(seed, source, destination, serial, word) & channel_mask(t);
}

/// Returns the initial value of the check of a message to an endpoint. The value differs between endpoints if the check
/// has enough bits.
template <class T>
FLITLAB_INLINE u32 first_crc(const T& t, u32 destination) {
  return t.crc.bits ? ~destination & (~u32{0} >> (32 - t.crc.bits)) : 0;
}

/// Returns the initial value of the check of an acknowledgment, which depends on the message. The check of a rejection
/// starts from first_crc(t, 0), because the destination of a damaged message may not know the message's source.
template <class T>
FLITLAB_INLINE u32 first_answer_crc(const T& t, u32 source, u32 destination, u32 serial) {
  return add_to_crc(t.crc, first_crc(t, source), u64{destination} << 8 | serial, 40);
}

/// Returns the number of zero bits in front of a check in the words that hold the check.
template <class T>
FLITLAB_INLINE u32 crc_padding(const T& t) {
  return t.crc_words * t.word_bits() - t.crc.bits;
}

/// Returns word n of the words that hold a check.
template <class T>
FLITLAB_INLINE u64 crc_word(const T& t, u32 crc, u32 n) {
  const u32 shift = (t.crc_words - 1 - n) * t.word_bits();
  return shift >= 32 ? 0 : (u64{crc} >> shift) & channel_mask(t);
}

/// Returns word `word` of a body, reply or answer that ends with its check. A word in front of the check is `content`,
/// and is added to `crc`; the others are the words of the check itself. The zero bits in front of the check are part of
/// the checked content.
template <class T>
FLITLAB_INLINE u64 checked_word(const T& t, u32& crc, u32 word, u32 words, u64 content) {
  const u32 check = words - t.crc_words;
  if (word == check) crc = add_to_crc(t.crc, crc, 0, crc_padding(t));
  if (word >= check) return crc_word(t, crc, word - check);
  crc = add_to_crc(t.crc, crc, content, t.word_bits());
  return content;
}

/// Returns word n of a message's body and updates `crc`; words must be generated in order from 0.
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

/// Returns word n of a reply, which is data and a check. Bit 16 of the serial number is set, so that the data differ
/// from the data of a message.
template <class V>
FLITLAB_INLINE u64 reply_word(const V& v, u32 index, u32 source, u32 serial, u32 word, u32 words, u32& crc) {
  const auto& t = v.t;
  return checked_word(t, crc, word, words, data_word(t, v.row->seed, index, source, serial | 1u << 16, word));
}

/// Values of the first word of an answer. The check of the answer follows.
inline constexpr u64 kAcknowledged = 0x6666666666666666ull;  ///< truncated to the width of a channel
inline constexpr u64 kRefused = ~kAcknowledged;

/// Returns word n of an answer of 1 + crc_words words.
template <class T>
FLITLAB_INLINE u64 answer_word(const T& t, u32& crc, u32 word, bool accepted) {
  return checked_word(t, crc, word, 1 + t.crc_words, (accepted ? kAcknowledged : kRefused) & channel_mask(t));
}

/// A word of a link, combined from all slices. `agree`: the words of all slices are of one kind, as they are without
/// faults.
struct Arrived {
  Kind kind;
  bool agree;
  u64 content;
};

/// Combines the words of a link. `in[link][slice]`: an endpoint's words of this cycle.
template <class T, class Words>
FLITLAB_INLINE Arrived arrived_at(const T& t, Words in, u32 link) {
  const Words words = in + link * t.slices;
  Arrived a{kind_of(words[0]), true, payload_of(words[0])};
  FLITLAB_ROLLED for (u32 s = 1; s < t.slices; ++s) {
    const Word word = words[s];
    a.agree = a.agree && kind_of(word) == a.kind;
    a.content |= u64{payload_of(word)} << s * t.width;
    if (kind_of(word) == Kind::kBackDrop) a.kind = Kind::kBackDrop;  // the bit of one slice is enough
  }
  if (a.kind == Kind::kBackDrop) a.agree = true;
  return a;
}

}  // namespace flitlab::metro
