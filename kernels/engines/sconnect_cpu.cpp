/// The CPU engine for S-Connect.
#include "host/models/sconnect_engines.hpp"
#include "kernels/engines/cpu_engine.hpp"
#include "kernels/routers/sconnect/model.hpp"

namespace flitlab {

std::unique_ptr<Engine> make_sconnect_cpu_engine(const sconnect::Table& table, const StateLayout& layout,
                                                 std::vector<ReplicaRow> rows, const EngineChoice& choice) {
  if (choice.width == 32)
    return std::make_unique<CpuEngine<SconnectModel, 32, false>>(table, layout, std::move(rows), choice.threads,
                                                                 choice.grain);
  if (choice.traced)
    return std::make_unique<CpuEngine<SconnectModel, 1, true>>(table, layout, std::move(rows), choice.threads,
                                                               choice.grain);
  return std::make_unique<CpuEngine<SconnectModel, 1, false>>(table, layout, std::move(rows), choice.threads,
                                                              choice.grain);
}

}  // namespace flitlab
