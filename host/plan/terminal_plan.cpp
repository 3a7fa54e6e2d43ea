#include "host/plan/terminal_plan.hpp"

#include <algorithm>
#include <cmath>
#include <thread>
#include <utility>

#include "host/config/cross_checks.hpp"
#include "host/config/registry.hpp"
#include "host/config/value.hpp"
#include "host/plan/not_measured.hpp"
#include "host/plan/trace_order.hpp"
#include "kernels/common/error.hpp"
#include "kernels/traffic/params.hpp"

namespace flitlab {

void TerminalPlan::set_groups(const Groups& groups, const std::vector<u32>& devices) {
  groups_.assign(table.terminals, TrafficGroup{0, 0, 0});
  takes_part_.assign(table.terminals, false);
  for (const std::vector<u32>& group : groups) {
    const u32 first = static_cast<u32>(members_.size());
    for (u32 rank = 0; rank < group.size(); ++rank)
      groups_[group[rank]] = {first, static_cast<u32>(group.size()), rank};
    members_.insert(members_.end(), group.begin(), group.end());
  }
  active = static_cast<u32>(members_.size());
  for (u32 device : devices) {
    groups_[device] = {static_cast<u32>(members_.size()), 0, 0};
    members_.push_back(device);
  }
  for (u32 member : members_) takes_part_[member] = true;
  table.group = groups_.data();
  table.member = members_.data();
}

void TerminalPlan::require_active(std::string_view path, u32 terminal) const {
  if (table.group && !takes_part_[terminal])
    throw ConfigError(std::string(path) + ": terminal " + std::to_string(terminal) +
                      " takes no part in the traffic, because it is idle or out of service. Choose another terminal.");
}

void TerminalPlan::set_region(const Experiment& e, const Topology& topology) {
  TrafficTable& t = table;
  if (t.group)
    throw ConfigError(
        "traffic.pattern = \"all_to_region\" needs a whole machine, without partitions, spares or idle terminals. "
        "Remove these, or use another pattern.");
  t.pattern = Pattern::kAllToRegion;
  destinations_ = hot_region(topology, e.ints(param::traffic.hot_shape));
  t.hot_count = static_cast<u32>(destinations_.size());
  if (t.hot_count == t.terminals)
    throw ConfigError("traffic.hot_shape = " + list_text(e.ints(param::traffic.hot_shape)) +
                      " is the whole network, but only terminals outside of it send. Make it smaller.");
  set_turns(e, t.hot_count);
}

void TerminalPlan::set_all_to_all(const Experiment& e) {
  TrafficTable& t = table;
  t.pattern = Pattern::kAllToAll;
  u32 most = 0;
  for (u32 i = 0; i < t.terminals; ++i) most = std::max(most, group_of(t, i).count);
  if (most < 2)
    throw ConfigError(
        "traffic.pattern = \"all_to_all\" needs groups of at least two terminals, but every terminal is alone in its "
        "group. Enlarge the network or its partitions, or use another pattern.");
  set_turns(e, most - 1);
}

void TerminalPlan::set_turns(const Experiment& e, u32 destinations) {
  TrafficTable& t = table;
  t.order = e.choice<Order>(param::traffic.order);
  t.in_a_row = e.u32_of(param::traffic.in_a_row);
  if (!e.has(param::traffic.rounds)) return;
  const u64 rounds = e.u32_of(param::traffic.rounds), packets = rounds * t.in_a_row * destinations;
  constexpr u64 kMost = 1000000000;
  if (packets > kMost)
    throw ConfigError("traffic.rounds = " + std::to_string(rounds) + " with traffic.in_a_row = " +
                      std::to_string(t.in_a_row) + " makes a terminal send " + std::to_string(packets) +
                      " packets; at most " + std::to_string(kMost) + " are allowed. Lower one of them.");
  t.batch_packets = static_cast<u32>(rounds * t.in_a_row);
}

void TerminalPlan::set_exchange(const std::string& pattern, const Groups& groups) {
  if (!table.group) return set_matrix(even_matrix(exchange_partners(pattern, table.terminals)));
  std::vector<std::vector<u32>> rows(table.terminals);
  for (const std::vector<u32>& group : groups) {
    const std::vector<std::vector<u32>> partners = exchange_partners(pattern, static_cast<u32>(group.size()));
    for (u32 rank = 0; rank < group.size(); ++rank)
      for (u32 partner : partners[rank]) rows[group[rank]].push_back(group[partner]);
  }
  set_matrix(even_matrix(rows));
}

void TerminalPlan::set_next(const std::string& pattern, const Topology& topology) {
  if (table.group)
    throw ConfigError("traffic.pattern = \"" + pattern +
                      "\" needs a whole machine, without partitions, spares or idle terminals. Remove these, or use "
                      "another pattern.");
  if (pattern == "next_group" && topology.group.empty())
    throw ConfigError("traffic.pattern = \"next_group\" needs groups of routers, which a " + topology.kind +
                      " does not have. Use topology.kind = \"dragonfly\" or \"megafly\", or the pattern "
                      "\"next_router\".");
  set_matrix(even_matrix(next_partners(pattern, topology)));
}

namespace {

bool has_program_software(const Experiment& e) { return model_of(e.kind()).program_software; }

TrafficMode mode_of(const Experiment& e) {
  const std::string& mode = e.str(param::traffic.mode);
  return mode == "request_reply"  ? TrafficMode::kRequestReply
         : comes_from_host(e)     ? TrafficMode::kTrace
         : mode == "program"      ? has_program_software(e) ? TrafficMode::kProgram : TrafficMode::kTrace
         : mode == "broadcast"    ? TrafficMode::kBroadcast
         : traffic_classes(e) > 1 ? TrafficMode::kClasses
                                  : TrafficMode::kOpen;
}

/// Returns the threshold of 32-bit draws for a hot terminal as destination: a draw below it selects a hot terminal.
u32 hot_threshold(const Experiment& e) {
  return static_cast<u32>(std::min(e.f64(param::traffic.hot_fraction) * 4294967296.0, 4294967295.0));
}

/// Returns 1 / ln(1 - 1 / mean), which draws of geometric packet lengths need; 0: every packet has one flit.
double inverse_log_continue(const Experiment& e) {
  const double uncut = geometric_mean(e);
  return uncut > 1 ? 1 / std::log1p(-1 / uncut) : 0;
}

}  // namespace

TerminalPlan::TerminalPlan(const Experiment& e, const Topology& topology, const Groups& groups,
                           const std::vector<u32>& devices, u32 class_number) {
  class_number_ = class_number;
  table.terminals = topology.terminals;
  table.others_only = !e.flag(param::traffic.self);
  active = table.terminals;
  if (!groups.empty()) set_groups(groups, devices);
  mode = mode_of(e);
  set_priorities(e);
  if (mode == TrafficMode::kTrace) {
    table.classes = traffic_classes(e);
    table.trace_window = has_trace_window(e);
  }
  if (e.is({param::traffic.mode, "program"})) set_program(e);
  if (mode == TrafficMode::kTrace || mode == TrafficMode::kProgram || mode == TrafficMode::kBroadcast) {
    more_tables_.assign(table.classes - 1, table);  // packets of all classes come from the host
    table.more = more_tables_.data();
    return;
  }
  const Experiment own = traffic_classes(e) > 1 ? class_of(e, 0) : e;
  set_injection(own);
  set_lengths(own);
  set_pattern(own, topology, groups);
  set_classes(e, topology, groups, devices);
  if (e.is({param::traffic.mode, "batch"}) && batch_packets() == 0)
    throw ConfigError(
        "traffic.mode = \"batch\": no terminal has another terminal to send to, so no packet would be created. Let "
        "more terminals take part, choose another traffic.pattern, or set traffic.self = true.");
  if (mode == TrafficMode::kRequestReply) set_replies(e);
}

void TerminalPlan::set_priorities(const Experiment& e) {
  if (!e.has(param::traffic.class_priority)) return;
  const std::vector<u32> priorities = e.ints(param::traffic.class_priority);
  std::copy(priorities.begin(), priorities.end(), table.priority);
}

void TerminalPlan::set_classes(const Experiment& e, const Topology& topology, const Groups& groups,
                               const std::vector<u32>& devices) {
  table.classes = traffic_classes(e);
  if (table.classes == 1) return;
  share = class_share(e, 0);
  for (u32 c = 1; c < table.classes; ++c) {
    TerminalPlan& plan = *more_.emplace_back(std::make_unique<TerminalPlan>(
        class_of(e, c).with(param::traffic.class_priority, IntList{}), topology, groups, devices, c));
    plan.share = class_share(e, c);
    more_tables_.push_back(plan.table);
    shortest = std::min(shortest, plan.shortest);
    longest = std::max(longest, plan.longest);
    warnings.insert(warnings.end(), plan.warnings.begin(), plan.warnings.end());
  }
  table.more = more_tables_.data();
}

std::vector<const TerminalPlan*> TerminalPlan::classes() const {
  std::vector<const TerminalPlan*> plans{this};
  for (const auto& plan : more_) plans.push_back(plan.get());
  return plans;
}

double TerminalPlan::mean_over_classes(const std::function<double(const TerminalPlan&)>& mean_of) const {
  if (more_.empty()) return mean_of(*this);
  double sum = 0, packets = 0;
  for (const TerminalPlan* plan : classes()) {
    u32 senders = 0;
    for (u32 i = 0; i < table.terminals; ++i) senders += !never_sends(plan->table, i);
    if (!senders) continue;
    const double rate = senders * plan->share / plan->mean_flits;
    sum += rate * mean_of(*plan);
    packets += rate;
  }
  return packets > 0 ? sum / packets : kNotMeasured;
}

double TerminalPlan::mean_over(const PairValue& value) const {
  return mean_over_classes([&](const TerminalPlan& plan) { return mean_over_packets(plan.table, plan.mode, value); });
}

u64 TerminalPlan::batch_packets() const {
  if (mode == TrafficMode::kBroadcast) return 1;
  if (mode != TrafficMode::kOpen || table.injection != Injection::kAllAtOnce) return 0;
  u64 packets = 0;
  for (u32 i = 0; i < table.terminals; ++i)
    if (!never_sends(table, i)) packets += batch_size(table, i);
  return packets;
}

void TerminalPlan::set_injection(const Experiment& e) {
  table.start = e.u32_of(param::traffic.start);
  if (e.is({param::traffic.mode, "batch"})) {
    table.injection = Injection::kAllAtOnce;
    if (e.has(param::traffic.batch_packets)) table.batch_packets = e.u32_of(param::traffic.batch_packets);
  } else if (e.has(param::traffic.injection)) {
    table.injection = e.choice<Injection>(param::traffic.injection);
  }
}

void TerminalPlan::set_pattern(const Experiment& e, const Topology& topology, const Groups& groups) {
  const std::string& pattern = e.str(param::traffic.pattern);
  if (pattern == "matrix")
    read_matrix_of(e);
  else if (is_exchange(pattern))
    set_exchange(pattern, groups);
  else if (pattern == "next_router" || pattern == "next_group")
    set_next(pattern, topology);
  else if (pattern == "hot_spot" || pattern == "hot_region")
    set_hot(e, topology);
  else if (pattern == "all_to_all")
    set_all_to_all(e);
  else if (pattern == "all_to_region")
    set_region(e, topology);
  else if (pattern != "uniform")
    set_permutation(pattern, topology, groups);
  table.destination = destinations_.data();
}

void TerminalPlan::set_hot(const Experiment& e, const Topology& topology) {
  table.pattern = Pattern::kHot;
  const bool by_number = e.is({param::traffic.pattern, "hot_spot"});
  destinations_ =
      by_number ? e.ints(param::traffic.hot_terminals) : hot_region(topology, e.ints(param::traffic.hot_shape));
  for (u32 hot : destinations_)
    if (hot >= topology.terminals)
      throw ConfigError("traffic.hot_terminals contains " + std::to_string(hot) + ": terminals are numbered 0 to " +
                        std::to_string(topology.terminals - 1) + ".");
  for (u32 hot : destinations_)
    require_active(by_number ? param::traffic.hot_terminals.path : param::traffic.hot_shape.path, hot);
  table.hot_count = static_cast<u32>(destinations_.size());
  table.hot_threshold = hot_threshold(e);
}

void TerminalPlan::set_permutation(const std::string& pattern, const Topology& topology, const Groups& groups) {
  table.pattern = Pattern::kPermutation;
  // The permutation is part of the plan, so all replicas use the same one: the seeds of a sweep do not change it. Each
  // class of packets has another random permutation.
  const u64 seed = 1 + u64{class_number_};
  destinations_ = table.group ? std::vector<u32>(table.terminals, kNone) : make_permutation(pattern, topology, seed);
  for (const std::vector<u32>& group : groups) {
    const std::vector<u32> to = make_permutation(pattern, static_cast<u32>(group.size()), seed);
    for (u32 rank = 0; rank < group.size(); ++rank) destinations_[group[rank]] = group[to[rank]];
  }
  if (table.others_only)
    for (u32 i = 0; i < topology.terminals; ++i)
      if (destinations_[i] == i) destinations_[i] = kNone;
}

void TerminalPlan::set_lengths(const Experiment& e) {
  mean_flits = mean_packet(e);
  shortest = shortest_packet(e);
  longest = longest_packet(e);
  table.packets = packet_lengths_.set(e.lengths(param::traffic.packet_flits));
  if (!e.is({param::traffic.packet_length, "geometric"})) return;
  table.max_flits = geometric_longest(e);
  table.length_law = LengthLaw::kGeometric;
  table.inverse_log_continue = inverse_log_continue(e);
}

void TerminalPlan::set_replies(const Experiment& e) {
  table.replies = reply_lengths_.set(e.lengths(param::traffic.reply_flits));
  table.window = e.u32_of(param::traffic.window);
  table.reply_delay = e.u32_of(param::traffic.reply_delay);
  table.reply_queue = e.u32_of(param::traffic.reply_queue);
}

void TerminalPlan::set_program(const Experiment& e) {
  ProgramTable& p = table.program;
  p.format = packet_format(e);
  p.send_overhead = e.u32_of(param::traffic.send_overhead);
  p.recv_overhead = e.u32_of(param::traffic.recv_overhead);
  program_ = read_program(e.text(param::traffic.program_file), table.terminals, p.format);
  p.terminals = table.terminals;
  p.first = program_.first.data();
  p.calls = program_.calls.data();
  p.slots = program_.slots;
  p.ranks = program_.ranks;
  p.processors = program_.processors;
  p.processor = p.processors ? program_.processor.data() : nullptr;
  p.queued = !has_program_software(e);
  if ((p.receives = program_.receives)) {
    p.first_receive = program_.first_receive.data();
    p.receive = program_.receive.data();
    p.first_message = program_.first_message.data();
    p.message = program_.message.data();
  }
  for (u32 i = 0; i < table.terminals; ++i)
    if (p.first[i * p.ranks] != p.first[(i + 1) * p.ranks]) require_active(param::traffic.program_file.path, i);
}

namespace {

/// Returns the mean of a function over the packet lengths of a table, with the probabilities by which length_from()
/// draws lengths.
double mean_of_table(const LengthTable& table, const std::function<double(u32)>& value) {
  double mean = 0, below = 0;
  for (u32 i = 0; i < table.count; ++i) {
    const double next = i + 1 == table.count ? 1 : table.cumulative[i] / 4294967296.0;
    mean += (next - below) * value(table.flits[i]);
    below = next;
  }
  return mean;
}

}  // namespace

double TerminalPlan::mean_over_lengths(const std::function<double(u32)>& value) const {
  return mean_over_classes([&](const TerminalPlan& plan) { return plan.mean_over_own_lengths(value); });
}

double TerminalPlan::mean_over_own_lengths(const std::function<double(u32)>& value) const {
  if (!has_flows(mode)) return kNotMeasured;
  if (table.length_law == LengthLaw::kGeometric) {
    const double more = table.inverse_log_continue != 0 ? std::exp(1 / table.inverse_log_continue) : 0;
    double mean = 0, longer = 1;  // probability that a packet has at least `flits` flits
    for (u32 flits = 1; flits < table.max_flits; ++flits, longer *= more) mean += longer * (1 - more) * value(flits);
    mean += longer * value(table.max_flits);
    if (mode != TrafficMode::kRequestReply) return mean;
    return (mean + mean_of_table(table.replies, value)) / 2;
  }
  const double mean = mean_of_table(table.packets, value);
  return mode == TrafficMode::kRequestReply ? (mean + mean_of_table(table.replies, value)) / 2 : mean;
}

double TerminalPlan::mean_length() const {
  return mean_over_lengths([](u32 flits) { return static_cast<double>(flits); });
}

LengthTable PacketLengths::set(const Lengths& lengths) {
  std::vector<double> weights;
  for (const auto& [length, weight] : lengths) {
    if (!(weight > 0)) continue;
    flits.push_back(static_cast<u32>(length));
    weights.push_back(weight);
  }
  cumulative = cumulative_thresholds(weights);
  return {static_cast<u32>(flits.size()), flits.data(), cumulative.data()};
}

TerminalSize terminal_size(const TrafficTable& t, TrafficMode mode, u32 vcs, u32 ring, u32 slots) {
  return {mode,
          vcs,
          ring,
          slots,
          t.window,
          t.reply_queue,
          t.program.slots,
          t.classes,
          t.program.queued,
          t.program.ranks,
          t.program.processors,
          t.trace_window,
          t.program.receives};
}

ItemKind& add_kind(StateLayout& layout, const char* name, u32 count) {
  ItemKind& kind = layout.kinds.emplace_back();
  kind.name = name;
  kind.count = count;
  return kind;
}

void add_terminal_control(ItemKind& kind, TerminalFields& g) {
  TerminalFields::for_each_field(g, TerminalSize{}, [&](auto& field, auto... text) {
    if (static_cast<void*>(&field) == &g.control) kind.add_field(field, text...);
  });
}

void add_script_fields(ItemKind& kind, TerminalFields& g, const TrafficTable& t, TrafficMode mode) {
  kind.add_fields(g.trace, terminal_size(t, mode));
  kind.add_fields(g.program, terminal_size(t, mode));
}

void add_loop_fields(ItemKind& kind, TerminalFields& g, const TrafficTable& t, TrafficMode mode) {
  TerminalFields::for_each_field(g, terminal_size(t, mode), [&](auto& field, auto... text) {
    const void* const at = &field;
    if (at == &g.loop || at == &g.transaction || at == &g.reply) kind.add_field(field, text...);
  });
}

Item<1> item_of(const std::vector<std::byte>& state, const StateLayout& layout, u32 kind, u32 index) {
  std::byte* base = const_cast<std::byte*>(state.data()) + layout.kind_offset(kind, 1);
  return Items<1>{base, layout.kinds[kind].item_bytes}[index];
}

TerminalSnapshot terminal_snapshot(const std::vector<std::byte>& state, const StateLayout& layout,
                                   const TerminalFields& fields, u32 index, u32 vcs) {
  const Item<1> terminal = item_of(state, layout, 1, index);
  const TerminalControl& c = terminal.at(fields.control);
  TerminalSnapshot s{c.created, c.sent, c.received, c.created - c.sent, c.lane.left, c.lane.vc, c.next.at, {}};
  for (u32 v = 0; v < vcs; ++v) s.credits.push_back(terminal.at(fields.output, v).credits);
  return s;
}

std::vector<ReplicaRow> make_rows(const std::vector<Experiment>& replicas) {
  std::vector<ReplicaRow> rows;
  for (const Experiment& e : replicas) rows.push_back(make_row(e));
  return rows;
}

}  // namespace flitlab
