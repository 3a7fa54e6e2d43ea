#include "host/routers/metro/registers.hpp"

#include <algorithm>
#include <bit>

#include "host/config/check.hpp"
#include "host/config/value.hpp"
#include "host/plan/console.hpp"
#include "kernels/common/error.hpp"

namespace flitlab {
namespace {

/// Returns the values of a field in all items, or an empty vector if the items of this network do not have the field.
template <class T>
std::vector<T> get(const Engine& engine, u32 replica, u32 kind, std::string_view name) {
  const ItemKind& items = engine.layout().kinds[kind];
  if (std::none_of(items.fields.begin(), items.fields.end(), [&](const FieldInfo& f) { return f.name == name; }))
    return {};
  const FieldInfo& info = items.field(name);
  std::vector<T> all(std::size_t{items.count} * info.count);
  if (!all.empty()) engine.get_field(replica, kind, info, all.data());
  return all;
}

template <class T>
void put(Engine& engine, u32 replica, u32 kind, const char* name, const std::vector<T>& all) {
  if (!all.empty()) engine.set_field(replica, kind, engine.layout().kinds[kind].field(name), all.data());
}

std::string port_name(const metro::Table& t, u32 port) {
  return port < t.inputs ? "f" + std::to_string(port) : "b" + std::to_string(port - t.inputs);
}

}  // namespace

MetroRegisters::MetroRegisters(Engine& engine, u32 replica, const metro::Table& table)
    : engine_(engine),
      replica_(replica),
      t_(table),
      control_(get<metro::RouterControl>(engine, replica, 0, "control")),
      wire_(get<metro::WireState>(engine, replica, 0, "wire")),
      endpoint_wire_(get<metro::WireState>(engine, replica, 1, "wire")),
      links_on_(get<u32>(engine, replica, 1, "links_on")),
      drive_(get<u32>(engine, replica, 0, "drive")),
      turn_delay_(get<u8>(engine, replica, 0, "turn_delay")),
      forward_(get<metro::ForwardPort>(engine, replica, 0, "forward")) {}

void MetroRegisters::write() {
  put(engine_, replica_, 0, "control", control_);
  put(engine_, replica_, 0, "wire", wire_);
  put(engine_, replica_, 1, "wire", endpoint_wire_);
  put(engine_, replica_, 1, "links_on", links_on_);
  put(engine_, replica_, 0, "drive", drive_);
  put(engine_, replica_, 0, "turn_delay", turn_delay_);
  put(engine_, replica_, 0, "forward", forward_);
}

void MetroRegisters::set_port(u32 router, u32 port, bool on) {
  metro::RouterControl& c = control_[router];
  u32& set = port < t_.inputs ? c.forward_on : c.backward_on;
  const u32 me = 1u << (port < t_.inputs ? port : port - t_.inputs);
  set = on ? set | me : set & ~me;
  c.some_off = ~c.forward_on || ~c.backward_on;
}

void MetroRegisters::apply(const MetroFault& f) {
  switch (f.what) {
    case MetroFault::What::kDeadRouter:
      control_[f.item].dead = f.value != 0;
      control_[f.item].active = control_[f.item].used = 0;  // after a repair, the router has no connections
      for (u32 p = 0; p < t_.inputs; ++p) forward_[std::size_t{f.item} * t_.inputs + p].state = metro::PortState::kIdle;
      break;
    case MetroFault::What::kMisallocation: control_[f.item].misallocate = f.value; break;
    case MetroFault::What::kWire:
      (f.endpoint ? endpoint_wire_[std::size_t{f.item} * 2 * t_.links * t_.slices + f.port]
                  : wire_[std::size_t{f.item} * t_.ports() + f.port]) = f.wire;
      break;
    case MetroFault::What::kTap: break;  // this fault concerns the console only
    case MetroFault::What::kPort:
      if (f.endpoint)
        links_on_[f.item] = f.value ? links_on_[f.item] | 1u << f.port : links_on_[f.item] & ~(1u << f.port);
      else
        set_port(f.item, f.port, f.value != 0);
      break;
  }
}

void MetroRegisters::set(u32 router, const std::string& name, u64 value, const MetroNetwork& network) {
  const metro::RouterSetup& setup = network.setup[router / t_.slices];
  const auto refuse = [&](const std::string& allowed) {
    throw ConfigError("register " + name + " = " + std::to_string(value) + ": " + allowed);
  };
  metro::RouterControl& c = control_[router];
  if (name == "dilation") {
    const u32 most = std::min<u32>(network.max_dilation, setup.backward / 2);
    if (value > most || !std::has_single_bit(value))
      refuse("the dilation is a power of two up to " + std::to_string(most) +
             " (limited by router.max_dilation; a router has two directions or more).");
    c.log_dilation = static_cast<u8>(std::bit_width(value) - 1);
    c.log_radix = static_cast<u8>(std::bit_width(u32{setup.backward}) - 1 - c.log_dilation);
    return;
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
    flag(c.fast);
  } else if (what == "swallow") {
    if (t_.header_words)
      refuse("routers that consume header words of their own (router.header_words) have no swallow setting.");
    flag(c.swallow);
  } else if (what == "drive") {
    if (value >> (metro::kKindShift + metro::kKindBits) || metro::payload_of(static_cast<u32>(value)) >> t_.width)
      refuse("a word is a kind from 0 to 7, times 65536, plus a payload of router.width bits.");
    drive_[std::size_t{router} * t_.ports() + port] = static_cast<u32>(value);
  } else if (what == "turn_delay") {
    if (value > network.max_turn_delay)
      refuse("it is 0 to " + std::to_string(network.max_turn_delay) + " cycles (router.max_turn_delay).");
    turn_delay_[std::size_t{router} * t_.ports() + port] = static_cast<u8>(value);
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
  const u32 word = metro::kKindShift + metro::kKindBits;
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
  const auto controls = get<metro::RouterControl>(engine, 0, 0, "control");
  const auto forward = get<metro::ForwardPort>(engine, 0, 0, "forward");
  const auto inbox = get<metro::Word>(engine, 0, 0, "mail");
  const auto endpoint_inbox = get<metro::Word>(engine, 0, 1, "mail");
  const auto drive = get<u32>(engine, 0, 0, "drive"), captured = get<u32>(engine, 0, 0, "captured");
  const auto delay = get<u8>(engine, 0, 0, "turn_delay");
  const metro::RouterControl& c = controls[router];
  const metro::RouterSetup& setup = network.setup[router / t.slices];
  const u32 slots = t.slot_mask + 1, slot = engine.now() & t.slot_mask, ports = t.ports();
  std::map<std::string, u64> all{{"dilation", 1u << c.log_dilation}};
  for (u32 p = 0; p < ports; ++p) {
    const bool is_forward = p < t.inputs;
    const u32 number = is_forward ? p : p - t.inputs;
    if (number >= (is_forward ? setup.forward : setup.backward)) continue;
    const std::string name = port_name(t, p);
    const std::size_t index = std::size_t{router} * ports + p;
    all["on." + name] = (is_forward ? c.forward_on : c.backward_on) >> number & 1;
    all["drive." + name] = drive[index];
    all["captured." + name] = captured[index];
    all["turn_delay." + name] = delay[index];
    all["word." + name] = inbox[(std::size_t{router} * slots + slot) * ports + p];
    const metro::Wire& wire = network.wire(router / t.slices, p);
    if (wire.item != kNone && wire.to_endpoint)
      all["sent." + name] =
          endpoint_inbox[((std::size_t{wire.item} * slots + slot) * 2 * t.links + wire.port) * t.slices +
                         router % t.slices];
    else if (wire.item != kNone)
      all["sent." + name] =
          inbox[(std::size_t{wire.item * t.slices + router % t.slices} * slots + slot) * ports + wire.port];
    if (!is_forward) continue;
    all["fast." + name] = c.fast >> number & 1;
    all["swallow." + name] = c.swallow >> number & 1;
    const metro::ForwardPort& f = forward[std::size_t{router} * t.inputs + number];
    all["state." + name] = static_cast<u64>(f.state);
    all["out." + name] = f.out;
    all["words." + name] = f.words;
  }
  return all;
}

}  // namespace flitlab
