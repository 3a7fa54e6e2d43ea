/// The CPU engine for the virtual-channel router.
#include "host/error.hpp"
#include "host/models/vc_engines.hpp"
#include "kernels/engines/cpu_engine.hpp"
#include "kernels/routers/vc/model.hpp"

namespace flitlab {

std::unique_ptr<Engine> make_vc_cpu_engine(const vc::VcTable& table, const StateLayout& layout,
                                           std::vector<ReplicaRow> rows, const EngineChoice& choice) {
  if (choice.width == 32)
    return std::make_unique<CpuEngine<VcModel, 32, false>>(table, layout, std::move(rows), choice.threads);
  if (choice.traced)
    return std::make_unique<CpuEngine<VcModel, 1, true>>(table, layout, std::move(rows), choice.threads);
  return std::make_unique<CpuEngine<VcModel, 1, false>>(table, layout, std::move(rows), choice.threads);
}

}  // namespace flitlab
