#include "host/routers/metro/registers.hpp"

#include <bit>

#include "host/config/check.hpp"
#include "host/config/value.hpp"
#include "host/plan/console.hpp"
#include "host/plan/elements.hpp"
#include "kernels/common/error.hpp"

namespace flitlab {
namespace {

constexpr u32 kRouterKind = 0, kEndpointKind = 1;

std::string port_name(const metro::Table& t, u32 port) {
  return port < t.inputs ? "f" + std::to_string(port) : "b" + std::to_string(port - t.inputs);
}

}  // namespace

template <class T, class Change>
void MetroRegisters::change(u32 kind, u32 item, const char* field, u32 index, Change&& change) {
  change_element<T>(engine_, replica_, kind, item, field, index, change);
}

void MetroRegisters::set_port(u32 router, u32 port, bool on) {
  change<metro::RouterControl>(kRouterKind, router, "control", 0, [&](metro::RouterControl& c) {
    u32& set = port < t_.inputs ? c.forward_on : c.backward_on;
    const u32 me = 1u << (port < t_.inputs ? port : port - t_.inputs);
    set = on ? set | me : set & ~me;
    c.some_off = ~c.forward_on || ~c.backward_on;
  });
}

void MetroRegisters::apply(const MetroFault& f) {
  using Control = metro::RouterControl;
  switch (f.what) {
    case MetroFault::What::kDeadRouter:
      change<Control>(kRouterKind, f.item, "control", 0, [&](Control& c) {
        c.dead = f.value != 0;
        c.active = c.used = 0;  // after a repair, the router has no connections
      });
      for (u32 p = 0; p < t_.inputs; ++p)
        change<metro::ForwardPort>(kRouterKind, f.item, "forward", p,
                                   [](metro::ForwardPort& port) { port.state = metro::PortState::kIdle; });
      break;
    case MetroFault::What::kMisallocation:
      change<Control>(kRouterKind, f.item, "control", 0, [&](Control& c) { c.misallocate = f.value; });
      break;
    case MetroFault::What::kWire:
      set_element(engine_, replica_, f.endpoint ? kEndpointKind : kRouterKind, f.item, "wire", f.wire, f.port);
      break;
    case MetroFault::What::kTap: break;  // this fault concerns the console only
    case MetroFault::What::kPort:
      if (!f.endpoint) return set_port(f.item, f.port, f.value != 0);
      change<u32>(kEndpointKind, f.item, "links_on", 0,
                  [&](u32& on) { on = f.value ? on | 1u << f.port : on & ~(1u << f.port); });
      break;
  }
}

void MetroRegisters::set(u32 router, const std::string& name, u64 value, const MetroNetwork& network) {
  const metro::RouterSetup& setup = network.setup[router / t_.slices];
  const auto refuse = [&](const std::string& allowed) {
    throw ConfigError("register " + name + " = " + std::to_string(value) + ": " + allowed);
  };
  const auto control = [&](auto&& change_control) {
    change<metro::RouterControl>(kRouterKind, router, "control", 0, change_control);
  };
  if (name == "dilation") {
    const u32 most = std::min<u32>(network.max_dilation, setup.backward / 2);
    if (value > most || !std::has_single_bit(value))
      refuse("the dilation is a power of two up to " + std::to_string(most) +
             " (limited by router.max_dilation; a router has two directions or more).");
    return control([&](metro::RouterControl& c) {
      c.log_dilation = static_cast<u8>(std::bit_width(value) - 1);
      c.log_radix = static_cast<u8>(std::bit_width(u32{setup.backward}) - 1 - c.log_dilation);
    });
  }
  const std::size_t dot = name.find('.');
  const std::string what = name.substr(0, dot);
  const u32 number = static_cast<u32>(std::stoul(name.substr(dot + 2)));
  const u32 port = name[dot + 1] == 'f' ? number : t_.inputs + number;
  const auto flag = [&](u32& set) {
    if (value > 1) refuse("it is 0 or 1.");
    set = value ? set | 1u << number : set & ~(1u << number);
  };
  if (what == "on") {
    if (value > 1) refuse("it is 0 or 1.");
    set_port(router, port, value != 0);
  } else if (what == "fast") {
    control([&](metro::RouterControl& c) { flag(c.fast); });
  } else if (what == "swallow") {
    if (t_.header_words)
      refuse("routers that consume header words of their own (router.header_words) have no swallow setting.");
    control([&](metro::RouterControl& c) { flag(c.swallow); });
  } else if (what == "drive") {
    if (value >> metro::kWordBits || metro::payload_of(static_cast<u32>(value)) >> t_.width)
      refuse("a word is a kind from 0 to 7, times 65536, plus a payload of router.width bits.");
    set_element(engine_, replica_, kRouterKind, router, "drive", static_cast<u32>(value), port);
  } else if (what == "turn_delay") {
    if (value > network.max_turn_delay)
      refuse("it is 0 to " + std::to_string(network.max_turn_delay) + " cycles (router.max_turn_delay).");
    set_element(engine_, replica_, kRouterKind, router, "turn_delay", static_cast<u8>(value), port);
  } else {
    refuse("it can be read only.");
  }
}

bool MetroRegisters::by_scan(const std::string& name) {
  for (const char* seen : {"word.", "sent.", "state.", "out.", "words."})
    if (name.starts_with(seen)) return false;
  return true;
}

std::string MetroRegisters::unknown(const std::string& name, const std::map<std::string, u64>& all) {
  return "register " + shown(Value{name}) + " does not exist in this router; it has " + register_ranges(all) + ".";
}

std::vector<RegisterRecord> metro_register_records(const metro::Table& t, u32 max_turn_delay) {
  const u32 word = metro::kWordBits;
  const u32 port_bits = std::max<u32>(std::bit_width(t.outputs), 1);
  return {
      {"dilation", port_bits, "Equivalent backward ports per direction.", true, "ports"},
      {"on.#", 1, "The port is enabled.", true},
      {"drive.#", word, "Word that the port drives while it is off: kind times 65536, plus payload; 0: none.", true},
      {"captured.#", word, "Last word that arrived while the port was off."},
      {"turn_delay.#", std::max<u32>(std::bit_width(max_turn_delay), 1), "Configured delay of the port's wire.", true,
       "cycles"},
      {"fast.#", 1, "Forward ports only: fast path reclamation.", true},
      {"swallow.#", 1, "Forward ports only: the router drops the word that completes a connection's direction.", true},
      {"word.#", word, "Word that the port reads in the next cycle: kind times 65536, plus payload."},
      {"sent.#", word, "Word that the far end of the port's wire reads in the next cycle."},
      {"state.#", 8, "Forward ports only: state (metro::PortState)."},
      {"out.#", 8, "Forward ports only: backward port of the connection."},
      {"words.#", 32, "Forward ports only: data words that the connection has carried so far, in both directions.",
       false, "words"}};
}

std::map<std::string, u64> metro_registers(const Engine& engine, const metro::Table& t, const MetroNetwork& network,
                                           u32 router) {
  const auto c = get_element<metro::RouterControl>(engine, 0, kRouterKind, router, "control");
  const auto forward = get_elements<metro::ForwardPort>(engine, 0, kRouterKind, router, "forward");
  const auto drive = get_elements<u32>(engine, 0, kRouterKind, router, "drive");
  const auto captured = get_elements<u32>(engine, 0, kRouterKind, router, "captured");
  const auto delay = get_elements<u8>(engine, 0, kRouterKind, router, "turn_delay");
  const metro::RouterSetup& setup = network.setup[router / t.slices];
  const u32 slot = engine.now() & t.slot_mask, ports = t.ports();
  const auto word = [&](u32 kind, u32 item, u32 index) -> u64 {
    return get_element<metro::Word>(engine, 0, kind, item, "mail", index);
  };
  std::map<std::string, u64> all{{"dilation", 1u << c.log_dilation}};
  for (u32 p = 0; p < ports; ++p) {
    const bool is_forward = p < t.inputs;
    const u32 number = is_forward ? p : p - t.inputs;
    if (number >= (is_forward ? setup.forward : setup.backward)) continue;
    const std::string name = port_name(t, p);
    all["on." + name] = (is_forward ? c.forward_on : c.backward_on) >> number & 1;
    all["drive." + name] = drive[p];
    all["captured." + name] = captured[p];
    all["turn_delay." + name] = delay[p];
    all["word." + name] = word(kRouterKind, router, slot * ports + p);
    const metro::Wire& wire = network.wire(router / t.slices, p);
    if (wire.item != kNone && wire.to_endpoint)
      all["sent." + name] =
          word(kEndpointKind, wire.item, (slot * 2 * t.links + wire.port) * t.slices + router % t.slices);
    else if (wire.item != kNone)
      all["sent." + name] = word(kRouterKind, wire.item * t.slices + router % t.slices, slot * ports + wire.port);
    if (!is_forward) continue;
    all["fast." + name] = c.fast >> number & 1;
    all["swallow." + name] = c.swallow >> number & 1;
    const metro::ForwardPort& f = forward[number];
    all["state." + name] = static_cast<u64>(f.state);
    all["out." + name] = f.out;
    all["words." + name] = f.words;
  }
  return all;
}

}  // namespace flitlab
