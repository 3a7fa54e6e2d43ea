#include "host/run/trace_feed.hpp"

#include <algorithm>

#include "host/plan/trace_order.hpp"
#include "kernels/common/error.hpp"
#include "kernels/traffic/params.hpp"

namespace flitlab {

TraceFeed::TraceFeed(const Experiment& experiment, PacketLimits limits)
    : Feed(std::move(limits)),
      window_(has_trace_window(experiment)),
      self_throttling_(experiment.flag(param::traffic.self_throttling)),
      reader_(open_trace(experiment)) {}

/// Checks the packet that has been read last.
void TraceFeed::check(const TracePacket& packet) const {
  const auto fail = [this](const std::string& what) { reader_->fail(what); };
  if (packet.cycle >= kEndOfTime) fail("the cycle must be below " + std::to_string(kEndOfTime) + ".");
  if (const std::string why =
          limits_.why_impossible(packet.source, packet.destination, packet.flits, reader_->leave_out());
      !why.empty())
    fail(why);
  if (packet.of_class >= limits_.classes)
    fail("class " + std::to_string(packet.of_class) + " does not exist: " + limits_.classes_text() + ".");
  if (!packet.needs.empty() && !limits_.identifies_arrivals)
    fail(
        "terminals of this network cannot identify the packet that has arrived, so a packet cannot need another. Use a "
        "trace without dependencies, or another router.kind.");
  if (packet.needs.size() > 1 && !window_)
    fail("it needs " + std::to_string(packet.needs.size()) +
         " packets, and at most one is possible if packets are created in the order of the file. Set "
         "traffic.trace_order = \"ready\".");
  if (packet.needs.size() > kMostNeeds)
    fail("it needs " + std::to_string(packet.needs.size()) + " packets; at most " + std::to_string(kMostNeeds) +
         " are possible.");
  for (const u64 needed : packet.needs) {
    if (needed >= packets_)
      fail("this is packet " + std::to_string(packets_) + " (counted from 0), and it can only need an earlier one.");
    if (packets_ - needed > kReach)
      fail("packet " + std::to_string(needed) + " is more than " + std::to_string(kReach) + " packets back.");
    const u32 goes_to = destinations_[needed % kReach];
    if (goes_to != packet.source)
      fail("packet " + std::to_string(needed) + " goes to terminal " + std::to_string(goes_to) + ", and terminal " +
           std::to_string(packet.source) +
           " does not see its arrival: a packet may only need one that arrives at "
           "its source.");
  }
  if (packets_ == kNone - 1) fail("a trace can have at most 4294967294 packets.");
}

/// Puts a packet into the queue of its source.
void TraceFeed::queue(const TracePacket& packet, u64 now) {
  last_cycle_ = static_cast<Cycle>(self_throttling_ ? now : packet.cycle);
  TraceEntry entry{packets_, static_cast<u32>(packet.destination), last_cycle_, kNone, static_cast<u32>(packet.flits)};
  for (const u64 number : packet.needs) {
    const u32 needed = static_cast<u32>(number);
    if (has_arrived(needed)) continue;
    awaited_.insert(needed);
    if (entry.needs == kNone)
      entry.needs = needed;
    else
      further_.emplace(entry.id, needed);
  }
  if (packets_ < kReach)
    destinations_.push_back(entry.destination);
  else
    destinations_[packets_ % kReach] = entry.destination;
  arrived_.push_back(0);
  queues_[packet.source * limits_.classes + packet.of_class].push_back(entry);
  ++packets_;
}

/// Reads the packets that may be created before the next exchange, and puts them into the queues of their sources. With
/// self-throttling that would be the whole file. So that memory has a limit, reading then stops when kTraceQueue
/// packets per terminal wait here.
void TraceFeed::read_until(u64 now) {
  std::size_t waiting = 0;
  if (self_throttling_)
    for (const auto& waiting_here : queues_) waiting += waiting_here.size();
  while (!at_end_) {
    if (!pending_ && (pending_ = reader_->read(next_))) check(next_);
    if (!pending_) at_end_ = true;
    const bool enough =
        self_throttling_ ? waiting >= std::size_t{kTraceQueue} * limits_.terminals : next_.cycle >= now + kTraceQueue;
    if (at_end_ || enough) return;
    queue(next_, now);
    ++waiting;
    pending_ = false;
  }
}

/// Returns another packet that a packet in queues_ needs, and removes it from further_; kNone: there is none.
u32 TraceFeed::take_further_need(u32 packet) {
  const auto found = further_.find(packet);
  if (found == further_.end()) return kNone;
  const u32 needs = found->second;
  further_.erase(found);
  return needs;
}

void TraceFeed::arrived(u32 terminal, const TraceArrival& arrival) {
  if (arrival.id < first_open_ || arrival.id >= packets_)
    throw RunError("terminal " + std::to_string(terminal) + " lists the arrival of packet " +
                   std::to_string(arrival.id) + ", which is not in flight: its state is damaged.");
  arrived_[arrival.id - first_open_] = 1;
  if (!awaited_.erase(arrival.id)) return;
  // Releases entries that are not yet in the terminal's queue. The terminal has released the entries in its queue.
  for (u32 c = 0; c < limits_.classes; ++c)
    for (TraceEntry& entry : queues_[std::size_t{terminal} * limits_.classes + c]) {
      const auto [first, last] = further_.equal_range(entry.id);
      for (auto it = first; it != last;) it = it->second == arrival.id ? further_.erase(it) : std::next(it);
      if (entry.needs != arrival.id) continue;
      entry.needs = take_further_need(entry.id);
      entry.cycle = std::max(entry.cycle, arrival.at + 1);
    }
}

/// Moves the further needs of a packet to the terminal's state, if there is room for all of them.
bool TraceFeed::may_move(u32 terminal, const TraceEntry& entry) {
  const auto [first, last] = further_.equal_range(entry.id);
  if (first == last) return true;
  TraceNeed* const list = (*needs_)[terminal];
  const auto room = std::count_if(list, list + kTraceNeeds, [](const TraceNeed& n) { return !n.packet; });
  if (room < std::distance(first, last)) return false;
  TraceNeed* to = list;
  for (auto it = first; it != last; ++it) {
    while (to->packet) ++to;
    *to = {entry.id + 1, it->second};
  }
  further_.erase(first, last);
  needs_changed_ = true;
  return true;
}

void TraceFeed::exchange(Engine& engine, u32 replica) {
  collect(engine, replica);
  while (!arrived_.empty() && arrived_.front()) {
    arrived_.pop_front();
    ++first_open_;
  }
  read_until(engine.now());
  if (window_) {
    if (needs_)
      needs_->read();
    else
      needs_.emplace(engine, replica, "trace_need");
  }
  fill(engine, replica);
  if (needs_changed_) needs_->write();
  needs_changed_ = false;
}

void TraceFeed::save(Saver& saver) const {
  reader_->save(saver, pending_);
  visit(saver, *this);
  std::vector<u32> further;
  for (const auto& [packet, needs] : further_) further.insert(further.end(), {packet, needs});
  saver(further);
}

void TraceFeed::load(Loader& loader) {
  reader_->load(loader);
  visit(loader, *this);
  std::vector<u32> further;
  loader(further);
  const auto is_read = [this](const TraceEntry& e) {
    return e.id < packets_ && (e.needs == kNone || e.needs < packets_);
  };
  Loader::require(destinations_.size() == std::min(packets_, kReach) && first_open_ <= packets_ &&
                  arrived_.size() == packets_ - first_open_ && has_sound_queues(is_read) && further.size() % 2 == 0);
  further_.clear();
  for (std::size_t i = 0; i < further.size(); i += 2) {
    Loader::require(further[i] < packets_ && further[i + 1] < packets_ && window_);
    further_.emplace(further[i], further[i + 1]);
  }
  at_end_ = pending_ = false;
}

}  // namespace flitlab
