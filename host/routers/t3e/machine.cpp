#include "host/routers/t3e/machine.hpp"

#include <algorithm>

#include "host/routers/t3e/registers.hpp"
#include "host/routers/t3e/wiring.hpp"
#include "kernels/common/error.hpp"
#include "kernels/routers/t3e/params.hpp"
#include "kernels/traffic/params.hpp"

namespace flitlab::t3e {
namespace {

std::string name_of(const Shape& shape, u32 node) {
  return std::to_string(node) + " (" + std::to_string(shape.at(node, 0)) + "," + std::to_string(shape.at(node, 1)) +
         "," + std::to_string(shape.at(node, 2)) + ")";
}

/// Returns the first four of a list of node pairs, as text.
std::string shown_pairs(const Shape& shape, const std::vector<std::pair<u32, u32>>& pairs) {
  std::string text;
  for (std::size_t i = 0; i < pairs.size() && i < 4; ++i)
    text += (i ? ", " : "") + name_of(shape, pairs[i].first) + " to " + name_of(shape, pairs[i].second);
  return text + (pairs.size() > 4 ? ", and others" : "");
}

u32 mode_of(const Experiment& e, u32 nodes) {
  const std::string& mode = e.str(flitlab::t3e::param::routing.lut_mode);
  if (mode == "0" && nodes > kLutRegisters)
    throw ConfigError("routing.lut_mode = \"0\" has one entry for each PE, " + std::to_string(kLutRegisters) +
                      " in all, and the machine has " + std::to_string(nodes) + " PEs. Use \"1\", \"2\" or \"auto\".");
  if (mode == "auto") return nodes > kLutRegisters;
  return static_cast<u32>(mode[0] - '0');
}

}  // namespace

void check_initial_hop(const Shape& shape, const std::vector<Registers>& registers, u32 node, const std::string& name,
                       Tag tag) {
  const u32 hop = tag_initial(tag);
  if (hop == kNoHop || tag == 0) return;  // 0: the entry has not been loaded
  const u32 next = shape.neighbour(node, hop);
  if (next == kNone || !(registers[next].vcsel[hop] & kDateline)) return;
  static constexpr const char* kNames[] = {"+X", "+Y", "+Z"};
  throw ConfigError(name + " of node " + name_of(shape, node) + ": its initial hop, " + kNames[hop] +
                    ", is to the dateline of that direction, node " + name_of(shape, next) +
                    ", which can deadlock. Use another path, or move the dateline.");
}

std::vector<u32> stopping_nodes(const Shape& shape, const Registers* registers, u32 node, u32 direction) {
  std::vector<u32> nodes;
  for (u32 n : shape.line(node, dimension_of(direction)))
    if (stopped_entries(shape, registers, n, direction)) nodes.push_back(n);
  return nodes;
}

u32 stopped_entries(const Shape& shape, const Registers* registers, u32 node, u32 direction) {
  const u32 dim = dimension_of(direction);
  const std::size_t ring = shape.line(node, dim).size();
  u32 entries = 0;
  bool passed = false;
  u32 at = shape.neighbour(node, direction);
  for (u32 hops = 1; at != kNone && 2 * hops < ring; ++hops, at = shape.neighbour(at, direction)) {
    if (passed) entries |= 1u << shape.at(at, dim) % 8;
    passed = passed || (registers[at].vcsel[direction] & kDateline);
  }
  return entries & registers[node].vcsel[direction] & 0xFF;
}

Machine::Machine(const Experiment& e, bool checked)
    : shape(e.ints(flitlab::t3e::param::topology.shape), e.ints(flitlab::t3e::param::topology.partial_planes)),
      wired(wiring_of(e, shape)),
      orient_inverts(e.flag(flitlab::t3e::param::router.orient_inverts)),
      checked_(checked) {
  read_faults(e);
  read_io(e);
  const bool at_once = break_cycle == 0;
  const std::vector<u8> no_faults(shape.nodes(), 0);
  software.resize(shape.nodes());
  tables = make(e, at_once ? broken : no_faults, at_once ? broken_nodes : std::vector<u32>{}, false, assignment);
  if (breaks() && !at_once) {
    Assignment later;
    rerouted = make(e, broken, broken_nodes, true, later);
  }

  const bool cold = e.is({flitlab::t3e::param::boot.state, "cold"});
  const bool breaks_later = breaks() && !at_once;
  if (cold && breaks_later)
    throw ConfigError("boot.state = \"cold\" with faults.cycle = " + std::to_string(break_cycle) +
                      ": the new tables would overwrite the numbers that software has assigned. Use faults.cycle = "
                      "0.");
  if (e.is({flitlab::t3e::param::routing.vc_select, "full"}) && breaks_later)
    throw ConfigError("routing.vc_select = \"full\" with faults.cycle = " + std::to_string(break_cycle) +
                      ": no register of the machine holds full tables, so they cannot be changed in a run. Use "
                      "\"optimised\", or faults.cycle = 0.");
  if (breaks_later && e.is({flitlab::param::traffic.mode, "request_reply"}))
    warnings.push_back(
        "faults.cycle: a transaction that loses a packet keeps its place in traffic.window, so PEs that lose many "
        "packets send less and less.");
  if (breaks_later && !e.file(flitlab::t3e::param::registers.file).empty())
    warnings.push_back(
        "faults.cycle: the new tables replace R_NET_LUT, R_VCSEL and R_LWHO, including values from registers.file.");
  const bool sends = !e.has(flitlab::param::traffic.load) || e.f64(flitlab::param::traffic.load) > 0;
  if (cold && sends && (!e.has(flitlab::param::traffic.start) || e.u32_of(flitlab::param::traffic.start) == 0))
    warnings.push_back(
        "boot.state = \"cold\": packets are created from cycle 0, when the routing tables are still empty. Set "
        "traffic.start to a cycle after the boot.");
  const bool any = e.is({flitlab::t3e::param::router.adaptive_choice, "any"});
  const bool refuse = e.is({flitlab::t3e::param::faults.unconnected, "refuse"});
  if (!shape.full() || (breaks() && at_once))
    check_connected(check_paths(shape, tables, at_once ? broken : no_faults, any, assignment.in_service), refuse);
  if (!rerouted.registers.empty()) {
    std::vector<bool> in_service = assignment.in_service;
    for (u32 node : broken_nodes) in_service[node] = false;
    check_connected(check_paths(shape, rerouted, broken, any, in_service), refuse);
  }
  if (cold) {
    for (u32 n = 0; n < shape.nodes(); ++n) {
      tables.registers[n] = {};
      tables.registers[n].turned = wired[n];  // R_ORIENT is 0 after a cold start
    }
    std::fill(tables.lut.begin(), tables.lut.end(), Tag{});
  }
  has_plan_tables = !cold && e.file(flitlab::t3e::param::registers.file).empty();
  if (e.file(flitlab::t3e::param::registers.file).empty()) return;
  load_file(e);
  if (cold) return;
  const PathReport report = check_paths(shape, tables, at_once ? broken : no_faults, any, assignment.in_service);
  if (!report.stopped.empty())
    warnings.push_back("registers.file: packets of " + std::to_string(report.stopped.size()) +
                       " pairs of nodes reach a dateline on virtual channel set 1 and are lost there: " +
                       shown_pairs(shape, report.stopped) + ". Clear SELECT bits of R_VCSEL.");
  if (!report.separated.empty())
    warnings.push_back("registers.file: packets of " + std::to_string(report.separated.size()) +
                       " pairs of nodes do not arrive: " + shown_pairs(shape, report.separated) + ".");
  if (!report.circle.empty())
    warnings.push_back(
        "registers.file: the tables can deadlock, because these virtual channels depend on one "
        "another in a cycle: " +
        report.circle + ".");
}

bool Machine::breaks() const {
  return std::any_of(broken.begin(), broken.end(), [](u8 set) { return set != 0; });
}

u64 Machine::next_change(u64 now) const {
  if (rerouted.registers.empty() || now > reroute_cycle) return kNever;
  return now <= break_cycle ? break_cycle : reroute_cycle;
}

void Machine::read_faults(const Experiment& e) {
  const std::vector<u32> links = e.ints(flitlab::t3e::param::faults.links);
  broken_nodes = e.ints(flitlab::t3e::param::faults.nodes);
  break_cycle = e.u32_of(flitlab::t3e::param::faults.cycle);
  reroute_cycle = break_cycle + e.u32_of(flitlab::t3e::param::faults.reroute_delay);
  broken.assign(shape.nodes(), 0);
  const auto break_link = [&](u32 node, u32 direction) {
    broken[node] |= static_cast<u8>(1u << direction);
    broken[shape.neighbour(node, direction)] |= static_cast<u8>(1u << opposite(direction));
  };
  if (links.size() % 2)
    throw ConfigError("faults.links has " + std::to_string(links.size()) +
                      " numbers: give two for each link, a node and a direction.");
  for (std::size_t i = 0; i < links.size(); i += 2) {
    const std::string name = "faults.links: link " + std::to_string(i / 2 + 1) + " ";
    if (links[i] >= shape.nodes() || links[i + 1] >= kDirections)
      throw ConfigError(name + "does not exist: nodes are numbered 0 to " + std::to_string(shape.nodes() - 1) +
                        ", directions 0 to 5.");
    if (shape.neighbour(links[i], links[i + 1]) == kNone) throw ConfigError(name + "is not connected. Remove it.");
    break_link(links[i], links[i + 1]);
  }
  for (u32 node : broken_nodes) {
    if (node >= shape.nodes())
      throw ConfigError("faults.nodes contains " + std::to_string(node) + ": nodes are numbered 0 to " +
                        std::to_string(shape.nodes() - 1) + ".");
    for (u32 direction = 0; direction < kDirections; ++direction)
      if (shape.neighbour(node, direction) != kNone) break_link(node, direction);
  }
}

void Machine::read_io(const Experiment& e) {
  io_nodes = e.ints(flitlab::t3e::param::io.nodes);
  for (std::size_t i = 0; i < io_nodes.size(); ++i) {
    const std::string name = "io.nodes contains " + std::to_string(io_nodes[i]);
    if (io_nodes[i] >= shape.nodes())
      throw ConfigError(name + ": nodes are numbered 0 to " + std::to_string(shape.nodes() - 1) + ".");
    if (break_cycle == 0 && std::count(broken_nodes.begin(), broken_nodes.end(), io_nodes[i]))
      throw ConfigError(name + ", which is broken. Remove it.");
    if (std::find(io_nodes.begin(), io_nodes.begin() + static_cast<std::ptrdiff_t>(i), io_nodes[i]) !=
        io_nodes.begin() + static_cast<std::ptrdiff_t>(i))
      throw ConfigError(name + " twice: a router has one I/O port.");
  }
}

Tables Machine::make(const Experiment& e, const std::vector<u8>& links, const std::vector<u32>& dead, bool later,
                     Assignment& pe_assignment) const {
  const std::string& select = e.str(flitlab::t3e::param::routing.vc_select);
  TableOptions options;
  options.adaptive = e.flag(flitlab::t3e::param::routing.adaptive);
  options.balanced = e.is({flitlab::t3e::param::routing.half_way, "balanced"});
  options.optimised = select != "time_of_crossing";
  options.full_select = select == "full";
  if (options.optimised) options.seed = e.u32_of(flitlab::t3e::param::routing.vc_seed);
  options.lut_mode = mode_of(e, shape.nodes());
  options.logical = number_pes(shape, options.lut_mode, e.ints(flitlab::t3e::param::topology.logical_format),
                               e.file(flitlab::t3e::param::topology.logical_file));
  options.broken = links;
  pe_assignment =
      assign_pes(shape, options.lut_mode, options.logical, dead, e.ints(flitlab::t3e::param::topology.spares),
                 later ? std::vector<u32>{} : e.ints(flitlab::t3e::param::topology.partitions));
  Tables made = make_tables(shape, options);
  const bool no_faults = std::all_of(links.begin(), links.end(), [](u8 set) { return set == 0; });
  if (shape.full() && no_faults) return made;
  const bool any = e.is({flitlab::t3e::param::router.adaptive_choice, "any"});
  route_around(shape, made, options, any, pe_assignment.in_service, true);
  if (check_paths(shape, made, links, any, pe_assignment.in_service).circle.empty()) return made;
  made = make_tables(shape, options);  // without initial and final hops, direction-order routing alone excludes cycles
  route_around(shape, made, options, any, pe_assignment.in_service, false);
  return made;
}

void Machine::check_connected(const PathReport& report, bool refuse) {
  if (!checked_) return;
  if (!report.circle.empty())
    throw ConfigError("the routing tables of this machine can deadlock: " + report.circle +
                      ". This is a defect of flitlab; please report it.");
  // A circulating packet may also be stopped at a dateline, so both lists count.
  std::vector<std::pair<u32, u32>> apart = report.separated;
  apart.insert(apart.end(), report.stopped.begin(), report.stopped.end());
  if (apart.empty()) return;
  const std::string text = std::to_string(apart.size()) + " of " + std::to_string(report.pairs) +
                           " pairs of PEs cannot be connected: " + shown_pairs(shape, apart) + ".";
  if (refuse)
    throw ConfigError("faults: " + text +
                      " Break fewer links, or set faults.unconnected = \"warn\" to lose their "
                      "packets.");
  warnings.push_back("faults: " + text + " Their packets will be lost.");
}

void Machine::load_file(const Experiment& e) {
  const u32 nodes = shape.nodes();
  std::vector<Tag> lut(std::size_t{nodes} * kLutRegisters);
  for (u32 n = 0; n < nodes; ++n)
    std::copy_n(tables.lut.begin() + std::size_t{n} * tables.entries, tables.entries,
                lut.begin() + std::size_t{n} * kLutRegisters);
  tables.entries = kLutRegisters;
  tables.lut = std::move(lut);
  load_registers(e.file(flitlab::t3e::param::registers.file), nodes, [&](u32 node, const std::string& name, u64 value) {
    Tag* entries = tables.lut.data() + std::size_t{node} * kLutRegisters;
    NodeRegisters all{tables.registers[node], software[node], {entries, entries + kLutRegisters}, wired[node]};
    const u32 number = register_number(name);
    check_value(number, value);
    write_register(all, number, value);
    tables.registers[node] = all.routing;
    software[node] = all.software;
    std::copy(all.lut.begin(), all.lut.end(), entries);
  });
  for (u32 n = 0; n < nodes; ++n) {
    check_initial_hop(shape, tables.registers, n, "R_LUT_OVERRIDE", tables.registers[n].override_tag);
    for (u32 entry = 0; entry < kLutRegisters; ++entry)
      check_initial_hop(shape, tables.registers, n, "R_NET_LUT" + std::to_string(entry),
                        tables.lut[std::size_t{n} * kLutRegisters + entry]);
  }
}

}  // namespace flitlab::t3e
