/// S-Connect against a second implementation (tests/support/sconnect/naive.hpp). In every cycle sent words, queues,
/// buffers of queues, error registers and totals must agree, for any machine and with any ports switched off.
#include <gtest/gtest.h>

#include <memory>

#include "kernels/routers/sconnect/totals.hpp"
#include "tests/support/sconnect/naive.hpp"
#include "tests/support/sconnect/random.hpp"
#include "tests/support/side_by_side.hpp"

namespace flitlab::sconnect_naive_test {
namespace {

using sconnect::kPorts;
using sconnect::LinkKind;
using namespace testing;

constexpr std::pair<TotalIndex, const char*> kCompared[] = {{Total::kPacketsInjected, "injected"},
                                                            {Total::kPacketsDelivered, "delivered"},
                                                            {Total::kLatencySum, "latency"},
                                                            {Total::kTransactions, "transactions"},
                                                            {Total::kRoundTripSum, "round trips"},
                                                            {sconnect::Count::kSlotsSent, "slots sent"},
                                                            {sconnect::Count::kSlotsHit, "slots hit"},
                                                            {sconnect::Count::kRejected, "refused"},
                                                            {sconnect::Count::kFailed, "came back"},
                                                            {sconnect::Count::kAnswersLost, "answers lost"},
                                                            {sconnect::Count::kSentAgain, "sent again"},
                                                            {sconnect::Count::kDuplicates, "duplicates"},
                                                            {sconnect::Count::kAborted, "aborted"}};

/// Returns the content of a slot as text.
std::string text_of(u8 bits, MessageName name, u32 priority, u32 vc, u32 hops, u32 age) {
  if (!bits) return "nothing";
  std::string text;
  for (u32 i = 0; i < 8; ++i)
    if (bits >> i & 1) text += "PSABQLHO"[i];
  if (bits & sconnect::kPresent)
    text += " " + std::to_string(name.src) + "#" + std::to_string(name.id) + " priority " + std::to_string(priority) +
            " vc " + std::to_string(vc) + " hops " + std::to_string(hops) + " age " + std::to_string(age);
  return text;
}

std::string text_of(const std::optional<NaiveParcel>& parcel) {
  if (!parcel) return "nothing";
  u32 bits = sconnect::kOccupied;
  const NaiveParcel& c = *parcel;
  if (c.carries) bits |= sconnect::kPresent | (c.sequence ? sconnect::kSequence : 0);
  if (c.answer) bits |= sconnect::kAcknowledge;
  if (c.abort) bits |= sconnect::kAbort;
  if (c.quad) bits |= sconnect::kQuad;
  if (c.last || c.answer_requested) bits |= sconnect::kLast;
  if (c.hit) bits |= sconnect::kHit;
  return text_of(static_cast<u8>(bits), c.message.name, c.message.priority, c.message.vc, c.message.hops,
                 c.message.failures);
}

std::string text_of(const std::vector<MessageName>& list) {
  std::string text;
  for (const MessageName& n : list) text += " " + std::to_string(n.src) + "#" + std::to_string(n.id);
  return text.empty() ? " nothing" : text;
}

/// Runs emulator and second implementation side by side until they disagree.
class Comparison {
 public:
  explicit Comparison(const RawConfig& config)
      : config_(config),
        e_(testing::sconnect_experiment(config)),
        net_(e_),
        plan_(dynamic_cast<const SconnectPlan&>(*net_.plan)),
        naive_(e_, plan_, net_.engine->row(0)),
        control_(net_, 0, "control"),
        inbox_(net_, 0, "mail"),
        port_(net_, 0, "port"),
        queue_(net_, 0, "queue"),
        buffer_(net_, 0, "buffer"),
        message_(net_, 0, "message"),
        arriving_(net_, 0, "arriving"),
        terminal_(net_, 1, "control") {
    if (plan_.table().loops()) loop_ = std::make_unique<ItemFields<LoopControl>>(net_, 1, "loop");
    ReplicaRow row = net_.engine->row(0);
    row.window_begin = 0;
    row.window_end = ~Cycle{0};
    net_.engine->set_row(0, row);
  }

  NaiveSconnect& naive() { return naive_; }

  /// Runs `cycles` cycles. If `toggles` is not 0, it switches one port off or on every `toggles` cycles on average.
  void run(u32 cycles, Draw* draw = nullptr, u32 toggles = 0) {
    const auto step = [&](u32 cycle) {
      if (toggles && cycle < cycles * 2 / 3 && draw->below(toggles) == 0) toggle(*draw);
      if (toggles && cycle == cycles * 2 / 3) all_on();
      naive_.step();
      net_.step(1);
    };
    const auto compare_all = [&](Differences& differences) {
      differences_ = &differences;
      compare();
    };
    if (!side_by_side(cycles, described(config_), step, compare_all)) return;
    EXPECT_GT(naive_.total(Total::kPacketsInjected), 0u) << testing::described(config_);
    check_conservation(*net_.engine, *net_.plan, 0);
  }

 private:
  void toggle(Draw& draw) {
    const u32 tic = draw.below(static_cast<u32>(naive_.tics().size())), p = draw.below(kPorts);
    bool& on = naive_.tics()[tic].port[p].on;
    on = !on;
    set_enabled(tic);
  }
  void all_on() {
    for (u32 tic = 0; tic < naive_.tics().size(); ++tic) {
      for (NaiveTicPort& port : naive_.tics()[tic].port) port.on = true;
      set_enabled(tic);
    }
  }
  void set_enabled(u32 tic) {
    u32 set = 0;
    for (u32 p = 0; p < kPorts; ++p) set |= u32{naive_.tics()[tic].port[p].on} << p;
    control_.read();
    control_(tic).enabled = static_cast<u8>(set);
    control_.write();
  }

  template <class A, class B, class Name>
  void same(const A& naive, const B& emulated, const Name& name) {
    differences_->same(naive, emulated, name);
  }

  void compare_port(u32 n, u32 p) {
    const sconnect::Table& t = plan_.table();
    const NaiveTicPort& port = naive_.tics()[n].port[p];
    const auto name = [&](const char* what) {
      return [&, what] { return plan_.router_name(n) + " " + plan_.port_name(p) + " " + what; };
    };
    if (port.link.kind == LinkKind::kNone) return;
    if (port.is_channel()) {
      const u32 slot_index = (naive_.now() - 1 + port.delay) & t.slot_mask;
      const u8 bits = static_cast<u8>(inbox_(port.link.far, slot_index) >> 8 * port.link.port);
      const sconnect::Message& m = arriving_(port.link.far, slot_index * kPorts + port.link.port);
      same(text_of(port.out->back()), text_of(bits, {m.src, m.id}, m.priority, m.vc, m.hops, m.age), name("sends"));
      const sconnect::Port& registers = port_(n, p);
      same(port.carried, registers.carried, name("carried"));
      same(port.damaged, registers.damaged, name("damaged"));
      same(port.refused, registers.refused, name("refused"));
      same(port.failed, registers.failed, name("failed"));
      same(port.lost, registers.lost, name("lost"));
      same(port.turn, control_(n).next_vc >> p & 1, name("serves first virtual channel"));
    }
    for (u32 priority = 0; priority < 4; ++priority)
      for (u32 vc = 0; vc < 2; ++vc) {
        std::vector<MessageName> expected, found;
        for (const MessageRef& m : port.queue[priority][vc]) expected.push_back(m->name);
        const sconnect::Queue& list = queue_(n, p * sconnect::kQueuesOfPort + priority * sconnect::kVcs + vc);
        for (u32 i = 0, b = list.head; i < list.messages && b < t.buffers; ++i, b = buffer_(n, b).next)
          found.push_back({message_(n, b).src, message_(n, b).id});
        if (expected != found)
          same(text_of(expected), text_of(found), name(("has waiting on " + std::to_string(vc)).c_str()));
      }
  }

  void compare() {
    control_.read();
    inbox_.read();
    port_.read();
    queue_.read();
    buffer_.read();
    message_.read();
    arriving_.read();
    terminal_.read();
    if (loop_) loop_->read();
    for (u32 n = 0; n < naive_.tics().size(); ++n) {
      const NaiveTic& tic = naive_.tics()[n];
      const auto name = [&](const std::string& what) {
        return [&plan = plan_, n, what] { return plan.router_name(n) + " " + what; };
      };
      same(tic.used(), control_(n).used, name("uses buffers"));
      for (u32 q = 0; q < sconnect::kQueues; ++q)
        same(tic.held(q / 8, q / 2 % 4, q % 2), control_(n).held[q], name("holds of queue " + std::to_string(q)));
      same(tic.no_route ? kFaultNoRoute : 0u, control_(n).fault & kFaultBits, name("fault"));
      for (u32 p = 0; p < kPorts; ++p) compare_port(n, p);
    }
    for (u32 h = 0; h < naive_.hosts().size(); ++h) {
      const NaiveHost& host = naive_.hosts()[h];
      const auto name = [&](const char* what) {
        return [h, what] { return "host's port " + std::to_string(h) + " " + what; };
      };
      same(host.created, terminal_(h).created, name("created"));
      same(host.sent, terminal_(h).sent, name("sent"));
      same(host.received, terminal_(h).received, name("received"));
      if (!loop_) continue;
      same(host.loop.open.size(), (*loop_)(h).outstanding, name("has requests without a reply"));
      same(host.loop.answers.size(), (*loop_)(h).replies, name("has replies that wait"));
      same(host.loop.given, (*loop_)(h).replies_sent, name("replied"));
    }
    const auto total = [&](TotalIndex which, u32 i, const char* name) {
      same(naive_.total(which, i), net_.engine->counters(0).total[which.value + i], [&] { return name; });
    };
    for (const auto& [which, name] : kCompared) total(which, 0, name);
    for (u32 i = 0; i < 4; ++i) total(sconnect::Count::kDelivered, i, "delivered of a priority");
    const auto& all = net_.engine->counters(0);
    const auto of = [&](TotalIndex which) { return all.total[which.value]; };
    same(naive_.clocks(),
         6 * of(Total::kMeasuredNetworkLatencySum) + of(sconnect::Count::kClocksSum) -
             10 * of(Total::kMeasuredDelivered),
         [] { return "clocks in the fabric"; });
  }

  RawConfig config_;
  Experiment e_;
  Network net_;
  const SconnectPlan& plan_;
  NaiveSconnect naive_;
  ItemFields<sconnect::TicControl> control_;
  ItemFields<u64> inbox_;
  ItemFields<sconnect::Port> port_;
  ItemFields<sconnect::Queue> queue_;
  ItemFields<sconnect::BufferState> buffer_;
  ItemFields<sconnect::Message> message_;
  ItemFields<sconnect::Message> arriving_;
  ItemFields<TerminalControl> terminal_;
  std::unique_ptr<ItemFields<LoopControl>> loop_;
  Differences* differences_ = nullptr;  ///< of this cycle
};

class SconnectNaive : public ::testing::TestWithParam<u32> {};

TEST_P(SconnectNaive, AgreesForRandomParameters) {
  const TextFile graph(testing::kSwitchedGraph);
  Comparison(random_sconnect(GetParam(), graph.path)).run(700);
}

TEST_P(SconnectNaive, AgreesWithPortsSwitchedOff) {
  const TextFile graph(testing::kSwitchedGraph);
  Draw draw(GetParam());
  Comparison(random_sconnect(1000 + GetParam(), graph.path)).run(600, &draw, 1 + draw.below(8));
}

TEST_P(SconnectNaive, AgreesInClosedLoops) {
  const TextFile graph(testing::kSwitchedGraph);
  Comparison(random_sconnect_loop(2000 + GetParam(), graph.path)).run(700);
}

TEST_P(SconnectNaive, AgreesInClosedLoopsWithPortsSwitchedOff) {
  const TextFile graph(testing::kSwitchedGraph);
  Draw draw(GetParam());
  Comparison(random_sconnect_loop(3000 + GetParam(), graph.path)).run(500, &draw, 1 + draw.below(8));
}

INSTANTIATE_TEST_SUITE_P(Seeds, SconnectNaive, ::testing::Range(0u, 40u));

}  // namespace
}  // namespace flitlab::sconnect_naive_test
