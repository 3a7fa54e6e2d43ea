#pragma once
/// Processing of control messages by a TIC (S-Connect, 3.4): it forwards a message, or executes it and returns a reply.
#include "kernels/routers/sconnect/control_message.hpp"
#include "kernels/routers/sconnect/tic.hpp"
#include "kernels/routers/sconnect/totals.hpp"

namespace flitlab::sconnect {

/// Value in place of a queue number: the message is dropped.
inline constexpr u32 kNowhere = kNone - 1;

template <class V, int W>
struct ControlUnit {
  using Tics = Tic<V, W>;

  const Tics& tic;

  /// Returns the priority of a reply: one above the priority of its request, so that waiting requests do not block
  /// replies; at most the highest priority.
  FLITLAB_INLINE static u8 reply_priority(const Message& m) {
    return static_cast<u8>(m.priority + (m.priority + 1u < kPriorities));
  }

  /// Returns the queue for a message; kNone: no buffer; kNowhere: the message is dropped. Advances the source route of
  /// a control message. If this TIC has to execute a request, the function turns the request into its reply and sets
  /// `here`.
  FLITLAB_INLINE u32 next_queue_for(Message& m, u32 source, bool& here) const {
    here = false;
    return m.control ? next_queue_for_control(m, source, here) : tic.decide(m, source);
  }

  /// Executes the operation of a request that `next_queue_for` has turned into a reply, and stores the result in it.
  FLITLAB_HD inline void carry_out(Message& m, u32 source) const {
    const auto& t = tic.v.t;
    const u32 number = number_of(m);
    count(*tic.v.shard, Count::kControlMessages);
    switch (static_cast<Operation>(m.control & ~kReply)) {
      case Operation::kReadTable: m.dst = number < t.nodes ? tic.item.at(t.fields.table, number) : 0; break;
      // The reply to a write returns the stored value; 0 if the entry does not exist.
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
  /// Returns the queue of port p; kNowhere if the port is unconnected or off. Requests use virtual channel 0 and
  /// replies 1, so that waiting requests do not block replies.
  FLITLAB_INLINE u32 over(const Message& m, u32 p, bool reply) const {
    if (p >= kPorts || tic.link(p).kind == LinkKind::kNone || !tic.enabled(p)) return kNowhere;
    const u32 q = Tics::queue_of(p, m.priority, reply && vcs_of(tic.link(p).kind, tic.v.t.parallel_vcs) > 1);
    return tic.can_take(q, m) ? q : kNone;
  }

  FLITLAB_INLINE u32 by_table(const Message& m, u32 source) const {
    if (m.node >= tic.v.t.nodes || !tic.item.at(tic.v.t.fields.table, m.node)) return kNowhere;
    return tic.decide(m, source);
  }

  /// Does the work of next_queue_for() for control messages. A message without a path is dropped, without notice to its
  /// sender.
  FLITLAB_HD inline u32 next_queue_for_control(Message& m, u32 source, bool& here) const {
    SourceRoute way = source_route_of(m);
    if (!is_reply(m)) {
      if (m.node != kNoAddress && m.node != tic.control.address) return by_table(m, source);
      m.node = kNoAddress;
      if (way.left()) {
        const u32 next = way.next_hop(source);
        set_source_route(m, way);
        return over(m, next, false);
      }
      here = true;
      m.control |= kReply;
      m.priority = reply_priority(m);
      m.vc = 0;
      if (way.made()) return over(m, source, true);
    } else if (way.made()) {
      const u32 next = way.previous_hop();
      set_source_route(m, way);
      return over(m, next, true);
    }
    for (u32 p = kSerial; p < kPorts; ++p)
      if (tic.link(p).kind == LinkKind::kHost && tic.link(p).far == m.src) return over(m, p, true);
    if (m.hops == tic.control.address)  // the host's port is at the other TIC of this node
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
