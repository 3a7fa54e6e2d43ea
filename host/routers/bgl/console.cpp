#include "host/routers/bgl/console.hpp"

#include "host/config/value.hpp"
#include "host/plan/elements.hpp"
#include "kernels/common/error.hpp"

namespace flitlab {

std::map<std::string, u64> bgl_registers(const Engine& engine, const BglPlan& plan, u32 node) {
  std::map<std::string, u64> values;
  if (!plan.table().protocol) return values;
  const auto senders = get_elements<bgl::LinkSender>(engine, 0, 0, node, "link_sender");
  const auto receivers = get_elements<bgl::LinkReceiver>(engine, 0, 0, node, "link_receiver");
  const auto sums = get_elements<u32>(engine, 0, 0, node, "checksum");
  for (u32 d = 0; d < plan.topology().network_ports; ++d) {
    if (plan.topology().peer(node, d).item == kNone) continue;
    values["SENT_CRC " + plan.port_name(d)] = senders[d].crc;
    values["RECEIVED_CRC " + plan.port_name(d)] = receivers[d].crc;
  }
  for (u32 f = 0; f < bgl::kInjectionFifos; ++f) values["INJECTION_SUM " + std::to_string(f)] = sums[f];
  return values;
}

u64 bgl_register(const Engine& engine, const BglPlan& plan, u32 node, const std::string& name) {
  if (!plan.table().protocol)
    throw ConfigError("register " + shown(Value{name}) +
                      ": Blue Gene/L's torus has registers only with router.link_protocol = true.");
  const std::map<std::string, u64> values = bgl_registers(engine, plan, node);
  const auto found = values.find(name);
  if (found != values.end()) return found->second;
  std::string names;
  for (const auto& [known, value] : values) names += (names.empty() ? "" : ", ") + known;
  throw ConfigError("register " + shown(Value{name}) + ": node " + std::to_string(node) + " has " + names + ".");
}

BglConsole::BglConsole(const BglPlan& plan) : Console(plan.topology().routers, plan.topology().terminals) {
  offer({.of = "a node",
         .cite = "BG/L torus, Torus network",
         .records = {{"SENT_CRC #", 32, "Running CRC of the packets sent on a link, such as +x."},
                     {"RECEIVED_CRC #", 32, "Running CRC of the packets received on a link."},
                     {"INJECTION_SUM #", 32, "Checksum of the packets that left an injection FIFO."}},
         .reads = "its 32 bits; only with router.link_protocol = true",
         .all = [&plan](const Engine& engine, u32 node) { return bgl_registers(engine, plan, node); },
         .read = [&plan](const Engine& engine, u32 node,
                         const std::string& name) { return bgl_register(engine, plan, node, name); }});
}

}  // namespace flitlab
