#include "common/subnet.hpp"

#include <algorithm>
#include <cstdio>

namespace flitlab_adapters {

Subnet::Subnet(const std::string& toml, const IcntFile& icnt, uint32_t nodes)
    : network_(toml), icnt_(icnt), has_types_(network_.has_class(kWriteReply)) {
  if (nodes > network_.facts().terminals)
    throw std::runtime_error(toml + " has " + std::to_string(network_.facts().terminals) +
                             " terminals, and the host has " + std::to_string(nodes) + " nodes.");
  sources_.resize(nodes);
  destinations_.resize(nodes);
}

uint32_t Subnet::flits_of(uint32_t bytes) const {
  return std::max(bytes / icnt_.flit_size + (bytes % icnt_.flit_size != 0), network_.facts().shortest_packet);
}

bool Subnet::has_room(uint32_t source, uint32_t bytes) {
  require_node(source);
  const uint32_t flits = flits_of(bytes);
  if (flits > icnt_.source_room())
    throw std::runtime_error("a packet of " + std::to_string(flits) + " flits never fits into an input buffer of " +
                             std::to_string(icnt_.source_room()) + " flits: raise input_buffer_size.");
  forget_injected(source);
  return sources_[source].flits + flits <= icnt_.source_room();
}

void Subnet::push(uint32_t source, uint32_t destination, uint32_t bytes, void* data, MessageType type) {
  require_node(source);
  require_node(destination);
  const Packet packet{data, destination, flits_of(bytes), has_types_ ? type : kReadRequest};
  if (packet.flits > network_.facts().longest_packet)
    throw std::runtime_error("a packet of " + std::to_string(bytes) + " bytes has " + std::to_string(packet.flits) +
                             " flits; the network carries " + std::to_string(network_.facts().longest_packet) +
                             " at most.");
  Source& from = sources_[source];
  if (!from.held.empty() || !offer(source, packet)) {
    from.held.push_back(packet);
    ++held_;
  }
  from.flits += packet.flits;
}

bool Subnet::offer(uint32_t source, const Packet& packet) {
  if (destinations_[packet.destination].flits >= icnt_.destination_room()) return false;
  Source& from = sources_[source];
  // Each class has a source queue, and these take turns. A packet waits for the packets of another class before it, so
  // that the packets of a source enter the network in the order of their pushes.
  if (packet.traffic_class != from.traffic_class) {
    forget_injected(source);
    if (!from.offered.empty()) return false;
    from.traffic_class = packet.traffic_class;
  }
  flitlab_packet offered{};
  offered.source = source;
  offered.destination = packet.destination;
  offered.flits = packet.flits;
  offered.traffic_class = packet.traffic_class;
  offered.tag = reinterpret_cast<uintptr_t>(packet.data);
  offered.cycle = cycle_;
  if (!network_.offer(offered)) return false;
  if (!in_flight_++) last_arrival_ = cycle_;
  from.offered.push_back(packet.flits);
  return true;
}

void Subnet::forget_injected(uint32_t source) {
  Source& from = sources_[source];
  if (from.offered.empty()) return;
  for (const uint32_t waiting = network_.waiting(source); from.offered.size() > waiting; from.offered.pop_front())
    from.flits -= from.offered.front();
}

void Subnet::release_held() {
  for (uint32_t i = 0; held_ && i < nodes(); ++i) {
    const uint32_t source = static_cast<uint32_t>((cycle_ + i) % nodes());  // no source is always the first one
    std::deque<Packet>& held = sources_[source].held;
    while (!held.empty()) {
      const Packet packet = held.front();
      held.pop_front();  // before the offer, which throws if the network cannot carry the packet
      --held_;
      if (offer(source, packet)) continue;
      held.push_front(packet);
      ++held_;
      break;
    }
  }
}

void Subnet::deliver() {
  for (const flitlab_arrival& arrival : arriving_) {
    Destination& to = destinations_[arrival.destination];
    to.arrived.push_back(
        {reinterpret_cast<void*>(static_cast<uintptr_t>(arrival.tag)), arrival.destination, arrival.flits, 0});
    to.flits += arrival.flits;
    --in_flight_;
    ++unpopped_;
    last_arrival_ = cycle_;
  }
  arriving_.clear();
}

void Subnet::step() {
  release_held();
  deliver();
  ++cycle_;
  if (!in_flight_) return;
  network_.advance(cycle_);
  arriving_ = network_.take();
  if (in_flight_ && cycle_ > last_arrival_ && (cycle_ - last_arrival_) % kPatience == 0) network_.check_progress();
}

const Subnet::Destination& Subnet::destination(uint32_t node) const {
  require_node(node);
  return destinations_[node];
}

void* Subnet::top(uint32_t node) const {
  const Destination& to = destination(node);
  if (to.arrived.empty())
    throw std::runtime_error("no packet has arrived at node " + std::to_string(node) + ": call is_empty() first.");
  return to.arrived.front().data;
}

void Subnet::pop(uint32_t node) {
  top(node);
  Destination& to = destinations_[node];
  to.flits -= to.arrived.front().flits;
  to.arrived.pop_front();
  --unpopped_;
}

std::string Subnet::statistics(const flitlab_statistics& since) const {
  const flitlab_statistics now = counts();
  const uint64_t packets = now.packets_delivered - since.packets_delivered;
  // BookSim's terminals take one cycle more.
  const auto mean = [&](uint64_t sum, uint64_t before) {
    return packets ? static_cast<double>(sum - before) / static_cast<double>(packets) + 1 : 0.0;
  };
  char line[200];
  std::snprintf(line, sizeof line,
                "%llu packets arrived, %llu are on their way; mean latency %.2f cycles, in the network %.2f cycles",
                static_cast<unsigned long long>(packets), static_cast<unsigned long long>(in_flight_ + held_),
                mean(now.latency_sum, since.latency_sum), mean(now.network_latency_sum, since.network_latency_sum));
  return line;
}

void Subnet::require_node(uint32_t node) const {
  if (node >= nodes())
    throw std::runtime_error("node " + std::to_string(node) + " does not exist: nodes are numbered 0 to " +
                             std::to_string(nodes() - 1) + ".");
}

}  // namespace flitlab_adapters
