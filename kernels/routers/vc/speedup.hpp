#pragma once
/// Speedup: the crossbar has several inputs or outputs for each port, or works several times per cycle. Then flits wait
/// in queues of output ports, and credits wait at input ports, because a channel takes one of each per cycle (Dally &
/// Towles section 17.2). Without speedup, the inputs and outputs of the crossbar are the ports.
#include "kernels/common/outbox.hpp"
#include "kernels/routers/vc/narrow.hpp"
#include "kernels/routers/vc/rounds.hpp"

namespace flitlab::vc {

/// Returns the crossbar input of an input VC: with P ports, the n-th input of port p has the number p + n P.
template <class T>
FLITLAB_INLINE u32 crossbar_input(const T& t, u32 port, u32 vc) {
  return t.input_speedup == 1 ? port : port + t.ports * (vc % t.input_speedup);
}

/// Returns the crossbar output for flits of an input port that leave through output port `out`.
template <class T>
FLITLAB_INLINE u32 crossbar_output(const T& t, u32 port, u32 out) {
  return t.output_speedup == 1 ? out : out + t.ports * (port % t.output_speedup);
}

/// Returns the port of a crossbar's input or output.
template <class T>
FLITLAB_INLINE u32 port_of(const T& t, u32 number) {
  return t.crossbar_factor == 1 ? number : number % t.ports;
}

/// Returns the members of a set of a port's VCs that use a crossbar input of that port.
template <class T>
FLITLAB_INLINE u32 vcs_at(const T& t, u32 input, u32 set) {
  return t.input_speedup == 1 ? set : set & t.crossbar_vcs[input / t.ports];
}

/// Sends a flit on the channel of an output port.
template <class V, class Out, int W>
FLITLAB_INLINE void depart(const V& v, const Out& outbox, const Item<W>& router, u32 index, u32 port, u32 flit) {
  const auto& t = v.t;
  outbox.flit(port, t.peers[std::size_t{index} * t.ports + port], static_cast<u8>(flit), link_delay_of(t, index, port));
  PortState& out = router.at(t.router_fields.port, port);
  ++out.flits_sent;
  if (t.narrow) occupy(t, index, port, out);
}

/// Returns a credit of an input port to the sender.
template <class V, class Out>
FLITLAB_INLINE void return_credit(const V& v, const Out& outbox, u32 index, u32 port, u32 vc) {
  const auto& t = v.t;
  outbox.credit(
      port, t.peers[std::size_t{index} * t.ports + port], vc,
      port < t.network_ports ? credit_delay_of(t, index, port) - t.early_vc_credits : t.injection_credit_delay);
}

/// Adds a flit that has won the switch to the queue of its output port.
template <class T, int W>
FLITLAB_INLINE void enqueue(const T& t, const Item<W>& router, u32 port, u32 flit) {
  PortQueues& q = router.at(t.router_fields.queues, port);
  const u32 last = q.first + q.flits;
  router.at(t.router_fields.queue, port * t.queue_flits + (last < t.queue_flits ? last : last - t.queue_flits)) =
      static_cast<u8>(flit);
  ++q.flits;
}

/// Closes the outputs whose queues have too little room for the flits of a round.
template <class T, int W>
FLITLAB_INLINE void close_full_queues(const T& t, const Item<W>& router, RouterControl& control) {
  for (u32 w = 0; w < t.set_words; ++w) word_of(t, router, control, w << t.set_shift).closed = 0;
  for (u32 port = 0; port < t.ports; ++port)
    word_of(t, router, control, port).closed |= u32{router.at(t.router_fields.queues, port).flits >= t.queue_limit}
                                                << port_bit(t, port);
}

/// Returns the ports that have flits in their queues.
template <class T, int W>
FLITLAB_INLINE u64 queued_ports(const T& t, const Item<W>& router) {
  u64 ports = 0;
  for (u32 port = 0; port < t.ports; ++port) ports |= u64{router.at(t.router_fields.queues, port).flits != 0} << port;
  return ports;
}

/// Sends the first flit of each queue of `ports` whose channel accepts one, and reopens the outputs.
template <class V, class Out, int W>
FLITLAB_INLINE void send_queued(const V& v, const Out& outbox, const Item<W>& router, RouterControl& control, u32 index,
                                u64 ports) {
  const auto& t = v.t;
  for (u32 w = 0; w < t.set_words; ++w) word_of(t, router, control, w << t.set_shift).closed = 0;
  for (; ports; ports &= ports - 1) {
    const u32 port = lowest_bit(ports);
    PortQueues& q = router.at(t.router_fields.queues, port);
    if (t.narrow && is_occupied(t, router, index, port)) continue;
    const u8 flit = router.at(t.router_fields.queue, port * t.queue_flits + q.first);
    q.first = static_cast<u16>(q.first + 1u == t.queue_flits ? 0 : q.first + 1u);
    --q.flits;
    depart(v, outbox, router, index, port, flit);
  }
}

/// Notes a credit that an input port will return.
template <class T, int W>
FLITLAB_INLINE void owe_credit(const T& t, const Item<W>& router, u32 port, u32 vc) {
  ++router.at(t.router_fields.queues, port).credits;
  ++router.at(t.router_fields.owed, port * t.vcs + vc);
}

/// Returns one credit at each input port that owes one.
template <class V, class Out, int W>
FLITLAB_INLINE void return_owed(const V& v, const Out& outbox, const Item<W>& router, u32 index) {
  const auto& t = v.t;
  for (u32 port = 0; port < t.ports; ++port) {
    PortQueues& q = router.at(t.router_fields.queues, port);
    if (!q.credits) continue;
    u32 owing = 0;
    for (u32 vc = 0; vc < t.vcs; ++vc) owing |= u32{router.at(t.router_fields.owed, port * t.vcs + vc) != 0} << vc;
    const u32 vc = first_at_or_after(owing, q.pick_credit);
    q.pick_credit = static_cast<u8>(vc + 1);
    --q.credits;
    --router.at(t.router_fields.owed, port * t.vcs + vc);
    return_credit(v, outbox, index, port, vc);
  }
}

/// Returns whether flits or credits wait at a router's ports.
template <class T, int W>
FLITLAB_INLINE bool holds_back(const T& t, const Item<W>& router) {
  u32 any = 0;
  for (u32 port = 0; port < t.ports; ++port) {
    const PortQueues& q = router.at(t.router_fields.queues, port);
    any |= q.flits | q.credits;
  }
  return any != 0;
}

}  // namespace flitlab::vc
