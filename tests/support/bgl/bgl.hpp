#pragma once
/// A small Blue Gene/L torus that replays a trace and records every departure and delivery with its cycle.
#include <algorithm>
#include <map>
#include <memory>
#include <stdexcept>

#include "host/routers/bgl/plan.hpp"
#include "kernels/routers/bgl/link.hpp"
#include "tests/support/build.hpp"
#include "tests/support/fields.hpp"
#include "tests/support/temporary.hpp"

namespace flitlab::testing {

/// A packet of a trace. Software may set header bits in addition to the bits of the configuration.
struct BglLine {
  u32 cycle, src, dst, chunks;
  u32 route = 0;  ///< bits of bgl::Route
};

/// The start of a packet's departure from a queue to a link.
struct BglGrant {
  u32 cycle, node, in, in_vc, out, out_vc;  ///< `in`: receiver, or 6 for an injection FIFO
  u32 id, chunks, hints;                    ///< hint bits before the hop
  bool operator==(const BglGrant&) const = default;
};

/// Directions, numbered like ports. bgl::kReception as an input means this node's own packets.
enum BglDirection : u32 { kPlusX, kMinusX, kPlusY, kMinusY, kPlusZ, kMinusZ };

/// A torus that replays lines. Unless a test changes them, packets are deterministic and of normal priority, and delays
/// are the defaults. Tokens are charged to data packets, which take a link for 32 n + 14 cycles. A packet that is
/// created in cycle c and meets no other requests in cycle c + 3, in the next node 21 cycles later, and so on.
class BglTorus {
 public:
  explicit BglTorus(IntList shape, std::vector<BglLine> lines, RawConfig changes = {}) : lines_(std::move(lines)) {
    std::stable_sort(lines_.begin(), lines_.end(),
                     [](const BglLine& a, const BglLine& b) { return a.cycle < b.cycle; });
    std::string text;
    for (const BglLine& l : lines_)
      text += std::to_string(l.cycle) + "," + std::to_string(l.src) + "," + std::to_string(l.dst) + "," +
              std::to_string(l.chunks) + "\n";
    trace_ = std::make_unique<TextFile>(text);
    changes.merge(
        Settings{"router.kind=bgl topology.shape=", std::move(shape),
                 " routing.dynamic=0.0 router.acks=charged traffic.mode=trace traffic.trace_file=", trace_->path});
    net_ = std::make_unique<Network>(experiment(changes), EngineChoice{"cpu", 1, true, 1});
  }

  /// Returns a line. Lines are numbered by cycle; lines of the same cycle keep their given order.
  const BglLine& line(u32 id) const { return lines_[id]; }
  const bgl::Table& table() const { return dynamic_cast<const BglPlan&>(*net_->plan).table(); }
  Network& net() { return *net_; }
  u32 now() const { return net_->engine->now(); }

  void run(u32 cycles) {
    for (u32 n = 0; n < cycles; ++n) {
      const u32 cycle = now();
      net_->step(1);
      set_headers(cycle);
      note(cycle, net_->engine->take_events(0));
    }
    check_conservation(*net_->engine, *net_->plan, 0);
  }
  /// Runs until all packets have arrived. Throws std::runtime_error if that takes more than `most` cycles.
  void drain(u32 most = 100000) {
    while (delivered_.size() < lines_.size()) {
      if (now() > most) throw std::runtime_error("packets are still under way");
      run(50);
    }
  }

  const std::vector<BglGrant>& grants() const { return grants_; }
  std::vector<BglGrant> way(u32 id) const {
    std::vector<BglGrant> list;
    for (const BglGrant& g : grants_)
      if (g.id == id) list.push_back(g);
    return list;
  }
  /// Returns the cycle in which a packet leaves a node, kNone if it has not left.
  u32 leaves(u32 id, u32 node) const {
    const auto at = leaves_.find({id, node});
    return at == leaves_.end() ? kNone : at->second;
  }
  /// Returns the cycle in which software takes a packet at its destination, kNone if it has not taken it.
  u32 delivered(u32 id) const {
    const auto at = delivered_.find(id);
    return at == delivered_.end() ? kNone : at->second;
  }
  /// Returns the numbers of the packets that leave a node in a direction, in order.
  std::vector<u32> order(u32 node, u32 direction) const {
    std::vector<u32> ids;
    for (const BglGrant& g : grants_)
      if (g.node == node && g.out == direction) ids.push_back(g.id);
    return ids;
  }

  VcSnapshot vc(u32 node, u32 port, u32 vc) const {
    return net_->plan->inspect_router(net_->engine->state(0), node)[port].vcs[vc];
  }
  /// Returns the tokens that a sender has for a VC.
  u32 tokens(u32 node, u32 direction, u32 vc_) const { return vc(node, direction, vc_).credits; }

  template <class T>
  std::vector<T> field(u32 kind, const char* name) const {
    return testing::field<T>(*net_, kind, name);
  }

 private:
  /// Sets header bits after software has put the packets of this cycle into FIFOs and before these request.
  void set_headers(u32 cycle) {
    std::map<u32, u32> wanted;
    for (; next_ < lines_.size() && lines_[next_].cycle == cycle; ++next_)
      if (lines_[next_].route) wanted[next_] = lines_[next_].route;
    if (wanted.empty()) return;
    std::vector<Packet> all = field<Packet>(0, "injection_ring");
    for (Packet& p : all) {
      const auto found = p.flits ? wanted.find(p.id) : wanted.end();
      if (found == wanted.end()) continue;
      bgl::set_route(p, static_cast<u16>(bgl::route_of(p) | found->second));
      wanted.erase(found);
    }
    if (!wanted.empty()) throw std::runtime_error("a packet was not put into a FIFO in the cycle of its creation");
    net_->engine->set_field(0, 0, net_->plan->layout().kinds[0].field("injection_ring"), all.data());
  }

  void note(u32 cycle, const std::vector<std::vector<Event>>& events) {
    std::vector<bgl::Queue> queues;
    for (u32 item = 0; item < events.size(); ++item)
      for (const Event& e : events[item]) {
        if (e.kind == EventKind::kDelivered && !delivered_.emplace(e.id, cycle).second)
          throw std::runtime_error("a packet has arrived twice");
        if (e.kind != EventKind::kSwitchGranted) continue;
        if (queues.empty()) queues = field<bgl::Queue>(0, "queue");
        const u32 vcs = table().vcs, each = 6 * vcs + bgl::kInjectionFifos;
        const bgl::Queue& head = queues[item * each + e.port * vcs + e.vc];
        leaves_[{e.id, item}] = cycle;
        grants_.push_back(
            {cycle, item, e.port, e.vc, e.out_port, e.out_vc, e.id, e.flits, head.route & u32{bgl::kHints}});
      }
  }

  std::vector<BglLine> lines_;
  std::unique_ptr<TextFile> trace_;
  std::unique_ptr<Network> net_;
  u32 next_ = 0;  ///< first line that has not been created yet
  std::vector<BglGrant> grants_;
  std::map<std::pair<u32, u32>, u32> leaves_;  ///< cycle of departure, by packet and node
  std::map<u32, u32> delivered_;
};

/// Changes the elements of a node's field that are not zero. Exactly one must be.
template <class Change>
void edit_the_only(BglTorus& torus, u32 node, const char* name, Change change) {
  u32 found = 0;
  edit<u32>(torus.net(), 0, name, [&](std::vector<u32>& all, u32 each) {
    for (u32 i = node * each; i < (node + 1) * each; ++i)
      if (all[i]) change(all[i]), ++found;
  });
  ASSERT_EQ(found, 1u);
}

/// Corrupts the only head that is on its way to a node.
inline void hit(BglTorus& torus, u32 node, bgl::Hit how) {
  edit_the_only(torus, node, "head", [&](u32& head) { head |= static_cast<u32>(how) << bgl::kHitShift; });
}
/// Drops the only acknowledgment that is on its way to a node.
inline void lose_acknowledgment(BglTorus& torus, u32 node) {
  edit_the_only(torus, node, "acknowledged", [](u32& acknowledgment) { acknowledgment = 0; });
}

}  // namespace flitlab::testing
