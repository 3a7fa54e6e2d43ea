#pragma once
/// All paths that packets may take by a machine's registers, found with the routers' own routing function. They show
/// whether packets arrive, and whether virtual channels can wait for one another in a cycle.
#include <map>
#include <string>
#include <vector>

#include "host/routers/t3e/tables.hpp"
#include "host/routing/dependency.hpp"
#include "kernels/routers/t3e/route.hpp"

namespace flitlab::t3e {

/// Fate of a packet: the worst over all its possible paths.
enum class Fate : u8 {
  kArrives,
  kStopped,  ///< dropped at the dateline, on virtual channel 1
  kLost,     ///< at an open or broken link, or the packet circulates
};

class Paths {
 public:
  /// All references must outlive the object. `any_direction`: adaptive packets may request any direction that they
  /// still have to travel.
  Paths(const Shape& shape, const Tables& tables, const std::vector<u8>& broken, bool any_direction);

  /// Returns the fate of a packet with a tag from the PE of `from` to the PE of `to`, and records its paths.
  Fate end(u32 from, u32 to, Tag tag);
  /// Returns the hops of the deterministic path, or kNone if it does not arrive.
  u32 hops(u32 from, u32 to, Tag tag) const;
  /// Returns the tag that the tables of `from` give a packet for a logical PE.
  Tag tag(u32 from, u32 logical) const;

  /// Returns the destination ordinates of the packets that enter a direction of a node (bits).
  u32 entered(u32 node, u32 direction) const { return entered_[node * kDirections + direction]; }
  /// Returns the destination ordinates of the packets that make an initial hop in a direction of a node (bits).
  u32 hopped(u32 node, u32 direction) const { return hopped_[node * kDirections + direction]; }

  /// Returns a cycle of deterministic virtual channels that can wait for one another, or "". Channels of adaptive
  /// packets need no check: an adaptive buffer accepts only whole packets, so a packet that waits in one holds no other
  /// channel (paper, section 5). Responses have separate channels with the same dependencies.
  std::string circle() const;

 private:
  struct Location {
    u32 node;
    u8 port, vc;  ///< of the input buffer
    Packet packet;
  };
  Fate follow(const Location& location);
  bool works(u32 node, u32 direction) const;
  Location enter(const Location& from, u32 direction, u32 vc) const;
  Choice choice_at(const Location& location) const;

  const Tables& tables_;
  const std::vector<u8>& broken_;
  bool any_direction_;
  std::map<u32, u32> node_;            ///< nodes by R_PWHO
  std::vector<u32> next_;              ///< [nodes][6] neighbours, or kNone
  std::vector<u32> seen_;              ///< memory of follow() for the current destination: round << 2 | End or kOpen
  std::vector<u32> entered_, hopped_;  ///< [nodes][6] destination ordinates (bits)
  DependencyGraph graph_;              ///< of deterministic buffers, numbered [nodes][kPorts][set]
  u32 round_ = 0, target_ = kNone;
};

/// Effect of the registers on all pairs of PEs.
struct PathReport {
  u64 pairs = 0;
  u64 adaptive = 0;                            ///< pairs whose packets may adapt
  u64 hopping = 0;                             ///< pairs whose packets make an initial or a final hop
  std::vector<std::pair<u32, u32>> stopped;    ///< pairs of nodes that lose packets at a dateline
  std::vector<std::pair<u32, u32>> separated;  ///< pairs of nodes that are not connected
  std::string circle;                          ///< see Ways::circle
};

/// Checks the paths between all pairs of nodes with `in_service`.
PathReport check_paths(const Shape& shape, const Tables& tables, const std::vector<u8>& broken, bool any_direction,
                       const std::vector<bool>& in_service);

/// Changes the tables of a machine with partial planes or broken links so that all PEs reach one another where possible
/// (paper, sections 2.1 to 2.4 and 9). It tries other signs, then initial and final hops, and clears ADAPT where an
/// adaptive packet could reach a broken link. It clears SELECT bits where a packet passes the dateline or makes an
/// initial hop. On set 1 an initial hop would share the channels of packets that have passed the dateline, and its
/// packet could continue before the dateline, which closes a cycle.
///
/// `hops`: whether initial and final hops may be used.
void route_around(const Shape& shape, Tables& tables, const TableOptions& options, bool any_direction,
                  const std::vector<bool>& in_service, bool hops);

}  // namespace flitlab::t3e
