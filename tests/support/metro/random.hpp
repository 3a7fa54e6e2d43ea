#pragma once
/// Random configurations of small METRO networks: any valid parameters, and faults of all kinds.
#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include "host/routers/metro/plan.hpp"
#include "kernels/common/error.hpp"
#include "tests/support/bgl/random.hpp"
#include "tests/support/build.hpp"
#include "tests/support/metro/naive.hpp"
#include "tests/support/temporary.hpp"

namespace flitlab::testing {

/// Writes a network of four endpoints and two stages in which all wires differ. Returns the file's name.
inline std::string uneven_network(Draw& draw) {
  std::ostringstream text;
  const auto wire = [&](const std::string& from, const std::string& to) {
    text << "wire," << from << "," << to << "," << draw.below(5) << "\n";
  };
  for (u32 r = 0; r < 2; ++r) text << "router,a" << r << ",4,2,2\n";
  for (u32 r = 0; r < 4; ++r) text << "router,b" << r << ",2,2,1\n";
  const auto end_name = [](const char* name, u32 number, u32 port) {
    return name + std::to_string(number) + "." + std::to_string(port);
  };
  for (u32 e = 0; e < 4; ++e)
    for (u32 l = 0; l < 2; ++l) wire(end_name("e", e, l), end_name("a", l, e));
  for (u32 r = 0; r < 2; ++r)
    for (u32 q = 0; q < 4; ++q) wire(end_name("a", r, q / 2) + "." + std::to_string(q % 2), end_name("b", q, r));
  for (u32 r = 0; r < 4; ++r)
    for (u32 q = 0; q < 2; ++q) wire(end_name("b", r, q) + ".0", end_name("e", r / 2 * 2 + q, r % 2));
  const std::string path = temporary("_network.csv");
  std::ofstream(path) << text.str();
  return path;
}

/// Returns a network with any valid parameters.
inline RawConfig random_metro(u64 seed) {
  Draw draw(seed);
  RawConfig c = Settings("router.kind=metro run.seed=", static_cast<std::int64_t>(seed));
  switch (draw.below(8)) {
    case 0: set(c, "topology.radix=[2,2] topology.dilation=[2,1]"); break;
    case 1: set(c, "topology.radix=[2,2,4] topology.dilation=[2,2,1]"); break;
    case 2: set(c, "topology.radix=[4,2] topology.dilation=[1,2]"); break;
    case 3: set(c, "topology.radix=[8] topology.dilation=[1]"); break;
    case 4: set(c, "topology.radix=[2,2,2] topology.dilation=[4,2,1] topology.links=4"); break;
    case 5: set(c, "topology.kind=fat_tree topology.arity=2 topology.ports=4 topology.levels=3"); break;
    case 6:
      c["topology.kind"] = word("file");
      c["topology.file"] = uneven_network(draw);
      break;
    default: break;  // 4 x 4 endpoints
  }
  if (!c.contains("topology.file")) c["topology.wiring"] = word(draw.coin() ? "random" : "regular");
  c["topology.wire_delay"] = draw.one_of<std::int64_t>({0, 0, 1, 2, 3});
  c["topology.entry_delay"] = draw.one_of<std::int64_t>({0, 0, 1, 2});
  c["router.width"] = draw.one_of<std::int64_t>({3, 4, 4, 5, 8, 8, 9, 16});
  c["router.cascade"] = draw.one_of<std::int64_t>({1, 1, 2, 2, 3, 4});
  c["router.header_words"] = draw.one_of<std::int64_t>({0, 0, 0, 1, 2, 3});
  c["router.pipeline_stages"] = draw.one_of<std::int64_t>({1, 1, 2, 3});
  c["router.random_inputs"] = draw.between(1, 5);
  c["router.fast_reclaim"] = draw.below(3) != 0;
  if (c["router.fast_reclaim"] == Value{true} && draw.coin()) c["router.detailed_stages"] = IntList{0};
  if (draw.below(4) == 0) c["router.shared_random"] = false;
  if (draw.below(4) == 0) c["router.in_use_check"] = false;
  c["endpoint.checksum"] = draw.one_of({word("none"), word("crc8"), word("crc16"), word("crc32")});
  c["endpoint.retry"] = word(draw.coin() ? "immediate" : "backoff");
  if (c["endpoint.retry"] == word("backoff")) {
    c["endpoint.backoff_cycles"] = draw.one_of<std::int64_t>({1, 8, 20});
    c["endpoint.backoff_doublings"] = draw.between(0, 4);
  }
  c["endpoint.closed_by"] = word(draw.coin() ? "source" : "destination");
  if (draw.below(4) == 0) c["endpoint.most_attempts"] = draw.between(1, 4);
  c["traffic.load"] = draw.one_of({0.05, 0.2, 0.4, 0.8});
  const std::int64_t channel = std::get<std::int64_t>(c["router.width"]) * std::get<std::int64_t>(c["router.cascade"]);
  const std::int64_t least = (4 + channel - 1) / channel + (8 + channel - 1) / channel + (32 + channel - 1) / channel;
  const Lengths lengths{{least + draw.below(10), 1.0}, {least + draw.below(30), 2.0}};
  c["traffic.packet_flits"] = lengths;
  switch (draw.below(4)) {
    case 0:
      c["traffic.mode"] = word("request_reply");
      c["traffic.window"] = integer(1);
      c["traffic.reply_delay"] = draw.one_of<std::int64_t>({0, 1, 7});
      c["traffic.reply_flits"] = Lengths{{least + draw.below(10), 1.0}, {least + draw.below(30), 2.0}};
      break;
    case 1: c["endpoint.stalls"] = true; break;
    default: break;
  }
  return c;
}

/// Returns a random network with headers whose bits straddle words, and with think times.
inline RawConfig random_straddling_metro(u64 seed) {
  RawConfig c = random_metro(seed);
  Draw draw(seed + 5000);
  for (const char* other : {"kind", "arity", "ports", "levels", "file", "links"})
    c.erase(std::string("topology.") + other);
  struct Shape {
    std::int64_t width;
    IntList radix, dilation;
  };
  const Shape shape = draw.one_of<Shape>({{2, {2, 4, 2}, {2, 1, 1}},  // the second direction has bits in two words
                                          {2, {2, 4, 4, 2}, {2, 1, 1, 1}},
                                          {3, {4, 4, 4}, {2, 2, 1}},
                                          {3, {4, 8, 2}, {2, 1, 2}},
                                          {3, {2, 8, 4}, {4, 1, 2}}});
  c["topology.radix"] = shape.radix;
  c["topology.dilation"] = shape.dilation;
  c["topology.wiring"] = word(draw.coin() ? "random" : "regular");
  if (shape.dilation[0] == 4) c["topology.links"] = integer(4);
  c["router.width"] = shape.width;
  c["router.header_words"] = integer(0);
  c["router.header_straddles"] = draw.below(4) != 0;
  const std::int64_t channel = shape.width * std::get<std::int64_t>(c["router.cascade"]);
  const std::int64_t least = (6 + channel - 1) / channel + (8 + channel - 1) / channel + (32 + channel - 1) / channel;
  const Lengths lengths{{least, 1.0}, {least + draw.below(20), 1.0}};
  c["traffic.packet_flits"] = lengths;
  if (c.contains("traffic.reply_flits")) c["traffic.reply_flits"] = lengths;
  if (!c.contains("traffic.mode")) c["endpoint.stalls"] = true;
  if (draw.below(4) != 0) c["endpoint.think_cycles"] = draw.one_of<std::int64_t>({0, 0, 1, 30});
  return c;
}

/// Returns faults of all kinds during a run of `cycles` cycles.
inline std::vector<NaiveFault> random_faults(const RawConfig& config, Draw& draw, u32 cycles) {
  const Network net(experiment(config));
  const auto& plan = dynamic_cast<const MetroPlan&>(*net.plan);
  const MetroNetwork& n = plan.network();
  const auto some_port = [&](NaiveFault& f) {
    f.endpoint = draw.below(5) == 0;
    f.item = draw.below(f.endpoint ? n.terminals : n.routers());
    if (f.endpoint) {
      f.port = draw.below(n.links);
    } else {
      const metro::RouterSetup& setup = n.setup[f.item];
      f.port = draw.below(setup.forward + setup.backward);
    }
  };
  std::vector<NaiveFault> faults;
  const auto later = [&](NaiveFault f, const char* what) {
    f.what = what;
    f.cycle += draw.below(cycles / 2);
    faults.push_back(f);
  };
  for (u32 i = 0, count = 2 + draw.below(6); i < count; ++i) {
    NaiveFault f{draw.below(cycles * 3 / 4), "", false, 0, kNone, kNone, 0, 0};
    if (plan.table().slices > 1 && draw.coin()) f.slice = draw.below(plan.table().slices);
    switch (draw.below(6)) {
      case 5:
        f.what = "misallocate";
        f.item = draw.below(n.routers());
        f.part = draw.one_of({0.125, 0.5});
        break;
      case 0:
        f.what = "dead";
        f.item = draw.below(n.routers());
        later(f, "repair");
        break;
      case 1:
        f.what = "dead";
        some_port(f);
        later(f, "repair");
        break;
      case 2:
        f.what = draw.coin() ? "stuck0" : "stuck1";
        some_port(f);
        f.bit = draw.below(plan.table().width + 3);
        if (draw.coin()) later(f, "repair");
        break;
      case 3:
        f.what = "noise";
        some_port(f);
        f.part = draw.one_of({0.015625, 0.0625, 0.25});
        break;
      default:
        f.what = "off";
        some_port(f);
        later(f, "on");
        break;
    }
    faults.push_back(f);
  }
  std::stable_sort(faults.begin(), faults.end(), [](const auto& a, const auto& b) { return a.cycle < b.cycle; });
  return faults;
}

/// Returns the lines of a fault file.
inline std::string written(const std::vector<NaiveFault>& faults, const MetroNetwork& n) {
  std::ostringstream text;
  for (const NaiveFault& f : faults) {
    text << f.cycle << "," << f.what << "," << (f.endpoint ? "e" + std::to_string(f.item) : n.names[f.item]);
    if (f.slice != kNone) text << ":" << f.slice;
    if (f.port != kNone) {
      const bool is_backward = !f.endpoint && f.port >= n.setup[f.item].forward;
      const u32 dilation = is_backward ? 1u << n.setup[f.item].log_dilation : 1;
      const u32 port = is_backward ? f.port - n.setup[f.item].forward : f.port;
      if (is_backward)
        text << "." << port / dilation << "." << port % dilation;
      else
        text << "." << port;
    }
    if (f.what.starts_with("stuck")) text << "," << f.bit;
    if (f.what == "noise" || f.what == "misallocate") text << "," << f.part;
    text << "\n";
  }
  return text.str();
}

/// Random faults that leave every endpoint connected, and the text of their fault file.
struct AllowedFaults {
  std::vector<NaiveFault> list;
  std::string text;
};
inline AllowedFaults allowed_faults(const RawConfig& config, u32 seed, u32 cycles) {
  Draw draw(seed);
  AllowedFaults faults{random_faults(config, draw, cycles), ""};
  const Network whole(experiment(config));
  for (;; faults.list.pop_back()) {
    faults.text = written(faults.list, dynamic_cast<const MetroPlan&>(*whole.plan).network());
    const TextFile file(faults.text);
    RawConfig broken = config;
    broken["faults.file"] = file.path;
    try {
      Network(experiment(broken));
      return faults;
    } catch (const ConfigError&) {  // rejected: these faults would disconnect an endpoint
    }
  }
}

}  // namespace flitlab::testing
