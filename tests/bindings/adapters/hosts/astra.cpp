/// A host with the calls that ASTRA-sim makes to its network interface: ring collectives, and messages at given times.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <memory>
#include <vector>

#include "astra/FlitlabNetworkApi.hh"
#include "say.hpp"

namespace {

using AstraSim::AstraNetworkAPI;
using AstraSimFlitlab::FlitlabNetworkApi;
using AstraSimFlitlab::Simulation;

constexpr int kBytes = 0;  // the type of all messages

/// A rank of a ring. In each step it sends a chunk to the next rank and receives one from the rank before it. An
/// all-gather of n ranks has n - 1 steps. An all-reduce has 2 (n - 1): it first adds up the chunks.
struct Rank {
  AstraNetworkAPI* network;
  int ranks, steps, step;
  uint64_t bytes;
  std::vector<int> chunks;              ///< [chunk] ranks whose data it contains
  std::vector<std::vector<int>>* sent;  ///< [rank][step] content of the chunk that the rank sent

  int me() const { return network->sim_comm_get_rank(); }
  int neighbour(int distance) const { return ((me() + distance) % ranks + ranks) % ranks; }

  void begin_step() {
    if (step == steps) return;
    // Rank r sends chunk r in step 0, and in step s the chunk that it received in step s - 1: r - s.
    const int chunk = neighbour(-step);
    (*sent)[static_cast<size_t>(me())].push_back(chunks[static_cast<size_t>(chunk)]);
    network->sim_send(nullptr, bytes, kBytes, neighbour(1), step, nullptr, nullptr, nullptr);
    network->sim_recv(nullptr, bytes, kBytes, neighbour(-1), step, nullptr, end_step, this);
  }

  static void end_step(void* argument) {
    Rank& rank = *static_cast<Rank*>(argument);
    const int chunk = rank.neighbour(-rank.step - 1);
    const int got = (*rank.sent)[static_cast<size_t>(rank.neighbour(-1))][static_cast<size_t>(rank.step)];
    const bool reduces = rank.steps > rank.ranks - 1 && rank.step < rank.ranks - 1;
    int& held = rank.chunks[static_cast<size_t>(chunk)];
    held = reduces ? held + got : got;
    std::printf("%d %d %.10Lg\n", rank.step, rank.me(), rank.network->sim_get_time().time_val);
    ++rank.step;
    rank.begin_step();
  }
};

void ring(Simulation& simulation, int ranks, uint64_t bytes, bool reduce) {
  std::deque<FlitlabNetworkApi> networks;
  std::deque<Rank> all;
  std::vector<std::vector<int>> sent(static_cast<size_t>(ranks));
  for (int r = 0; r < ranks; ++r) {
    networks.emplace_back(r, simulation);
    const int steps = (reduce ? 2 : 1) * (ranks - 1);
    std::vector<int> chunks(static_cast<size_t>(ranks), reduce ? 1 << r : 0);
    chunks[static_cast<size_t>(r)] = 1 << r;
    all.push_back({&networks.back(), ranks, steps, 0, bytes, chunks, &sent});
  }
  for (Rank& rank : all) rank.begin_step();
  simulation.run();
  for (const Rank& rank : all)
    for (int chunk = 0; chunk < ranks; ++chunk)
      if (rank.chunks[static_cast<size_t>(chunk)] != (reduce ? (1 << ranks) - 1 : 1 << chunk)) std::abort();
}

struct Planned {
  double send_time, receive_time;
  int tag, source, destination;
  unsigned long bytes;
  AstraNetworkAPI *from, *to;
  long double sent, received;
};

/// As ASTRA-sim does, expects an event in the tick (whole nanosecond) for which it is scheduled.
void end_receive(void* argument) {
  Planned& p = *static_cast<Planned*>(argument);
  p.received = p.to->sim_get_time().time_val;
  const auto check = [](void* a) {
    const Planned& planned = *static_cast<Planned*>(a);
    const long double tick = std::floor(planned.to->sim_get_time().time_val);
    if (tick != std::floor(planned.received) + 10) std::printf("tick %.0Lf is wrong\n", tick);
  };
  p.to->sim_schedule({AstraSim::NS, 10}, check, argument);
}

/// Reads "send_time receive_time tag source destination bytes" and prints for each message the times of both handlers.
void messages(Simulation& simulation) {
  std::deque<FlitlabNetworkApi> networks;
  for (unsigned r = 0; r < simulation.terminals(); ++r) networks.emplace_back(static_cast<int>(r), simulation);
  std::deque<Planned> all;
  for (Planned p{}; std::scanf("%lf %lf %d %d %d %lu", &p.send_time, &p.receive_time, &p.tag, &p.source, &p.destination,
                               &p.bytes) == 6;) {
    p.from = &networks.at(static_cast<size_t>(p.source));
    p.to = &networks.at(static_cast<size_t>(p.destination));
    all.push_back(p);
  }
  const auto send = [](void* argument) {
    Planned& p = *static_cast<Planned*>(argument);
    if (p.from->sim_get_time().time_val != p.send_time) std::abort();
    p.from->sim_send(
        nullptr, p.bytes, kBytes, p.destination, p.tag, nullptr,
        [](void* a) { static_cast<Planned*>(a)->sent = static_cast<Planned*>(a)->from->sim_get_time().time_val; },
        argument);
  };
  const auto receive = [](void* argument) {
    Planned& p = *static_cast<Planned*>(argument);
    p.to->sim_recv(nullptr, p.bytes, kBytes, p.source, p.tag, nullptr, end_receive, argument);
  };
  for (Planned& p : all) {
    if (p.send_time >= 0) p.from->sim_schedule({AstraSim::NS, p.send_time}, send, &p);
    if (p.receive_time >= 0) p.to->sim_schedule({AstraSim::NS, p.receive_time}, receive, &p);
  }
  say("run", [&] { simulation.run(); });
  for (const Planned& p : all) std::printf("%.10Lg %.10Lg\n", p.sent, p.received);
  std::printf("%lu messages, %lu packets\n%s", static_cast<unsigned long>(simulation.messages()),
              static_cast<unsigned long>(simulation.packets()), simulation.unmatched().c_str());
}

void errors(const char* toml) {
  say("no file", [] { Simulation("no/such.toml"); });
  say("cycle", [=] { Simulation(toml, {0, 0}); });
  say("packet", [=] { Simulation(toml, {1, 1u << 30}); });
  Simulation simulation(toml);
  say("rank", [&] { FlitlabNetworkApi(16, simulation); });
  FlitlabNetworkApi network(3, simulation);
  say("send", [&] { network.sim_send(nullptr, 8, kBytes, 16, 0, nullptr, nullptr, nullptr); });
  say("recv", [&] { network.sim_recv(nullptr, 8, kBytes, -1, 0, nullptr, nullptr, nullptr); });
  say("schedule", [&] { network.sim_schedule({AstraSim::NS, -1}, [](void*) {}, nullptr); });
  say("unit", [&] { network.sim_schedule({AstraSim::MS, 1}, [](void*) {}, nullptr); });
  say("run", [&] { simulation.run(); });
  std::printf("bandwidth: %g GB/s\n", network.get_BW_at_dimension(0));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 2 ? argv[1] : "";
  if (mode == "errors") {
    errors(argv[2]);
  } else if (mode == "messages" && argc == 5) {
    Simulation simulation(argv[2], {std::atof(argv[3]), std::strtoul(argv[4], nullptr, 10)});
    messages(simulation);
  } else if (argc == 5) {
    Simulation simulation(argv[2]);
    ring(simulation, std::atoi(argv[3]), std::strtoul(argv[4], nullptr, 10), mode == "all_reduce");
  }
  return 0;
}
