#pragma once
/// Random configurations of small T3Es: any parameters that fit together, a few nodes, short buffers.
#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "tests/support/build.hpp"
#include "tests/support/draw.hpp"
#include "tests/support/t3e/naive_special.hpp"

namespace flitlab::testing::t3e_random {

inline std::int64_t longest(const Lengths& lengths) {
  std::int64_t most = 0;
  for (const auto& [flits, weight] : lengths) most = std::max(most, std::int64_t{flits});
  return most;
}

inline Lengths random_lengths(Draw& draw) {
  Lengths all;
  for (std::int64_t n = 1; n <= 10; ++n) all.emplace_back(n, 1.0);
  return draw.one_of<Lengths>({{{1, 1.0}}, {{2, 1.0}}, {{10, 1.0}}, {{2, 1.0}, {10, 1.0}}, all, all});
}

inline void random_traffic(RawConfig& c, Draw& draw) {
  c["traffic.packet_flits"] = random_lengths(draw);
  c["traffic.self"] = draw.coin();
  c["traffic.pattern"] = word(draw.one_of({"uniform", "uniform", "hot_spot", "random_permutation"}));
  if (c["traffic.pattern"] == word("hot_spot")) c["traffic.hot_fraction"] = 0.5;
  switch (draw.below(5)) {
    case 0:
      c["traffic.mode"] = word("batch");
      c["traffic.batch_packets"] = draw.between(5, 60);
      break;
    case 1:
    case 2:
      c["traffic.mode"] = word("request_reply");
      c["traffic.reply_flits"] = random_lengths(draw);
      c["traffic.window"] = draw.one_of<std::int64_t>({1, 2, 4, 12});
      c["traffic.reply_delay"] = draw.one_of<std::int64_t>({0, 1, 5, 30});
      c["traffic.reply_queue"] = draw.one_of<std::int64_t>({1, 2, 8});
      break;
    default: c["traffic.mode"] = word("open"); break;
  }
  c["traffic.start"] = draw.one_of<std::int64_t>({0, 0, 0, 17});
  if (c["traffic.mode"] == word("open")) {
    c["traffic.injection"] = word(draw.one_of({"bernoulli", "bernoulli", "periodic", "on_off"}));
    if (c["traffic.injection"] == word("on_off")) c["traffic.burst_load"] = 1.0;
  }
  if (c["traffic.mode"] != word("batch")) c["traffic.load"] = draw.one_of({0.005, 0.02, 0.1, 0.3, 0.9});
}

inline void random_router(RawConfig& c, Draw& draw) {
  const bool closed = c["traffic.mode"] == word("request_reply");
  const std::int64_t most = std::max(longest(std::get<Lengths>(c["traffic.packet_flits"])),
                                     closed ? longest(std::get<Lengths>(c["traffic.reply_flits"])) : 0);
  const std::int64_t straight = draw.between(1, 5), turn = straight + draw.between(1, 5);
  c["router.straight_delay"] = straight;
  c["router.turn_delay"] = std::max<std::int64_t>(turn, 2);
  c["router.source_delay"] = straight + draw.between(2, 9);
  c["router.destination_delay"] = std::max(straight, turn - straight) + draw.between(1, 8);
  c["router.credit_delay"] = draw.one_of<std::int64_t>({2, 3, 4, 11});
  c["router.deterministic_buffer_flits"] = draw.one_of<std::int64_t>({1, 2, 3, 5, 8, 12, 12, 20});
  c["router.adaptive_buffer_flits"] = most + draw.one_of<std::int64_t>({0, 1, 5, 12});
  c["router.adaptive_vcs"] = draw.one_of<std::int64_t>({0, 1, 1, 2, 4});
  c["router.adaptive_choice"] = word(draw.coin() ? "highest" : "any");
  c["router.short_circuit"] = draw.below(4) != 0;
}

/// A configuration, the texts of the files that it names (by parameter), and the actions of software.
struct RandomT3e {
  RawConfig config;
  std::map<std::string, std::string> files;
  std::vector<t3e_naive::Command> commands;  // in the order of their cycles
};

/// Replaces the last full plane by a block of boards. Returns the number of nodes.
inline u32 random_planes(RawConfig& c, Draw& draw) {
  const IntList& shape = std::get<IntList>(c["topology.shape"]);
  const u32 plane = static_cast<u32>(shape[0] * shape[1]), nodes = plane * static_cast<u32>(shape[2]);
  if (shape[2] == 1 || draw.below(3)) return nodes;
  const std::int64_t x = 2 * draw.between(1, shape[0] / 2), y = 2 * draw.between(1, shape[1] / 2);
  set(c, "topology.partial_planes=", IntList{shape[2] - 1, 0, y, 0, x}, " faults.unconnected=warn");
  return nodes - plane + static_cast<u32>(x * y);
}

/// Returns whether R_NET_LUT has an entry for each PE, so that PEs may have any numbers.
inline bool by_number(RawConfig& c) {
  return c["routing.lut_mode"] == word("0") || c["routing.lut_mode"] == word("auto");
}

/// Draws logical PE numbers in any order.
inline void random_numbers(RandomT3e& t, Draw& draw) {
  const IntList shape = std::get<IntList>(t.config["topology.shape"]);
  std::vector<u32> numbers;
  for (u32 n = 0; n < shape[0] * shape[1] * shape[2]; ++n) numbers.insert(numbers.begin() + draw.below(n + 1), n);
  std::string& text = t.files["topology.logical_file"];
  for (u32 n = 0, z = 0; z < shape[2]; ++z)
    for (u32 y = 0; y < shape[1]; ++y)
      for (u32 x = 0; x < shape[0]; ++x)
        text += std::to_string(x) + "," + std::to_string(y) + "," + std::to_string(z) + "," +
                std::to_string(numbers[n++]) + "\n";
}

/// Draws links and nodes that are broken or that break during the run.
inline void random_faults(RawConfig& c, Draw& draw, u32 nodes) {
  const IntList shape = std::get<IntList>(c["topology.shape"]);
  IntList links;
  for (u32 n = draw.below(4); n > 0; --n) {  // +X links exist at every node
    const std::int64_t dim = shape[1] > 2 && !c.contains("topology.partial_planes") ? draw.between(0, 1) : 0;
    links.insert(links.end(), {draw.between(0, nodes - 1), dim + 3 * draw.between(0, 1)});
  }
  c["faults.links"] = links;
  if (draw.below(3) == 0) {  // terminals that the traffic names must be in service
    c["faults.nodes"] = IntList{draw.between(0, nodes - 1)};
    c["traffic.pattern"] = word("uniform");
    c.erase("traffic.hot_fraction");
  }
  c["faults.unconnected"] = word("warn");
  if (draw.coin() || c["routing.vc_select"] == word("full")) return;
  c["faults.cycle"] = draw.between(1, 150);
  c["faults.reroute_delay"] = draw.one_of<std::int64_t>({0, 1, 40, 100});
  if (c.contains("faults.nodes") && by_number(c) && draw.coin()) {  // a spare node takes over
    const std::int64_t dead = std::get<IntList>(c["faults.nodes"])[0];
    c["topology.spares"] = IntList{(dead + draw.between(1, nodes - 1)) % nodes};
  }
}

/// Draws I/O devices, and a traffic matrix in which devices and PEs send to each other.
inline void random_devices(RandomT3e& t, Draw& draw, u32 nodes) {
  IntList at;
  for (u32 n = 0; n < nodes; ++n)
    if (draw.below(3) == 0) at.push_back(n);
  if (at.empty()) at.push_back(0);
  t.config["io.nodes"] = at;
  t.config["io.interval"] = draw.one_of<std::int64_t>({1, 2, 2, 3, 7});
  t.config["traffic.pattern"] = word("matrix");
  t.config.erase("traffic.hot_fraction");
  std::string& text = t.files["traffic.matrix_file"];
  const u32 terminals = nodes + static_cast<u32>(at.size());
  for (u32 from = 0; from < terminals; ++from) {
    text += std::to_string(from) + "," + std::to_string((from + 1) % terminals) + ",1\n";
    for (u32 to = 0; to < terminals; ++to)
      if (from != to && to != (from + 1) % terminals && draw.below(to < nodes ? 6 : 2) == 0)
        text += std::to_string(from) + "," + std::to_string(to) + ",1\n";
  }
}

/// Draws applications on neighbouring PEs. Each has the logical number of its first PE and, counted from there, of its
/// last PE.
inline void random_partitions(RawConfig& c, Draw& draw, u32 nodes) {
  IntList list;
  for (std::int64_t first = draw.below(2); first < nodes && list.size() < 6;) {
    const std::int64_t last = draw.between(first, nodes - 1);
    list.insert(list.end(), {first, last - first});
    first = last + 1 + draw.below(2);
  }
  c["topology.partitions"] = list;
}

/// Draws barrier units that PEs use all the time.
inline void random_barriers(RawConfig& c, Draw& draw, u32 nodes) {
  const auto delay = [&](const char* path, std::int64_t published) {
    return c.contains(path) ? std::get<std::int64_t>(c[path]) : published;
  };
  const std::int64_t straight = delay("router.straight_delay", 3);
  c["barrier.units"] = draw.one_of<std::int64_t>({1, 3, 32});
  c["barrier.operation"] = word(draw.coin() ? "barrier" : "eureka");
  c["barrier.work"] = draw.one_of<std::int64_t>({0, 0, 5, 40});
  c["barrier.root"] = draw.between(0, nodes - 1);
  c["barrier.router_delay"] =
      straight + draw.between(0, std::min<std::int64_t>(4, delay("router.destination_delay", 10) - 1));
}

/// Draws actions of software that writes and reads registers while packets are in transit.
inline void random_commands(RandomT3e& t, Draw& draw, u32 nodes) {
  using t3e_naive::Command;
  using t3e_naive::Register;
  t.config["special.enabled"] = true;
  t.config["special.router_delay"] = draw.one_of<std::int64_t>({1, 3, 3, 8});
  t.config["router.orient_inverts"] = draw.below(4) != 0;
  const bool breaks = t.config.contains("faults.cycle"), turns = draw.below(4) == 0;
  const u32 gap = draw.one_of({1u, 4u, 40u});
  for (Cycle at = draw.below(gap); at < 200; at += draw.below(gap + 1)) {
    Command c{.at = at,
              .kind = draw.one_of({Command::kPut, Command::kGet, Command::kGet, Command::kWrite}),
              .node = draw.below(nodes),
              .deltas = {},
              .name = Register::kScratch,
              .index = 0,
              .value = 0};
    for (int& delta : c.deltas)
      if (draw.below(3) == 0) delta = static_cast<int>(draw.between(-2, 2));
    c.name =
        draw.one_of({Register::kChan, Register::kVcsel, Register::kLut, Register::kOverride, Register::kScratch,
                     Register::kScratch, Register::kReturn, Register::kReturn, Register::kLogical, Register::kOrient});
    const bool writes = c.kind != Command::kGet;
    if (c.kind == Command::kWrite && (breaks || draw.below(8))) continue;
    switch (c.name) {
      case Register::kChan:
        c.index = draw.below(8);
        c.value = draw.one_of<u64>({0, 0, 1, 2, 3});
        if (c.index < 6) c.value += 4 * draw.below(4);
        break;
      case Register::kVcsel:
        c.index = draw.below(6);
        c.value = draw.below(256);
        if (draw.below(4) == 0) c.value |= u64{1} << 32;
        break;
      case Register::kLut:
        c.index = draw.below(nodes);
        c.value = draw.below(1 << 19) | 3 << 15;  // no initial hop
        break;
      case Register::kOverride: c.value = u64{draw.below(4)} << 32 | 3 << 15; break;
      case Register::kScratch: c.value = draw.below(1000); break;
      case Register::kReturn:
        for (u32 i = 0; i < 6; ++i)
          if (draw.below(3) == 0) c.value |= u64{draw.one_of({1u, 2u, 255u, 254u})} << 8 * i;
        break;
      case Register::kLogical: c.value = draw.below(nodes); break;
      case Register::kOrient: c.value = draw.below(8); break;
    }
    const bool harmless = c.name == Register::kScratch || c.name == Register::kReturn;
    if (writes && !harmless && draw.below(3)) continue;
    if (c.kind == Command::kWrite && (c.name == Register::kOrient || c.name == Register::kLogical)) continue;
    if (writes && c.name == Register::kOrient && !turns) continue;
    t.commands.push_back(c);
  }
}

inline std::string name_of(const t3e_naive::Command& c) {
  constexpr const char* kNames[] = {"R_CHAN", "R_VCSEL",     "R_NET_LUT", "R_LUT_OVERRIDE",
                                    "R_SW",   "R_SGET_RTRN", "R_LWHO",    "R_ORIENT"};
  const std::string name = kNames[static_cast<u32>(c.name)];
  return c.name <= t3e_naive::Register::kLut ? name + std::to_string(c.index) : name;
}

/// Draws register contents of software: SELECT bits that lose packets, channels that must not be used, and tags to any
/// node.
inline void random_registers(RandomT3e& t, Draw& draw, u32 nodes) {
  const IntList shape = std::get<IntList>(t.config["topology.shape"]);
  std::string& text = t.files["registers.file"];
  const auto line = [&](const std::string& name, u64 value) {
    text += draw.below(8) ? std::to_string(draw.below(nodes)) : "*";
    text += "," + name + "," + std::to_string(value) + "\n";
  };
  for (u32 n = draw.below(12); n > 0; --n) {
    const std::string direction = std::to_string(draw.below(6));
    switch (draw.below(5)) {
      case 0: line("R_VCSEL" + direction, draw.below(256)); break;
      case 1: line("R_CHAN" + direction, draw.one_of<u64>({1, 4, 8, 12})); break;
      case 2: line("R_CHAN" + direction, draw.one_of<u64>({4, 8, 12})); break;
      default: {
        const u64 x = draw.below(static_cast<u32>(shape[0])), y = draw.below(static_cast<u32>(shape[1])),
                  z = draw.below(static_cast<u32>(shape[2])), signs = draw.below(8), hops = draw.below(8);
        const u64 tag = x | (signs & 1) << 3 | y << 4 | (signs >> 1 & 1) << 9 | z << 10 | (signs >> 2) << 14 |
                        (hops & 1 ? draw.below(4) : 3) << 15 | (hops >> 1 & 1) << 17 | (hops >> 2) << 18;
        if (draw.below(8))
          line("R_NET_LUT" + std::to_string(draw.below(nodes)), tag);
        else
          line("R_LUT_OVERRIDE", tag | u64{3} << 32);
      }
    }
  }
}

/// Returns a random machine. One in five has the published router.
inline RandomT3e random_t3e(u64 seed) {
  Draw draw(seed);
  RandomT3e machine;
  RawConfig& c = machine.config;
  c = Settings("router.kind=t3e run.seed=", static_cast<std::int64_t>(seed));
  c["topology.shape"] = draw.one_of<IntList>({{2, 2, 1},
                                              {2, 4, 1},
                                              {2, 2, 2},
                                              {4, 2, 2},
                                              {4, 4, 1},
                                              {8, 2, 1},
                                              {2, 8, 1},
                                              {2, 2, 5},
                                              {4, 4, 2},
                                              {2, 4, 3},
                                              {8, 4, 1}});
  random_traffic(c, draw);
  if (draw.below(5)) random_router(c, draw);
  c["routing.adaptive"] = draw.below(4) != 0;
  c["routing.ordered_requests"] = draw.below(4) == 0;
  c["routing.half_way"] = word(draw.coin() ? "balanced" : "plus");
  c["routing.lut_mode"] = word(draw.one_of({"auto", "0", "1", "2"}));
  c["routing.vc_select"] = word(draw.one_of({"time_of_crossing", "optimised", "full"}));
  const u32 nodes = random_planes(c, draw);
  if (draw.below(3) == 0) random_faults(c, draw, nodes);
  if (draw.below(5) == 0 && by_number(c) && !c.contains("topology.partial_planes")) random_numbers(machine, draw);
  if (draw.below(16) == 0 && !c.contains("faults.cycle") && c["routing.vc_select"] != word("full"))
    c["boot.state"] = word("cold");
  if (draw.below(3) == 0) random_registers(machine, draw, nodes);
  if (draw.below(4) == 0 && !c.contains("faults.nodes")) random_devices(machine, draw, nodes);
  if (draw.below(4) == 0) c["faults.error_rate"] = draw.one_of({0.001, 0.03, 0.3, 1.0});
  if (draw.below(4) == 0 && c["traffic.pattern"] == word("uniform") && !c.contains("faults.nodes"))
    random_partitions(c, draw, nodes);
  if (draw.below(3) == 0 && !c.contains("faults.nodes")) random_barriers(c, draw, nodes);
  c["topology.plus_ports"] = IntList{draw.between(0, 1), draw.between(0, 1), draw.between(0, 1)};
  c["topology.wiring_z"] = word(draw.coin() ? "through" : "alternating");
  if (draw.below(3) == 0) random_commands(machine, draw, nodes);
  return machine;
}

inline std::string described(const RandomT3e& machine) {
  std::string text;
  for (const auto& [path, value] : machine.config) text += path + " = " + to_text(value) + "\n";
  for (const auto& c : machine.commands) {
    text += "cycle " + std::to_string(c.at) + " node " + std::to_string(c.node) + " ";
    text += c.kind == t3e_naive::Command::kGet ? "gets " : c.kind == t3e_naive::Command::kPut ? "puts " : "writes ";
    text += name_of(c) + " " + std::to_string(c.value) + " deltas";
    for (int delta : c.deltas) text += " " + std::to_string(delta);
    text += "\n";
  }
  for (const auto& [path, lines] : machine.files) text += path + ":\n" + lines;
  return text;
}

}  // namespace flitlab::testing::t3e_random
