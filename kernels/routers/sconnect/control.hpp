#pragma once
/// What a TIC does with a control message (S-Connect, 3.4): pass it on, or carry it out and send it back.
#include "kernels/routers/sconnect/control_message.hpp"
#include "kernels/routers/sconnect/tic.hpp"
#include "kernels/routers/sconnect/totals.hpp"

namespace flitlab::sconnect {

inline constexpr u32 kNowhere = kNone - 1;

template <class V, int W>
struct ControlUnit {
  using Tics = Tic<V, W>;

  const Tics& tic;

  /// Priority of a reply: above that of its request, so that requests that wait keep no reply from moving. Those to
  /// requests of the highest priority have only that.
  FLITLAB_INLINE static u8 reply_priority(const Message& m) {
    return static_cast<u8>(m.priority + (m.priority + 1u < kPriorities));
  }

  /// Where a message goes on: a queue that has a buffer for it; kNone: there is none; kNowhere: it is thrown away. A
  /// control message's way is changed accordingly; `here`: it asks something of this TIC, and is the reply from now on.
  FLITLAB_INLINE u32 place(Message& m, u32 source, bool& here) const {
    here = false;
    return m.control ? place_control(m, source, here) : tic.decide(m, source);
  }

  /// Does what a message asked that is now the reply.
  FLITLAB_HD inline void carry_out(Message& m, u32 source) const {
    const auto& t = tic.v.t;
    const u32 number = number_of(m);
    count(*tic.v.shard, Count::kControlMessages);
    switch (static_cast<Operation>(m.control & ~kReply)) {
      case Operation::kReadTable: m.dst = number < t.nodes ? tic.item.at(t.fields.table, number) : 0; break;
      // Replies to writing bear what is there now: nothing if there is no such entry.
      case Operation::kWriteTable:
        m.dst = number < t.nodes ? entry_of(t, tic.index, m.dst) : 0;
        if (number < t.nodes) tic.item.at(t.fields.table, number) = static_cast<u16>(m.dst);
        break;
      case Operation::kReadRegister: m.dst = read(number, source); break;
      case Operation::kWriteRegister:
        write(number, m.dst);
        m.dst = read(number, source);
        break;
      case Operation::kAddToTimer:
        tic.control.timer = static_cast<u16>(tic.control.timer + m.dst);
        m.dst = timer();
        break;
      default: break;
    }
    m.id = number | u32{timer()} << 16;
  }

 private:
  /// The queue of a port, if that leads anywhere. Requests go on virtual channel 0 and replies on 1, so that requests
  /// that wait do not keep replies, which always get home, from moving.
  FLITLAB_INLINE u32 over(const Message& m, u32 p, bool reply) const {
    if (p >= kPorts || tic.link(p).kind == LinkKind::kNone || !tic.enabled(p)) return kNowhere;
    const u32 q = Tics::queue_of(p, m.priority, reply && vcs_of(tic.link(p).kind, tic.v.t.parallel_vcs) > 1);
    return tic.can_take(q, m) ? q : kNone;
  }

  FLITLAB_INLINE u32 by_table(const Message& m, u32 source) const {
    if (m.node >= tic.v.t.nodes || !tic.item.at(tic.v.t.fields.table, m.node)) return kNowhere;
    return tic.decide(m, source);
  }

  /// Messages that lead nowhere are thrown away; whoever sent them waits in vain.
  FLITLAB_HD inline u32 place_control(Message& m, u32 source, bool& here) const {
    Way way = way_of(m);
    if (!is_reply(m)) {
      if (m.node != kNoAddress && m.node != tic.control.address) return by_table(m, source);
      m.node = kNoAddress;
      if (way.left()) {
        const u32 next = way.go_on(source);
        set_way(m, way);
        return over(m, next, false);
      }
      here = true;
      m.control |= kReply;
      m.priority = reply_priority(m);
      m.vc = 0;
      if (way.made()) return over(m, source, true);
    } else if (way.made()) {
      const u32 next = way.go_back();
      set_way(m, way);
      return over(m, next, true);
    }
    for (u32 p = kSerial; p < kPorts; ++p)
      if (tic.link(p).kind == LinkKind::kHost && tic.link(p).far == m.src) return over(m, p, true);
    if (m.hops == tic.control.address)  // the port is at the other TIC of this node
      for (u32 p = kSerial; p < kPorts; ++p)
        if (tic.link(p).kind == LinkKind::kParallel && p != source) return over(m, p, true);
    m.node = m.hops;
    return by_table(m, source);
  }

  FLITLAB_INLINE u16 timer() const { return static_cast<u16>(tic.now + tic.control.timer); }

  FLITLAB_HD inline u32 read(u32 number, u32 source) const {
    const auto& t = tic.v.t;
    const TicControl& c = tic.control;
    if (number >= static_cast<u32>(Register::kOfPort)) {
      const u32 p = (number - static_cast<u32>(Register::kOfPort)) / 8;
      if (p >= kPorts) return 0;
      const Port& port = tic.port(p);
      const Fifo* fifo = t.clocks && p < kSerial ? &tic.item.at(t.fields.clock.fifo, p) : nullptr;
      switch (static_cast<PortRegister>((number - static_cast<u32>(Register::kOfPort)) % 8)) {
        case PortRegister::kDamaged: return port.damaged;
        case PortRegister::kRefused: return port.refused;
        case PortRegister::kFailed: return port.failed;
        case PortRegister::kLost: return port.lost;
        case PortRegister::kCarried: return port.carried;
        case PortRegister::kOverflows: return fifo ? fifo->overflows : 0;
        case PortRegister::kUnderflows: return fifo ? fifo->underflows : 0;
        default: return 0;
      }
    }
    switch (static_cast<Register>(number)) {
      case Register::kPorts: {
        u32 set = 0;
        for (u32 p = 0; p < kPorts; ++p) {
          const LinkKind kind = tic.link(p).kind;
          set |= u32{kind == LinkKind::kSerial || kind == LinkKind::kParallel} << p | u32{kind == LinkKind::kHost}
                                                                                          << (8 + p);
        }
        return set;
      }
      case Register::kCameBy: return source;
      case Register::kAddress: return c.address;
      case Register::kEnabled: return c.enabled;
      case Register::kTimer: return timer();
      case Register::kCounting: return c.counting;
      case Register::kCounter: return c.counter;
      default: break;
    }
    if (!t.clocks) return 0;
    const ClockState& clock = tic.item.at(t.fields.clock.state);
    switch (static_cast<Register>(number)) {
      case Register::kClock: return u32{clock.on} | u32{clock.limit} << 1;
      case Register::kClockRate: return static_cast<u32>(clock.rate);
      case Register::kClockSends: return clock.sends;
      case Register::kSlips: return clock.slips;
      default: return 0;
    }
  }

  FLITLAB_HD inline void write(u32 number, u32 value) const {
    const auto& t = tic.v.t;
    TicControl& c = tic.control;
    switch (static_cast<Register>(number)) {
      case Register::kAddress: c.address = static_cast<u16>(value); return;
      case Register::kEnabled: c.enabled = static_cast<u8>(value & ((1u << kPorts) - 1)); return;
      case Register::kTimer: c.timer = static_cast<u16>(value - tic.now); return;
      case Register::kCounting: c.counting = static_cast<u8>(value > kEveryCycle ? kEveryCycle + 1 : value); return;
      case Register::kCounter: c.counter = value; return;
      default: break;
    }
    if (!t.clocks) return;
    ClockState& clock = tic.item.at(t.fields.clock.state);
    if (static_cast<Register>(number) == Register::kClock) clock.on = value & 1;
    if (static_cast<Register>(number) == Register::kClockSends) clock.sends = value & ((1u << kSerial) - 1);
  }
};

}  // namespace flitlab::sconnect
