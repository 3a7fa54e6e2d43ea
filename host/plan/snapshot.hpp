#pragma once
/// Snapshots: what a router's ports and virtual channels, and a terminal, hold in a state, in the field's terms.
#include <string>
#include <vector>

#include "kernels/common/types.hpp"

namespace flitlab {

/// A virtual channel of an input port.
struct VcSnapshot {
  std::string stage;  ///< pipeline stage of the front packet: idle, routing, waiting, head, body
  u32 flits = 0, packets = 0, left = 0;
  u32 capacity = 0;                      ///< size of the input buffer, flits; 0: there is no buffer, or it has no limit
  u32 out_port = kNone, out_vc = kNone;  ///< output port and VC; kNone before the grant. While the packet waits for a
                                         ///< grant, the port is already set
  u32 src = kNone, id = 0, dst_router = kNone;  ///< source, number and destination router of the front packet
  u32 credits = 0;  ///< credits of the output VC that has the same port and VC number as this input VC
  u32 owner_port = kNone, owner_vc = kNone;  ///< input VC that owns that output VC; kNone: the output VC is free
  std::string name;                          ///< name in the machine's terms; "": the number is sufficient
  std::string note;  ///< state in the machine's terms. A second line says why the front packet has not moved. "":
                     ///< nothing to report
};

struct PortSnapshot {
  std::string name;  ///< "+x", "-y", "terminal 0", "port 3"
  u32 peer = kNone;
  bool to_terminal = false;
  std::string note;  ///< state of the port in the machine's terms; "": nothing to report
  std::vector<VcSnapshot> vcs;
};

/// Occupancy of a router: `held` units are in use, out of `places`. Plan::fill_of() names the unit.
struct Fill {
  u32 held = 0, places = 0;
};

struct TerminalSnapshot {
  u32 created = 0, sent = 0, received = 0, queued = 0, flits_left = 0, vc = 0;
  Cycle next_creation = kNever;
  std::vector<u32> credits;
};

}  // namespace flitlab
