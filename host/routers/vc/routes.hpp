#pragma once
/// Routes of a network without a grid: the tables that the routing functions of kernels/routers/vc/table_routes.hpp
/// read, and the classes of virtual channels that keep them free of deadlock.
#include <string>
#include <vector>

#include "host/config/experiment.hpp"
#include "host/routing/tables.hpp"
#include "kernels/routers/vc/state.hpp"

namespace flitlab::vc {

struct Routes {
  RouteTable table;
  u32 classes = 1;                          ///< classes of virtual channels that the routes need
  std::vector<PortSet> parallel, shortest;  ///< as in VcTable
  std::vector<u16> rank, rank_in;           ///< as in VcTable
  std::vector<u8> hops;                     ///< as in VcTable
  std::vector<PortSet> dim_ports;           ///< as in VcTable
  std::vector<std::string> warnings;
};

/// Returns the routes of an experiment. Throws ConfigError if router.vcs is too small for their classes. `t`: the plan
/// so far.
Routes make_routes(const Experiment& e, const Topology& topology, const VcTable& t);

/// Sets what ways up a fat tree depend on.
void set_tree(VcTable& t, const Experiment& e);

/// Sets the plan's pointers to the routes.
void set_routes(VcTable& t, const Routes& routes);

}  // namespace flitlab::vc
