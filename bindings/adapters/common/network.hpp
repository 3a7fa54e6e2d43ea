#pragma once
/// A network of the C library whose failures are exceptions with its messages.
#include <flitlab.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace flitlab_adapters {

/// Cycles without an arrival after which the network is searched for a deadlock.
constexpr uint64_t kPatience = 100'000;

class Error : public std::runtime_error {
 public:
  Error(flitlab_status status, const std::string& message) : std::runtime_error(message), status(status) {}
  flitlab_status status;
};

class Network {
 public:
  /// Opens a configuration in TOML. Throws Error if it is missing or wrong.
  explicit Network(const std::string& path) {
    if (flitlab_abi() != FLITLAB_ABI)
      throw Error(FLITLAB_INTERNAL, "flitlab: the library has another version than flitlab.h.");
    flitlab_network* opened = nullptr;
    check(flitlab_open(path.c_str(), 1, &opened));
    network_.reset(opened);
    check(flitlab_describe(opened, &facts_));
  }

  const flitlab_description& facts() const { return facts_; }

  /// Offers a packet. Returns whether the source had room for it.
  bool offer(const flitlab_packet& packet) {
    const flitlab_status status = flitlab_offer(network_.get(), &packet, 1, nullptr);
    if (status == FLITLAB_FULL) return false;
    check(status);
    return true;
  }

  /// Returns whether the network has a class of this number.
  bool has_class(uint32_t traffic_class) const {
    uint32_t packets = 0;
    return flitlab_waiting_of_class(network_.get(), 0, traffic_class, &packets) == FLITLAB_OK;
  }

  /// Returns the number of packets at a source whose head has not left.
  uint32_t waiting(uint32_t source) const {
    uint32_t packets = 0;
    check(flitlab_waiting(network_.get(), source, &packets));
    return packets;
  }

  uint64_t cycle() const { return flitlab_cycle(network_.get()); }
  void advance(uint64_t cycle) { check(flitlab_advance(network_.get(), cycle)); }

  /// Advances until a packet arrives, at most to the beginning of cycle `limit`. Returns the number of arrivals.
  size_t advance_to_arrival(uint64_t limit) {
    size_t arrivals = 0;
    check(flitlab_advance_to_arrival(network_.get(), limit, &arrivals));
    return arrivals;
  }

  /// Returns the arrivals since the last call. They are valid until the next call.
  const std::vector<flitlab_arrival>& take() {
    constexpr size_t kRoom = 64;
    size_t taken = kRoom;
    taken_.clear();
    while (taken == kRoom) {
      const size_t before = taken_.size();
      taken_.resize(before + kRoom);
      check(flitlab_take(network_.get(), taken_.data() + before, kRoom, &taken));
      taken_.resize(before + taken);
    }
    return taken_;
  }

  flitlab_statistics statistics() const {
    flitlab_statistics counts{};
    check(flitlab_read_statistics(network_.get(), &counts));
    return counts;
  }

  /// Throws Error if the network is deadlocked, has lost flits or has dropped packets. Call it if packets that should
  /// have arrived are missing.
  void check_progress() const {
    check(flitlab_check(network_.get()));
    const uint64_t dropped = statistics().packets_dropped;
    if (dropped)
      throw Error(FLITLAB_FAILED, "flitlab: the network has dropped " + std::to_string(dropped) +
                                      " packets, because of faults or limits in its configuration.");
  }

 private:
  struct Destroy {
    void operator()(flitlab_network* network) const { flitlab_destroy(network); }
  };

  static void check(flitlab_status status) {
    if (status != FLITLAB_OK) throw Error(status, std::string("flitlab: ") + flitlab_error());
  }

  std::unique_ptr<flitlab_network, Destroy> network_;
  flitlab_description facts_{};
  std::vector<flitlab_arrival> taken_;
};

}  // namespace flitlab_adapters
