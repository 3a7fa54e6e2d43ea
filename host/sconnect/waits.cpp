#include "host/sconnect/waits.hpp"

#include <algorithm>

#include "host/sconnect/order.hpp"
#include "host/sconnect/tables.hpp"
#include "kernels/common/bits.hpp"
#include "kernels/routers/sconnect/route.hpp"

namespace flitlab {

using sconnect::allowed;
using sconnect::kPorts;
using sconnect::Link;
using sconnect::LinkKind;
using sconnect::Options;

SconnectWaits::SconnectWaits(const SconnectFabric& fabric, const std::vector<u16>& entry)
    : fabric_(fabric),
      entry_(entry),
      hosts_(sconnect_hosts(fabric)),
      waits_(2 * std::size_t{fabric.tics}),
      seen_(waits_.size()),
      source_(waits_.size()) {
  for (u32 d = 0; d < fabric_.nodes; ++d)
    if (!walk(d)) return;
  const std::vector<u32> waiting = circle([&](u32 place) -> Options { return waits_[place]; });
  if (waiting.empty()) return;
  // A way that never ends is a circle as well, and says more.
  for (u32 d = 0; d < fabric_.nodes; ++d) {
    walk(d);
    const std::vector<u32> endless = circle([&](u32 place) -> Options {
      return seen_[place] == d + 1 ? allowed(entry_[std::size_t{place / 2} * fabric_.nodes + d], place & 1) : 0;
    });
    if (endless.empty()) continue;
    fault_ = "messages to node " + node_name(d) + " may go round for ever: " + shown(endless) + ".";
    return;
  }
  fault_ = "messages can wait for one another in a circle of TICs (virtual channel): " + shown(waiting) + ".";
}

bool SconnectWaits::walk(u32 d) {
  const auto visit = [&](u32 place, u32 source) {
    if (seen_[place] == d + 1) return;
    seen_[place] = d + 1;
    source_[place] = source;
    stack_.push_back(place);
  };
  stack_.clear();
  for (u32 s = 0; s < fabric_.nodes; ++s)
    for (u32 tic : hosts_[s]) visit(2 * tic, s);
  while (!stack_.empty()) {
    const u32 place = stack_.back(), tic = place / 2;
    stack_.pop_back();
    const Options options = allowed(entry_[std::size_t{tic} * fabric_.nodes + d], place & 1);
    const auto wrong = [&](const std::string& what) {
      fault_ = "messages from node " + node_name(source_[place]) + " to node " + node_name(d) +
               (tic == hosts_[source_[place]][0] ? ""
                                                 : ", having come to TIC " + fabric_.names[tic] +
                                                       " on virtual channel " + std::to_string(place & 1) + ",") +
               " " + what;
      return false;
    };
    if (!options) return wrong("have no way on.");
    for (Options left = options; left; left &= left - 1) {
      const u32 bit = lowest_bit(left), port = bit / 2;
      const Link none, &l = port < kPorts ? fabric_.link(tic, port) : none;
      if (leads_to_tic(l)) {
        waits_[place] |= static_cast<u16>(1u << bit);
        visit(2 * l.far + bit % 2, source_[place]);
      } else if (l.kind != LinkKind::kHost || bit % 2) {
        return wrong(
            "may take port " + std::to_string(port) +
            (l.kind == LinkKind::kHost ? " on virtual channel 1, which hosts do not have." : ", which leads nowhere."));
      } else if (fabric_.node_of[tic] != d) {
        return wrong("may be taken by the host of node " + node_name(fabric_.node_of[tic]) + ".");
      }
    }
  }
  return true;
}

template <class OptionsOf>
std::vector<u32> SconnectWaits::circle(OptionsOf options_of) {
  enum : u8 { kNew, kOpen, kDone };
  std::vector<u8> state(waits_.size(), kNew);
  std::vector<std::pair<u32, Options>> way;  // places being looked at, and options not yet followed
  order_.clear();
  for (u32 begin = 0; begin < waits_.size(); ++begin) {
    if (state[begin] != kNew) continue;
    state[begin] = kOpen;
    way.assign(1, {begin, options_of(begin)});
    while (!way.empty()) {
      auto& [place, left] = way.back();
      if (!left) {
        state[place] = kDone;
        order_.push_back(place);
        way.pop_back();
        continue;
      }
      const u32 bit = lowest_bit(left);
      left &= left - 1;
      const Link& l = fabric_.link(place / 2, bit / 2);
      if (!leads_to_tic(l)) continue;
      const u32 next = 2 * l.far + bit % 2;
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
      way.emplace_back(next, options_of(next));
    }
  }
  return {};
}

std::vector<u32> SconnectWaits::shortest(u32 d) const {
  std::vector<u32> hops(waits_.size(), kNone);
  for (u32 place : order_) {
    for (Options left = allowed(entry_[std::size_t{place / 2} * fabric_.nodes + d], place & 1); left;
         left &= left - 1) {
      const u32 bit = lowest_bit(left);
      const Link& l = fabric_.link(place / 2, bit / 2);
      if (l.kind == LinkKind::kHost)
        hops[place] = 0;
      else if (leads_to_tic(l) && hops[2 * l.far + bit % 2] != kNone)
        hops[place] = std::min(hops[place], hops[2 * l.far + bit % 2] + 1);
    }
  }
  return hops;
}

std::string SconnectWaits::shown(const std::vector<u32>& places) const {
  constexpr u32 kMost = 12;  // a circle may go through all of a large fabric
  const u32 count = static_cast<u32>(places.size());
  std::string text;
  for (u32 i = 0; i < count; ++i) {
    if (count > kMost && i == kMost - 1) {
      text += " -> (" + std::to_string(count - kMost) + " more)";
      i = count - 1;
    }
    text += (text.empty() ? "" : " -> ") + fabric_.names[places[i] / 2] + " (" + std::to_string(places[i] & 1) + ")";
  }
  return text;
}

std::string SconnectWaits::node_name(u32 node) const {
  const std::string number = std::to_string(node), &tic = fabric_.names[hosts_[node][0]];
  return tic == number ? number : number + " (TIC " + tic + ")";
}

std::string sconnect_table_fault(const SconnectFabric& fabric, const std::vector<u16>& entry) {
  return SconnectWaits(fabric, entry).fault();
}

}  // namespace flitlab
