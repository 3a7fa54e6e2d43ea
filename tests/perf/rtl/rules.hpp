#pragma once
/// One router by the rules that the RTL was found to have, with the ports of Vrouter_ports. The file states the rules
/// in full: tests/perf/compare_rtl.py --rules compares it with the RTL, so that a rule is known to be complete before
/// flitlab gets it. Each cycle, a router computes all grants from its registers, and then changes these.
#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "settings.hpp"

namespace rules {

inline constexpr int kPorts = 5;
inline constexpr int kClassVcs = kVcs / kClasses;  ///< VCs of a message class
using Set = std::uint64_t;

enum ArbiterKind { kRoundRobinBinary, kRoundRobinOneHot, kPrefixBinary, kPrefixOneHot, kMatrix };
enum AllocatorKind { kInputFirst, kOutputFirst, kWavefront };
enum Eligible { kAny, kNotFull, kEmpty };
enum Speculation { kNone, kRequests, kGrants, kPriority };

inline bool has(Set set, int i) { return set >> i & 1; }

/// Chooses a member of a set. A pointer is the number with the highest priority; the others follow in cyclic order.
class Arbiter {
 public:
  Arbiter(int kind, int n) : kind_(kind), n_(n), pointer_(kind == kRoundRobinBinary ? 1 % n : 0), beaten_(n) {
    for (int i = 0; i < n; ++i) beaten_[i] = ~Set{0} << i << 1;
  }
  /// Returns the winner; -1 for an empty set.
  int pick(Set set) const {
    if (!set) return -1;
    if (kind_ != kMatrix) {
      for (int i = 0; i < n_; ++i)
        if (has(set, (pointer_ + i) % n_)) return (pointer_ + i) % n_;
    } else {
      for (int i = 0; i < n_; ++i)
        if (has(set, i) && !(set & ~beaten_[i] & ~(Set{1} << i))) return i;
    }
    return -1;
  }
  /// Moves the priority after a grant: prefix arbiters to one past the winner, one-hot round robin to the winner,
  /// binary round robin to two past it.
  void update(int winner) {
    constexpr int kStep[] = {2, 0, 1, 1, 0};
    pointer_ = (winner + kStep[kind_]) % n_;
    for (Set& row : beaten_) row |= Set{1} << winner;
    beaten_[winner] = 0;
  }

 private:
  int kind_, n_, pointer_;
  std::vector<Set> beaten_;  ///< [i] members that i beats
};

/// Wavefront: cell (i, o) is on diagonal (i + o) mod n. The first diagonal is one past the first one that had a request
/// in the last cycle with requests.
class Wavefront {
 public:
  explicit Wavefront(int n) : n_(n) {}
  /// Sets granted[i] = output or -1. Requests of `high` are served before those of `low`.
  std::vector<int> allocate(const std::vector<Set>& high, const std::vector<Set>* low = nullptr) {
    std::vector<int> granted(n_, -1);
    Set outputs = 0;
    int first = -1;
    for (const auto* requests : {&high, low}) {
      if (!requests) break;
      int found = -1;
      for (int d = 0; d < n_; ++d)
        for (int i = 0; i < n_; ++i) {
          const int o = (pointer_ + d + n_ - i) % n_;
          if (!has((*requests)[i], o)) continue;
          if (found < 0) found = (pointer_ + d) % n_;
          if (granted[i] >= 0 || has(outputs, o)) continue;
          granted[i] = o;
          outputs |= Set{1} << o;
        }
      if (first < 0) first = found;
    }
    if (first >= 0) pointer_ = (first + 1) % n_;
    return granted;
  }

 private:
  int n_, pointer_ = 0;
};

struct Flit {
  bool valid = false, head = false, tail = false;
  int vc = 0, route = 0, address = 0;
  std::uint64_t tag = 0;
};

struct InputVc {
  std::deque<Flit> buffer;
  bool allocated = false, free = true;  ///< free: a credit for the next flit, as known at the end of the last cycle
  int out_port = 0, out_vc = 0;
};

struct OutputVc {
  bool allocated = false;
  int credits = kBufferFlits;
  bool one_used = false;  ///< one slot is used, except after a cycle in which a flit left and a credit came
};

class Router {
 public:
  explicit Router(void*) {}
  std::uint8_t clk = 0, reset = 0, error = 0;
  int address = 0;
  std::uint8_t in_valid[kPorts]{}, in_head[kPorts]{}, in_tail[kPorts]{}, in_vc[kPorts]{}, in_route[kPorts]{};
  std::uint16_t in_address[kPorts]{};
  std::uint64_t in_tag[kPorts]{};
  std::uint8_t credit_valid[kPorts]{}, credit_vc[kPorts]{};
  std::uint8_t out_valid[kPorts]{}, out_head[kPorts]{}, out_tail[kPorts]{}, out_vc[kPorts]{}, out_route[kPorts]{};
  std::uint16_t out_address[kPorts]{};
  std::uint64_t out_tag[kPorts]{};
  std::uint8_t return_valid[kPorts]{}, return_vc[kPorts]{};

  void eval() {
    if (clk && !reset) step();
  }

 private:
  static constexpr int kFlats = kPorts * kVcs;

  /// What the allocators see in a cycle.
  struct Requests {
    Set vc = 0;                      ///< input VCs that request an output VC
    Set ordinary = 0;                ///< that request the switch and own an output VC with a credit
    Set speculative = 0;             ///< that request the switch without an output VC
    Set eligible = 0, full = 0;      ///< output VCs
    std::array<int, kFlats> port{};  ///< [input VC] requested output port
  };
  struct VcGrants {
    std::array<int, kFlats> of;  ///< [input VC] output VC within the port, or -1
  };
  struct SwitchGrants {
    std::array<int, kPorts> vc;  ///< [input port] VC that sends; -1: none
  };

  void step();
  VcGrants allocate_vcs(const Requests& r);
  SwitchGrants allocate_switch(const Requests& r);
  /// Returns the VCs of input port `ip` in a set of input VCs.
  static Set vcs_of(Set set, int ip) { return set >> ip * kVcs & ((Set{1} << kVcs) - 1); }
  static Set toward(const Requests& r, int ip, Set vcs, Set ports) {
    Set found = 0;
    for (int v = 0; v < kVcs; ++v)
      if (has(vcs, v) && has(ports, r.port[ip * kVcs + v])) found |= Set{1} << v;
    return found;
  }
  static Set ports_of(const Requests& r, int ip, Set vcs) {
    Set ports = 0;
    for (int v = 0; v < kVcs; ++v)
      if (has(vcs, v)) ports |= Set{1} << r.port[ip * kVcs + v];
    return ports;
  }

  std::array<Flit, kPorts> arrived_{}, crossing_{};  // input registers, and flits in the crossbar by output port
  std::array<int, kPorts> credit_{};                 // credit registers of output ports: VC + 1
  std::array<InputVc, kFlats> in_{};
  std::array<OutputVc, kFlats> out_{};

  // VC allocator: the choice of an input VC among output VCs; of an output VC among input ports; and, for each output
  // VC and input port, among the VCs of the port.
  std::vector<Arbiter> choice_ = std::vector<Arbiter>(kFlats, Arbiter(kVcArbiter, kClassVcs));
  std::vector<Arbiter> port_of_ = std::vector<Arbiter>(kFlats, Arbiter(kVcArbiter, kPorts));
  std::vector<Arbiter> vc_of_ = std::vector<Arbiter>(kFlats * kPorts, Arbiter(kVcArbiter, kClassVcs));
  std::vector<Wavefront> vc_wavefront_ = std::vector<Wavefront>(kClasses, Wavefront(kPorts* kClassVcs));
  // Switch allocator: [0] ordinary, [1] speculative requests; with priorities all requests use [0].
  std::vector<Arbiter> input_[2] = {std::vector<Arbiter>(kPorts, Arbiter(kSwitchArbiter, kVcs)),
                                    std::vector<Arbiter>(kPorts, Arbiter(kSwitchArbiter, kVcs))};
  std::vector<Arbiter> output_[2] = {std::vector<Arbiter>(kPorts, Arbiter(kSwitchArbiter, kPorts)),
                                     std::vector<Arbiter>(kPorts, Arbiter(kSwitchArbiter, kPorts))};
  Wavefront wavefront_[2] = {Wavefront(kPorts), Wavefront(kPorts)};
};

/// Returns the output port at the next router. The address has dimension 0 in the high bits, and ports are down and up
/// in each dimension, then the terminal.
inline int next_route(int address, int port, int destination) {
  int bits = 0;
  while ((1 << bits) < kRadix) ++bits;
  int here[2] = {address >> bits, address & ((1 << bits) - 1)};
  const int to[2] = {destination >> bits, destination & ((1 << bits) - 1)};
  if (port < 4) here[port / 2] += port % 2 ? 1 : -1;
  for (int d = 0; d < 2; ++d)
    if (here[d] != to[d]) return 2 * d + (to[d] > here[d]);
  return 4;
}

/// An output VC chooses an input port, and then one of the port's VCs.
inline Router::VcGrants Router::allocate_vcs(const Requests& r) {
  VcGrants granted;
  granted.of.fill(-1);
  const auto flat = [](int port, int c, int v) { return port * kVcs + c * kClassVcs + v; };
  for (int c = 0; c < kClasses; ++c) {
    const auto eligible = [&](int port) { return r.eligible >> flat(port, c, 0) & ((Set{1} << kClassVcs) - 1); };
    if (kVcAllocator == kWavefront) {
      const int n = kPorts * kClassVcs;
      std::vector<Set> requests(n, 0);
      for (int i = 0; i < n; ++i) {
        const int f = flat(i / kClassVcs, c, i % kClassVcs);
        if (has(r.vc, f)) requests[i] = eligible(r.port[f]) << r.port[f] * kClassVcs;
      }
      const std::vector<int> found = vc_wavefront_[c].allocate(requests);
      for (int i = 0; i < n; ++i)
        if (found[i] >= 0) granted.of[flat(i / kClassVcs, c, i % kClassVcs)] = c * kClassVcs + found[i] % kClassVcs;
      continue;
    }
    std::array<Set, kFlats> bids{};  // [input VC] output VCs of its class
    for (int f = 0; f < kFlats; ++f) {
      if (!has(r.vc, f) || f % kVcs / kClassVcs != c) continue;
      const Set free = eligible(r.port[f]);
      if (kVcAllocator == kOutputFirst)
        bids[f] = free;
      else if (free)
        bids[f] = Set{1} << choice_[f].pick(free);
    }
    std::array<Set, kFlats> won{};
    for (int op = 0; op < kPorts; ++op)
      for (int w = 0; w < kClassVcs; ++w) {
        const int out = flat(op, c, w);
        Set ports = 0;
        std::array<Set, kPorts> vcs{};
        for (int ip = 0; ip < kPorts; ++ip) {
          for (int v = 0; v < kClassVcs; ++v) {
            const int f = flat(ip, c, v);
            if (r.port[f] == op && has(bids[f], w)) vcs[ip] |= Set{1} << v;
          }
          if (vcs[ip]) ports |= Set{1} << ip;
        }
        if (!ports) continue;
        const int ip = port_of_[out].pick(ports);
        won[flat(ip, c, vc_of_[out * kPorts + ip].pick(vcs[ip]))] |= Set{1} << w;
      }
    for (int f = 0; f < kFlats; ++f) {
      if (!won[f]) continue;
      const int w = choice_[f].pick(won[f]), out = flat(r.port[f], c, w);
      choice_[f].update(w);
      port_of_[out].update(f / kVcs);
      vc_of_[out * kPorts + f / kVcs].update(f % kVcs % kClassVcs);
      granted.of[f] = c * kClassVcs + w;
    }
  }
  return granted;
}

inline Router::SwitchGrants Router::allocate_switch(const Requests& r) {
  SwitchGrants result;
  result.vc.fill(-1);
  const Set none = 0;
  // With priorities, one allocator sees both kinds: an arbiter chooses a speculative request only if it has no ordinary
  // one. Otherwise each kind has its own allocator.
  struct Outcome {
    std::array<int, kPorts> vc, port;  // [input port] winner and its output; -1: none
    Set bid_ports = 0;                 // output ports that are requested in the last stage (input-first)
  };
  const auto run = [&](int k, Set high, Set low) {
    Outcome o;
    o.vc.fill(-1);
    o.port.fill(-1);
    const auto better = [](Set a, Set b) { return a ? a : b; };
    if (kSwitchAllocator == kInputFirst) {
      std::array<Set, kPorts> bidders{}, low_bidders{};
      std::array<int, kPorts> choice{};
      for (int ip = 0; ip < kPorts; ++ip) {
        const Set a = vcs_of(high, ip), b = vcs_of(low, ip);
        choice[ip] = input_[k][ip].pick(better(a, b));
        if (choice[ip] < 0) continue;
        const int op = r.port[ip * kVcs + choice[ip]];
        (a ? bidders : low_bidders)[op] |= Set{1} << ip;
        o.bid_ports |= Set{1} << op;
      }
      for (int op = 0; op < kPorts; ++op) {
        const int ip = output_[k][op].pick(better(bidders[op], low_bidders[op]));
        if (ip < 0) continue;
        output_[k][op].update(ip);
        input_[k][ip].update(choice[ip]);
        o.vc[ip] = choice[ip];
        o.port[ip] = op;
      }
    } else if (kSwitchAllocator == kOutputFirst) {
      std::array<Set, kPorts> offers{}, low_offers{};
      for (int op = 0; op < kPorts; ++op) {
        Set a = 0, b = 0;
        for (int ip = 0; ip < kPorts; ++ip) {
          if (toward(r, ip, vcs_of(high, ip), Set{1} << op)) a |= Set{1} << ip;
          if (toward(r, ip, vcs_of(low, ip), Set{1} << op)) b |= Set{1} << ip;
        }
        const int ip = output_[k][op].pick(better(a, b));
        if (ip >= 0) (a ? offers : low_offers)[ip] |= Set{1} << op;
      }
      for (int ip = 0; ip < kPorts; ++ip) {
        const Set a = toward(r, ip, vcs_of(high, ip), offers[ip]);
        const Set b = toward(r, ip, vcs_of(low, ip), low_offers[ip]);
        const int vc = input_[k][ip].pick(better(a, b));
        if (vc < 0) continue;
        input_[k][ip].update(vc);
        o.vc[ip] = vc;
        o.port[ip] = r.port[ip * kVcs + vc];
        output_[k][o.port[ip]].update(ip);
      }
    } else {
      std::vector<Set> a(kPorts), b(kPorts);
      for (int ip = 0; ip < kPorts; ++ip) {
        a[ip] = ports_of(r, ip, vcs_of(high, ip));
        b[ip] = ports_of(r, ip, vcs_of(low, ip));
      }
      const std::vector<int> granted = wavefront_[k].allocate(a, &b);
      for (int ip = 0; ip < kPorts; ++ip) {
        if (granted[ip] < 0) continue;
        const Set port = Set{1} << granted[ip];
        const int vc =
            input_[k][ip].pick(better(toward(r, ip, vcs_of(high, ip), port), toward(r, ip, vcs_of(low, ip), port)));
        input_[k][ip].update(vc);
        o.vc[ip] = vc;
        o.port[ip] = granted[ip];
      }
    }
    return o;
  };
  if (kSpeculation == kNone || kSpeculation == kPriority) {
    result.vc = run(0, r.ordinary, kSpeculation == kPriority ? r.speculative : none).vc;
    return result;
  }
  const Outcome ordinary = run(0, r.ordinary, none), speculative = run(1, r.speculative, none);
  // An ordinary request, or an ordinary grant, closes its ports to speculative grants.
  Set closed_inputs = 0, closed_outputs = 0;
  for (int ip = 0; ip < kPorts; ++ip) {
    const Set requests = vcs_of(r.ordinary, ip);
    const bool granted = ordinary.vc[ip] >= 0;
    if (kSpeculation == kRequests ? requests != 0 : granted) closed_inputs |= Set{1} << ip;
    if (kSpeculation == kRequests && kSwitchAllocator != kInputFirst) closed_outputs |= ports_of(r, ip, requests);
    if (granted) closed_outputs |= Set{1} << ordinary.port[ip];
  }
  if (kSwitchAllocator == kInputFirst) closed_outputs |= ordinary.bid_ports;
  for (int ip = 0; ip < kPorts; ++ip) {
    result.vc[ip] = ordinary.vc[ip];
    if (speculative.vc[ip] >= 0 && !has(closed_inputs, ip) && !has(closed_outputs, speculative.port[ip]))
      result.vc[ip] = speculative.vc[ip];
  }
  return result;
}

inline void Router::step() {
  Requests r;
  std::array<int, kFlats> credits;  // [output VC] as the allocators see them
  for (int f = 0; f < kFlats; ++f) {
    const int op = f / kVcs, w = f % kVcs;
    const bool sends = crossing_[op].valid && crossing_[op].vc == w;
    const bool credit = credit_[op] == w + 1;
    OutputVc& out = out_[f];
    if (sends && crossing_[op].tail) out.allocated = false;
    credits[f] = out.credits - sends + (kCreditBypass ? credit : 0);
    // With the bypass, the last credit makes a VC empty in the cycle in which it comes only if `one_used` knows that it
    // is the last one.
    const bool is_empty = !sends && (out.credits == kBufferFlits || (kCreditBypass && credit && out.one_used));
    if (sends || credit) out.one_used = out.credits == (sends ? kBufferFlits : kBufferFlits - 2);
    out.credits += credit - sends;
    if (!credits[f]) r.full |= Set{1} << f;
    const bool enough = kEligible == kAny || (kEligible == kNotFull ? credits[f] > 0 : is_empty);
    if (!out.allocated && enough) r.eligible |= Set{1} << f;
  }
  for (int ip = 0; ip < kPorts; ++ip)
    if (arrived_[ip].valid) in_[ip * kVcs + arrived_[ip].vc].buffer.push_back(arrived_[ip]);
  for (int f = 0; f < kFlats; ++f) {
    InputVc& in = in_[f];
    if (in.buffer.empty()) continue;
    if (in.buffer.front().head) in.out_port = in.buffer.front().route;
    r.port[f] = in.out_port;
    const Set bit = Set{1} << f;
    if (!in.allocated) r.vc |= bit, r.speculative |= bit;
    if (in.allocated && in.free) r.ordinary |= bit;
  }
  const VcGrants vcs = allocate_vcs(r);
  const SwitchGrants grants = allocate_switch(r);

  for (int op = 0; op < kPorts; ++op) {  // output registers
    const Flit& flit = crossing_[op];
    out_valid[op] = flit.valid;
    out_head[op] = flit.head;
    out_tail[op] = flit.tail;
    out_vc[op] = flit.vc;
    out_route[op] = flit.route;
    out_address[op] = flit.address;
    out_tag[op] = flit.tag;
    crossing_[op].valid = false;
  }
  for (int ip = 0; ip < kPorts; ++ip) {
    return_valid[ip] = 0;
    for (int v = 0; v < kVcs; ++v) {
      const int f = ip * kVcs + v;
      InputVc& in = in_[f];
      if (vcs.of[f] >= 0) {
        in.allocated = true;
        in.out_vc = vcs.of[f];
        out_[in.out_port * kVcs + in.out_vc].allocated = true;
      }
      const int out = in.out_port * kVcs + in.out_vc;
      bool sent = grants.vc[ip] == v && in.allocated;
      // A head without an output VC, or with one that has no credit, wastes its grant.
      if (sent && has(r.speculative, f) && kEligible == kAny && has(r.full, out)) sent = false;
      if (in.allocated) in.free = credits[out] - sent > 0;
      if (!sent) continue;
      Flit flit = in.buffer.front();
      in.buffer.pop_front();
      if (flit.head) flit.route = next_route(address, in.out_port, flit.address);
      flit.vc = in.out_vc;
      crossing_[in.out_port] = flit;
      if (flit.tail) in.allocated = false;
      return_valid[ip] = 1;
      return_vc[ip] = v;
    }
    arrived_[ip] = {in_valid[ip] != 0, in_head[ip] != 0, in_tail[ip] != 0, in_vc[ip],
                    in_route[ip],      in_address[ip],   in_tag[ip]};
  }
  for (int op = 0; op < kPorts; ++op) credit_[op] = credit_valid[op] ? credit_vc[op] + 1 : 0;
}

}  // namespace rules
