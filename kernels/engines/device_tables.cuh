#pragma once
/// Copies of a model's tables in device memory, and an engine that owns the tables its kernels read.
#include <utility>
#include <vector>

#include "kernels/engines/cuda_engine.cuh"
#include "kernels/engines/device_memory.cuh"

namespace flitlab {

/// Device copies of the arrays that a table points to; freed with this object.
class DeviceTables {
 public:
  /// Replaces a pointer to `n` elements on the host by a pointer to a device copy.
  template <class T>
  void move(const T*& array, std::size_t n) {
    if (!array || !n) return;
    DeviceArray<std::byte> copy(reinterpret_cast<const std::byte*>(array), n * sizeof(T));
    array = reinterpret_cast<const T*>(copy.data());
    arrays_.push_back(std::move(copy));
  }

 private:
  std::vector<DeviceArray<std::byte>> arrays_;
};

/// An engine that owns the device copies of its model's tables. `Device`: type of the inner engine, constructed from
/// the device's table, or from the host's table and the device's.
template <class Model, class Device = CudaEngine<Model>>
class TabledCudaEngine final : public Engine {
  using Table = typename Model::Table;

 public:
  TabledCudaEngine(const Table& table, const StateLayout& layout, const std::vector<ReplicaRow>& rows)
      : engine_(make(table, layout, rows)) {}

  std::string backend() const override { return engine_.backend(); }
  std::string device() const override { return engine_.device(); }
  u32 threads() const override { return engine_.threads(); }
  u32 replicas() const override { return engine_.replicas(); }
  Cycle now() const override { return engine_.now(); }
  void advance(u32 cycles, std::span<const u32> active) override { engine_.advance(cycles, active); }
  CounterShard counters(u32 replica) override { return engine_.counters(replica); }
  void set_row(u32 replica, const ReplicaRow& row) override { engine_.set_row(replica, row); }
  const ReplicaRow& row(u32 replica) const override { return engine_.row(replica); }
  FaultReport audit(u32 replica) override { return engine_.audit(replica); }
  std::vector<Totals> totals(std::span<const u32> replicas) override { return engine_.totals(replicas); }
  std::vector<FaultReport> audits(std::span<const u32> replicas) override { return engine_.audits(replicas); }
  void each_state(std::span<const u32> replicas, u32 threads, const Show& show) const override {
    engine_.each_state(replicas, threads, show);
  }
  const StateLayout& layout() const override { return engine_.layout(); }
  std::vector<std::byte> state(u32 replica) const override { return engine_.state(replica); }
  void set_state(u32 replica, const std::vector<std::byte>& state) override { engine_.set_state(replica, state); }
  void get_field(u32 replica, u32 kind, const FieldInfo& field, void* out) const override {
    engine_.get_field(replica, kind, field, out);
  }
  void set_field(u32 replica, u32 kind, const FieldInfo& field, const void* in) override {
    engine_.set_field(replica, kind, field, in);
  }
  void get_item(u32 replica, u32 kind, u32 item, const FieldInfo& field, void* out) const override {
    engine_.get_item(replica, kind, item, field, out);
  }
  void set_item(u32 replica, u32 kind, u32 item, const FieldInfo& field, const void* in) override {
    engine_.set_item(replica, kind, item, field, in);
  }
  u64 state_hash(u32 replica) const override { return engine_.state_hash(replica); }
  void set_counters(u32 replica, const CounterShard& c) override { engine_.set_counters(replica, c); }
  void set_now(Cycle now) override { engine_.set_now(now); }
  std::vector<std::vector<Event>> take_events(u32 replica) override { return engine_.take_events(replica); }

 private:
  Device make(const Table& table, const StateLayout& layout, const std::vector<ReplicaRow>& rows) {
    if constexpr (std::is_constructible_v<Device, Table, Table, StateLayout, std::vector<ReplicaRow>>)
      return Device(table, upload(table), layout, rows);
    else
      return Device(upload(table), layout, rows);
  }

  /// Copies a table's arrays to the device, and returns the table with pointers to the copies. The model's
  /// `for_each_array` lists the arrays.
  typename Model::Table upload(typename Model::Table t) {
    const auto move = [this](auto& array, std::size_t n) { tables_.move(array, n); };
    for_each_array(t, move);
    for_each_array(t.traffic, move);
    std::vector<decltype(t.traffic)> more(t.traffic.more, t.traffic.more + (t.traffic.classes - 1));
    for (auto& of_class : more) for_each_array(of_class, move);
    t.traffic.more = more.data();
    move(t.traffic.more, more.size());
    return t;
  }

  DeviceTables tables_;
  Device engine_;
};

}  // namespace flitlab
