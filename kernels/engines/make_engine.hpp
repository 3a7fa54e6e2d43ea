#pragma once
/// How a plan gets an engine for its table. Each engine is built in a translation unit of its own, from the two that
/// every model has: `cpu.cpp` (kernels/engines/cpu_unit.hpp) and `cuda.cu` (kernels/engines/cuda_unit.cuh). Who asks
/// for an engine sees only the table, so an edit of a model's phases rebuilds that model alone.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/engines/engine.hpp"
#include "kernels/engines/engine_cost.hpp"

namespace flitlab {

/// The CPU engines of a model. Its `cpu.cpp` is compiled once for each.
enum class CpuUnit {
  kGeneral,  ///< any table
  kFast,     ///< tables whose choices are known at compile time; no engine for the others
  kTraced,   ///< writes events
  kWide      ///< the layout of GPUs, W = 32, for tests
};

/// Null: `unit` has no engine for this table.
template <CpuUnit unit, class Table>
std::unique_ptr<Engine> make_cpu_engine(const Table& table, const StateLayout& layout,
                                        const std::vector<ReplicaRow>& rows, const EngineChoice& choice);

template <class Table>
std::unique_ptr<Engine> make_cuda_engine(const Table& table, const StateLayout& layout,
                                         const std::vector<ReplicaRow>& rows);

/// Why the CUDA engine cannot be used, or "" if it can.
std::string cuda_unavailable();

/// What a replica takes of a device's memory, bytes, if it is not in lanes.
u64 cuda_bytes(const StateLayout& layout);

/// "auto" and 0 threads become what they mean here, for a job that takes so many bytes of a device; ConfigError for a
/// backend that is not there.
EngineChoice resolve_backend(EngineChoice choice, const JobSize& job = {1, 1}, u64 bytes = 0,
                             const EngineCost& cost = {});

[[noreturn]] void no_wide_engines();

template <class Table>
std::unique_ptr<Engine> make_engine(const Table& table, const StateLayout& layout, const std::vector<ReplicaRow>& rows,
                                    const EngineChoice& wanted) {
  const JobSize job{layout.kinds[0].count, static_cast<u32>(rows.size())};
  const EngineChoice choice = resolve_backend(wanted, job, cuda_bytes(layout) * rows.size(), Table::cost);
#ifdef FLITLAB_CUDA
  if (choice.backend == "cuda") return make_cuda_engine(table, layout, rows);
#endif
  if (choice.width != 1) {
#ifdef FLITLAB_WIDE
    return make_cpu_engine<CpuUnit::kWide>(table, layout, rows, choice);
#else
    no_wide_engines();
#endif
  }
  if (choice.traced) return make_cpu_engine<CpuUnit::kTraced>(table, layout, rows, choice);
#ifndef FLITLAB_GENERAL_ENGINES
  if (auto fast = make_cpu_engine<CpuUnit::kFast>(table, layout, rows, choice)) return fast;
#endif
  return make_cpu_engine<CpuUnit::kGeneral>(table, layout, rows, choice);
}

}  // namespace flitlab
