#pragma once
/// What the host sees of an engine: a job of replicas that share a plan and advance together.
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

/// Whether engines keep replicas in lanes (kernels/engines/lane_engine.hpp) where a model can; the others are for
/// tests.
enum class LaneUse { kNever, kWhenBusy, kAlways };

struct EngineChoice {
  std::string backend = "auto";  ///< auto, cpu, cuda
  u32 threads = 0;               ///< 0: one per core
  bool traced = false;           ///< write events (CPU only)
  u32 grain = 2048;              ///< routers of one replica that are worth a thread of their own (barriers cost)
  u32 width = 1;                 ///< items side by side in memory; the CUDA layout can be tried on the CPU
  LaneUse lanes = LaneUse::kWhenBusy;
  u64 lane_bytes = ~u64{0};  ///< memory that lanes may take, beside the state's
};

/// A device fault found by an audit.
struct FaultReport {
  u32 bits = 0;      ///< Fault bits of the first faulty item; 0: none
  u32 port = kNone;  ///< of its first fault; kNone: of no port
  u32 kind = 0;      ///< its item kind (index into StateLayout::kinds)
  u32 item = 0;
};

class Engine {
 public:
  virtual ~Engine() = default;

  virtual std::string backend() const = 0;  ///< "cpu" or "cuda"
  virtual std::string device() const = 0;   ///< for people: "2 threads", "NVIDIA H200"
  virtual u32 threads() const = 0;
  virtual u32 replicas() const = 0;
  virtual Cycle now() const = 0;

  /// Advances the listed replicas by `cycles`; the others stand still, for good: who advances one again sets its state.
  virtual void advance(u32 cycles, std::span<const u32> active) = 0;
  /// Sum over shards of what a replica has counted. `audit` totals are fresh as of the last call of audit().
  virtual CounterShard counters(u32 replica) = 0;
  /// Replaces a replica's run parameters, between cycles.
  virtual void set_row(u32 replica, const ReplicaRow& row) = 0;
  virtual const ReplicaRow& row(u32 replica) const = 0;
  /// Runs the model's audit phases and reports the first fault of a replica.
  virtual FaultReport audit(u32 replica) = 0;

  /// What the host asks after each epoch, of all replicas at once: an engine whose replicas lie elsewhere answers with
  /// as few calls as for one. Totals are those of `counters`, in the order of `replicas`.
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
  /// A replica's state in canonical order (W = 1).
  virtual std::vector<std::byte> state(u32 replica) const = 0;
  /// Shows the states of several replicas, on so many threads at once: `show` gets a place in `replicas`.
  using Show = std::function<void(std::size_t, const std::vector<std::byte>&)>;
  virtual void each_state(std::span<const u32> replicas, u32 threads, const Show& show) const {
    share_out(replicas.size(), threads, [&](std::size_t i, u32) { show(i, state(replicas[i])); });
  }
  virtual void set_state(u32 replica, const std::vector<std::byte>& state) = 0;
  /// One field of all items of a kind, [items][count] in item order: what the host exchanges with a running replica.
  virtual void get_field(u32 replica, u32 kind, const FieldInfo& field, void* out) const = 0;
  virtual void set_field(u32 replica, u32 kind, const FieldInfo& field, const void* in) = 0;
  virtual u64 state_hash(u32 replica) const = 0;
  /// Counters and clock, for checkpoints.
  virtual void set_counters(u32 replica, const CounterShard& counters) = 0;
  virtual void set_now(Cycle now) = 0;

  /// Events written since the last call, by item (routers first, then terminals); empty unless traced.
  virtual std::vector<std::vector<Event>> take_events(u32 replica) = 0;
};

}  // namespace flitlab
