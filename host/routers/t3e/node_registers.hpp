#pragma once
/// Registers of all nodes of a running machine, read and written by software between cycles.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "host/routers/t3e/machine.hpp"
#include "host/routers/t3e/registers.hpp"
#include "kernels/engines/engine.hpp"

namespace flitlab::t3e {

/// One field of the state of all nodes of a replica. The constructor reads it; write() writes it back.
template <class T>
struct NodeField {
  NodeField(const Engine& engine, u32 replica, u32 kind, const char* name)
      : info_(engine.layout().kinds[kind].field(name)),
        kind_(kind),
        replica_(replica),
        all_(std::size_t{engine.layout().kinds[kind].count} * info_.count) {
    engine.get_field(replica, kind, info_, all_.data());
  }
  T* of(u32 node) { return all_.data() + std::size_t{node} * info_.count; }
  void write(Engine& engine) const { engine.set_field(replica_, kind_, info_, all_.data()); }

 private:
  const FieldInfo& info_;
  u32 kind_, replica_;
  std::vector<T> all_;
};

/// Returns the value of a register of a node in the first replica. ConfigError for an unknown name.
u64 read_register(const Engine& engine, const Machine& machine, u32 node, const std::string& name);
/// Returns all registers of a node, by name.
std::map<std::string, u64> read_registers(const Engine& engine, const Machine& machine, u32 node);
/// Writes a register of a node in the first replica. Returns warnings about a value that has been written although it
/// can harm. ConfigError if the value has bits that the register does not have, or if it conflicts with other
/// registers.
std::vector<std::string> write_register(Engine& engine, const Machine& machine, u32 node, const std::string& name,
                                        u64 value);

}  // namespace flitlab::t3e
