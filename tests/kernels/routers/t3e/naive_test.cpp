/// The T3E's routers against a second implementation (tests/support/t3e/naive.hpp). In every cycle all events, buffers,
/// credits, grants and the state of all arbiters must agree.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "host/routers/t3e/node_registers.hpp"
#include "host/routers/t3e/plan.hpp"
#include "host/routers/t3e/special_feed.hpp"
#include "kernels/routers/t3e/totals.hpp"
#include "tests/support/fields.hpp"
#include "tests/support/side_by_side.hpp"
#include "tests/support/t3e/naive.hpp"
#include "tests/support/t3e/random.hpp"
#include "tests/support/temporary.hpp"

namespace flitlab::t3e_naive_test {
namespace {

using namespace testing;
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

u32 number(const std::optional<u32>& vc) { return vc ? *vc : t3e::kNoVc; }
u32 number(const std::optional<Channel>& c) { return c ? c->port * 8 + c->vc : t3e::kNoVc; }
/// Returns a round-robin pointer: one more than the number served last, 0 if none was served.
u32 pointer(const std::optional<u32>& last) { return last ? *last + 1 : 0; }

/// The emulator's state at the end of a cycle, which is compared router by router.
class States {
 public:
  States(const Network& net, Differences& differences)
      : differences_(differences),
        vcs_(plan_of(net).table().link_vcs),
        ports_(field<t3e::PortState>(net, 0, "port")),
        inputs_(field<t3e::InputVc>(net, 0, "input")),
        outputs_(field<t3e::OutputVc>(net, 0, "output")),
        registers_(field<t3e::Registers>(net, 0, "registers")),
        injection_(field<InjectionVc>(net, 1, "output")),
        units_(plan_of(net).table().barrier_units) {
    if (units_) pe_units_ = field<t3e::BarrierUnit>(net, 1, "barrier");
  }

  /// Notes the differences at a node.
  void compare(u32 n, const NaiveT3e& naive) {
    const NaiveT3e::Router& router = naive.router(n);
    node_ = n;
    for (port_ = 0; port_ < t3e::kPorts; ++port_) {
      vc_ = kNone;
      compare_port(ports_[n * t3e::kPorts + port_], router.port[port_]);
      for (vc_ = 0; vc_ < vcs_; ++vc_) {
        const u32 i = (n * t3e::kPorts + port_) * vcs_ + vc_;
        compare_input(inputs_[i], router.in[port_][vc_], naive.now() - 1);
        compare_output(outputs_[i], router.out[port_][vc_]);
      }
    }
    port_ = vc_ = kNone;
    note("registers differ", std::memcmp(&registers_[n], &naive.registers(n), sizeof(t3e::Registers)) != 0, 0);
    for (u32 vc = 0; vc < t3e::kDeterministicVcs; ++vc)
      note("credits of the PE", injection_[n * t3e::kDeterministicVcs + vc].credits, naive.credits_of_terminal(n, vc));
    for (u32 unit = 0; unit < units_; ++unit) {
      note("state of a barrier unit", static_cast<u32>(pe_units_[n * units_ + unit].state), naive.unit(n, unit).state);
      note("round of a barrier unit", pe_units_[n * units_ + unit].round, naive.unit(n, unit).round);
    }
  }

 private:
  void note(const char* what, u64 emulator, u64 expected) {
    differences_.same(expected, emulator, [&] {
      std::string name = "node " + std::to_string(node_);
      if (port_ != kNone) name += " port " + std::to_string(port_);
      if (vc_ != kNone) name += " VC " + std::to_string(vc_);
      return name + ": " + what;
    });
  }

  void compare_port(const t3e::PortState& port, const NaiveT3e::Port& other) {
    note("asking", port.asking, number(other.asking));
    note("pointer of the input", port.pick, pointer(other.last_asked));
    note("holder", port.sending, number(other.holder));
    note("pointer of the output", port.pick_out, pointer(other.last_sent));
  }

  void compare_input(const t3e::InputVc& in, const NaiveT3e::InputVc& other, Cycle now) {
    const auto ready = std::count_if(other.flits.begin(), other.flits.end(),
                                     [&](const NaiveT3e::Held& held) { return held.from <= now; });
    note("flits that may move", in.flits, static_cast<u64>(ready));
    note("packets", in.packets, other.packets());
    note("a packet has begun to leave", in.stage == t3e::FrontState::kFlowing, other.begun);
    note("adaptive channel won", in.adaptive_port == t3e::kNoVc ? t3e::kNoVc : in.adaptive_port * 8 + in.adaptive_vc,
         number(other.won));
    note("is dropped", in.stage == t3e::FrontState::kStopped, other.packets() && other.is_lost());
    if (in.stage != t3e::FrontState::kRequesting) return;
    u32 adaptive = 0;
    for (u32 port : other.choice.adaptive) adaptive |= 1u << port;
    note("deterministic choice", in.out_port * 8 + in.out_vc, other.choice.fixed.port * 8 + other.choice.fixed.vc);
    note("adaptive choices", in.wish, adaptive);
  }

  void compare_output(const t3e::OutputVc& out, const NaiveT3e::OutputVc& other) {
    u64 asked = 0;
    for (const Channel& c : other.asked) asked |= u64{1} << (c.port * 8 + c.vc);
    note("credits", out.credits, other.credits);
    note("owner", out.owner, number(other.owner));
    note("asked by", out.asked_by, asked);
  }

  Differences& differences_;
  u32 vcs_;
  std::vector<t3e::PortState> ports_;
  std::vector<t3e::InputVc> inputs_;
  std::vector<t3e::OutputVc> outputs_;
  std::vector<t3e::Registers> registers_;
  std::vector<InjectionVc> injection_;
  u32 units_;
  std::vector<t3e::BarrierUnit> pe_units_;
  u32 node_ = 0, port_ = kNone, vc_ = kNone;
};

/// Counts over all networks. Each must be greater than 0, so that the test notices rules that never applied.
struct Sums {
  u64 delivered = 0, straight = 0, crossed = 0, adapted = 0, replies = 0, dropped = 0, errors = 0, barriers = 0,
      misdelivered = 0, answers = 0, special_lost = 0, refused = 0;
};

/// Software that does the same in both implementations.
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
      {Total::kFlitsDropped, naive.dropped_flits},       {Total::kPacketsDropped, naive.dropped_packets},
      {Total::kPacketsMisdelivered, naive.misdelivered}, {t3e::Count::kChannelErrors, naive.errors},
      {t3e::Count::kFlitsCorrected, naive.corrected},    {t3e::Count::kFlitsHitAgain, naive.hit_again},
      {t3e::Count::kBarriers, naive.barriers},           {t3e::Count::kBarrierWaitSum, naive.barrier_wait},
      {t3e::Count::kSpecialSent, naive.special_sent},    {t3e::Count::kSpecialArrived, naive.special_arrived},
      {t3e::Count::kSpecialLost, naive.special_lost}};
  for (const auto& [total, expected] : totals)
    EXPECT_EQ(net.total(total), expected) << "total " << total.value << "\n" << described(machine);
}

/// Runs emulator and second implementation side by side until they differ.
void run_both(const RandomT3e& machine, const Experiment& e, u32 cycles, Sums& sums) {
  Network net(e, {"cpu", 1, true, 1});
  NaiveT3e naive(e, plan_of(net));
  Software software(net, naive, machine);
  const auto step = [&](u32) {
    software.act();
    net.step(1);
  };
  const auto compare_all = [&](Differences& differences) {
    const std::vector<Happening> happened = happenings(net);
    differences.same_lists(naive.step(), happened);
    States states(net, differences);
    for (u32 n = 0; n < net.plan->topology().routers; ++n) states.compare(n, naive);
    for (const Happening& h : happened) sums.delivered += h.kind == EventKind::kDelivered;
  };
  if (!side_by_side(cycles, described(machine), step, compare_all)) return;
  software.act();
  const std::vector<Answer>& answers = naive.answers;
  EXPECT_EQ(software.answers(), answers) << described(machine);
  compare_totals(net, naive, machine);
  if (machine.commands.empty()) {
    Network untraced(e);  // processes routers in bulk
    untraced.step(cycles);
    EXPECT_EQ(untraced.engine->state_hash(0), net.engine->state_hash(0)) << described(machine);
  }
  sums.straight += naive.straight;
  sums.crossed += naive.turned;
  sums.adapted += naive.adapted;
  sums.replies += naive.replies;
  sums.dropped += naive.dropped_packets;
  sums.errors += naive.errors;
  sums.barriers += naive.barriers;
  sums.misdelivered += naive.misdelivered;
  sums.answers += answers.size();
  sums.special_lost += naive.special_lost;
}

void compare(const RandomT3e& machine, u32 cycles, Sums& sums) {
  RawConfig config = machine.config;
  std::deque<TextFile> files;
  for (const auto& [path, text] : machine.files) config[path] = files.emplace_back(text).path;
  try {
    run_both(machine, experiment(config), cycles, sums);
  } catch (const std::exception& error) {
    ++sums.refused;  // a tag with an initial hop to a dateline, or barriers across breaks
    const std::string why = error.what();
    if (why.find("initial hop") == std::string::npos && why.find("is not connected") == std::string::npos)
      ADD_FAILURE() << error.what() << "\n" << described(machine);
  }
}

class T3eNaive : public ::testing::TestWithParam<u32> {};

TEST_P(T3eNaive, DoesTheSameInEveryCycle) {
  Sums sums;
  const u32 networks = testing::trials(75);
  for (u32 i = 0; i < networks; ++i) {
    compare(random_t3e(GetParam() * 1000 + i), 300, sums);
    if (HasFailure()) return;
  }
  for (const auto& [what, sum, least] :
       std::initializer_list<std::tuple<const char*, u64, u64>>{{"packets delivered", sums.delivered, 100},
                                                                {"flits straight on", sums.straight, 20},
                                                                {"flits through the crossbar", sums.crossed, 1000},
                                                                {"flits on adaptive channels", sums.adapted, 100},
                                                                {"replies", sums.replies, 3},
                                                                {"packets lost", sums.dropped, 1},
                                                                {"errors on links", sums.errors, 50},
                                                                {"barriers", sums.barriers, 20},
                                                                {"packets delivered elsewhere", sums.misdelivered, 1},
                                                                {"answers of the special network", sums.answers, 5},
                                                                {"special packets lost", sums.special_lost, 2}})
    EXPECT_GE(sum, least * networks / 15) << what;
  EXPECT_LE(sums.refused * 2, networks);
}

INSTANTIATE_TEST_SUITE_P(Seeds, T3eNaive, ::testing::Range(0u, 4u));

}  // namespace
}  // namespace flitlab::t3e_naive_test
