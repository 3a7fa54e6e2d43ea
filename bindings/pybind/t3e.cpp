/// The T3E's tables for Python.
#include "host/error.hpp"
#include "host/models/t3e_plan.hpp"
#include "host/t3e/registers.hpp"
#include "host/t3e/vc_balance.hpp"

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

t3e::VcTable from_bits(const Bits& rows) {
  t3e::VcTable table = t3e::time_of_crossing(static_cast<u32>(rows.size()), false);
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

/// What every node's registers hold at cycle 0 of an experiment: by name, and R_NET_LUT as a list.
py::list node_tables(const Experiment& e) {
  if (e.str("router.kind") != "t3e") throw ConfigError("router.kind = " + e.str("router.kind") + " is no T3E.");
  const T3ePlan plan(e);
  const t3e::Tables& tables = plan.tables();
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

}  // namespace

void add_t3e(py::module_& m) {
  m.def("t3e_tables", &node_tables, py::arg("experiment"),
        "t3e_tables(experiment) -> list: of every node its registers by name, and R_NET_LUT.");
  m.def(
      "t3e_vc_balance",
      [](const Bits& table, u32 subring) {
        const t3e::Balance b = t3e::vc_balance(from_bits(table), subring);
        return py::make_tuple(b.average, b.maximum);
      },
      py::arg("table"), py::arg("subring"), "t3e_vc_balance(table, subring) -> tuple: average and maximum.");
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
        const t3e::VcTable table = t3e::optimise(ring, limited, list, seed, restarts, steps);
        py::gil_scoped_acquire held;
        return to_bits(table);
      },
      py::arg("ring"), py::arg("limited"), py::arg("goals"), py::arg("seed"), py::arg("restarts"), py::arg("steps"),
      "t3e_optimise_vcs(ring, limited, goals, seed, restarts, steps) -> list: a table found by annealing.");
}

}  // namespace flitlab
