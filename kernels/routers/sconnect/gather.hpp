#pragma once
/// TICs that a CPU thread works at once (batch.hpp): which of them are plain, and which ports have something to do, as
/// sets. A TIC is not plain if software has changed it or asks something of it.
#include <array>
#include <cstring>

#include "kernels/common/members.hpp"
#include "kernels/routers/sconnect/host_port.hpp"

namespace flitlab::sconnect {

/// TICs visited at once.
inline constexpr u32 kTics = 64;

/// Bytes of TICs beyond which the messages that leave are asked for early.
inline constexpr u64 kNear = u64{1} << 21;

/// now % round without a division (Lemire, Kaser and Kurz, "Faster remainder by direct computation", 2019).
inline constexpr std::array<u64, 256> kReciprocals = [] {
  std::array<u64, 256> reciprocals{};
  for (u32 round = 1; round < 256; ++round) reciprocals[round] = ~u64{0} / round + 1;
  return reciprocals;
}();

/// `Phase`: TicPhase, whose functions of a single TIC work what is not plain.
template <class V, class Phase>
struct Gathered {
  static constexpr int W = V::width;
  using SingleTic = Tic<V, W>;
  using List = u8[kTics + 1];  ///< TICs by their numbers in the batch, and one that is not kept

  const V& v;
  Cycle now;
  u32 n = 0;
  u32 index[kTics];
  Item<W> item[kTics];
  const Link* links[kTics];      ///< [port]
  const u16* slot_first[kTics];  ///< [port]
  u64 mail[kTics];
  // Sets of TICs, as bits, by port.
  u64 channels[kPorts], hosts[kPorts];  ///< those of which it leads to a TIC; to a host
  u64 busy[kPorts];                     ///< those with something to do there, but for the host's offers
  u64 offers[kPorts];                   ///< those whose host may have something to say
  u64 requeued[kPorts] = {};            ///< those to which a message has come back there
  u64 special = 0;                      ///< TICs of which a port was not plain
  static constexpr u32 kShort = 16;
  u8 place_of[kShort];  ///< by round; most are short

  FLITLAB_INLINE Gathered(const V& view, Cycle cycle) : v(view), now(cycle) {
    for (u32 round = 0; round < kShort; ++round) place_of[round] = static_cast<u8>(place_in_round(now, round));
  }

  FLITLAB_INLINE static u32 place_in_round(Cycle now, u32 round) {
    __extension__ using u128 = unsigned __int128;
    return static_cast<u32>(u128{kReciprocals[round] * now} * round >> 64);
  }

  /// now % round.
  FLITLAB_INLINE u32 place(u32 round) const { return round < kShort ? place_of[round] : place_in_round(now, round); }

  FLITLAB_INLINE TicControl& control(u32 i) const { return item[i].at(v.t.fields.control); }
  FLITLAB_INLINE Port& port(u32 i, u32 p) const { return item[i].at(v.t.fields.port, p); }
  FLITLAB_INLINE Slot& slot(u32 i, u32 place) const { return item[i].at(v.t.fields.slot, place); }
  FLITLAB_INLINE const Link& link(u32 i, u32 p) const { return links[i][p]; }
  FLITLAB_INLINE SingleTic tic(u32 i) const { return {v, item[i], index[i], now, control(i)}; }
  FLITLAB_INLINE HostPort<V, W> host(const SingleTic& t, u32 p) const { return Phase::host_port(t, p, t.link(p).far); }
  FLITLAB_INLINE const Message& arriving(u32 i, u32 p) const {
    return item[i].at(v.t.fields.arriving, (now & v.t.slot_mask) * kPorts + p);
  }
  static_assert(kQueuesOfPort == 8);
  /// Queues of a port that are not empty, as bits.
  FLITLAB_INLINE u32 waiting_at(u32 i, u32 p) const { return reinterpret_cast<const u8*>(&control(i).waiting)[p]; }

  FLITLAB_INLINE void add(u32 router) {
    index[n] = router;
    item[n] = v.tics[router];
    links[n] = v.t.links + router * kPorts;
    slot_first[n] = v.t.slot_first + router * kPorts;
    mail[n] = item[n].at(v.t.fields.mail, now & v.t.slot_mask);
    ++n;
  }

  /// Those of a list that are plain enough; the others are worked at once.
  FLITLAB_INLINE void gather(const u32* list, u32 size) {
    PortList<kTics / 2> coming[2];
    const bool far = u64{v.t.routers} * v.tics.item_bytes > kNear;
    u32 any = 0;
    for (u32 i = 0; i < size; ++i) {
      add(list[i]);
      any |= software_asks(i);
      coming[i / (kTics / 2)].add(i % (kTics / 2), bytes_present(mail[i]));
      if (!far) continue;
      for (u64 set = control(i).waiting; set; set &= set - 1)
        __builtin_prefetch(&tic(i).message(tic(i).queue(lowest_bit(set)).head));
    }
    for (u32 half : {0u, 1u})
      for (u32 k = 0; k < coming[half].count; ++k) {
        const u32 entry = coming[half].entry[k], i = half * (kTics / 2) + entry / 8;
        const Message& m = arriving(i, entry % 8);
        any |= goes_before_others(m);
        __builtin_prefetch(&item[i].at(v.t.fields.table, m.node));
      }
    if (any) leave_others(list, size);
    find_busy(coming[0].count + coming[1].count > 2 * size);
  }

  /// Whether software has changed a TIC, or has asked something of it that is under way there.
  FLITLAB_INLINE u32 software_asks(u32 i) const {
    const TicControl& c = control(i);
    u32 any = u32{c.held_control[0]} | c.held_control[1] | (c.enabled ^ ((1u << kPorts) - 1)) |
              u32{c.counting <= kEveryCycle};
    for (u32 p = kSerial; p < kPorts; ++p)
      if (link(i, p).kind == LinkKind::kHost) any |= v.terminals[link(i, p).far].at(v.t.host_fields.host).out_count;
    return any;
  }

  /// Whether a message is a control message, or goes before those that wait.
  FLITLAB_INLINE u32 goes_before_others(const Message& m) const {
    return m.control | (v.t.age == Age::kAll ? m.age : 0u);
  }

  /// TICs that are not plain are worked one by one.
  void leave_others(const u32* list, u32 size) {
    n = 0;
    for (u32 i = 0; i < size; ++i) {
      add(list[i]);
      u32 other = software_asks(n - 1);
      for (u32 p = 0; p < kPorts; ++p)
        if (mail[n - 1] >> 8 * p & kPresent) other |= goes_before_others(arriving(n - 1, p));
      if (!other) continue;
      --n;
      Phase::work(v, list[i], now);
    }
  }

  /// Ports with something to do. Hosts that create do it now. `loaded`: most channels have, so that it is not worth to
  /// look which.
  FLITLAB_INLINE void find_busy(bool loaded) {
    const auto& t = v.t;
    Bytes channel{}, host{}, at_port[kPorts]{}, offer[kPorts - kSerial]{};
    List creating;
    u32 create_count = 0;
    for (u32 i = 0; i < n; ++i) {
      item[i].at(t.fields.mail, now & t.slot_mask) = 0;
      channel.of[i] = t.channels[index[i]];
      host.of[i] = t.hosts[index[i]];
      if (!loaded) look_at_channels(i, at_port);
      u32 creates = 0;
      for (u32 p = kSerial; p < kPorts; ++p) {
        if (!(host.of[i] >> p & 1)) continue;
        const TerminalControl& c = v.terminals[link(i, p).far].at(t.terminal_fields.control);
        const u32 due = u32{t.mode != TrafficMode::kOpen} | u32{c.next.at <= now};
        offer[p - kSerial].of[i] = (due | (c.sent ^ c.created) | port(i, p).entering) != 0;
        at_port[p].of[i] = (u32{port(i, p).sending != kNoBuffer} | waiting_at(i, p)) != 0;
        creates |= due;
      }
      creating[create_count] = static_cast<u8>(i);
      create_count += creates;
    }
    for (u32 p = 0; p < kPorts; ++p) {
      channels[p] = set_of(channel.of, p);
      busy[p] = set_of(at_port[p].of, 0) | (loaded ? channels[p] : 0);
    }
    for (u32 p = kSerial; p < kPorts; ++p) {
      hosts[p] = set_of(host.of, p);
      offers[p] = set_of(offer[p - kSerial].of, 0);
    }
    for (u32 k = 0; k < create_count; ++k) Phase::create(tic(creating[k]));
  }

  struct Bytes {
    alignas(8) u8 of[kTics];  ///< [TIC]
  };

  FLITLAB_INLINE void look_at_channels(u32 i, Bytes* at_port) const {
#ifndef __CUDACC__
#pragma GCC unroll 4
#endif
    for (u32 p = 0; p < kSerial; ++p) at_port[p].of[i] = is_busy(i, p);
    for (u32 p = kSerial; p < kPorts; ++p)
      if (v.t.channels[index[i]] >> p & 1) at_port[p].of[i] = is_busy(i, p);
  }

  /// One bit of each TIC's byte.
  FLITLAB_INLINE static u64 set_of(const u8 (&bytes)[kTics], u32 bit) {
    u64 set = 0;
    for (u32 i = 0; i < kTics; i += 8) {
      u64 eight;
      std::memcpy(&eight, bytes + i, sizeof eight);
      set |= ((eight >> bit & 0x0101010101010101ull) * 0x0102040810204080ull >> 56) << i;
    }
    return set;
  }

  /// A list of a set.
  FLITLAB_INLINE static u32 list_of(u64 set, List& list) {
    u32 count = 0;
    for (; set; set &= set - 1) list[count++] = static_cast<u8>(lowest_bit(set));
    return count;
  }

  /// Whether a channel has something to send, has heard something, is in the middle of something, or knows now what has
  /// become of a message.
  FLITLAB_INLINE bool is_busy(u32 i, u32 p) const {
    constexpr u64 kIdle = 0x000000FFFFFF0000, kLooked = 0x000000FFFFFFFFFF;  // of the first members of Port
    static_assert(offsetof(Port, heard) == 0 && offsetof(Port, sending) == 4);
    const Port& own = port(i, p);
    u64 state;
    std::memcpy(&state, &own, sizeof state);
    const u32 here = slot_first[i][p] + place(link(i, p).round);
    const u32 came = reinterpret_cast<const u8*>(&mail[i])[p];
    return (((state ^ kIdle) & kLooked) | own.train.parts | (slot(i, here).buffer ^ kNoBuffer) | came |
            waiting_at(i, p)) != 0;
  }

  /// What has entered a queue may leave by its port, if its turn is still to come.
  FLITLAB_INLINE void note(u32 i, u32 q) { busy[q / kQueuesOfPort] |= u64{1} << i; }
  /// The same, whatever has entered.
  FLITLAB_INLINE void note_all(u32 i) {
    for (u32 p = 0; p < kPorts; ++p) busy[p] |= u64{waiting_at(i, p) != 0} << i;
  }
};

}  // namespace flitlab::sconnect
