#pragma once
/// The sending end of the link protocol (paper, "Torus network"). Every packet carries a sequence number and CRCs. A
/// receiver accepts only the next packet in sequence, and acknowledges it when it is complete and correct. A sender
/// keeps a copy of every packet until the acknowledgment arrives, and retransmits all copies in order after a time-out.
/// The tokens of kept packets stay taken, so retransmission needs no further tokens. A node may have forwarded a
/// corrupted packet before the end of the packet arrived: the forwarded copy is then marked as not valid. The node that
/// holds all of an invalid copy drops it at once, because its space could be the bubble. Both ends keep a running CRC
/// of all accepted packets, which shows errors that the packets' CRCs missed. acknowledge.hpp is the receiving end.
#include "kernels/common/philox.hpp"
#include "kernels/routers/bgl/channel.hpp"
#include "kernels/routers/bgl/streams.hpp"
#include "kernels/routers/bgl/totals.hpp"

namespace flitlab::bgl {

/// Error that hits a packet on a link.
enum class Hit : u32 {
  kNone,
  kHeader,   ///< detected at once by the header's CRC
  kBody,     ///< detected at the packet's end by its CRC
  kEscaped,  ///< detected by neither CRC
};

/// Layout of the word of a head: VC + 1 in 4 bits, the route in 16, the sequence number in 8, Hit in 4.
inline constexpr u32 kSequenceShift = 20, kHitShift = 28;
inline constexpr u8 kNotValid = 0x80;  ///< in Packet::tag: this copy was corrupted on an earlier link

/// Returns a hash that stands for the bytes of a packet.
FLITLAB_HD inline u32 content_of(const Packet& p) {
  return static_cast<u32>(mix64(mix64(u64{p.src} << 32 | p.id) + (u64{p.dst} << 32 | p.flits)) >> 32);
}

/// Returns a CRC-32 (IEEE 802.3) extended by one word.
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

/// Returns whether a queue's head is corrupted and still arriving. The corrupted packet is removed from the queue when
/// all of it has arrived. If the packet is still moving out of the queue then, the queue is a ghost until the move
/// ends.
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

/// Puts a packet on the link.
template <class V, int W>
FLITLAB_INLINE void transmit(const V& v, const Item<W>& node, u32 index, u32 direction, u32 word, Cycle now) {
  const auto& t = v.t;
  const u32 chunks = chunks_of(static_cast<u16>(word >> 4)), cycles = kChunkBytes * chunks + t.overhead;
  const u32 peer = node.at(t.node_fields.neighbour, direction);
  const Cycle first_request = now + t.hop_delay;
  word |= static_cast<u32>(hit_of(v, index, direction, chunks, now)) << kHitShift;
  send_head(v, peer, direction ^ 1, word, first_request);
  sender_at(v, node, direction).line_free = now + cycles;
  wake_links(v, index, now + cycles);
  node.at(t.node_fields.busy, direction) += cycles;
}

/// Sets the links that can take a new packet: not busy, no retransmission, and space for the copy of a full packet.
template <class V, int W>
FLITLAB_INLINE void set_links(const V& v, const Item<W>& node, NodeControl& control, Cycle now) {
  for (u32 d = 0; d < 2 * v.t.dims; ++d) {
    const LinkSender& s = sender_at(v, node, d);
    const bool can = is_due(s.line_free, now) && !s.repeating && s.kept + kFullPacket <= v.t.kept_chunks;
    control.links = static_cast<u8>((control.links & ~(1u << d)) | u32{can} << d);
  }
}

/// Schedules a check of the time-out in the calendar. If the time-out is beyond the end of the calendar, the check is
/// at that end, and this function is called again then.
template <class V>
FLITLAB_INLINE void set_link_alarm(const V& v, LinkSender& s, u32 index, Cycle now) {
  if (!is_due(s.alarm, now)) return;
  const u32 most = v.t.calendar_slots - 1;
  s.alarm = s.timeout - now > most ? now + most : s.timeout;
  wake_queues(v, index, s.alarm);
}

/// Sends a new packet and keeps a copy. `word`: VC + 1 and route, as in the word of a head.
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

/// Starts retransmissions after time-outs, and retransmits the next kept packet on each free link that retransmits.
template <class V, int W>
FLITLAB_INLINE void repeat(const V& v, const Item<W>& node, u32 index, Cycle now) {
  const auto& t = v.t;
  for (u32 d = 0; d < 2 * t.dims; ++d) {
    LinkSender& s = sender_at(v, node, d);
    if (s.oldest == s.next) continue;
    if (!s.repeating && is_due(s.timeout, now)) {
      s.repeating = 1;
      s.again = s.oldest;
    }
    if (s.repeating && is_due(s.line_free, now)) {
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
