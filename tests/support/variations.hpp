#pragma once
/// Experiments of every model, for tests that run over all of them.
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/bgl/variations.hpp"
#include "tests/support/build.hpp"
#include "tests/support/temporary.hpp"

namespace flitlab::testing {

/// Returns experiments that together reach all code of a model. Every model has an experiment with its defaults, and
/// further ones if they are listed here.
inline std::vector<Experiment> variations(std::string_view kind) {
  // The recorded hashes of these models were made when terminals did not send to themselves; a variation with
  // traffic.self follows.
  const bool excludes = kind == "t3e" || kind == "bgl" || kind == "bless";
  const auto experiment = [=](RawConfig changes) {
    if (excludes) changes.emplace("traffic.self", false);
    return testing::experiment(changes);
  };
  std::vector<Experiment> list{experiment({{"router.kind", std::string(kind)}, {"traffic.load", 0.35}})};
  list.push_back(experiment({{"router.kind", std::string(kind)},
                             {"traffic.mode", word("batch")},
                             {"traffic.pattern", word("all_to_all")},
                             {"traffic.rounds", integer(5)}}));
  const std::string trace = temporary(".csv");
  std::ofstream file(trace);
  for (u32 n = 0; n < 2000; ++n)
    file << n / 5 << ',' << n * 7 % 16 << ',' << (n * 7 + 1 + n % 15) % 16 << ',' << 1 + n % 5 << '\n';
  file.close();
  const auto add = [&](RawConfig changes) {
    changes["router.kind"] = std::string(kind);
    list.push_back(experiment(changes));
  };
  if (kind == "bgl") {
    add_bgl_variations(add, trace);
    return list;
  }
  if (kind == "metro") {
    const Lengths mixed{{8, 1.0}, {20, 1.0}, {33, 1.0}};
    const std::string faults = temporary(".faults.csv");
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
    add({{"traffic.mode", word("request_reply")},
         {"traffic.load", 0.4},
         {"traffic.packet_flits", mixed},
         {"traffic.reply_flits", Lengths{{2, 1.0}, {3, 1.0}}}});
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
    add({{"topology.radix", IntList{2, 4, 4, 2}},  // header bits straddle words; processors have a think time
         {"topology.dilation", IntList{2, 1, 1, 1}},
         {"router.width", integer(2)},
         {"router.cascade", integer(2)},
         {"endpoint.stalls", true},
         {"endpoint.think_cycles", integer(3)},
         {"traffic.load", 0.5},
         {"traffic.packet_flits", mixed}});
    add({{"topology.radix", radix},
         {"topology.dilation", dilation},
         {"router.width", integer(3)},
         {"router.fast_reclaim", false},
         {"router.pipeline_stages", integer(2)},
         {"endpoint.checksum", word("crc8")},
         {"endpoint.think_cycles", integer(0)},
         {"faults.file", faults},
         {"traffic.mode", word("request_reply")},
         {"traffic.load", 0.4},
         {"traffic.packet_flits", mixed},
         {"traffic.reply_flits", mixed}});
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
         {"topology.channel_delay", integer(29)},
         {"topology.phase_seed", integer(7)},
         {"router.buffers", integer(12)},
         {"router.reserve", IntList{1, 0, 0, 0}},
         {"router.host_buffers", integer(6)},
         {"traffic.load", 0.3}});
    std::ofstream messages(trace);
    for (u32 n = 0; n < 2000; ++n)
      messages << n / 5 << ',' << n * 7 % 16 << ',' << (n * 7 + 1 + n % 15) % 16 << ',' << (n % 3 ? 1 : 4) << '\n';
    messages.close();
    add({{"traffic.mode", word("trace")},
         {"traffic.trace_file", trace},
         {"channel.error_rate", 1e-3},
         {"topology.phases", word("equal")},
         {"topology.channel_delay", integer(12)}});
    // Hosts with a queue for each priority, in a trace and in bursts, and hosts with a single queue.
    add({{"traffic.mode", word("trace")},
         {"traffic.trace_file", trace},
         {"host.priorities", IntList{0, 2, 1, 1}},
         {"router.reserve", IntList{4, 1, 1, 1}},
         {"router.buffers", integer(63)}});
    add({{"topology.host_ports", integer(2)},
         {"traffic.load", 0.3},
         {"traffic.injection", word("on_off")},
         {"host.priorities", IntList{1, 1, 1, 1}},
         {"host.second_priorities", IntList{0, 0, 0, 1}},
         {"host.refuses", IntList{0}}});
    add({{"traffic.load", 0.5},
         {"host.queues", word("single")},
         {"host.priorities", priorities},
         {"router.host_buffers", integer(20)}});
    // Closed loops: one host port, two ports of dual nodes, and one queue for several priorities.
    add({{"traffic.mode", word("request_reply")},
         {"traffic.load", 0.6},
         {"traffic.reply_flits", mixed},
         {"traffic.reply_delay", integer(5)},
         {"channel.error_rate", 1e-3}});
    add({{"topology.shape", IntList{3, 3, 2}},
         {"topology.node", word("dual")},
         {"topology.host_ports", integer(2)},
         {"traffic.mode", word("request_reply")},
         {"traffic.load", 1.0},
         {"traffic.window", integer(6)},
         {"traffic.reply_queue", integer(2)},
         {"traffic.reply_delay", integer(0)},
         {"host.priorities", IntList{2, 1, 0, 0}}});
    add({{"topology.host_ports", integer(2)},
         {"traffic.mode", word("request_reply")},
         {"traffic.load", 0.4},
         {"host.queues", word("single")},
         {"host.priorities", IntList{1, 1, 0, 0}},
         {"host.reply_priority", integer(1)}});
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
    add({{"traffic.load", 0.3}, {"traffic.self", true}});
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
    add({{"traffic.load", 0.3}, {"faults.error_rate", 0.02}});
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
    add({{"traffic.load", 0.3},  // R_ORIENT has not been written, so packets are misrouted
         {"topology.shape", IntList{4, 4, 3}},
         {"topology.wiring_z", word("alternating")},
         {"topology.plus_ports", IntList{1, 0, 1}},
         {"special.enabled", true},
         {"boot.state", word("cold")}});
    add({{"traffic.load", 0.1},  // eurekas reach a router before older completions have left it
         {"topology.shape", IntList{8, 2, 1}},
         {"topology.partitions", IntList{0, 1, 2, 13}},
         {"barrier.units", integer(32)},
         {"barrier.operation", word("eureka")}});
    add({{"traffic.load", 0.3}, {"traffic.self", true}});
    return list;
  }
  for (const char* allocator : {"separable_output_first", "islip", "wavefront"})
    for (const char* arbiter : {"matrix", "oldest_first"})
      list.push_back(experiment({{"router.vc_allocator", word(allocator)},
                                 {"router.switch_allocator", word(allocator)},
                                 {"router.allocator_iterations", integer(2)},
                                 {"router.arbiter", word(arbiter)},
                                 {"traffic.load", 0.5}}));
  // Tables whose sizes are known at compile time (the default above), other sizes, and three dimensions.
  list.push_back(experiment({{"router.vcs", integer(3)}, {"traffic.load", 0.35}}));
  list.push_back(experiment({{"topology.shape", IntList{3, 4, 2}}, {"traffic.load", 0.35}}));
  list.push_back(
      experiment({{"router.vcs", integer(16)}, {"router.routing_delay", integer(3)}, {"traffic.load", 0.5}}));
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

}  // namespace flitlab::testing
