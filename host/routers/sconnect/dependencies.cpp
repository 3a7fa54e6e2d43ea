#include "host/routers/sconnect/dependencies.hpp"

#include <algorithm>

#include "host/routers/sconnect/order.hpp"
#include "host/routers/sconnect/tables.hpp"
#include "kernels/common/bits.hpp"
#include "kernels/routers/sconnect/route.hpp"

namespace flitlab {

namespace {
constexpr u32 kOptions = 2 * sconnect::kPorts;  ///< bits of a table's entry: one for each port and virtual channel
}

using sconnect::allowed;
using sconnect::kPorts;
using sconnect::Link;
using sconnect::LinkKind;
using sconnect::Options;

SconnectDependencies::SconnectDependencies(const SconnectFabric& fabric, const std::vector<u16>& entry)
    : fabric_(fabric),
      entry_(entry),
      hosts_(sconnect_hosts(fabric)),
      waits_(kOptions * std::size_t{fabric.tics}),
      seen_(2 * std::size_t{fabric.tics}),
      source_(seen_.size()) {
  for (u32 d = 0; d < fabric_.nodes; ++d)
    if (!walk(d)) return;
  const auto far = [&](u32 tic, u32 bit) { return fabric_.link(tic, bit / 2).far; };
  const std::vector<u32> waiting = circle(
      static_cast<u32>(waits_.size()), [&](u32 queue) -> Options { return waits_[queue]; },
      [&](u32 queue, u32 bit) { return kOptions * far(queue / kOptions, queue % kOptions) + bit; });
  // An endless path is a cyclic dependency too, but the message about the path is more specific.
  const u32 last = waiting.empty() ? 0 : fabric_.nodes;
  for (u32 d = 0; d < last; ++d) {
    walk(d);
    const std::vector<u32> endless = circle(
        static_cast<u32>(seen_.size()),
        [&](u32 vertex) -> Options {
          if (seen_[vertex] != d + 1) return 0;
          return allowed(entry_[std::size_t{vertex / 2} * fabric_.nodes + d], vertex & 1) & to_tics(vertex / 2);
        },
        [&](u32 vertex, u32 bit) { return 2 * far(vertex / 2, bit) + bit % 2; });
    if (endless.empty()) continue;
    fault_ = "messages to node " + node_name(d) + " may circulate endlessly: " + shown(endless, 2) + ".";
    return;
  }
  if (!waiting.empty())
    fault_ = "messages can deadlock in a cycle of TICs (virtual channel): " + shown(waiting, kOptions) + ".";
}

bool SconnectDependencies::walk(u32 d) {
  const auto visit = [&](u32 vertex, u32 source) {
    if (seen_[vertex] == d + 1) return;
    seen_[vertex] = d + 1;
    source_[vertex] = source;
    stack_.push_back(vertex);
  };
  stack_.clear();
  for (u32 s = 0; s < fabric_.nodes; ++s)
    for (u32 tic : hosts_[s]) visit(2 * tic, s);
  while (!stack_.empty()) {
    const u32 vertex = stack_.back(), tic = vertex / 2;
    stack_.pop_back();
    const Options options = allowed(entry_[std::size_t{tic} * fabric_.nodes + d], vertex & 1);
    const auto wrong = [&](const std::string& what) {
      fault_ = "messages from node " + node_name(source_[vertex]) + " to node " + node_name(d) +
               (tic == hosts_[source_[vertex]][0] ? ""
                                                  : ", after reaching TIC " + fabric_.names[tic] +
                                                        " on virtual channel " + std::to_string(vertex & 1) + ",") +
               " " + what;
      return false;
    };
    if (!options) return wrong("have no option to continue.");
    if (!fabric_.mixed_entries && sconnect::is_mixed(entry_[std::size_t{tic} * fabric_.nodes + d]))
      return wrong("find an entry that mixes serial and parallel ports.");
    for (Options left = options; left; left &= left - 1) {
      const u32 bit = lowest_bit(left), port = bit / 2;
      const Link none, &l = port < kPorts ? fabric_.link(tic, port) : none;
      if (leads_to_tic(l) && bit % 2 < fabric_.vcs(tic, port)) {
        const Options there = allowed(entry_[std::size_t{l.far} * fabric_.nodes + d], bit % 2);
        waits_[kOptions * tic + bit] |= static_cast<u16>(there & to_tics(l.far));
        visit(2 * l.far + bit % 2, source_[vertex]);
      } else if (l.kind != LinkKind::kHost || bit % 2) {
        return wrong("may take port " + std::to_string(port) +
                     (l.kind == LinkKind::kHost       ? " on virtual channel 1, which hosts do not have."
                      : l.kind == LinkKind::kParallel ? " on virtual channel 1, which parallel ports do not have."
                                                      : ", which is unconnected."));
      } else if (fabric_.node_of[tic] != d) {
        return wrong("may be delivered to the host of node " + node_name(fabric_.node_of[tic]) + ".");
      }
    }
  }
  return true;
}

u32 SconnectDependencies::to_tics(u32 tic) const {
  Options options = 0;
  for (u32 port = 0; port < kPorts; ++port)
    if (leads_to_tic(fabric_.link(tic, port))) options |= 3u << 2 * port;
  return options;
}

template <class BitsOf, class Next>
std::vector<u32> SconnectDependencies::circle(u32 vertices, BitsOf bits_of, Next next_of) {
  enum : u8 { kNew, kOpen, kDone };
  std::vector<u8> state(vertices, kNew);
  // Vertices on the current path of the traversal, each with its edges that are not yet followed.
  std::vector<std::pair<u32, Options>> way;
  order_.clear();
  for (u32 begin = 0; begin < vertices; ++begin) {
    if (state[begin] != kNew) continue;
    state[begin] = kOpen;
    way.assign(1, {begin, bits_of(begin)});
    while (!way.empty()) {
      auto& [vertex, left] = way.back();
      if (!left) {
        state[vertex] = kDone;
        order_.push_back(vertex);
        way.pop_back();
        continue;
      }
      const u32 next = next_of(vertex, lowest_bit(left));
      left &= left - 1;
      if (state[next] == kOpen) {
        std::vector<u32> found;
        for (auto at = std::find_if(way.begin(), way.end(), [&](const auto& w) { return w.first == next; });
             at != way.end(); ++at)
          found.push_back(at->first);
        found.push_back(next);
        return found;
      }
      if (state[next] != kNew) continue;
      state[next] = kOpen;
      way.emplace_back(next, bits_of(next));
    }
  }
  return {};
}

std::vector<u32> SconnectDependencies::shortest(u32 d) const {
  std::vector<u32> from_queue(waits_.size(), kNone), hops(seen_.size());
  const auto from_vertex = [&](u32 vertex) {
    u32 least = kNone;
    for (Options left = allowed(entry_[std::size_t{vertex / 2} * fabric_.nodes + d], vertex & 1); left;
         left &= left - 1) {
      const u32 bit = lowest_bit(left);
      if (fabric_.link(vertex / 2, bit / 2).kind == LinkKind::kHost) return 0u;
      if (const u32 on = from_queue[kOptions * (vertex / 2) + bit]; on != kNone) least = std::min(least, on);
    }
    return least;
  };
  for (u32 queue : order_) {
    const u32 bit = queue % kOptions;
    const Link& l = fabric_.link(queue / kOptions, bit / 2);
    if (!leads_to_tic(l)) continue;
    const u32 there = from_vertex(2 * l.far + bit % 2);
    if (there != kNone) from_queue[queue] = there + 1;
  }
  for (u32 vertex = 0; vertex < hops.size(); ++vertex) hops[vertex] = from_vertex(vertex);
  return hops;
}

std::string SconnectDependencies::shown(const std::vector<u32>& vertices, u32 per_tic) const {
  constexpr u32 kMost = 12;  // most vertices that the text names; a cycle may go through a whole large fabric
  const u32 count = static_cast<u32>(vertices.size());
  std::string text;
  for (u32 i = 0; i < count; ++i) {
    if (count > kMost && i == kMost - 1) {
      text += " -> (" + std::to_string(count - kMost) + " more)";
      i = count - 1;
    }
    text += (text.empty() ? "" : " -> ") + fabric_.names[vertices[i] / per_tic] + " (" +
            std::to_string(vertices[i] & 1) + ")";
  }
  return text;
}

std::string SconnectDependencies::node_name(u32 node) const {
  const std::string number = std::to_string(node), &tic = fabric_.names[hosts_[node][0]];
  return tic == number ? number : number + " (TIC " + tic + ")";
}

std::string sconnect_table_fault(const SconnectFabric& fabric, const std::vector<u16>& entry) {
  return SconnectDependencies(fabric, entry).fault();
}

}  // namespace flitlab
