#pragma once
/// Breadth-first exploration of all states of a channel with a few messages. It verifies that S-Connect's protocol
/// neither loses nor duplicates messages (S-Connect, 3.2).
#include <string>

#include "host/routers/sconnect/channel_pair.hpp"

namespace flitlab::sconnect {

/// Result of an exploration.
struct Exploration {
  u64 states = 0;
  u64 transitions = 0;
  u32 depth = 0;         ///< routing cycles to the farthest state
  bool complete = true;  ///< whether all states were explored
  /// The first violation, and the shortest sequence to it, a line for each routing cycle; empty: none.
  std::string violation;
};

/// Explores a channel. In every state it checks that no message is accepted twice or although it is void, that quads
/// are accepted whole, and that acknowledgments are true. It also checks that from every state an error-free sequence
/// leads to the end: all messages accepted, all slots free. Stops at the first violation, or after `most_states`.
/// ConfigError for an instance that is too large.
Exploration explore_channel(const ChannelInstance& instance, u64 most_states = 20'000'000);

}  // namespace flitlab::sconnect
