#pragma once
/// Snapshots: what a router's ports and virtual channels, and a terminal, hold in a state, in the field's terms.
#include <string>
#include <vector>

#include "host/plan/columns.hpp"
#include "kernels/common/types.hpp"

namespace flitlab {

/// A virtual channel: the input VC with its buffer, and the output VC of the same port and VC number.
struct VcSnapshot {
  FLITLAB_COLUMNS((std::string, stage, "", "", "pipeline stage of the front packet; idle: no packet"),
                  (u32, flits, 0, "flits", "in the input buffer"),
                  (u32, capacity, 0, "flits", "size of the input buffer; 0: no buffer of its own, or no limit"),
                  (u32, packets, 0, "packets", "in the input buffer, whole or in part"),
                  (u32, left, 0, "flits", "of the front packet, still to be sent"),
                  (u32, out_port, kNone, "", "output port that the front packet requests or holds"),
                  (u32, out_vc, kNone, "", "output virtual channel that it holds"),
                  (u32, src, kNone, "", "source terminal of the front packet"),
                  (u32, id, kNone, "", "number of the front packet at its source"),
                  (u32, dst_router, kNone, "", "destination router of the front packet"),
                  (u32, credits, 0, "flits", "of the output VC with the same port and VC number"),
                  (u32, owner_port, kNone, "", "input port whose packet holds that output virtual channel"),
                  (u32, owner_vc, kNone, "", "virtual channel of that input port"))
  std::string name;  ///< name in the machine's terms; "": the number is sufficient
  std::string note;  ///< state in the machine's terms. A second line says why the front packet has not moved. "":
                     ///< nothing to report
};

struct PortSnapshot {
  FLITLAB_COLUMNS((u32, peer, kNone, "", "router or terminal at the far end; none: not connected"),
                  (bool, to_terminal, false, "", "whether the far end is a terminal"))
  std::string name;  ///< "+x", "-y", "terminal 0", "port 3"
  std::string note;  ///< state of the port in the machine's terms; "": nothing to report
  std::vector<VcSnapshot> vcs;
};

/// Occupancy of a router: `held` units are in use, out of `places`. Plan::fill_of() names the unit.
struct Fill {
  u32 held = 0, places = 0;
};

struct TerminalSnapshot {
  FLITLAB_COLUMNS((u32, created, 0, "packets", "created since cycle 0"),
                  (u32, sent, 0, "packets", "packets whose head has been injected"),
                  (u32, received, 0, "packets", "packets whose tail has arrived"),
                  (u32, queued, 0, "packets", "in the source queue"),
                  (u32, flits_left, 0, "flits", "of the packet being injected, still to be sent"),
                  (u32, vc, 0, "", "virtual channel on which it is injected"),
                  (Cycle, next_creation, kNever, "cycle", "creation of the next packet; none: no more packets"),
                  (std::vector<u32>, credits, {}, "flits", "of the injection channel, per virtual channel"))
};

}  // namespace flitlab
