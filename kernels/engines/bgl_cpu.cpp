/// The CPU engine for Blue Gene/L's torus.
#include "host/models/bgl_engines.hpp"
#include "kernels/engines/cpu_engine.hpp"
#include "kernels/routers/bgl/model.hpp"

namespace flitlab {

std::unique_ptr<Engine> make_bgl_cpu_engine(const bgl::Table& table, const StateLayout& layout,
                                            std::vector<ReplicaRow> rows, const EngineChoice& choice) {
  if (choice.width == 32)
    return std::make_unique<CpuEngine<BglModel, 32, false>>(table, layout, std::move(rows), choice.threads,
                                                            choice.grain);
  if (choice.traced)
    return std::make_unique<CpuEngine<BglModel, 1, true>>(table, layout, std::move(rows), choice.threads, choice.grain);
  if (bgl::PublishedTable::fits(table))
    return std::make_unique<CpuEngine<BglModelOf<bgl::PublishedTable>, 1, false>>(
        bgl::PublishedTable(table), layout, std::move(rows), choice.threads, choice.grain);
  return std::make_unique<CpuEngine<BglModel, 1, false>>(table, layout, std::move(rows), choice.threads, choice.grain);
}

}  // namespace flitlab
