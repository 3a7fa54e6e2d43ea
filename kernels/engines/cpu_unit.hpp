#pragma once
/// Makes the CPU engines of a model. A model's `cpu.cpp` includes this header and the model, and contains
/// FLITLAB_CPU_ENGINES(Model). The build compiles `cpu.cpp` once for each engine, with FLITLAB_UNIT set to an
/// enumerator of CpuUnit.
#include "kernels/engines/lane_engine.hpp"
#include "kernels/engines/make_engine.hpp"

#ifndef FLITLAB_UNIT
#define FLITLAB_UNIT kGeneral
#endif

namespace flitlab {

/// Whether a model has special table types (`Fast`). They are derived from the model's table, fix some of its members
/// at compile time, and have a function `fits(table)`.
template <class Model>
concept HasFastTables = requires { typename Model::Fast; };

/// Whether a model offers lane state, in which one instruction processes many items (kernels/engines/lane_engine.hpp).
template <class Model>
concept HasLanes = requires { typename Model::Lanes; };

template <class Model, int W, bool Traced>
std::unique_ptr<Engine> cpu_engine(const typename Model::Table& table, const StateLayout& layout,
                                   const std::vector<ReplicaRow>& rows, const EngineChoice& choice) {
  if constexpr (HasLanes<Model> && W == 1 && !Traced) {
    if (choice.lanes != LaneUse::kNever && Model::Lanes::fits(table))
      return std::make_unique<LaneEngine<Model>>(table, layout, rows, choice);
  }
  return std::make_unique<CpuEngine<Model, W, Traced>>(table, layout, rows, choice.threads, choice.grain);
}

/// Returns an engine for the first special table type that fits `table`, or null if no type fits.
template <class Model, class Table, class... Fast>
std::unique_ptr<Engine> fast_engine(FastTables<Fast...>, const Table& table, const StateLayout& layout,
                                    const std::vector<ReplicaRow>& rows, const EngineChoice& choice) {
  std::unique_ptr<Engine> engine;
  const auto fits = [&]<class F>() {
    if (!F::fits(table)) return false;
    engine = cpu_engine<typename Model::template With<F>, 1, false>(F(table), layout, rows, choice);
    return true;
  };
  (void)(fits.template operator()<Fast>() || ...);
  return engine;
}

template <class Model, CpuUnit unit>
std::unique_ptr<Engine> unit_engine(const typename Model::Table& table, const StateLayout& layout,
                                    const std::vector<ReplicaRow>& rows, const EngineChoice& choice) {
  if constexpr (unit == CpuUnit::kGeneral) return cpu_engine<Model, 1, false>(table, layout, rows, choice);
  if constexpr (unit == CpuUnit::kTraced) return cpu_engine<Model, 1, true>(table, layout, rows, choice);
  if constexpr (unit == CpuUnit::kWide) return cpu_engine<Model, 32, false>(table, layout, rows, choice);
  if constexpr (unit == CpuUnit::kFast && HasFastTables<Model>)
    return fast_engine<Model>(typename Model::Fast{}, table, layout, rows, choice);
  return nullptr;
}

}  // namespace flitlab

#define FLITLAB_CPU_ENGINES(Model)                                                                         \
  template <>                                                                                              \
  std::unique_ptr<flitlab::Engine> flitlab::make_cpu_engine<flitlab::CpuUnit::FLITLAB_UNIT, Model::Table>( \
      const Model::Table& table, const StateLayout& layout, const std::vector<ReplicaRow>& rows,           \
      const EngineChoice& choice) {                                                                        \
    return unit_engine<Model, CpuUnit::FLITLAB_UNIT>(table, layout, rows, choice);                         \
  }
