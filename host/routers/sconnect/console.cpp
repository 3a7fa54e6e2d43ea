#include "host/routers/sconnect/console.hpp"

#include <limits>

#include "host/routers/sconnect/control.hpp"
#include "kernels/common/error.hpp"

namespace flitlab {
namespace {

constexpr ArgumentRecord kNode{"node", ArgumentType::kRouter, "Number of the TIC."};
constexpr ArgumentRecord kTerminal{"terminal", ArgumentType::kTerminal, "Number of the terminal, a host."};
constexpr std::string_view kCite = "S-Connect, 3.4";

/// Names of the parts of a control message, in order.
constexpr std::string_view kParts[] = {"operation", "number", "value", "address", "hops", "priority", "tag"};

[[noreturn]] void bad_part(std::size_t message, std::string_view part, const std::string& wanted) {
  throw ConfigError("control message " + std::to_string(message) + ": " + std::string(part) + " must be " + wanted +
                    ".");
}

u32 number_in(const Datum& d, std::size_t message, std::string_view part) {
  constexpr u64 kMost = std::numeric_limits<u32>::max();
  if (const auto* x = std::get_if<u64>(&d.value); x && *x <= kMost) return static_cast<u32>(*x);
  bad_part(message, part, "a whole number, not negative, of up to 32 bits");
}

void set_part(ControlRequest& r, std::size_t part, const Datum& d, std::size_t message) {
  if (d.nothing()) return;
  if (part == 0) {
    const auto* operation = std::get_if<std::string>(&d.value);
    if (!operation) bad_part(message, kParts[0], "a text");
    r.operation = *operation;
  } else if (part == 4) {
    const auto* hops = std::get_if<Datum::List>(&d.value);
    if (!hops) bad_part(message, kParts[4], "a list of ports");
    for (const Datum& hop : *hops) r.hops.push_back(number_in(hop, message, kParts[4]));
  } else {
    u32* const numbers[] = {nullptr, &r.number, &r.value, &r.address, nullptr, &r.priority, &r.tag};
    *numbers[part] = number_in(d, message, kParts[part]);
  }
}

ControlRequest request_of(const Datum& d, std::size_t message) {
  ControlRequest r;
  if (const auto* list = std::get_if<Datum::List>(&d.value)) {
    if (list->size() > std::size(kParts)) bad_part(message, "it", "of up to seven parts");
    for (std::size_t i = 0; i < list->size(); ++i) set_part(r, i, (*list)[i], message);
  } else if (const auto* map = std::get_if<Datum::Map>(&d.value)) {
    for (const auto& [name, value] : *map) {
      const auto* part = std::find(std::begin(kParts), std::end(kParts), name);
      if (part == std::end(kParts))
        bad_part(message, name, "one of operation, number, value, address, hops, priority and tag");
      set_part(r, static_cast<std::size_t>(part - kParts), value, message);
    }
  } else {
    bad_part(message, "it", "a list of its parts, or a map from names to parts");
  }
  return r;
}

}  // namespace

SconnectConsole::SconnectConsole(const SconnectPlan& plan)
    : Console(plan.table().routers, plan.table().terminals), plan_(plan) {
  offer_registers();
  offer_messages();
}

void SconnectConsole::offer_registers() {
  offer({.of = "a TIC",
         .cite = kCite,
         .records = sconnect_register_records(),
         .remark = "Direct access; hosts reach registers of TICs by control messages.",
         .all = [this](const Engine& engine, u32 tic) { return sconnect_registers(engine, plan_.table(), tic); },
         .read = [this](const Engine& engine, u32 tic,
                        const std::string& name) { return sconnect_register(engine, plan_.table(), tic, name); },
         .write = [this](Engine& engine, u32 tic, const std::string& name,
                         u64 value) { set_sconnect_register(engine, plan_.table(), tic, name, value); }});
}

void SconnectConsole::offer_messages() {
  offer({.name = "send_control",
         .help = "Queues control messages at a terminal; they are sent when the network is stepped. A message is a "
                 "list, "
                 "which may omit its last parts, or a map: operation (read_table, write_table, read_register, "
                 "write_register or add_to_timer), number (register, or destination in the table; registers 0 to 10: "
                 "ports (bits of ports to TICs, from bit 8 on to hosts), came_by (arrival port of this message), "
                 "address, enabled, timer, counting, counter, clock, clock_rate, clock_sends, slips; 16 + 8 p + 0 to "
                 "6: damaged, refused, failed, lost, carried, overflows, underflows of port p), value (32 bits), "
                 "address (node to which the routing tables lead the message first, or none), hops (up to 16 ports, "
                 "the source route from there), priority (0 to 3, default 2), tag (0 to 255).",
         .arguments = {kTerminal, {"messages", ArgumentType::kAny, "A list of messages."}},
         .returns = "how many of the messages, from the first on, fit into the terminal's mailbox",
         .cite = kCite},
        [this](Engine& engine, const Arguments& a) {
          const auto* messages = std::get_if<Datum::List>(&a.at("messages").value);
          if (!messages) throw ConfigError("send_control: messages must be a list.");
          std::vector<ControlRequest> requests;
          for (const Datum& message : *messages) requests.push_back(request_of(message, requests.size()));
          return send_sconnect_control(engine, plan_.table(), a.u32_of("terminal"), requests);
        });
  offer({.name = "priorities",
         .help = "Priorities of a terminal's packets, by packet number; in a trace, as if each were a single message.",
         .arguments = {kTerminal,
                       {"packets", ArgumentType::kIntegers, "Numbers of packets, from 0.", "", false, 0, 4294967294.0}},
         .returns = "a list of numbers, 0 to 3",
         .cite = "S-Connect, 2.3"},
        [this](Engine& engine, const Arguments& a) {
          Datum::List list;
          for (std::int64_t packet : a.integers("packets"))
            list.emplace_back(plan_.packet_priority(engine.row(0), a.u32_of("terminal"), static_cast<u32>(packet)));
          return list;
        });
  offer({.name = "take_replies",
         .help = "Takes the replies to control messages that have arrived at a terminal since the last call, in order.",
         .arguments = {kTerminal},
         .returns = "a list of lists: tag of the request, its number, value, stamp (the router's 16-bit timer when it "
                    "executed the request, routing cycles)",
         .cite = kCite},
        [this](Engine& engine, const Arguments& a) {
          Datum::List list;
          for (const ControlReply& r : take_sconnect_replies(engine, plan_.table(), a.u32_of("terminal")))
            list.emplace_back(Datum::List{r.tag, r.number, r.value, r.stamp});
          return list;
        });
  offer({.name = "set_addresses",
         .help = "With routing.tables = \"none\", sets the address that hosts use for each terminal: the number of its "
                 "node in the routing tables. The default is flitlab's numbering of the nodes.",
         .arguments = {{"addresses", ArgumentType::kIntegers, "One for each terminal.", "", false, 0, 65534}},
         .cite = kCite},
        [this](Engine& engine, const Arguments& a) {
          std::vector<u32> addresses;
          for (std::int64_t address : a.integers("addresses")) addresses.push_back(static_cast<u32>(address));
          set_sconnect_addresses(engine, plan_.table(), addresses);
          return Datum{};
        });
}

}  // namespace flitlab
