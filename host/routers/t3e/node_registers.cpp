#include "host/routers/t3e/node_registers.hpp"

#include "host/plan/elements.hpp"
#include "host/routers/t3e/wiring.hpp"
#include "kernels/common/error.hpp"

namespace flitlab::t3e {
namespace {

/// The parts of a node's state that have register `number` in them.
struct Part {
  Registers routing;
  SoftwareRegisters software;
  Tag tag;

  Part(const Engine& engine, u32 node, u32 number)
      : routing(get_element<Registers>(engine, 0, kRouterKind, node, "registers")),
        software(get_element<SoftwareRegisters>(engine, 0, kTablesKind, node, "software")),
        tag(get_element<Tag>(engine, 0, kTablesKind, node, "lut", lut_index(number))) {}
  void write(Engine& engine, u32 node, u32 number) const {
    set_element(engine, 0, kRouterKind, node, "registers", routing);
    set_element(engine, 0, kTablesKind, node, "software", software);
    set_element(engine, 0, kTablesKind, node, "lut", tag, lut_index(number));
  }
};

/// Throws ConfigError if a logical number does not fit the tables of some node, after register `name` of `node` has
/// been changed.
void check_numbers(const std::vector<Registers>& routing, u32 node, const std::string& name) {
  // Largest logical number plus 1; the routing tables of all nodes must have an entry for every number below it.
  u32 numbers = 0;
  for (const Registers& r : routing) numbers = std::max(numbers, r.lwho + 1u);
  for (u32 n = 0; n < routing.size(); ++n) {
    const u32 mode = routing[n].lut_mode, most = mode == 0 ? kLutRegisters : kMostPes;
    if (mode != 3 && numbers > most)
      throw ConfigError(name + " at node " + std::to_string(node) + ": the logical number " +
                        std::to_string(numbers - 1) + " does not fit mode " + std::to_string(mode) + " of node " +
                        std::to_string(n) + ", whose tables end at " + std::to_string(most - 1) + ".");
  }
}

}  // namespace

u64 read_register(const Engine& engine, const Machine& machine, u32 node, const std::string& name) {
  const u32 number = register_number(name);
  const Part part(engine, node, number);
  return read_register(part.routing, part.software, part.tag, machine.wired[node], number);
}

std::map<std::string, u64> read_registers(const Engine& engine, const Machine& machine, u32 node) {
  const Part part(engine, node, 0);
  const NodeRegisters registers{part.routing, part.software, get_elements<Tag>(engine, 0, kTablesKind, node, "lut"),
                                machine.wired[node]};
  std::map<std::string, u64> values;
  for (const std::string& name : register_names()) values[name] = read_register(registers, register_number(name));
  return values;
}

std::vector<std::string> write_register(Engine& engine, const Machine& machine, u32 node, const std::string& name,
                                        u64 value) {
  const Shape& shape = machine.shape;
  const u32 number = register_number(name);
  check_value(number, value);
  if (number == kOrient) {
    NodeField<Registers> all(engine, 0, kRouterKind, "registers");
    const std::vector<u32> propagated = orientations(machine, node, static_cast<u32>(value), engine.now());
    for (u32 n = 0; n < shape.nodes(); ++n)
      if (propagated[n] != kNone) all.of(n)->turned = static_cast<u8>(propagated[n] ^ machine.wired[n]);
    all.write(engine);
    return {};
  }
  Part part(engine, node, number);
  write_register(part.routing, part.software, part.tag, machine.wired[node], number, value);
  std::vector<Registers> routing(shape.nodes());  // of the nodes that the checks concern
  const auto read = [&](u32 n) {
    if (n != kNone) routing[n] = get_element<Registers>(engine, 0, kRouterKind, n, "registers");
  };
  if (number == kLwho || number == kWhoami || number == kOverride) {
    engine.get_field(0, kRouterKind, engine.layout().kinds[kRouterKind].field("registers"), routing.data());
    routing[node] = part.routing;
    check_numbers(routing, node, name);
  }
  if (number >= kLut || number == kOverride) {
    const Tag tag = number == kOverride ? part.routing.override_tag : part.tag;
    if (tag_initial(tag) != kNoHop) read(shape.neighbour(node, tag_initial(tag)));
    check_initial_hop(shape, routing, node, name, tag);
  }
  if (number < kVcsel || number >= kVcsel + kDirections) {
    part.write(engine, node, number);
    return {};
  }
  const u32 direction = number - kVcsel;
  for (u32 n : shape.line(node, dimension_of(direction))) read(n);
  // Nodes whose packets were already dropped at a dateline before the write.
  const std::vector<u32> known = stopping_nodes(shape, routing.data(), node, direction);
  routing[node] = part.routing;
  part.write(engine, node, number);
  std::vector<std::string> warnings;
  for (u32 n : stopping_nodes(shape, routing.data(), node, direction)) {
    if (n != node && std::count(known.begin(), known.end(), n)) continue;
    warnings.push_back(name + " of node " + std::to_string(n) + ": SELECT bit " +
                       std::to_string(lowest_bit(stopped_entries(shape, routing.data(), n, direction))) +
                       " sends packets through the dateline on virtual channel set 1, where they are lost. Clear it.");
  }
  return warnings;
}

}  // namespace flitlab::t3e
