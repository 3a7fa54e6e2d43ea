#include "bindings/frames/recorder.hpp"

#include <algorithm>
#include <cstring>

#include "host/config/check.hpp"
#include "host/run/event_row.hpp"
#include "kernels/common/error.hpp"

namespace flitlab {
namespace {

std::int64_t minus_one_if_none(u32 x) { return x == kNone ? -1 : std::int64_t{x}; }

void put_pairs(Json& json, const char* name, const std::map<u32, u32>& pairs) {
  json.key(name).open('[');
  for (const auto& [key, value] : pairs) json.put(key).put(value);
  json.close(']');
}

void put_event(Json& json, const TimedEvent& e) {
  json.open('[');
  EventRow::for_each_column(EventRow(e), [&]<class T>(const Column& c, const T& value) {
    if constexpr (std::is_enum_v<T>)
      json.put(static_cast<u32>(value));
    else if (!is_omitted(c) && (!std::is_same_v<T, u32> || value != kNone))
      json.put(u64{value});
  });
  json.close(']');
}

/// Writes the names of the columns of rows and events, and the words that events contain as numbers. `own`: name of the
/// event kind that only this router model has.
void put_columns(Json& json, std::string_view own) {
  json.key("key_columns").open('[').put("router").put("port").put("vc").close(']').key("columns").open('[');
  VcSnapshot::for_each_column(VcSnapshot{}, [&](const Column& c, const auto&) { json.put(c.name); });
  json.close(']').key("event_columns").open('[');
  EventRow::for_each_column(EventRow{}, [&](const Column& c, const auto&) {
    if (!is_omitted(c)) json.put(c.name);
  });
  json.close(']').key("event_words").open('{');
  EventRow::for_each_column(EventRow{}, [&]<class T>(const Column& c, const T& value) {
    if constexpr (std::is_enum_v<T>) {
      json.key(c.name).open('[');
      for (const std::string& word : split_words(words_of(value))) json.put(word == "own" ? own : word);
      json.close(']');
    }
  });
  json.close('}');
}

}  // namespace

Recorder::Recorder(SteppedNetwork& network, std::vector<u32> routers, u32 window)
    : network_(network), routers_(std::move(routers)), drawn_(network.routers()), window_(std::max(1u, window)) {
  for (const u32 router : routers_) {
    drawn_.at(router) = true;
    for (const PortSnapshot& port : network_.ports(router))
      if (port.to_terminal && port.peer != kNone) queued_[port.peer] = 0;
  }
  for (const InspectNode& port : routers_.empty() ? std::vector<InspectNode>{} : network_.router(routers_[0]).parts)
    for (const InspectNode& vc : port.parts) has_texts_ = has_texts_ || !port.note.empty() || !vc.name.empty();
  restart();
}

void Recorder::restart() {
  network_.take_events();  // discards the events from before the recording
  deadlock_.clear();
  texts_.clear();
  state_.clear();
  frames_.clear();
  rows_.clear();
  for (auto& [terminal, queued] : queued_) queued = 0;
  occupied_.clear();
  carried_ = network_.channels();
  const auto totals = network_.totals();
  flits_created_ = totals.at("flits_created");
  flits_delivered_ = totals.at("flits_delivered");
  const Frame& first = record_frame({});
  first_ = {first.rows, first.queues, first.held, first.texts, state_};
}

void Recorder::put_steps(Json& json, u32 cycles) {
  // Cycles between two deadlock searches, because a search takes longer than a cycle.
  const u32 period = std::max(1u, network_.routers() / 64);
  json.open('[');
  for (u32 i = 0; i < cycles; ++i) {
    network_.step(1);
    if (network_.cycle() % period == 0) look_for_deadlock();
    put(json, record_frame(network_.take_events()));
  }
  json.close(']');
  look_for_deadlock();
}

/// Returns the index of the first of the last `most` frames; at least one frame is left.
std::size_t Recorder::first_of(u32 most) const {
  return frames_.size() - std::min<std::size_t>(frames_.size(), std::max(1u, most));
}

/// Returns a frame with all values, not only the changed ones.
Recorder::Frame Recorder::complete_frame(std::size_t i) const {
  FrameState known = first_;
  for (std::size_t k = 1; k <= i; ++k) known.apply(frames_[k]);
  Frame frame = frames_[i];
  frame.whole = true;
  frame.places.clear();
  frame.rows = std::move(known.rows);
  frame.queues = std::move(known.queues);
  frame.held = std::move(known.held);
  frame.texts = std::move(known.texts);
  frame.state.clear();
  for (u32 drawn = 0; drawn < known.state.size(); ++drawn)
    for (u32 place = 0; place < known.state[drawn].size(); ++place)
      if (known.state[drawn][place]) frame.state.push_back({drawn, place, known.state[drawn][place]});
  return frame;
}

void Recorder::put_frames(Json& json, u32 most) const {
  const std::size_t first = first_of(most);
  json.open('[');
  put(json, complete_frame(first));
  for (std::size_t i = first + 1; i < frames_.size(); ++i) put(json, frames_[i]);
  json.close(']');
}

void Recorder::put_network(Json& json) const {
  json.open('{').member("all", network_.routers()).key("routers").open('[');
  for (const u32 router : routers_) json.put(router);
  json.close(']').key("names").open('[');
  for (const u32 router : routers_) json.put(network_.router_name(router));
  json.close(']');
  std::vector<std::vector<PortSnapshot>> routers;
  for (const u32 router : routers_) routers.push_back(network_.ports(router));
  json.key("ports").open('[');
  for (const auto& ports : routers) {
    json.open('[');
    for (const PortSnapshot& port : ports) json.put(port.name);
    json.close(']');
  }
  json.close(']').key("peers").open('[');
  for (const auto& ports : routers) {
    json.open('[');
    for (const PortSnapshot& port : ports) json.put(none_if(port.peer));
    json.close(']');
  }
  json.close(']').key("to_terminal").open('[');
  for (const auto& ports : routers) {
    json.open('[');
    for (const PortSnapshot& port : ports) json.put(port.to_terminal);
    json.close(']');
  }
  json.close(']').member("full", network_.fill_of()).key("places").open('[');
  for (u32 i = 0; i < routers_.size(); ++i) json.put(network_.fill(routers_[i], routers[i]).places);
  json.close(']').key("links").open('{');
  put_links(json);
  json.close('}').member("terminals", network_.terminals());
  json.member("window", kWindow).member("all_detailed", all_detailed());
  json.key("facts").put(datum_of(network_.facts().scope));
  put_columns(json, network_.own_event());
  const ItemKind& kind = network_.layout().kinds[0];
  json.key("state").open('{').member("kind", kind.name).member("bytes", kind.item_bytes);
  put_schema(json.key("fields"), kind);
  json.close('}').close('}');
}

/// Writes one list for each property of the channels between drawn routers.
void Recorder::put_links(Json& json) const {
  const std::vector<ChannelEnds> links = network_.links();
  std::vector<u32> drawn;
  for (u32 i = 0; i < links.size(); ++i)
    if (drawn_[links[i].router] && drawn_[links[i].to_router]) drawn.push_back(i);
  json.key("channel").open('[');
  for (const u32 i : drawn) json.put(i);
  json.close(']');
  const auto put_ends = [&](const char* name, u32 ChannelEnds::* end) {
    json.key(name).open('[');
    for (const u32 i : drawn) json.put(links[i].*end);
    json.close(']');
  };
  put_ends("router", &ChannelEnds::router);
  put_ends("port", &ChannelEnds::port);
  put_ends("to_router", &ChannelEnds::to_router);
  put_ends("to_port", &ChannelEnds::to_port);
  if (std::any_of(links.begin(), links.end(), [](const ChannelEnds& c) { return c.cycles; }))
    put_ends("cycles", &ChannelEnds::cycles);
}

void Recorder::put_inspection(Json& json, u32 router) const {
  const InspectNode item = network_.item("router", router), texts = network_.router(router);
  put_tree(json.key("tree"), item);
  put_texts(json.key("words"), texts_of(texts));
  json.member("router", router).member("cycle", network_.cycle());
}

void Recorder::look_for_deadlock() {
  if (!deadlock_.empty()) return;
  try {
    network_.check();
  } catch (const RunError& error) {
    deadlock_ = error.what();
    deadlocked_ = network_.cycle();
  }
}

// Contents of frames.

Recorder::Frame& Recorder::record_frame(const std::vector<TimedEvent>& events) {
  Frame frame{};
  cycle_ = network_.cycle();
  Json json;
  json.member("c", cycle_);
  record_events(frame, events);
  find_changes(frame);
  record_queues(frame, events);
  record_texts(frame);
  record_state(frame);
  record_use(frame);
  put_loads(json);
  put_latencies(json, events);
  if (!all_detailed() && !inspected.empty()) {
    json.key("i").open('[');
    for (const u32 router : inspected) json.put(router);
    json.close(']');
  }
  frame.rest = std::move(json.text);
  frames_.push_back(std::move(frame));
  if (frames_.size() > window_) drop_first();
  return frames_.back();
}

void Recorder::put(Json& json, const Frame& frame) const {
  json.open('{').raw(frame.rest).key("e").open('[');
  for (const TimedEvent& e : frame.events) put_event(json, e);
  json.close(']');
  put_pairs(json, "u", frame.use);
  json.key(frame.whole ? "rows" : "v").open('[');
  for (std::size_t i = 0; i < frame.rows.size(); ++i) {
    json.open('[');
    if (!frame.whole) json.put(frame.places[i]);
    for (std::size_t k = frame.whole ? 0 : kKeyColumns; k < kColumns; ++k)
      json.put(minus_one_if_none(frame.rows[i][k]));
    json.close(']');
  }
  json.close(']');
  put_pairs(json, "q", frame.queues);
  put_pairs(json, "f", frame.held);
  put_texts_of(json, frame);
  if (!frame.state.empty()) {
    json.key("s").open('{');
    // Index of the router, and of the word; positions are written as differences, which have fewer digits.
    u32 drawn = kNone, before = 0;
    for (const Change& change : frame.state) {
      if (drawn != change.drawn) {
        if (drawn != kNone) json.close(']');
        json.key(std::to_string(routers_[drawn = change.drawn])).open('[');
        before = 0;
      }
      json.put(change.place - std::exchange(before, change.place));
      json.put(std::int64_t{static_cast<std::int32_t>(change.difference)});
    }
    json.close(']').close('}');
  }
  json.close('}');
}

/// Writes the texts that have changed, if any.
void Recorder::put_texts_of(Json& json, const Frame& frame) const {
  if (frame.texts.empty()) return;
  json.key("w").open('{');
  for (const auto& [router, texts] : frame.texts) put_texts(json.key(std::to_string(router)), texts);
  json.close('}');
}

void Recorder::FrameState::apply(const Frame& next) {
  if (next.whole) rows = next.rows;
  for (std::size_t i = 0; i < next.places.size(); ++i) rows[next.places[i]] = next.rows[i];
  for (const auto& [terminal, queued] : next.queues) queues[terminal] = queued;
  for (const auto& [router, full] : next.held) held[router] = full;
  for (const auto& [router, changed] : next.texts)
    for (const auto& [name, text] : changed) texts[router][name] = text;
  for (const Change& change : next.state) {
    std::vector<u32>& words = state[change.drawn];
    words.resize(std::max<std::size_t>(words.size(), change.place + 1));
    words[change.place] += change.difference;
  }
}

/// Drops the oldest frame, and applies the changes of the next frame to `first_`, which then is the state of that
/// frame.
void Recorder::drop_first() {
  frames_.pop_front();
  first_.apply(frames_.front());
}

u32 Recorder::stage(const std::string& name) {
  const auto found = std::find(stages_.begin(), stages_.end(), name);
  const auto place = static_cast<u32>(found - stages_.begin());
  if (found == stages_.end()) stages_.push_back(name);
  return place;
}

/// Returns one row for each virtual channel of the drawn routers. Its columns are the columns of an inspected channel;
/// kNone: no value. Also adds the occupancy of each router to the frame if it has changed.
std::vector<Recorder::Row> Recorder::record_routers(Frame& frame) {
  std::vector<Row> rows;
  rows.reserve(rows_.size());
  for (const u32 router : routers_) {
    const std::vector<PortSnapshot> ports = network_.ports(router);
    const u32 full = network_.fill(router, ports).held;
    if (const auto [known, fresh] = occupied_.try_emplace(router); fresh || known->second != full)
      frame.held[router] = known->second = full;
    for (u32 p = 0; p < ports.size(); ++p)
      for (u32 v = 0; v < ports[p].vcs.size(); ++v) {
        Row& row = rows.emplace_back(Row{router, p, v});
        std::size_t column = kKeyColumns;
        VcSnapshot::for_each_column(ports[p].vcs[v], [&]<class T>(const Column&, const T& value) {
          if constexpr (std::is_same_v<T, std::string>)
            row[column++] = stage(value);
          else
            row[column++] = value;
        });
      }
  }
  return rows;
}

/// Adds to the frame the rows that have changed; adds all rows if the set of virtual channels has changed.
void Recorder::find_changes(Frame& frame) {
  std::vector<Row> before = std::exchange(rows_, record_routers(frame));
  const auto same_channel = [](const Row& a, const Row& b) {
    return std::equal(a.begin(), a.begin() + kKeyColumns, b.begin());
  };
  frame.whole = !std::equal(rows_.begin(), rows_.end(), before.begin(), before.end(), same_channel) || before.empty();
  if (frame.whole) {
    frame.rows = rows_;
    return;
  }
  for (u32 i = 0; i < rows_.size(); ++i)
    if (rows_[i] != before[i]) {
      frame.places.push_back(i);
      frame.rows.push_back(rows_[i]);
    }
}

/// Adds to the frame the lengths of the source queues whose length has changed.
void Recorder::record_queues(Frame& frame, const std::vector<TimedEvent>& events) {
  std::set<u32> touched;
  for (const TimedEvent& e : events)
    if (e.terminal) touched.insert(e.index);
  for (auto& [terminal, known] : queued_) {
    if (!frames_.empty() && !touched.count(terminal)) continue;
    if (const u32 queued = network_.queued(terminal); queued != known) frame.queues[terminal] = known = queued;
  }
}

/// Adds to the frame the names and notes of ports in the machine's terms, for each router where one has changed.
void Recorder::record_texts(Frame& frame) {
  if (!has_texts_) return;
  const auto record_changes = [&](u32 router) {
    for (auto& [name, text] : texts_of(network_.router(router)))
      if (std::string& known = texts_[router][name]; known != text) frame.texts[router][name] = known = std::move(text);
  };
  if (all_detailed())
    for (const u32 router : routers_) record_changes(router);
  else
    for (const u32 router : inspected) record_changes(router);
}

/// Adds to the frame the words of each router's state that have changed; in the first frame with a router, all words
/// that are not 0.
void Recorder::record_state(Frame& frame) {
  state_.resize(routers_.size());
  frame.state.reserve(frames_.empty() ? 0 : 2 * frames_.back().state.size());
  for (u32 drawn = 0; drawn < routers_.size(); ++drawn) {
    if (!all_detailed() && !inspected.contains(routers_[drawn])) continue;
    const std::span<const std::byte> bytes = network_.router_bytes(routers_[drawn]);
    std::vector<u32>& known = state_[drawn];
    known.resize(bytes.size() / sizeof(u32));
    for (u32 i = 0; i < known.size(); i += 2) {  // two words are compared at a time; most words do not change
      u32 now[2];
      std::memcpy(now, &bytes[i * sizeof(u32)], sizeof now);
      if (now[0] == known[i] && now[1] == known[i + 1]) continue;
      for (u32 k = 0; k < 2; ++k)
        if (const u32 difference = now[k] - std::exchange(known[i + k], now[k]))
          frame.state.push_back({drawn, i + k, difference});
    }
  }
  frame.state.shrink_to_fit();
}

void Recorder::record_events(Frame& frame, const std::vector<TimedEvent>& events) const {
  for (const TimedEvent& e : events)
    if (routers_.size() == drawn_.size() || (e.terminal ? queued_.count(e.index) : drawn_[e.index]))
      frame.events.push_back(e);
}

/// Adds to the frame the number of flits that each channel has carried in the cycle.
void Recorder::record_use(Frame& frame) {
  std::vector<ChannelUse> now = network_.channels();
  for (u32 i = 0; i < now.size(); ++i)
    if (const u32 flits = now[i].flits - carried_[i].flits) frame.use[i] = flits;
  carried_ = std::move(now);
}

/// Writes the number of flits created and the number of flits delivered in the cycle.
void Recorder::put_loads(Json& json) {
  const auto totals = network_.totals();
  const u64 created = totals.at("flits_created"), delivered = totals.at("flits_delivered");
  json.key("t").open('[').put(created - flits_created_).put(delivered - flits_delivered_).close(']');
  flits_created_ = created;
  flits_delivered_ = delivered;
}

/// Writes the latency of each packet delivered in the cycle, from its creation to the arrival of its tail.
void Recorder::put_latencies(Json& json, const std::vector<TimedEvent>& events) {
  json.key("l").open('[');
  for (const TimedEvent& e : events)
    if (e.event.kind == EventKind::kDelivered) json.put(e.event.latency);
  json.close(']');
}

}  // namespace flitlab
