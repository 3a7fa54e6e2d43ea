/// The functions that flitlab_pkg.sv imports. In the types of the DPI, chandle is a pointer, `int unsigned` has 32 bits
/// and `longint unsigned` has 64.
#include <deque>
#include <set>
#include <string>
#include <vector>

#include "common/network.hpp"

namespace {

struct Opened {
  explicit Opened(const std::string& path) : network(path), arrived(network.facts().terminals) {}

  flitlab_adapters::Network network;
  std::vector<std::deque<flitlab_arrival>> arrived;  ///< [terminal]
};

std::set<void*> open_networks;
std::string last_error;

/// Runs `work` with a network and returns its status, or the status for the exception that it throws.
template <class Work>
int with(void* handle, Work&& work) noexcept {
  try {
    if (!open_networks.count(handle)) throw std::runtime_error("flitlab: the network is not open.");
    return work(*static_cast<Opened*>(handle));
  } catch (const flitlab_adapters::Error& error) {
    last_error = error.what();
    return error.status;
  } catch (const std::exception& error) {
    last_error = error.what();
    return FLITLAB_BAD_INPUT;
  }
}

}  // namespace

extern "C" {

void* flitlab_dpi_open(const char* path) {
  try {
    auto* const opened = new Opened(path ? path : "");
    open_networks.insert(opened);
    return opened;
  } catch (const std::exception& error) {
    last_error = error.what();
    return nullptr;
  }
}

void flitlab_dpi_close(void* handle) {
  if (open_networks.erase(handle)) delete static_cast<Opened*>(handle);
}

const char* flitlab_dpi_error(void) { return last_error.c_str(); }

unsigned flitlab_dpi_terminals(void* handle) {
  unsigned terminals = 0;
  with(handle, [&](Opened& o) { return terminals = o.network.facts().terminals, FLITLAB_OK; });
  return terminals;
}

unsigned long long flitlab_dpi_cycle(void* handle) {
  unsigned long long cycle = 0;
  with(handle, [&](Opened& o) { return cycle = o.network.cycle(), FLITLAB_OK; });
  return cycle;
}

int flitlab_dpi_offer(void* handle, unsigned source, unsigned destination, unsigned flits, unsigned long long tag) {
  return with(handle, [&](Opened& o) -> int {
    flitlab_packet packet{};
    packet.source = source;
    packet.destination = destination;
    packet.flits = flits;
    packet.tag = tag;
    if (o.network.offer(packet)) return FLITLAB_OK;
    last_error = "flitlab: the queue of source " + std::to_string(source) + " is full.";
    return FLITLAB_FULL;
  });
}

int flitlab_dpi_waiting(void* handle, unsigned source, unsigned* packets) {
  *packets = 0;
  return with(handle, [&](Opened& o) { return *packets = o.network.waiting(source), FLITLAB_OK; });
}

int flitlab_dpi_step(void* handle, unsigned long long cycles) {
  return with(handle, [&](Opened& o) {
    o.network.advance(o.network.cycle() + cycles);
    for (const flitlab_arrival& arrival : o.network.take()) o.arrived[arrival.destination].push_back(arrival);
    return FLITLAB_OK;
  });
}

int flitlab_dpi_take(void* handle, unsigned terminal, unsigned* found, unsigned long long* tag, unsigned* source,
                     unsigned* flits, unsigned long long* cycle) {
  *found = *source = *flits = 0;
  *tag = *cycle = 0;
  return with(handle, [&](Opened& o) {
    if (terminal >= o.arrived.size())
      throw std::runtime_error("flitlab: terminal " + std::to_string(terminal) + " does not exist.");
    std::deque<flitlab_arrival>& arrived = o.arrived[terminal];
    if (arrived.empty()) return FLITLAB_OK;
    *found = 1;
    *tag = arrived.front().tag;
    *source = arrived.front().source;
    *flits = arrived.front().flits;
    *cycle = arrived.front().cycle;
    arrived.pop_front();
    return FLITLAB_OK;
  });
}

int flitlab_dpi_check(void* handle) {
  return with(handle, [](Opened& o) { return o.network.check_progress(), FLITLAB_OK; });
}

}  // extern "C"
