#include "host/routers/sconnect/tools.hpp"

#include <array>
#include <limits>

#include "host/config/check.hpp"
#include "host/routers/sconnect/build.hpp"
#include "host/routers/sconnect/explore.hpp"
#include "host/routers/sconnect/make_tables.hpp"
#include "host/routers/sconnect/order.hpp"
#include "kernels/common/error.hpp"
#include "kernels/routers/sconnect/channel.hpp"

namespace flitlab {
namespace {

using sconnect::kPorts;
using sconnect::kSerial;
using sconnect::Link;
using sconnect::LinkKind;

/// Names of defects, in the order of ChannelDefect.
const std::vector<std::string> kDefects{"",
                                        "ignores_sequence",
                                        "fails_unreadable",
                                        "reads_first_answer",
                                        "answers_too_early",
                                        "takes_partial_quads",
                                        "takes_void",
                                        "answers_if_asked_only",
                                        "never_asks"};

sconnect::ChannelDefect defect_of(const std::string& name) {
  static_assert(sconnect::kChannelDefects == 9);
  for (u32 i = 0; i < kDefects.size(); ++i)
    if (kDefects[i] == name) return static_cast<sconnect::ChannelDefect>(i);
  throw ConfigError("defect = \"" + name + "\" is unknown" + did_you_mean(nearest(name, kDefects)) + " Defects are " +
                    listed({kDefects.begin() + 1, kDefects.end()}) + ".");
}

/// Returns an argument's two values, one for each end of a channel.
template <class T, class Wanted>
std::array<Wanted, 2> both(const Arguments& a, const char* name, const char* what) {
  const auto* list = std::get_if<Datum::List>(&a.at(name).value);
  std::array<Wanted, 2> pair{};
  for (std::size_t i = 0; i < 2; ++i) {
    const T* x = list && list->size() == 2 ? std::get_if<T>(&(*list)[i].value) : nullptr;
    if (!x) throw ConfigError(std::string(name) + ": give two " + what + ", one for each end of the channel.");
    pair[i] = static_cast<Wanted>(std::min<T>(*x, std::numeric_limits<Wanted>::max()));
  }
  return pair;
}

Datum explore(const Experiment*, const Arguments& a) {
  const auto numbers = [&](const char* name) { return both<u64, u32>(a, name, "numbers of messages"); };
  const auto flags = [&](const char* name) { return both<bool, bool>(a, name, "times true or false"); };
  sconnect::ChannelInstance instance;
  instance.delay = both<u64, u32>(a, "delay", "delays in routing cycles");
  instance.singles = numbers("singles");
  instance.quads = numbers("quads");
  instance.hits = flags("hits");
  instance.refuses = flags("refuses");
  instance.voids = flags("voids");
  instance.switches = a.flag("switches");
  instance.endless = a.flag("endless");
  instance.defect = defect_of(a.text("defect"));
  const sconnect::Exploration found = sconnect::explore_channel(instance, a.number("most_states"));
  return Datum::Map{{"states", found.states},
                    {"transitions", found.transitions},
                    {"depth", found.depth},
                    {"complete", found.complete},
                    {"violation", found.violation}};
}

Datum protocol_bits(const Experiment*, const Arguments&) {
  using namespace sconnect;
  return Datum::Map{{"present", kPresent}, {"sequence", kSequence}, {"answer", kAcknowledge},
                    {"abort", kAbort},     {"quad", kQuad},         {"last", kLast}};
}

/// Returns an argument's list of rows of N whole numbers.
template <std::size_t N>
std::vector<std::array<u32, N>> rows_of(const Arguments& a, const char* name) {
  const auto fail = [&] {
    throw ConfigError(std::string(name) + ": give a list of " + std::to_string(N) +
                      " non-negative whole numbers each, of up to 32 bits.");
  };
  std::vector<std::array<u32, N>> rows;
  const auto* list = std::get_if<Datum::List>(&a.at(name).value);
  if (!list) fail();
  for (const Datum& d : *list) {
    const auto* row = std::get_if<Datum::List>(&d.value);
    if (!row || row->size() != N) fail();
    rows.emplace_back();
    for (std::size_t i = 0; i < N; ++i) {
      const auto* x = std::get_if<u64>(&(*row)[i].value);
      if (!x || *x > kNone) fail();
      rows.back()[i] = static_cast<u32>(*x);
    }
  }
  return rows;
}

SconnectFabric fabric_of(const Arguments& a) {
  const u32 tics = a.u32_of("tics");
  if (tics > 4 * kMostSconnectNodes) throw ConfigError("tics = " + std::to_string(tics) + " is too large.");
  SconnectFabric f;
  f.kind = "graph";
  f.tics = tics;
  f.node_of.assign(tics, kNone);
  f.links.resize(std::size_t{tics} * kPorts);
  for (u32 tic = 0; tic < tics; ++tic) f.names.push_back(std::to_string(tic));
  const auto add_link = [&](u32 tic, u32 port, const Link& link) {
    const std::string name = "port " + std::to_string(port) + " of TIC " + std::to_string(tic);
    if (tic >= tics || port >= kPorts) throw ConfigError(name + " does not exist.");
    if (link.kind != LinkKind::kHost && (link.far >= tics || link.port >= kPorts || link.far == tic))
      throw ConfigError(name + " leads to no other TIC.");
    Link& there = f.links[std::size_t{tic} * kPorts + port];
    if (there.kind != LinkKind::kNone) throw ConfigError(name + " is given twice.");
    there = link;
  };
  for (const auto& [tic, port, far, far_port] : rows_of<4>(a, "links")) {
    const LinkKind kind = port < kSerial ? LinkKind::kSerial : LinkKind::kParallel;
    add_link(tic, port, {far, static_cast<u8>(std::min(far_port, 255u)), kind, 1, 0});
  }
  for (const auto& [tic, port, node] : rows_of<3>(a, "hosts")) {
    add_link(tic, port, {f.terminals++, 0, LinkKind::kHost, 1, 0});
    if (node >= tics) throw ConfigError("node " + std::to_string(node) + ": number nodes from 0.");
    if (f.node_of[tic] != kNone && f.node_of[tic] != node)
      throw ConfigError("TIC " + std::to_string(tic) + " belongs to two nodes.");
    f.node_of[tic] = node;
    f.nodes = std::max(f.nodes, node + 1);
  }
  for (u32 tic = 0; tic < tics; ++tic)
    for (u32 port = 0; port < kPorts; ++port) {
      const Link& link = f.link(tic, port);
      if (!leads_to_tic(link)) continue;
      const Link& back = f.link(link.far, link.port);
      if (back.kind != link.kind || back.far != tic || back.port != port)
        throw ConfigError("port " + std::to_string(port) + " of TIC " + std::to_string(tic) +
                          " has no matching link in the opposite direction. Give both directions of every channel.");
    }
  f.shape = {f.nodes};
  const auto at = sconnect_hosts(f);
  for (u32 node = 0; node < f.nodes; ++node)
    if (at[node].empty()) throw ConfigError("node " + std::to_string(node) + " has no host.");
  if (!f.nodes) throw ConfigError("there is no host.");
  for (u32 hops : sconnect_hops(f, {0}))
    if (hops == kNone) throw ConfigError("the fabric is disconnected.");
  return f;
}

Datum tables(const Experiment*, const Arguments& a) {
  const SconnectFabric f = fabric_of(a);
  const SconnectTables tables = shortest_sconnect_tables(f);
  Datum::List entries;
  entries.reserve(f.tics);
  for (u32 tic = 0; tic < f.tics; ++tic) {
    const auto first = tables.entry.begin() + std::size_t{tic} * f.nodes;
    entries.emplace_back(Datum::List(first, first + f.nodes));
  }
  return Datum::Map{{"entries", std::move(entries)},
                    {"tree", tables.tree},
                    {"mean_hops", tables.mean_hops},
                    {"stretch", tables.stretch}};
}

Datum table_fault(const Experiment*, const Arguments& a) {
  const SconnectFabric f = fabric_of(a);
  const std::vector<std::int64_t> given = a.integers("entries");
  if (given.size() != std::size_t{f.tics} * f.nodes)
    throw ConfigError("there are " + std::to_string(given.size()) + " entries for " + std::to_string(f.tics) +
                      " TICs and " + std::to_string(f.nodes) + " nodes.");
  return sconnect_table_fault(f, {given.begin(), given.end()});
}

}  // namespace

std::vector<Tool> sconnect_tools() {
  const ArgumentRecord tics{
      .name = "tics", .type = ArgumentType::kNumber, .help = "Number of TICs.", .max = 4294967295.0};
  const ArgumentRecord links{"links", ArgumentType::kAny,
                             "A list of lists: TIC, port, far TIC, far port; both directions of every channel."};
  const ArgumentRecord hosts{"hosts", ArgumentType::kAny, "A list of lists: TIC, port, node."};
  const auto two = [](std::string_view name, std::string_view help) {
    return ArgumentRecord{name, ArgumentType::kAny, help};
  };
  const auto flag = [](std::string_view name, std::string_view help) {
    return ArgumentRecord{name, ArgumentType::kFlag, help};
  };
  return {
      {{.name = "explore",
        .help = "Explores all states of a channel that carries a few messages.",
        .arguments = {two("delay", "Delays from each end to the other, 1 or 2 routing cycles."),
                      two("singles", "Single messages that each end sends."),
                      two("quads", "Quads that each end sends."),
                      two("hits", "Whether slots that each end sends may be damaged."),
                      two("refuses", "Whether the receiver of each end's messages may lack a buffer."),
                      two("voids", "Whether each end may abort messages in transmission (late abort)."),
                      flag("switches", "Whether each end may be switched off and on at any time."),
                      flag("endless", "Whether a new message replaces each delivered one."),
                      {"defect", ArgumentType::kText,
                       "Defect to build into the protocol: ignores_sequence, fails_unreadable, reads_first_answer, "
                       "answers_too_early, takes_partial_quads, takes_void, answers_if_asked_only or never_asks; "
                       "\"\": none."},
                      {"most_states", ArgumentType::kNumber, "Limit of states, about 50 bytes each."}},
        .returns = "a map: states, transitions, depth (routing cycles), complete (whether all states were explored), "
                   "violation (and the shortest sequence to it; \"\": none)",
        .cite = "S-Connect, 3.2"},
       explore},
      {{.name = "protocol_bits",
        .help = "Bits that a slot carries besides a message.",
        .returns = "a map: name of a bit -> its value",
        .cite = "S-Connect, 3.2"},
       protocol_bits},
      {{.name = "tables",
        .help = "Deadlock-free routing tables of a fabric, of shortest paths as far as flitlab finds them.",
        .arguments = {tics, links, hosts},
        .returns = "a map: entries (for each TIC a list by node: options, bit 2 port + virtual channel), tree (whether "
                   "they follow a spanning tree), mean_hops, stretch (mean_hops / mean of the shortest paths)",
        .cite = "S-Connect, 2.4"},
       tables},
      {{.name = "table_fault",
        .help = "First fault of routing tables of a fabric.",
        .arguments = {tics,
                      links,
                      hosts,
                      {"entries", ArgumentType::kIntegers, "Options [TIC][node], as one list.", "", false, 0, 65535}},
        .returns = "a text; \"\": no fault",
        .cite = "S-Connect, 2.4"},
       table_fault},
  };
}

}  // namespace flitlab
