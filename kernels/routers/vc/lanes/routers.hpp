#pragma once
/// A cycle of a block of routers at once: the stages of phases.hpp, in their order.
#include "kernels/routers/vc/lanes/heads.hpp"

namespace flitlab::vc::lanes {

template <class C, class S>
struct CreditDesk {
  typename C::Place list[C::lanes * S::ports + C::kMargin];
  typename C::template Shown<S::ports> sets;
};

template <class C, class S, class V>
struct Routers {
  using B = typename C::Value;
  using Row = typename C::Row;
  using F = FlitsOf<C, S>;
  const V& v;
  const State<C, S>& s;
  const Wiring& wiring;
  Block<C, S>& k;
  u32 b;
  Cycle now;

  FLITLAB_INLINE Routers(const V& view, const State<C, S>& state, const Wiring& w, u32 block, Cycle cycle)
      : v(view), s(state), wiring(w), k(state.block[block]), b(block), now(cycle) {}

  /// Mail for a port.
  FLITLAB_INLINE void look_up(u32 port, B& credits, F& flits) const {
    const u32 slot = s.slot(now);
    if (port == S::network_ports) {
      credits = s.of_terminals(s.eject_credits, slot, b);
      flits = s.terminal_flits(s.inject_mail, slot, b);
      return;
    }
    const u8* const credit_row = s.credit_row(slot, 0) + std::size_t{b} * C::lanes;
    const u8* const flit_row = s.flit_row(slot, 0) + std::size_t{b} * C::lanes;
    const u32* first = wiring.first + b * S::network_ports + port;
    credits = B{};
    B planes[F::planes] = {};
    FLITLAB_ROLLED for (const Pull* p = wiring.pull + first[0], *end = wiring.pull + first[1]; p != end; ++p) {
      const B mask = *reinterpret_cast<const Row*>(wiring.masks + std::size_t{p->mask} * C::lanes);
      const auto there = [&](const u8* row) { return C::loose(row + p->at) & mask; };
      credits |= there(credit_row);
      for (u32 plane = 0; plane < F::planes; ++plane) planes[plane] |= there(flit_row + plane * s.planes);
    }
    flits = F::read([&](u32 plane) { return planes[plane]; });
  }

  /// Credits and flits arrive. Returns, in `fresh`, the packets that have come to the front and will be due in the next
  /// cycle.
  FLITLAB_INLINE void receive(Arrivals<C, S>& arrivals, B (&fresh)[S::ports]) const {
    B first[S::ports], any{};  // credits of output VCs that had none, and have owners: these may go on
    for (u32 port = 0; port < S::ports; ++port) {
      B credits;
      F mail;
      look_up(port, credits, mail);
      first[port] = credits & ~k.some_credits[port] & k.taken[port];
      any |= first[port];
      k.some_credits[port] |= credits;
      const B vcs = mail.vcs(), heads = vcs & mail.heads();
      arrivals.credits[port] = credits;
      arrivals.flits[port] = vcs;
      k.filled[port] |= vcs;
      fresh[port] = k.fresh[port] | (heads & ~k.packets[port].some());
      k.packets[port].add(heads);
      k.granted[port] |= k.pending[port];
      k.pending[port] = B{};
      k.fresh[port] = B{};
    }
    if (!C::any(any)) return;
    typename C::template Desk<CreditDesk<C, S>> desk;
    const u8* const sets = C::show(desk->sets, first);  // of one
    const u32 n = C::list(first, desk->list);
    C::each(n, [&](u32 i) {
      const u32 at = desk->list[i], port = at / C::lanes, lane = at % C::lanes;
      const u32 flat = lane_of(k.owner[port][lowest_bit(u32{sets[at]})], lane);
      C::or_bits(lane_of(k.credited[flat / S::vcs], lane), only(flat % S::vcs));
    });
  }

  /// Switch allocation, separable and input first, and traversal.
  FLITLAB_INLINE void allocate_switch(const Arrivals<C, S>& arrivals) const {
    B asks[8], vcs[S::ports], to_vc[S::ports];  // by input port: output port and VC that it asks for, as sets of one
    for (u32 port = 0; port < S::ports; ++port) {
      const B ready = k.filled[port] & k.credited[port] & k.granted[port];
      vcs[port] = pick(ready, k.first_vc[port]);
      asks[port] = to_vc[port] = B{};
      for (u32 vc = 0; vc < S::vcs; ++vc) {
        put_where(asks[port], vcs[port], vc, k.out_port[port][vc]);
        put_where(to_vc[port], vcs[port], vc, k.out_vc[port][vc]);
      }
    }
    B wins[8];  // by output port: the input port that it takes
    for (u32 port = 0; port < 8; ++port) wins[port] = port < S::ports ? asks[port] : B{};
    C::transpose8(wins);
    B winners{};
    for (u32 port = 0; port < S::ports; ++port) {
      const B input = pick(wins[port], k.first_input[port]);
      k.first_input[port] = select(nonzero(input), above(input), k.first_input[port]);
      winners |= input;
      wins[port] = input;
    }
    traverse(arrivals, vcs, to_vc, wins, winners);
  }

  FLITLAB_INLINE void traverse(const Arrivals<C, S>& arrivals, B (&vcs)[S::ports], const B (&to_vc)[S::ports],
                               const B (&wins)[8], B winners) const {
    const auto& t = v.t;
    F mail[S::ports];  // by input port
    B heads[S::ports], tails[S::ports], any_head{}, any_tail{};
    u32 moves = 0;
    for (u32 port = 0; port < S::ports; ++port) {
      const B won = has(winners, port), vc = vcs[port] & won;
      k.first_vc[port] = select(won, above(vc), k.first_vc[port]);
      k.flits[port].change(arrivals.flits[port], vc);
      k.left[port].subtract(vc);
      k.filled[port] = k.flits[port].some();
      tails[port] = vc & ~k.left[port].some();
      heads[port] = vc & k.heads[port];
      k.heads[port] ^= heads[port];
      k.granted[port] &= ~tails[port];
      any_head |= heads[port];
      any_tail |= tails[port];
      mail[port] = F::of(to_vc[port], nonzero(heads[port]), nonzero(tails[port])) & won;
      vcs[port] = vc;
      moves += C::count(won);
      const u32 slot = s.slot(now + t.credit_delay);
      if (port == S::network_ports)
        s.of_terminals(s.inject_credits, slot, b) = vc;
      else
        *reinterpret_cast<Row*>(s.credit_row(slot, port) + std::size_t{b} * C::lanes) = vc;
    }
    B freed{};  // output ports that have a free VC more
    B spent{};  // input ports whose flits have taken the last credit of their output VCs
    for (u32 port = 0; port < S::ports; ++port) {
      F out;
      for (u32 input = 0; input < S::ports; ++input) out.put_where(wins[port], input, mail[input]);
      const B vc = out.vcs();
      k.credits[port].change(arrivals.credits[port], vc);
      k.some_credits[port] = k.credits[port].some();
      spent |= wins[port] & nonzero(vc & ~k.some_credits[port]);
      const B tails_out = vc & out.tails();
      k.taken[port] &= ~tails_out;
      freed |= nonzero(tails_out) & only(port);
      k.sent[port] -= nonzero(out.any());
      if (port == S::network_ports)
        s.put_terminal_flits(s.eject_mail, s.slot(now + t.eject_delay), b, out);
      else
        out.write([&](u32 plane, B bytes) {
          u8* row = s.flit_row(s.slot(now + t.link_delay), port) + plane * s.planes;
          *reinterpret_cast<Row*>(row + std::size_t{b} * C::lanes) = bytes;
        });
    }
    for (u32 port = 0; port < S::ports; ++port) k.credited[port] &= ~(vcs[port] & has(spent, port));
    if (C::any(any_head)) Heads<C, S, V>(v, s, wiring, b, now).take_descriptors(heads);
    if (C::any(any_tail)) {
      for (u32 port = 0; port < S::ports; ++port) next_packets(port, tails[port]);
      wake(freed);
    }
    count(*v.shard, Total::kFlitMoves, moves);
  }

  /// Behind tails that have left, the next packets come to the front.
  FLITLAB_INLINE void next_packets(u32 port, B tails) const {
    k.packets[port].subtract(tails);
    k.fresh[port] = tails & k.packets[port].some();
    k.passed[port] |= tails;
  }

  /// Packets that wait for output ports of a set ask again.
  FLITLAB_INLINE void wake(B freed) const {
    B any{};
    for (u32 port = 0; port < S::ports; ++port) any |= k.asleep[port];
    if (!C::any(any & nonzero(freed))) return;
    for (u32 port = 0; port < S::ports; ++port)
      for (u32 vc = 0; vc < S::vcs; ++vc) k.asleep[port] &= ~(nonzero(k.out_port[port][vc] & freed) & only(vc));
  }

  /// A network that is larger than a cache is read from memory in every cycle, in too many pieces for a processor to
  /// see what comes next.
  FLITLAB_INLINE void prefetch_next() const {
    const auto fetch = [](const void* p) { C::template prefetch<true>(p); };
    const char* block = reinterpret_cast<const char*>(&k + 1);
    for (u32 at = 0; at < sizeof k; at += 64) fetch(block + at);
    const auto row = [&](const u8* mail) { fetch(mail + std::size_t{b + 1} * C::lanes); };
    for (u32 port = 0; port < S::network_ports; ++port) {
      row(s.credit_row(s.slot(now), port));
      row(s.credit_row(s.slot(now + v.t.credit_delay), port));
      row(s.flit_row(s.slot(now), port));
      row(s.flit_row(s.slot(now + v.t.link_delay), port));
    }
  }

  FLITLAB_INLINE void step() const {
    if (s.large) prefetch_next();
    B fresh[S::ports];
    Arrivals<C, S> arrivals;
    receive(arrivals, fresh);
    Heads<C, S, V>(v, s, wiring, b, now).allocate_vcs(arrivals);
    for (u32 port = 0; port < S::ports; ++port) k.due[port] |= fresh[port];
    allocate_switch(arrivals);
    if (now % 128 == 127) keep_sent();
  }

  /// Counts of sent flits would pass a byte's end.
  FLITLAB_INLINE void keep_sent() const {
    for (u32 port = 0; port < S::ports; ++port) {
      C::for_each_own([&](u32 lane) {
        s.flits_sent[(std::size_t{b} * C::lanes + lane) * S::ports + port] += lane_of(k.sent[port], lane);
      });
      k.sent[port] = B{};
    }
  }
};

}  // namespace flitlab::vc::lanes
