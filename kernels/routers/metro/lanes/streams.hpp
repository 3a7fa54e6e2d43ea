#pragma once
/// Connections through which words just flow, either way. Nearly all that routers do is this, so it has a list of its
/// own that says where words come from and where they go; a port leaves the list when anything else happens to it.
#include "kernels/common/select.hpp"
#include "kernels/routers/metro/lanes/mail.hpp"

namespace flitlab::metro::lanes {

/// A connection of a forward port, with what is counted of it in the place of ForwardPort's members.
struct Stream {
  u32 from;     ///< place of the words that flow
  u32 against;  ///< place of those that come from where they flow to
  FarEnd to;
  u32 words;     ///< of its ForwardPort, while it is here
  u16 checksum;  ///< the same
  u8 router;     ///< in its block
  u8 port;
  Kind stop;  ///< ends the flow if it comes against it
};

/// Words that flow without doing anything.
inline constexpr u32 kFlowing = 1u << static_cast<u32>(Kind::kData) | 1u << static_cast<u32>(Kind::kIdle) |
                                1u << static_cast<u32>(Kind::kStatus) | 1u << static_cast<u32>(Kind::kBlocked);

/// Those of the routers of a block.
struct Streams {
  Stream* stream;
  u32* count;

  /// A cycle of all of them. recall(stream) is told of those that leave the list, before their cycle.
  template <class Send, class Recall>
  FLITLAB_INLINE void flow(const Word* slot, u32 width, Send&& send, Recall&& recall) const {
    Stream* end = stream + *count;
    for (Stream* s = stream; s != end;) {
      const Word word = slot[s->from];
      if (!(kFlowing >> (word >> kKindShift) & 1) | (kind_of(slot[s->against]) == s->stop)) {
        recall(*s);
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

  /// Takes those of a router out of the list.
  template <class Recall>
  FLITLAB_INLINE void leave(u32 router, Recall&& recall) const {
    for (u32 i = 0; i < *count;) {
      if (stream[i].router == router) {
        recall(stream[i]);
        stream[i] = stream[--*count];
      } else {
        ++i;
      }
    }
  }
};

}  // namespace flitlab::metro::lanes
