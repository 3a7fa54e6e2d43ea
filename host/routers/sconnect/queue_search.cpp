#include "host/routers/sconnect/queue_search.hpp"

#include <algorithm>
#include <numeric>

#include "host/plan/interrupt.hpp"
#include "host/routers/sconnect/order.hpp"
#include "host/routers/sconnect/queue_order.hpp"
#include "kernels/common/bits.hpp"
#include "kernels/common/philox.hpp"
#include "kernels/routers/sconnect/streams.hpp"

namespace flitlab {

using sconnect::kPorts;

namespace {

constexpr u64 kMostLabels = u64{1} << 24;   ///< limit of work: calls of latest(), each of which finds one label
constexpr u64 kLabelsEach = u64{1} << 15;   ///< limit of work: calls of latest() for each pair (TIC, destination)
constexpr u32 kRounds = 8;                  ///< annealing rounds; each starts from the best order so far
constexpr u32 kHot = 40000, kCold = 13000;  ///< probability to accept one more pair without a path, in 1/65536; falls
                                            ///< from kHot to kCold during a round
constexpr u64 kSpace = u64{1} << 32;        ///< distance of neighbouring keys after spread_keys()
constexpr u32 kNext = 1u << 16;             ///< largest distance between a moved key and the key next to which it moves
/// Moves after which spread_keys() is called; all together they use less than kSpace.
constexpr u64 kSpreadAfter = u64{1} << 12;
constexpr u64 kAnyKey = ~u64{0};

}  // namespace

SconnectQueueSearch::SconnectQueueSearch(const SconnectFabric& fabric, const std::vector<u32>& rank)
    : f_(fabric),
      key_(rank.size()),
      used_for_(rank.size()),
      host_(f_.tics),
      level_(std::size_t{f_.tics} * f_.nodes),
      nearer_(level_.size()),
      label_(level_.size(), kNoQueue),
      where_(level_.size(), kNone),
      lacks_(f_.nodes) {
  for (u32 queue = 0; queue < rank.size(); ++queue) key_[queue] = (u64{rank[queue]} + 1) * kSpace;
  const auto hosts = sconnect_hosts(f_);
  for (u32 d = 0; d < f_.nodes; ++d) {
    for (u32 tic : hosts[d]) host_[tic] = true;
    const std::vector<u32> hops = sconnect_hops(f_, hosts[d]);
    for (u32 tic = 0; tic < f_.tics; ++tic) {
      level_[pair_index(tic, d)] = static_cast<u16>(hops[tic]);
      for (u32 bit = 0; bit < kQueueBits; ++bit) {
        if (!has_queue(f_, tic, bit) || hops[far(tic, bit)] + 1 != hops[tic]) continue;
        nearer_[pair_index(tic, d)] |= static_cast<u16>(1u << bit);
        used_for_[kQueueBits * tic + bit].push_back(static_cast<u16>(d));
      }
    }
  }
  place_all();
}

u32 SconnectQueueSearch::random(u32 n) { return below(philox(1, sconnect::stream::kFabric, draws_++, 3).word[0], n); }

/// Computes the labels of all pairs (TIC, destination): the queue that the TIC uses for the destination.
void SconnectQueueSearch::place_all() {
  missing_.clear();
  std::fill(lacks_.begin(), lacks_.end(), 0u);
  std::fill(where_.begin(), where_.end(), kNone);
  // Any label that is not kNoQueue: set_label() then adds every pair that gets no label to missing_.
  std::fill(label_.begin(), label_.end(), u8{0});
  std::vector<u32> outwards(f_.tics);
  for (u32 d = 0; d < f_.nodes; ++d) {
    std::iota(outwards.begin(), outwards.end(), 0u);
    std::stable_sort(outwards.begin(), outwards.end(),
                     [&](u32 a, u32 b) { return level_[pair_index(a, d)] < level_[pair_index(b, d)]; });
    for (u32 tic : outwards)
      if (level_[pair_index(tic, d)]) set_label(pair_index(tic, d), latest(tic, d));
  }
  changed_.clear();
}

/// Returns the bound for queues into a TIC: a message to destination `d` may enter the TIC only from a queue with a
/// smaller key. The bound is the key of the queue in which the TIC puts the message; 0 if the TIC has no path.
u64 SconnectQueueSearch::value(u32 tic, u32 d) const {
  if (!level_[pair_index(tic, d)]) return kAnyKey;
  const u8 bit = label_[pair_index(tic, d)];
  return bit == kNoQueue ? 0 : key_[kQueueBits * tic + bit];
}

u8 SconnectQueueSearch::latest(u32 tic, u32 d) {
  ++work_;
  u64 best = 0;
  u8 label = kNoQueue;
  for (u32 set = nearer_[pair_index(tic, d)]; set; set &= set - 1) {
    const u32 bit = lowest_bit(set);
    if (const u64 key = key_[kQueueBits * tic + bit]; key > best && key < value(far(tic, bit), d))
      best = key, label = static_cast<u8>(bit);
  }
  return label;
}

void SconnectQueueSearch::set_label(std::size_t pair, u8 label) {
  const u8 before = label_[pair];
  if (label == before) return;
  changed_.emplace_back(pair, before);
  label_[pair] = label;
  const u32 d = static_cast<u32>(pair / f_.tics);
  if (!host_[pair % f_.tics] || (label != kNoQueue && before != kNoQueue)) return;
  if (label == kNoQueue) {
    ++lacks_[d];
    where_[pair] = missing();
    missing_.push_back(static_cast<u32>(pair));
  } else {
    --lacks_[d];
    where_[missing_.back()] = where_[pair];
    missing_[where_[pair]] = missing_.back();
    missing_.pop_back();
  }
}

/// Updates label and bound (`value()`) of a TIC for destination `d` after the key of a queue of this TIC has changed.
/// Does the same for the TICs whose paths may lead through it. `before`: bound of the TIC before the change.
void SconnectQueueSearch::update(u32 tic, u32 d, u64 before) {
  behind_.assign(1, tic);
  for (std::size_t i = 0; i < behind_.size(); ++i) {  // TICs nearest to the destination first
    const u32 x = behind_[i];
    if (i) before = value(x, d);
    set_label(pair_index(x, d), latest(x, d));
    const u64 now = value(x, d), low = std::min(before, now), high = std::max(before, now);
    if (low == high) continue;
    for (u32 port = 0; port < kPorts; ++port) {
      const sconnect::Link& l = f_.link(x, port);
      if (!leads_to_tic(l) || level_[pair_index(l.far, d)] != level_[pair_index(x, d)] + 1) continue;
      bool concerned = false;
      for (u32 vc = 0; vc < f_.vcs(l.far, l.port); ++vc) {
        const u64 key = key_[kQueueBits * l.far + 2u * l.port + vc];
        concerned |= low <= key && key < high;
      }
      if (concerned && std::find(behind_.begin(), behind_.end(), l.far) == behind_.end()) behind_.push_back(l.far);
    }
  }
}

/// Changes a queue's key. Returns false, and undoes the change, if more than `most` pairs (TIC with a host,
/// destination) have no shortest path after it.
bool SconnectQueueSearch::move(u32 queue, u64 key, u32 most) {
  const u64 old = key_[queue];
  const u32 tic = queue / kQueueBits, bit = queue % kQueueBits;
  lacked_ = lacks_;
  changed_.clear();
  key_[queue] = key;
  // Destinations that every TIC reaches on a shortest path can only lose paths, so they come last and may end the move
  // early.
  for (bool lose : {false, true})
    for (u32 d : used_for_[queue]) {
      if ((lacked_[d] == 0) != lose) continue;
      if (lose && missing() > most) break;
      update(tic, d, label_[pair_index(tic, d)] == bit ? old : value(tic, d));
    }
  if (missing() <= most) return true;
  key_[queue] = old;
  for (std::size_t i = changed_.size(); i--;) set_label(changed_[i].first, changed_[i].second);
  return false;
}

/// Picks a random pair without a path and moves two consecutive queues of a possible path into the right order. The
/// first queue belongs to the pair's TIC or to a TIC nearer to the destination. It is random, or the queue that is
/// nearest to the next one in the order.
void SconnectQueueSearch::try_one(u32 heat) {
  const u32 lost = missing_[random(missing())], d = lost / f_.tics;
  u32 tic = lost % f_.tics, bit = 0, next = tic;
  do {
    tic = next;
    const bool nearest = random(2);
    u64 least = kAnyKey;
    u32 found = 0;
    for (u32 set = nearer_[pair_index(tic, d)]; set; set &= set - 1) {
      const u32 b = lowest_bit(set);
      const u64 to = value(far(tic, b), d), gap = to ? key_[kQueueBits * tic + b] - to : kAnyKey - 1;
      if (nearest ? gap >= least : random(++found) != 0) continue;
      bit = b;
      least = gap;
    }
    next = far(tic, bit);
  } while (!value(next, d));
  const u32 queue = kQueueBits * tic + bit, after = kQueueBits * next + label_[pair_index(next, d)];
  u32 most = missing();
  while (random(1u << 16) < heat) ++most;
  const u32 past = 1 + random(kNext);
  const bool kept = random(2) ? move(queue, key_[after] - past, most) : move(after, key_[queue] + past, most);
  if (kept && ++kept_ % kSpreadAfter == 0) spread_keys();
}

/// Restores the distance kSpace between neighbouring keys. Afterwards no two keys are equal.
void SconnectQueueSearch::spread_keys() {
  const std::vector<u32> ranks = rank();
  std::vector<u64> keys(key_.size());
  for (u32 queue = 0; queue < keys.size(); ++queue) keys[queue] = (u64{ranks[queue]} + 1) * kSpace;
  key_ = std::move(keys);
}

void SconnectQueueSearch::run() {
  std::vector<u64> best = key_;
  u32 least = missing();
  const u64 most = std::min(kMostLabels, kLabelsEach * level_.size());
  for (u32 round = 1; round <= kRounds && least; ++round) {
    const u64 begin = work_, all = most * round / kRounds;
    while (missing() && work_ < all) {
      check_interrupt();
      try_one(static_cast<u32>(kHot - (kHot - kCold) * (work_ - begin) / (all - begin)));
      if (missing() >= least) continue;
      least = missing();
      best = key_;
    }
    key_ = best;
    spread_keys();
    place_all();
  }
}

std::vector<u32> SconnectQueueSearch::rank() const {
  std::vector<u32> queues(key_.size()), ranks(key_.size());
  std::iota(queues.begin(), queues.end(), 0u);
  std::stable_sort(queues.begin(), queues.end(), [&](u32 a, u32 b) { return key_[a] < key_[b]; });
  for (u32 i = 0; i < queues.size(); ++i) ranks[queues[i]] = i;
  return ranks;
}

}  // namespace flitlab
