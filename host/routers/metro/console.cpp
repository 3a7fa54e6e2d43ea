#include "host/routers/metro/console.hpp"

#include <set>

#include "host/routers/metro/registers.hpp"
#include "kernels/common/error.hpp"

namespace flitlab {

MetroConsole::MetroConsole(const MetroPlan& plan)
    : Console(plan.topology().routers, plan.topology().terminals), plan_(plan) {
  offer({.of = "a router (a slice, where routers are cascaded)",
         .cite = "METRO, 5.1, Scan Support; Table 2",
         .records = metro_register_records(plan.table(), plan.network().max_turn_delay),
         .remark = "Access is by scan.",
         .all =
             [this](const Engine& engine, u32 router) {
               std::map<std::string, u64> all = metro_registers(engine, plan_.table(), plan_.network(), router);
               if (!reachable(engine, router))
                 std::erase_if(all, [](const auto& entry) { return MetroRegisters::by_scan(entry.first); });
               return all;
             },
         .read = [this](const Engine& engine, u32 router,
                        const std::string& name) { return value_of(engine, router, name); },
         .write =
             [this](Engine& engine, u32 router, const std::string& name, u64 value) {
               value_of(engine, router, name);
               MetroRegisters(engine, 0, plan_.table()).set(router, name, value, plan_.network());
             }});
}

u64 MetroConsole::value_of(const Engine& engine, u32 router, const std::string& name) const {
  const std::map<std::string, u64> all = metro_registers(engine, plan_.table(), plan_.network(), router);
  const auto found = all.find(name);
  if (found == all.end()) throw ConfigError(MetroRegisters::unknown(name, all));
  if (MetroRegisters::by_scan(name) && !reachable(engine, router))
    throw ConfigError("register " + name + " of router " + plan_.router_name(router) +
                      " cannot be reached: all of its test access ports are dead (faults.file). Give it more of them "
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
