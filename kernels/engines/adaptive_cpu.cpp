/// The CPU engine for adaptive routers.
#include "host/models/adaptive_engines.hpp"
#include "kernels/engines/cpu_engine.hpp"
#include "kernels/routers/adaptive/model.hpp"

namespace flitlab {

std::unique_ptr<Engine> make_adaptive_cpu_engine(const adaptive::Table& table, const StateLayout& layout,
                                                 std::vector<ReplicaRow> rows, const EngineChoice& choice) {
  if (choice.width == 32)
    return std::make_unique<CpuEngine<AdaptiveModel, 32, false>>(table, layout, std::move(rows), choice.threads,
                                                                 choice.grain);
  if (choice.traced)
    return std::make_unique<CpuEngine<AdaptiveModel, 1, true>>(table, layout, std::move(rows), choice.threads,
                                                               choice.grain);
  return std::make_unique<CpuEngine<AdaptiveModel, 1, false>>(table, layout, std::move(rows), choice.threads,
                                                              choice.grain);
}

}  // namespace flitlab
