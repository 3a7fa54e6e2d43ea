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
  u32 depth = 0;         ///< largest number of routing cycles from the initial state to any state
  bool complete = true;  ///< whether all states were explored
  /// The first violation, and the shortest sequence that leads to it, one line for each routing cycle; empty: no
  /// violation.
  std::string violation;
};

/// Explores a channel. In every state it checks that no message is accepted twice, that no void message is accepted,
/// that quads are accepted whole, and that acknowledgments are true. It also checks that from every state an error-free
/// sequence leads to the end, where all messages are accepted and all slots are free. The exploration stops at the
/// first violation, or after `most_states` states. ConfigError for an instance that is too large.
Exploration explore_channel(const ChannelInstance& instance, u64 most_states = 20'000'000);

}  // namespace flitlab::sconnect
