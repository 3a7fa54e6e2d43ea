/// The CPU engine for the virtual-channel router.
#include "host/error.hpp"
#include "host/models/vc_engines.hpp"
#include "kernels/engines/cpu_engine.hpp"
#include "kernels/routers/vc/model.hpp"

namespace flitlab {
namespace {

template <class Table>
std::unique_ptr<Engine> engine_for(const vc::VcTable& table, const StateLayout& layout, std::vector<ReplicaRow> rows,
                                   const EngineChoice& choice) {
  return std::make_unique<CpuEngine<VcModelOf<Table>, 1, false>>(Table(table), layout, std::move(rows), choice.threads,
                                                                 choice.grain);
}

}  // namespace

std::unique_ptr<Engine> make_vc_cpu_engine(const vc::VcTable& table, const StateLayout& layout,
                                           std::vector<ReplicaRow> rows, const EngineChoice& choice) {
  if (choice.width == 32)
    return std::make_unique<CpuEngine<VcModel, 32, false>>(table, layout, std::move(rows), choice.threads,
                                                           choice.grain);
  if (choice.traced)
    return std::make_unique<CpuEngine<VcModel, 1, true>>(table, layout, std::move(rows), choice.threads, choice.grain);
  // Two- and three-dimensional networks of plain routers with 4 VCs are what is run most.
  if (vc::FixedVcTable<5, 4>::fits(table))
    return engine_for<vc::FixedVcTable<5, 4>>(table, layout, std::move(rows), choice);
  if (vc::FixedVcTable<7, 4>::fits(table))
    return engine_for<vc::FixedVcTable<7, 4>>(table, layout, std::move(rows), choice);
  if (vc::is_plain(table)) return engine_for<vc::PlainVcTable>(table, layout, std::move(rows), choice);
  return engine_for<vc::VcTable>(table, layout, std::move(rows), choice);
}

}  // namespace flitlab
