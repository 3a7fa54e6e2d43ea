#pragma once
/// Networks of METRO routers: wiring and message headers.
#include <string>
#include <vector>

#include "host/config/experiment.hpp"
#include "host/config/text_source.hpp"
#include "kernels/routers/metro/state.hpp"

namespace flitlab {

/// Wiring of routers and endpoints. A wide router is a set of slices (a cascade) that act as one. Each wire is listed
/// at both of its ends.
struct MetroNetwork {
  u32 terminals = 0, links = 0, inputs = 0, outputs = 0;
  u32 stages = 0;  ///< number of routers on the longest path
  /// Largest dilation, and largest turn delay in cycles, that routers can be set to.
  u32 max_dilation = 1, max_turn_delay = 15;
  std::vector<metro::RouterSetup> setup;  ///< [routers]
  std::vector<metro::Wire> wires;         ///< [routers][inputs + outputs]
  /// [terminals][2 links] first the wires that leave the endpoint, then the wires that enter it.
  std::vector<metro::Wire> endpoint_wires;
  std::vector<std::string> names;  ///< [routers]
  bool levelled = false;           ///< all paths to a destination have the same sequence of directions

  u32 routers() const { return static_cast<u32>(setup.size()); }
  u32 ports() const { return inputs + outputs; }
  metro::Wire& wire(u32 router, u32 port) { return wires[std::size_t{router} * ports() + port]; }
  const metro::Wire& wire(u32 router, u32 port) const { return wires[std::size_t{router} * ports() + port]; }
  const metro::Wire& leaving(u32 terminal, u32 link) const { return endpoint_wires[terminal * 2 * links + link]; }
  const metro::Wire& entering(u32 terminal, u32 link) const {
    return endpoint_wires[(2 * terminal + 1) * links + link];
  }

  /// Adds a router without wires and returns its number. The router must not have more ports than `inputs` and
  /// `outputs`.
  u32 add_router(const metro::RouterSetup& router, std::string name);
  /// Wires a backward port (or the leaving link of an endpoint) to a forward port, or a backward port to the entering
  /// link of an endpoint. `delay`: delay of the wire, cycles.
  void join(u32 router, u32 backward, u32 to, u32 forward, u32 delay);
  void join_entry(u32 terminal, u32 link, u32 to, u32 forward, u32 delay);
  void join_exit(u32 router, u32 backward, u32 terminal, u32 link, u32 delay);

  /// Returns the name of a backward port, for example "3.out1.0": router 3, direction 1, number 0 of the equivalent
  /// ports.
  std::string backward_name(u32 router, u32 backward) const;
};

/// Returns the number of endpoints of a network that is not read from a file. ConfigError if the number is too large.
u32 metro_endpoints(const Experiment& experiment);

/// Returns the network of an experiment. ConfigError if the network needs routers that METRO's parameters (METRO, Table
/// 1) do not allow.
MetroNetwork make_metro_network(const Experiment& experiment);

/// Return the network for one value of topology.kind.
MetroNetwork make_multibutterfly(const Experiment& experiment);
MetroNetwork make_fat_tree(const Experiment& experiment);
/// Reads the wiring from a file. ConfigError with the line number for an end that is used twice or does not exist;
/// ConfigError for ports without a wire. `delay`, `entry_delay`: delays, in cycles, of wires whose lines give none.
MetroNetwork read_metro_network(const TextSource& text, u32 delay, u32 entry_delay);

/// Assigns wires, `groups` groups of `size` wires each, to the ports of routers with `ports` ports each, at random or
/// regularly. Element n of the result is the port of wire n; ports are numbered through all routers. The wires of a
/// group lead to different routers if there are enough routers.
std::vector<u32> assign_wires(u32 groups, u32 size, u32 ports, bool random, u64 seed, u32 stream_item);

/// Headers of all messages, by destination, or by source and destination (`by_pair`).
struct MetroRoutes {
  bool by_pair = false;
  std::vector<u32> start;  ///< [destinations or pairs + 1] index of each header's first word in `words`
  std::vector<u16> words;
  std::vector<u8> routers;  ///< [source][destination] number of routers on the path; empty for a levelled network
  /// [stage] first header word that a router of this stage passes on unchanged.
  u16 first_word[metro::kMaxStages] = {};
  /// [stage] header word with which a router of this stage chooses the port.
  u32 deciding_word[metro::kMaxStages] = {};
};

/// Returns the directions that lead from one endpoint to another, whichever of the equivalent ports routers choose;
/// empty if there is no such sequence.
std::vector<u32> metro_directions(const MetroNetwork& network, u32 source, u32 destination);

/// Returns the headers for routers of `width` bits, each of which consumes `header_words` words. Sets
/// RouterSetup::swallow and header_bits of the routers. `straddles`: the bits of a direction may be divided between two
/// words.
MetroRoutes make_metro_routes(MetroNetwork& network, u32 width, u32 header_words, bool straddles);

}  // namespace flitlab
