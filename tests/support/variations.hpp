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

/// Returns experiments with all traffic but programs; variations() adds these.
inline std::vector<Experiment> variations_without_programs(std::string_view kind) {
  // The recorded hashes of these models were made when terminals did not send to themselves; a variation with
  // traffic.self follows.
  const bool excludes = kind == "t3e" || kind == "bgl" || kind == "bless";
  const auto experiment = [=](RawConfig changes) {
    if (excludes) changes.emplace("traffic.self", false);
    return testing::experiment(changes);
  };
  std::vector<Experiment> list{experiment(Settings("router.kind=", std::string(kind), " traffic.load=0.35"))};
  list.push_back(experiment(
      Settings("router.kind=", std::string(kind), " traffic.mode=batch traffic.pattern=all_to_all traffic.rounds=5")));
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
    add(Settings("topology.radix=", radix, " topology.dilation=", dilation,
                 " traffic.load=0.3 endpoint.stalls=true traffic.packet_flits=", mixed));
    add(Settings("topology.radix=", radix, " topology.dilation=", dilation, " traffic.load=0.3 faults.file=", faults,
                 " traffic.packet_flits=", mixed, " router.cascade=2 router.fast_reclaim=false"));
    add(Settings("traffic.mode=request_reply traffic.load=0.4 traffic.packet_flits=", mixed,
                 " traffic.reply_flits=[[2,1.0],[3,1.0]]"));
    add(Settings("topology.kind=fat_tree traffic.mode=request_reply traffic.load=0.4 traffic.packet_flits=", mixed,
                 " traffic.reply_flits=", mixed,
                 " router.header_words=2 router.pipeline_stages=2 topology.wire_delay=2 endpoint.closed_by=source"));
    add(Settings("traffic.load=0.5 traffic.packet_flits=", mixed,
                 " router.cascade=4 router.shared_random=false endpoint.retry=immediate endpoint.checksum=none"));
    add(Settings("traffic.load=0.5 traffic.packet_flits=", mixed,
                 " faults.dead_routers=0.1 faults.dead_links=0.1 faults.cycle=100 faults.masked=true "
                 "endpoint.most_attempts=3 router.detailed_stages=[1]"));
    std::ofstream long_trace(trace);
    for (u32 n = 0; n < 600; ++n) long_trace << n << ',' << n * 7 % 16 << ',' << (n * 7 + 1 + n % 15) % 16 << ",20\n";
    long_trace.close();
    add(Settings("traffic.mode=trace traffic.trace_file=", trace));
    add({{"topology.radix", IntList{2, 4, 4, 2}},  // header bits straddle words; processors have a think time
         {"topology.dilation", IntList{2, 1, 1, 1}},
         {"router.width", integer(2)},
         {"router.cascade", integer(2)},
         {"endpoint.stalls", true},
         {"endpoint.think_cycles", integer(3)},
         {"traffic.load", 0.5},
         {"traffic.packet_flits", mixed}});
    add(Settings("topology.radix=", radix, " topology.dilation=", dilation,
                 " router.width=3 router.fast_reclaim=false router.pipeline_stages=2 endpoint.checksum=crc8 "
                 "endpoint.think_cycles=0 faults.file=",
                 faults, " traffic.mode=request_reply traffic.load=0.4 traffic.packet_flits=", mixed,
                 " traffic.reply_flits=", mixed));
    return list;
  }
  if (kind == "sconnect") {
    const Lengths mixed{{1, 2.0}, {4, 1.0}};
    const IntList priorities{4, 2, 1, 1};
    add(
        Settings("traffic.load=0.5 channel.error_rate=2e-3 topology.channel_delay=6 router.buffers=63 "
                 "router.reserve=[4,1,1,1] traffic.packet_flits=",
                 mixed, " host.priorities=", priorities));
    add(
        Settings("topology.shape=[3,3,2,2] topology.node=dual topology.host_ports=2 traffic.load=0.4 "
                 "channel.error_rate=5e-4 traffic.packet_flits=",
                 mixed, " host.priorities=[4,2,0,0] host.refuses=[1]"));
    add(
        Settings("topology.kind=random topology.nodes=40 routing.tables=tree traffic.load=0.2 channel.error_rate=1e-4 "
                 "clock.emulated=true clock.spread=200.0 clock.tuning=50.0"));
    add(Settings(
        "topology.kind=tree topology.arity=6 topology.inner=switches topology.channel_delay=29 topology.phase_seed=7 "
        "router.buffers=12 router.reserve=[1,0,0,0] router.host_buffers=6 traffic.load=0.3"));
    std::ofstream messages(trace);
    for (u32 n = 0; n < 2000; ++n)
      messages << n / 5 << ',' << n * 7 % 16 << ',' << (n * 7 + 1 + n % 15) % 16 << ',' << (n % 3 ? 1 : 4) << '\n';
    messages.close();
    add(Settings("traffic.mode=trace traffic.trace_file=", trace,
                 " channel.error_rate=1e-3 topology.phases=equal topology.channel_delay=12"));
    // Hosts with a queue for each priority, in a trace and in bursts, and hosts with a single queue.
    add(Settings("traffic.mode=trace traffic.trace_file=", trace,
                 " host.priorities=[0,2,1,1] router.reserve=[4,1,1,1] router.buffers=63"));
    add(
        Settings("topology.host_ports=2 traffic.load=0.3 traffic.injection=on_off host.priorities=[1,1,1,1] "
                 "host.second_priorities=[0,0,0,1] host.refuses=[0]"));
    add(Settings("traffic.load=0.5 host.queues=single host.priorities=", priorities, " router.host_buffers=20"));
    // Closed loops: one host port, two ports of dual nodes, and one queue for several priorities.
    add(Settings("traffic.mode=request_reply traffic.load=0.6 traffic.reply_flits=", mixed,
                 " traffic.reply_delay=5 channel.error_rate=1e-3"));
    add(Settings(
        "topology.shape=[3,3,2] topology.node=dual topology.host_ports=2 traffic.mode=request_reply traffic.load=1.0 "
        "traffic.window=6 traffic.reply_queue=2 traffic.reply_delay=0 host.priorities=[2,1,0,0]"));
    add(
        Settings("topology.host_ports=2 traffic.mode=request_reply traffic.load=0.4 host.queues=single "
                 "host.priorities=[1,1,0,0] host.reply_priority=1"));
    return list;
  }
  if (kind == "adaptive") {
    for (const char* assignment : {"greedy", "fixed", "optimal"})
      add(Settings("router.assignment=", assignment,
                   " topology.concentration=3 topology.channel_delay=2 router.spare_buffers=1 router.ejection=2 "
                   "router.priorities=[4,2,0,1] traffic.load=0.8"));
    std::ofstream messages(trace);
    for (u32 n = 0; n < 2000; ++n) messages << n / 5 << ',' << n * 7 % 16 << ',' << (n * 7 + 1 + n % 15) % 16 << ",1\n";
    messages.close();
    add(Settings("traffic.mode=trace traffic.trace_file=", trace));
    return list;
  }
  if (kind == "switch") {
    const Lengths mixed{{1, 1.0}, {5, 1.0}, {12, 1.0}};
    add(Settings("traffic.load=1.0 traffic.packet_flits=[[1,1.0]] topology.ports=64"));
    add(Settings("traffic.load=0.9 traffic.packet_flits=", mixed,
                 " router.organisation=buffer_pool router.output_buffers=3"));
    add(Settings(
        "traffic.load=0.8 traffic.packet_length=geometric traffic.packet_flits=[[6,1.0]] router.input_release=tail"));
    add(Settings("traffic.mode=trace traffic.trace_file=", trace, " topology.ports=16"));
    return list;
  }
  if (kind == "bless") {
    const Lengths mixed{{1, 1.0}, {4, 1.0}, {9, 1.0}};
    add(Settings("topology.kind=mesh traffic.load=0.8 traffic.packet_flits=", mixed));
    add(
        Settings("topology.shape=[3,2,4] topology.channel_delay=3 router.delay=1 router.ejection_width=2 "
                 "router.reassembly_packets=2 traffic.load=0.6 traffic.packet_flits=",
                 mixed));
    add(Settings("topology.kind=ring topology.shape=[9] traffic.injection=on_off"));
    add(Settings("traffic.mode=trace traffic.trace_file=", trace));
    add(Settings("traffic.load=0.3 traffic.self=true"));
    return list;
  }
  if (kind == "t3e") {
    add(Settings("traffic.load=0.9 router.adaptive_vcs=3 router.adaptive_choice=any"));
    add(Settings("traffic.load=0.9 routing.adaptive=false router.short_circuit=false"));
    add(Settings("traffic.load=0.7 routing.vc_select=full topology.shape=[8,4,3]"));
    add(
        Settings("traffic.mode=request_reply traffic.load=0.5 routing.ordered_requests=true "
                 "traffic.packet_flits=[[2,0.5],[10,0.5]]"));
    add(Settings("traffic.load=0.3 barrier.units=5 barrier.work=20"));
    add(Settings("traffic.load=0.3 barrier.units=2 barrier.operation=eureka"));
    add(Settings("traffic.load=0.3 faults.error_rate=0.02"));
    add(
        Settings("traffic.load=0.3 faults.links=[3,0,17,1] faults.nodes=[9] faults.cycle=150 faults.reroute_delay=100 "
                 "faults.error_rate=0.01"));
    add(
        Settings("traffic.load=0.3 topology.shape=[2,4,3] topology.partial_planes=[2,0,2,0,2] "
                 "topology.partitions=[0,9,12,7] barrier.units=2"));
    add(Settings("traffic.mode=trace traffic.trace_file=", trace, " io.nodes=[0,9]"));
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
    add(Settings("traffic.load=0.3 traffic.self=true"));
    return list;
  }
  for (const char* allocator : {"separable_output_first", "islip", "wavefront"})
    for (const char* arbiter : {"matrix", "oldest_first"})
      list.push_back(
          experiment(Settings("router.vc_allocator=", allocator, " router.switch_allocator=", allocator,
                              " router.allocator_iterations=2 router.arbiter=", arbiter, " traffic.load=0.5")));
  // Tables whose sizes are known at compile time (the default above), other sizes, and three dimensions.
  list.push_back(experiment(Settings("router.vcs=3 traffic.load=0.35")));
  list.push_back(experiment(Settings("topology.shape=[3,4,2] traffic.load=0.35")));
  list.push_back(experiment(Settings("router.vcs=16 router.routing_delay=3 traffic.load=0.5")));
  for (const char* routing : {"valiant", "minimal_adaptive"})
    list.push_back(experiment(Settings(
        "routing.algorithm=", routing,
        " router.speculative=true traffic.load=0.4 traffic.injection=on_off traffic.packet_flits=[[1,0.5],[5,0.5]]")));
  for (const char* routing : {"o1turn", "romm"})
    list.push_back(
        experiment(Settings("topology.kind=mesh routing.algorithm=", routing,
                            " router.flow_control=virtual_cut_through topology.concentration=5 traffic.load=0.2")));
  for (int classes : {1, 2})
    list.push_back(
        experiment(Settings("traffic.mode=request_reply traffic.load=0.4 traffic.packet_flits=[[1,0.5],[5,0.5]] "
                            "traffic.reply_queue=2 traffic.message_classes=",
                            classes)));
  list.push_back(experiment(Settings("traffic.mode=trace traffic.trace_file=", trace)));
  // Networks without a grid: every way to choose a route from tables, and routers without terminals.
  for (const char* network :
       {"kind=dragonfly routing.algorithm=par routing.congestion=class", "kind=fat_tree routing.algorithm=adaptive",
        "kind=fat_tree topology.parents=[2,4]", "kind=hyperx topology.copies=2 routing.algorithm=dal",
        "kind=jellyfish routing.algorithm=minimal_adaptive", "kind=megafly routing.algorithm=valiant"})
    list.push_back(experiment(Settings("topology.", network, " router.vcs=6 traffic.load=0.3")));
  for (const char* allocator : {"separable_input_first", "separable_output_first", "islip", "wavefront"})
    for (const char* arbiter : {"most_hops_first", "random", "fixed_priority"})
      list.push_back(
          experiment(Settings("router.vc_allocator=", allocator, " router.switch_allocator=", allocator,
                              " router.allocator_iterations=2 router.arbiter=", arbiter, " traffic.load=0.5")));
  for (const char* option : {"wait_for_tail_credit", "hold_switch_for_packet"})
    for (const char* more : {"", " router.switch_allocator=islip topology.channel_width=0.5",
                             " router.switch_allocator=wavefront router.speculative=true",
                             " traffic.mode=request_reply routing.algorithm=minimal_adaptive router.vcs=6"})
      list.push_back(experiment(Settings("router.", option, "=true traffic.load=0.4", more)));
  // Several classes of packets, with virtual channels of their own and without.
  for (const char* classes :
       {"2 traffic.class_pattern=uniform,transpose traffic.class_flits=[5,1]",
        "8 traffic.class_vcs=shared traffic.class_priority=[0,1,2,3,0,1,2,3] router.arbiter=highest_priority_first",
        "3 traffic.class_share=[1,2,3] traffic.injection=on_off topology.kind=mesh router.vcs=3"})
    list.push_back(experiment(Settings("traffic.load=0.45 traffic.classes=", classes)));
  list.push_back(
      experiment(Settings("traffic.load=0.4 traffic.mode=request_reply traffic.class_priority=[0,1] router.vcs=4 ",
                          "router.arbiter=highest_priority_first")));
  // Speedup, with every allocator, and with options that hold flits or credits back.
  for (const char* allocator : {"separable_input_first", "separable_output_first", "islip", "wavefront"})
    for (const char* speedup :
         {"input_speedup=2", "output_speedup=2", "internal_speedup=2 router.output_queue_flits=3",
          "input_speedup=4 router.output_speedup=3 router.internal_speedup=3 topology.channel_width=0.75"})
      list.push_back(experiment(Settings("traffic.load=0.5 router.switch_allocator=", allocator, " router.", speedup)));
  for (const char* more : {"router.arbiter=matrix", "router.arbiter=random router.speculative=true",
                           "router.hold_switch_for_packet=true router.output_speedup=1",
                           "traffic.mode=request_reply router.vcs=4", "topology.kind=dragonfly router.vcs=6"})
    list.push_back(experiment(Settings("router.input_speedup=2 router.output_speedup=2 router.internal_speedup=2 ",
                                       "traffic.load=0.4 ", more)));
  list.push_back(experiment(Settings("traffic.load=0.45 topology.kind=mesh traffic.classes=3 traffic.class_vcs=ranges ",
                                     "traffic.class_first_vc=[0,1,3] traffic.class_last_vc=[2,3,3]")));
  for (const char* more : {"", " router.arbiter=matrix router.speculative=true", " router.arbiter=oldest_first",
                           " router.input_speedup=2 topology.channel_width=0.75"})
    list.push_back(
        experiment(Settings("traffic.load=0.5 router.switch_allocator=separable_input_first_by_output", more)));
  // Rounds that are not the same number in every cycle.
  for (const char* more :
       {"1.7 router.switch_allocator=islip", "1.25 router.input_speedup=2 router.switch_allocator=wavefront",
        "2.5 router.arbiter=random router.hold_switch_for_packet=true topology.channel_width=0.75"})
    list.push_back(experiment(Settings("traffic.load=0.5 router.internal_speedup=", more)));
  // Stages of several cycles in rounds, and pointers over the virtual channels of all ports.
  for (const char* more :
       {"router.internal_speedup=1.5 router.switch_allocation_delay=2 router.vc_allocation_delay=3",
        "router.internal_speedup=2 router.routing_delay=2 router.switch_traversal_delay=0 router.output_speedup=2",
        "router.injection_credit_delay=5 router.buffer_flits=2", "router.vc_pointer_spans_ports=true",
        "router.vc_pointer_spans_ports=true router.vc_allocator=islip",
        "router.vc_pointer_spans_ports=true router.vc_allocator=separable_output_first "
        "routing.algorithm=minimal_adaptive"})
    list.push_back(experiment(Settings("traffic.load=0.5 router.vcs=4 ", more)));
  // Arbiters and credits of a published RTL.
  for (const char* more : {"vc_needs_credit=true", "vc_needs_credit=true router.early_vc_credits=true",
                           "wait_for_tail_credit=true router.early_vc_credits=true router.speculative=true"})
    list.push_back(experiment(Settings("traffic.load=0.5 router.buffer_flits=3 router.", more)));
  for (const char* arbiter : {"round_robin router.vc_arbiter_by_port=true", "round_robin_by_two",
                              "round_robin_by_two router.vc_arbiter_by_port=true"})
    for (const char* allocator : {"separable_input_first", "separable_output_first", "islip"})
      list.push_back(experiment(Settings("traffic.load=0.5 router.vc_allocator=", allocator,
                                         " router.switch_allocator=", allocator, " router.arbiter=", arbiter)));
  list.push_back(experiment(Settings("topology.kind=dragonfly routing.ejection_vcs=class router.vcs=4")));
  // Selection of one of several ports, and classes on rings that packets draw.
  for (const char* more : {"topology.kind=mesh routing.selection=first routing.stay_on_escape=true",
                           "routing.selection=first_or_escape router.vc_allocator=islip",
                           "routing.adaptive_vcs=1 routing.stay_on_escape=true router.speculative=true"})
    list.push_back(experiment(Settings("traffic.load=0.5 routing.algorithm=minimal_adaptive ", more)));
  list.push_back(experiment(Settings("traffic.load=0.5 routing.vc_assignment=two_datelines")));
  list.push_back(experiment(
      Settings("traffic.load=0.5 topology.kind=fat_tree routing.algorithm=adaptive ", "routing.selection=two_random")));
  return list;
}

/// Returns an experiment with a trace between 16 terminals whose packets may overtake packets that wait. Every packet
/// of three needs up to three of the packets before it (not in METRO, where terminals cannot identify arrivals). One
/// terminal has more packets that wait than its queue has room for. With 2 classes, packets have a class in turn.
inline Experiment trace_by_readiness(std::string_view kind, u32 classes = 1) {
  struct Packet {
    u32 source, destination;
  };
  std::vector<Packet> packets;
  const std::string path = temporary(classes > 1 ? ".classes.csv" : ".ready.csv");
  std::ofstream file(path);
  const u32 most = kind == "adaptive" || kind == "sconnect" ? 1 : 5;
  const auto add = [&](u32 cycle, u32 source, u32 destination) {
    packets.push_back({source, destination});
    file << cycle << ',' << source << ',' << destination << ',' << (kind == "metro" ? 20 : 1 + packets.size() % most);
    if (classes > 1) file << ",c" << packets.size() / 2 % classes;
  };
  for (u32 n = 0; n < 1200; ++n) {
    const u32 source = n * 7 % 16;
    add(n / 3, source, (source + 1 + n % 15) % 16);
    const u32 last = static_cast<u32>(packets.size()) - 1;
    u32 found = 0;
    for (u32 back = n % 3 || kind == "metro" ? last + 1 : 1; back <= last && found < 3 && back < 80; ++back)
      if (packets[last - back].destination == source) file << ',' << last - back, ++found;
    file << '\n';
  }
  add(400, 3, 5);
  const auto first = packets.size() - 1;
  file << '\n';
  for (u32 n = 0; n < 90; ++n) {
    add(401, 5, n % 5);
    file << (kind == "metro" ? "" : ',' + std::to_string(first)) << '\n';
  }
  file.close();
  return experiment(Settings(
      "router.kind=", std::string(kind), " traffic.mode=trace traffic.trace_order=ready traffic.trace_file=", path,
      kind == "switch" ? " topology.ports=16" : "", classes > 1 ? " traffic.classes=" + std::to_string(classes) : ""));
}

/// Returns experiments that together reach all code of a model. Every model has an experiment with its defaults, and
/// further ones if they are listed here.
inline std::vector<Experiment> variations(std::string_view kind) {
  std::vector<Experiment> list = variations_without_programs(kind);
  list.push_back(trace_by_readiness(kind));
  if (kind == "metro") return list;  // does not run programs
  const std::string calls = temporary(".calls.csv");
  std::ofstream file(calls);
  file << "ranks,7\n";
  for (u32 rank = 0; rank < 7; ++rank)
    file << rank << ",compute," << 10 * rank << '\n'
         << rank << ",isend," << (rank + 1) % 7 << ",1500,5,1\n"
         << rank << ",recv," << (rank + 6) % 7 << ",,5\n"
         << rank << ",allreduce,600,20\n"
         << rank << ",alltoall,700\n";
  file.close();
  const bool single = kind == "adaptive" || kind == "sconnect";  // packets have one flit
  const auto add = [&](const std::string& path) {
    list.push_back(experiment(
        Settings("router.kind=", std::string(kind), " traffic.send_overhead=3 traffic.recv_overhead=2",
                 " traffic.mode=program traffic.program_file=", path, single ? " traffic.flit_bytes=256" : "")));
  };
  add(calls);
  // Several ranks on a terminal: some share a processor, and some wait for others without a message.
  const std::string placed = temporary(".placed.csv");
  std::ofstream more(placed);
  more << "ranks,15\n";
  for (u32 rank = 0; rank < 15; ++rank) more << "place," << rank << ',' << rank / 3 << ',' << rank % 3 / 2 << '\n';
  for (u32 rank = 0; rank < 15; ++rank) {
    more << rank << ",compute," << 7 * rank << '\n';
    more << rank << ",isend," << (rank + 4) % 15 << ",900\n" << rank << ",send," << (rank + 1) % 15 << ",300\n";
    if (rank % 3) more << rank << ",after," << rank - 1 << ",1\n";
    more << rank << ",recv," << (rank + 11) % 15 << '\n' << rank << ",recv," << (rank + 14) % 15 << '\n';
    if (rank % 3 < 2) more << rank << ",notify," << rank + 1 << ",1\n";
    more << rank << ",allreduce,500\n";
  }
  more.close();
  add(placed);
  // Messages that are matched during the run. Ranks 7 and 8 are threads of ranks 0 and 1, and take two of their four
  // messages. Receives that accept one message only are posted first, so none is left without a message.
  const std::string matched = temporary(".matched.csv");
  std::ofstream last(matched);
  last << "ranks,9\nplace,7,0\nplace,8,1\nthread,7,0\nthread,8,1\n";
  for (u32 rank = 0; rank < 7; ++rank) {
    last << rank << ",irecv," << (rank + 6) % 7 << ",,any,1\n" << rank << ",irecv,any,,3,2\n";
    for (u32 i = 1; i <= 4; ++i)
      last << rank << ",isend," << (rank + i) % 7 << ',' << 400 * i << ',' << i << '\n' << rank << ",compute,40\n";
    const u32 taker = rank < 2 ? rank + 7 : rank;
    last << taker << ",recv,any,,any\n" << taker << ",recv,any,,any\n" << rank << ",wait,2\n";
  }
  last.close();
  add(matched);
  if (kind == "vc") list.push_back(trace_by_readiness(kind, 2));
  return list;
}

}  // namespace flitlab::testing
