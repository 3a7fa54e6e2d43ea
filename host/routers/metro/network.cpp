#include "host/routers/metro/network.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "host/config/cross_checks.hpp"
#include "kernels/common/bits.hpp"
#include "kernels/common/error.hpp"
#include "kernels/common/philox.hpp"
#include "kernels/routers/metro/params.hpp"
#include "kernels/routers/metro/streams.hpp"

namespace flitlab {

using metro::RouterSetup;
using metro::Wire;

u32 MetroNetwork::add_router(const RouterSetup& router, std::string name) {
  setup.push_back(router);
  wires.resize(wires.size() + ports());
  names.push_back(std::move(name));
  return routers() - 1;
}

void MetroNetwork::join(u32 router, u32 backward, u32 to, u32 forward, u32 delay) {
  const u8 d = static_cast<u8>(delay);
  wire(router, inputs + backward) = Wire{to, static_cast<u8>(forward), 0, d, 0};
  wire(to, forward) = Wire{router, static_cast<u8>(inputs + backward), 0, d, 0};
}

void MetroNetwork::join_entry(u32 terminal, u32 link, u32 to, u32 forward, u32 delay) {
  const u8 d = static_cast<u8>(delay);
  endpoint_wires[terminal * 2 * links + link] = Wire{to, static_cast<u8>(forward), 0, d, 0};
  wire(to, forward) = Wire{terminal, static_cast<u8>(link), 1, d, 0};
}

void MetroNetwork::join_exit(u32 router, u32 backward, u32 terminal, u32 link, u32 delay) {
  const u8 d = static_cast<u8>(delay);
  endpoint_wires[(2 * terminal + 1) * links + link] = Wire{router, static_cast<u8>(inputs + backward), 0, d, 0};
  wire(router, inputs + backward) = Wire{terminal, static_cast<u8>(links + link), 1, d, 0};
}

std::string MetroNetwork::backward_name(u32 router, u32 backward) const {
  const u32 dilation = 1u << setup[router].log_dilation;
  return names[router] + ".out" + std::to_string(backward / dilation) + "." + std::to_string(backward % dilation);
}

namespace {

/// Returns the numbers 0 to n - 1 in random order.
std::vector<u32> random_order(u32 n, u64 seed, u32 item) {
  std::vector<u32> order(n);
  std::iota(order.begin(), order.end(), 0);
  for (u32 i = n; i > 1; --i)
    std::swap(order[i - 1], order[below(philox(seed, metro::stream::kWiring, item, i).word[0], i)]);
  return order;
}

u64 product(const std::vector<u32>& list) {
  u64 p = 1;
  for (u32 x : list) p = std::min<u64>(p * x, u64{1} << 40);
  return p;
}

}  // namespace

std::vector<u32> assign_wires(u32 groups, u32 size, u32 ports, bool random, u64 seed, u32 item) {
  const u32 wires = groups * size, routers = wires / ports;
  std::vector<u32> to(wires);
  if (!random) {
    // The wires are dealt in turn: the first wire of every group, then the second wire of every group, and so on. So
    // the wires of a group are as far apart as possible.
    for (u32 g = 0; g < groups; ++g)
      for (u32 k = 0; k < size; ++k) to[g * size + k] = k * groups + g;
    return to;
  }
  to = random_order(wires, seed, item);
  if (routers < size) return to;
  const auto clashes = [&](u32 w) {
    for (u32 other = w / size * size; other < w / size * size + size; ++other)
      if (other != w && to[other] / ports == to[w] / ports) return true;
    return false;
  };
  // If two wires of a group lead to the same router, one of them is exchanged with a random wire. This repeats until no
  // two wires of a group lead to the same router, or for 1000 tries.
  for (u32 w = 0, draw = 0; w < wires; ++w) {
    for (u32 tries = 0; clashes(w) && tries < 1000; ++tries) {
      const u32 other = below(philox(seed, metro::stream::kWiring, item | 1u << 31, draw++).word[0], wires);
      const bool was_good = !clashes(other);
      std::swap(to[w], to[other]);
      if (clashes(w) || (was_good && clashes(other))) std::swap(to[w], to[other]);
    }
  }
  return to;
}

u32 metro_endpoints(const Experiment& e) {
  u64 n = 1;
  if (e.has(metro::param::topology.radix))
    n = product(e.ints(metro::param::topology.radix));
  else
    for (u32 l = 0; l < e.u32_of(metro::param::topology.levels); ++l) n *= e.u32_of(metro::param::topology.arity);
  constexpr u64 kMost = 16384;
  if (n > kMost)
    throw ConfigError(std::string(e.has(metro::param::topology.radix) ? "topology.radix" : "topology.levels") +
                      " makes " + std::to_string(n) + " endpoints; at most " + std::to_string(kMost) +
                      " are possible. Remove a stage.");
  return static_cast<u32>(n);
}

MetroNetwork make_multibutterfly(const Experiment& e) {
  const std::vector<u32> radix = e.ints(metro::param::topology.radix),
                         dilation = e.ints(metro::param::topology.dilation);
  const bool random = e.is({metro::param::topology.wiring, "random"});
  const u64 seed = random ? e.u32_of(metro::param::topology.wiring_seed) : 0;
  const u32 delay = e.u32_of(metro::param::topology.wire_delay), entry = e.u32_of(metro::param::topology.entry_delay);
  MetroNetwork n;
  n.levelled = true;
  n.terminals = metro_endpoints(e);
  n.links = e.u32_of(metro::param::topology.links);
  n.stages = static_cast<u32>(radix.size());
  n.endpoint_wires.resize(std::size_t{n.terminals} * 2 * n.links);
  for (u32 s = 0; s < n.stages; ++s) n.inputs = n.outputs = std::max(n.outputs, radix[s] * dilation[s]);
  const u32 wires = n.terminals * n.links;
  // Each block of routers leads to one class of destinations. A stage divides each class of the stage before it.
  // Router and backward port of each wire that leaves the last stage so far, block by block.
  std::vector<std::pair<u32, u32>> ends;
  u32 blocks = 1;
  for (u32 s = 0; s < n.stages; ++s) {
    const u32 ports = radix[s] * dilation[s], each = wires / blocks, first = n.routers();
    const RouterSetup setup{static_cast<u8>(ports),
                            static_cast<u8>(ports),
                            static_cast<u8>(log2_floor(radix[s])),
                            static_cast<u8>(log2_floor(dilation[s])),
                            static_cast<u8>(s),
                            0,
                            {},
                            0,
                            0};
    for (u32 r = 0; r < wires / ports; ++r) n.add_router(setup, std::to_string(s) + "." + std::to_string(r));
    for (u32 b = 0; b < blocks; ++b) {
      const u32 group = s == 0 ? n.links : dilation[s - 1];
      const std::vector<u32> to = assign_wires(each / group, group, ports, random, seed, s << 16 | b);
      for (u32 w = 0; w < each; ++w) {
        const u32 router = first + b * (each / ports) + to[w] / ports, port = to[w] % ports;
        if (s == 0)
          n.join_entry(w / n.links, w % n.links, router, port, entry);
        else
          n.join(ends[b * each + w].first, ends[b * each + w].second, router, port, delay);
      }
    }
    ends.clear();
    for (u32 b = 0; b < blocks; ++b)
      for (u32 direction = 0; direction < radix[s]; ++direction)
        for (u32 r = 0; r < each / ports; ++r)
          for (u32 k = 0; k < dilation[s]; ++k)
            ends.emplace_back(first + b * (each / ports) + r, direction * dilation[s] + k);
    blocks *= radix[s];
  }
  for (u32 w = 0; w < wires; ++w) n.join_exit(ends[w].first, ends[w].second, w / n.links, w % n.links, delay);
  return n;
}

namespace {

/// Checks METRO, Table 1: w >= log2 o, d <= max_d <= o, vtd <= max_vtd (width w, outputs o, dilation d, turn delay
/// vtd).
void check_routers(const Experiment& e, MetroNetwork& n) {
  const u32 width = e.u32_of(metro::param::router.width);
  u32 most = 1;
  for (u32 r = 0; r < n.routers(); ++r) {
    const RouterSetup& setup = n.setup[r];
    n.max_dilation = std::max(n.max_dilation, 1u << setup.log_dilation);
    most = std::max<u32>(most, setup.backward);
    if (width < log2_floor(setup.backward))
      throw ConfigError("router.width = " + std::to_string(width) + " bits cannot name one of " +
                        std::to_string(setup.backward) + " backward ports, as router " + n.names[r] +
                        " has: it must be " + std::to_string(log2_floor(setup.backward)) + " or more.");
  }
  if (!e.is_auto(metro::param::router.max_dilation)) {
    const u32 given = e.u32_of(metro::param::router.max_dilation);
    if (given < n.max_dilation)
      throw ConfigError("router.max_dilation = " + std::to_string(given) + ": the network needs routers of dilation " +
                        std::to_string(n.max_dilation) + ". Raise it.");
    if (given > most)
      throw ConfigError("router.max_dilation = " + std::to_string(given) + " is more than the " + std::to_string(most) +
                        " backward ports that the routers have. Lower it.");
    n.max_dilation = given;
  }
  n.max_turn_delay = e.u32_of(metro::param::router.max_turn_delay);
  for (const Wire& wire : n.wires)
    if (wire.item != kNone && wire.delay > n.max_turn_delay)
      throw ConfigError("router.max_turn_delay = " + std::to_string(n.max_turn_delay) + ": the network has a wire of " +
                        std::to_string(wire.delay) +
                        " stages (topology.wire_delay, topology.entry_delay, or in "
                        "topology.file). Raise it, or shorten the wires.");
}

MetroNetwork make_network(const Experiment& e) {
  const std::string& kind = e.str(metro::param::topology.kind);
  if (kind == "multibutterfly") return make_multibutterfly(e);
  if (kind == "fat_tree") return make_fat_tree(e);
  return read_metro_network(e.text(metro::param::topology.file), e.u32_of(metro::param::topology.wire_delay),
                            e.u32_of(metro::param::topology.entry_delay));
}

}  // namespace

MetroNetwork make_metro_network(const Experiment& e) {
  MetroNetwork n = make_network(e);
  check_routers(e, n);
  return n;
}

}  // namespace flitlab
