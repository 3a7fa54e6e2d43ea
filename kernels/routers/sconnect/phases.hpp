#pragma once
/// A routing cycle of a TIC (S-Connect, 2.2, 3): six clocks, one for each port. In a port's clock the transmitter
/// selects its next message; then the receiver reads the header of the arriving message. So a message that finds
/// another port idle leaves 1 to 5 clocks after its header arrived. Returned messages are routed again at the end of
/// the cycle.
#include "kernels/engines/phases.hpp"
#include "kernels/routers/sconnect/block.hpp"
#include "kernels/routers/sconnect/bulk.hpp"
#include "kernels/routers/sconnect/clock.hpp"
#include "kernels/routers/sconnect/host_port.hpp"
#include "kernels/routers/sconnect/receive.hpp"
#include "kernels/routers/sconnect/transmit.hpp"

namespace flitlab::sconnect {

struct TicPhase {
  static constexpr const char* name = "tic";

  template <class V>
  FLITLAB_HD static u32 items(const V& v) {
    return v.t.routers;
  }

  template <class V, int W>
  FLITLAB_INLINE static HostPort<V, W> host_port(const Tic<V, W>& tic, u32 p, u32 index) {
    const auto terminal = tic.v.terminals[index];
    return {tic,
            p,
            tic.port(p),
            index,
            terminal,
            terminal.at(tic.v.t.terminal_fields.control),
            terminal.at(tic.v.t.host_fields.host)};
  }

  /// Creates the due packets of the TIC's hosts.
  template <class V, int W>
  FLITLAB_INLINE static void create(const Tic<V, W>& tic) {
    for (u32 p = kSerial; p < kPorts; ++p)
      if (tic.link(p).kind == LinkKind::kHost) host_port(tic, p, tic.link(p).far).create();
  }

  /// Removes a message per cycle from the queues of a port that is switched off, so that the message is routed again.
  template <class V, int W>
  FLITLAB_INLINE static void empty(const Tic<V, W>& tic, u32 p, Port& port) {
    const u32 waiting = static_cast<u32>(tic.control.waiting >> p * kQueuesOfPort & 0xFF);
    port.heard = port.reply = 0;
    if (!waiting) return;
    port.requeued = static_cast<u8>(tic.pop(p * kQueuesOfPort + bit_width(waiting) - 1));
    tic.message(port.requeued).tried = static_cast<u8>(p);
  }

  template <class V, int W>
  FLITLAB_INLINE static void work_port(const Tic<V, W>& tic, u32 p, u8 arriving_bits) {
    const Link& link = tic.link(p);
    if (link.kind == LinkKind::kNone) return;
    if (link.kind != LinkKind::kHost) return work_channel(tic, p, arriving_bits);
    const HostPort<V, W> host = host_port(tic, p, link.far);
    host.present();
    host.offer();
  }

  /// Does the work of a port that leads to a TIC.
  template <class V, int W>
  FLITLAB_INLINE static void work_channel(const Tic<V, W>& tic, u32 p, u8 arriving_bits) {
    Port& port = tic.port(p);
    // A quad in transmission is completed first: its parts must be in consecutive slots.
    if (!tic.enabled(p) && port.sending == kNoBuffer) {
      empty(tic, p, port);
      Receiver<V, W>{tic, p, port}.work(0);
      return;
    }
    Transmitter<V, W>{tic, p, port}.work();
    Receiver<V, W>{tic, p, port}.work(arriving_bits);
  }

  /// Prefetches the fields that every cycle of a TIC and its hosts reads.
  template <class V>
  FLITLAB_INLINE static void prefetch(const V& v, u32 index) {
#if !defined(__CUDA_ARCH__)
    const std::byte* hot = v.tics[index].block;
#ifndef __CUDACC__
#pragma GCC unroll 12
#endif
    for (u32 line = 0; line < v.t.fields.slot.offset; line += 64) __builtin_prefetch(hot + line, 1);
    for (u32 p = kSerial; p < kPorts; ++p) {
      const Link& link = v.t.links[index * kPorts + p];
      if (link.kind == LinkKind::kHost) __builtin_prefetch(v.terminals[link.far].block, 1);
    }
#endif
  }

  /// Prefetches the routing table entries of all messages that arrive in this cycle.
  template <class V, int W>
  FLITLAB_INLINE static void prefetch_entries(const Tic<V, W>& tic, u64 arriving_bits) {
#if !defined(__CUDA_ARCH__)
    const auto& t = tic.v.t;
    for (u32 p = 0; p < kPorts; ++p) {
      if (!(arriving_bits >> 8 * p & kPresent)) continue;
      const Message& m = tic.item.at(t.fields.arriving, (tic.now & t.slot_mask) * kPorts + p);
      __builtin_prefetch(&tic.item.at(t.fields.table, m.control ? 0u : u32{m.node}));
    }
#endif
  }

  /// Returns whether a TIC must be processed: its inbox or pool is not empty, it must acknowledge a slot, its clock or
  /// counter runs, or one of its hosts has something to do.
  template <class V>
  FLITLAB_INLINE static bool due(const V& v, u32 index, Cycle now) {
    const auto& t = v.t;
    const auto item = v.tics[index];
    const TicControl& control = item.at(t.fields.control);
    bool any = t.clocks || control.used || control.awake || control.counting == kEveryCycle ||
               item.at(t.fields.mail, now & t.slot_mask);
    for (u32 p = kSerial; p < kPorts; ++p) {
      const Link& link = v.t.links[index * kPorts + p];
      if (link.kind != LinkKind::kHost) continue;
      const auto terminal = v.terminals[link.far];
      const TerminalControl& c = terminal.at(t.terminal_fields.control);
      any |= t.mode != TrafficMode::kOpen || c.sent != c.created || c.next.at <= now ||
             terminal.at(t.host_fields.host).out_count;
    }
    return any;
  }

  template <class V>
  FLITLAB_INLINE static void run(const V& v, u32 index, Cycle now) {
    if (due(v, index, now)) work(v, index, now);
  }

  template <class V>
  FLITLAB_INLINE static void work(const V& v, u32 index, Cycle now) {
    const auto& t = v.t;
    const auto item = v.tics[index];
    TicControl& control = item.at(t.fields.control);
    const Tic<V, V::width> tic{v, item, index, now, control};
    u64& word = item.at(t.fields.mail, now & t.slot_mask);
    u64 arriving_bits = word;
    word = 0;
    prefetch_entries(tic, arriving_bits);
    arriving_bits = begin_cycle(tic, arriving_bits);
    create(tic);
    for (u32 p = 0; p < kPorts; ++p) work_port(tic, p, static_cast<u8>(arriving_bits >> 8 * p));
    route_again(tic);
    control.awake = is_awake(tic);
  }

  /// Returns whether a port has received a slot, must acknowledge one, or is receiving a quad.
  template <class V, int W>
  FLITLAB_INLINE static bool is_awake(const Tic<V, W>& tic) {
    u32 active = 0;
    for (u32 p = 0; p < kPorts; ++p) {
      const Port& port = tic.port(p);
      active |= u32{port.heard} | port.reply | port.train.parts | port.entering;
    }
    return active != 0;
  }

  /// Routes the returned messages again.
  template <class V, int W>
  FLITLAB_INLINE static void route_again(const Tic<V, W>& tic) {
    u32 again = 0;
    for (u32 p = 0; p < kPorts; ++p) again |= u32{tic.port(p).requeued != kNoBuffer} << p;
    for (; again; again &= again - 1) {
      const u32 p = lowest_bit(again), buffer = tic.port(p).requeued;
      tic.port(p).requeued = kNoBuffer;
      tic.route_again(buffer, p);
    }
  }

  static constexpr u32 batch = kTics;

  /// Runs `work` for up to `batch` TICs; in bulk (bulk.hpp) unless clocks are emulated.
  template <class V>
    requires(!V::traced && V::width == 1)
  FLITLAB_INLINE static void work_in_bulk(const V& v, const u32* list, u32 n, Cycle now) {
    if (!v.t.clocks) return step_many<TicPhase>(v, list, n, now);
    for (u32 i = 0; i < n; ++i) work(v, list[i], now);
  }

  static constexpr bool kInlinesCollected = true;  ///< otherwise registers spill (nvcc 13.0, sm_90)
  /// What a block of GPU threads shares.
  struct InBlock {
    BlockItems items;
    TicLists lists;
  };

  /// Does the work of the TICs of `due`, on a GPU. All threads of the block call it.
  template <class Due>
  FLITLAB_INLINE static void work_in_block(const Due& due, InBlock& shared, Cycle now) {
    step_in_block(due, shared.items, shared.lists, [&](const auto& items) __attribute__((always_inline)) {
      BlockStep<TicPhase, std::remove_cvref_t<decltype(items)>>{items, shared.lists, now}.run();
    });
  }

  /// Runs the clock and the counter of cycles. Returns the inbox word, which the clock may change.
  template <class V, int W>
  FLITLAB_INLINE static u64 begin_cycle(const Tic<V, W>& tic, u64 arriving_bits) {
    if (tic.control.counting == kEveryCycle) ++tic.control.counter;
    return tic.v.t.clocks ? keep_clock(tic, arriving_bits) : arriving_bits;
  }

  /// Runs the phase-locked loop. Returns the inbox word, in which slots hit by a clock slip are marked as damaged.
  template <class V, int W>
  FLITLAB_INLINE static u64 keep_clock(const Tic<V, W>& tic, u64 arriving_bits) {
    ClockState& clock = tic.item.at(tic.v.t.fields.clock.state);
    for (u32 set = Clock<V, W>{tic, clock}.work(); set; set &= set - 1) {
      const u32 p = lowest_bit(set);
      if (arriving_bits >> 8 * p & 0xFF) arriving_bits |= u64{kHit} << 8 * p;
    }
    return arriving_bits;
  }
};

}  // namespace flitlab::sconnect
