#pragma once
/// All paths that packets may take with given register contents, found with the routers' own routing function. They
/// show whether packets arrive, and whether virtual channels can wait for one another in a cycle.
#include <map>
#include <string>
#include <vector>

#include "host/routers/t3e/tables.hpp"
#include "host/routing/dependency.hpp"
#include "kernels/routers/t3e/route.hpp"

namespace flitlab::t3e {

/// Fate of a packet: the worst result over all paths that it may take.
enum class Fate : u8 {
  kArrives,
  kStopped,  ///< dropped at the dateline, because it arrived there on virtual channel 1
  kLost,     ///< stops at an open or broken link, or circulates without end
};

class Paths {
 public:
  /// All references must outlive the object. `any_direction`: adaptive packets may request any direction in which they
  /// still have to travel.
  Paths(const Shape& shape, const Tables& tables, const std::vector<u8>& broken, bool any_direction);

  /// Returns the fate of a packet from the PE of node `from` to the PE of node `to` with a routing tag, and records the
  /// paths of the packet.
  Fate end(u32 from, u32 to, Tag tag);
  /// Returns the number of hops of the deterministic path, or kNone if the path does not lead to `to`.
  u32 hops(u32 from, u32 to, Tag tag) const;
  /// Returns the routing tag that the tables of node `from` give a packet to a logical PE number.
  Tag tag(u32 from, u32 logical) const;

  /// Returns the destination ordinates (bits) of all recorded packets that enter a direction at a node.
  u32 entered(u32 node, u32 direction) const { return entered_[node * kDirections + direction]; }
  /// Returns the destination ordinates (bits) of all recorded packets that make their initial hop in a direction at a
  /// node.
  u32 hopped(u32 node, u32 direction) const { return hopped_[node * kDirections + direction]; }

  /// Returns a cycle of deterministic virtual channels that can wait for one another, or "". Adaptive virtual channels
  /// need no check: an adaptive buffer accepts only whole packets, so a packet that waits in one holds no other channel
  /// (paper, section 5). Responses use separate channels with the same dependencies as requests.
  std::string circle() const;

 private:
  struct Location {
    u32 node;
    u8 port, vc;  ///< port and VC of the input buffer
    Packet packet;
  };
  Fate follow(const Location& location);
  bool works(u32 node, u32 direction) const;
  Location enter(const Location& from, u32 direction, u32 vc) const;
  Choice choice_at(const Location& location) const;

  const Tables& tables_;
  const std::vector<u8>& broken_;
  bool any_direction_;
  std::map<u32, u32> node_;  ///< number of each node, by R_PWHO
  std::vector<u32> next_;    ///< [nodes][6] neighbour in each direction, or kNone
  std::vector<u32> seen_;    ///< results of follow() for the current destination: round_ << 2 | Fate, or kOpen. Other
                             ///< values of round_ are out of date
  std::vector<u32> entered_, hopped_;  ///< [nodes][6] destination ordinates (bits)
  DependencyGraph graph_;              ///< dependencies of deterministic buffers, numbered [nodes][kPorts][VC set]
  u32 round_ = 0, target_ = kNone;
};

/// Effect of the registers on all pairs of PEs.
struct PathReport {
  u64 pairs = 0;
  u64 adaptive = 0;                            ///< number of pairs whose packets may adapt
  u64 hopping = 0;                             ///< number of pairs whose packets make an initial or a final hop
  std::vector<std::pair<u32, u32>> stopped;    ///< pairs of nodes whose packets are dropped at a dateline
  std::vector<std::pair<u32, u32>> separated;  ///< pairs of nodes whose packets do not arrive for another reason
  std::string circle;                          ///< see Paths::circle
};

/// Checks the paths between all pairs of nodes that are `in_service`.
PathReport check_paths(const Shape& shape, const Tables& tables, const std::vector<u8>& broken, bool any_direction,
                       const std::vector<bool>& in_service);

/// Changes the tables of a machine with partial planes or broken links so that all PEs reach one another where possible
/// (paper, sections 2.1 to 2.4 and 9).
///
/// Routing tags: tries other signs, then initial and final hops. Clears ADAPT where an adaptive packet could reach a
/// broken link. `hops`: whether initial and final hops may be used.
///
/// SELECT bits: clears a bit if packets that use it pass the dateline or make an initial hop. On VC set 1 an initial
/// hop would use the channels of packets that have passed the dateline. The packet could then continue in front of the
/// dateline, which closes a cycle.
void route_around(const Shape& shape, Tables& tables, const TableOptions& options, bool any_direction,
                  const std::vector<bool>& in_service, bool hops);

}  // namespace flitlab::t3e
