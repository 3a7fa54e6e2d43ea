#pragma once
/// Streams: open connections through which a router only passes words, in either direction. This is most of a router's
/// work, so these connections are kept in a list, with the inbox indices of their source and far end. A connection
/// leaves the list as soon as it needs any other action.
#include "kernels/common/select.hpp"
#include "kernels/routers/metro/lanes/inboxes.hpp"

namespace flitlab::metro::lanes {

/// A connection of a forward port. While the connection is in the list, the counts here replace the members of
/// ForwardPort.
struct Stream {
  u32 from;     ///< index, in a slot, of the words that flow
  u32 against;  ///< index, in a slot, of the words from the other side
  FarEnd to;
  u32 words;     ///< in place of ForwardPort::words
  u16 checksum;  ///< in place of ForwardPort::checksum
  u8 router;     ///< position of the router in its block
  u8 port;
  Kind stop;  ///< kind of word from the other side that ends the stream
};

/// Kinds of words that a router only passes on.
inline constexpr u32 kFlowing = 1u << static_cast<u32>(Kind::kData) | 1u << static_cast<u32>(Kind::kIdle) |
                                1u << static_cast<u32>(Kind::kStatus) | 1u << static_cast<u32>(Kind::kBlocked);

/// Streams of the routers of a block.
struct Streams {
  Stream* stream;
  u32* count;

  /// Runs one cycle of all streams. Calls send(stream, word) for each stream that continues, and end_stream(stream) for
  /// each stream that leaves the list and whose port must run this cycle as an ordinary port.
  template <class Send, class Recall>
  FLITLAB_INLINE void flow(const Word* slot, u32 width, Send&& send, Recall&& end_stream) const {
    Stream* end = stream + *count;
    for (Stream* s = stream; s != end;) {
      const Word word = slot[s->from];
      if (!(kFlowing >> (word >> kKindShift) & 1) | (kind_of(slot[s->against]) == s->stop)) {
        end_stream(*s);
        *s = *--end;
        continue;
      }
      send(*s, word);
      const bool data = kind_of(word) == Kind::kData;
      s->checksum = static_cast<u16>(select(data, add_to_checksum(s->checksum, payload_of(word), width), s->checksum));
      s->words += data;
      ++s;
    }
    *count = static_cast<u32>(end - stream);
  }

  /// Removes the streams of a router from the list, and calls end_stream(stream) for each of them.
  template <class Recall>
  FLITLAB_INLINE void leave(u32 router, Recall&& end_stream) const {
    for (u32 i = 0; i < *count;) {
      if (stream[i].router == router) {
        end_stream(stream[i]);
        stream[i] = stream[--*count];
      } else {
        ++i;
      }
    }
  }
};

}  // namespace flitlab::metro::lanes
