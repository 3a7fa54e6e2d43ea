#include "host/routers/sconnect/control.hpp"

#include <algorithm>

#include "host/config/check.hpp"
#include "host/config/value.hpp"
#include "host/plan/console.hpp"
#include "host/plan/elements.hpp"
#include "kernels/common/error.hpp"
#include "kernels/routers/sconnect/control_message.hpp"
#include "kernels/routers/sconnect/tic.hpp"

namespace flitlab {
namespace {

using sconnect::kPorts;

constexpr u32 kTicKind = 0, kHostKind = 1;

constexpr const char* kOperations[] = {
    "", "read_table", "write_table", "read_register", "write_register", "add_to_timer"};

}  // namespace

std::vector<RegisterRecord> sconnect_register_records() {
  return {
      {"address", 16, "Node address, the destination of control messages that routing tables forward.", true},
      {"enabled", kPorts, "Ports that are switched on, as bits.", true, "ports"},
      {"timer", 16, "Routing cycles, modulo 2^16.", true, "routing cycles"},
      {"counting", 6, "Event that `counter` counts; 32: none.", true},
      {"counter", 32, "Events counted.", true, "events"},
      {"used", 8, "Buffers in use.", false, "buffers"},
      {"held.#", 8, "Buffers that count for queue 8 port + 2 priority + virtual channel.", false, "buffers"},
      {"damaged.#", 16, "Of a port: damaged slots received; saturates at 65535, like the next three.", false, "slots"},
      {"refused.#", 16, "Of a port: messages rejected for lack of a buffer.", false, "messages"},
      {"failed.#", 16, "Of a port: messages sent that returned to the router.", false, "messages"},
      {"lost.#", 16, "Of a port: acknowledgments that could not be read.", false, "outcomes"},
      {"carried.#", 32, "Of a port: messages and parts of quads sent.", false, "messages"},
      {"unheard.#", 32, "Of a host's port: replies dropped because its mailbox was full.", false, "messages"},
      {"table.#", 16, "Options to reach a node: bit 2 port + virtual channel; a parallel port has the even bit.", true},
      {"phase", 3, "Clock in which routing cycles begin.", false, "clocks"},
      {"delay.#", 8, "Of a channel: cycle number at the far end on arrival - cycle number here on departure.", false,
       "routing cycles"},
      {"slot.#", 8, "Protocol bits of the slot that arrives by a channel in the next cycle; 0: none."},
      {"message.#", 64, "Message in that slot: source * 2^32 + packet number."},
      {"clock_on", 1, "1: the phase-locked loop is closed.", true},
      {"clock_sends", 4, "Serial ports that send data, and with it their clock, as bits.", true, "ports"},
      {"clock_limit", 1, "1: the pull is at an end of the tuning range."},
      {"clock_phase", 64, "Phase deviation of the oscillator.", false, "2^-32 rad"},
      {"clock_free", 64, "Free-running frequency deviation.", false, "2^-32 rad/routing cycle"},
      {"clock_rate", 64, "Current frequency deviation.", false, "2^-32 rad/routing cycle"},
      {"clock_error", 64, "Output of the phase detector.", false, "2^-32 rad"},
      {"slips", 32, "Words lost or repeated.", false, "words"},
      {"runs.#", 1, "Of a serial port, 1: the far end's data stream arrives."},
      {"fifo.#", 64, "Of a serial port: depth from half full at the last comparison.", false, "2^-32 rad"},
      {"cable.#", 64, "Of a serial port: that depth - phase difference; d of equation 1, changed by slips.", false,
       "2^-32 rad"},
      {"overflows.#", 32, "Of a serial port: words lost.", false, "words"},
      {"underflows.#", 32, "Of a serial port: words repeated.", false, "words"},
  };
}

std::map<std::string, u64> sconnect_registers(const Engine& engine, const sconnect::Table& t, u32 tic) {
  const auto c = get_element<sconnect::TicControl>(engine, 0, kTicKind, tic, "control");
  const auto ports = get_elements<sconnect::Port>(engine, 0, kTicKind, tic, "port");
  const auto table = get_elements<u16>(engine, 0, kTicKind, tic, "table");
  const u32 slot_index = engine.now() & t.slot_mask;
  const u64 slot = get_element<u64>(engine, 0, kTicKind, tic, "mail", slot_index);
  std::map<std::string, u64> all{{"address", c.address},
                                 {"enabled", c.enabled},
                                 {"used", c.used},
                                 {"counting", c.counting},
                                 {"counter", c.counter},
                                 {"phase", t.phase[tic]},
                                 {"timer", static_cast<u16>(engine.now() + c.timer)}};
  for (u32 q = 0; q < sconnect::kQueues; ++q)
    if (sconnect::reserved_buffers(t, tic, q)) all["held." + std::to_string(q)] = c.held[q];
  for (u32 p = 0; p < kPorts; ++p) {
    const sconnect::Port& port = ports[p];
    const std::string suffix = "." + std::to_string(p);
    all["damaged" + suffix] = port.damaged;
    all["refused" + suffix] = port.refused;
    all["failed" + suffix] = port.failed;
    all["lost" + suffix] = port.lost;
    all["carried" + suffix] = port.carried;
    const sconnect::Link& link = t.links[tic * kPorts + p];
    if (link.kind == sconnect::LinkKind::kHost)
      all["unheard" + suffix] = get_element<sconnect::HostControl>(engine, 0, kHostKind, link.far, "host").lost;
    if (link.kind == sconnect::LinkKind::kNone || link.kind == sconnect::LinkKind::kHost) continue;
    const u64 bits = slot >> 8 * p & 0xFF;
    all["delay" + suffix] = link.delay;
    all["slot" + suffix] = bits;
    if (!(bits & sconnect::kPresent)) continue;
    const auto m = get_element<sconnect::Message>(engine, 0, kTicKind, tic, "arriving", slot_index * kPorts + p);
    all["message" + suffix] = u64{m.src} << 32 | m.id;
  }
  for (u32 n = 0; n < t.nodes; ++n) all["table." + std::to_string(n)] = table[n];
  if (!t.clocks) return all;
  const auto clock = get_element<sconnect::ClockState>(engine, 0, kTicKind, tic, "clock");
  const auto fifos = get_elements<sconnect::Fifo>(engine, 0, kTicKind, tic, "fifo");
  all["clock_on"] = clock.on;
  all["clock_sends"] = clock.sends;
  all["clock_limit"] = clock.limit;
  all["clock_free"] = static_cast<u64>(clock.free);
  all["clock_phase"] = clock.phase;
  all["clock_rate"] = static_cast<u64>(clock.rate);
  all["clock_error"] = static_cast<u64>(clock.error);
  all["slips"] = clock.slips;
  for (u32 p = 0; p < sconnect::kSerial; ++p) {
    if (t.links[tic * kPorts + p].kind != sconnect::LinkKind::kSerial) continue;
    const sconnect::Fifo& fifo = fifos[p];
    const std::string suffix = "." + std::to_string(p);
    all["fifo" + suffix] = static_cast<u64>(fifo.depth);
    all["cable" + suffix] = fifo.offset;
    all["runs" + suffix] = fifo.stream == sconnect::Stream::kRuns;
    all["overflows" + suffix] = fifo.overflows;
    all["underflows" + suffix] = fifo.underflows;
  }
  return all;
}

u64 sconnect_register(const Engine& engine, const sconnect::Table& t, u32 tic, const std::string& name) {
  const std::map<std::string, u64> all = sconnect_registers(engine, t, tic);
  const auto found = all.find(name);
  if (found != all.end()) return found->second;
  throw ConfigError("register " + shown(Value{name}) + " does not exist in this TIC; its registers are " +
                    register_ranges(all) + ".");
}

void set_sconnect_register(Engine& engine, const sconnect::Table& t, u32 tic, const std::string& name, u64 value) {
  sconnect_register(engine, t, tic, name);
  const auto most = [&](u64 limit) {
    if (value > limit)
      throw ConfigError("register " + name + " = " + std::to_string(value) + ": the limits are 0 and " +
                        std::to_string(limit) + ".");
  };
  using Control = sconnect::TicControl;
  using Clock = sconnect::ClockState;
  const auto control = [&](auto&& change) { change_element<Control>(engine, 0, kTicKind, tic, "control", 0, change); };
  const auto clock = [&](auto&& change) { change_element<Clock>(engine, 0, kTicKind, tic, "clock", 0, change); };
  const u32 now = engine.now();
  if (name == "address") {
    most(0xFFFF);
    control([&](Control& c) { c.address = static_cast<u16>(value); });
  } else if (name == "enabled") {
    most((1u << kPorts) - 1);
    control([&](Control& c) { c.enabled = static_cast<u8>(value); });
  } else if (name == "timer") {
    most(0xFFFF);
    control([&](Control& c) { c.timer = static_cast<u16>(value - now); });
  } else if (name == "counting") {
    most(32);
    control([&](Control& c) { c.counting = static_cast<u8>(value); });
  } else if (name == "counter") {
    most(0xFFFFFFFF);
    control([&](Control& c) { c.counter = static_cast<u32>(value); });
  } else if (name == "clock_on") {
    most(1);
    clock([&](Clock& c) { c.on = value != 0; });
  } else if (name == "clock_sends") {
    most(15);
    clock([&](Clock& c) { c.sends = static_cast<u8>(value); });
  } else if (name.starts_with("table.")) {
    const sconnect::Options there = sconnect::options_there(t, tic);
    if (value & ~u64{there})
      throw ConfigError("register " + name + " = " + std::to_string(value) + ": this TIC has the options " +
                        std::to_string(there) +
                        " (bit 2 port + virtual channel; a parallel port has the even bit); give a subset of these "
                        "bits.");
    if (sconnect::entry_of(t, tic, static_cast<sconnect::Options>(value)) != value)
      throw ConfigError("register " + name + " = " + std::to_string(value) +
                        ": an entry names serial ports (bits 0 to 7) or parallel ports (8 to 11), not both. Change it, "
                        "or set routing.entries = \"mixed\".");
    const auto entry = static_cast<u32>(std::stoul(name.substr(6)));
    set_element(engine, 0, kTicKind, tic, "table", static_cast<u16>(value), entry);
  } else {
    throw ConfigError("register " + name + " is read-only.");  // the console checks this first
  }
}

namespace {

void require_terminal(const sconnect::Table& t, u32 terminal) {
  if (terminal >= t.terminals)
    throw ConfigError("terminal " + std::to_string(terminal) + " does not exist: they are numbered 0 to " +
                      std::to_string(t.terminals - 1) + ".");
}

/// Returns the message that a control request becomes. ConfigError if the request is invalid.
sconnect::Message message_of(const ControlRequest& r, u32 terminal) {
  const auto fail = [](const std::string& what) { throw ConfigError("control message: " + what); };
  const auto operation = std::find(std::begin(kOperations) + 1, std::end(kOperations), r.operation);
  if (operation == std::end(kOperations))
    fail("there is no operation \"" + r.operation +
         "\"; known: read_table, write_table, read_register, write_register, add_to_timer.");
  if (r.hops.size() > sconnect::kMaxHops)
    fail(std::to_string(r.hops.size()) + " hops exceed the limit of " + std::to_string(sconnect::kMaxHops) +
         "; an address can lead the message part of the path.");
  if (r.number > 0xFFFF || r.priority >= sconnect::kPriorities || r.tag > 0xFF)
    fail("number is 0 to 65535, priority 0 to 3, tag 0 to 255.");
  if (r.address != kNone && r.address >= sconnect::kNoAddress)
    fail("address " + std::to_string(r.address) + ": addresses are 0 to 65534.");
  u64 hops = 0;
  for (std::size_t i = 0; i < r.hops.size(); ++i) {
    if (r.hops[i] >= kPorts) fail("hop " + std::to_string(r.hops[i]) + ": ports are numbered 0 to 5.");
    hops |= u64{r.hops[i]} << 3 * i;
  }
  sconnect::Message m{};
  m.dst = r.value;
  m.src = terminal;
  sconnect::set_source_route(m, sconnect::SourceRoute::of(hops, static_cast<u32>(r.hops.size()), 0));
  m.id = r.number;
  m.node = r.address == kNone ? sconnect::kNoAddress : static_cast<u16>(r.address);
  m.flits = 1;
  m.priority = static_cast<u8>(r.priority);
  m.tried = kPorts;
  m.control = static_cast<u8>(operation - std::begin(kOperations));
  m.tag = static_cast<u8>(r.tag);
  return m;
}

}  // namespace

u32 send_sconnect_control(Engine& engine, const sconnect::Table& t, u32 terminal,
                          const std::vector<ControlRequest>& requests) {
  require_terminal(t, terminal);
  auto host = get_element<sconnect::HostControl>(engine, 0, kHostKind, terminal, "host");
  std::vector<sconnect::Message> messages;
  for (const ControlRequest& request : requests) messages.push_back(message_of(request, terminal));
  const u32 taken = std::min(static_cast<u32>(messages.size()), sconnect::kMailbox - host.out_count);
  if (!taken) return 0;
  for (u32 i = 0; i < taken; ++i)
    set_element(engine, 0, kHostKind, terminal, "outbox", messages[i],
                (host.out_first + host.out_count++) % sconnect::kMailbox);
  set_element(engine, 0, kHostKind, terminal, "host", host);
  return taken;
}

void set_sconnect_addresses(Engine& engine, const sconnect::Table& t, const std::vector<u32>& addresses) {
  if (t.table_given)
    throw ConfigError(
        "addresses: TICs start with routing tables, which fix the addresses. Set routing.tables = \"none\" to change "
        "them.");
  if (addresses.size() != t.terminals)
    throw ConfigError("addresses: there are " + std::to_string(addresses.size()) + " for " +
                      std::to_string(t.terminals) + " terminals. Give one for each terminal.");
  for (u32 i = 0; i < t.terminals; ++i)
    if (addresses[i] >= t.nodes)
      throw ConfigError("address " + std::to_string(addresses[i]) + " of terminal " + std::to_string(i) +
                        ": routing tables have entries 0 to " + std::to_string(t.nodes - 1) + ".");
  const FieldInfo& field = engine.layout().kinds[kHostKind].field("host");
  std::vector<sconnect::HostControl> hosts(t.terminals);
  engine.get_field(0, kHostKind, field, hosts.data());
  for (u32 i = 0; i < t.terminals; ++i) hosts[i].address = static_cast<u16>(addresses[i]);
  engine.set_field(0, kHostKind, field, hosts.data());
}

std::vector<ControlReply> take_sconnect_replies(Engine& engine, const sconnect::Table& t, u32 terminal) {
  require_terminal(t, terminal);
  auto host = get_element<sconnect::HostControl>(engine, 0, kHostKind, terminal, "host");
  std::vector<ControlReply> replies;
  if (!host.in_count) return replies;
  for (u32 i = 0; i < host.in_count; ++i) {
    const auto m = get_element<sconnect::Message>(engine, 0, kHostKind, terminal, "inbox", i);
    replies.push_back({m.tag, sconnect::number_of(m), m.dst, sconnect::stamp_of(m)});
  }
  host.in_count = 0;
  set_element(engine, 0, kHostKind, terminal, "host", host);
  return replies;
}

}  // namespace flitlab
