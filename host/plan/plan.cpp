#include "host/plan/plan.hpp"

#include <cmath>

#include "host/config/cross_checks.hpp"
#include "host/config/registry.hpp"
#include "host/routers/t3e/special_feed.hpp"
#include "host/run/params.hpp"
#include "host/topology/params.hpp"
#include "kernels/common/error.hpp"
#include "kernels/traffic/params.hpp"

namespace flitlab {
namespace {

/// 1 / ln(1 - p) for geometric_trials(); 0 stands for p = 1.
double inverse_log_miss(double p) { return p < 1 ? 1 / std::log1p(-p) : 0; }

}  // namespace

Topology make_topology(const Experiment& e) {
  const std::string& kind = e.str(param::topology.kind);
  const u32 concentration = e.u32_of(param::topology.concentration);
  if (kind == "graph") return make_graph(e.file(param::topology.file), concentration);
  if (kind == "hypercube") return make_hypercube(e.u32_of(param::topology.dimensions), concentration);
  if (kind == "mesh") return make_mesh(e.ints(param::topology.shape), concentration);
  return make_torus(e.ints(param::topology.shape), concentration);
}

ReplicaRow make_row(const Experiment& e) {
  ReplicaRow row;
  row.seed = static_cast<u64>(e.i64(param::run.seed));
  if (!e.has(param::traffic.load)) return row;
  const double load = e.f64(param::traffic.load), packets = load / mean_packet(e);
  row.silent = load == 0;
  if (row.silent) return row;
  row.inverse_log_miss = inverse_log_miss(packets);
  row.period = 1 / packets;
  if (e.has(param::traffic.burst_load)) {
    const double burst_load = e.f64(param::traffic.burst_load), on = e.f64(param::traffic.burst_cycles);
    const double off = on * (burst_load / load - 1);
    row.inverse_log_miss = inverse_log_miss(burst_load / mean_packet(e));
    row.inverse_log_stay_on = inverse_log_miss(1 / on);
    row.inverse_log_stay_off = inverse_log_miss(1 / std::max(1.0, off));
  }
  return row;
}

u64 Plan::read_register(const Engine&, u32, const std::string& name) const {
  throw ConfigError("register " + name + ": routers of this kind have no registers.");
}

std::map<std::string, u64> Plan::read_registers(const Engine&, u32) const { return {}; }

std::vector<std::string> Plan::write_register(Engine& engine, u32 node, const std::string& name, u64) const {
  read_register(engine, node, name);
  return {};
}

namespace {
[[noreturn]] void no_barriers(u32 unit) {
  throw ConfigError("barrier unit " + std::to_string(unit) + ": routers of this kind have none.");
}
}  // namespace

std::string Plan::barrier_state(const Engine&, u32, u32 unit) const { no_barriers(unit); }
void Plan::barrier_operation(Engine&, u32, u32 unit, const std::string&) const { no_barriers(unit); }
BarrierSnapshot Plan::barrier_register(const Engine&, u32, u32 unit) const { no_barriers(unit); }

u32 Plan::send_control(Engine&, u32, const std::vector<ControlRequest>&) const {
  throw ConfigError("control messages: routers of this kind know none; router.kind = \"sconnect\" does.");
}
void Plan::set_addresses(Engine&, const std::vector<u32>&) const {
  throw ConfigError(
      "addresses: terminals of this kind have none of their own; those of router.kind = \"sconnect\" have.");
}
std::vector<ControlReply> Plan::take_replies(Engine&, u32) const { return {}; }

std::unique_ptr<t3e::SpecialFeed> Plan::special_feed() const { return nullptr; }

std::unique_ptr<Plan> make_plan(const Experiment& e) { return model_of(e.kind()).make_plan(e); }

}  // namespace flitlab
