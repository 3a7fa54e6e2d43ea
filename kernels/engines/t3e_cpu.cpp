/// The CPU engine for the T3E.
#include "host/models/t3e_engines.hpp"
#include "kernels/engines/cpu_engine.hpp"
#include "kernels/routers/t3e/model.hpp"

namespace flitlab {

std::unique_ptr<Engine> make_t3e_cpu_engine(const t3e::Table& table, const StateLayout& layout,
                                            std::vector<ReplicaRow> rows, const EngineChoice& choice) {
  if (choice.width == 32)
    return std::make_unique<CpuEngine<T3eModel, 32, false>>(table, layout, std::move(rows), choice.threads,
                                                            choice.grain);
  if (choice.traced)
    return std::make_unique<CpuEngine<T3eModel, 1, true>>(table, layout, std::move(rows), choice.threads, choice.grain);
  if (t3e::PublishedTable::fits(table))
    return std::make_unique<CpuEngine<T3eModelOf<t3e::PublishedTable>, 1, false>>(
        t3e::PublishedTable(table), layout, std::move(rows), choice.threads, choice.grain);
  return std::make_unique<CpuEngine<T3eModel, 1, false>>(table, layout, std::move(rows), choice.threads, choice.grain);
}

}  // namespace flitlab
