/// The traffic matrix of a plan: weights of the destinations, or rates of the sources.
#include <algorithm>
#include <utility>

#include "host/config/value.hpp"
#include "host/plan/terminal_plan.hpp"
#include "kernels/common/error.hpp"
#include "kernels/traffic/params.hpp"

namespace flitlab {

void TerminalPlan::set_matrix(TrafficMatrix matrix) {
  TrafficTable& t = table;
  matrix_ = std::move(matrix);
  t.pattern = Pattern::kMatrix;
  t.row_start = matrix_.row_start.data();
  t.column = matrix_.column.data();
  t.cumulative = matrix_.cumulative.data();
}

void TerminalPlan::read_matrix_of(const Experiment& e) {
  set_matrix(read_matrix(e.text(param::traffic.matrix_file), table.terminals));
  for (u32 s = 0; s < table.terminals; ++s)
    for (u32 i = matrix_.row_start[s]; i < matrix_.row_start[s + 1]; ++i) {
      require_active(param::traffic.matrix_file.path, s);
      require_active(param::traffic.matrix_file.path, matrix_.column[i]);
      if (table.others_only && matrix_.column[i] == s)
        throw ConfigError("traffic.matrix_file: terminal " + std::to_string(s) +
                          " sends to itself, and traffic.self = false. Remove the line, set its value to 0, or set "
                          "traffic.self = true.");
    }
  if (!e.has(param::traffic.matrix_values)) return;  // a batch has packets but no rates
  if (e.is({param::traffic.matrix_values, "rates"}))
    set_rates(e);
  else
    compare_sums();
}

namespace {

/// Relative rounding error that a sum of decimal fractions may have.
constexpr double kRounding = 1e-9;

}  // namespace

void TerminalPlan::set_rates(const Experiment& e) {
  const double most = param::traffic.load.max;
  for (u32 s = 0; s < table.terminals; ++s) {
    const double load = std::min(matrix_.sum[s], most);
    const std::string row = "traffic.matrix_file: the rates of source " + std::to_string(s) + " add up to " +
                            shown(Value{matrix_.sum[s]}) + " flits/cycle, and ";
    if (matrix_.sum[s] > most * (1 + kRounding))
      throw ConfigError(row + "a terminal offers at most " + shown(Value{most}) +
                        ". Lower them, or set traffic.matrix_values = \"weights\".");
    if (e.has(param::traffic.burst_load)) {
      const double burst = e.f64(param::traffic.burst_load), on = e.f64(param::traffic.burst_cycles);
      if (const double largest = burst * on / (on + 1); load > largest)
        throw ConfigError(row + "bursts of " + shown(Value{on}) + " cycles at traffic.burst_load = " +
                          shown(Value{burst}) + " offer at most " + shown(Value{largest}) +
                          ", because a pause lasts at least a cycle. Lower the rates, lengthen traffic.burst_cycles or "
                          "raise traffic.burst_load.");
    }
    rates_.push_back(load > 0 ? make_rate(e, load) : SourceRate{});
  }
  table.rates = rates_.data();
}

void TerminalPlan::compare_sums() {
  u32 least = kNone, most = kNone;
  const std::vector<double>& sum = matrix_.sum;
  for (u32 s = 0; s < table.terminals; ++s) {
    if (!(sum[s] > 0)) continue;
    if (least == kNone || sum[s] < sum[least]) least = s;
    if (most == kNone || sum[s] > sum[most]) most = s;
  }
  if (least == kNone || sum[most] - sum[least] <= kRounding * sum[most]) return;
  warnings.push_back("traffic.matrix_file: the values of source " + std::to_string(most) + " add up to " +
                     shown(Value{sum[most]}) + ", the values of source " + std::to_string(least) + " to " +
                     shown(Value{sum[least]}) +
                     ". As weights, these sums have no effect: each source offers traffic.load. If the values are "
                     "rates in flits/cycle, set traffic.matrix_values = \"rates\".");
}

}  // namespace flitlab
