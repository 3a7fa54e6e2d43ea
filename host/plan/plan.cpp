#include "host/plan/plan.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "host/config/cross_checks.hpp"
#include "host/config/registry.hpp"
#include "host/config/run_params.hpp"
#include "host/config/topology_params.hpp"
#include "kernels/common/bits.hpp"
#include "kernels/common/error.hpp"
#include "kernels/traffic/params.hpp"
#include "kernels/traffic/program_state.hpp"

namespace flitlab {
namespace {

/// Returns 1 / ln(1 - p), which geometric_trials() needs, or 0 for p = 1.
double inverse_log_miss(double p) { return p < 1 ? 1 / std::log1p(-p) : 0; }

}  // namespace

Fill Plan::fill(const std::vector<std::byte>&, u32, const std::vector<PortSnapshot>& ports) const {
  Fill fill;
  for (const PortSnapshot& port : ports)
    for (const VcSnapshot& vc : port.vcs)
      if (vc.capacity) {
        fill.held += vc.flits;
        fill.places += vc.capacity;
      }
  return fill;
}

std::vector<u32> Plan::program_ends(const std::vector<std::byte>& state) const {
  const ItemKind& terminals = layout().kinds[1];
  const auto field = std::find_if(terminals.fields.begin(), terminals.fields.end(),
                                  [](const FieldInfo& f) { return f.name == "program"; });
  if (field == terminals.fields.end() || !field->count) return {};
  std::vector<u32> ends;
  for (u32 i = 0; i < terminals.count; ++i) {
    std::vector<ProgramControl> ranks(field->count);
    std::memcpy(ranks.data(),
                &state[layout().kind_offset(1, 1) + std::size_t{i} * terminals.item_bytes + field->offset],
                ranks.size() * sizeof ranks[0]);
    u32 end = 0;
    for (const ProgramControl& rank : ranks) end = std::max(end, rank.done ? rank.finished : kNone);
    ends.push_back(end);
  }
  return ends;
}

void require_equal_channels(const Experiment& e, const Topology& topology) {
  if (!topology.own_channels.empty())
    throw ConfigError(
        "topology.file: " + e.file(param::topology.file) + " gives channels a delay or width of their own, and in " +
        quoted_kind(e) +
        " all channels are alike: remove the columns after a,b (in Python: the attributes of edges), or use "
        "router.kind = \"vc\".");
}

SourceRate make_rate(const Experiment& e, double load) {
  const double packets = load / mean_packet(e);
  SourceRate rate{inverse_log_miss(packets), 1 / packets, 0};
  if (e.has(param::traffic.burst_load)) {
    const double burst_load = e.f64(param::traffic.burst_load), on = e.f64(param::traffic.burst_cycles);
    const double off = on * (burst_load / load - 1);
    rate.inverse_log_miss = inverse_log_miss(burst_load / mean_packet(e));
    rate.inverse_log_stay_off = inverse_log_miss(1 / std::max(1.0, off));
  }
  return rate;
}

ReplicaRow make_row(const Experiment& e) {
  ReplicaRow row;
  row.seed = static_cast<u64>(e.i64(param::run.seed));
  if (e.has(param::traffic.burst_load))
    row.inverse_log_stay_on = inverse_log_miss(1 / e.f64(param::traffic.burst_cycles));
  if (!e.has(param::traffic.load)) return row;
  const double load = e.f64(param::traffic.load);
  row.silent = load == 0;
  for (SourceRow& of_class : row.more) of_class.silent = row.silent;
  if (row.silent) return row;
  if (traffic_classes(e) == 1) {
    static_cast<SourceRate&>(row) = make_rate(e, load);
    return row;
  }
  for (u32 c = 0; c < traffic_classes(e); ++c) {
    const Experiment one = class_of(e, c);
    SourceRow& of_class = c ? row.more[c - 1] : row;
    of_class = row;
    of_class.seed = c ? mix64(row.seed + c) : row.seed;
    static_cast<SourceRate&>(of_class) = make_rate(one, one.f64(param::traffic.load));
  }
  return row;
}

std::unique_ptr<Plan> make_plan(const Experiment& e) {
  std::unique_ptr<Plan> plan = model_of(e.kind()).make_plan(e);
  plan->size = size_text(e);
  if (e.is({param::traffic.mode, "program"}) && !plan->facts().identifies_arrivals)
    throw ConfigError(
        "traffic.mode = \"program\": terminals of this network cannot identify the packet that has arrived, so they "
        "cannot tell which message is complete. Use another network, or packets of a trace.");
  return plan;
}

}  // namespace flitlab
