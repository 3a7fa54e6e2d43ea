#include "host/routers/bgl/console.hpp"

#include "kernels/common/error.hpp"

namespace flitlab {

std::map<std::string, u64> bgl_registers(const Engine& engine, const BglPlan& plan, u32 node) {
  std::map<std::string, u64> values;
  if (!plan.table().protocol) return values;
  const auto field = [&]<class T>(const char* name, std::vector<T> all) {
    const FieldInfo& info = plan.layout().kinds[0].field(name);
    all.resize(std::size_t{plan.table().routers} * info.count);
    engine.get_field(0, 0, info, all.data());
    return std::vector<T>(all.begin() + node * info.count, all.begin() + (node + 1) * info.count);
  };
  const auto senders = field("link_sender", std::vector<bgl::LinkSender>{});
  const auto receivers = field("link_receiver", std::vector<bgl::LinkReceiver>{});
  const auto sums = field("checksum", std::vector<u32>{});
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
    throw ConfigError("register " + name + ": Blue Gene/L's are there with router.link_protocol = true only.");
  const std::map<std::string, u64> values = bgl_registers(engine, plan, node);
  const auto found = values.find(name);
  if (found != values.end()) return found->second;
  std::string names;
  for (const auto& [known, value] : values) names += (names.empty() ? "" : ", ") + known;
  throw ConfigError("register " + name + ": node " + std::to_string(node) + " has " + names + ".");
}

BglConsole::BglConsole(const BglPlan& plan) : Console(plan.topology().routers, plan.topology().terminals) {
  const ArgumentRecord node{"node", ArgumentType::kRouter, "Number of the node."};
  constexpr std::string_view cite = "BG/L torus, Torus network";
  offer({.name = "read_register",
         .help = "A running CRC of a link, or the checksum of an injection FIFO (router.link_protocol = true).",
         .arguments = {node,
                       {"name", ArgumentType::kText,
                        "\"SENT_CRC +x\" or \"RECEIVED_CRC +x\" of a link, \"INJECTION_SUM 0\" of a FIFO."}},
         .returns = "its 32 bits",
         .cite = cite},
        [&plan](Engine& engine, const Arguments& a) {
          return bgl_register(engine, plan, a.u32_of("node"), a.text("name"));
        });
  offer({.name = "registers",
         .help = "All running CRCs and checksums of a node.",
         .arguments = {node},
         .returns = "a map: name -> 32 bits; empty without the link protocol",
         .cite = cite},
        [&plan](Engine& engine, const Arguments& a) {
          return Datum::map_of(bgl_registers(engine, plan, a.u32_of("node")));
        });
}

}  // namespace flitlab
