/// The C interface (flitlab.h), which converts types and turns exceptions into codes.
#include "bindings/c/flitlab.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>
#include <string>
#include <vector>

#include "bindings/c/configuration.hpp"
#include "host/config/check.hpp"
#include "host/run/stepped.hpp"
#include "kernels/common/error.hpp"
#include "kernels/traffic/params.hpp"

using namespace flitlab;

struct flitlab_network {
  flitlab_network(const Experiment& experiment, u32 threads)
      : emulated(experiment, "cpu", threads, false),
        flit_bytes(experiment.u32_of(param::traffic.flit_bytes)),
        source_packets(experiment.u32_of(param::traffic.source_packets)) {}

  SteppedNetwork emulated;
  u32 flit_bytes, source_packets;
  std::vector<OfferedPacket> offered;  ///< memory for flitlab_offer()
};

namespace {

thread_local std::string last_error;

/// Runs `work` and returns its status, or the status for the exception that it throws.
template <class Work>
flitlab_status guarded(Work&& work) noexcept {
  flitlab_status status = FLITLAB_INTERNAL;
  try {
    try {
      return work();
    } catch (const ConfigError& error) {
      status = FLITLAB_BAD_INPUT;
      last_error = error.what();
    } catch (const RunError& error) {
      status = FLITLAB_FAILED;
      last_error = error.what();
    } catch (const std::bad_alloc&) {
      status = FLITLAB_NO_MEMORY;
      last_error = "there is not enough memory.";
    } catch (const std::exception& error) {
      last_error = error.what();
    } catch (...) {
      last_error = "an unknown exception.";
    }
  } catch (...) {  // no memory for the message
    last_error.clear();
  }
  return status;
}

void require(const void* pointer, const char* function, const char* argument) {
  if (!pointer) throw ConfigError(std::string(function) + ": " + argument + " is NULL.");
}

/// The same for functions that use a network.
template <class Network, class Work>
flitlab_status with(Network* network, const char* function, Work&& work) noexcept {
  return guarded([&] {
    require(network, function, "the network");
    work(*network);
    return FLITLAB_OK;
  });
}

u64 flits_of(const flitlab_network& network, const flitlab_packet& packet) {
  if (packet.flits || !packet.bytes) return packet.flits;
  return std::max<u64>((u64{packet.bytes} + network.flit_bytes - 1) / network.flit_bytes,
                       network.emulated.facts().shortest_packet);
}

flitlab_status create(std::string_view text, const std::string& name, const std::string& folder, u32 threads,
                      flitlab_network** network) {
  *network = new flitlab_network(hosted_experiment(text, name, folder), threads);
  return FLITLAB_OK;
}

}  // namespace

uint32_t flitlab_abi(void) { return FLITLAB_ABI; }

const char* flitlab_version(void) { return FLITLAB_VERSION; }

const char* flitlab_error(void) { return last_error.c_str(); }

flitlab_status flitlab_create(const char* text, const char* folder, uint32_t threads, flitlab_network** network) {
  return guarded([&] {
    require(network, "flitlab_create", "`network`");
    *network = nullptr;
    require(text, "flitlab_create", "`text`");
    return create(text, "the configuration", folder ? folder : ".", threads, network);
  });
}

flitlab_status flitlab_open(const char* path, uint32_t threads, flitlab_network** network) {
  return guarded([&] {
    require(network, "flitlab_open", "`network`");
    *network = nullptr;
    require(path, "flitlab_open", "`path`");
    std::error_code unreadable;
    errno = std::filesystem::is_directory(path, unreadable) ? EISDIR : 0;  // a folder can be opened, but not read
    std::ifstream file;
    if (!errno) file.open(path, std::ios::binary);
    if (errno || !file) throw ConfigError(std::string(path) + " cannot be read: " + std::strerror(errno) + ".");
    std::string text{std::istreambuf_iterator<char>(file), {}};
    if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);  // the mark that some editors write before UTF-8
    const std::string folder = std::filesystem::path(path).parent_path().string();
    return create(text, path, folder.empty() ? "." : folder, threads, network);
  });
}

void flitlab_destroy(flitlab_network* network) { delete network; }

flitlab_status flitlab_describe(const flitlab_network* network, flitlab_description* description) {
  return with(network, "flitlab_describe", [&](const flitlab_network& n) {
    require(description, "flitlab_describe", "`description`");
    const PlanFacts& facts = n.emulated.facts();
    *description = {n.emulated.terminals(), n.emulated.routers(), facts.shortest_packet,
                    facts.longest_packet,   n.flit_bytes,         n.source_packets};
  });
}

flitlab_status flitlab_offer(flitlab_network* network, const flitlab_packet* packets, size_t count, size_t* accepted) {
  size_t done = 0;
  flitlab_status status = with(network, "flitlab_offer", [&](flitlab_network& n) {
    if (count) require(packets, "flitlab_offer", "`packets`");
    n.offered.clear();
    for (size_t i = 0; i < count; ++i) {
      const flitlab_packet& p = packets[i];
      if (p.reserved) throw ConfigError("packet " + std::to_string(i) + ": reserved must be 0.");
      n.offered.push_back({p.source, p.destination, flits_of(n, p), p.tag, p.cycle, p.traffic_class});
    }
    done = n.emulated.offer(n.offered);
  });
  if (accepted) *accepted = done;
  return status == FLITLAB_OK && done < count ? FLITLAB_FULL : status;
}

flitlab_status flitlab_waiting(flitlab_network* network, uint32_t source, uint32_t* packets) {
  return with(network, "flitlab_waiting", [&](flitlab_network& n) {
    require(packets, "flitlab_waiting", "`packets`");
    *packets = n.emulated.waiting(source);
  });
}

flitlab_status flitlab_waiting_of_class(flitlab_network* network, uint32_t source, uint32_t traffic_class,
                                        uint32_t* packets) {
  return with(network, "flitlab_waiting_of_class", [&](flitlab_network& n) {
    require(packets, "flitlab_waiting_of_class", "`packets`");
    *packets = n.emulated.waiting(source, traffic_class);
  });
}

uint64_t flitlab_cycle(const flitlab_network* network) { return network ? network->emulated.cycle() : 0; }

flitlab_status flitlab_advance(flitlab_network* network, uint64_t cycle) {
  return with(network, "flitlab_advance", [&](flitlab_network& n) {
    if (cycle < n.emulated.cycle())
      throw ConfigError("flitlab_advance: cycle " + std::to_string(cycle) + " has passed; the next cycle is " +
                        std::to_string(n.emulated.cycle()) + ".");
    if (cycle > kEndOfTime)
      throw ConfigError("flitlab_advance: cycle " + std::to_string(cycle) + " is after the end of emulated time, " +
                        std::to_string(kEndOfTime) + ".");
    n.emulated.step(cycle - n.emulated.cycle());
  });
}

flitlab_status flitlab_advance_to_arrival(flitlab_network* network, uint64_t limit, size_t* arrivals) {
  return with(network, "flitlab_advance_to_arrival", [&](flitlab_network& n) {
    n.emulated.step_to_arrival(limit);
    if (arrivals) *arrivals = n.emulated.arrivals();
  });
}

flitlab_status flitlab_take(flitlab_network* network, flitlab_arrival* arrivals, size_t room, size_t* taken) {
  return with(network, "flitlab_take", [&](flitlab_network& n) {
    if (room) require(arrivals, "flitlab_take", "`arrivals`");
    require(taken, "flitlab_take", "`taken`");
    const std::vector<ArrivedPacket> list = n.emulated.take_arrivals(room);
    std::transform(list.begin(), list.end(), arrivals, [](const ArrivedPacket& a) {
      return flitlab_arrival{a.tag, a.cycle, a.created, a.injected, a.source, a.destination, a.flits, a.hops};
    });
    *taken = list.size();
  });
}

flitlab_status flitlab_read_statistics(flitlab_network* network, flitlab_statistics* statistics) {
  return with(network, "flitlab_read_statistics", [&](flitlab_network& n) {
    require(statistics, "flitlab_read_statistics", "`statistics`");
    const std::map<std::string, u64> totals = n.emulated.totals();
    const auto of = [&](const char* name) { return totals.at(name); };
    *statistics = {of("packets_created"), of("packets_injected"),   of("packets_delivered"), of("packets_dropped"),
                   of("flits_created"),   of("flits_injected"),     of("flits_delivered"),   of("flits_dropped"),
                   of("latency_sum"),     of("network_latency_sum")};
  });
}

flitlab_status flitlab_total(flitlab_network* network, const char* name, uint64_t* count) {
  return with(network, "flitlab_total", [&](flitlab_network& n) {
    require(name, "flitlab_total", "`name`");
    require(count, "flitlab_total", "`count`");
    const std::map<std::string, u64> totals = n.emulated.totals();
    const auto found = totals.find(name);
    if (found != totals.end()) {
      *count = found->second;
      return;
    }
    std::vector<std::string> names;
    for (const auto& total : totals) names.push_back(total.first);
    throw ConfigError(std::string("this network has no total ") + name + did_you_mean(nearest(name, names)));
  });
}

flitlab_status flitlab_check(flitlab_network* network) {
  return with(network, "flitlab_check", [](flitlab_network& n) { n.emulated.check(); });
}

flitlab_status flitlab_state_hash(flitlab_network* network, uint64_t* hash) {
  return with(network, "flitlab_state_hash", [&](flitlab_network& n) {
    require(hash, "flitlab_state_hash", "`hash`");
    *hash = std::stoull(n.emulated.state_hash(), nullptr, 16);
  });
}

flitlab_status flitlab_save(flitlab_network* network, const char* path) {
  return with(network, "flitlab_save", [&](flitlab_network& n) {
    require(path, "flitlab_save", "`path`");
    n.emulated.save(path);
  });
}

flitlab_status flitlab_load(flitlab_network* network, const char* path) {
  return with(network, "flitlab_load", [&](flitlab_network& n) {
    require(path, "flitlab_load", "`path`");
    n.emulated.load(path);
  });
}
