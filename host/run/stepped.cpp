#include "host/run/stepped.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <sstream>

#include "host/config/check.hpp"
#include "host/config/memory.hpp"
#include "host/config/registry.hpp"
#include "host/plan/fields_tree.hpp"
#include "host/run/advance.hpp"
#include "host/run/checkpoint.hpp"
#include "host/run/conservation.hpp"
#include "host/run/run.hpp"
#include "host/run/stopped_traffic.hpp"
#include "host/run/trace_feed.hpp"
#include "kernels/common/error.hpp"
#include "kernels/traffic/params.hpp"

namespace flitlab {

SteppedNetwork::SteppedNetwork(const Experiment& experiment, const std::string& backend, u32 threads, bool trace)
    : experiment_(experiment),
      plan_(make_plan(experiment)),
      skips_(experiment_, *plan_),
      slicer_(plan_->facts().cost),
      trace_(trace) {
  engine_ = plan_->make_engine({experiment_}, choose_engine(*plan_, 1, {backend, threads, trace}, kKeptStates));
  feeds_ = make_feeds({experiment_}, *plan_);
  if (!feeds_.empty()) host_ = dynamic_cast<HostFeed*>(feeds_.front().get());
  console_ = plan_->console();
  skips_.repeats = !trace;  // every cycle has its events
}

const std::vector<std::byte>& SteppedNetwork::state() const {
  if (state_.empty()) state_ = engine_->state(0);
  return state_;
}

void SteppedNetwork::advance(u32 cycles) {
  state_.clear();
  const u32 only[] = {0};
  if (!console_ || console_->period() == kNever)
    return flitlab::advance(*engine_, *plan_, feeds_, skips_, cycles, only, slicer_);
  for (u32 part; cycles; cycles -= part) {
    part = std::min(cycles, console_->period());
    console_->exchange(*engine_);
    flitlab::advance(*engine_, *plan_, feeds_, skips_, part, only, slicer_);
  }
  console_->exchange(*engine_);
}

void SteppedNetwork::step(u64 cycles) {
  require_time(engine_->now(), cycles);
  if (!trace_) {
    advance(static_cast<u32>(cycles));
    if (host_) host_->collect(*engine_, 0);
    return state_.clear();  // another thread may have filled the copy of the state meanwhile
  }
  const u32 routers = plan_->topology().routers;
  for (u64 i = 0; i < cycles; ++i) {
    const u64 cycle = engine_->now();
    advance(1);
    const std::vector<std::vector<Event>> lists = engine_->take_events(0);
    for (u32 item = 0; item < lists.size(); ++item)
      for (const Event& event : lists[item])
        events_.push_back({cycle, item >= routers, item >= routers ? item - routers : item, event});
  }
  if (host_) host_->collect(*engine_, 0);
}

HostFeed& SteppedNetwork::host() {
  if (!host_)
    throw ConfigError("traffic.mode = \"" + experiment_.str(param::traffic.mode) +
                      "\": packets of this network do not come from the program that steps it. Set traffic.mode = "
                      "\"host\".");
  return *host_;
}

std::size_t SteppedNetwork::offer(std::span<const OfferedPacket> packets) { return host().offer(packets, *engine_, 0); }

u32 SteppedNetwork::waiting(u32 source) {
  u32 packets = 0;
  for (u32 c = 0; c < classes(); ++c) packets += waiting(source, c);
  return packets;
}

u32 SteppedNetwork::waiting(u32 source, u32 of_class) {
  require_terminal(source);
  HostFeed& feed = host();
  if (of_class >= feed.limits().classes)
    throw ConfigError("class " + std::to_string(of_class) + " does not exist: " + feed.limits().classes_text() + ".");
  return feed.waiting(source, of_class, *engine_, 0);
}

bool SteppedNetwork::step_to_arrival(u64 limit) {
  HostFeed& feed = host();
  const bool unlimited = limit >= kEndOfTime;
  limit = std::min<u64>(limit, kEndOfTime);
  while (!feed.arrivals(cycle()) && cycle() < limit) {
    u64 next = feed.next_arrival();
    const u32 only[] = {0};
    if (feed.in_flight() > total_of(engine_->totals(only).front(), Total::kPacketsDropped))
      next = 0;  // any cycle may bring an arrival
    else
      next = std::min(next, feed.next_cycle());  // a packet does not arrive before it is created
    if (next >= kNever && unlimited) return false;
    step(std::clamp<u64>(next, cycle() + 1, limit) - cycle());
  }
  return feed.arrivals(cycle());
}

std::size_t SteppedNetwork::arrivals() { return host().arrivals(cycle()); }

std::vector<ArrivedPacket> SteppedNetwork::take_arrivals(std::size_t most) { return host().take(cycle(), most); }

std::string SteppedNetwork::state_hash() const {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(engine_->state_hash(0)));
  return text;
}

void SteppedNetwork::require_router(u32 index) const {
  if (index >= plan_->topology().routers)
    throw ConfigError("router " + std::to_string(index) + " does not exist: routers are numbered 0 to " +
                      std::to_string(plan_->topology().routers - 1) + ".");
}

const std::vector<Operation>& SteppedNetwork::operations() const {
  static const std::vector<Operation> none;
  return console_ ? console_->operations() : none;
}

const std::vector<RegisterRecord>& SteppedNetwork::registers() const {
  static const std::vector<RegisterRecord> none;
  return console_ ? console_->registers() : none;
}

Datum SteppedNetwork::call(std::string_view operation, Datum::Map arguments) {
  if (!console_)
    throw ConfigError(std::string(operation) + ": router.kind = \"" + experiment_.kind() +
                      "\" has no console: its routers have no registers and no operations.");
  state_.clear();
  skips_.repetition.forget();
  return console_->call(*engine_, operation, std::move(arguments));
}

std::vector<std::string> SteppedNetwork::take_warnings() {
  return console_ ? console_->take_warnings() : std::vector<std::string>{};
}

InspectNode SteppedNetwork::router(u32 index) const {
  require_router(index);
  return router_tree(*plan_, state(), index, cycle());
}

std::vector<PortSnapshot> SteppedNetwork::ports(u32 router) const {
  require_router(router);
  return plan_->inspect_router(state(), router);
}

Fill SteppedNetwork::fill(u32 router, const std::vector<PortSnapshot>& ports) const {
  require_router(router);
  return plan_->fill(state(), router, ports);
}

std::string_view SteppedNetwork::fill_of() const { return plan_->fill_of(); }

void SteppedNetwork::require_terminal(u32 index) const {
  if (index >= plan_->topology().terminals)
    throw ConfigError("terminal " + std::to_string(index) + " does not exist: terminals are numbered 0 to " +
                      std::to_string(plan_->topology().terminals - 1) + ".");
}

InspectNode SteppedNetwork::terminal(u32 index) const {
  require_terminal(index);
  return terminal_tree(*plan_, state(), index);
}

u32 SteppedNetwork::queued(u32 terminal) const {
  require_terminal(terminal);
  return plan_->inspect_terminal(state(), terminal).queued;
}

InspectNode SteppedNetwork::item(const std::string& kind, u32 index) const {
  std::vector<std::string> names;
  for (u32 k = 0; k < plan_->layout().kinds.size(); ++k) {
    const ItemKind& items = plan_->layout().kinds[k];
    names.push_back(items.name);
    if (items.name != kind) continue;
    if (index >= items.count)
      throw ConfigError(kind + " " + std::to_string(index) + " does not exist: items of this kind are numbered 0 to " +
                        std::to_string(items.count - 1) + ".");
    return fields_tree(plan_->layout(), state(), k, index);
  }
  throw ConfigError("items of kind \"" + kind + "\" do not exist: this network has " + listed(names) + ".");
}

std::span<const std::byte> SteppedNetwork::router_bytes(u32 index) const {
  require_router(index);
  const ItemKind& routers = layout().kinds[0];
  return std::span(state()).subspan(layout().kind_offset(0, 1) + std::size_t{index} * routers.item_bytes,
                                    routers.item_bytes);
}

std::string SteppedNetwork::router_name(u32 index) const { return plan_->router_name(index); }

std::map<std::string, u64> SteppedNetwork::totals() {
  const CounterShard c = engine_->counters(0);
  std::vector<u32> audits{u32(Total::kAuditedFlits), u32(Total::kAuditedPackets)};  // totals that only an audit writes
  for (const Conserved& law : plan_->facts().conserved) audits.push_back(law.audited);
  std::map<std::string, u64> totals;
  for (TotalTable table : {kCommonTotalTable, model_of(experiment_.kind()).totals})
    for (const TotalRecord& total : table)
      for (u32 i = 0; std::count(audits.begin(), audits.end(), total.first) == 0 && i < plan_->elements(total); ++i)
        totals[element_name(total.name, i)] = c.total[total.first + i];
  return totals;
}

std::vector<ChannelUse> SteppedNetwork::channels() const {
  const std::vector<u32> flits = plan_->channel_flits(state());
  std::vector<ChannelUse> channels;
  const Topology& topology = plan_->topology();
  for (u32 r = 0; r < topology.routers; ++r)
    for (u32 p = 0; p < topology.network_ports; ++p)
      if (topology.peer(r, p).item != kNone) channels.push_back({r, p, flits.at(channels.size())});
  return channels;
}

std::vector<ChannelEnds> SteppedNetwork::links() const {
  std::vector<ChannelEnds> links;
  const Topology& topology = plan_->topology();
  for (u32 r = 0; r < topology.routers; ++r)
    for (u32 p = 0; p < topology.network_ports; ++p)
      if (const Peer& far = topology.peer(r, p); far.item != kNone)
        links.push_back({r, p, far.item, far.port, plan_->channel_cycles(r, p), topology.channel(r, p)});
  return links;
}

void SteppedNetwork::check() {
  state_.clear();  // out of date, because the audit writes its counts into the state
  check_conservation(*engine_, *plan_, 0);
  const u32 only[] = {0};
  check_deadlock(*engine_, *plan_, only, 1);
  const Totals totals = std::to_array(engine_->counters(0).total);
  const TraceFeed* feed = feeds_.empty() ? nullptr : dynamic_cast<const TraceFeed*>(feeds_.front().get());
  if (const std::string why = explain_stopped_traffic(experiment_, *plan_, *engine_, 0, totals, feed); !why.empty())
    throw RunError(why);
}

std::vector<TimedEvent> SteppedNetwork::take_events() { return std::exchange(events_, {}); }

std::string_view SteppedNetwork::own_event() const { return model_of(experiment_.kind()).own_event; }

void SteppedNetwork::require_room_to_load() const {
  constexpr u64 kStates = 4;  // the present state, in a stream that grows by doubling, and the new state
  require_memory(plan_->size, kStates * layout().bytes(1),
                 "A network that loads a state keeps the old one until the new one has been checked.");
}

void SteppedNetwork::save_state(Saver& saver) const {
  saver(engine_->now());
  save_replica(saver, *engine_, 0);
  for (const auto& feed : feeds_) feed->save(saver);
  if (console_) console_->save(saver);
}

void SteppedNetwork::load_state(Loader& loader) {
  state_.clear();
  skips_.repetition.forget();
  Cycle now = 0;
  loader(now);
  require_time(now, 0);
  engine_->set_now(now);
  load_replica(loader, *engine_, *plan_, 0);
  check_loaded(*engine_, *plan_, 0);
  for (const auto& feed : feeds_) feed->load(loader);
  if (console_) console_->load(loader);
}

void SteppedNetwork::save(const std::string& path) {
  save_checkpoint(path, configuration_hash({experiment_}), [this](Saver& saver) { save_state(saver); });
}

/// If the file turns out to be invalid while it is read, the network keeps its old state.
void SteppedNetwork::load(const std::string& path) {
  require_room_to_load();
  load_checkpoint(path, configuration_hash({experiment_}), [this](Loader& loader) {
    std::stringstream before;
    Saver saver(before);
    save_state(saver);
    try {
      load_state(loader);
    } catch (const ConfigError&) {
      Loader back(before);
      load_state(back);
      throw;
    }
  });
}

void SteppedNetwork::go_on_from(const SteppedNetwork& other) {
  if (configuration_hash({experiment_}) != configuration_hash({other.experiment_}))
    throw ConfigError("the other network has another configuration; use a network with the same configuration.");
  require_room_to_load();
  std::stringstream memory;
  Saver saver(memory);
  other.save_state(saver);
  Loader loader(memory);
  load_state(loader);
}

}  // namespace flitlab
