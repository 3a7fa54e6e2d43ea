#pragma once
/// `booksim2::Interconnect` on top of flitlab: the class through which ONNXim and PyTorchSim use BookSim. A host
/// includes this header instead and links flitlab::booksim2.
#include <cstdint>
#include <memory>
#include <string>

namespace booksim2 {

/// Wrong arguments, a wrong configuration and a deadlock throw std::runtime_error.
class Interconnect {
 public:
  enum class Type { READ, WRITE, READ_REPLY, WRITE_REPLY, ANY };

  /// `config`: an .icnt file. The network is in the TOML file of the same name beside it.
  Interconnect(const std::string config, int nodes);
  ~Interconnect();

  /// Emulates a cycle.
  void run();
  /// Returns whether packets are on their way or wait to be popped.
  bool running() const;

  /// Returns whether the input buffer of a node has no room for a packet.
  bool is_full(uint32_t node, uint32_t subnet, uint32_t bytes) const;
  /// Takes a packet into the input buffer of node `source`, also if it is full. Type::ANY is treated
  /// as Type::READ. `address` has no effect.
  void push(void* packet, uint32_t subnet, uint64_t address, int bytes, Type type, int source, int destination);

  /// Return whether packets have arrived at a node, and the first one; pop() removes it.
  bool is_empty(uint32_t node, uint32_t subnet) const;
  const void* top(uint32_t node, uint32_t subnet) const;
  void pop(uint32_t node, uint32_t subnet);

  uint64_t get_cycle() const;
  uint32_t get_flit_size() const;  ///< bytes
  /// Prints a line for each sub-network.
  void print_stats() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace booksim2
