#pragma once
/// Routing decisions for single data messages in TICs whose ports are all on, almost without branches. They equal the
/// decisions of Tic::decide (S-Connect, 3.1): of one message for a GPU thread (decide_single), of many messages for a
/// CPU thread (Choice), where one loop processes the options of all.
#include "kernels/common/lists.hpp"
#include "kernels/common/select.hpp"
#include "kernels/routers/sconnect/tic.hpp"

namespace flitlab::sconnect {

/// Returns the options of a message in a TIC whose ports are all on. `entry`: its table entry.
FLITLAB_INLINE Options options_by_entry(const Message& m, Options entry) {
  const Options all = allowed(entry, m.vc), others = m.tried < kPorts ? all & ~(3u << kVcs * m.tried) : all;
  return others ? others : all;
}

/// Returns the ports of options: bit 2 * p for port p.
FLITLAB_INLINE u32 ports_of(Options options) { return (options | options >> 1) & 0x555; }

/// Returns the better permitted queue of the port of `bit` (ports_of) for message m, as a key of which the smallest of
/// all ports wins: messages ahead (Tic::pending) << 16 | turns of ports from the port of arrival, `source`, to the
/// queue's port << 8 | queue. kNone: neither queue has a free buffer.
template <class Tic>
FLITLAB_INLINE u32 key_of_port(const Tic& tic, const Message& m, Options options, u32 bit, u32 source) {
  const u32 p = bit / kVcs, vcs = options >> bit, first_vc = m.priority * kVcs, q = p * kQueuesOfPort + first_vc;
  const u8* held = tic.control.held + q;
  const auto& t = tic.v.t;
  const u32 taken = u32{tic.control.used} + tic.control.reserved;
  // No test whether the queues exist is needed, because routing tables name existing queues only.
  const u32 reservation = t.reserve[m.priority];
  const bool room0 = (vcs & 1) & (taken - (held[0] < reservation) < t.buffers);
  const bool room1 = (vcs >> 1 & 1) & (taken - (held[1] < reservation) < t.buffers);
  const u32 first = tic.queue(q).messages, second = tic.queue(q + 1).messages;
  u32 load = u32{tic.port(p).sending != kNoBuffer} + first + second;
  const u32 higher = tic.control.waiting >> q & 0xFF >> first_vc & ~3u;
  if (higher || m.tried < kPorts) load = tic.pending(p, m);
  const u32 vc = room1 & (!room0 | (second < first));
  const u32 turn = p + select(p > source, 0, kPorts) - source;
  return select(room0 | room1, load << 16 | turn << 8 | (q + vc), kNone);
}

/// Returns the queue for a single data message in a TIC whose ports are all on, as Tic::decide does.
template <class Tic>
FLITLAB_INLINE u32 decide_single(const Tic& tic, const Message& m, u32 source) {
  const Options options = options_by_entry(m, tic.item.at(tic.v.t.fields.table, m.node));
  if (!options) tic.miss(m, source);
  u32 best = kNone;
  FLITLAB_ROLLED for (u32 left = ports_of(options); left; left &= left - 1) {
    const u32 key = key_of_port(tic, m, options, lowest_bit(left), source);
    best = select(key < best, key, best);
  }
  return best == kNone ? kNone : best & 0xFF;
}

/// Requests for a routing decision, at most one from each TIC, and their results. The best queue is the one with the
/// fewest messages ahead of the request (Tic::pending); of equal ones, the queue of the port that is next in turn.
template <class V, u32 kTics>
struct Choice {
  /// `set[request]`: ports that the request may take (bit 2 * p: port p). `item[request]`: its TIC.
  SetList<kTics> ports;
  u32 options[kTics + 2];             ///< `[request]`: queues that it may take (bit 2 * port + virtual channel)
  const Message* message[kTics + 2];  ///< `[request]`
  u32 best[kTics + 2];                ///< `[request]`: the best queue so far (key_of_port)

  FLITLAB_INLINE u32 count() const { return ports.count; }

  /// Returns the TIC of a request.
  FLITLAB_INLINE u32 tic_of_request(u32 requester) const { return ports.item[requester]; }

  /// Adds a request for message m of TIC i, if `condition`.
  FLITLAB_INLINE void add_request(bool condition, u32 i, const Message& m, Options entry) {
    const Options o = options_by_entry(m, entry);
    const u32 request = count();
    options[request] = o;
    message[request] = &m;
    best[request] = kNone;
    ports.set[request] = ports_of(o);
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
      const auto tic = tic_of(ports.item[k]);
      const u32 key = key_of_port(tic, *message[k], options[k], bit, source);
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
