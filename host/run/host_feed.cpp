#include "host/run/host_feed.hpp"

#include <algorithm>
#include <tuple>

#include "kernels/common/error.hpp"
#include "kernels/traffic/terminal_state.hpp"

namespace flitlab {
namespace {

bool is_earlier(const ArrivedPacket& a, const ArrivedPacket& b) {
  return std::tie(a.cycle, a.destination, a.source) < std::tie(b.cycle, b.destination, b.source);
}

}  // namespace

std::size_t HostFeed::offer(std::span<const OfferedPacket> packets, Engine& engine, u32 replica) {
  for (std::size_t i = 0; i < packets.size(); ++i) {
    const OfferedPacket& p = packets[i];
    std::string why = limits_.why_impossible(p.source, p.destination, p.flits, "Do not offer the packet");
    if (p.cycle >= kEndOfTime) why = "the cycle must be below " + std::to_string(kEndOfTime) + ".";
    if (p.of_class >= limits_.classes)
      why = "class " + std::to_string(p.of_class) + " does not exist: " + limits_.classes_text() + ".";
    if (!why.empty())
      throw ConfigError("packet " + std::to_string(i) + " (" + std::to_string(p.source) + " to " +
                        std::to_string(p.destination) + ", " + std::to_string(p.flits) + " flits): " + why);
  }
  for (std::size_t i = 0; i < packets.size(); ++i) {
    const OfferedPacket& p = packets[i];
    const u32 source = static_cast<u32>(p.source), destination = static_cast<u32>(p.destination),
              flits = static_cast<u32>(p.flits), of_class = static_cast<u32>(p.of_class);
    if (room_ && waiting(source, of_class, engine, replica) >= room_) return i;
    u32 id = first_open_ + static_cast<u32>(open_.size());
    if (id == kNone) {  // no packet has this number
      open_.push_back({0, 0, 0, 0, 1});
      id = 0;
    }
    const Cycle cycle = std::max(static_cast<Cycle>(p.cycle), engine.now());
    open_.push_back({p.tag, source, destination, flits, 0});
    // Packets that are held back come first, and wait for the next exchange of all terminals.
    const std::size_t queue = queue_of(source, of_class);
    if (queues_[queue].empty()) changed_.push_back(static_cast<u32>(queue));
    queues_[queue].push_back({id, destination, cycle, kNone, flits});
  }
  return packets.size();
}

u32 HostFeed::waiting(u32 source, u32 of_class, Engine& engine, u32 replica) {
  return static_cast<u32>(queues_[queue_of(source, of_class)].size()) + given(engine, replica, source, of_class);
}

std::vector<u32> HostFeed::flits_left(Engine& engine, u32 replica) const {
  std::vector<u32> left(queues_.size());
  if (limits_.classes == 1) {
    const TerminalField<TerminalControl> controls(engine, replica, "control");
    for (u32 t = 0; t < limits_.terminals; ++t) left[t] = controls[t]->lane.left;
    return left;
  }
  const TerminalField<ClassSource> sources(engine, replica, "source");
  for (u32 i = 0; i < left.size(); ++i) left[i] = sources[i / limits_.classes][i % limits_.classes].lane.left;
  return left;
}

std::size_t HostFeed::arrivals(u64 now) {
  if (!sorted_) std::stable_sort(arrivals_.begin(), arrivals_.end(), is_earlier);
  sorted_ = true;
  // The latest may be in the future: some models list an arrival when the packet leaves its last router.
  const auto end =
      std::find_if(arrivals_.rbegin(), arrivals_.rend(), [now](const ArrivedPacket& a) { return a.cycle < now; });
  return static_cast<std::size_t>(arrivals_.rend() - end);
}

std::vector<ArrivedPacket> HostFeed::take(u64 now, std::size_t most) {
  const auto end = arrivals_.begin() + static_cast<std::ptrdiff_t>(std::min(arrivals(now), most));
  std::vector<ArrivedPacket> taken(arrivals_.begin(), end);
  arrivals_.erase(arrivals_.begin(), end);
  return taken;
}

void HostFeed::exchange(Engine& engine, u32 replica) {
  const bool all = Feed::due(engine.now());
  if (all) collect(engine, replica);
  given_ += fill(engine, replica, all ? nullptr : &changed_);
  changed_.clear();
}

u64 HostFeed::next_arrival() {
  arrivals(0);  // sorts them
  return arrivals_.empty() ? kNever : u64{arrivals_.front().cycle} + 1;
}

u64 HostFeed::next_cycle() const {
  u64 next = kNever;
  for (const std::deque<TraceEntry>& queue : queues_)
    if (!queue.empty()) next = std::min<u64>(next, queue.front().cycle);
  return next;
}

void HostFeed::arrived(u32 terminal, const TraceArrival& arrival) {
  const u32 place = arrival.id - first_open_;
  if (place >= open_.size() || open_[place].done)
    throw RunError("terminal " + std::to_string(terminal) + " lists the arrival of packet " +
                   std::to_string(arrival.id) + ", which is not in flight: its state is damaged.");
  Open& packet = open_[place];
  packet.done = 1;
  ++arrived_;
  arrivals_.push_back({packet.tag, packet.source, packet.destination, packet.flits, arrival.hops, arrival.created,
                       arrival.injected, arrival.head, arrival.at});
  if (arrivals_.size() > 1 && is_earlier(arrivals_.back(), arrivals_[arrivals_.size() - 2])) sorted_ = false;
  for (; !open_.empty() && open_.front().done; ++first_open_) open_.pop_front();
}

void HostFeed::load(Loader& loader) {
  visit(loader, *this);
  bool sound = has_sound_queues([this](const TraceEntry& e) { return e.id - first_open_ < open_.size(); });
  for (const u32 queue : changed_) sound = sound && queue < queues_.size();
  Loader::require(sound);
  sorted_ = false;
}

}  // namespace flitlab
