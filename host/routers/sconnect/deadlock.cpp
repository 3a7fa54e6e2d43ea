/// Deadlock search in a state of an S-Connect fabric. The vertices of the waits-for graph are queues of TICs, whose
/// messages wait for buffers at the far end of a channel. In a closed loop the hosts' reply queues are vertices too:
/// requests wait for room in them, and their replies wait for buffers of the TIC. The plan's routing tables are free of
/// deadlock, but tables that software writes and requests with source routes may cause one (S-Connect, 2.4, 3.4).
#include <algorithm>

#include "host/plan/deadlock.hpp"
#include "host/routers/sconnect/plan.hpp"
#include "kernels/routers/sconnect/control.hpp"
#include "kernels/routers/sconnect/host_loop.hpp"

namespace flitlab {
namespace {

using sconnect::kPorts;
using sconnect::kQueues;
using sconnect::kQueuesOfPort;
using sconnect::kVcs;
using sconnect::Link;
using sconnect::LinkKind;
using sconnect::Message;

/// The waits-for graph of a state.
class Search final : public WaitsFor {
 public:
  Search(const SconnectPlan& plan, const StateLayout& layout, const std::vector<std::byte>& state)
      : plan_(plan),
        t_(plan.table()),
        state_(state),
        view_{{t_, nullptr, nullptr, {}},
              Items<1>{state_.data(), layout.kinds[0].item_bytes},
              Items<1>{state_.data() + layout.kind_offset(1, 1), layout.kinds[1].item_bytes}},
        queues_(u64{t_.routers} * kQueues) {
    port_of_terminal_.resize(t_.terminals);
    for (u32 i = 0; i < t_.routers * kPorts; ++i)
      if (t_.links[i].kind == LinkKind::kHost) port_of_terminal_[t_.links[i].far] = i;
  }

  u64 size() const override { return queues_ + u64{t_.loops()} * t_.terminals; }

  std::string name(u64 i) const override {
    if (i >= queues_) return "terminal " + std::to_string(i - queues_) + " reply queue";
    const u32 q = static_cast<u32>(i % kQueues);
    return "TIC " + plan_.router_name(static_cast<u32>(i / kQueues)) + " " + plan_.port_name(q / kQueuesOfPort) +
           " priority " + std::to_string(q % kQueuesOfPort / kVcs) + " VC " + std::to_string(q % kVcs);
  }

  /// Returns whether a queue can move. It can if it is empty, if it leads to a host that accepts messages, or if its
  /// port is off and software may switch it on. It can also move if the next TIC has accepted one of its messages or
  /// has a buffer for it, or if one of its messages is damaged or arriving.
  bool can_move(u64 i) const override {
    if (i >= queues_) return host_can_move(static_cast<u32>(i - queues_));
    const Tic at = tic(i / kQueues);
    const u32 q = static_cast<u32>(i % kQueues), p = q / kQueuesOfPort;
    const LinkKind kind = at.link(p).kind;
    const bool empty = !at.control.held[q] && !holds_apart(at, [&](u32 b) { return at.state(b).queue == q; });
    if (kind == LinkKind::kHost && !empty) return host_takes(at, p);
    if (empty || (kind != LinkKind::kSerial && kind != LinkKind::kParallel) || !at.enabled(p)) return true;
    bool moves = false;
    for_each_message(at, q, [&](u32 buffer) {
      moves |= (at.state(buffer).flags & (sconnect::kBad | sconnect::kComing)) || taken(at, p, buffer);
      for_each_way(at, q, buffer, [&](u32 port, u32 vc) { moves |= passes(at, port, vc, buffer); });
    });
    return moves;
  }

  /// Returns the queues that the messages of a queue would enter, and the queues of the next TIC that use more buffers
  /// than they have reserved.
  std::vector<u64> waits_for(u64 i) const override {
    if (i >= queues_) return host_waits_for(static_cast<u32>(i - queues_));
    const Tic at = tic(i / kQueues);
    const u32 q = static_cast<u32>(i % kQueues);
    std::vector<u64> waits;
    if (const Link& link = at.link(q / kQueuesOfPort); link.kind == LinkKind::kHost) return {queues_ + link.far};
    for_each_message(at, q, [&](u32 buffer) {
      for_each_way(at, q, buffer, [&](u32 port, u32 vc) { add_waits(at, port, vc, buffer, waits); });
    });
    return waits;
  }

 private:
  using View = sconnect::View<1, false>;
  using Tic = sconnect::Tic<View, 1>;

  Tic tic(u64 index) const {
    const Item<1> item = view_.tics[static_cast<u32>(index)];
    return Tic{view_, item, static_cast<u32>(index), 0, item.at(t_.fields.control)};
  }

  sconnect::HostLoop<View, 1> loop(u32 terminal) const { return {view_, view_.terminals[terminal], terminal}; }

  /// Returns whether a host accepts the first message of the queue at its port, or software can make the host accept
  /// it. In a closed loop a host accepts no request while its reply queue is full.
  bool host_takes(const Tic& at, u32 p) const {
    const u32 waiting = static_cast<u32>(at.control.waiting >> p * kQueuesOfPort & 0xFF);
    if (!t_.loops() || !waiting || !at.enabled(p) || at.port(p).sending != sconnect::kNoBuffer) return true;
    const u32 priority = (bit_width(waiting) - 1) / kVcs;
    const Message& first = at.message(at.queue(Tic::queue_of(p, priority, 0)).head);
    return first.control || t_.refuses >> priority & 1 || sconnect::is_host_reply(first) ||
           loop(at.link(p).far).has_room();
  }

  /// Returns whether a host's reply queue has room or will have room: its oldest reply is not yet due, or the TIC has a
  /// buffer for it.
  bool host_can_move(u32 terminal) const {
    const Tic at = tic(port_of_terminal_[terminal] / kPorts);
    const u32 p = port_of_terminal_[terminal] % kPorts;
    const bool offered = view_.terminals[terminal].at(t_.host_fields.host).ready >> sconnect::kReplies & 1;
    if (loop(terminal).has_room() || !offered || !at.enabled(p) || at.port(p).entering) return true;
    const u32 q = at.decide(loop(terminal).reply(), p);
    return q != kNone && (at.control.used < t_.host_buffers || !at.control.held[q]);
  }

  std::vector<u64> host_waits_for(u32 terminal) const {
    const Tic at = tic(port_of_terminal_[terminal] / kPorts);
    const Message& m = loop(terminal).reply();
    std::vector<u64> waits;
    add_options(at, m, waits);
    add_holders(at, at.control.used >= t_.host_buffers, waits);
    return waits;
  }

  void add_options(const Tic& at, const Message& m, std::vector<u64>& waits) const {
    for (u32 set = at.options_of(m); set; set &= set - 1)
      waits.push_back(u64{at.index} * kQueues +
                      Tic::queue_of(lowest_bit(set) / kVcs, m.priority, lowest_bit(set) % kVcs));
  }

  /// Adds the queues of a TIC that use more buffers than they have reserved; with `anything`, all queues that are not
  /// empty.
  void add_holders(const Tic& at, bool anything, std::vector<u64>& waits) const {
    for (u32 q = 0; q < kQueues; ++q) {
      const u32 held = at.control.held[q];
      if (held && (anything || held > sconnect::reserved_buffers(t_, at.index, q)))
        waits.push_back(u64{at.index} * kQueues + q);
    }
    for (bool reply : {false, true})
      if (anything || at.control.held_control[reply] > t_.control_buffers) add_apart(at, reply, waits);
  }

  /// Returns whether f(buffer) is true for any control message with the flag kApart (its buffer is counted apart from
  /// the queues).
  template <class F>
  bool holds_apart(const Tic& at, F f) const {
    for (u32 b = 0; b < t_.buffers; ++b)
      if (!(at.control.free >> b & 1) && at.state(b).flags & sconnect::kApart && f(b)) return true;
    return false;
  }

  /// Adds the queues that hold control messages with the flag kApart, either requests or replies.
  void add_apart(const Tic& at, bool reply, std::vector<u64>& waits) const {
    holds_apart(at, [&](u32 b) {
      if (sconnect::is_reply(at.message(b)) == reply) waits.push_back(u64{at.index} * kQueues + at.state(b).queue);
      return false;
    });
  }

  /// Calls f(buffer) for the messages that a queue repeatedly tries to send. A message that the next TIC does not
  /// accept returns to the head of the queue, so the messages behind it are not sent. If the port alternates between
  /// two virtual channels, up to three messages of a queue are tried.
  template <class F>
  void for_each_message(const Tic& at, u32 q, F f) const {
    const u32 deep = at.queue(q ^ 1).messages ? 3 : 1;
    u64 tried = 0;
    u32 buffer = at.queue(q).head;
    for (u32 i = 0; i < at.queue(q).messages && i < deep; ++i, buffer = at.state(buffer).next)
      tried |= u64{1} << buffer;
    for (u32 b = 0; b < t_.buffers; ++b) {
      if (at.control.free >> b & 1 || at.state(b).queue != q) continue;
      if (tried >> b & 1 || !(at.state(b).flags & sconnect::kWaiting) || at.message(b).tried < kPorts) f(b);
    }
  }

  /// Calls f(port, virtual channel) for the options of a message, including the options that it has after it returns.
  template <class F>
  void for_each_way(const Tic& at, u32 q, u32 buffer, F f) const {
    const Message& m = at.message(buffer);
    f(q / kQueuesOfPort, q % kVcs);
    if (m.control && m.node == sconnect::kNoAddress) return;
    for (u32 set = sconnect::allowed(at.item.at(t_.fields.table, m.node), m.vc); set; set &= set - 1)
      if (const u32 bit = lowest_bit(set);
          bit / kVcs * kQueuesOfPort + bit % kVcs != q % kVcs + q / kQueuesOfPort * kQueuesOfPort)
        f(bit / kVcs, bit % kVcs);
  }

  /// Returns whether the TIC at the far end has accepted a message that is not yet acknowledged.
  bool taken(const Tic& at, u32 p, u32 buffer) const {
    const Link& link = at.link(p);
    const Tic there = tic(link.far);
    for (u32 i = 0; i < link.round; ++i) {
      const sconnect::Slot& near_slot = at.item.at(t_.fields.slot, t_.slot_first[at.index * kPorts + p] + i);
      if (near_slot.buffer != buffer) continue;
      const u32 far = t_.slot_first[link.far * kPorts + link.port] + (i + link.delay) % link.round;
      const sconnect::Slot& far_slot = there.item.at(t_.fields.slot, far);
      if (bool(far_slot.bits & sconnect::kExpected) != bool(near_slot.bits & sconnect::kSending)) return true;
    }
    return false;
  }

  Message arriving(const Tic& at, u32 vc, u32 buffer) const {
    Message m = at.message(buffer);
    m.vc = static_cast<u8>(vc);
    m.tried = kPorts;
    return m;
  }

  bool passes(const Tic& at, u32 p, u32 vc, u32 buffer) const {
    const Link& link = at.link(p);
    if (link.kind != LinkKind::kSerial && link.kind != LinkKind::kParallel) return true;
    if (!at.enabled(p)) return true;
    const Tic there = tic(link.far);
    if (!there.enabled(link.port)) return true;
    Message m = arriving(at, vc, buffer);
    bool here;
    return sconnect::ControlUnit<View, 1>{there}.next_queue_for(m, link.port, here) != kNone;
  }

  void add_waits(const Tic& at, u32 p, u32 vc, u32 buffer, std::vector<u64>& waits) const {
    const Link& link = at.link(p);
    const Tic there = tic(link.far);
    Message m = arriving(at, vc, buffer);
    const u64 first = u64{link.far} * kQueues;
    // Determine the queue that the message would enter, as if the pool of buffers were empty.
    const auto [used, reserved] = std::pair(there.control.used, there.control.reserved);
    there.control.used = there.control.reserved = 0;
    bool here;
    const u32 q = sconnect::ControlUnit<View, 1>{there}.next_queue_for(m, link.port, here);
    there.control.used = used;
    there.control.reserved = reserved;
    if (!m.control || m.node != sconnect::kNoAddress)
      add_options(there, m, waits);
    else if (q < kQueues)
      waits.push_back(first + q);
    add_holders(there, false, waits);
    if (m.control) add_apart(there, sconnect::is_reply(m), waits);
  }

  const SconnectPlan& plan_;
  const sconnect::Table& t_;
  mutable std::vector<std::byte> state_;  ///< a copy, because routing decisions write to it
  View view_;
  u64 queues_;
  std::vector<u32> port_of_terminal_;  ///< [terminals] host port of the terminal, as TIC * kPorts + port
};

}  // namespace

std::string SconnectPlan::find_deadlock(const std::vector<std::byte>& state) const {
  return describe_deadlock(Search(*this, layout_, state), "queues");
}

}  // namespace flitlab
