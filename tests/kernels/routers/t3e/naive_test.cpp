/// The T3E's routers beside a second implementation (tests/support/t3e/naive.hpp): every event of every cycle agrees,
/// and so do buffers, credits, grants and the state of arbiters.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "host/routers/t3e/node_registers.hpp"
#include "host/routers/t3e/plan.hpp"
#include "host/routers/t3e/special_feed.hpp"
#include "kernels/common/error.hpp"
#include "kernels/routers/t3e/totals.hpp"
#include "tests/support/t3e/naive.hpp"
#include "tests/support/t3e/random.hpp"
#include "tests/support/temporary.hpp"

namespace flitlab::t3e_naive_test {
namespace {

using testing::experiment;
using testing::Network;
using testing::TextFile;
using testing::t3e_naive::Answer;
using testing::t3e_naive::Channel;
using testing::t3e_naive::Command;
using testing::t3e_naive::Happening;
using testing::t3e_naive::NaiveT3e;
using testing::t3e_random::described;
using testing::t3e_random::name_of;
using testing::t3e_random::random_t3e;
using testing::t3e_random::RandomT3e;

const T3ePlan& plan_of(const Network& net) { return dynamic_cast<const T3ePlan&>(*net.plan); }

std::vector<Happening> happenings(Network& net) {
  std::vector<Happening> list;
  const auto events = net.engine->take_events(0);
  for (u32 item = 0; item < events.size(); ++item)
    for (const Event& e : events[item])
      list.push_back(
          {item, e.kind, e.port, e.vc, e.out_port, e.out_vc, e.src, e.id, e.flit, e.flits, e.dst, e.latency});
  std::sort(list.begin(), list.end());
  return list;
}

/// One field of all routers, or of all terminals.
template <class T>
std::vector<T> field(const Network& net, const char* name, u32 kind = 0) {
  const ItemKind& items = net.plan->layout().kinds[kind];
  const FieldInfo& info = items.field(name);
  std::vector<T> all(std::size_t{items.count} * info.count);
  net.engine->get_field(0, kind, info, all.data());
  return all;
}

constexpr u32 kNone8 = 0xFF;
u32 number(const std::optional<u32>& vc) { return vc ? *vc : kNone8; }
u32 number(const std::optional<Channel>& c) { return c ? c->port * 8 + c->vc : kNone8; }
/// A round-robin pointer is one past the last one served.
u32 pointer(const std::optional<u32>& last) { return last ? *last + 1 : 0; }

/// Says where the state of a router differs; "": nowhere. The engine's view of the router comes first.
class States {
 public:
  explicit States(const Network& net)
      : vcs_(plan_of(net).table().link_vcs),
        ports_(field<t3e::PortState>(net, "port")),
        inputs_(field<t3e::InputVc>(net, "input")),
        outputs_(field<t3e::OutputVc>(net, "output")) {}

  std::string difference(u32 n, const NaiveT3e::Router& naive, Cycle now) {
    for (u32 port = 0; port < t3e::kPorts; ++port) {
      const t3e::PortState& state = ports_[n * t3e::kPorts + port];
      const NaiveT3e::Port& other = naive.port[port];
      const std::string where = "node " + std::to_string(n) + " port " + std::to_string(port);
      note(where + " asking", state.asking, number(other.asking));
      note(where + " last asked", state.pick, pointer(other.last_asked));
      note(where + " holder", state.sending, number(other.holder));
      note(where + " last sent", state.pick_out, pointer(other.last_sent));
      for (u32 vc = 0; vc < vcs_; ++vc) {
        const u32 i = (n * t3e::kPorts + port) * vcs_ + vc;
        compare_vc(where + " VC " + std::to_string(vc), inputs_[i], naive.in[port][vc], now);
        compare_vc(where + " VC " + std::to_string(vc), outputs_[i], naive.out[port][vc]);
      }
    }
    return text_;
  }

 private:
  void note(const std::string& what, u64 engine, u64 naive) {
    if (engine == naive) return;
    text_ += "\n  " + what + ": " + std::to_string(engine) + ", expected " + std::to_string(naive);
  }

  void compare_vc(const std::string& where, const t3e::InputVc& in, const NaiveT3e::InputVc& other, Cycle now) {
    const auto ready = std::count_if(other.flits.begin(), other.flits.end(),
                                     [&](const NaiveT3e::Held& held) { return held.from <= now; });
    note(where + " flits", in.flits, static_cast<u64>(ready));
    note(where + " packets", in.packets, other.packets());
    note(where + " begun", in.stage == t3e::Stage::kFlowing, other.begun);
    note(where + " adaptive channel won", in.adaptive_port == kNone8 ? kNone8 : in.adaptive_port * 8 + in.adaptive_vc,
         number(other.won));
    if (in.stage == t3e::Stage::kAsking)
      note(where + " wants", in.out_port * 8 + in.out_vc, other.choice.fixed.port * 8 + other.choice.fixed.vc);
  }

  void compare_vc(const std::string& where, const t3e::OutputVc& out, const NaiveT3e::OutputVc& other) {
    u64 asked = 0;
    for (const Channel& c : other.asked) asked |= u64{1} << (c.port * 8 + c.vc);
    note(where + " credits", out.credits, other.credits);
    note(where + " owner", out.owner, number(other.owner));
    note(where + " asked by", out.asked_by, asked);
  }

  u32 vcs_;
  std::vector<t3e::PortState> ports_;
  std::vector<t3e::InputVc> inputs_;
  std::vector<t3e::OutputVc> outputs_;
  std::string text_;
};

/// Where barrier units at PEs differ; "": nowhere.
std::string unit_difference(const Network& net, const NaiveT3e& naive) {
  const t3e::Table& table = plan_of(net).table();
  if (!table.barrier_units) return "";
  const std::vector<t3e::BarrierUnit> units = field<t3e::BarrierUnit>(net, "barrier", 1);
  for (u32 pe = 0; pe < table.routers; ++pe)
    for (u32 unit = 0; unit < table.barrier_units; ++unit) {
      const t3e::BarrierUnit& u = units[pe * table.barrier_units + unit];
      const NaiveT3e::Unit& other = naive.unit(pe, unit);
      if (static_cast<u32>(u.state) != other.state || u.round != other.round)
        return "\n  barrier unit " + std::to_string(unit) + " of PE " + std::to_string(pe) + ": round " +
               std::to_string(u.round) + ", expected " + std::to_string(other.round);
    }
  return "";
}

/// What has happened in all networks, so that no rule goes untested.
struct Sums {
  u64 delivered = 0, straight = 0, crossed = 0, adapted = 0, replies = 0, dropped = 0, errors = 0, barriers = 0,
      answers = 0, special_lost = 0, refused = 0;
};

/// The same software on both.
class Software {
 public:
  Software(Network& net, NaiveT3e& naive, const RandomT3e& machine)
      : net_(net), naive_(naive), commands_(machine.commands), feed_(net.plan->topology().terminals) {}

  void act() {
    if (commands_.empty()) return;
    for (; next_ < commands_.size() && commands_[next_].at <= net_.engine->now(); ++next_) {
      const Command& c = commands_[next_];
      const std::string name = name_of(c);
      naive_.command(c);
      if (c.kind == Command::kPut) feed_.put(c.node, c.deltas, name, c.value);
      if (c.kind == Command::kGet) feed_.get(c.node, c.deltas, name);
      if (c.kind == Command::kWrite) t3e::write_register(*net_.engine, plan_of(net_).machine(), c.node, name, c.value);
    }
    feed_.exchange(*net_.engine);
    for (const t3e::TimedAnswer& a : feed_.take_answers()) answers_.push_back({a.ticket, a.node, a.value, a.cycle});
  }

  std::vector<Answer> answers() const { return answers_; }

 private:
  Network& net_;
  NaiveT3e& naive_;
  const std::vector<Command>& commands_;
  std::size_t next_ = 0;
  t3e::SpecialFeed feed_;
  std::vector<Answer> answers_;
};

void compare_totals(Network& net, const NaiveT3e& naive, const RandomT3e& machine) {
  const std::pair<TotalIndex, u64> totals[] = {
      {Total::kFlitsDropped, naive.dropped_flits},          {Total::kPacketsDropped, naive.dropped_packets},
      {t3e::Count::kChannelErrors, naive.errors},           {t3e::Count::kFlitsCorrected, naive.corrected},
      {t3e::Count::kFlitsHitAgain, naive.hit_again},        {t3e::Count::kBarriers, naive.barriers},
      {t3e::Count::kBarrierWaitSum, naive.barrier_wait},    {t3e::Count::kSpecialSent, naive.special_sent},
      {t3e::Count::kSpecialArrived, naive.special_arrived}, {t3e::Count::kSpecialLost, naive.special_lost}};
  for (const auto& [total, expected] : totals)
    EXPECT_EQ(net.total(total), expected) << "total " << total.value << "\n" << described(machine);
}

/// Runs both side by side until they differ.
void run_both(const RandomT3e& machine, const Experiment& e, u32 cycles, Sums& sums) {
  Network net(e, {"cpu", 1, true, 1});
  NaiveT3e naive(e, plan_of(net));
  Software software(net, naive, machine);
  for (u32 cycle = 0; cycle < cycles; ++cycle) {
    software.act();
    net.step(1);
    const std::vector<Happening> happened = happenings(net), expected = naive.step();
    std::ostringstream text;
    if (happened != expected) {
      for (const Happening& h : expected)
        if (!std::binary_search(happened.begin(), happened.end(), h)) text << "\n  expected: " << h;
      for (const Happening& h : happened)
        if (!std::binary_search(expected.begin(), expected.end(), h)) text << "\n  happened: " << h;
    }
    States states(net);
    std::string difference = unit_difference(net, naive);
    for (u32 n = 0; n < net.plan->topology().routers && difference.empty(); ++n)
      difference = states.difference(n, naive.router(n), cycle);
    if (!text.str().empty() || !difference.empty()) {
      ADD_FAILURE() << "cycle " << cycle << text.str() << difference << "\n" << described(machine);
      return;
    }
    for (const Happening& h : happened) sums.delivered += h.kind == EventKind::kDelivered;
  }
  software.act();
  std::vector<Answer> answers = naive.answers;
  EXPECT_EQ(software.answers(), answers) << described(machine);
  compare_totals(net, naive, machine);
  if (machine.commands.empty()) {
    Network untraced(e);  // routers in batches
    untraced.step(cycles);
    EXPECT_EQ(untraced.engine->state_hash(0), net.engine->state_hash(0)) << described(machine);
  }
  sums.straight += naive.straight;
  sums.crossed += naive.turned;
  sums.adapted += naive.adapted;
  sums.replies += naive.replies_created();
  sums.dropped += naive.dropped_packets;
  sums.errors += naive.errors;
  sums.barriers += naive.barriers;
  sums.answers += answers.size();
  sums.special_lost += naive.special_lost;
}

void compare(const RandomT3e& machine, u32 cycles, Sums& sums) {
  RawConfig config = machine.config;
  std::deque<TextFile> files;
  for (const auto& [path, text] : machine.files) config[path] = files.emplace_back(text).path;
  try {
    run_both(machine, experiment(config), cycles, sums);
  } catch (const ConfigError& error) {
    ++sums.refused;  // tags with an initial hop to a dateline
    if (std::string(error.what()).find("initial hop") == std::string::npos)
      ADD_FAILURE() << error.what() << "\n" << described(machine);
  }
}

class T3eNaive : public ::testing::TestWithParam<u32> {};

TEST_P(T3eNaive, DoesTheSameInEveryCycle) {
  Sums sums;
  for (u32 i = 0; i < testing::trials(25); ++i) {
    compare(random_t3e(GetParam() * 1000 + i), 250, sums);
    if (HasFailure()) return;
  }
  EXPECT_GT(sums.delivered, 0u);
  std::cout << sums.delivered << " " << sums.straight << " " << sums.crossed << " " << sums.adapted << " "
            << sums.replies << " " << sums.dropped << " " << sums.errors << " " << sums.barriers << " " << sums.answers
            << " " << sums.special_lost << " " << sums.refused << "\n";
}

INSTANTIATE_TEST_SUITE_P(Seeds, T3eNaive, ::testing::Range(0u, 8u));

}  // namespace
}  // namespace flitlab::t3e_naive_test
