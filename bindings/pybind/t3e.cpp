/// The T3E's tables for Python.
#include "host/routers/t3e/machine.hpp"
#include "host/routers/t3e/plan.hpp"
#include "host/routers/t3e/registers.hpp"
#include "host/routers/t3e/vc_balance.hpp"
#include "host/topology/params.hpp"
#include "kernels/common/error.hpp"
#include "kernels/routers/t3e/params.hpp"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace py = pybind11;

namespace flitlab {
namespace {

using Bits = std::vector<std::vector<u32>>;

Bits to_bits(const t3e::VcTable& table) {
  Bits rows;
  for (u32 s = 0; s < table.ring; ++s)
    rows.emplace_back(table.bits.begin() + s * table.entries, table.bits.begin() + (s + 1) * table.entries);
  return rows;
}

t3e::VcTable from_bits(const Bits& rows, u32 half_way, bool last) {
  t3e::VcTable table = t3e::time_of_crossing(static_cast<u32>(rows.size()), false);
  table.half_way = half_way;
  table.dateline = last ? table.ring - 1 : 0;
  table.entries = rows.empty() ? 0 : static_cast<u32>(rows.front().size());
  if (table.entries != table.ring && table.entries != 8)
    throw ConfigError("a table has one bit per node, or 8, for each source; there are " +
                      std::to_string(table.entries) + ".");
  table.bits.clear();
  for (const auto& row : rows) {
    if (row.size() != table.entries) throw ConfigError("all sources of a table must have the same number of bits.");
    for (u32 bit : row) {
      if (bit > 1) throw ConfigError("a table entry is 0 or 1, not " + std::to_string(bit) + ".");
      table.bits.push_back(static_cast<u8>(bit));
    }
  }
  return table;
}

py::list pairs_to_list(const std::vector<std::pair<u32, u32>>& pairs) {
  py::list list;
  for (const auto& [from, to] : pairs) list.append(py::make_tuple(from, to));
  return list;
}

/// Nodes, and what their tables mean at the end of all changes.
py::dict machine_of(const Experiment& e) {
  const t3e::Machine machine(e, false);
  const t3e::Tables& tables = machine.rerouted.registers.empty() ? machine.tables : machine.rerouted;
  const u32 nodes = machine.shape.nodes();
  std::vector<bool> in_service = machine.staff.in_service;
  for (u32 node : machine.broken_nodes) in_service[node] = false;
  std::vector<py::object> partition(nodes, py::none()), number(nodes, py::none());
  for (std::size_t p = 0; p < machine.staff.applications.size(); ++p)
    for (std::size_t v = 0; v < machine.staff.applications[p].size(); ++v) {
      partition[machine.staff.applications[p][v]] = py::int_(p);
      number[machine.staff.applications[p][v]] = py::int_(v);
    }
  py::list list;
  for (u32 n = 0; n < nodes; ++n) {
    py::dict d;
    d["node"] = n;
    d["physical"] = machine.shape.address(n);
    d["logical"] = tables.registers[n].lwho;
    d["partition"] = partition[n];
    d["virtual"] = number[n];
    d["in_service"] = py::bool_(in_service[n]);
    list.append(d);
  }
  const t3e::WayReport report = t3e::check_ways(machine.shape, tables, machine.broken,
                                                e.str(t3e::param::router.adaptive_choice) == "any", in_service);
  py::dict d;
  d["nodes"] = list;
  d["pairs"] = report.pairs;
  d["adaptive_pairs"] = report.adaptive;
  d["hopping_pairs"] = report.hopping;
  d["stopped"] = pairs_to_list(report.stopped);
  d["separated"] = pairs_to_list(report.separated);
  d["circle"] = report.circle;
  return d;
}

/// What every node's registers hold at cycle 0 of an experiment: by name, and R_NET_LUT as a list.
py::list node_tables(const Experiment& e) {
  if (e.kind() != "t3e") throw ConfigError("router.kind = " + e.kind() + " is no T3E.");
  const t3e::Machine machine(e);
  const t3e::Tables& tables = machine.tables;
  const std::vector<std::string> names = t3e::register_names();
  py::list nodes;
  for (u32 n = 0; n < tables.registers.size(); ++n) {
    py::dict registers;
    const t3e::NodeRegisters node{tables.registers[n], {}, {0}};
    for (u32 number = 0; number < t3e::kSgetReturn; ++number)
      registers[names[number].c_str()] = t3e::read_register(node, number);
    const auto first = tables.lut.begin() + std::size_t{n} * tables.entries;
    nodes.append(py::make_tuple(registers, std::vector<u32>(first, first + tables.entries)));
  }
  return nodes;
}

/// R_PWHO of every node of a machine without faults, and of its six neighbours.
py::list wiring(const Experiment& e) {
  const t3e::Shape shape(e.ints(param::topology.shape), e.ints(t3e::param::topology.partial_planes));
  py::list nodes;
  for (u32 n = 0; n < shape.nodes(); ++n) {
    py::list neighbours;
    for (u32 direction = 0; direction < t3e::kDirections; ++direction) {
      const u32 next = shape.neighbour(n, direction);
      neighbours.append(next == kNone ? py::object(py::none()) : py::int_(shape.address(next)));
    }
    nodes.append(py::make_tuple(shape.address(n), neighbours));
  }
  return nodes;
}

}  // namespace

void add_t3e(py::module_& m) {
  m.def("t3e_machine", &machine_of, py::arg("experiment"),
        "t3e_machine(experiment) -> dict: nodes, and what becomes of packets of all pairs of PEs.");
  m.def("t3e_tables", &node_tables, py::arg("experiment"),
        "t3e_tables(experiment) -> list: of every node its registers by name, and R_NET_LUT.");
  m.def("t3e_wiring", &wiring, py::arg("experiment"),
        "t3e_wiring(experiment) -> list: R_PWHO of every node, and of its neighbours +X +Y +Z -X -Y -Z or None.");
  m.def(
      "t3e_vc_balance",
      [](const Bits& table, u32 half_way, bool last, u32 subring) {
        const t3e::Balance b = t3e::vc_balance(from_bits(table, half_way, last), subring);
        return py::make_tuple(b.average, b.maximum);
      },
      py::arg("table"), py::arg("half_way"), py::arg("last"), py::arg("subring"),
      "t3e_vc_balance(table, half_way, last, subring) -> tuple: average and maximum.");
  m.def(
      "t3e_time_of_crossing", [](u32 ring, bool limited) { return to_bits(t3e::time_of_crossing(ring, limited)); },
      py::arg("ring"), py::arg("limited"), "t3e_time_of_crossing(ring, limited) -> list: a table of zeros.");
  m.def(
      "t3e_optimise_vcs",
      [](u32 ring, bool limited, const std::map<u32, std::pair<double, double>>& goals, u64 seed, u32 restarts,
         u32 steps) {
        std::vector<t3e::Balance> list;
        for (const auto& [subring, goal] : goals) list.push_back({subring, goal.first, goal.second});
        py::gil_scoped_release released;
        const t3e::VcTable table = t3e::optimise(t3e::time_of_crossing(ring, limited), list, seed, restarts, steps);
        py::gil_scoped_acquire held;
        return to_bits(table);
      },
      py::arg("ring"), py::arg("limited"), py::arg("goals"), py::arg("seed"), py::arg("restarts"), py::arg("steps"),
      "t3e_optimise_vcs(ring, limited, goals, seed, restarts, steps) -> list: a table found by annealing.");
  m.def(
      "t3e_machine_vcs",
      [](u32 ring, bool limited, u32 half_way, bool last) {
        py::gil_scoped_release released;
        const t3e::VcTable& table = t3e::machine_table(ring, limited, half_way, last ? ring - 1 : 0);
        py::gil_scoped_acquire held;
        return to_bits(table);
      },
      py::arg("ring"), py::arg("limited"), py::arg("half_way"), py::arg("last"),
      "t3e_machine_vcs(ring, limited, half_way, last) -> list: the table that machines are loaded with.");
}

}  // namespace flitlab
