#pragma once
/// Creates an engine for a plan's table. Each engine is compiled in a separate translation unit, from one of the two
/// source files of its model: `cpu.cpp` (kernels/engines/cpu_unit.hpp) or `cuda.cu` (kernels/engines/cuda_unit.cuh).
/// Callers see only the table, so an edit of a model's phases recompiles that model alone.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/engines/engine.hpp"
#include "kernels/engines/engine_cost.hpp"

namespace flitlab {

/// The CPU engines of a model. The model's `cpu.cpp` is compiled once for each enumerator.
enum class CpuUnit {
  kGeneral,  ///< any table
  kFast,     ///< tables whose choices are known at compile time; returns null for other tables
  kTraced,   ///< any table; writes events
  kWide      ///< any table, in the layout of GPUs, W = 32; for tests
};

/// Returns engine `unit` of the model to which the table belongs, or null if `unit` has no engine for this table.
template <CpuUnit unit, class Table>
std::unique_ptr<Engine> make_cpu_engine(const Table& table, const StateLayout& layout,
                                        const std::vector<ReplicaRow>& rows, const EngineChoice& choice);

/// `beside_others`: EngineChoice::beside_others.
template <class Table>
std::unique_ptr<Engine> make_cuda_engine(const Table& table, const StateLayout& layout,
                                         const std::vector<ReplicaRow>& rows, bool beside_others);

/// Returns why the CUDA engine cannot be used, or "" if it can.
std::string cuda_unavailable();

/// Returns a replica's device memory without lane state, bytes.
u64 cuda_bytes(const StateLayout& layout);

/// Resolves backend "auto" and 0 threads for a job that needs `bytes` of device memory. Throws ConfigError if the
/// chosen backend is not available.
EngineChoice resolve_backend(EngineChoice choice, const JobSize& job = {1, 1}, u64 bytes = 0,
                             const EngineCost& cost = {});

[[noreturn]] void no_wide_engines();

template <class Table>
std::unique_ptr<Engine> make_engine(const Table& table, const StateLayout& layout, const std::vector<ReplicaRow>& rows,
                                    const EngineChoice& wanted) {
  const JobSize job{layout.kinds[0].count, static_cast<u32>(rows.size())};
  const EngineChoice choice = resolve_backend(wanted, job, cuda_bytes(layout) * rows.size(), Table::cost);
#ifdef FLITLAB_CUDA
  if (choice.backend == "cuda") return make_cuda_engine(table, layout, rows, choice.beside_others);
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
