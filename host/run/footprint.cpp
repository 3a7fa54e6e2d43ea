#include "host/run/footprint.hpp"

#include <algorithm>

#include "host/config/memory.hpp"
#include "kernels/engines/arena.hpp"
#include "kernels/engines/make_engine.hpp"

namespace flitlab {
namespace {

/// Memory for each channel of a replica, bytes: flit counts at the beginning and at the end of the window, in results,
/// in copies of results, and in the list that Python makes from them.
constexpr u64 kChannelBytes = 64;
/// Memory for each port, bytes: the wiring table. Engines with lane state build it even if they then use scalar state.
constexpr u64 kWireBytes = 16;
/// Memory that does not depend on the network, bytes: for files and measurements.
constexpr u64 kFixedBytes = u64{4} << 20;

/// Memory for the events of one item, bytes. A CPU engine keeps events until the host takes them.
constexpr u64 kEventBytes = 512 * sizeof(Event) + sizeof(u32);

}  // namespace

u32 concurrent_searches(u64 state_bytes, u32 threads) {
  constexpr u64 kStateBytes = u64{1} << 28;
  return static_cast<u32>(std::clamp<u64>(kStateBytes / state_bytes, 1, threads));
}

Footprint footprint_of(const Plan& plan, u32 replicas, const EngineChoice& choice, u32 kept_states) {
  const StateLayout& layout = plan.layout();
  const Topology& topology = plan.topology();
  const u64 state = layout.bytes(1), threads = std::max(choice.threads, 1u);
  u64 items = 0;
  for (const ItemKind& kind : layout.kinds) items += kind.count;
  // Results, checkpoints and deadlock searches make copies of states.
  const u64 copies =
      state * (u64{std::min(concurrent_searches(state, threads), replicas)} * plan.facts().search_copies + kept_states);
  Footprint f;
  f.host = (threads - 1) * stack_bytes() + copies + replicas * topology.channels * kChannelBytes + kFixedBytes;
  if (choice.backend == "cuda") {
    f.device = cuda_bytes(layout) * replicas;
    return f;
  }
  f.host += Arena::taken((layout.bytes(choice.width) + 63) / 64 * 64 * replicas);
  f.host += replicas * threads * sizeof(CounterShard);
  f.host += u64{topology.routers} * topology.ports * kWireBytes;
  if (choice.traced) f.host += replicas * items * kEventBytes;
  return f;
}

}  // namespace flitlab
