/// Whole networks against a second implementation of the virtual-channel router. In every cycle all events and all
/// virtual channels must agree.
#include <gtest/gtest.h>

#include "kernels/traffic/class_totals.hpp"
#include "tests/support/side_by_side.hpp"
#include "tests/support/vc/naive.hpp"
#include "tests/support/vc/random.hpp"

namespace flitlab::vc_naive_test {
namespace {

using namespace testing;

std::string number(u32 x) { return x == kNone ? std::string("-") : std::to_string(x); }

auto members(const Event& e) {
  return std::tuple(e.src, e.id, e.kind, e.port, e.vc, e.out_port, e.out_vc, e.flit, e.flits, e.dst, e.latency);
}

std::string text(const Event& e) {
  static const char* const kKinds[] = {"created", "injected", "arrived", "routed", "VC granted", "sent", "delivered"};
  return number(e.src) + "#" + number(e.id) + " " + kKinds[static_cast<u32>(e.kind)] + " " + number(e.port) + "." +
         number(e.vc) + " -> " + number(e.out_port) + "." + number(e.out_vc) + ", mark " + number(e.flit) + ", " +
         number(e.flits) + " flits, to " + number(e.dst) + ", latency " + number(e.latency);
}

auto members(const VcSnapshot& s) {
  return std::tuple(std::string_view(s.stage), s.flits, s.packets, s.src, s.id, s.left, s.out_port, s.out_vc, s.credits,
                    s.owner_port, s.owner_vc);
}

std::string text(const VcSnapshot& s) {
  return s.stage + ": " + number(s.flits) + " flits, " + number(s.packets) + " packets, " + number(s.src) + "#" +
         number(s.id) + ", " + number(s.left) + " left, -> " + number(s.out_port) + "." + number(s.out_vc) +
         "; output: " + number(s.credits) + " credits, owner " + number(s.owner_port) + "." + number(s.owner_vc);
}

/// Compares the events of an item (router or terminal) in a cycle. Their order within the cycle does not matter.
void compare_events(Differences& d, const char* kind, u32 item, std::vector<Event> emulated, std::vector<Event> naive) {
  std::string a, b;
  bool same = emulated.size() == naive.size();
  for (std::vector<Event>* list : {&emulated, &naive})
    std::sort(list->begin(), list->end(), [](const Event& x, const Event& y) { return members(x) < members(y); });
  for (std::size_t i = 0; same && i < naive.size(); ++i) same = members(emulated[i]) == members(naive[i]);
  if (same) return;
  for (const Event& e : emulated) a += text(e) + "\n";
  for (const Event& e : naive) b += text(e) + "\n";
  d.same(b, a, [&] { return kind + (' ' + std::to_string(item)) + '\n'; });
}

VcSnapshot snapshot(const testing::vc_naive::InputVc& in, const testing::vc_naive::OutputVc& out, u32 vcs) {
  using testing::vc_naive::InputVc;
  VcSnapshot s;
  s.stage = in.stage == InputVc::kIdle      ? "idle"
            : in.stage == InputVc::kRouting ? "routing"
            : in.stage == InputVc::kWaiting ? "waiting"
            : in.sent == 0                  ? "head"
                                            : "body";
  s.flits = static_cast<u32>(in.buffer.size());
  s.packets = static_cast<u32>(in.packets.size());
  if (!in.packets.empty()) {
    s.src = in.front().source;
    s.id = in.front().id;
    s.left = in.front().flits - (in.stage == InputVc::kGranted ? in.sent : 0);
  }
  if (in.stage >= InputVc::kWaiting) s.out_port = in.out_port;
  if (in.stage == InputVc::kGranted) s.out_vc = in.out_vc;
  s.credits = out.credits;
  if (out.owner != kNone) s.owner_port = out.owner / vcs, s.owner_vc = out.owner % vcs;
  return s;
}

/// Compares the virtual channels of all routers and terminals.
void compare_state(Differences& d, const std::vector<std::byte>& state, const VcPlan& plan, const NaiveVc& naive) {
  for (u32 r = 0; r < naive.routers.size(); ++r) {
    const std::vector<PortSnapshot> ports = plan.inspect_router(state, r);
    for (u32 p = 0; p < ports.size(); ++p)
      for (u32 v = 0; v < ports[p].vcs.size(); ++v) {
        const VcSnapshot expected =
            snapshot(naive.routers[r].input[p][v], naive.routers[r].output[p][v], plan.table().vcs);
        if (members(ports[p].vcs[v]) == members(expected)) continue;
        d.same(text(expected), text(ports[p].vcs[v]),
               [&] { return "router " + number(r) + ", port " + number(p) + ", VC " + number(v); });
      }
  }
  const std::vector<u32> sent = plan.channel_flits(state);
  for (u32 r = 0, channel = 0; r < naive.routers.size(); ++r)
    for (u32 p = 0; p < plan.topology().network_ports; ++p)
      if (plan.topology().peer(r, p).item != kNone)
        d.same(u32{naive.routers[r].sent_on[p]}, sent[channel++], [&] { return "sent by router " + number(r); });
  for (u32 t = 0; t < naive.terminals.size(); ++t) {
    const TerminalSnapshot s = plan.inspect_terminal(state, t);
    d.same(true, s.credits == naive.terminals[t].credits, [&] { return "credits of terminal " + number(t); });
    d.same(u64{naive.terminals[t].received}, s.received, [&] { return "received by terminal " + number(t); });
  }
}

void compare_counts(Network& net, const testing::vc_naive::Counts& counts) {
  for (const auto& [total, expected] :
       std::initializer_list<std::pair<TotalIndex, u64>>{{Total::kPacketsCreated, counts.created},
                                                         {Total::kFlitsCreated, counts.created_flits},
                                                         {Total::kPacketsInjected, counts.injected},
                                                         {Total::kFlitsInjected, counts.injected_flits},
                                                         {Total::kPacketsDelivered, counts.delivered},
                                                         {Total::kFlitsDelivered, counts.delivered_flits},
                                                         {Total::kFlitMoves, counts.moves},
                                                         {Total::kLatencySum, counts.latency},
                                                         {Total::kNetworkLatencySum, counts.network_latency},
                                                         {Total::kMeasuredHops, counts.hops},
                                                         {Total::kLatencyMax, counts.latency_max},
                                                         {Total::kNetworkLatencyMax, counts.network_latency_max},
                                                         {Total::kLastDelivery, counts.last_delivery},
                                                         {Total::kTransactions, counts.transactions},
                                                         {Total::kRoundTripSum, counts.round_trips},
                                                         {Total::kRoundTripMax, counts.round_trip_max}})
    EXPECT_EQ(net.total(total), expected) << "total " << total.value;
  if (dynamic_cast<const VcPlan&>(*net.plan).table().mode != TrafficMode::kClasses) return;
  const CounterShard shard = net.engine->counters(0);
  for (const auto& [c, of_class] : counts.of_class)
    for (const auto& [total, expected] : std::initializer_list<std::pair<ClassTotal, u64>>{
             {ClassTotal::kOfferedFlits, of_class.created_flits},
             {ClassTotal::kAcceptedFlits, of_class.delivered_flits},
             {ClassTotal::kDelivered, of_class.delivered},
             {ClassTotal::kMeasured, of_class.delivered},
             {ClassTotal::kMeasuredLatency, of_class.latency},
             {ClassTotal::kMeasuredNetworkLatency, of_class.network_latency}})
      EXPECT_EQ(total_of(shard, total, c), expected) << "class " << c;
}

std::string text(const RawConfig& config) {
  std::string list;
  for (const auto& [path, value] : config) list += "\n  " + path + " = " + shown(value);
  return list;
}

/// Returns another CPU engine: the plain one, one with lane state, one with the memory layout of GPUs, or one with two
/// threads.
EngineChoice other_engine(u32 trial) {
  EngineChoice choice{"cpu", 1, false, 1};
  if (trial % 4 == 1) choice.lanes = LaneUse::kAlways;
  if (trial % 4 == 2) choice.width = testing::kWide;
  if (trial % 16 == 3) choice.threads = 2;
  return choice;
}

struct Seen {
  u64 delivered = 0, wasted = 0;
};

/// Runs a network with the engine that writes events, with another engine, and in the second implementation.
void run(u32 trial, const RawConfig& config, std::vector<testing::vc_naive::TraceLine> trace, Seen& seen) {
  const Experiment e = experiment(config);
  Network net(e, {"cpu", 1, true, 1}), other(e, other_engine(trial));
  const auto& plan = dynamic_cast<const VcPlan&>(*net.plan);
  ReplicaRow row = make_row(e);
  row.window_begin = 0;
  for (Network* n : {&net, &other}) n->engine->set_row(0, row);
  NaiveVc naive(e, plan, row, std::move(trace));
  u32 now = 0;
  const auto step = [&](u32 cycle) {
    now = cycle;
    for (Network* n : {&net, &other}) n->step(1);
    naive.step();
  };
  const auto compare = [&](Differences& d) {
    const std::vector<std::vector<Event>> events = net.engine->take_events(0);
    const u32 routers = static_cast<u32>(naive.routers.size());
    for (u32 r = 0; r < routers; ++r) compare_events(d, "router", r, events[r], naive.routers[r].events);
    for (u32 t = 0; t < naive.terminals.size(); ++t)
      compare_events(d, "terminal", t, events[routers + t], naive.terminals[t].events);
    compare_state(d, net.engine->state(0), plan, naive);
    if (now % 5 == 4)
      d.same(net.engine->state_hash(0), other.engine->state_hash(0), [] { return "hash of the other engine"; });
  };
  if (!side_by_side(200, "", step, compare)) return;
  for (Network* n : {&net, &other}) compare_counts(*n, naive.counts);
  seen.delivered += naive.counts.delivered;
  for (const auto& router : naive.routers) seen.wasted += router.wasted;
}

/// Runs `count` networks. `draw(random)` configures a network and returns the lines of its trace.
template <class Draw>
Seen run_all(u32 first, u32 count, Draw draw) {
  Seen seen;
  for (u32 trial = first; trial < first + trials(count); ++trial) {
    testing::RandomVc random(trial);
    const std::vector<testing::vc_naive::TraceLine> trace = draw(random);
    SCOPED_TRACE("trial " + std::to_string(trial) + text(random.config()));
    run(trial, random.config(), trace, seen);
    if (::testing::Test::HasFailure()) break;
  }
  return seen;
}

using Lines = std::vector<testing::vc_naive::TraceLine>;

TEST(VcNaive, DoesTheSameOnGrids) {
  const Seen seen = run_all(0, 240, [](testing::RandomVc& random) {
    random.grid();
    random.open_loop();
    random.router();
    return Lines{};
  });
  EXPECT_GT(seen.delivered, trials(20000));
  EXPECT_GT(seen.wasted, trials(1000));
}

TEST(VcNaive, DoesTheSameOnGraphs) {
  const Seen seen = run_all(1000, 80, [](testing::RandomVc& random) {
    random.graph();
    random.open_loop();
    random.router();
    return Lines{};
  });
  EXPECT_GT(seen.delivered, trials(8000));
}

TEST(VcNaive, DoesTheSameOnFamiliesOfNetworks) {
  const Seen seen = run_all(6000, 200, [](testing::RandomVc& random) {
    random.family();
    random.open_loop();
    random.router();
    return Lines{};
  });
  EXPECT_GT(seen.delivered, trials(20000));
}

TEST(VcNaive, DoesTheSameWithFailedLinks) {
  const Seen seen = run_all(7000, 60, [](testing::RandomVc& random) {
    random.failed();
    random.open_loop();
    random.router();
    return Lines{};
  });
  EXPECT_GT(seen.delivered, trials(3000));
}

TEST(VcNaive, DoesTheSameWithManyPorts) {
  const Seen seen = run_all(5000, 16, [](testing::RandomVc& random) {
    random.star();
    random.open_loop();
    random.router();
    return Lines{};
  });
  EXPECT_GT(seen.delivered, trials(8000));
}

TEST(VcNaive, DoesTheSameWithManyTerminals) {
  const Seen seen = run_all(5500, 16, [](testing::RandomVc& random) {
    random.hub();
    random.open_loop();
    random.router();
    return Lines{};
  });
  EXPECT_GT(seen.delivered, trials(5000));
}

TEST(VcNaive, DoesTheSameWithClassesOfPackets) {
  const Seen seen = run_all(8000, 160, [](testing::RandomVc& random) {
    switch (random.below(4)) {
      case 0: random.graph(); break;
      case 1: random.family(); break;
      default: random.grid();
    }
    random.open_loop();
    random.classes();
    random.router();
    return Lines{};
  });
  EXPECT_GT(seen.delivered, trials(15000));
}

TEST(VcNaive, DoesTheSameInBatches) {
  const Seen seen = run_all(2000, 40, [](testing::RandomVc& random) {
    random.grid();
    random.batch();
    random.router();
    return Lines{};
  });
  EXPECT_GT(seen.delivered, trials(1000));
}

TEST(VcNaive, DoesTheSameInClosedLoops) {
  const Seen seen = run_all(3000, 120, [](testing::RandomVc& random) {
    random.below(4) ? random.grid() : random.graph();
    random.closed_loop();
    random.router();
    return Lines{};
  });
  EXPECT_GT(seen.delivered, trials(8000));
}

TEST(VcNaive, DoesTheSameWithTraces) {
  const Seen seen = run_all(4000, 60, [](testing::RandomVc& random) {
    random.below(4) ? random.grid() : random.graph();
    Lines trace = random.trace();
    random.router();
    return trace;
  });
  EXPECT_GT(seen.delivered, trials(3000));
}

}  // namespace
}  // namespace flitlab::vc_naive_test
