/// How the state of a network of virtual-channel routers changes while its traffic repeats itself.
#include "host/plan/terminal_plan.hpp"
#include "host/routers/vc/plan.hpp"
#include "kernels/routers/vc/turns.hpp"

namespace flitlab {
namespace {

using namespace vc;

/// Returns why routers of this kind make random choices, or choices that depend on a clock; "": they do not.
std::string random_choices(const VcTable& t) {
  if (compares_ranks(t.arbiter)) return "router.arbiter compares the packets' ages or random numbers";
  if (t.vc_allocator == VcAllocator::kWavefront || t.switch_allocator == SwitchAllocator::kWavefront)
    return "wavefront allocators begin at a random diagonal";
  if (t.rounds != 1) return "router.internal_speedup: routers count rounds, not cycles";
  if (t.vc_assignment == VcAssignment::kTwoDatelines) return "routing.vc_assignment: packets draw their class";
  switch (t.algorithm) {
    case Algorithm::kDimensionOrder:
    case Algorithm::kTable:
    case Algorithm::kMinimal:
    case Algorithm::kUpDown:
    case Algorithm::kWestFirst:
    case Algorithm::kNorthLast:
    case Algorithm::kNegativeFirst:
    case Algorithm::kOddEven: break;
    case Algorithm::kMinimalAdaptive:
      if (!t.by_tables) break;
      [[fallthrough]];
    default: return "routing.algorithm: packets draw routes";
  }
  if (t.by_tables && t.parallel) return "packets draw one of several channels between two routers";
  return "";
}

/// Returns whether packets between two routers draw a direction, because both ways around a ring have the same length.
bool is_half_way(const VcTable& t, u32 source, u32 destination) {
  if (t.by_tables || !t.wraps) return false;
  const u32 a = t.address[source], b = t.address[destination];
  for (u32 dim = 0; dim < t.dims; ++dim) {
    const u32 from = coordinate(t, a, dim), to = coordinate(t, b, dim);
    if (from != to && 2 * (from < to ? to - from : from - to) == t.dim_radix[dim]) return true;
  }
  return false;
}

}  // namespace

Motion VcPlan::motion() const {
  const VcTable& t = table_;
  Motion m = terminal_motion(t.traffic, t.mode, t.slot_mask + 1, t.vcs, t.ring);
  if (m.never.empty()) m.never = random_choices(t);
  m.draws = [&t](u32 source, u32 destination) {
    return is_half_way(t, source / t.concentration, destination / t.concentration);
  };
  m.quick.push_back("router.control");
  m.counters.push_back("router.port.flits_sent");
  m.buffers.push_back({"router.flit_mail", 1, t.slot_mask + 1});
  m.buffers.push_back({"router.credit_mail", 1, t.slot_mask + 1});
  if (t.queue_flits)
    m.buffers.push_back({"router.queue", t.ports, t.queue_flits, "router.queues.first", "router.queues.flits"});
  const u32 at_routers = static_cast<u32>(m.buffers.size());
  m.buffers.push_back({"router.ring", t.ports * t.vcs, t.ring, "router.input.first", "", "router.input.packets",
                       t.slot_mask + 1 + t.queue_flits});
  m.pointers.push_back({"terminal.output.tail", [&t, at_routers](u32 terminal, u32 vc) {
                          const u32 port = t.network_ports + terminal % t.concentration;
                          return Motion::Target{at_routers, terminal / t.concentration, port * t.vcs + vc};
                        }});
  m.pointers.push_back({"router.output.tail", [&t, at_routers](u32 router, u32 output) {
                          const Peer& peer = t.peers[std::size_t{router} * t.ports + output / t.vcs];
                          const u32 vc = output % t.vcs;
                          if (peer.item == kNone) return Motion::Target{at_routers, router, output};  // stays 0
                          if (peer.is_terminal) return Motion::Target{kTerminalPackets, peer.item, vc};
                          return Motion::Target{at_routers, peer.item, peer.port * t.vcs + vc};
                        }});
  return m;
}

}  // namespace flitlab
