#pragma once
/// Small machines that use the special network of the T3E.
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "host/routers/t3e/plan.hpp"
#include "host/routers/t3e/special_feed.hpp"
#include "host/run/stepped.hpp"
#include "tests/support/build.hpp"

namespace flitlab::testing::t3e_special {

using t3e::Deltas;

/// Returns a machine of 4 x 4 x 2 nodes, by default without traffic.
inline Experiment special_machine(RawConfig changes = {}) {
  set(changes, "router.kind=t3e special.enabled=true");
  if (!changes.contains("traffic.load") && !changes.contains("traffic.mode")) changes["traffic.load"] = 0.0;
  return experiment(changes);
}

/// A network with the operations of its console, which write and read registers.
struct Stepped : SteppedNetwork {
  using SteppedNetwork::SteppedNetwork;

  static Datum list_of(const Deltas& deltas) { return Datum::List(deltas.begin(), deltas.end()); }
  u64 read_register(u32 node, const std::string& name) {
    return std::get<u64>(call("read_register", {{"node", node}, {"name", name}}).value);
  }
  std::map<std::string, u64> read_registers(u32 node) {
    std::map<std::string, u64> all;
    const Datum values = call("registers", {{"node", node}});
    for (const auto& [name, value] : std::get<Datum::Map>(values.value)) all[name] = std::get<u64>(value.value);
    return all;
  }
  void write_register(u32 node, const std::string& name, u64 value) {
    call("write_register", {{"node", node}, {"name", name}, {"value", value}});
  }
  void special_put(u32 node, const Deltas& deltas, const std::string& name, u64 value) {
    call("special_put", {{"node", node}, {"deltas", list_of(deltas)}, {"name", name}, {"value", value}});
  }
  u32 special_get(u32 node, const Deltas& deltas, const std::string& name) {
    const Datum ticket = call("special_get", {{"node", node}, {"deltas", list_of(deltas)}, {"name", name}});
    return static_cast<u32>(std::get<u64>(ticket.value));
  }
  std::vector<t3e::TimedAnswer> special_answers() {
    std::vector<t3e::TimedAnswer> answers;
    const Datum list = call("special_answers", {});
    for (const Datum& answer : std::get<Datum::List>(list.value)) {
      const auto& parts = std::get<Datum::Map>(answer.value);
      const auto part = [&](std::size_t i) { return std::get<u64>(parts[i].second.value); };
      answers.push_back({static_cast<u32>(part(0)), static_cast<u32>(part(1)), part(2), static_cast<Cycle>(part(3))});
    }
    return answers;
  }
};

inline Stepped stepped(const RawConfig& changes = {}, bool trace = false) {
  return Stepped(special_machine(changes), "cpu", 1, trace);
}

}  // namespace flitlab::testing::t3e_special
