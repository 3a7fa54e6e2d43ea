#include "host/run/conservation.hpp"

#include "kernels/common/counters.hpp"
#include "kernels/common/error.hpp"
#include "kernels/common/fault.hpp"

namespace flitlab {
namespace {

std::string fault_text(u32 bits) {
  std::string text;
  const auto add = [&](u32 bit, const char* what) {
    if (bits & bit) text += (text.empty() ? "" : "; ") + std::string(what);
  };
  add(kFaultBufferOverflow, "a flit arrived at a full buffer");
  add(kFaultCreditOverflow, "more credits than buffer slots");
  add(kFaultMisrouted, "a packet reached the wrong terminal");
  add(kFaultNoRoute, "no route toward a destination");
  add(kFaultCreditLost, "credits and flits of a channel do not add up to its buffer");
  add(kFaultQueueOverflow, "a terminal's queue overflowed");
  add(kFaultBookkeeping, "the sets of virtual channels disagree with their states");
  add(kFaultLostMessage, "a message was lost or received twice");
  return text;
}

constexpr const char* kDefect = " This is a defect of flitlab; please report it.";

std::string explained(const FaultReport& fault, const Engine& engine, const Plan& plan, u32 replica,
                      const std::string& where) {
  if (const std::string why = plan.explain_fault(fault, engine.state(replica)); !why.empty())
    return why + " (" + where + ").";
  return "device fault (" + where + ", " +
         (fault.kind == 0 ? "router " + plan.router_name(fault.item) : "terminal " + std::to_string(fault.item)) +
         (fault.port == kNone ? "" : ", port " + plan.port_name(fault.port)) + "): " + fault_text(fault.bits) + "." +
         kDefect;
}

/// Throws RunError unless the audit has found inside the network everything that has entered it and not left it.
/// `before`, `after`: totals before and after the audit.
void compare(const PlanFacts& facts, const Totals& before, const Totals& after, const auto& where) {
  const auto check = [&](const Conserved& law) {
    u64 expected = after[law.entered];
    for (u32 left : law.left) expected -= after[left];
    const u64 inside = after[law.audited] - before[law.audited];
    if (inside != expected)
      throw RunError(law.what + " are not conserved (" + where() + "): " + std::to_string(expected) +
                     " should be in the network, " + std::to_string(inside) + " are." + kDefect);
  };
  check(conserved("flits", Total::kAuditedFlits, Total::kFlitsInjected, Total::kFlitsDelivered, Total::kFlitsDropped));
  check(conserved("packets", Total::kAuditedPackets, Total::kPacketsInjected, Total::kPacketsDelivered,
                  Total::kPacketsDropped));
  for (const Conserved& law : facts.conserved) check(law);
}

}  // namespace

std::vector<Totals> check_conservation(Engine& engine, const Plan& plan, std::span<const u32> replicas) {
  const std::vector<Totals> before = engine.totals(replicas);
  const std::vector<FaultReport> faults = engine.audits(replicas);
  std::vector<Totals> after = engine.totals(replicas);
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    const u32 replica = replicas[i];
    const auto where = [&] { return "replica " + std::to_string(replica) + ", cycle " + std::to_string(engine.now()); };
    if (faults[i].bits) throw RunError(explained(faults[i], engine, plan, replica, where()));
    compare(plan.facts(), before[i], after[i], where);
  }
  return after;
}

void check_conservation(Engine& engine, const Plan& plan, u32 replica) {
  const u32 only[] = {replica};
  check_conservation(engine, plan, only);
}

void check_loaded(Engine& engine, const Plan& plan, u32 replica) {
  const std::vector<std::byte> state = engine.state(replica);
  const CounterShard counters = engine.counters(replica);
  try {
    check_conservation(engine, plan, replica);
  } catch (const RunError& error) {
    std::string what = error.what();
    if (what.ends_with(kDefect)) what.resize(what.size() - std::string_view(kDefect).size());
    throw ConfigError("checkpoint: its state is impossible; the file has been modified. The check found: " + what);
  }
  engine.set_state(replica, state);  // undoes the audit, which writes its counts into state and counters
  engine.set_counters(replica, counters);
}

}  // namespace flitlab
