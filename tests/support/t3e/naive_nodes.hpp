#pragma once
/// Nodes of the second implementation of the T3E (naive.hpp): packets, routing, broken links, and inboxes of future
/// cycles.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <compare>
#include <deque>
#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <utility>
#include <vector>

#include "host/routers/t3e/plan.hpp"
#include "kernels/common/events.hpp"
#include "kernels/routers/t3e/params.hpp"

namespace flitlab::testing::t3e_naive {

/// Directions 0 to 5 are +X +Y +Z -X -Y -Z. A port has the number of its direction; port 6 leads to the PE and port 7
/// to the I/O device.
inline constexpr u32 kPe = 6, kIo = 7, kAllPorts = 8, kAllVcs = 8;
/// Virtual channels 0 and 1 are the sets of requests, 2 and 3 the sets of responses; adaptive channels follow.
inline constexpr u32 kSets = 4;

/// A port and one of its virtual channels.
struct Channel {
  u32 port, vc;
  auto operator<=>(const Channel&) const = default;
};

/// A router and one of its ports.
using Place = std::pair<u32, u32>;

struct NaivePacket {
  u32 src, id, length, message_class, transaction;
  Cycle created, injected = 0;
  u32 port = kPe;   // port of the destination's router
  u32 logical = 0;  // logical PE number to which software has sent the packet
  std::array<u32, 3> to{};
  std::array<bool, 3> minus{};       // [dimension] whether it goes in the minus direction
  std::optional<u32> initial_hop{};  // initial hop that the packet still has to make
  bool final_hop = false;            // has a final hop still to make
  bool adaptive = false;
  u32 hops = 0;
};

/// A flit with a copy of its packet, which takes the same hops.
struct Flit {
  NaivePacket packet;
  u32 number;
  u32 hits = 0;  // number of links that have corrupted the flit
  bool head() const { return number == 0; }
  bool tail() const { return number + 1 == packet.length; }
};

/// Outputs that a packet at the front of a buffer may take.
struct Choice {
  Channel fixed;           // the deterministic channel
  std::set<u32> adaptive;  // ports whose adaptive channels the packet may use
  bool stopped = false;
};

/// An event, as the emulator records it. Fields that its kind does not use are 0.
struct Happening {
  u32 item;
  EventKind kind;
  u32 in, in_vc, out, out_vc, src, id, flit, length, dst = kNone, latency = 0;
  auto operator<=>(const Happening&) const = default;
};

inline std::ostream& operator<<(std::ostream& text, const Happening& h) {
  constexpr const char* kNames[] = {"created", "injected", "arrived", "routed", "granted", "moved", "delivered", "own"};
  return text << "item " << h.item << " " << kNames[static_cast<u32>(h.kind)] << " packet " << h.src << "#" << h.id
              << " in " << h.in << "." << h.in_vc << " out " << h.out << "." << h.out_vc << " flit " << h.flit << " of "
              << h.length << " to " << h.dst << " latency " << h.latency;
}

/// Returns the member of a set that follows `last` in turn.
template <class T>
T next_after(const std::set<T>& set, const std::optional<T>& last) {
  const auto next = last ? set.upper_bound(*last) : set.begin();
  return next == set.end() ? *set.begin() : *next;
}

class NaiveNodes {
 public:
  NaiveNodes(const Experiment& e, const T3ePlan& plan)
      : topology_(plan.topology()),
        later_(plan.machine().rerouted),
        io_nodes_(e.ints(t3e::param::io.nodes)),
        adaptive_vcs_(e.u32_of(t3e::param::router.adaptive_vcs)),
        any_direction_(e.str(t3e::param::router.adaptive_choice) == "any"),
        ordered_requests_(e.flag(t3e::param::routing.ordered_requests)),
        set_flits_(e.u32_of(t3e::param::router.deterministic_buffer_flits)),
        adaptive_flits_(e.u32_of(t3e::param::router.adaptive_buffer_flits)),
        link_delay_(e.u32_of(t3e::param::router.straight_delay)),
        wait_(e.u32_of(t3e::param::router.turn_delay) - link_delay_),
        from_pe_(e.u32_of(t3e::param::router.source_delay) - link_delay_),
        to_pe_(e.u32_of(t3e::param::router.destination_delay) - wait_),
        credit_delay_(e.u32_of(t3e::param::router.credit_delay)) {
    read_faults(e);
    const t3e::Table& table = plan.table();
    for (u32 n = 0; n < table.routers; ++n) {
      registers_.push_back(table.registers[n]);
      tags_.emplace_back(table.lut + n * table.lut_entries, table.lut + (n + 1) * table.lut_entries);
      tags_.back().resize(t3e::kLutRegisters);
      if (!table.full_select) continue;
      full_select_.emplace_back();
      for (u32 d = 0; d < kPe; ++d) full_select_[n][d] = table.full_select[n * kPe + d];
    }
  }

  const t3e::Registers& registers(u32 node) const { return registers_[node]; }

 protected:
  u32 nodes() const { return static_cast<u32>(registers_.size()); }
  u32 node_of(u32 terminal) const { return terminal < nodes() ? terminal : io_nodes_[terminal - nodes()]; }
  u32 port_of(u32 terminal) const { return terminal < nodes() ? kPe : kIo; }

  // Breaks.
  void read_faults(const Experiment& e) {
    const std::vector<u32>& links = e.ints(t3e::param::faults.links);
    dead_ = e.ints(t3e::param::faults.nodes);
    break_cycle_ = e.u32_of(t3e::param::faults.cycle);
    reroute_cycle_ = break_cycle_ + e.u32_of(t3e::param::faults.reroute_delay);
    for (u32 i = 0; i < links.size(); i += 2) break_link(links[i], links[i + 1]);
    for (u32 node : dead_)
      for (u32 direction = 0; direction < kPe; ++direction)
        if (exists(node, direction)) break_link(node, direction);
  }
  void break_link(u32 node, u32 direction) {
    const Peer& peer = topology_.peer(node, direction);
    broken_.insert({node, direction});
    broken_.insert({peer.item, peer.port});
  }
  bool is_broken(u32 node, u32 port) const { return now_ >= break_cycle_ && broken_.contains({node, port}); }
  bool is_dead(u32 node) const { return std::find(dead_.begin(), dead_.end(), node) != dead_.end(); }

  /// Changes registers at breaks during a run: from the break on, nodes ignore the channels of a broken link, and later
  /// they load new tables.
  void change_registers() {
    if (broken_.empty() || break_cycle_ == 0) return;
    for (u32 n = 0; n < nodes() && now_ == break_cycle_; ++n) {
      for (u32 direction = 0; direction < kPe; ++direction)
        if (broken_.contains({n, direction})) registers_[n].chan[direction] |= t3e::kIgnoreNormal | t3e::kIgnoreSpecial;
      if (is_dead(n)) registers_[n].chan[kPe] = registers_[n].chan[kIo] = t3e::kIgnoreNormal;
    }
    for (u32 n = 0; n < nodes() && now_ == reroute_cycle_; ++n) {
      const t3e::Registers& loaded = later_.registers[n];
      if (!is_dead(n)) registers_[n].lwho = loaded.lwho;
      for (u32 direction = 0; direction < kPe; ++direction) {
        registers_[n].vcsel[direction] = loaded.vcsel[direction];
        registers_[n].chan[direction] |= loaded.chan[direction];
      }
      for (u32 entry = 0; entry < later_.entries; ++entry)
        tags_[n].at(entry) = later_.lut[std::size_t{n} * later_.entries + entry];
    }
  }

  // Routing.
  static constexpr u32 kMinusZ = 5;
  static u32 opposite(u32 direction) { return (direction + 3) % 6; }
  static u32 dimension(u32 direction) { return direction % 3; }
  /// Returns the port of a direction, or the direction of a port, by the node's R_ORIENT.
  u32 oriented(u32 node, u32 direction) const {
    const bool turned = direction < kPe && (registers_[node].turned >> dimension(direction) & 1);
    return turned ? opposite(direction) : direction;
  }
  u32 ordinate(u32 node, u32 d) const { return registers_[node].pwho >> 8 * d & 0xFF; }
  bool exists(u32 node, u32 port) const { return topology_.peer(node, port).item != kNone; }
  bool is_set(u32 node, u32 channel, u32 bit) const { return registers_[node].chan[channel] & bit; }

  /// Sets the routing tag of a packet, which the source's router looks up.
  void address(NaivePacket& p, u32 source, u32 destination) const {
    const u32 node = node_of(source), mode = registers_[node].lut_mode;
    p.logical = registers_[node_of(destination)].lwho;
    const u32 entry = mode == 0 ? p.logical : p.logical / 4;
    const u32 tag = mode == 3 ? registers_[node].override_tag : entry < tags_[node].size() ? tags_[node][entry] : 0;
    const auto field = [&](u32 first, u32 bits) { return tag >> first & ((1u << bits) - 1); };
    p.to = {field(0, 3), field(4, 5), field(10, 4)};
    if (mode == 1 || mode == 2) {
      const u32 low = p.logical % 2, high = p.logical / 2 % 2;
      p.to[0] = p.to[0] / 2 * 2 + (mode == 1 ? low : high);
      p.to[1] = p.to[1] / 2 * 2 + (mode == 1 ? high : low);
    }
    p.minus = {field(3, 1) == 1, field(9, 1) == 1, field(14, 1) == 1};
    p.adaptive = field(18, 1) && !(ordered_requests_ && p.message_class == 0);
    if (!p.adaptive && field(15, 2) != 3) p.initial_hop = field(15, 2);
    p.final_hop = !p.adaptive && field(17, 1);
    p.port = port_of(destination);
  }

  /// Returns the directions in which a packet still has to go.
  std::set<u32> directions(u32 node, const NaivePacket& p) const {
    std::set<u32> left;
    for (u32 d = 0; d < 3; ++d)
      if (ordinate(node, d) != p.to[d]) left.insert(p.minus[d] ? d + 3 : d);
    return left;
  }

  bool selects_one(u32 node, u32 direction, u32 to) const {
    if (!full_select_.empty()) return full_select_[node][direction] >> to & 1;
    return registers_[node].vcsel[direction] >> to % 8 & 1;
  }

  /// Returns the outputs of a packet that has arrived by a channel. The packet is stopped if its next link does not
  /// exist, or if it arrived over a broken link.
  Choice choose(u32 node, const NaivePacket& p, Channel in) const {
    Choice choice = choose_way(node, p, in);
    if (!exists(node, choice.fixed.port) || is_broken(node, in.port)) choice.stopped = true;
    return choice;
  }

  Choice choose_way(u32 node, const NaivePacket& p, Channel in) const {
    const std::set<u32> left = directions(node, p);
    const bool on_set = in.vc < kSets, from_link = in.port < kPe;
    const u32 set = in.vc % 2, first = 2 * p.message_class, came_by = oriented(node, in.port);
    if (!p.initial_hop && left.empty() && !p.final_hop)
      return {{p.port, first + (on_set && from_link ? set : 0)}, {}, false};
    if (on_set && is_set(node, came_by, t3e::kIgnoreNormal)) return {{}, {}, true};
    const u32 direction = p.initial_hop ? *p.initial_hop : left.empty() ? kMinusZ : *left.begin();
    Choice choice{{oriented(node, direction), first}, {}, false};
    if (on_set && from_link && direction == opposite(came_by)) {
      const bool dateline = registers_[node].vcsel[direction] & t3e::kDateline;
      if (dateline && set == 1) choice.stopped = true;
      choice.fixed.vc += dateline ? 1 : set;
    } else {
      choice.fixed.vc += selects_one(node, direction, p.to[dimension(direction)]);
    }
    if (!p.adaptive || left.empty()) return choice;
    for (u32 d : any_direction_ ? left : std::set<u32>{*left.rbegin()})
      if (!is_set(node, d, t3e::kNoAdapt)) choice.adaptive.insert(oriented(node, d));
    return choice;
  }

  /// Updates a packet after a hop.
  void hop(NaivePacket& p, u32 from, u32 to) const {
    ++p.hops;
    if (p.initial_hop) {
      p.initial_hop.reset();
    } else if (p.final_hop && directions(from, p).empty()) {
      p.final_hop = false;
      for (u32 d = 0; d < 3; ++d) p.to[d] = ordinate(to, d);
    }
  }

  // The inbox of a cycle: a port gets at most one flit and one credit.
  struct ArrivingFlit {
    u32 vc;
    Flit flit;
  };
  struct Inbox {
    std::map<Place, ArrivingFlit> flits;
    std::map<Place, u32> credits;          // virtual channel of the credit, by port
    std::map<u32, ArrivingFlit> pe_flits;  // by terminal
    std::map<u32, u32> pe_credits;
  };

  void send_to_router(Cycle at, u32 node, u32 port, u32 vc, const Flit& flit) {
    EXPECT_TRUE(inbox_[at].flits.try_emplace(Place{node, port}, ArrivingFlit{vc, flit}).second);
  }
  void credit_to_router(Cycle at, u32 node, u32 port, u32 vc) {
    EXPECT_TRUE(inbox_[at].credits.try_emplace(Place{node, port}, vc).second);
  }
  /// Sends a flit from a router by a port to a buffer of virtual channel `vc`.
  void send_by(u32 node, u32 port, u32 vc, const Flit& flit) {
    const Peer& peer = topology_.peer(node, port);
    if (port >= kPe)
      EXPECT_TRUE(inbox_[now_ + to_pe_].pe_flits.try_emplace(peer.item, ArrivingFlit{vc, flit}).second);
    else
      send_to_router(now_ + link_delay_, peer.item, peer.port, vc, flit);
  }
  /// Sends a credit to the sender at the far end of an input port.
  void credit_by(u32 node, u32 port, u32 vc) {
    const Peer& peer = topology_.peer(node, port);
    if (port >= kPe)
      EXPECT_TRUE(inbox_[now_ + credit_delay_].pe_credits.try_emplace(peer.item, vc).second);
    else
      credit_to_router(now_ + credit_delay_, peer.item, peer.port, vc);
  }

  const Topology& topology_;
  const t3e::Tables& later_;  // tables that are loaded after a break
  std::set<Place> broken_;
  std::vector<u32> dead_;
  Cycle break_cycle_ = 0, reroute_cycle_ = 0;
  std::vector<u32> io_nodes_;
  u32 adaptive_vcs_;
  bool any_direction_, ordered_requests_;
  u32 set_flits_, adaptive_flits_;
  u32 link_delay_, wait_, from_pe_, to_pe_, credit_delay_;
  std::vector<t3e::Registers> registers_;
  std::vector<std::vector<t3e::Tag>> tags_;
  std::vector<std::array<u32, 6>> full_select_;
  Cycle now_ = 0;
  std::map<Cycle, Inbox> inbox_;
  std::vector<Happening> happened_;
};

}  // namespace flitlab::testing::t3e_naive
