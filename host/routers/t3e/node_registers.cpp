#include "host/routers/t3e/node_registers.hpp"

#include "host/routers/t3e/wiring.hpp"
#include "kernels/common/error.hpp"

namespace flitlab::t3e {
namespace {

/// Throws ConfigError if registers conflict after register `name` of `node` has been changed. `routing`: [nodes].
void check_registers(const Shape& shape, const Registers* routing, u32 node, const std::string& name,
                     const NodeRegisters& changed) {
  const u32 nodes = shape.nodes();
  // Largest logical number plus 1; the routing tables of all nodes must have an entry for every number below it.
  u32 numbers = 0;
  for (u32 n = 0; n < nodes; ++n) numbers = std::max(numbers, routing[n].lwho + 1u);
  for (u32 n = 0; n < nodes; ++n) {
    const u32 mode = routing[n].lut_mode, most = mode == 0 ? kLutRegisters : kMostPes;
    if (mode != 3 && numbers > most)
      throw ConfigError(name + " at node " + std::to_string(node) + ": the logical number " +
                        std::to_string(numbers - 1) + " does not fit mode " + std::to_string(mode) + " of node " +
                        std::to_string(n) + ", whose tables end at " + std::to_string(most - 1) + ".");
  }
  const std::vector<Registers> registers(routing, routing + nodes);
  check_initial_hop(shape, registers, node, "R_LUT_OVERRIDE", changed.routing.override_tag);
  for (u32 entry = 0; entry < kLutRegisters; ++entry)
    check_initial_hop(shape, registers, node, "R_NET_LUT" + std::to_string(entry), changed.lut[entry]);
}

}  // namespace

u64 read_register(const Engine& engine, const Machine& machine, u32 node, const std::string& name) {
  return read_register(AllRegisters(engine, machine, 0).of(node), register_number(name));
}

std::map<std::string, u64> read_registers(const Engine& engine, const Machine& machine, u32 node) {
  const NodeRegisters registers = AllRegisters(engine, machine, 0).of(node);
  std::map<std::string, u64> values;
  for (const std::string& name : register_names()) values[name] = read_register(registers, register_number(name));
  return values;
}

std::vector<std::string> write_register(Engine& engine, const Machine& machine, u32 node, const std::string& name,
                                        u64 value) {
  const Shape& shape = machine.shape;
  const u32 number = register_number(name);
  check_value(number, value);
  AllRegisters all(engine, machine, 0);
  const bool select = number >= kVcsel && number < kVcsel + kDirections;
  const u32 direction = select ? number - kVcsel : 0;
  std::vector<u32> known;  // nodes whose packets were already dropped at a dateline before the write
  if (select) known = stopping_nodes(shape, all.routing.of(0), node, direction);
  NodeRegisters registers = all.of(node);
  write_register(registers, number, value);
  all.put(node, registers);
  check_registers(shape, all.routing.of(0), node, name, registers);
  if (number == kOrient) {
    const std::vector<u32> propagated = orientations(machine, node, static_cast<u32>(value), engine.now());
    for (u32 n = 0; n < shape.nodes(); ++n)
      if (propagated[n] != kNone) all.routing.of(n)->turned = static_cast<u8>(propagated[n] ^ machine.wired[n]);
  }
  all.write(engine);
  std::vector<std::string> warnings;
  if (!select) return warnings;
  for (u32 n : stopping_nodes(shape, all.routing.of(0), node, direction)) {
    if (n != node && std::count(known.begin(), known.end(), n)) continue;
    warnings.push_back(name + " of node " + std::to_string(n) + ": SELECT bit " +
                       std::to_string(lowest_bit(stopped_entries(shape, all.routing.of(0), n, direction))) +
                       " sends packets through the dateline on virtual channel set 1, where they are lost. Clear it.");
  }
  return warnings;
}

}  // namespace flitlab::t3e
