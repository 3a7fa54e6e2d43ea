#pragma once
/// The host's interface to an engine. An engine advances a job: replicas of a network that share a plan, its read-only
/// description.
#include <array>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/common/counters.hpp"
#include "kernels/common/events.hpp"
#include "kernels/common/fault.hpp"
#include "kernels/common/replica.hpp"
#include "kernels/engines/share_out.hpp"
#include "kernels/engines/state_layout.hpp"

namespace flitlab {

/// Whether engines use lane state (kernels/engines/lane_engine.hpp) if a model offers it. kNever and kAlways are for
/// tests.
enum class LaneUse { kNever, kWhenBusy, kAlways };

struct EngineChoice {
  std::string backend = "auto";  ///< auto, cpu, cuda
  u32 threads = 0;               ///< 0: one per core
  bool traced = false;           ///< write events (CPU only)
  u32 grain = 2048;  ///< routers per thread from which on threads share a replica; with fewer, barriers would cost more
                     ///< than the threads gain
  u32 width = 1;     ///< items side by side in memory; 32 is the CUDA layout, for tests on a CPU
  LaneUse lanes = LaneUse::kWhenBusy;
  u64 lane_bytes = ~u64{0};  ///< most memory for lane state, in addition to the canonical state
  u32 jobs = 1;  ///< jobs of about this size that run at the same time, this one included; for the estimate of "auto"
  /// Other jobs of a sweep use the device, and will end: if the device has too little memory for the job with lane
  /// state, the engine throws DeviceFull.
  bool beside_others = false;
};

/// Device fault found by an audit.
struct FaultReport {
  u32 bits = 0;      ///< Fault bits of the first faulty item; 0: no fault
  u32 port = kNone;  ///< port of the item's first fault; kNone: the fault belongs to no port
  u32 kind = 0;      ///< the item's kind (index into StateLayout::kinds)
  u32 item = 0;
};

class Engine {
 public:
  virtual ~Engine() = default;

  virtual std::string backend() const = 0;  ///< "cpu" or "cuda"
  virtual std::string device() const = 0;   ///< for display: "2 threads", "NVIDIA H200"
  virtual u32 threads() const = 0;
  virtual u32 replicas() const = 0;
  virtual Cycle now() const = 0;

  /// Advances the listed replicas by `cycles`. A replica that is left out is frozen; call set_state() before advancing
  /// it again.
  virtual void advance(u32 cycles, std::span<const u32> active) = 0;
  /// Returns the totals and histograms of a replica, summed over shards. Totals that audits compute are from the last
  /// audit().
  virtual CounterShard counters(u32 replica) = 0;
  /// Replaces a replica's run parameters, between cycles.
  virtual void set_row(u32 replica, const ReplicaRow& row) = 0;
  virtual const ReplicaRow& row(u32 replica) const = 0;
  /// Runs the model's audit phases. Returns the first fault of a replica.
  virtual FaultReport audit(u32 replica) = 0;

  /// Return the totals, or run the audits, of several replicas, in the order of `replicas`. The host needs only these
  /// after each epoch. An engine with device memory overrides them, so that the number of CUDA calls does not grow with
  /// the replicas.
  virtual std::vector<Totals> totals(std::span<const u32> replicas) {
    std::vector<Totals> all;
    for (u32 replica : replicas) all.push_back(std::to_array(counters(replica).total));
    return all;
  }
  virtual std::vector<FaultReport> audits(std::span<const u32> replicas) {
    std::vector<FaultReport> all;
    for (u32 replica : replicas) all.push_back(audit(replica));
    return all;
  }

  virtual const StateLayout& layout() const = 0;
  /// Returns a replica's state in canonical order (W = 1).
  virtual std::vector<std::byte> state(u32 replica) const = 0;
  /// Calls show(index in `replicas`, canonical state) for several replicas, on up to `threads` threads at a time.
  using Show = std::function<void(std::size_t, const std::vector<std::byte>&)>;
  virtual void each_state(std::span<const u32> replicas, u32 threads, const Show& show) const {
    share_out(replicas.size(), threads, [&](std::size_t i, u32) { show(i, state(replicas[i])); });
  }
  virtual void set_state(u32 replica, const std::vector<std::byte>& state) = 0;
  /// Read or write one field of all items of a kind, as an array [items][count] in item order. In this way the host
  /// exchanges data with a running replica.
  virtual void get_field(u32 replica, u32 kind, const FieldInfo& field, void* out) const = 0;
  virtual void set_field(u32 replica, u32 kind, const FieldInfo& field, const void* in) = 0;
  /// Returns the memory of a field of item 0 if the host may read and write it there between cycles; the same field of
  /// further items follows at distances of ItemKind::item_bytes. Returns null if the field is elsewhere.
  virtual std::byte* in_place(u32 /*replica*/, u32 /*kind*/, const FieldInfo& /*field*/) { return nullptr; }
  /// Tells the engine that the host has put packets into a terminal's queue in place, so that the terminal runs in the
  /// next cycle although it had no work.
  virtual void wake(u32 /*replica*/, u32 /*terminal*/) {}
  /// Read or write one field of one item, as an array [count]. Only the bytes of these elements are copied.
  virtual void get_item(u32 replica, u32 kind, u32 item, const FieldInfo& field, void* out) const = 0;
  virtual void set_item(u32 replica, u32 kind, u32 item, const FieldInfo& field, const void* in) = 0;
  virtual u64 state_hash(u32 replica) const = 0;
  /// Set the counters of a replica and the current cycle, to resume from a checkpoint.
  virtual void set_counters(u32 replica, const CounterShard& counters) = 0;
  virtual void set_now(Cycle now) = 0;

  /// Returns the events since the last call, by item (routers first, then terminals); empty unless traced.
  virtual std::vector<std::vector<Event>> take_events(u32 replica) = 0;
};

}  // namespace flitlab
