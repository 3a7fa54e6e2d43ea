#pragma once
/// A host's port in a closed loop (kernels/traffic/closed_loop.hpp). The port accepts a request while its reply queue
/// has room, and creates the reply by itself. A reply may arrive at any port of the requesting host; the port that sent
/// the request is notified in the next cycle.
#include "kernels/routers/sconnect/state.hpp"
#include "kernels/traffic/closed_loop.hpp"

namespace flitlab::sconnect {

inline constexpr u32 kReplies = kPriorities;  ///< number of the reply queue, after the queues of the priorities

/// Returns whether a message is a reply.
FLITLAB_HD inline bool is_host_reply(const Message& m) { return m.id & kReplyId; }

template <class V, int W>
struct HostLoop {
  const V& v;
  Item<W> terminal;
  u32 index;

  FLITLAB_INLINE LoopControl& control() const { return terminal.at(v.t.terminal_fields.loop); }
  FLITLAB_INLINE Transaction& transaction(u32 tag) const { return terminal.at(v.t.terminal_fields.transaction, tag); }
  FLITLAB_INLINE Message& reply() const { return terminal.at(v.t.host_fields.reply); }
  FLITLAB_INLINE const QueuedReply& oldest() const {
    return terminal.at(v.t.terminal_fields.reply, control().reply_first);
  }
  FLITLAB_INLINE bool has_room() const { return control().replies < v.t.traffic.reply_queue; }

  /// Returns the number of the transaction of a request that has no reply yet.
  FLITLAB_HD u32 tag_of(u32 id) const {
    u32 tag = 0;
    while (tag + 1 < v.t.traffic.window && transaction(tag).id != id) ++tag;
    return tag;
  }

  /// Processes a delivered request or reply.
  FLITLAB_HD void take(const Packet& packet, Cycle now) const {
    if (!(packet.id & kReplyId)) {
      ++control().promised;
      queue_reply(v, terminal, control(), packet, now);
    } else if (!is_misdelivered(v, index, packet)) {
      terminal.at(v.t.host_fields.heard, now & 1) = ArrivedReply{packet.dst, packet.tag};
    }
  }

  /// Ends the transactions whose replies arrived in the previous cycle. `sent(id)` returns whether request `id` has
  /// been injected.
  template <class Sent>
  FLITLAB_HD void end_transactions(TerminalControl& source, Cycle now, Sent sent) const {
    const u32 first = index & (0u - v.t.host_ports);
    for (u32 other = first; other < first + v.t.host_ports; ++other) {
      const ArrivedReply& reply = v.terminals[other].at(v.t.host_fields.heard, (now - 1) & 1);
      if (reply.to != index) continue;
      Transaction& open = transaction(reply.tag);
      if (open.id != kNone && sent(open.id)) close_transaction(v, open, index, source, control(), now - 1, now);
    }
    terminal.at(v.t.host_fields.heard, now & 1).to = kNone;
  }

  /// Removes the oldest reply, which has been injected.
  FLITLAB_HD void remove() const {
    LoopControl& loop = control();
    ++loop.replies_sent;
    --loop.replies;
    --loop.created;
    loop.reply_first = static_cast<u16>(loop.reply_first + 1u == v.t.traffic.reply_queue ? 0 : loop.reply_first + 1);
  }

  /// Returns whether the state is consistent: open requests have transactions, and the offered reply is the oldest.
  template <class Sent>
  FLITLAB_HD bool sound(const TerminalControl& source, bool offered, Sent sent) const {
    const LoopControl& loop = control();
    u32 open = 0, waiting = 0;
    for (u32 tag = 0; tag < v.t.traffic.window; ++tag) {
      const u32 id = transaction(tag).id;
      if (id == kNone) continue;
      if (id >= source.created || tag_of(id) != tag) return false;
      ++open;
      waiting += !sent(id);
    }
    if (open != loop.outstanding || waiting != source.created - source.sent) return false;
    if (loop.created > loop.replies || loop.replies > v.t.traffic.reply_queue || loop.promised) return false;
    if (!offered) return true;
    return loop.created && reply().id == (kReplyId | loop.replies_sent) && reply().dst == oldest().to &&
           reply().tag == oldest().tag;
  }
};

}  // namespace flitlab::sconnect
