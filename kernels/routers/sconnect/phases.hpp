#pragma once
/// A routing cycle of a TIC (S-Connect, 2.2, 3): six clocks, one for each port. In the clock of a port its transmitter
/// takes what it sends next, and then the header of what comes by it is read. So a message that finds its transmitter
/// idle leaves 1 to 5 clocks after its header came, by any other port than it came by. Messages that have come back are
/// routed anew at the end.
#include "kernels/engines/phases.hpp"
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

  /// Creates what is due at the hosts. Returns whether any has something to send.
  template <class V, int W>
  FLITLAB_INLINE static bool create(const Tic<V, W>& tic) {
    bool any = false;
    for (u32 p = kSerial; p < kPorts; ++p) {
      if (tic.link(p).kind != LinkKind::kHost) continue;
      const HostPort<V, W> host = host_port(tic, p, tic.link(p).far);
      host.create();
      any |= host.control.sent != host.control.created || host.host.out_count != 0;
    }
    return any;
  }

  /// What waits for a port that has been switched off takes another way, a message a cycle.
  template <class V, int W>
  FLITLAB_INLINE static void empty(const Tic<V, W>& tic, u32 p, Port& port) {
    const u32 waiting = static_cast<u32>(tic.control.waiting >> p * kClasses & 0xFF);
    if (!waiting) return;
    port.requeued = static_cast<u8>(tic.pop(p * kClasses + bit_width(waiting) - 1));
    tic.message(port.requeued).tried = static_cast<u8>(p);
  }

  template <class V, int W>
  FLITLAB_INLINE static void work_port(const Tic<V, W>& tic, u32 p, u8 mail) {
    const Link& link = tic.link(p);
    if (link.kind == LinkKind::kNone) return;
    Port& port = tic.port(p);
    if (link.kind == LinkKind::kHost) {
      const HostPort<V, W> host = host_port(tic, p, link.far);
      host.present();
      host.offer();
      return;
    }
    if (!tic.enabled(p)) {
      if (!Transmitter<V, W>{tic, p, port}.cut_off()) empty(tic, p, port);
      Receiver<V, W>{tic, p, port}.work(0);
      return;
    }
    Transmitter<V, W>{tic, p, port}.work();
    Receiver<V, W>{tic, p, port}.work(mail);
  }

  template <class V, int W>
  FLITLAB_INLINE static void route_again(const Tic<V, W>& tic, u32 p) {
    Port& port = tic.port(p);
    if (port.requeued == kNoBuffer) return;
    const u32 buffer = port.requeued;
    port.requeued = kNoBuffer;
    const Message& m = tic.message(buffer);
    // A control message that names its hops has no other way.
    const bool named = m.control && m.node == kNoAddress;
    const u32 q = named ? u32{tic.state(buffer).queue} : tic.decide(m, p);
    tic.push(q, buffer, true);
  }

  template <class V>
  FLITLAB_INLINE static void run(const V& v, u32 index, Cycle now) {
    const auto& t = v.t;
    const auto item = v.tics[index];
    TicControl& control = item.at(t.fields.control);
    const Tic<V, V::width> tic{v, item, index, now, control};
    u64& word = item.at(t.fields.mail, now & t.slot_mask);
    u64 mail = word;
    word = 0;
    if (t.clocks) mail = keep_clock(tic, mail);
    if (control.counting == kEveryCycle) ++control.counter;
    if (!create(tic) && !mail && !control.used && !control.awake) return;
    u32 again = 0, awake = 0;
    for (u32 p = 0; p < kPorts; ++p) {
      work_port(tic, p, static_cast<u8>(mail >> 8 * p));
      const Port& port = tic.port(p);
      again |= u32{port.requeued != kNoBuffer} << p;
      awake |= u32{port.heard} | port.reply | port.train.parts | port.entering;
    }
    for (; again; again &= again - 1) route_again(tic, lowest_bit(again));
    control.awake = awake != 0;
  }

  /// A slot that has slipped is lost: it counts as damaged.
  template <class V, int W>
  FLITLAB_INLINE static u64 keep_clock(const Tic<V, W>& tic, u64 mail) {
    ClockState& clock = tic.item.at(tic.v.t.fields.clock.state);
    Clock<V, W>{tic.v, tic.item, tic.index, tic.now, clock}.work();
    for (u32 set = clock.slipped; set; set &= set - 1) {
      const u32 p = lowest_bit(set);
      if (mail >> 8 * p & 0xFF) mail |= u64{kHit} << 8 * p;
    }
    return mail;
  }
};

}  // namespace flitlab::sconnect
