#pragma once
/// Networks of METRO routers: wiring and message headers.
#include <string>
#include <vector>

#include "host/config/experiment.hpp"
#include "host/config/text_source.hpp"
#include "kernels/routers/metro/state.hpp"

namespace flitlab {

/// Wiring of wide routers and endpoints. A wire is listed at both of its ends.
struct MetroNetwork {
  u32 terminals = 0, links = 0, inputs = 0, outputs = 0;
  u32 stages = 0;                             ///< routers on the longest path
  u32 max_dilation = 1, max_turn_delay = 15;  ///< limits of the routers' configuration
  std::vector<metro::RouterSetup> setup;      ///< [routers]
  std::vector<metro::Wire> wires;             ///< [routers][inputs + outputs]
  std::vector<metro::Wire> endpoint_wires;    ///< [terminals][2 links] leaving links, then entering links
  std::vector<std::string> names;             ///< [routers]
  bool levelled = false;                      ///< all paths to a destination have the same directions

  u32 routers() const { return static_cast<u32>(setup.size()); }
  u32 ports() const { return inputs + outputs; }
  metro::Wire& wire(u32 router, u32 port) { return wires[std::size_t{router} * ports() + port]; }
  const metro::Wire& wire(u32 router, u32 port) const { return wires[std::size_t{router} * ports() + port]; }
  const metro::Wire& leaving(u32 terminal, u32 link) const { return endpoint_wires[terminal * 2 * links + link]; }
  const metro::Wire& entering(u32 terminal, u32 link) const {
    return endpoint_wires[(2 * terminal + 1) * links + link];
  }

  /// Adds a router without wires and returns its number. It must not have more ports than `inputs` and `outputs`.
  u32 add_router(const metro::RouterSetup& router, std::string name);
  /// Wires a backward port, or an endpoint's leaving link, to a forward port, or a backward port to an endpoint's
  /// entering link. `delay` in cycles.
  void join(u32 router, u32 backward, u32 to, u32 forward, u32 delay);
  void join_entry(u32 terminal, u32 link, u32 to, u32 forward, u32 delay);
  void join_exit(u32 router, u32 backward, u32 terminal, u32 link, u32 delay);

  /// Returns the name of a backward port, as in "3.out1.0": router, direction, number among the equivalent ports.
  std::string backward_name(u32 router, u32 backward) const;
};

/// Returns the number of endpoints of a network that is not read from a file. ConfigError if it is too large.
u32 metro_endpoints(const Experiment& experiment);

/// Returns the network of an experiment. ConfigError if it needs routers that the parameters of METRO, Table 1,
/// exclude.
MetroNetwork make_metro_network(const Experiment& experiment);

/// The same for one value of topology.kind each.
MetroNetwork make_multibutterfly(const Experiment& experiment);
MetroNetwork make_fat_tree(const Experiment& experiment);
/// Throws ConfigError with the line of an end that is used twice or does not exist, and for ports without a wire.
/// `delay`, `entry_delay`: cycles of wires whose line gives none.
MetroNetwork read_metro_network(const TextSource& text, u32 delay, u32 entry_delay);

/// Returns a random or regular assignment of `groups` * `size` wires to the ports of routers with `ports` ports each:
/// element n is the port of wire n, numbered through all routers. Wires of a group lead to different routers if there
/// are enough.
std::vector<u32> assign_wires(u32 groups, u32 size, u32 ports, bool random, u64 seed, u32 stream_item);

/// Headers of all messages: by destination, or by source and destination.
struct MetroRoutes {
  bool by_pair = false;
  std::vector<u32> start;  ///< [terminals (or pairs of them) + 1] in `words`
  std::vector<u16> words;
  std::vector<u8> routers;                    ///< [source][destination] on the path; empty for a levelled network
  u16 first_word[metro::kMaxStages] = {};     ///< [stage] first word that its router passes on unchanged
  u32 deciding_word[metro::kMaxStages] = {};  ///< [stage] word with which its router chooses the port
};

/// Returns directions that lead from one endpoint to another by any of the equivalent ports; empty if there are none.
std::vector<u32> metro_directions(const MetroNetwork& network, u32 source, u32 destination);

/// Returns the headers for routers of `width` bits that consume `header_words` words each. Sets RouterSetup::swallow
/// and header_bits of the routers. `straddles`: the bits of a direction may straddle two words.
MetroRoutes make_metro_routes(MetroNetwork& network, u32 width, u32 header_words, bool straddles);

}  // namespace flitlab
