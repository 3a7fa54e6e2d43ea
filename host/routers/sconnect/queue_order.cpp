#include "host/routers/sconnect/queue_order.hpp"

#include <algorithm>

#include "host/routers/sconnect/order.hpp"
#include "kernels/common/bits.hpp"
#include "kernels/routers/sconnect/route.hpp"

namespace flitlab {

using sconnect::kPorts;

std::vector<u32> sconnect_first_ranks(const SconnectFabric& f) {
  const std::vector<u32> depth = sconnect_hops(f, {sconnect_centre(f)});
  std::vector<std::pair<u64, u32>> keys;
  std::vector<u32> rank(std::size_t{f.tics} * kQueueBits);
  for (u32 queue = 0; queue < rank.size(); ++queue) {
    const u32 from = queue / kQueueBits;
    const sconnect::Link& link = f.link(from, queue % kQueueBits / 2);
    if (!leads_to_tic(link)) {
      keys.emplace_back(~u64{0}, queue);
      continue;
    }
    const bool up = depth[from] != depth[link.far] ? depth[from] > depth[link.far] : from > link.far;
    const u64 key = u64{depth[from]} << 20 | from, part = (up ? 0 : 1) + 2 * (queue % 2);
    keys.emplace_back(part << 60 | (up ? (u64{1} << 52) - key : key), queue);
  }
  std::sort(keys.begin(), keys.end());
  for (u32 i = 0; i < keys.size(); ++i) rank[keys[i].second] = i;
  return rank;
}

SconnectQueueOrder::SconnectQueueOrder(const SconnectFabric& f, std::vector<u32> rank)
    : far_(std::size_t{f.tics} * kPorts, kNone),
      near_(far_.size(), kNone),
      after_(2 * far_.size()),
      before_(after_.size()),
      users_(kQueueBits * after_.size()),
      rejected_(users_.size()),
      rank_(std::move(rank)),
      seen_(after_.size()) {
  for (u32 channel = 0; channel < far_.size(); ++channel) {
    if (!leads_to_tic(f.links[channel])) continue;
    far_[channel] = f.links[channel].far;
    near_[channel] = f.links[channel].far * kPorts + f.links[channel].port;
  }
}

bool SconnectQueueOrder::use(u32 queue, u32 bit) {
  const u32 to = next(queue, bit);
  u32& users = users_[kQueueBits * queue + bit];
  if (!users) {
    if (rank_[to] <= rank_[queue]) {
      u32& refused = rejected_[kQueueBits * queue + bit];
      if (refused == epoch_) return false;
      if (!reorder_queues(queue, to)) {
        refused = epoch_;
        return false;
      }
    }
    after_[queue] |= static_cast<u16>(1u << bit);
    before_[to] |= static_cast<u16>(1u << (near_[queue / 2] % kPorts * 2 + queue % 2));
  }
  ++users;
  return true;
}

void SconnectQueueOrder::drop(u32 queue, u32 bit) {
  if (--users_[kQueueBits * queue + bit]) return;
  after_[queue] &= static_cast<u16>(~(1u << bit));
  before_[next(queue, bit)] &= static_cast<u16>(~(1u << (near_[queue / 2] % kPorts * 2 + queue % 2)));
}

/// Swaps the successors of `next` up to the rank of `queue` with the predecessors of `queue` down to the rank of `next`
/// (Pearce and Kelly, "A dynamic topological sort algorithm for directed acyclic graphs", 2006).
bool SconnectQueueOrder::reorder_queues(u32 queue, u32 next_queue) {
  const u32 low = rank_[next_queue], high = rank_[queue];
  forward_.assign(1, next_queue);
  seen_[next_queue] = ++search_;
  for (std::size_t i = 0; i < forward_.size(); ++i)
    for (u32 set = after_[forward_[i]]; set; set &= set - 1) {
      const u32 q = next(forward_[i], lowest_bit(set));
      if (q == queue) return false;
      if (rank_[q] > high || seen_[q] == search_) continue;
      seen_[q] = search_;
      forward_.push_back(q);
    }
  backward_.assign(1, queue);
  seen_[queue] = ++search_;
  for (std::size_t i = 0; i < backward_.size(); ++i)
    for (u32 set = before_[backward_[i]]; set; set &= set - 1) {
      const u32 bit = lowest_bit(set), tic = backward_[i] / kQueueBits;
      const u32 q = 2 * near_[tic * kPorts + bit / 2] + bit % 2;
      if (rank_[q] < low || seen_[q] == search_) continue;
      seen_[q] = search_;
      backward_.push_back(q);
    }
  const auto by_rank = [&](u32 a, u32 b) { return rank_[a] < rank_[b]; };
  std::sort(forward_.begin(), forward_.end(), by_rank);
  std::sort(backward_.begin(), backward_.end(), by_rank);
  ranks_.clear();
  for (u32 q : backward_) ranks_.push_back(rank_[q]);
  for (u32 q : forward_) ranks_.push_back(rank_[q]);
  std::sort(ranks_.begin(), ranks_.end());
  std::size_t index = 0;
  for (u32 q : backward_) rank_[q] = ranks_[index++];
  for (u32 q : forward_) rank_[q] = ranks_[index++];
  return true;
}

std::pair<u32, u32> SconnectQueueOrder::weakest(u32 from, u32 to) {
  std::vector<std::pair<u32, u32>> way;  // queue, and its steps that are not yet followed
  std::vector<u32> at{from};
  std::vector<std::pair<u32, u32>> reached_by(1, {0, 0});
  seen_[from] = ++search_;
  for (std::size_t i = 0; i < at.size(); ++i) {
    for (u32 set = after_[at[i]]; set; set &= set - 1) {
      const u32 bit = lowest_bit(set), q = next(at[i], bit);
      if (rank_[q] > rank_[to] || seen_[q] == search_) continue;
      seen_[q] = search_;
      at.push_back(q);
      reached_by.push_back({static_cast<u32>(i), bit});
      if (q != to) continue;
      std::pair<u32, u32> best{kNone, 0};
      u32 least = ~0u;
      for (u32 j = static_cast<u32>(at.size()) - 1; j; j = reached_by[j].first) {
        const u32 queue = at[reached_by[j].first], b = reached_by[j].second, n = users_[kQueueBits * queue + b];
        if (n < least) least = n, best = {queue, b};
      }
      return best;
    }
  }
  return {kNone, 0};
}

}  // namespace flitlab
