#pragma once
/// Small fabrics of all kinds.
#include <string>
#include <utility>
#include <vector>

#include "host/routers/sconnect/build.hpp"
#include "tests/support/temporary.hpp"

namespace flitlab::testing {

inline SconnectNodes single_nodes(u32 host_ports = 1) { return {false, host_ports, 12}; }
inline SconnectNodes dual_nodes(u32 host_ports = 1) { return {true, host_ports, 12}; }

inline SconnectFabric sconnect_graph(const std::string& text, const SconnectNodes& nodes = {}) {
  const TextFile file(text);
  return read_sconnect_graph(TextSource(file.path), nodes);
}

/// A graph file: nodes, one of which has two TICs, around a switch of three TICs, and a second switch.
inline const char* kSwitchedGraph =
    "switch,hub,3\nswitch,edge,2\nnode,a\nnode,b,2\nnode,c\nnode,d\n# ways\nchannel,hub,edge,24\nchannel,hub,edge\n"
    "channel,hub,a\nchannel,hub,b\nchannel,b,edge\nchannel,edge,c\nchannel,edge,d\nchannel,a,d,6\n";

inline std::vector<std::pair<std::string, SconnectFabric>> all_sconnect_fabrics() {
  const SconnectNodes one = single_nodes(), two = dual_nodes(), one_2 = single_nodes(2), two_2 = dual_nodes(2);
  std::vector<std::pair<std::string, SconnectFabric>> all;
  all.emplace_back("mesh 4 x 3", make_sconnect_mesh({4, 3}, one));
  all.emplace_back("line of 5, two host ports", make_sconnect_mesh({5}, one_2));
  all.emplace_back("mesh 2 x 2 x 3", make_sconnect_mesh({2, 2, 3}, one));
  all.emplace_back("dual mesh 2 x 3 x 1 x 3", make_sconnect_mesh({2, 3, 1, 3}, two));
  all.emplace_back("dual mesh 3 x 2 x 3 x 2 x 2 x 1", make_sconnect_mesh({3, 2, 3, 2, 2, 1}, two));
  all.emplace_back("dual mesh 3 x 3 x 3, two host ports", make_sconnect_mesh({3, 3, 3}, two_2));
  all.emplace_back("hypercube 4", make_sconnect_hypercube(4, one));
  all.emplace_back("dual hypercube 6", make_sconnect_hypercube(6, two));
  all.emplace_back("random 24 x 4", make_sconnect_random(24, 4, 3, one));
  all.emplace_back("random 15 x 2", make_sconnect_random(15, 2, 3, one_2));
  all.emplace_back("dual random 20 x 7", make_sconnect_random(20, 7, 5, two));
  all.emplace_back("dual random 18 x 8, two host ports", make_sconnect_random(18, 8, 5, two_2));
  all.emplace_back("tree of 3, 3 levels", make_sconnect_tree(3, 3, false, one));
  all.emplace_back("dual tree of 7, 3 levels", make_sconnect_tree(7, 3, false, two));
  all.emplace_back("tree of 4 under switches", make_sconnect_tree(4, 3, true, one));
  all.emplace_back("tree of 9 under switches, dual", make_sconnect_tree(9, 3, true, two_2));
  all.emplace_back("numbered graph, two channels between 0 and 1",
                   sconnect_graph("0,1\n0,1\n1,2\n2,3\n3,0\n4,2\n", one));
  all.emplace_back("switched graph", sconnect_graph(kSwitchedGraph));
  return all;
}

}  // namespace flitlab::testing
