#pragma once
/// Routing decisions of many TICs in bulk, for one CPU thread. They equal the decisions of Tic::decide for single
/// data messages in TICs whose ports are all on (S-Connect, 3.1). One loop without branches processes the options of
/// all messages.
#include "kernels/common/lists.hpp"
#include "kernels/common/select.hpp"
#include "kernels/routers/sconnect/tic.hpp"

namespace flitlab::sconnect {

/// Requests for a routing decision, at most one from each TIC, and their results. The best queue is the one with the
/// fewest messages ahead of the request (Tic::pending); of equal ones, the queue of the port that is next in turn.
template <class V, u32 kTics>
struct Choice {
  /// `set[request]`: ports that the request may take (bit 2 * p: port p). `item[request]`: its TIC.
  SetList<kTics> ports;
  u32 options[kTics + 2];             ///< `[request]`: queues that it may take (bit 2 * port + virtual channel)
  const Message* message[kTics + 2];  ///< `[request]`
  /// `[request]`: the best queue so far, as a key of which the smallest wins: messages ahead << 16 | turns of ports
  /// from the port of arrival to the queue's port << 8 | queue. kNone: no queue has a free buffer.
  u32 best[kTics + 2];

  FLITLAB_INLINE u32 count() const { return ports.count; }

  /// Returns the TIC of a request.
  FLITLAB_INLINE u32 tic_of_request(u32 requester) const { return ports.item[requester]; }

  /// Adds a request for message m of TIC i, if `condition`.
  FLITLAB_INLINE void add_request(bool condition, u32 i, const Message& m, Options entry) {
    const Options all = allowed(entry, m.vc), others = m.tried < kPorts ? all & ~(3u << kVcs * m.tried) : all;
    const Options o = others ? others : all;
    const u32 request = count();
    options[request] = o;
    message[request] = &m;
    best[request] = kNone;
    ports.set[request] = (o | o >> 1) & 0x555;
    ports.item[request] = i;
    ports.count += condition;  // also without options
  }

  /// Decides all requests. `tic_of(i)` returns TIC i; the messages have arrived by port `source`.
  template <class TicOf>
  FLITLAB_INLINE void decide(u32 source, TicOf&& tic_of) {
    u32 without = 0;
    for (u32 k = 0; k < count(); ++k) without += !options[k];
    if (without) return decide_one_by_one(source, tic_of);  // rare: a request without options raises a fault
    ports.for_each_entry([&](u32 k, u32 bit) __attribute__((always_inline)) {
      const u32 p = bit / kVcs;
      const auto tic = tic_of(ports.item[k]);
      const u32 vcs = options[k] >> bit, first_vc = message[k]->priority * kVcs, q = p * kQueuesOfPort + first_vc;
      const u8* held = tic.control.held + q;
      const auto& t = tic.v.t;
      const u32 taken = u32{tic.control.used} + tic.control.reserved;
      // No test whether the queues exist is needed, because routing tables name existing queues only.
      const u32 reservation = t.reserve[message[k]->priority];
      const bool room0 = (vcs & 1) & (taken - (held[0] < reservation) < t.buffers);
      const bool room1 = (vcs >> 1 & 1) & (taken - (held[1] < reservation) < t.buffers);
      const u32 first = tic.queue(q).messages, second = tic.queue(q + 1).messages;
      u32 load = u32{tic.port(p).sending != kNoBuffer} + first + second;
      const u32 higher = tic.control.waiting >> q & 0xFF >> first_vc & ~3u;
      if (higher || message[k]->tried < kPorts) load = tic.pending(p, *message[k]);
      const u32 vc = room1 & (!room0 | (second < first));
      const u32 turn = p + select(p > source, 0, kPorts) - source;
      const u32 key = select(room0 | room1, load << 16 | turn << 8 | (q + vc), kNone);
      best[k] = select(key < best[k], key, best[k]);
    });
  }

  /// Returns the queue granted to a request; kNone: no queue has a free buffer.
  FLITLAB_INLINE u32 queue(u32 requester) const { return best[requester] == kNone ? kNone : best[requester] & 0xFF; }

 private:
  template <class TicOf>
  void decide_one_by_one(u32 source, TicOf&& tic_of) {
    for (u32 k = 0; k < count(); ++k) best[k] = tic_of(ports.item[k]).decide(*message[k], source);
  }
};

}  // namespace flitlab::sconnect
