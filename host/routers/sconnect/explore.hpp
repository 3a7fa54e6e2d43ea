#pragma once
/// Everything that can happen to a channel with a few messages, gone through breadth first: that S-Connect's protocol
/// neither loses nor duplicates messages (S-Connect, 3.2).
#include <string>

#include "host/routers/sconnect/channel_pair.hpp"

namespace flitlab::sconnect {

struct Exploration {
  u64 states = 0;
  u64 transitions = 0;
  u32 depth = 0;         ///< routing cycles to the state that takes longest to come to
  bool complete = true;  ///< there are no more states than looked at
  /// What went wrong first, and the shortest way there, a line for each routing cycle; empty: nothing does.
  std::string violation;
};

/// Checked in every state: no message is taken twice or taken though it is void, quads are taken whole, what a sender
/// is told is true. And from every state leads a way without errors to the end: all taken, all slots free. Stops at the
/// first violation, or after `most_states`. Throws ConfigError for more than can be explored.
Exploration explore_channel(const ChannelInstance& instance, u64 most_states = 20'000'000);

}  // namespace flitlab::sconnect
