#pragma once
/// TICs that a CPU thread processes together (bulk.hpp), and for each port the sets of these TICs that have work there.
/// TICs that software has changed, or that handle control messages, are processed one by one.
#include <array>
#include <cstring>

#include "kernels/common/lists.hpp"
#include "kernels/routers/sconnect/host_port.hpp"
#include "kernels/routers/sconnect/plain.hpp"
#include "kernels/routers/sconnect/port_bytes.hpp"

namespace flitlab::sconnect {

/// Largest number of TICs that are processed together.
inline constexpr u32 kTics = 64;

/// Size of the state of all TICs, in bytes, above which a fabric is far: departing messages are prefetched, and only
/// kFarTics TICs are processed together, so that the cache keeps their state from one port to the next.
inline constexpr u64 kNear = u64{1} << 21;
inline constexpr u32 kFarTics = 32;

template <class V>
FLITLAB_INLINE bool is_far(const V& v) {
  return u64{v.t.routers} * v.tics.item_bytes > kNear;
}

/// [round] reciprocals for now % round without a division (Lemire, Kaser and Kurz, "Faster remainder by direct
/// computation", 2019).
inline constexpr std::array<u64, 256> kReciprocals = [] {
  std::array<u64, 256> reciprocals{};
  for (u32 round = 1; round < 256; ++round) reciprocals[round] = ~u64{0} / round + 1;
  return reciprocals;
}();

/// The TICs that are processed together. `Phase` is TicPhase, whose functions for a single TIC handle all other TICs
/// and all unusual situations.
template <class V, class Phase>
struct Gathered {
  static constexpr int W = V::width;
  using SingleTic = Tic<V, W>;

  const V& v;
  Cycle now;
  u32 n = 0;
  u32 index[kTics];
  Item<W> item[kTics];
  const Link* links[kTics];      ///< `[TIC][port]`
  const u16* slot_first[kTics];  ///< `[TIC][port]`: see Table
  u64 arriving_bits[kTics];
  // `[port]`: sets of TICs, as bits.
  u64 channels[kPorts], hosts[kPorts];  ///< TICs whose port leads to a TIC; to a host
  u64 waits[kPorts];                    ///< a queue of the port is not empty
  u64 presents[kPorts];                 ///< a quad to the host is in transmission
  u64 offers[kPorts];                   ///< the host may have a message
  Work work[kPorts];                    ///< work of channels
  u64 requeued[kPorts] = {};            ///< a message has returned to the router
  u64 special = 0;                      ///< TICs with a port that needed functions of a single TIC
  u16 slot_now[kPorts][kTics];          ///< this cycle's slot, index into TicFields::slot
  static constexpr u32 kShort = 16;
  u8 now_modulo_of[kShort];  ///< `[round]`: now % round, for rounds below kShort

  FLITLAB_INLINE Gathered(const V& view, Cycle cycle) : v(view), now(cycle) {
    for (u32 round = 0; round < kShort; ++round) now_modulo_of[round] = static_cast<u8>(modulo_round(now, round));
  }

  FLITLAB_INLINE static u32 modulo_round(Cycle now, u32 round) {
    __extension__ using u128 = unsigned __int128;
    return static_cast<u32>(u128{kReciprocals[round] * now} * round >> 64);
  }

  /// Returns now % round.
  FLITLAB_INLINE u32 now_modulo(u32 round) const {
    const bool all_short = 2 * v.t.slot_mask + 2 < kShort;
    return all_short || round < kShort ? now_modulo_of[round] : modulo_round(now, round);
  }

  FLITLAB_INLINE TicControl& control(u32 i) const { return item[i].at(v.t.fields.control); }
  FLITLAB_INLINE Port& port(u32 i, u32 p) const { return item[i].at(v.t.fields.port, p); }
  FLITLAB_INLINE Slot& slot(u32 i, u32 now_modulo) const { return item[i].at(v.t.fields.slot, now_modulo); }
  FLITLAB_INLINE const Link& link(u32 i, u32 p) const { return links[i][p]; }
  FLITLAB_INLINE SingleTic tic(u32 i) const { return {v, item[i], index[i], now, control(i)}; }
  FLITLAB_INLINE HostPort<V, W> host(const SingleTic& t, u32 p) const { return Phase::host_port(t, p, t.link(p).far); }
  /// Returns the protocol bits that arrive at a port.
  FLITLAB_INLINE u32 arrival_bits(u32 i, u32 p) const { return reinterpret_cast<const u8*>(&arriving_bits[i])[p]; }
  FLITLAB_INLINE const Message& arriving(u32 i, u32 p) const {
    return item[i].at(v.t.fields.arriving, (now & v.t.slot_mask) * kPorts + p);
  }
  static_assert(kQueuesOfPort == 8);
  /// Returns the non-empty queues of a port, as bits.
  FLITLAB_INLINE u32 waiting_at(u32 i, u32 p) const { return reinterpret_cast<const u8*>(&control(i).waiting)[p]; }
  /// Returns the ports with non-empty queues, as bits.
  FLITLAB_INLINE u8 ports_that_wait(u32 i) const {
    return static_cast<u8>((bytes_present(control(i).waiting) >> 7) * 0x0102040810204080ull >> 56);
  }

  FLITLAB_INLINE void add(u32 router) {
    index[n] = router;
    item[n] = v.tics[router];
    links[n] = v.t.links + router * kPorts;
    slot_first[n] = v.t.slot_first + router * kPorts;
    arriving_bits[n] = item[n].at(v.t.fields.mail, now & v.t.slot_mask);
    ++n;
  }

  /// Gathers the TICs of a list. TICs that must be processed one by one are processed here and not gathered.
  FLITLAB_INLINE void gather(const u32* list, u32 size) {
    ByteList<kTics / 2> coming[2];
    const bool far = is_far(v);
    u32 any = 0;
    for (u32 i = 0; i < size; ++i) {
      add(list[i]);
      any |= software_active(tic(i));
      coming[i / (kTics / 2)].add(i % (kTics / 2), arriving_bits[i], bytes_present(arriving_bits[i]));
      if (!far) continue;
      for (u64 set = control(i).waiting; set; set &= set - 1)
        __builtin_prefetch(&tic(i).message(tic(i).queue(lowest_bit(set)).head));
    }
    for (u32 half : {0u, 1u})
      coming[half].for_each([&](u32 of_half, u32 p, u32) __attribute__((always_inline)) {
        const u32 i = half * (kTics / 2) + of_half;
        const Message& m = arriving(i, p);
        any |= needs_single_path(v.t, m);
        __builtin_prefetch(&item[i].at(v.t.fields.table, m.node));
      });
    if (any) process_others_singly(list, size);
    find_work();
  }

  /// Gathers the TICs of the list again. TICs that need the functions of a single TIC are processed here and not
  /// gathered.
  void process_others_singly(const u32* list, u32 size) {
    n = 0;
    for (u32 i = 0; i < size; ++i) {
      add(list[i]);
      u32 other = software_active(tic(n - 1));
      for (u32 p = 0; p < kPorts; ++p)
        if (arriving_bits[n - 1] >> 8 * p & kPresent) other |= needs_single_path(v.t, arriving(n - 1, p));
      if (!other) continue;
      --n;
      Phase::work(v, list[i], now);
    }
  }

  using Bytes = BytesOf<kTics>;

  /// Finds the channels and hosts that have work. Creates the due packets of hosts.
  FLITLAB_INLINE void find_work() {
    const auto& t = v.t;
    Bytes channel{}, host{}, waiting{}, offer[kPorts - kSerial]{}, transmitting[kPorts - kSerial]{};
    ItemList<kTics> creating;
    for (u32 i = 0; i < n; ++i) {
      item[i].at(t.fields.mail, now & t.slot_mask) = 0;
      channel.of[i] = t.channels[index[i]];
      host.of[i] = t.hosts[index[i]];
      waiting.of[i] = ports_that_wait(i);
      u32 creates = 0;
      for (u32 p = kSerial; p < kPorts; ++p) {
        if (!(host.of[i] >> p & 1)) continue;
        const TerminalControl& c = v.terminals[link(i, p).far].at(t.terminal_fields.control);
        const u32 due = u32{t.mode != TrafficMode::kOpen} | u32{c.next.at <= now};
        offer[p - kSerial].of[i] = (due | (c.sent ^ c.created) | port(i, p).entering) != 0;
        transmitting[p - kSerial].of[i] = port(i, p).sending != kNoBuffer;
        creates |= due;
      }
      creating.add(i, creates != 0);
    }
    for (u32 p = 0; p < kPorts; ++p) {
      channels[p] = set_of(channel, p);
      hosts[p] = set_of(host, p);
      waits[p] = set_of(waiting, p);
    }
    for (u32 p = kSerial; p < kPorts; ++p) {
      offers[p] = set_of(offer[p - kSerial], 0);
      presents[p] = set_of(transmitting[p - kSerial], 0);
    }
    classify_channels();
    for (u32 i : creating) Phase::create(tic(i));
  }

  /// Classifies the work of all channels. Work at earlier ports of the cycle changes the contents of a port's queues,
  /// but not this classification.
  FLITLAB_INLINE void classify_channels() {
    PortBytesOf<kTics> gathered[kPorts];
    for (u32 i = 0; i < n; ++i) {
#ifndef __CUDACC__
#pragma GCC unroll 4
#endif
      for (u32 p = 0; p < kSerial; ++p) classify(i, p, gathered[p]);
    }
    u64 parallel = 0;
    for (u32 p = kSerial; p < kPorts; ++p) parallel |= channels[p];
    for_each(parallel, [&](u32 i) {
      for (u32 p = kSerial; p < kPorts; ++p) classify(i, p, gathered[p]);
    });
    for (u32 p = 0; p < kPorts; ++p) work[p] = channels[p] ? gathered[p].work(n, channels[p]) : Work{};
    // Unconnected ports receive nothing, so writing their bytes is harmless.
    for (u32 i = 0; i < n; ++i) {
#ifndef __CUDACC__
#pragma GCC unroll 4
#endif
      for (u32 p = 0; p < kSerial; ++p) store_received(i, p, gathered[p]);
    }
    for (u32 p = kSerial; p < kPorts; ++p) for_each(channels[p], [&](u32 i) { store_received(i, p, gathered[p]); });
  }

  FLITLAB_INLINE void store_received(u32 i, u32 p, const PortBytesOf<kTics>& gathered) const {
    port(i, p).heard = gathered.heard.of[i];
    port(i, p).reply = gathered.reply.of[i];
  }

  FLITLAB_INLINE void classify(u32 i, u32 p, PortBytesOf<kTics>& gathered) {
    constexpr u64 kQuiet = 0x000000FFFFFF0000;  // bytes doubtful, spoiled and sending: kNoBuffer
    static_assert(offsetof(Port, heard) == 0 && offsetof(Port, reply) == 1 && offsetof(Port, sending) == 4);
    const Port& own = port(i, p);
    u64 state;
    std::memcpy(&state, &own, sizeof state);
    const u32 here = slot_first[i][p] + now_modulo(link(i, p).round);
    const Slot s = slot(i, here);
    slot_now[p][i] = static_cast<u16>(here);
    gathered.heard.of[i] = static_cast<u8>(state);
    gathered.reply.of[i] = static_cast<u8>(state >> 8);
    gathered.busy.of[i] = ((~state & kQuiet) | own.train.parts) != 0;
    gathered.buffer.of[i] = s.buffer;
    gathered.bits.of[i] = s.bits;
    gathered.arriving.of[i] = static_cast<u8>(arrival_bits(i, p));
  }

  /// Calls f(TIC) for each TIC of a set.
  template <class F>
  FLITLAB_INLINE static void for_each(u64 set, F&& f) {
    for (; set; set &= set - 1) f(lowest_bit(set));
  }

  /// Records that queue q is not empty, so that its port serves the queue if the port's turn in this cycle is still to
  /// come.
  FLITLAB_INLINE void note(u32 i, u32 q) { waits[q / kQueuesOfPort] |= u64{1} << i; }
  /// Updates the set of TICs with non-empty queues at every port.
  FLITLAB_INLINE void note_all(u32 i) {
    for (u32 p = 0; p < kPorts; ++p) waits[p] = (waits[p] & ~(u64{1} << i)) | u64{waiting_at(i, p) != 0} << i;
  }
};

}  // namespace flitlab::sconnect
