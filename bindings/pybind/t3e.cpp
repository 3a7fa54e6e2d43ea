/// The T3E's virtual-channel tables for Python.
#include "host/error.hpp"
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

}  // namespace

void add_t3e(py::module_& m) {
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
