#pragma once
/// A second implementation of virtual-channel networks, written with lists and maps from kernels/routers/vc/README.md,
/// the help texts of parameters and docs/architecture.md. It shares with the emulator only the random numbers, the
/// creations at terminals, the wiring, and the routing tables of graphs.
#include "tests/support/vc/naive_router.hpp"
#include "tests/support/vc/naive_terminals.hpp"

namespace flitlab::testing {

class NaiveVc {
 public:
  NaiveVc(const Experiment& e, const VcPlan& plan, const ReplicaRow& row, std::vector<vc_naive::TraceLine> trace)
      : rules_(e),
        top_(plan.topology()),
        routes_(rules_, plan),
        trace_(std::move(trace)),
        traffic_{plan.table().traffic, row, plan.table().mode, trace_} {
    for (u32 r = 0; r < top_.routers; ++r) routers.emplace_back(rules_, routes_, top_, r);
    for (u32 t = 0; t < top_.terminals; ++t)
      terminals.emplace_back(rules_, routes_, traffic_, t, top_.terminal_port(t));
  }
  NaiveVc(const NaiveVc&) = delete;

  void step() {
    for (auto& router : routers) router.events.clear();
    for (auto& terminal : terminals) terminal.events.clear();
    for (const Credit& c : credits_[now_]) {
      u32& count = c.to_terminal ? terminals[c.item].credits[c.vc] : routers[c.item].output[c.port][c.vc].credits;
      ++count;
      if (!c.to_terminal) routers[c.item].output[c.port][c.vc].early = rules_.early_credits;
    }
    std::map<u32, std::pair<vc_naive::Flit, u32>> ejected;  // flit and its VC, by terminal
    for (const Arrival& a : flits_[now_])
      if (a.to_terminal)
        ejected[a.item] = {a.flit, a.vc};
      else
        routers[a.item].take_flit(a.port, a.vc, a.flit, now_);
    flits_.erase(now_);
    for (u32 t = 0; t < top_.terminals; ++t) step_terminal(t, ejected);
    for (u32 r = 0; r < top_.routers; ++r) step_router(r);
    for (const Credit& c : credits_[now_])
      if (!c.to_terminal) routers[c.item].output[c.port][c.vc].early = 0;
    credits_.erase(now_);
    ++now_;
  }

  std::vector<vc_naive::Router> routers;
  std::vector<vc_naive::Terminal> terminals;
  vc_naive::Counts counts;

 private:
  struct Credit {
    bool to_terminal;
    u32 item, port, vc;
  };
  struct Arrival {
    bool to_terminal;
    u32 item, port, vc;
    vc_naive::Flit flit;
  };

  void step_terminal(u32 t, const std::map<u32, std::pair<vc_naive::Flit, u32>>& ejected) {
    const auto arrivals = ejected.find(t);
    const auto sent = arrivals == ejected.end()
                          ? terminals[t].step({}, 0, now_, counts)
                          : terminals[t].step(arrivals->second.first, arrivals->second.second, now_, counts);
    const u32 r = top_.terminal_router(t), port = top_.terminal_port(t);
    if (terminals[t].freed != kNone)
      credits_[now_ + rules_.credit_delay - rules_.early_credits].push_back({false, r, port, terminals[t].freed});
    if (sent) flits_[now_ + 1].push_back({false, r, port, sent->vc, sent->flit});
  }

  void step_router(u32 r) {
    const u32 crossing = rules_.switch_delay + rules_.traversal_delay - rules_.has_several_rounds();
    const vc_naive::Result result = routers[r].step(now_);
    counts.moves += result.wins;
    for (const vc_naive::Sent& s : result.flits) {
      const Peer& to = top_.peer(r, s.out_port);
      flits_[now_ + crossing + (to.is_terminal ? 1 : rules_.delay_of(top_, r, s.out_port))].push_back(
          {to.is_terminal != 0, to.item, to.port, s.out_vc, s.flit});
    }
    for (const vc_naive::Return& c : result.credits) {
      const Peer& from = top_.peer(r, c.in_port);
      const u32 delay =
          from.is_terminal ? rules_.injection_credit_delay
                           : rules_.credit_delay - rules_.early_credits + rules_.extra_credit_delay(top_, r, c.in_port);
      credits_[now_ + delay].push_back({from.is_terminal != 0, from.item, from.port, c.in_vc});
    }
  }

  vc_naive::Rules rules_;
  const Topology& top_;
  vc_naive::Routes routes_;
  std::vector<vc_naive::TraceLine> trace_;
  vc_naive::Traffic traffic_;
  Cycle now_ = 0;
  std::map<Cycle, std::vector<Credit>> credits_;
  std::map<Cycle, std::vector<Arrival>> flits_;
};

}  // namespace flitlab::testing
