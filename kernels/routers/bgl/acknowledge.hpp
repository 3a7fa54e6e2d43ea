#pragma once
/// The receiving end of a link with the link protocol (link.hpp), and the acknowledgments that it sends. An
/// acknowledgment carries the next expected sequence number, and tokens of at most one VC. By default it is a packet of
/// 8 bytes that waits for the reverse link, has priority there, and may be hit by an error. An acknowledgment hit by an
/// error is dropped. The next acknowledgment makes up for it, because sequence number and token count are cumulative;
/// without a next one the sender retransmits. A VC that returns no tokens for a long time repeats its token count
/// (paper, "Simulator overview": acknowledgments on links that have been idle for long).
#include "kernels/common/fault.hpp"
#include "kernels/routers/bgl/link.hpp"

namespace flitlab::bgl {

/// Layout of the word of an acknowledgment: the sequence number in 8 bits, then kAcknowledges; with kBearsTokens also a
/// VC and the token count of that VC modulo 256.
inline constexpr u32 kAcknowledges = 1u << 8, kBearsTokens = 1u << 9;
inline constexpr u32 kTokenVcShift = 10, kTokenCountShift = 16;

// ------------------------------------------------------------------------------------------------ the sending end

/// Processes the acknowledgment that arrives in this cycle, if any: drops the copies of all packets before the
/// acknowledged sequence number. Returns the tokens that the acknowledgment carries, a byte for each VC.
template <class V, int W>
FLITLAB_INLINE u64 receive_acknowledgment(const V& v, const Item<W>& node, u32 direction, Cycle now) {
  const auto& t = v.t;
  const u32 word =
      std::exchange(node.at(t.link_fields.acknowledged, (now & t.slot_mask) * kDirections + direction), 0u);
  if (!word) return 0;
  u64 tokens = 0;
  if (word & kBearsTokens) {
    const u32 vc = word >> kTokenVcShift & 7;
    u8& known = node.at(t.link_fields.taken_back, direction * t.vcs + vc);
    const u8 count = static_cast<u8>(word >> kTokenCountShift);
    tokens = u64{static_cast<u8>(count - known)} << 8 * vc;
    known = count;
  }
  const u8 next_expected = static_cast<u8>(word);
  LinkSender& s = sender_at(v, node, direction);
  const u8 taken = static_cast<u8>(next_expected - s.oldest);
  if (!taken) return tokens;
  if (s.repeating && static_cast<u8>(s.again - s.oldest) < taken) s.again = next_expected;
  for (; s.oldest != next_expected; ++s.oldest) {
    const LinkEntry& entry = kept_at(v, node, direction, s.oldest);
    if (!(entry.packet.tag & kNotValid)) s.crc = add_to_crc(s.crc, content_of(entry.packet));
    s.kept = static_cast<u8>(s.kept - chunks_of(static_cast<u16>(entry.word >> 4)));
  }
  s.timeout = now + t.timeout;
  if (s.oldest == s.next) s.repeating = 0;
  return tokens;
}

// ---------------------------------------------------------------------------------------------- the receiving end

/// Sends an acknowledgment into the sender's inbox unless an error hits it. `tokens`: the token part of its word.
template <class V, int W>
FLITLAB_INLINE void send_acknowledgment(const V& v, const Item<W>& node, u32 index, u32 receiver, u32 tokens,
                                        Cycle now) {
  const auto& t = v.t;
  if (t.acknowledgment_threshold &&
      philox(v.row->seed, bgl::stream::kLink, 16 * index + 8 + receiver, now).word[0] < t.acknowledgment_threshold) {
    count(*v.shard, Count::kAcknowledgmentsLost);
    return;
  }
  const u32 peer = node.at(t.node_fields.neighbour, receiver);
  const Cycle at = now + t.token_delay;
  v.nodes[peer].at(t.link_fields.acknowledged, (at & t.slot_mask) * kDirections + (receiver ^ 1)) =
      tokens | kAcknowledges | receiver_at(v, node, receiver).expected;
  announce(v, t.calendar_fields.tokens, peer, at);
}

/// Acknowledges a packet that was accepted in this cycle or before. The acknowledgment waits until the reverse link is
/// free; if acknowledgments are charged to packets, it is sent at once.
template <class V, int W>
FLITLAB_INLINE void acknowledge(const V& v, const Item<W>& node, u32 index, u32 receiver, Cycle now) {
  if (v.t.acks)
    node.at(v.t.link_fields.back).owes |= static_cast<u8>(1u << receiver);
  else
    send_acknowledgment(v, node, index, receiver, 0, now);
}

/// Begins a new round, a period of `idle_acks` cycles, when it is due. Marks the VCs that have ever returned tokens but
/// returned none in the last round: they have to repeat their token count.
template <class V, int W>
FLITLAB_INLINE void begin_round(const V& v, const Item<W>& node, u32 index, Cycle now) {
  LinkBack& back = node.at(v.t.link_fields.back);
  if (!is_due(back.alarm, now)) return;
  if (is_due(back.round, now)) {
    back.overdue |= back.ever & ~back.lately;
    back.lately = 0;
    back.round = now + v.t.idle_acks;
  }
  const u32 most = v.t.calendar_slots - 1;  // the calendar covers no later cycle
  back.alarm = back.round - now > most ? now + most : back.round;
  wake_queues(v, index, back.alarm);
}

/// Sends due acknowledgments on free links, before any packet. Each acknowledgment carries tokens of one VC, at most as
/// many as a full packet takes. Without tokens to return, it is an ack-only packet.
template <class V, int W>
FLITLAB_INLINE void send_acknowledgments(const V& v, const Item<W>& node, u32 index, Cycle now) {
  const auto& t = v.t;
  LinkBack& back = node.at(t.link_fields.back);
  for (u32 direction = 0; direction < 2 * t.dims; ++direction) {
    u64& owed = node.at(t.node_fields.owed, direction);
    const u32 overdue = back.overdue >> 8 * direction & 0xFF;
    if (!owed && !overdue && !(back.owes >> direction & 1)) continue;
    LinkSender& s = sender_at(v, node, direction);
    if (!is_due(s.line_free, now)) continue;
    u32 word = 0;
    if (owed || overdue) {
      const u32 vc = owed ? lowest_bit(owed) / 8 : lowest_bit(overdue), all = owed >> 8 * vc & 0xFF;
      const u32 tokens = all < kFullPacket ? all : kFullPacket;
      owed -= u64{tokens} << 8 * vc;
      u8& given = node.at(t.link_fields.given_back, direction * t.vcs + vc);
      given = static_cast<u8>(given + tokens);
      word = kBearsTokens | vc << kTokenVcShift | u32{given} << kTokenCountShift;
      const u64 vc_set = bit(queue_of(direction, vc));
      back.ever |= vc_set;
      back.lately |= vc_set;
      back.overdue &= ~vc_set;
      count(*v.shard, tokens ? Count::kTokenPackets : Count::kIdleAcks);
    } else {
      count(*v.shard, Count::kAckOnly);
    }
    send_acknowledgment(v, node, index, direction, word, now);
    back.owes &= static_cast<u8>(~(1u << direction));
    s.line_free = now + t.ack_cycles;
    wake_links(v, index, s.line_free);
    node.at(t.node_fields.busy, direction) += t.ack_cycles;
  }
}

/// Processes an arriving head. Returns whether the receiver accepts the packet: it has no header error and is the next
/// in sequence.
template <class V, int W>
FLITLAB_INLINE bool accept_head(const V& v, const Item<W>& node, NodeControl& control, u32 index, u32 receiver,
                                u32 arrival, Cycle now) {
  const auto& t = v.t;
  LinkReceiver& r = receiver_at(v, node, receiver);
  const Hit hit = static_cast<Hit>(arrival >> kHitShift);
  if (hit == Hit::kHeader) {
    count(*v.shard, Count::kPacketsHit);
    return false;
  }
  const u8 behind = static_cast<u8>(r.expected - (arrival >> kSequenceShift));
  if (behind) {  // an earlier packet is missing, or this packet was accepted before and its acknowledgment lost
    if (behind < 0x80) acknowledge(v, node, index, receiver, now);
    count(*v.shard, Count::kOutOfSequence);
    return false;
  }
  if (r.coming) raise_fault(control.fault, kFaultBookkeeping, receiver);
  const u32 vc = (arrival & 0xF) - 1, chunks = chunks_of(static_cast<u16>(arrival >> 4));
  const u32 peer = node.at(t.node_fields.neighbour, receiver);
  const Queue& state = queue_at(v, node, queue_of(receiver, vc));
  Packet& packet = packet_at(v, node, queue_of(receiver, vc), (u32{state.first} + state.packets) % t.ring[vc]);
  packet = kept_at(v, v.nodes[peer], receiver ^ 1, r.expected).packet;
  packet.via = now + t.fifo_delay;
  r.coming = static_cast<u8>(vc + 1);
  r.hit = static_cast<u8>(hit);
  r.tail = static_cast<u16>(now + kChunkBytes * chunks);
  wake_queues(v, index, now + kChunkBytes * chunks);
  return true;
}

}  // namespace flitlab::bgl
