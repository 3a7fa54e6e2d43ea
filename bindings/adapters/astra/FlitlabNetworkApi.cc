#include "astra/FlitlabNetworkApi.hh"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <queue>
#include <tuple>
#include <vector>

#include "common/network.hpp"

namespace AstraSimFlitlab {
namespace {

using flitlab_adapters::kPatience;

struct Handler {
  void (*run)(void*) = nullptr;
  void* argument = nullptr;

  void operator()() const {
    if (run) run(argument);
  }
};

struct Event {
  double time;      ///< nanoseconds, rounded
  uint64_t number;  ///< events of the same time run in the order in which they were scheduled
  Handler handler;

  bool operator<(const Event& other) const {  // the earliest is at the top of std::priority_queue
    return std::tie(time, number) > std::tie(other.time, other.number);
  }
};

/// Messages with the same tag, source, destination and bytes match in the order of their sends and receives.
using Key = std::tuple<int, int, int, uint64_t>;

/// Sends or receives that have no counterpart yet, in their order. No list is empty.
template <class Call>
using Unmatched = std::map<Key, std::deque<Call>>;

/// Removes the first call of a list and returns it.
template <class Call>
Call take_first(Unmatched<Call>& unmatched, typename Unmatched<Call>::iterator list) {
  const Call first = list->second.front();
  list->second.pop_front();
  if (list->second.empty()) unmatched.erase(list);
  return first;
}

/// Rounds a time to a multiple of 2^-20 ns. The sum of such times is exact, so an event that is scheduled a number of
/// whole nanoseconds later is also this number of ticks later. ASTRA-sim's tick is the whole part of the time, and
/// ASTRA-sim loses an event that runs in another tick.
double rounded(double ns) { return std::ldexp(std::round(std::ldexp(ns, 20)), -20); }

struct Message {
  uint64_t packets_left;
  Handler sent, received;
  bool has_receive;
};

std::string text_of(const Key& key) {
  return std::to_string(std::get<3>(key)) + " bytes with tag " + std::to_string(std::get<0>(key)) + " from rank " +
         std::to_string(std::get<1>(key)) + " to rank " + std::to_string(std::get<2>(key));
}

}  // namespace

struct Simulation::Parts {
  Parts(const std::string& toml, Options given) : network(toml), options(given), backlog(network.facts().terminals) {
    if (!(options.ns_per_cycle > 0) || !std::isfinite(options.ns_per_cycle))
      throw std::runtime_error("ns_per_cycle = " + std::to_string(options.ns_per_cycle) + " must be above 0.");
    const uint64_t most = uint64_t{network.facts().longest_packet} * network.facts().flit_bytes;
    if (options.packet_bytes > most)
      throw std::runtime_error("packet_bytes = " + std::to_string(options.packet_bytes) + " is more than the " +
                               std::to_string(most) + " bytes of the network's longest packet.");
    if (!options.packet_bytes) options.packet_bytes = most;
  }

  double start_of(uint64_t cycle) const { return rounded(static_cast<double>(cycle) * options.ns_per_cycle); }
  /// Returns the last cycle that begins at a time or before it.
  uint64_t cycle_at(double time) const {
    uint64_t cycle = static_cast<uint64_t>(time / options.ns_per_cycle);
    while (start_of(cycle) > time) --cycle;  // the division may have been rounded
    while (start_of(cycle + 1) <= time) ++cycle;
    return cycle;
  }

  void schedule(double delta, Handler handler) { events.push({now + rounded(delta), scheduled++, handler}); }

  void send(const Key& key, Handler sent) {
    const auto [tag, source, destination, bytes] = key;
    const uint64_t packets = std::max<uint64_t>((bytes + options.packet_bytes - 1) / options.packet_bytes, 1);
    const uint64_t begun = cycle_at(now);
    flitlab_packet packet{};
    packet.source = static_cast<uint32_t>(source);
    packet.destination = static_cast<uint32_t>(destination);
    packet.tag = next_message;
    packet.cycle = begun + (start_of(begun) < now);  // the first cycle that begins now or later
    for (uint64_t i = 0; i < packets; ++i) {
      const uint64_t part = std::min(options.packet_bytes, bytes - i * options.packet_bytes);
      packet.bytes = static_cast<uint32_t>(std::max<uint64_t>(part, 1));  // a message without data is one packet
      if (!backlog[packet.source].empty() || !network.offer(packet)) {
        backlog[packet.source].push_back(packet);
        ++in_backlog;
      }
    }
    // The message is registered when the network has accepted that it can carry it.
    Message message{packets, sent, {}, false};
    if (const auto found = receives.find(key); found != receives.end()) {
      message.received = take_first(receives, found);
      message.has_receive = true;
    } else {
      sends[key].push_back(next_message);
    }
    if (!in_flight) last_arrival = packet.cycle;
    in_flight += packets;
    open.emplace(next_message++, message);
  }

  void receive(const Key& key, Handler received) {
    const auto found = sends.find(key);
    if (found == sends.end()) {
      receives[key].push_back(received);
      return;
    }
    const auto message = open.find(take_first(sends, found));
    if (message->second.packets_left) {
      message->second.received = received;
      message->second.has_receive = true;
    } else {  // all packets arrived before the receive
      open.erase(message);
      schedule(0, received);
    }
  }

  /// Offers packets that full sources have refused.
  void offer_again() {
    for (std::deque<flitlab_packet>& packets : backlog)
      for (; in_backlog && !packets.empty() && network.offer(packets.front()); --in_backlog) packets.pop_front();
  }

  /// Advances the network until a packet arrives, at most to the beginning of cycle `limit`. Returns whether one has.
  bool advance(uint64_t limit) {
    while (in_flight && network.cycle() < limit) {
      if (in_backlog) offer_again();
      const uint64_t end = in_backlog ? network.cycle() + 1 : last_arrival + kPatience;
      const bool arrived = network.advance_to_arrival(std::min(limit, std::max(end, network.cycle() + 1))) > 0;
      if (arrived) last_arrival = network.cycle();
      if (arrived) return true;
      if (network.cycle() >= last_arrival + kPatience) {
        network.check_progress();
        last_arrival = network.cycle();
      }
    }
    return false;
  }

  void deliver() {
    now = std::max(now, start_of(network.cycle()));
    const std::vector<flitlab_arrival> arrivals = network.take();  // a copy: handlers send messages
    std::vector<Handler> handlers;
    for (const flitlab_arrival& arrival : arrivals) {
      --in_flight;
      ++packets;
      const auto found = open.find(arrival.tag);
      Message& message = found->second;
      if (--message.packets_left) continue;
      ++messages;
      handlers.push_back(message.sent);
      if (!message.has_receive) continue;
      handlers.push_back(message.received);
      open.erase(found);
    }
    for (const Handler& handler : handlers) handler();
  }

  void run() {
    while (in_flight || !events.empty()) {
      const uint64_t limit = events.empty() ? UINT64_MAX : cycle_at(events.top().time);
      if (advance(limit)) {
        deliver();
        continue;
      }
      const Event event = events.top();
      events.pop();
      now = event.time;
      event.handler();
    }
  }

  flitlab_adapters::Network network;
  Options options;
  double now = 0;  ///< nanoseconds, rounded
  std::priority_queue<Event> events;
  uint64_t scheduled = 0;     ///< events since the beginning
  Unmatched<uint64_t> sends;  ///< numbers of messages
  Unmatched<Handler> receives;
  std::map<uint64_t, Message> open;  ///< messages whose packets are on their way, or which have no receive
  uint64_t next_message = 0, messages = 0, packets = 0;
  uint64_t in_flight = 0;  ///< packets that have not arrived
  uint64_t last_arrival = 0;
  std::vector<std::deque<flitlab_packet>> backlog;  ///< [source] packets that its full queue has refused
  uint64_t in_backlog = 0;
};

Simulation::Simulation(const std::string& toml, Options options) : parts_(new Parts(toml, options)) {}
Simulation::~Simulation() = default;

void Simulation::run() { parts_->run(); }

std::string Simulation::unmatched() const {
  std::string text;
  for (const auto& [key, list] : parts_->receives)
    text += std::to_string(list.size()) + " receive(s) of " + text_of(key) + " without a send.\n";
  for (const auto& [key, list] : parts_->sends)
    text += std::to_string(list.size()) + " send(s) of " + text_of(key) + " without a receive.\n";
  return text;
}

double Simulation::now() const { return parts_->now; }
uint64_t Simulation::messages() const { return parts_->messages; }
uint64_t Simulation::packets() const { return parts_->packets; }
uint32_t Simulation::terminals() const { return parts_->network.facts().terminals; }
double Simulation::bytes_per_ns() const { return parts_->network.facts().flit_bytes / parts_->options.ns_per_cycle; }

namespace {

void require_rank(const std::string& call, int rank, const Simulation& simulation) {
  if (rank < 0 || static_cast<uint32_t>(rank) >= simulation.terminals())
    throw std::runtime_error(call + ": rank " + std::to_string(rank) +
                             " does not exist: the network has terminals 0 to " +
                             std::to_string(simulation.terminals() - 1) + ".");
}

}  // namespace

FlitlabNetworkApi::FlitlabNetworkApi(int rank, Simulation& simulation)
    : AstraNetworkAPI(rank), simulation_(simulation) {
  require_rank("FlitlabNetworkApi", rank, simulation);
}

int FlitlabNetworkApi::sim_send(void*, uint64_t count, int, int dst, int tag, AstraSim::sim_request*,
                                void (*msg_handler)(void*), void* fun_arg) {
  require_rank("sim_send", dst, simulation_);
  simulation_.parts().send({tag, sim_comm_get_rank(), dst, count}, {msg_handler, fun_arg});
  return 0;
}

int FlitlabNetworkApi::sim_recv(void*, uint64_t count, int, int src, int tag, AstraSim::sim_request*,
                                void (*msg_handler)(void*), void* fun_arg) {
  require_rank("sim_recv", src, simulation_);
  simulation_.parts().receive({tag, src, sim_comm_get_rank(), count}, {msg_handler, fun_arg});
  return 0;
}

void FlitlabNetworkApi::sim_schedule(AstraSim::timespec_t delta, void (*fun_ptr)(void*), void* fun_arg) {
  const double ns = static_cast<double>(delta.time_val);
  if (delta.time_res != AstraSim::NS || !(ns >= 0) || !std::isfinite(ns) || !fun_ptr)
    throw std::runtime_error("sim_schedule: delta must be 0 or more nanoseconds (NS), and the function must exist.");
  simulation_.parts().schedule(ns, {fun_ptr, fun_arg});
}

AstraSim::timespec_t FlitlabNetworkApi::sim_get_time() { return {AstraSim::NS, simulation_.now()}; }

double FlitlabNetworkApi::get_BW_at_dimension(int) { return simulation_.bytes_per_ns(); }

}  // namespace AstraSimFlitlab
