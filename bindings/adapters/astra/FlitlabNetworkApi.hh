#pragma once
/// A network front end of ASTRA-sim on top of flitlab: flitlab carries the messages, and the front end's event queue
/// runs ASTRA-sim's events at their times. The host's include path needs ASTRA-sim
/// (astra-sim/common/AstraNetworkAPI.hh).
#include <cstdint>
#include <memory>
#include <string>

#include "astra-sim/common/AstraNetworkAPI.hh"

namespace AstraSimFlitlab {

struct Options {
  double ns_per_cycle = 1;    ///< duration of a cycle of the network
  uint64_t packet_bytes = 0;  ///< most bytes in a packet; 0: as many as the network's longest packet has
};

/// The network, the time and the events of all ranks. Wrong arguments, a wrong configuration and a deadlock throw
/// std::runtime_error.
class Simulation {
 public:
  /// `toml`: a configuration of flitlab. Rank i is terminal i.
  explicit Simulation(const std::string& toml, Options options = {});
  ~Simulation();

  /// Runs events and carries messages until there are neither.
  void run();
  /// Returns a text that names the sends and receives without a counterpart; "" if there are none. Call it after run():
  /// then the workload waits for these messages.
  std::string unmatched() const;

  double now() const;         ///< nanoseconds
  uint64_t messages() const;  ///< number of messages that have arrived
  uint64_t packets() const;   ///< number of their packets
  uint32_t terminals() const;
  double bytes_per_ns() const;  ///< of a channel that carries a flit per cycle (GB/s)

  struct Parts;
  Parts& parts() { return *parts_; }

 private:
  std::unique_ptr<Parts> parts_;
};

/// The interface of one rank. A send's handler and its receive's handler run when the last packet has arrived.
class FlitlabNetworkApi : public AstraSim::AstraNetworkAPI {
 public:
  FlitlabNetworkApi(int rank, Simulation& simulation);

  int sim_send(void* buffer, uint64_t count, int type, int dst, int tag, AstraSim::sim_request* request,
               void (*msg_handler)(void* fun_arg), void* fun_arg) override;
  int sim_recv(void* buffer, uint64_t count, int type, int src, int tag, AstraSim::sim_request* request,
               void (*msg_handler)(void* fun_arg), void* fun_arg) override;
  void sim_schedule(AstraSim::timespec_t delta, void (*fun_ptr)(void* fun_arg), void* fun_arg) override;
  AstraSim::timespec_t sim_get_time() override;
  double get_BW_at_dimension(int dim) override;

 private:
  Simulation& simulation_;
};

}  // namespace AstraSimFlitlab
