/// The CPU engine for the single switch.
#include "host/models/switch_engines.hpp"
#include "kernels/engines/cpu_engine.hpp"
#include "kernels/routers/switch/model.hpp"

namespace flitlab {

std::unique_ptr<Engine> make_switch_cpu_engine(const sw::Table& table, const StateLayout& layout,
                                               std::vector<ReplicaRow> rows, const EngineChoice& choice) {
  if (choice.width == 32)
    return std::make_unique<CpuEngine<SwitchModel, 32, false>>(table, layout, std::move(rows), choice.threads,
                                                               choice.grain);
  if (choice.traced)
    return std::make_unique<CpuEngine<SwitchModel, 1, true>>(table, layout, std::move(rows), choice.threads,
                                                             choice.grain);
  return std::make_unique<CpuEngine<SwitchModel, 1, false>>(table, layout, std::move(rows), choice.threads,
                                                            choice.grain);
}

}  // namespace flitlab
