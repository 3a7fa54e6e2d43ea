/// The CPU engine for METRO.
#include "host/models/metro_engines.hpp"
#include "kernels/engines/cpu_engine.hpp"
#include "kernels/routers/metro/model.hpp"

namespace flitlab {

std::unique_ptr<Engine> make_metro_cpu_engine(const metro::Table& table, const StateLayout& layout,
                                              std::vector<ReplicaRow> rows, const EngineChoice& choice) {
  if (choice.width == 32)
    return std::make_unique<CpuEngine<MetroModel, 32, false>>(table, layout, std::move(rows), choice.threads,
                                                              choice.grain);
  if (choice.traced)
    return std::make_unique<CpuEngine<MetroModel, 1, true>>(table, layout, std::move(rows), choice.threads,
                                                            choice.grain);
  return std::make_unique<CpuEngine<MetroModel, 1, false>>(table, layout, std::move(rows), choice.threads,
                                                           choice.grain);
}

}  // namespace flitlab
