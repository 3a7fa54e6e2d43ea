#include "host/routers/t3e/paths.hpp"

#include <algorithm>

#include "kernels/common/error.hpp"

namespace flitlab::t3e {
namespace {

/// The members of a view that the routing function reads (`v.t` in kernels/routers/t3e/route.hpp).
struct RoutingView {
  struct {
    u8 any_direction;
    const u32* full_select;
  } t;
};

constexpr u32 kAdaptiveVc = kDeterministicVcs;
constexpr u32 kKinds = 3;   // kinds of virtual channels: VC set 0, VC set 1, adaptive
constexpr u32 kBits = 128;  // number of values of Packet::route_bits

/// Mark in `seen_` of a location whose paths are still being followed. Any other mark is a Fate.
constexpr u32 kOpen = 3;

}  // namespace

Paths::Paths(const Shape& shape, const Tables& tables, const std::vector<u8>& broken, bool any_direction)
    : tables_(tables), broken_(broken), any_direction_(any_direction), graph_(shape.nodes() * kPorts * 2) {
  for (u32 n = 0; n < shape.nodes(); ++n) node_[tables.registers[n].pwho] = n;
  for (u32 n = 0; n < shape.nodes(); ++n)
    for (u32 direction = 0; direction < kDirections; ++direction) next_.push_back(shape.neighbour(n, direction));
  seen_.resize(std::size_t{shape.nodes()} * kPorts * kKinds * kBits, 0);
  entered_.resize(std::size_t{shape.nodes()} * kDirections, 0);
  hopped_ = entered_;
}

bool Paths::works(u32 node, u32 direction) const {
  return next_[node * kDirections + direction] != kNone && !(broken_[node] >> direction & 1);
}

Tag Paths::tag(u32 from, u32 logical) const {
  return look_up(tables_.registers[from], logical, [&](u32 entry) {
    return entry < tables_.entries ? tables_.lut[std::size_t{from} * tables_.entries + entry] : 0;
  });
}

Choice Paths::choice_at(const Location& location) const {
  const RoutingView v{{any_direction_, tables_.full_select.empty() ? nullptr : tables_.full_select.data()}};
  return choose(v, tables_.registers[location.node], location.node, location.packet, location.port, location.vc);
}

Paths::Location Paths::enter(const Location& from, u32 direction, u32 vc) const {
  Location next = from;
  next.node = next_[from.node * kDirections + direction];
  next.port = static_cast<u8>(opposite(direction));
  next.vc = static_cast<u8>(vc);
  take_hop(next.packet, tables_.registers[from.node].pwho, tables_.registers[next.node].pwho);
  return next;
}

u32 Paths::hops(u32 from, u32 to, Tag tag) const {
  Location location{from, kNodePort, 0, {}};
  location.packet.dst_port = kNodePort;
  apply_tag(location.packet, tag, false);
  for (u32 hops = 0; hops < 128; ++hops) {
    const Choice choice = choice_at(location);
    if (choice.stopped) return kNone;
    if (choice.port == kNodePort) return location.node == to ? hops : kNone;
    if (!works(location.node, choice.port)) return kNone;
    location = enter(location, choice.port, choice.vc);
  }
  return kNone;
}

Fate Paths::end(u32 from, u32 to, Tag tag) {
  Location location{from, kNodePort, 0, {}};
  location.packet.dst_port = kNodePort;
  apply_tag(location.packet, tag, tag_adapt(tag));
  if (location.packet.dst != target_) {
    target_ = location.packet.dst;
    ++round_;
  }
  const auto found = node_.find(target_);
  const u32 last = found == node_.end() ? kNone : found->second;
  const bool final = location.packet.route_bits & kFinalBit;
  if (last == kNone || (final ? next_[last * kDirections + kMinusZ] : last) != to) return Fate::kLost;
  return follow(location);
}

Fate Paths::follow(const Location& location) {
  const Packet& packet = location.packet;
  if (packet.dst != target_) return Fate::kArrives;  // the final hop has taken the packet to its destination
  const u32 kind = location.vc >= kDeterministicVcs ? 2 : location.vc;
  u32& seen =
      seen_[((std::size_t{location.node} * kPorts + location.port) * kKinds + kind) * kBits + packet.route_bits];
  if (seen >> 2 == round_) return (seen & 3) == kOpen ? Fate::kLost : static_cast<Fate>(seen & 3);
  seen = round_ << 2 | kOpen;
  Fate worst = Fate::kArrives;
  const auto go = [&](u32 direction, u32 vc) {
    worst = std::max(worst, works(location.node, direction) ? follow(enter(location, direction, vc)) : Fate::kLost);
  };
  const Choice choice = choice_at(location);
  if (choice.stopped) {
    const Registers& r = tables_.registers[location.node];
    worst = r.chan[oriented(r.turned, location.port)] & kIgnoreNormal ? Fate::kLost : Fate::kStopped;
  } else if (choice.port != kNodePort) {
    const u32 leaves = location.node * kDirections + choice.port, next = next_[leaves];
    const u32 to = 1u << ordinate(packet.dst, dimension_of(choice.port));
    if (kind == 2 || location.port == kNodePort || opposite(location.port) != choice.port) entered_[leaves] |= to;
    if ((packet.route_bits & kInitialBits) != kInitialBits) hopped_[leaves] |= to;
    if (kind != 2 && location.port != kNodePort && next != kNone)
      graph_.add((location.node * kPorts + location.port) * 2 + kind,
                 (next * kPorts + opposite(choice.port)) * 2 + choice.vc);
    go(choice.port, choice.vc);
    for (u32 set = choice.adaptive; set; set &= set - 1) go(lowest_bit(set), kAdaptiveVc);
  }
  seen = round_ << 2 | static_cast<u32>(worst);
  return worst;
}

std::string Paths::circle() const {
  static constexpr const char* kNames[] = {"+X", "+Y", "+Z", "-X", "-Y", "-Z"};
  std::string text;
  for (u32 buffer : graph_.cycle())
    text += (text.empty() ? "" : ", ") + std::string("node ") + std::to_string(buffer / 2 / kPorts) + " input " +
            kNames[buffer / 2 % kPorts] + " VC " + std::to_string(buffer % 2);
  return text;
}

PathReport check_paths(const Shape& shape, const Tables& tables, const std::vector<u8>& broken, bool any_direction,
                       const std::vector<bool>& in_service) {
  struct Pair {
    u32 from, to;
    Tag tag;
  };
  std::vector<Pair> arriving;
  Paths paths(shape, tables, broken, any_direction);
  PathReport report;
  for (u32 to = 0; to < shape.nodes(); ++to)
    for (u32 from = 0; from < shape.nodes(); ++from) {
      if (from == to || !in_service[from] || !in_service[to]) continue;
      const Tag tag = paths.tag(from, tables.registers[to].lwho);
      ++report.pairs;
      report.adaptive += tag_adapt(tag);
      report.hopping += !tag_adapt(tag) && (tag_initial(tag) != kNoHop || tag_final(tag));
      const Fate end = paths.end(from, to, tag);
      if (end == Fate::kStopped) report.stopped.emplace_back(from, to);
      if (end == Fate::kLost) report.separated.emplace_back(from, to);
      if (end == Fate::kArrives) arriving.push_back({from, to, tag});
    }
  Paths no_faults(shape, tables, broken, any_direction);  // only packets that arrive take part in the deadlock check
  for (const Pair& pair : arriving) no_faults.end(pair.from, pair.to, pair.tag);
  report.circle = no_faults.circle();
  return report;
}

namespace {

/// Returns whether a packet that leaves a node in a direction passes through the dateline before it reaches an
/// ordinate.
bool passes_dateline(const Shape& shape, const Tables& tables, u32 node, u32 direction, u32 ordinate) {
  const u32 dim = dimension_of(direction);
  for (u32 n = shape.neighbour(node, direction); n != kNone && n != node && shape.at(n, dim) != ordinate;
       n = shape.neighbour(n, direction))
    if (tables.registers[n].vcsel[direction] & kDateline) return true;
  return false;
}

/// Returns the routing tag that an entry gives for one of its PEs. In modes 1 and 2 the lowest bits of X and Y come
/// from the PE's address.
Tag for_pe(const Shape& shape, Tag tag, u32 to) {
  return (tag & ~(1u | 1u << 4)) | (shape.at(to, 0) & 1) | (shape.at(to, 1) & 1) << 4;
}

/// Search for a routing tag by which a node reaches all PEs of a routing-table entry with the fewest hops.
class Detour {
 public:
  Detour(const Shape& shape, const Tables& tables, const Paths& paths, bool hops)
      : shape_(shape), paths_(paths), hops_(hops) {
    for (u32 n = 0; n < shape.nodes(); ++n)
      for (u32 d = 0; d < 3; ++d)
        if (tables.registers[n].vcsel[d] & kDateline) datelines_[d] |= 1u << shape.at(n, d);
  }

  /// Returns the tag with the fewest hops, without ADAPT. If no tag reaches all targets, returns `preferred` without
  /// ADAPT. `targets`: nodes of the PEs that the entry serves.
  Tag find(u32 from, const std::vector<u32>& targets, Tag preferred) {
    best_hops_ = kNone;
    best_ = preferred & ~make_tag(0, 0, 0, false, true);
    const u32 address = tag_address(preferred), signs = tag_signs(preferred);
    try_tag(from, targets, make_tag(address, signs, kNoHop, false, false));
    if (best_hops_ <= least_hops(from, targets)) return best_;
    for (u32 flip = 1; flip < 8; ++flip) try_tag(from, targets, make_tag(address, signs ^ flip, kNoHop, false, false));
    if (best_hops_ != kNone || !hops_) return best_;
    for (u32 initial = 0; initial < 3; ++initial) {
      if (!may_hop(from, initial)) continue;
      for (u32 flip = 0; flip < 8; ++flip)
        try_tag(from, targets, make_tag(address, signs ^ flip, initial, false, false));
    }
    if (best_hops_ != kNone) return best_;
    const u32 above = shape_.neighbour(targets.front(), 2);
    if (above == kNone) return best_;
    const u32 plane = (address & 0xFFFF) | shape_.at(above, 2) << 16;
    for (u32 initial = 0; initial <= kNoHop; ++initial) {
      if (initial != kNoHop && !may_hop(from, initial)) continue;
      for (u32 flip = 0; flip < 8; ++flip) try_tag(from, targets, make_tag(plane, signs ^ flip, initial, true, false));
    }
    return best_;
  }

  bool found() const { return best_hops_ != kNone; }

 private:
  /// Returns whether an initial hop may be made in a direction. The hop must not lead to the dateline (manual, Dateline
  /// Physical Node), nor to any ordinate at which another ring has its dateline: with partial planes the rings'
  /// datelines have different ordinates, and packets pass from ring to ring.
  bool may_hop(u32 from, u32 direction) const {
    const u32 next = shape_.neighbour(from, direction);
    return next != kNone && !(datelines_[direction] >> shape_.at(next, direction) & 1);
  }

  /// Returns a lower bound on the hops to all targets; 0 with partial planes, where lines have different lengths.
  u32 least_hops(u32 from, const std::vector<u32>& targets) const {
    u32 hops = 0;
    for (u32 to : targets)
      for (u32 d = 0; d < 3 && shape_.full(); ++d) {
        const u32 a = shape_.at(from, d), b = shape_.at(to, d), direct = a < b ? b - a : a - b;
        hops += shape_.ring(d) ? std::min(direct, shape_.radix(d) - direct) : direct;
      }
    return hops;
  }

  void try_tag(u32 from, const std::vector<u32>& targets, Tag tag) {
    u32 hops = 0;
    for (u32 to : targets) {
      if (to == from) continue;
      const u32 one = paths_.hops(from, to, for_pe(shape_, tag, to));
      if (one == kNone) return;
      hops += one;
    }
    if (hops >= best_hops_) return;
    best_hops_ = hops;
    best_ = tag;
  }

  const Shape& shape_;
  const Paths& paths_;
  bool hops_;
  u32 datelines_[3] = {};  ///< [dimension] ordinates at which a ring has its dateline for the + direction (bits)
  u32 best_hops_ = kNone;
  Tag best_ = 0;
};

}  // namespace

void route_around(const Shape& shape, Tables& tables, const TableOptions& options, bool any_direction,
                  const std::vector<bool>& in_service, bool hops) {
  const u32 nodes = shape.nodes();
  std::vector<u16> searched;  // SELECT bits from the search; they are cleared now and restored when the paths are known
  for (Registers& r : tables.registers)
    for (u16& select : r.vcsel) {
      searched.push_back(select & 0xFF);
      select &= kDateline;
    }
  const std::vector<u32> searched_full = tables.full_select;
  std::fill(tables.full_select.begin(), tables.full_select.end(), 0);

  std::vector<std::vector<u32>> targets(tables.entries);
  for (u32 n = 0; n < nodes; ++n)
    if (in_service[n]) targets[options.lut_mode ? options.logical[n] >> 2 : options.logical[n]].push_back(n);
  Paths paths(shape, tables, options.broken, any_direction);
  Detour detour(shape, tables, paths, hops);
  for (u32 entry = 0; entry < tables.entries; ++entry) {
    if (targets[entry].empty()) continue;
    const auto tag_of = [&](u32 from) -> Tag& { return tables.lut[std::size_t{from} * tables.entries + entry]; };
    std::vector<bool> safe(nodes, false);  // whether the adaptive packets from each node arrive on all their paths
    for (u32 from = 0; from < nodes; ++from) {
      if (!in_service[from]) continue;
      Tag& tag = tag_of(from);
      tag = detour.find(from, targets[entry], tag);
      safe[from] = options.adaptive && detour.found() && tag_initial(tag) == kNoHop && !tag_final(tag);
    }
    constexpr Tag kAdapt = make_tag(0, 0, 0, false, true);
    // Destinations in the outer loop, because `paths` keeps the results for one destination at a time.
    for (u32 to : targets[entry])
      for (u32 from = 0; from < nodes; ++from)
        if (safe[from] && from != to)
          safe[from] = paths.end(from, to, for_pe(shape, tag_of(from) | kAdapt, to)) == Fate::kArrives;
    for (u32 from = 0; from < nodes; ++from)
      if (safe[from]) tag_of(from) |= kAdapt;
  }

  Paths used(shape, tables, options.broken, any_direction);
  for (u32 to = 0; to < nodes; ++to)
    for (u32 from = 0; from < nodes; ++from)
      if (from != to && in_service[from] && in_service[to])
        used.end(from, to, used.tag(from, tables.registers[to].lwho));
  for (u32 n = 0; n < nodes; ++n)
    for (u32 direction = 0; direction < kDirections; ++direction) {
      const u32 location = n * kDirections + direction;
      u32 bits = searched[location], full = searched_full.empty() ? 0 : searched_full[location];
      for (u32 set = used.entered(n, direction); set; set &= set - 1) {
        const u32 to = lowest_bit(set);
        if (!(used.hopped(n, direction) >> to & 1) && !passes_dateline(shape, tables, n, direction, to)) continue;
        bits &= ~(1u << to % 8);
        full &= ~(1u << to);
      }
      tables.registers[n].vcsel[direction] |= static_cast<u16>(bits);
      if (!searched_full.empty()) tables.full_select[location] = full;
    }
}

}  // namespace flitlab::t3e
