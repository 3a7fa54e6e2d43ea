#include "host/routers/sconnect/turns.hpp"

#include <algorithm>
#include <numeric>

namespace flitlab {

using sconnect::kPorts;

SconnectTurns::SconnectTurns(const SconnectFabric& fabric)
    : fabric_(fabric),
      turns_(std::size_t{fabric.tics} * kPorts * kPorts, kOpen),
      after_(std::size_t{fabric.tics} * kPorts),
      before_(after_.size()),
      rank_(after_.size()),
      seen_(after_.size()) {
  std::iota(rank_.begin(), rank_.end(), 0u);
}

bool SconnectTurns::allow(u32 channel, u32 next_port) {
  unsigned char& turn = turns_[channel * kPorts + next_port];
  if (turn != kOpen) return turn == kAllowed;
  const u32 next = fabric_.links[channel].far * kPorts + next_port;
  const u32 low = rank_[next], high = rank_[channel];
  if (low < high) {
    // Swap the successors of `next` up to the rank of `channel` with the predecessors of `channel` down to the rank of
    // `next`.
    std::vector<u32> forward{next}, backward{channel};
    ++search_;
    seen_[next] = search_;
    for (std::size_t i = 0; i < forward.size(); ++i)
      for (u32 c : after_[forward[i]]) {
        if (c == channel) {
          turn = kRefused;
          return false;
        }
        if (rank_[c] > high || seen_[c] == search_) continue;
        seen_[c] = search_;
        forward.push_back(c);
      }
    ++search_;
    seen_[channel] = search_;
    for (std::size_t i = 0; i < backward.size(); ++i)
      for (u32 c : before_[backward[i]]) {
        if (rank_[c] < low || seen_[c] == search_) continue;
        seen_[c] = search_;
        backward.push_back(c);
      }
    const auto by_rank = [&](u32 a, u32 b) { return rank_[a] < rank_[b]; };
    std::sort(forward.begin(), forward.end(), by_rank);
    std::sort(backward.begin(), backward.end(), by_rank);
    std::vector<u32> ranks;
    for (u32 c : backward) ranks.push_back(rank_[c]);
    for (u32 c : forward) ranks.push_back(rank_[c]);
    std::sort(ranks.begin(), ranks.end());
    std::size_t index = 0;
    for (u32 c : backward) rank_[c] = ranks[index++];
    for (u32 c : forward) rank_[c] = ranks[index++];
  }
  turn = kAllowed;
  after_[channel].push_back(next);
  before_[next].push_back(channel);
  return true;
}

}  // namespace flitlab
