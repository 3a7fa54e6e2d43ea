#pragma once
/// One sub-network of a host that counts flits in input and boundary buffers, as BookSim's interfaces to simulators do.
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "common/icnt_file.hpp"
#include "common/network.hpp"

namespace flitlab_adapters {

/// Types of packets in BookSim. `flitlab import` gives each of them a class, if the types have virtual channels of
/// their own. In networks with fewer classes, all packets have class 0.
enum MessageType : uint32_t { kReadRequest, kWriteRequest, kReadReply, kWriteReply };

/// Packets wait at a source until their heads enter the network. Arrived packets wait at their destination until the
/// host pops them. While a destination has more flits than its ejection and boundary buffers hold, sources keep packets
/// to it. Packets that are in the network at that time still arrive: a terminal of flitlab accepts every flit.
/// Packets of a source enter the network in the order of their pushes, also if they have different types.
///
/// A packet can be popped one cycle later than its tail arrives in flitlab, because BookSim's terminals take one cycle
/// more.
class Subnet {
 public:
  /// `nodes`: terminals that the host uses. Throws std::runtime_error if the network has fewer.
  Subnet(const std::string& toml, const IcntFile& icnt, uint32_t nodes);

  uint32_t nodes() const { return static_cast<uint32_t>(sources_.size()); }
  uint64_t cycle() const { return cycle_; }

  /// Returns whether a packet fits into the input buffer of its source. Throws std::runtime_error if it never fits.
  bool has_room(uint32_t source, uint32_t bytes);
  /// Takes a packet into the source's input buffer, also if it is full. Throws std::runtime_error if the network cannot
  /// carry the packet.
  void push(uint32_t source, uint32_t destination, uint32_t bytes, void* data, MessageType type);

  bool is_empty(uint32_t node) const { return destination(node).arrived.empty(); }
  /// Returns the packet that arrived first and has not been popped. Throws std::runtime_error if there is none.
  void* top(uint32_t node) const;
  void pop(uint32_t node);

  /// Emulates a cycle.
  void step();
  /// Returns whether packets are on their way or have not been popped.
  bool busy() const { return held_ || in_flight_ || unpopped_; }
  /// Returns the counts since cycle 0.
  flitlab_statistics counts() const { return network_.statistics(); }
  /// Returns a line of text: packets and mean latencies since the cycle in which counts() were `since`.
  std::string statistics(const flitlab_statistics& since = {}) const;

 private:
  struct Packet {
    void* data;
    uint32_t destination, flits, traffic_class;
  };
  struct Source {
    std::deque<Packet> held;       ///< packets that the network has not been given
    std::deque<uint32_t> offered;  ///< lengths of packets whose head may not have left
    uint32_t traffic_class = 0;    ///< of the packets in `offered`
    uint64_t flits = 0;            ///< of all these packets
  };
  struct Destination {
    std::deque<Packet> arrived;
    uint64_t flits = 0;  ///< of all these packets
  };

  uint32_t flits_of(uint32_t bytes) const;
  bool offer(uint32_t source, const Packet& packet);
  void forget_injected(uint32_t source);
  void release_held();
  void deliver();
  const Destination& destination(uint32_t node) const;
  void require_node(uint32_t node) const;

  Network network_;
  IcntFile icnt_;
  bool has_types_;  ///< the network has a class for each type of packets
  std::vector<Source> sources_;
  std::vector<Destination> destinations_;
  std::vector<flitlab_arrival> arriving_;  ///< packets that can be popped after the next cycle
  uint64_t cycle_ = 0;                     ///< the network may be behind while it is empty
  uint64_t last_arrival_ = 0;              ///< cycle of the last arrival, or in which the network was empty
  uint64_t held_ = 0;                      ///< packets in Source::held
  uint64_t in_flight_ = 0;                 ///< packets that the network has, and those in `arriving_`
  uint64_t unpopped_ = 0;                  ///< packets in Destination::arrived
};

}  // namespace flitlab_adapters
