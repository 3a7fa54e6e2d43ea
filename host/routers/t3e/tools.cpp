#include "host/routers/t3e/tools.hpp"

#include "host/config/experiment.hpp"
#include "host/config/topology_params.hpp"
#include "host/routers/t3e/machine.hpp"
#include "host/routers/t3e/registers.hpp"
#include "host/routers/t3e/vc_balance.hpp"
#include "kernels/common/error.hpp"
#include "kernels/routers/t3e/params.hpp"

namespace flitlab {
namespace {

Datum to_bits(const t3e::VcTable& table) {
  Datum::List rows;
  for (u32 s = 0; s < table.ring; ++s)
    rows.emplace_back(
        Datum::List(table.bits.begin() + s * table.entries, table.bits.begin() + (s + 1) * table.entries));
  return rows;
}

/// Returns the elements of a list. Throws ConfigError with the text `what` for a value of another type.
const Datum::List& list_in(const Datum& d, const char* what) {
  const auto* list = std::get_if<Datum::List>(&d.value);
  if (!list) throw ConfigError(what);
  return *list;
}

t3e::VcTable from_bits(const Datum& table_of, u32 half_way, bool last) {
  constexpr const char* kShape = "a table must be a list of lists: the bits of each source.";
  const Datum::List& rows = list_in(table_of, kShape);
  t3e::VcTable table = t3e::time_of_crossing(static_cast<u32>(rows.size()), false);
  table.half_way = half_way;
  table.dateline = last ? table.ring - 1 : 0;
  table.entries = rows.empty() ? 0 : static_cast<u32>(list_in(rows.front(), kShape).size());
  if (table.entries != table.ring && table.entries != 8)
    throw ConfigError("a table must have one bit per node, or 8 bits, for each source; this one has " +
                      std::to_string(table.entries) + ".");
  table.bits.clear();
  for (const Datum& row : rows) {
    const Datum::List& bits = list_in(row, kShape);
    if (bits.size() != table.entries) throw ConfigError("all sources of a table must have the same number of bits.");
    for (const Datum& bit : bits) {
      const auto* x = std::get_if<u64>(&bit.value);
      if (!x || *x > 1) throw ConfigError("a table entry is 0 or 1, not " + (x ? std::to_string(*x) : "that") + ".");
      table.bits.push_back(static_cast<u8>(*x));
    }
  }
  return table;
}

Datum pairs_to_list(const std::vector<std::pair<u32, u32>>& pairs) {
  Datum::List list;
  for (const auto& [from, to] : pairs) list.emplace_back(Datum::List{from, to});
  return list;
}

/// Returns the nodes of a machine, and the effect of the routing tables that it has after all changes during the run.
Datum machine_of(const Experiment* experiment, const Arguments&) {
  const Experiment& e = *experiment;
  const t3e::Machine machine(e, false);
  const t3e::Tables& tables = machine.rerouted.registers.empty() ? machine.tables : machine.rerouted;
  const u32 nodes = machine.shape.nodes();
  std::vector<bool> in_service = machine.assignment.in_service;
  for (u32 node : machine.broken_nodes) in_service[node] = false;
  std::vector<Datum> partition(nodes), number(nodes);
  for (std::size_t p = 0; p < machine.assignment.applications.size(); ++p)
    for (std::size_t v = 0; v < machine.assignment.applications[p].size(); ++v) {
      partition[machine.assignment.applications[p][v]] = u64{p};
      number[machine.assignment.applications[p][v]] = u64{v};
    }
  Datum::List list;
  for (u32 n = 0; n < nodes; ++n)
    list.emplace_back(Datum::Map{{"node", n},
                                 {"physical", machine.shape.address(n)},
                                 {"logical", tables.registers[n].lwho},
                                 {"partition", partition[n]},
                                 {"virtual", number[n]},
                                 {"in_service", Datum{static_cast<bool>(in_service[n])}}});
  const t3e::PathReport report = t3e::check_paths(machine.shape, tables, machine.broken,
                                                  e.is({t3e::param::router.adaptive_choice, "any"}), in_service);
  return Datum::Map{{"nodes", std::move(list)},
                    {"pairs", report.pairs},
                    {"adaptive_pairs", report.adaptive},
                    {"hopping_pairs", report.hopping},
                    {"stopped", pairs_to_list(report.stopped)},
                    {"separated", pairs_to_list(report.separated)},
                    {"circle", report.circle}};
}

/// Returns the registers of every node at cycle 0 of an experiment: a map by name, in which R_NET_LUT is a list.
Datum node_tables(const Experiment* experiment, const Arguments&) {
  const t3e::Machine machine(*experiment);
  const t3e::Tables& tables = machine.tables;
  const std::vector<std::string> names = t3e::register_names();
  Datum::List nodes;
  for (u32 n = 0; n < tables.registers.size(); ++n) {
    Datum::Map registers;
    const t3e::NodeRegisters node{tables.registers[n], {}, {0}, machine.wired[n]};
    for (u32 number = 0; number < t3e::kSgetReturn; ++number)
      registers.emplace_back(names[number], t3e::read_register(node, number));
    const auto first = tables.lut.begin() + std::size_t{n} * tables.entries;
    nodes.emplace_back(Datum::List{std::move(registers), Datum::List(first, first + tables.entries)});
  }
  return nodes;
}

/// Returns R_PWHO of every node of a machine without faults, and R_PWHO of the node's six neighbours.
Datum wiring(const Experiment* e, const Arguments&) {
  const t3e::Shape shape(e->ints(param::topology.shape), e->ints(t3e::param::topology.partial_planes));
  Datum::List nodes;
  for (u32 n = 0; n < shape.nodes(); ++n) {
    Datum::List neighbours;
    for (u32 direction = 0; direction < t3e::kDirections; ++direction) {
      const u32 next = shape.neighbour(n, direction);
      neighbours.push_back(next == kNone ? Datum{} : Datum{shape.address(next)});
    }
    nodes.emplace_back(Datum::List{shape.address(n), std::move(neighbours)});
  }
  return nodes;
}

Datum vc_balance(const Experiment*, const Arguments& a) {
  const t3e::Balance b =
      t3e::vc_balance(from_bits(a.at("table"), a.u32_of("half_way"), a.flag("last")), a.u32_of("subring"));
  return Datum::List{b.average, b.maximum};
}

Datum time_of_crossing(const Experiment*, const Arguments& a) {
  return to_bits(t3e::time_of_crossing(a.u32_of("ring"), a.flag("limited")));
}

Datum optimise_vcs(const Experiment*, const Arguments& a) {
  constexpr const char* kShape = "goals are a list of [subring size, average, maximum].";
  std::vector<t3e::Balance> goals;
  for (const Datum& goal : list_in(a.at("goals"), kShape)) {
    const Datum::List& parts = list_in(goal, kShape);
    const auto number = [&](std::size_t i) {
      const auto& value = parts.at(i).value;
      if (const auto* x = std::get_if<double>(&value)) return *x;
      if (const auto* x = std::get_if<u64>(&value)) return static_cast<double>(*x);
      throw ConfigError(kShape);
    };
    const auto* subring = parts.size() == 3 ? std::get_if<u64>(&parts[0].value) : nullptr;
    if (!subring) throw ConfigError(kShape);
    goals.push_back({static_cast<u32>(std::min<u64>(*subring, kNone)), number(1), number(2)});
  }
  return to_bits(t3e::optimise(t3e::time_of_crossing(a.u32_of("ring"), a.flag("limited")), goals, a.number("seed"),
                               a.u32_of("restarts"), a.u32_of("steps")));
}

Datum machine_vcs(const Experiment*, const Arguments& a) {
  const u32 ring = a.u32_of("ring");
  return to_bits(t3e::machine_table(ring, a.flag("limited"), a.u32_of("half_way"), a.flag("last") ? ring - 1 : 0,
                                    t3e::TableOptions{}.seed));
}

constexpr ArgumentRecord count(std::string_view name, std::string_view help) {
  return {.name = name, .type = ArgumentType::kNumber, .help = help, .max = 4294967295.0};
}

}  // namespace

std::vector<Tool> t3e_tools() {
  const ArgumentRecord ring = count("ring", "Nodes of the ring, a power of two from 4 to 256.");
  const ArgumentRecord limited{"limited", ArgumentType::kFlag, "Whether a source has at most 8 bits."};
  const ArgumentRecord half_way =
      count("half_way", "Sources whose half-way routes take this direction: 1 even, 2 odd.");
  const ArgumentRecord last{"last", ArgumentType::kFlag,
                            "Whether the dateline is the last node; otherwise it is "
                            "the first."};
  constexpr std::string_view bits =
      "a table: for each source its bits, the virtual channels on which its packets "
      "start";
  constexpr std::string_view numbers = "manual, Node and PE Numbers", balance = "paper, sections 3.2 and 4, Table 1";
  return {
      {{.name = "machine",
        .help = "Builds the machine that an experiment describes, with its faults, and checks the paths of packets "
                "between all pairs of PEs in service.",
        .returns = "a map: nodes (maps: node, physical, logical, partition, virtual, in_service), pairs, "
                   "adaptive_pairs and hopping_pairs (numbers of pairs), stopped and separated (pairs of nodes), "
                   "circle (cycle of virtual channels that can wait for one another; \"\" if the tables are free of "
                   "deadlock)",
        .cite = numbers},
       machine_of,
       true},
      {{.name = "tables",
        .help = "Returns the registers of every node at cycle 0.",
        .returns = "a list: for each node a map of its registers by name, and a list of the R_NET_LUT registers in "
                   "use",
        .cite = "manual, Node Registers"},
       node_tables,
       true},
      {{.name = "wiring",
        .help = "Returns the nodes of a machine without faults, and their neighbours.",
        .returns = "a list: for each node R_PWHO, and the six R_PWHO of its neighbours +X +Y +Z -X -Y -Z, or none "
                   "where a link is open",
        .cite = "manual, Node Shapes"},
       wiring,
       true},
      {{.name = "vc_balance",
        .help = "Returns how evenly routes use the two virtual channels of the links of a ring, if every node sends "
                "one packet to every other node of its subring.",
        .arguments = {{"table", ArgumentType::kAny, "The bits of each source, as a list of lists."},
                      half_way,
                      last,
                      count("subring", "Nodes of a subring, or of the whole ring.")},
        .returns = "average and maximum over the links of |VC0 routes - VC1 routes| / most routes on any link",
        .cite = balance},
       vc_balance},
      {{.name = "time_of_crossing",
        .help = "Returns the table with which all packets start on virtual channel 0.",
        .arguments = {ring, limited},
        .returns = bits,
        .cite = balance},
       time_of_crossing},
      {{.name = "optimise_vcs",
        .help = "Searches for a table by simulated annealing over uniform traffic in a ring and its subrings.",
        .arguments = {ring,
                      limited,
                      {"goals", ArgumentType::kAny,
                       "A list of [subring size, wanted average, wanted maximum]; subring sizes that are missing "
                       "have (0, 0)."},
                      {"seed", ArgumentType::kNumber, "Seed of the search."},
                      count("restarts", "Number of restarts after which the search ends."),
                      count("steps", "Annealing steps per restart.")},
        .returns = bits,
        .cite = balance},
       optimise_vcs},
      {{.name = "machine_vcs",
        .help = "Returns the table with which machines are loaded for the + directions.",
        .arguments = {count("ring", "Nodes of the ring: 4, 8, 16 or 32."), limited, half_way, last},
        .returns = bits,
        .cite = balance},
       machine_vcs},
  };
}

}  // namespace flitlab
