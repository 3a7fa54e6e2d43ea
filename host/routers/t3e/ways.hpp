#pragma once
/// All ways that packets may take by a machine's registers, found by the routers' own routing function: whether they
/// arrive, and whether their virtual channels can wait for one another in a circle.
#include <map>
#include <string>
#include <vector>

#include "host/routers/t3e/tables.hpp"
#include "host/routing/dependency.hpp"
#include "kernels/routers/t3e/route.hpp"

namespace flitlab::t3e {

/// What becomes of a packet, whichever of its ways it takes: the worst of them.
enum class End : u8 {
  kArrives,
  kStopped,  ///< at the dateline, on virtual channel 1
  kLost,     ///< at a link that is open or broken, or it goes round and round
};

class Ways {
 public:
  /// All references must outlive the object. `any_direction`: adaptive packets may ask in any direction.
  Ways(const Shape& shape, const Tables& tables, const std::vector<u8>& broken, bool any_direction);

  /// From the PE of `from` to that of `to`, with a tag.
  End end(u32 from, u32 to, Tag tag);
  /// Hops of the deterministic way, or kNone if it does not arrive.
  u32 hops(u32 from, u32 to, Tag tag) const;
  /// The tag that the tables of `from` give a packet for a logical PE.
  Tag tag(u32 from, u32 logical) const;

  /// Ordinates to which packets have entered a direction of a node, as bits.
  u32 entered(u32 node, u32 direction) const { return entered_[node * kDirections + direction]; }
  /// Those of packets that make an initial hop in it.
  u32 hopped(u32 node, u32 direction) const { return hopped_[node * kDirections + direction]; }

  /// Deterministic virtual channels that wait for one another in a circle, "" if there are none. Those of adaptive
  /// packets need not be looked at: an adaptive buffer takes a packet as a whole, so that a packet that waits in one
  /// holds no other channel (paper, section 5). Responses have channels of their own, with the same dependencies.
  std::string circle() const;

 private:
  struct Place {
    u32 node;
    u8 port, vc;  ///< of the input buffer
    Packet packet;
  };
  End follow(const Place& place);
  bool works(u32 node, u32 direction) const;
  Place enter(const Place& from, u32 direction, u32 vc) const;
  Choice choice_at(const Place& place) const;

  const Tables& tables_;
  const std::vector<u8>& broken_;
  bool any_direction_;
  std::map<u32, u32> node_;            ///< by R_PWHO
  std::vector<u32> next_;              ///< [nodes][6]
  std::vector<u32> seen_;              ///< what is known of places for the present destination; see follow()
  std::vector<u32> entered_, hopped_;  ///< [nodes][6]
  DependencyGraph graph_;              ///< of buffers, numbered [nodes][7][2]
  u32 round_ = 0, target_ = kNone;
};

/// What registers mean for all pairs of PEs.
struct WayReport {
  u64 pairs = 0;
  u64 adaptive = 0;                            ///< pairs whose packets may adapt
  u64 hopping = 0;                             ///< pairs whose packets make an initial or a final hop
  std::vector<std::pair<u32, u32>> stopped;    ///< nodes of pairs that lose packets at a dateline
  std::vector<std::pair<u32, u32>> separated;  ///< that are not connected
  std::string circle;                          ///< see Ways::circle
};

/// `in_service`: nodes whose PEs count.
WayReport check_ways(const Shape& shape, const Tables& tables, const std::vector<u8>& broken, bool any_direction,
                     const std::vector<bool>& in_service);

/// Changes the tables of a machine with partial planes or broken links so that all PEs reach one another where that is
/// possible: other directions, then initial and final hops, adaptivity off where a packet could come to a broken link
/// (paper, sections 2.1 to 2.4 and 9), SELECT bits 0 where a packet passes the dateline or makes an initial hop: on set
/// 1 it would come after packets that have passed the dateline, and could then go on before it.
/// `hops`: whether initial and final hops may be used.
void route_around(const Shape& shape, Tables& tables, const TableOptions& options, bool any_direction,
                  const std::vector<bool>& in_service, bool hops);

}  // namespace flitlab::t3e
