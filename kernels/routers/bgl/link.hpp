#pragma once
/// The protocol of a link (paper, "Torus network"). Every packet bears a sequence number and CRCs. A receiver takes
/// only the next one in sequence, and acknowledges it when all of it has come unspoiled; a sender keeps a copy until
/// then, and sends all that it keeps once more, in order, if no acknowledgment comes for a time. A spoiled packet may
/// have gone on before its end was seen: at its end it is marked as not valid, and whoever has all of it forgets it at
/// once, for space that copies hold could be the bubble. Both ends keep a CRC of all that has been taken, so that what
/// slips through the packets' CRCs is noticed. Senders have accounted for the space of what they keep, so a copy needs
/// no new tokens. What a receiver says of all this is in acknowledge.hpp.
#include "kernels/common/philox.hpp"
#include "kernels/routers/bgl/channel.hpp"
#include "kernels/routers/bgl/streams.hpp"
#include "kernels/routers/bgl/totals.hpp"

namespace flitlab::bgl {

/// What happens to a packet on the wires.
enum class Hit : u32 {
  kNone,
  kHeader,   ///< the header's CRC shows it at once
  kBody,     ///< the packet's CRC shows it at its end
  kEscaped,  ///< no CRC shows it
};

/// The word of a head: VC + 1, then the route, then these.
inline constexpr u32 kSequenceShift = 20, kHitShift = 28;
inline constexpr u8 kNotValid = 0x80;  ///< Packet::tag: somewhere on its way this copy was spoiled

/// Stands for all the bytes of a packet.
FLITLAB_HD inline u32 content_of(const Packet& p) {
  return static_cast<u32>(mix64(mix64(u64{p.src} << 32 | p.id) + (u64{p.dst} << 32 | p.flits)) >> 32);
}

/// CRC-32 (IEEE 802.3) of one more word.
FLITLAB_HD inline u32 add_to_crc(u32 crc, u32 word) {
  crc ^= word;
  for (u32 i = 0; i < 32; ++i) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
  return crc;
}

template <class V, int W>
FLITLAB_INLINE LinkSender& sender_at(const V& v, const Item<W>& node, u32 direction) {
  return node.at(v.t.link_fields.sender, direction);
}
template <class V, int W>
FLITLAB_INLINE LinkReceiver& receiver_at(const V& v, const Item<W>& node, u32 receiver) {
  return node.at(v.t.link_fields.receiver, receiver);
}
template <class V, int W>
FLITLAB_INLINE LinkEntry& kept_at(const V& v, const Item<W>& node, u32 direction, u8 sequence) {
  const auto& t = v.t;
  return node.at(t.link_fields.kept, direction * t.kept_packets + (sequence & (t.kept_packets - 1)));
}

/// Whether a queue's head is coming over the link, and spoiled. At its end it is out of the queue, but may still leave.
template <class V, int W>
FLITLAB_INLINE bool is_spoiled(const V& v, const Item<W>& node, u32 queue) {
  if (!v.t.protocol || queue >= kInjectionQueue || queue_at(v, node, queue).packets != 1) return false;
  const LinkReceiver& r = receiver_at(v, node, queue >> 3);
  return r.coming == (queue & 7) + 1 && static_cast<Hit>(r.hit) == Hit::kBody;
}

template <class V, int W>
FLITLAB_INLINE bool is_ghost(const V& v, const Item<W>& node, u32 queue) {
  return v.t.protocol && node.at(v.t.link_fields.ghosts) & bit(queue);
}

// ------------------------------------------------------------------------------------------------ the sending end

template <class V>
FLITLAB_INLINE Hit hit_of(const V& v, u32 index, u32 direction, u32 chunks, Cycle now) {
  const auto& t = v.t;
  if (!t.hit_threshold[chunks]) return Hit::kNone;
  const Random4 r = philox(v.row->seed, bgl::stream::kLink, 16 * index + direction, now);
  if (r.word[0] >= t.hit_threshold[chunks]) return Hit::kNone;
  if (r.word[1] < 1u << (32 - t.crc_bits)) return Hit::kEscaped;
  return r.word[0] < t.header_threshold ? Hit::kHeader : Hit::kBody;
}

/// Puts a packet on the wires.
template <class V, int W>
FLITLAB_INLINE void transmit(const V& v, const Item<W>& node, u32 index, u32 direction, u32 word, Cycle now) {
  const auto& t = v.t;
  const u32 chunks = chunks_of(static_cast<u16>(word >> 4)), cycles = kChunkBytes * chunks + t.overhead;
  const u32 peer = node.at(t.node_fields.neighbour, direction);
  const Cycle asks = now + t.hop_delay;
  word |= static_cast<u32>(hit_of(v, index, direction, chunks, now)) << kHitShift;
  send_head(v, peer, direction ^ 1, word, asks);
  sender_at(v, node, direction).line_free = now + cycles;
  look_again(v, index, now + cycles);
  node.at(t.node_fields.busy, direction) += cycles;
}

/// Whether a link can take a new packet depends on its wires, on repetitions, and on space for another copy.
template <class V, int W>
FLITLAB_INLINE void set_links(const V& v, const Item<W>& node, NodeControl& control, Cycle now) {
  for (u32 d = 0; d < 2 * v.t.dims; ++d) {
    const LinkSender& s = sender_at(v, node, d);
    const bool can = has_come(s.line_free, now) && !s.repeating && s.kept + kFullPacket <= v.t.kept_chunks;
    control.links = static_cast<u8>((control.links & ~(1u << d)) | u32{can} << d);
  }
}

/// A timeout may be further off than the calendar goes.
template <class V>
FLITLAB_INLINE void set_link_alarm(const V& v, LinkSender& s, u32 index, Cycle now) {
  if (!has_come(s.alarm, now)) return;
  const u32 most = v.t.calendar_slots - 1;
  s.alarm = s.timeout - now > most ? now + most : s.timeout;
  wake_queues(v, index, s.alarm);
}

/// A new packet: `word` is what its receiver gets.
template <class V, int W>
FLITLAB_INLINE void send(const V& v, const Item<W>& node, u32 index, u32 direction, u32 word, const Packet& packet,
                         Cycle now) {
  const auto& t = v.t;
  LinkSender& s = sender_at(v, node, direction);
  word |= u32{s.next} << kSequenceShift;
  kept_at(v, node, direction, s.next) = {packet, word, {}};
  transmit(v, node, index, direction, word, now);
  if (s.next == s.oldest) s.timeout = s.line_free + t.timeout;
  ++s.next;
  s.kept = static_cast<u8>(s.kept + chunks_of(static_cast<u16>(word >> 4)));
  set_link_alarm(v, s, index, now);
}

/// Timeouts, and what is to be sent again.
template <class V, int W>
FLITLAB_INLINE void repeat(const V& v, const Item<W>& node, u32 index, Cycle now) {
  const auto& t = v.t;
  for (u32 d = 0; d < 2 * t.dims; ++d) {
    LinkSender& s = sender_at(v, node, d);
    if (s.oldest == s.next) continue;
    if (!s.repeating && has_come(s.timeout, now)) {
      s.repeating = 1;
      s.again = s.oldest;
    }
    if (s.repeating && has_come(s.line_free, now)) {
      if (s.again == s.next) {
        s.repeating = 0;
      } else {
        transmit(v, node, index, d, kept_at(v, node, d, s.again++).word, now);
        s.timeout = s.line_free + t.timeout;
        count(*v.shard, Count::kRepeated);
      }
    }
    if (s.repeating)
      wake_queues(v, index, s.line_free);
    else
      set_link_alarm(v, s, index, now);
  }
}

}  // namespace flitlab::bgl
