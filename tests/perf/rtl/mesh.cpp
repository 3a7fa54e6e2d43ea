// A mesh of routers of the RTL, one of Verilator's models for each, with a terminal at each router. Terminals follow
// the rules of flitlab's (kernels/routers/vc/README.md, items 27 and 28).
//
//   mesh CYCLES PACKETS FLITS
//
// PACKETS: lines cycle,source,destination,flits by rising cycle. FLITS: output, a Crossing for each flit on a channel.
//
// The RTL's ports are: down and up in each dimension, then the terminal. flitlab's are: up and down, then the terminal.
// So that both number the ports of a router alike, the RTL's coordinates count from the other end of each dimension.
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "settings.hpp"  // written by tests/perf/compare_rtl.py: kRadix, kVcs, kBufferFlits and others
#ifdef RULES
#include "rules.hpp"
using Vrouter_ports = rules::Router;
struct VerilatedContext {};
#else
#include "Vrouter_ports.h"
#include "verilated.h"
#endif

namespace {

constexpr int kRouters = kRadix * kRadix, kPorts = 5, kTerminal = 4;
/// From a credit on a terminal's channel to its use there: two registers, as in a router.
constexpr int kCreditRegisters = 2;
/// From a flit on a terminal's channel to its credit on the channel back: two registers, as if the terminal were a
/// router that grants the flit in the cycle of its arrival.
constexpr int kEjectionRegisters = 2;
/// Credits of a VC on which a packet may start: if the routers' VCs are allocated only when empty, all of them.
constexpr int kCreditsToStart = kEligible == 2 ? kBufferFlits : 1;

struct Crossing {
  std::uint32_t cycle;  ///< in which the flit is on the channel
  std::uint32_t packet;
  std::uint16_t router, flit;
  std::uint8_t port, vc;
  std::uint16_t unused;
};
static_assert(sizeof(Crossing) == 16);

struct Packet {
  std::uint32_t cycle, id;
  int destination, flits;
};

/// A flit on a channel. `flit` counts from 0.
struct Flit {
  bool valid = false, head = false, tail = false;
  int vc = 0, route = 0, address = 0;
  std::uint64_t tag = 0;
};

int neighbour(int router, int port) {
  const int x = router % kRadix, y = router / kRadix;
  switch (port) {
    case 0: return x + 1 < kRadix ? router + 1 : -1;
    case 1: return x > 0 ? router - 1 : -1;
    case 2: return y + 1 < kRadix ? router + kRadix : -1;
    case 3: return y > 0 ? router - kRadix : -1;
    default: return -1;
  }
}

/// Returns a router's address in the RTL: dimension 0 in the high bits.
int address_of(int router) {
  int bits = 0;
  while ((1 << bits) < kRadix) ++bits;
  return (kRadix - 1 - router % kRadix) << bits | (kRadix - 1 - router / kRadix);
}

int first_port(int from, int to) {
  const int x = to % kRadix - from % kRadix, y = to / kRadix - from / kRadix;
  if (x) return x > 0 ? 0 : 1;
  if (y) return y > 0 ? 2 : 3;
  return kTerminal;
}

/// A terminal: sends its packets in order, one flit per cycle, and consumes each flit that arrives.
class Terminal {
 public:
  std::deque<Packet> packets;

  Terminal() { credits_.fill(kBufferFlits); }

  /// Returns the flit that the terminal sends in a cycle.
  Flit send(int router, std::uint32_t cycle) {
    Flit flit;
    if (!left_) {
      if (packets.empty() || packets.front().cycle > cycle) return flit;
      int vc = -1;
      for (int i = 0; i < kVcs && vc < 0; ++i)
        if (credits_[(pointer_ + i) % kVcs] >= kCreditsToStart) vc = (pointer_ + i) % kVcs;
      if (vc < 0) return flit;
      now_ = packets.front();
      packets.pop_front();
      vc_ = vc;
      pointer_ = (vc + 1) % kVcs;
      left_ = now_.flits;
      flit.head = true;
    }
    if (!credits_[vc_]) return {};
    --credits_[vc_];
    flit.valid = true;
    flit.vc = vc_;
    flit.route = first_port(router, now_.destination);
    flit.address = address_of(now_.destination);
    flit.tag = std::uint64_t{now_.id} << 8 | static_cast<unsigned>(now_.flits - left_);
    flit.tail = --left_ == 0;
    return flit;
  }

  void receive_credit(int vc) { ++credits_[vc]; }

 private:
  std::array<int, kVcs> credits_{};
  Packet now_{};
  int vc_ = 0, pointer_ = 0, left_ = 0;
};

/// A delay line of credits: VC + 1, or 0 for none.
template <int N>
struct Delay {
  std::array<int, N> stage{};
  int shift(int next) {
    const int last = stage[N - 1];
    for (int i = N - 1; i > 0; --i) stage[i] = stage[i - 1];
    stage[0] = next;
    return last;
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return std::fprintf(stderr, "usage: mesh CYCLES PACKETS FLITS\n"), 2;
  const auto cycles = static_cast<std::uint32_t>(std::strtoul(argv[1], nullptr, 10));
  std::vector<Terminal> terminals(kRouters);
  std::ifstream in(argv[2]);
  std::string line;
  for (std::uint32_t id = 0; std::getline(in, line); ++id) {
    unsigned cycle;
    int source, destination, flits;
    if (std::sscanf(line.c_str(), "%u,%d,%d,%d", &cycle, &source, &destination, &flits) != 4)
      return std::fprintf(stderr, "%s: line %u: not a packet\n", argv[2], id + 1), 2;
    terminals[source].packets.push_back({cycle, id, destination, flits});
  }
  std::FILE* out = std::fopen(argv[3], "wb");
  if (!out) return std::fprintf(stderr, "%s cannot be written\n", argv[3]), 2;

  VerilatedContext context;
  std::vector<std::unique_ptr<Vrouter_ports>> routers;
  for (int r = 0; r < kRouters; ++r) {
    routers.push_back(std::make_unique<Vrouter_ports>(&context));
    routers[r]->address = address_of(r);
  }
  const auto edge = [&](Vrouter_ports& router) {
    router.clk = 1;
    router.eval();
    router.clk = 0;
    router.eval();
  };
  for (auto& router : routers) {
    router->reset = 0;
    router->clk = 0;
    router->eval();
    router->reset = 1;
    router->eval();
    for (int i = 0; i < 4; ++i) edge(*router);
    router->reset = 0;
    router->eval();
  }

  std::vector<Delay<kCreditRegisters>> to_terminal(kRouters);
  std::vector<Delay<kEjectionRegisters>> from_terminal(kRouters);
  std::vector<std::array<Flit, kPorts>> flits(kRouters);
  std::vector<std::array<int, kPorts>> credits(kRouters);  // returned by input port p: VC + 1
  int errors = 0;
  for (std::uint32_t cycle = 0; cycle < cycles; ++cycle) {
    for (int r = 0; r < kRouters; ++r) {
      const Vrouter_ports& m = *routers[r];
      if (m.error && errors++ < 5) std::fprintf(stderr, "cycle %u: router %d reports an error\n", cycle, r);
      for (int p = 0; p < kPorts; ++p) {
        flits[r][p] = {m.out_valid[p] != 0, m.out_head[p] != 0, m.out_tail[p] != 0, m.out_vc[p],
                       m.out_route[p],      m.out_address[p],   m.out_tag[p]};
        credits[r][p] = m.return_valid[p] ? m.return_vc[p] + 1 : 0;
        if (!flits[r][p].valid) continue;
        const Crossing crossing{cycle,
                                static_cast<std::uint32_t>(flits[r][p].tag >> 8),
                                static_cast<std::uint16_t>(r),
                                static_cast<std::uint16_t>(flits[r][p].tag & 0xFF),
                                static_cast<std::uint8_t>(p),
                                static_cast<std::uint8_t>(flits[r][p].vc),
                                0};
        std::fwrite(&crossing, sizeof crossing, 1, out);
      }
    }
    for (int r = 0; r < kRouters; ++r) {
      Vrouter_ports& m = *routers[r];
      for (int p = 0; p < kPorts; ++p) {
        Flit flit;
        int credit = 0;
        if (p == kTerminal) {
          if (const int back = to_terminal[r].shift(credits[r][p])) terminals[r].receive_credit(back - 1);
          flit = terminals[r].send(r, cycle);
          credit = from_terminal[r].shift(flits[r][p].valid ? flits[r][p].vc + 1 : 0);
        } else if (const int other = neighbour(r, p); other >= 0) {
          flit = flits[other][p ^ 1];
          credit = credits[other][p ^ 1];
        }
        m.in_valid[p] = flit.valid;
        m.in_head[p] = flit.head;
        m.in_tail[p] = flit.tail;
        m.in_vc[p] = flit.vc;
        m.in_route[p] = flit.route;
        m.in_address[p] = flit.address;
        m.in_tag[p] = flit.tag;
        m.credit_valid[p] = credit != 0;
        m.credit_vc[p] = credit ? credit - 1 : 0;
      }
    }
    for (auto& router : routers) edge(*router);
  }
  std::fclose(out);
  if (errors) return std::fprintf(stderr, "%d errors reported by routers\n", errors), 1;
  return 0;
}
