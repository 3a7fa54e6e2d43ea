#pragma once
/// What a phase sees of one replica, whatever the model.
#include "kernels/common/counters.hpp"
#include "kernels/common/events.hpp"
#include "kernels/common/replica.hpp"
#include "kernels/common/types.hpp"

namespace flitlab {

/// A view's way to the model's table: on a CPU a copy, whose members stay in registers; for CUDA a reference to the
/// kernel's parameters, which lie in constant memory. So a view differs between the two, and only kernels make views in
/// CUDA files, never their host code.
#if defined(__CUDACC__)
template <class Table>
using TableInView = const Table&;
#else
template <class Table>
using TableInView = Table;
#endif

/// A model's view adds the items of its state, a member for each kind.
template <int W, bool Traced, class TableType>
struct ViewBase {
  using Table = TableType;
  static constexpr int width = W;
  static constexpr bool traced = Traced;
  TableInView<Table> t;
  const ReplicaRow* row;
  CounterShard* shard;
  EventLog log;
};

}  // namespace flitlab
