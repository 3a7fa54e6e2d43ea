#include "bindings/page/recorder.hpp"

#include <algorithm>
#include <numeric>

#include "host/run/vc_rows.hpp"
#include "kernels/common/error.hpp"

namespace flitlab {
namespace {

constexpr std::size_t kColumns = 15, kPlace = 3;  ///< of a row, and of it what names the virtual channel

const Datum& value_of(const InspectNode& node, std::string_view name) {
  const auto found = std::find_if(node.values.begin(), node.values.end(), [&](auto& v) { return v.name == name; });
  return found->value;
}

i32 peer_of(const InspectNode& port) {
  const u64* peer = std::get_if<u64>(&value_of(port, "peer").value);
  return peer ? static_cast<i32>(*peer) : -1;
}

bool to_terminal(const InspectNode& port) { return std::get<bool>(value_of(port, "to_terminal").value); }

u32 queue_of(const SteppedNetwork& network, u32 terminal) {
  return static_cast<u32>(std::get<u64>(value_of(network.terminal(terminal), "queued").value));
}

}  // namespace

Recorder::Recorder(const Experiment& experiment)
    : experiment_(experiment), network_(std::make_unique<SteppedNetwork>(experiment, "cpu", 1, true)) {
  all_ = network_->routers();
  routers_.resize(std::min(all_, kDrawn));
  std::iota(routers_.begin(), routers_.end(), 0u);
  for (const u32 router : routers_)
    for (const InspectNode& port : network_->router(router).parts)
      if (to_terminal(port) && peer_of(port) >= 0) queued_[static_cast<u32>(peer_of(port))] = 0;
}

void Recorder::put_network(Json& json) const {
  json.member("all", all_).key("routers").open('[');
  for (const u32 router : routers_) json.put(router);
  json.close(']').key("names").open('[');
  for (const u32 router : routers_) json.put(network_->router_name(router));
  json.close(']');
  std::vector<InspectNode> nodes;
  for (const u32 router : routers_) nodes.push_back(network_->router(router));
  json.key("ports").open('[');
  for (const InspectNode& node : nodes) {
    json.open('[');
    for (const InspectNode& port : node.parts) json.put(port.name);
    json.close(']');
  }
  json.close(']').key("peers").open('[');
  for (const InspectNode& node : nodes) {
    json.open('[');
    for (const InspectNode& port : node.parts)
      json.open('[').put(std::int64_t{peer_of(port)}).put(u32{to_terminal(port)}).close(']');
    json.close(']');
  }
  json.close(']').key("links").open('[');
  const std::vector<ChannelEnds> links = network_->links();
  for (u32 i = 0; i < links.size(); ++i)
    if (const ChannelEnds& c = links[i]; std::max(c.router, c.to_router) < routers_.size())
      json.open('[').put(i).put(c.router).put(c.port).put(c.to_router).put(c.to_port).close(']');
  json.close(']').member("terminals", network_->terminals());
  json.member("own_event", network_->own_event());
}

void Recorder::put_first(Json& json) {
  network_->take_events();  // those of the past are not this recording's
  created_.clear();
  rows_.clear();
  for (auto& [terminal, queued] : queued_) queued = 0;
  carried_ = network_->channels();
  const auto totals = network_->totals();
  flits_created_ = totals.at("flits_created");
  flits_delivered_ = totals.at("flits_delivered");
  put_frame(json, {}, true);
}

void Recorder::put_steps(Json& json, u32 cycles) {
  for (u32 i = 0; i < cycles; ++i) {
    network_->step(1);
    put_frame(json, network_->take_events(), false);
  }
  look_for_deadlock();
}

void Recorder::skip(u32 cycles) {
  if (!fast_) fast_ = std::make_unique<SteppedNetwork>(experiment_, "cpu", 1, false);
  fast_->go_on_from(*network_);
  fast_->step(cycles);
  network_->go_on_from(*fast_);
  look_for_deadlock();
}

void Recorder::reset() {
  deadlock_.clear();
  network_->go_on_from(SteppedNetwork(experiment_, "cpu", 1, false));
}

void Recorder::look_for_deadlock() {
  try {
    network_->check();
  } catch (const RunError& error) {
    deadlock_ = error.what();
  }
}

void Recorder::put_frame(Json& json, const std::vector<TimedEvent>& events, bool complete) {
  json.open('{').member("c", network_->cycle());
  put_events(json, events);
  put_rows(json, complete);
  put_queues(json, events, complete);
  put_use(json);
  const auto totals = network_->totals();
  const u64 created = totals.at("flits_created"), delivered = totals.at("flits_delivered");
  json.key("t").open('[').put(created - flits_created_).put(delivered - flits_delivered_).close(']');
  flits_created_ = created;
  flits_delivered_ = delivered;
  put_latencies(json, events);
  if (!inspected_.empty()) {
    json.key("i").open('{');
    for (const u32 router : inspected_) put_tree(json.key(std::to_string(router)), network_->item("router", router));
    json.close('}').key("w").open('{');
    for (const u32 router : inspected_) put_words(json.key(std::to_string(router)), network_->router(router));
    json.close('}');
  }
  json.close('}');
}

void Recorder::put_events(Json& json, const std::vector<TimedEvent>& events) const {
  json.key("e").open('[');
  for (const TimedEvent& e : events) {
    const bool drawn = all_ == routers_.size() || (e.terminal ? queued_.count(e.index) : e.index < routers_.size());
    if (!drawn) continue;
    json.open('[').put(static_cast<u32>(e.event.kind)).put(u32{e.terminal}).put(e.index);
    for (const u32 x : {u32{e.event.port}, u32{e.event.vc}, u32{e.event.out_port}, u32{e.event.out_vc}, e.event.src,
                        e.event.id, e.event.flit & 3u, u32{e.event.flits}})
      json.put(x);
    json.close(']');
  }
  json.close(']');
}

void Recorder::put_rows(Json& json, bool complete) {
  const std::vector<std::int64_t> before = std::exchange(rows_, vc_rows(*network_, routers_, stages_));
  const auto same = [&](std::size_t i, std::size_t from, std::size_t to) {
    return std::equal(&rows_[i + from], &rows_[i] + to, &before[i + from]);
  };
  complete = complete || rows_.size() != before.size();
  for (std::size_t i = 0; !complete && i < rows_.size(); i += kColumns) complete = !same(i, 0, kPlace);
  json.key(complete ? "rows" : "v").open('[');
  for (std::size_t i = 0; i < rows_.size(); i += kColumns) {
    if (!complete && same(i, kPlace, kColumns)) continue;
    json.open('[');
    if (!complete) json.put(static_cast<u32>(i / kColumns));
    for (std::size_t k = complete ? 0 : kPlace; k < kColumns; ++k) json.put(rows_[i + k]);
    json.close(']');
  }
  json.close(']');
}

void Recorder::put_queues(Json& json, const std::vector<TimedEvent>& events, bool complete) {
  std::set<u32> touched;
  for (const TimedEvent& e : events)
    if (e.terminal) touched.insert(e.index);
  json.key("q").open('[');
  const auto look = [&](u32 terminal, u32& known) {
    const u32 queued = queue_of(*network_, terminal);
    if (queued != known) json.put(terminal).put(queued);
    known = queued;
  };
  if (complete)
    for (auto& [terminal, known] : queued_) look(terminal, known);
  for (const u32 terminal : touched)
    if (const auto found = queued_.find(terminal); found != queued_.end()) look(terminal, found->second);
  json.close(']');
}

void Recorder::put_use(Json& json) {
  std::vector<ChannelUse> now = network_->channels();
  json.key("u").open('[');
  for (u32 i = 0; i < now.size(); ++i)
    if (now[i].flits != carried_[i].flits) json.put(i).put(now[i].flits - carried_[i].flits);
  json.close(']');
  carried_ = std::move(now);
}

void Recorder::put_latencies(Json& json, const std::vector<TimedEvent>& events) {
  json.key("l").open('[');
  for (const TimedEvent& e : events) {
    const Packet packet{e.event.src, e.event.id};
    if (e.event.kind == EventKind::kCreated) {
      created_[packet] = e.cycle;
    } else if (const auto found = created_.find(packet);
               e.event.kind == EventKind::kDelivered && found != created_.end()) {
      json.put(e.cycle - found->second);
      created_.erase(found);
    }
  }
  json.close(']');
}

}  // namespace flitlab
