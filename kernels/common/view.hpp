#pragma once
/// A phase's view of one replica: the part that all models share.
#include "kernels/common/counters.hpp"
#include "kernels/common/events.hpp"
#include "kernels/common/replica.hpp"
#include "kernels/common/types.hpp"

namespace flitlab {

/// How a view refers to the model's table. On a CPU the view has a copy, whose members stay in registers. In CUDA it
/// has a reference to the kernel's parameters, which lie in constant memory. Because the types differ, host code in
/// CUDA files must not create views; only kernels do.
#if defined(__CUDACC__)
template <class Table>
using TableInView = const Table&;
#else
template <class Table>
using TableInView = Table;
#endif

/// Base of a model's view. The model adds one member for each kind of item, such as `routers` and `terminals`.
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
