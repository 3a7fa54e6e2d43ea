#pragma once
/// Networks of METRO routers: which wire joins what, and the headers that lead through them.
#include <string>
#include <vector>

#include "host/config/experiment.hpp"
#include "host/config/text_source.hpp"
#include "kernels/routers/metro/state.hpp"

namespace flitlab {

/// Wide routers, their wires, and those of endpoints. A wire is listed at both of its ends.
struct MetroNetwork {
  u32 terminals = 0, links = 0, inputs = 0, outputs = 0;
  u32 stages = 0;                             ///< routers on the longest way
  u32 max_dilation = 1, max_turn_delay = 15;  ///< that routers can be configured for
  std::vector<metro::RouterSetup> setup;      ///< [routers]
  std::vector<metro::Wire> wires;             ///< [routers][inputs + outputs]
  std::vector<metro::Wire> endpoint_wires;    ///< [terminals][2 links] leaving links, entering ones
  std::vector<std::string> names;             ///< [routers]
  bool levelled = false;                      ///< all ways to a destination ask for the same directions

  u32 routers() const { return static_cast<u32>(setup.size()); }
  u32 ports() const { return inputs + outputs; }
  metro::Wire& wire(u32 router, u32 port) { return wires[std::size_t{router} * ports() + port]; }
  const metro::Wire& wire(u32 router, u32 port) const { return wires[std::size_t{router} * ports() + port]; }
  const metro::Wire& leaving(u32 terminal, u32 link) const { return endpoint_wires[terminal * 2 * links + link]; }
  const metro::Wire& entering(u32 terminal, u32 link) const {
    return endpoint_wires[(2 * terminal + 1) * links + link];
  }

  /// A router with nothing on its ports; `setup` says how many it has, which must not be more than the most.
  u32 add_router(const metro::RouterSetup& router, std::string name);
  /// Joins a backward port, and an endpoint's leaving link, with what it leads to.
  void join(u32 router, u32 backward, u32 to, u32 forward, u32 delay);
  void join_entry(u32 terminal, u32 link, u32 to, u32 forward, u32 delay);
  void join_exit(u32 router, u32 backward, u32 terminal, u32 link, u32 delay);

  /// "3.out1.0": direction and number among its equals of a backward port.
  std::string backward_name(u32 router, u32 backward) const;
};

/// Endpoints of a network that is not read from a file. ConfigError if the parameters make none.
u32 metro_endpoints(const Experiment& experiment);

/// ConfigError if the routers that the network needs are none that the parameters of METRO, Table 1, allow.
MetroNetwork make_metro_network(const Experiment& experiment);

/// The parts of it.
MetroNetwork make_multibutterfly(const Experiment& experiment);
MetroNetwork make_fat_tree(const Experiment& experiment);
/// Throws ConfigError with the line of what is dangling, used twice, or not there.
MetroNetwork read_metro_network(const TextSource& text, u32 delay, u32 entry_delay);

/// A random or regular assignment of `groups` times `size` wires to the ports of routers with `ports` each: place n of
/// the result is the port of wire n, counted through all routers. Wires of a group come to different routers if there
/// are enough.
std::vector<u32> assign_wires(u32 groups, u32 size, u32 ports, bool random, u64 seed, u32 stream_item);

/// Headers of all messages: by destination, or by source and destination.
struct MetroRoutes {
  bool by_pair = false;
  std::vector<u32> start;  ///< [terminals, or their square, + 1]
  std::vector<u16> words;
  std::vector<u8> routers;  ///< on the way from each source to each destination; of a levelled network empty
  u16 first_word[metro::kMaxStages] = {};     ///< the first that the router of a stage passes on as it is
  u32 deciding_word[metro::kMaxStages] = {};  ///< with which it knows where to
};

/// Directions that lead from one endpoint to another, whichever of equivalent ports are taken; empty: there are none.
std::vector<u32> metro_directions(const MetroNetwork& network, u32 source, u32 destination);

/// Headers for routers of `width` bits that take `header_words` words each; sets which routers swallow words, and which
/// bits they find in them. `straddles`: of a direction, some may be in one word and some in the next.
MetroRoutes make_metro_routes(MetroNetwork& network, u32 width, u32 header_words, bool straddles);

}  // namespace flitlab
