#include "host/routers/metro/console.hpp"

#include <set>

#include "host/routers/metro/registers.hpp"
#include "kernels/common/error.hpp"

namespace flitlab {

MetroConsole::MetroConsole(const MetroPlan& plan)
    : Console(plan.topology().routers, plan.topology().terminals), plan_(plan) {
  const ArgumentRecord node{"node", ArgumentType::kRouter, "Number of the router; of cascaded ones, of the member."};
  const ArgumentRecord name{"name", ArgumentType::kText,
                            "\"dilation\", or a register of a port such as \"on.b3\": on, drive, captured, turn_delay, "
                            "fast and swallow by scan; word, sent, state, out and words to be looked at."};
  constexpr std::string_view cite = "METRO, 5.1, Scan Support; Table 2";
  offer({.name = "read_register",
         .help = "A register of a router, or a word on its wires.",
         .arguments = {node, name},
         .returns = "its value",
         .cite = cite},
        [this](Engine& engine, const Arguments& a) { return value_of(engine, a.u32_of("node"), a.text("name")); });
  offer({.name = "registers",
         .help = "All registers of a router that can be reached, and the words on its wires.",
         .arguments = {node},
         .returns = "a map: name -> value",
         .cite = cite},
        [this](Engine& engine, const Arguments& a) {
          const u32 router = a.u32_of("node");
          std::map<std::string, u64> all = metro_registers(engine, plan_.table(), plan_.network(), router);
          if (!reachable(engine, router))
            std::erase_if(all, [](const auto& entry) { return MetroRegisters::by_scan(entry.first); });
          return Datum::map_of(all);
        });
  offer({.name = "write_register",
         .help = "Writes a register of a router by scan.",
         .arguments = {node, name, {"value", ArgumentType::kNumber, "What the register holds then."}},
         .cite = cite},
        [this](Engine& engine, const Arguments& a) {
          const u32 router = a.u32_of("node");
          value_of(engine, router, a.text("name"));
          MetroRegisters routers(engine, 0, plan_.table());
          routers.set(router, a.text("name"), a.number("value"), plan_.network());
          routers.write();
          return Datum{};
        });
}

u64 MetroConsole::value_of(const Engine& engine, u32 router, const std::string& name) const {
  const std::map<std::string, u64> all = metro_registers(engine, plan_.table(), plan_.network(), router);
  const auto found = all.find(name);
  if (found == all.end()) throw ConfigError(MetroRegisters::unknown(name, all));
  if (MetroRegisters::by_scan(name) && !reachable(engine, router))
    throw ConfigError("register " + name + " of router " + plan_.router_name(router) +
                      " cannot be reached: none of its test access ports works (faults.file). Give it more of them "
                      "(router.scan_paths).");
  return found->second;
}

bool MetroConsole::reachable(const Engine& engine, u32 router) const {
  std::set<u32> dead;
  for (const MetroFault& f : plan_.faults().list)
    if (f.what == MetroFault::What::kTap && f.item == router && f.cycle <= engine.now()) dead.insert(f.value);
  return dead.size() < plan_.scan_paths();
}

}  // namespace flitlab
