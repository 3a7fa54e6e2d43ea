#include "host/routers/t3e/console.hpp"

#include "host/routers/t3e/barriers.hpp"
#include "host/routers/t3e/node_registers.hpp"
#include "kernels/common/error.hpp"

namespace flitlab {
namespace {

constexpr ArgumentRecord kNode{"node", ArgumentType::kRouter, "Number of the node."};
constexpr ArgumentRecord kPe{"pe", ArgumentType::kRouter, "Number of the PE's node."};
constexpr ArgumentRecord kValue{"value", ArgumentType::kNumber, "New contents of the register.", "bits"};
constexpr ArgumentRecord kUnit{.name = "unit",
                               .type = ArgumentType::kNumber,
                               .help = "Number of the barrier unit, below barrier.units; 0 by default.",
                               .optional = true,
                               .max = t3e::kBarrierUnits - 1};
constexpr ArgumentRecord kDeltas{
    .name = "deltas",
    .type = ArgumentType::kIntegers,
    .help = "Six hop counts: primary X, Y, Z, then secondary X, Y, Z; negative: in the - direction.",
    .unit = "hops",
    .min = -127,
    .max = 127};
constexpr std::string_view kCite = "manual, Special Routing; paper, section 8";

u32 unit_of(const Arguments& a) { return a.has("unit") ? a.u32_of("unit") : 0; }

t3e::Deltas deltas_of(const Arguments& a) {
  const std::vector<std::int64_t> given = a.integers("deltas");
  t3e::Deltas deltas;
  if (given.size() != deltas.size())
    throw ConfigError("special packet: " + std::to_string(given.size()) +
                      " deltas; there are six, primary X, Y, Z and secondary X, Y, Z.");
  for (std::size_t i = 0; i < deltas.size(); ++i) deltas[i] = static_cast<int>(given[i]);
  return deltas;
}

}  // namespace

T3eConsole::T3eConsole(const T3ePlan& plan)
    : Console(plan.table().routers, plan.table().terminals),
      plan_(plan),
      feed_(plan.table().special ? std::make_unique<t3e::SpecialFeed>(plan.table().terminals) : nullptr) {
  offer_registers();
  offer_barriers();
  offer_special();
}

void T3eConsole::exchange(Engine& engine) {
  if (feed_) feed_->exchange(engine);
}
void T3eConsole::save(Saver& saver) const {
  if (feed_) feed_->save(saver);
}
void T3eConsole::load(Loader& loader) {
  if (feed_) feed_->load(loader);
}

t3e::SpecialFeed& T3eConsole::feed() {
  if (!feed_) throw ConfigError("this network has no special network: set special.enabled = true in a T3E.");
  return *feed_;
}

void T3eConsole::offer_registers() {
  offer({.of = "a node",
         .cite = "manual, Node Registers",
         .records = t3e::register_records(),
         .remark =
             "Writing R_ORIENT takes effect on all nodes at once. flitlab accepts a value that loses packets, with a "
             "warning.",
         .reads = "its 64 bits",
         .all = [this](const Engine& engine, u32 node) { return t3e::read_registers(engine, plan_.machine(), node); },
         .read = [this](const Engine& engine, u32 node,
                        const std::string& name) { return t3e::read_register(engine, plan_.machine(), node, name); },
         .write =
             [this](Engine& engine, u32 node, const std::string& name, u64 value) {
               for (const std::string& text : t3e::write_register(engine, plan_.machine(), node, name, value))
                 warn(text);
             }});
}

void T3eConsole::offer_barriers() {
  constexpr std::string_view cite = "paper, section 6, Figure 6";
  offer({.name = "barrier_state",
         .help = "State of a barrier unit at a PE.",
         .arguments = {kPe, kUnit},
         .returns = "S_BAR, S_ARM or S_EUR",
         .cite = cite},
        [this](Engine& engine, const Arguments& a) {
          return t3e::barrier_state(engine, plan_, a.u32_of("pe"), unit_of(a));
        });
  offer({.name = "barrier_operation",
         .help = "Performs an operation of a PE on a barrier unit; barrier.operation must be \"by_hand\".",
         .arguments = {kPe, {"operation", ArgumentType::kText, "OP_BAR, OP_EUR or OP_EUR_B."}, kUnit},
         .cite = cite},
        [this](Engine& engine, const Arguments& a) {
          t3e::operate_barrier(engine, plan_, a.u32_of("pe"), unit_of(a), a.text("operation"));
          return Datum{};
        });
  offer({.name = "barrier_register",
         .help = "A barrier unit's register in a router: its ports in the unit's spanning tree.",
         .arguments = {kNode, kUnit},
         .returns = "a map: children (names of ports), joined (children whose join has arrived), parent (none at "
                    "the root and outside the tree)",
         .cite = cite},
        [this](Engine& engine, const Arguments& a) {
          const t3e::BarrierPorts r = t3e::barrier_ports(engine, plan_, a.u32_of("node"), unit_of(a));
          return Datum::Map{{"children", Datum::list_of(r.children)},
                            {"joined", Datum::list_of(r.joined)},
                            {"parent", r.parent.empty() ? Datum{} : Datum{r.parent}}};
        });
}

void T3eConsole::offer_special() {
  const ArgumentRecord name{"name", ArgumentType::kText, register_names()};
  offer({.name = "special_put",
         .help = "The PE of a node sends an SPUT, which writes a register of the node where the packet ends. A PE "
                 "sends its packets in the order of the calls, one per clock while the network is stepped.",
         .arguments = {kNode, kDeltas, name, kValue},
         .cite = kCite},
        [this](Engine&, const Arguments& a) {
          feed().put(a.u32_of("node"), deltas_of(a), a.text("name"), a.number("value"));
          return Datum{};
        });
  offer({.name = "special_get",
         .help = "The PE of a node sends an SGET, which reads a register of the node where the packet ends. That "
                 "node's R_SGET_RTRN gives the path of the answer.",
         .arguments = {kNode, kDeltas, name},
         .returns = "the ticket, which the answer repeats",
         .cite = kCite},
        [this](Engine&, const Arguments& a) {
          return Datum{feed().get(a.u32_of("node"), deltas_of(a), a.text("name"))};
        });
  offer({.name = "special_answers",
         .help = "Returns the answers that have reached any PE since the last call, in the order of arrival.",
         .returns = "a list of maps: ticket, node (of the PE), value (64 bits), cycle",
         .cite = kCite},
        [this](Engine&, const Arguments&) {
          Datum::List answers;
          for (const t3e::TimedAnswer& x : feed().take_answers())
            answers.emplace_back(
                Datum::Map{{"ticket", x.ticket}, {"node", x.node}, {"value", x.value}, {"cycle", x.cycle}});
          return answers;
        });
}

}  // namespace flitlab
