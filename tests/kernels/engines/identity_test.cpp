/// Bit identity, for every registered model: threads, replica batching and memory layout must not show in the state.
#include <gtest/gtest.h>

#include <fstream>

#include "host/config/registry.hpp"
#include "kernels/engines/make_engine.hpp"
#include "tests/support/build.hpp"
#include "tests/support/temporary.hpp"

namespace flitlab::engines_identity_test {
namespace {

using testing::experiment;
using testing::integer;
using testing::Network;
using testing::trials;
using testing::word;

/// Variations that reach all code of a model; every model gets its defaults, and more where it is known.
std::vector<Experiment> variations(std::string_view kind) {
  std::vector<Experiment> list{experiment({{"router.kind", std::string(kind)}, {"traffic.load", 0.35}})};
  list.push_back(experiment({{"router.kind", std::string(kind)},
                             {"traffic.mode", word("batch")},
                             {"traffic.pattern", word("all_to_all")},
                             {"traffic.rounds", integer(5)}}));
  const std::string trace = testing::temporary(".csv");
  std::ofstream file(trace);
  for (u32 n = 0; n < 2000; ++n)
    file << n / 5 << ',' << n * 7 % 16 << ',' << (n * 7 + 1 + n % 15) % 16 << ',' << 1 + n % 5 << '\n';
  file.close();
  const auto add = [&](RawConfig changes) {
    changes["router.kind"] = std::string(kind);
    list.push_back(experiment(changes));
  };
  if (kind == "bgl") {
    // Groups of 64 nodes that threads share or do not; the published router, compiled for itself, and others.
    const Lengths mixed{{1, 1.0}, {3, 1.0}, {8, 1.0}};
    add({{"topology.shape", IntList{5, 5, 3}}, {"traffic.load", 0.05}, {"traffic.packet_flits", mixed}});
    add({{"topology.shape", IntList{8, 8, 3}},
         {"traffic.mode", word("batch")},
         {"traffic.batch_packets", integer(20)},
         {"traffic.packet_flits", mixed},
         {"injection.priority_share", 0.2},
         {"reception.groups", integer(2)}});
    add({{"topology.shape", IntList{6, 5, 5}},
         {"traffic.load", 0.2},
         {"traffic.packet_flits", mixed},
         {"router.escape", word("dateline")},
         {"router.escape_order", word("direction")},
         {"router.jsq", false},
         {"router.slq", 0.5},
         {"router.network_first", 0.5},
         {"router.arbitration_gap", true},
         {"router.bypass", false},
         {"router.count_unblocking", true},
         {"routing.dynamic", 0.5},
         {"injection.infinite", true}});
    add({{"topology.shape", IntList{7, 1, 2}},
         {"traffic.load", 0.3},
         {"traffic.packet_flits", mixed},
         {"router.dynamic_vcs", integer(0)},
         {"router.escape_flits", integer(16)},
         {"router.bubble_rule", word("actual_size")},
         {"injection.fifos", integer(2)},
         {"injection.put_interval", integer(3)},
         {"reception.fifo_flits", integer(9)},
         {"reception.take_interval", integer(70)}});
    add({{"topology.shape", IntList{5, 5, 3}},
         {"traffic.load", 0.1},
         {"traffic.packet_flits", mixed},
         {"router.link_protocol", true},
         {"faults.error_rate", 5e-4}});
    add({{"topology.shape", IntList{5, 4, 4}},
         {"traffic.load", 0.2},
         {"traffic.packet_flits", mixed},
         {"faults.nodes", IntList{7, 33, 54}},
         {"routing.hints", IntList{0, 9, 0b010100, 9, 0, 0b101000}},
         {"routing.dynamic", 0.5}});
    add({{"traffic.mode", word("trace")}, {"traffic.trace_file", trace}});
    return list;
  }
  if (kind == "metro") {
    const Lengths mixed{{8, 1.0}, {20, 1.0}, {33, 1.0}};
    const std::string faults = testing::temporary(".faults.csv");
    std::ofstream(faults) << "0,noise,0.1.2.0,0.05\n100,dead,1.2\n200,stuck1,0.0.1.1,3\n250,misallocate,0.3,0.1\n"
                             "300,off,0.2.1\n400,repair,1.2\n450,on,0.2.1\n";
    const IntList radix{4, 4, 4}, dilation{2, 2, 1};
    add({{"topology.radix", radix},
         {"topology.dilation", dilation},
         {"traffic.load", 0.3},
         {"endpoint.stalls", true},
         {"traffic.packet_flits", mixed}});
    add({{"topology.radix", radix},
         {"topology.dilation", dilation},
         {"traffic.load", 0.3},
         {"faults.file", faults},
         {"traffic.packet_flits", mixed},
         {"router.cascade", integer(2)},
         {"router.fast_reclaim", false}});
    add({{"topology.kind", word("fat_tree")},
         {"traffic.mode", word("request_reply")},
         {"traffic.load", 0.4},
         {"traffic.packet_flits", mixed},
         {"traffic.reply_flits", mixed},
         {"router.header_words", integer(2)},
         {"router.pipeline_stages", integer(2)},
         {"topology.wire_delay", integer(2)},
         {"endpoint.closed_by", word("source")}});
    add({{"traffic.load", 0.5},
         {"traffic.packet_flits", mixed},
         {"router.cascade", integer(4)},
         {"router.shared_random", false},
         {"endpoint.retry", word("immediate")},
         {"endpoint.checksum", word("none")}});
    add({{"traffic.load", 0.5},
         {"traffic.packet_flits", mixed},
         {"faults.dead_routers", 0.1},
         {"faults.dead_links", 0.1},
         {"faults.cycle", integer(100)},
         {"faults.masked", true},
         {"endpoint.most_attempts", integer(3)},
         {"router.detailed_stages", IntList{1}}});
    std::ofstream long_trace(trace);
    for (u32 n = 0; n < 600; ++n) long_trace << n << ',' << n * 7 % 16 << ',' << (n * 7 + 1 + n % 15) % 16 << ",20\n";
    long_trace.close();
    add({{"traffic.mode", word("trace")}, {"traffic.trace_file", trace}});
    return list;
  }
  if (kind == "sconnect") {
    const Lengths mixed{{1, 2.0}, {4, 1.0}};
    const IntList priorities{4, 2, 1, 1};
    add({{"traffic.load", 0.5},
         {"channel.error_rate", 2e-3},
         {"topology.channel_delay", integer(6)},
         {"router.buffers", integer(63)},
         {"router.reserve", IntList{4, 1, 1, 1}},
         {"traffic.packet_flits", mixed},
         {"host.priorities", priorities}});
    add({{"topology.shape", IntList{3, 3, 2, 2}},
         {"topology.node", word("dual")},
         {"topology.host_ports", integer(2)},
         {"traffic.load", 0.4},
         {"channel.error_rate", 5e-4},
         {"traffic.packet_flits", mixed},
         {"host.priorities", IntList{4, 2, 0, 0}},
         {"host.refuses", IntList{1}}});
    add({{"topology.kind", word("random")},
         {"topology.nodes", integer(40)},
         {"routing.tables", word("tree")},
         {"traffic.load", 0.2},
         {"channel.error_rate", 1e-4},
         {"clock.emulated", true},
         {"clock.spread", 200.0},
         {"clock.tuning", 50.0}});
    add({{"topology.kind", word("tree")},
         {"topology.arity", integer(6)},
         {"topology.inner", word("switches")},
         {"topology.channel_delay", integer(30)},
         {"router.buffers", integer(12)},
         {"router.reserve", IntList{1, 0, 0, 0}},
         {"router.host_buffers", integer(6)},
         {"traffic.load", 0.3}});
    std::ofstream messages(trace);
    for (u32 n = 0; n < 2000; ++n)
      messages << n / 5 << ',' << n * 7 % 16 << ',' << (n * 7 + 1 + n % 15) % 16 << ',' << (n % 3 ? 1 : 4) << '\n';
    messages.close();
    add({{"traffic.mode", word("trace")}, {"traffic.trace_file", trace}, {"channel.error_rate", 1e-3}});
    return list;
  }
  if (kind == "adaptive") {
    for (const char* assignment : {"greedy", "fixed", "optimal"})
      add({{"router.assignment", word(assignment)},
           {"topology.concentration", integer(3)},
           {"topology.channel_delay", integer(2)},
           {"router.spare_buffers", integer(1)},
           {"router.ejection", integer(2)},
           {"router.priorities", IntList{4, 2, 0, 1}},
           {"traffic.load", 0.8}});
    std::ofstream messages(trace);
    for (u32 n = 0; n < 2000; ++n) messages << n / 5 << ',' << n * 7 % 16 << ',' << (n * 7 + 1 + n % 15) % 16 << ",1\n";
    messages.close();
    add({{"traffic.mode", word("trace")}, {"traffic.trace_file", trace}});
    return list;
  }
  if (kind == "switch") {
    const Lengths mixed{{1, 1.0}, {5, 1.0}, {12, 1.0}};
    add({{"traffic.load", 1.0}, {"traffic.packet_flits", Lengths{{1, 1.0}}}, {"topology.ports", integer(64)}});
    add({{"traffic.load", 0.9},
         {"traffic.packet_flits", mixed},
         {"router.organisation", word("buffer_pool")},
         {"router.output_buffers", integer(3)}});
    add({{"traffic.load", 0.8},
         {"traffic.packet_length", word("geometric")},
         {"traffic.packet_flits", Lengths{{6, 1.0}}},
         {"router.input_release", word("tail")}});
    add({{"traffic.mode", word("trace")}, {"traffic.trace_file", trace}, {"topology.ports", integer(16)}});
    return list;
  }
  if (kind == "bless") {
    const Lengths mixed{{1, 1.0}, {4, 1.0}, {9, 1.0}};
    add({{"topology.kind", word("mesh")}, {"traffic.load", 0.8}, {"traffic.packet_flits", mixed}});
    add({{"topology.shape", IntList{3, 2, 4}},
         {"topology.channel_delay", integer(3)},
         {"router.delay", integer(1)},
         {"router.ejection_width", integer(2)},
         {"router.reassembly_packets", integer(2)},
         {"traffic.load", 0.6},
         {"traffic.packet_flits", mixed}});
    add({{"topology.kind", word("ring")}, {"topology.shape", IntList{9}}, {"traffic.injection", word("on_off")}});
    add({{"traffic.mode", word("trace")}, {"traffic.trace_file", trace}});
    return list;
  }
  if (kind == "t3e") {
    add({{"traffic.load", 0.9}, {"router.adaptive_vcs", integer(3)}, {"router.adaptive_choice", word("any")}});
    add({{"traffic.load", 0.9}, {"routing.adaptive", false}, {"router.short_circuit", false}});
    add({{"traffic.load", 0.7}, {"routing.vc_select", word("full")}, {"topology.shape", IntList{8, 4, 3}}});
    add({{"traffic.mode", word("request_reply")},
         {"traffic.load", 0.5},
         {"routing.ordered_requests", true},
         {"traffic.packet_flits", Lengths{{2, 0.5}, {10, 0.5}}}});
    add({{"traffic.load", 0.3}, {"barrier.units", integer(5)}, {"barrier.work", integer(20)}});
    add({{"traffic.load", 0.3}, {"barrier.units", integer(2)}, {"barrier.operation", word("eureka")}});
    add({{"traffic.load", 0.3},
         {"faults.links", IntList{3, 0, 17, 1}},
         {"faults.nodes", IntList{9}},
         {"faults.cycle", integer(150)},
         {"faults.reroute_delay", integer(100)},
         {"faults.error_rate", 0.01}});
    add({{"traffic.load", 0.3},
         {"topology.shape", IntList{2, 4, 3}},
         {"topology.partial_planes", IntList{2, 0, 2, 0, 2}},
         {"topology.partitions", IntList{0, 9, 12, 7}},
         {"barrier.units", integer(2)}});
    add({{"traffic.mode", word("trace")}, {"traffic.trace_file", trace}, {"io.nodes", IntList{0, 9}}});
    return list;
  }
  for (const char* allocator : {"separable_output_first", "islip", "wavefront"})
    for (const char* arbiter : {"matrix", "oldest_first"})
      list.push_back(experiment({{"router.vc_allocator", word(allocator)},
                                 {"router.switch_allocator", word(allocator)},
                                 {"router.allocator_iterations", integer(2)},
                                 {"router.arbiter", word(arbiter)},
                                 {"traffic.load", 0.5}}));
  // The tables with sizes known at compile time (default above), without them, and in three dimensions.
  list.push_back(experiment({{"router.vcs", integer(3)}, {"traffic.load", 0.35}}));
  list.push_back(experiment({{"topology.shape", IntList{3, 4, 2}}, {"traffic.load", 0.35}}));
  for (const char* routing : {"valiant", "minimal_adaptive"})
    list.push_back(experiment({{"routing.algorithm", word(routing)},
                               {"router.speculative", true},
                               {"traffic.load", 0.4},
                               {"traffic.injection", word("on_off")},
                               {"traffic.packet_flits", Lengths{{1, 0.5}, {5, 0.5}}}}));
  for (const char* routing : {"o1turn", "romm"})
    list.push_back(experiment({{"topology.kind", word("mesh")},
                               {"routing.algorithm", word(routing)},
                               {"router.flow_control", word("virtual_cut_through")},
                               {"topology.concentration", integer(5)},
                               {"traffic.load", 0.2}}));
  for (int classes : {1, 2})
    list.push_back(experiment({{"traffic.mode", word("request_reply")},
                               {"traffic.load", 0.4},
                               {"traffic.packet_flits", Lengths{{1, 0.5}, {5, 0.5}}},
                               {"traffic.reply_queue", integer(2)},
                               {"traffic.message_classes", integer(classes)}}));
  list.push_back(experiment({{"traffic.mode", word("trace")}, {"traffic.trace_file", trace}}));
  return list;
}

class Identity : public ::testing::TestWithParam<std::string> {};

TEST_P(Identity, OfThreadsAndLayouts) {
  for (const Experiment& e : variations(GetParam())) {
    Network one(e), two(e, {"cpu", 2, false, 1}), three(e, {"cpu", 3, false, 1}), wide(e, {"cpu", 2, false, 1, 32}),
        traced(e, {"cpu", 1, true, 1});
    for (u32 epoch = 0; epoch < trials(6); ++epoch) {
      for (Network* net : {&one, &two, &three, &wide, &traced}) net->step(150);
      const u64 hash = one.engine->state_hash(0);
      for (Network* net : {&two, &three, &wide, &traced}) {
        ASSERT_EQ(net->engine->state_hash(0), hash) << e.structure_key();
        const CounterShard a = one.engine->counters(0), b = net->engine->counters(0);
        for (u32 i = 0; i < kTotals; ++i) ASSERT_EQ(a.total[i], b.total[i]) << i;
        for (u32 i = 0; i < kHistogramBins; ++i) ASSERT_EQ(a.latency[i], b.latency[i]) << i;
      }
    }
    ASSERT_GT(one.total(Total::kPacketsDelivered), 0u);
  }
}

/// Engines look which items have something to do, but for a while not if nearly all have. Cycle by cycle they look
/// every time: an item that is worked on for nothing must be as it was. Loads are low, so that some rest among many
/// that work.
TEST_P(Identity, OfCyclesOneByOne) {
  for (double load : {0.02, 0.05, 0.1, 0.2})
    for (const char* pattern : {"uniform", "neighbour"}) {
      RawConfig config{{"router.kind", GetParam()}, {"traffic.pattern", word(pattern)}, {"traffic.load", load}};
      if (GetParam() == "sconnect") config["topology.host_ports"] = integer(2);  // one may rest while the other works
      const Experiment e = experiment(config);
      Network whole(e), pieces(e);
      for (u32 epoch = 0; epoch < trials(5); ++epoch) {
        whole.step(160);
        for (u32 cycle = 0; cycle < 160; ++cycle) pieces.step(1);
        ASSERT_EQ(whole.engine->state_hash(0), pieces.engine->state_hash(0)) << pattern << " at " << load;
      }
    }
}

TEST_P(Identity, OfReplicaBatching) {
  std::vector<Experiment> replicas;
  for (int seed = 1; seed <= 5; ++seed)
    replicas.push_back(
        experiment({{"router.kind", GetParam()}, {"run.seed", integer(seed)}, {"traffic.load", 0.1 * seed}}));
  const auto plan = make_plan(replicas.front());
  const auto together = plan->make_engine(replicas, {"cpu", 2, false, 1});
  const std::vector<u32> all{0, 1, 2, 3, 4}, some{1, 4};
  together->advance(300, all);
  together->advance(300, some);
  for (u32 r = 0; r < 5; ++r) {
    Network alone(replicas[r]);
    alone.step(300);
    if (r == 1 || r == 4) alone.step(300);
    EXPECT_EQ(together->state_hash(r), alone.engine->state_hash(0)) << r;
  }
}

/// A state survives a trip through a file's bytes and goes on identically.
TEST_P(Identity, OfSavedStates) {
  const Experiment e = experiment({{"router.kind", GetParam()}, {"traffic.load", 0.3}});
  Network whole(e), first(e), second(e);
  whole.step(500);
  first.step(200);
  second.engine->set_state(0, first.engine->state(0));
  second.engine->set_counters(0, first.engine->counters(0));
  second.engine->set_now(first.engine->now());
  second.step(300);
  EXPECT_EQ(whole.engine->state_hash(0), second.engine->state_hash(0));
  EXPECT_EQ(whole.total(Total::kLatencySum), second.total(Total::kLatencySum));
}

TEST_P(Identity, IsNotTrivial) {
  const Experiment a = experiment({{"router.kind", GetParam()}, {"traffic.load", 0.3}});
  const Experiment b = experiment({{"router.kind", GetParam()}, {"traffic.load", 0.3}, {"run.seed", integer(2)}});
  Network x(a), y(b);
  x.step(100);
  y.step(100);
  EXPECT_NE(x.engine->state_hash(0), y.engine->state_hash(0));
  const u64 before = x.engine->state_hash(0);
  x.step(10);  // one cycle may be idle
  EXPECT_NE(x.engine->state_hash(0), before);
}

/// The same comparison with a GPU; skipped, with the reason, where none answers.
TEST_P(Identity, OfGpuAndCpu) {
  if (const std::string why = cuda_unavailable(); !why.empty()) GTEST_SKIP() << "needs a GPU: " << why;
  for (const Experiment& e : variations(GetParam())) {
    Network cpu(e), gpu(e, {"cuda", 1, false, 1});
    for (int epoch = 0; epoch < 4; ++epoch) {
      cpu.step(150);
      gpu.step(150);
      ASSERT_EQ(cpu.engine->state_hash(0), gpu.engine->state_hash(0)) << e.structure_key();
    }
  }
}

std::vector<std::string> kinds() {
  std::vector<std::string> list;
  for (const ModelRecord& model : models()) list.emplace_back(model.kind);
  return list;
}

INSTANTIATE_TEST_SUITE_P(Models, Identity, ::testing::ValuesIn(kinds()));

}  // namespace
}  // namespace flitlab::engines_identity_test
