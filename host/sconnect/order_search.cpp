// The search for orders that leave short ways. A move sets a TIC just beyond a neighbour in one of the orders. What it
// changes is worked out row by row (ways from one TIC to 64 destinations), from the moved TIC on and only where
// something has changed.
#include <algorithm>
#include <array>
#include <queue>

#include "host/sconnect/order.hpp"
#include "kernels/common/exact_math.hpp"
#include "kernels/common/philox.hpp"
#include "kernels/common/streams.hpp"

namespace flitlab {
namespace {

using sconnect::kPorts;

constexpr u32 kWidth = 64;     // destinations of a row
constexpr u8 kFar = 250;       // hops: no way
constexpr u32 kSample = 4096;  // destinations that are looked at
constexpr double kHeat = 0.5;  // hops of each node that a move may cost in the beginning, mean

using Row = std::array<u8, kWidth>;

void take_least(Row& best, const Row& other) {
  for (u32 i = 0; i < kWidth; ++i) best[i] = std::min(best[i], other[i]);
}
void add_hop(Row& row) {
  for (u32 i = 0; i < kWidth; ++i) row[i] = static_cast<u8>(std::min<u8>(row[i], kFar - 1) + 1);
}
/// As sconnect_lengths() counts.
std::int64_t sum(const Row& row) {
  i32 hops = 0, none = 0;
  for (u32 i = 0; i < kWidth; ++i) hops += row[i];
  for (u32 i = 0; i < kWidth; ++i) none += row[i] == kFar;
  return hops + std::int64_t{kNoWay - kFar} * none;
}

/// What all parts of the search share.
struct Fabric {
  explicit Fabric(const SconnectFabric& f) : next(f.tics), source(f.tics, false) {
    for (u32 tic = 0; tic < f.tics; ++tic)
      for (u32 port = 0; port < kPorts; ++port)
        if (leads_to_tic(f.link(tic, port))) next[tic].push_back(f.link(tic, port).far);
    for (const auto& tics : sconnect_hosts(f))
      for (u32 tic : tics) source[tic] = true;
  }
  std::vector<std::vector<u32>> next;
  std::vector<bool> source;
};

/// TICs to visit, the highest in an order first, each once.
class Agenda {
 public:
  explicit Agenda(u32 tics) : noted_(tics, false) {}
  void note(const std::vector<u64>& keys, u32 tic) {
    if (noted_[tic]) return;
    noted_[tic] = true;
    queue_.emplace(keys[tic], tic);
  }
  bool empty() const { return queue_.empty(); }
  u32 take() {
    const u32 tic = queue_.top().second;
    queue_.pop();
    noted_[tic] = false;
    return tic;
  }

 private:
  std::priority_queue<std::pair<u64, u32>> queue_;
  std::vector<bool> noted_;
};

/// Ways to 64 destinations from everywhere; the same numbers as those of SconnectWays.
class Block {
 public:
  Block(const Fabric& f, std::vector<Row> direct)
      : f_(f), direct_(std::move(direct)), on0_(direct_.size()), on1_(direct_.size()) {}

  /// Works out the rows of some TICs, and all that follows. Returns by how much the sum of all ways has grown.
  std::int64_t update(const SconnectOrder& order, const std::vector<u32>& first, const std::vector<u32>& second,
                      Agenda& up, Agenda& down, u64& steps) {
    old_.clear();
    std::int64_t grown = 0;
    for (u32 tic : first) up.note(order.first, tic);
    for (u32 tic : second) down.note(order.second, tic);
    for (; !down.empty(); ++steps) {
      const u32 tic = down.take();
      const Row row = row_on1(order, tic);
      if (row == on1_[tic]) continue;
      old_.push_back({&on1_[tic], on1_[tic]});
      on1_[tic] = row;
      up.note(order.first, tic);
      for (u32 n : f_.next[tic]) {
        up.note(order.first, n);
        if (rises(order.second, n, tic)) down.note(order.second, n);
      }
    }
    for (; !up.empty(); ++steps) {
      const u32 tic = up.take();
      const Row row = row_on0(order, tic);
      if (row == on0_[tic]) continue;
      if (f_.source[tic]) grown += sum(row) - sum(on0_[tic]);
      old_.push_back({&on0_[tic], on0_[tic]});
      on0_[tic] = row;
      for (u32 n : f_.next[tic])
        if (rises(order.first, n, tic)) up.note(order.first, n);
    }
    return grown;
  }

  /// Takes the last update back.
  void undo() {
    for (std::size_t i = old_.size(); i-- > 0;) *old_[i].where = old_[i].row;
  }

 private:
  struct Old {
    Row* where;
    Row row;
  };

  Row row_on1(const SconnectOrder& order, u32 tic) const {
    Row row;
    row.fill(kFar);
    for (u32 n : f_.next[tic])
      if (rises(order.second, tic, n)) take_least(row, on1_[n]);
    add_hop(row);
    const Row& direct = direct_[tic];
    for (u32 i = 0; i < kWidth; ++i) row[i] = row[i] > direct[i] ? kFar : row[i];
    for (u32 i = 0; i < kWidth; ++i) row[i] = direct[i] == 0 ? u8{0} : row[i];
    return row;
  }

  Row row_on0(const SconnectOrder& order, u32 tic) const {
    Row onto1, row;
    onto1.fill(kFar);
    row.fill(kFar);
    for (u32 n : f_.next[tic]) {
      take_least(onto1, on1_[n]);
      if (rises(order.first, tic, n)) take_least(row, on0_[n]);
    }
    add_hop(onto1);
    add_hop(row);
    take_least(row, onto1);
    take_least(row, on1_[tic]);
    return row;
  }

  const Fabric& f_;
  std::vector<Row> direct_, on0_, on1_;
  std::vector<Old> old_;
};

std::vector<Block> make_blocks(const SconnectFabric& fabric, const Fabric& f) {
  const auto hosts = sconnect_hosts(fabric);
  const u32 stride = (fabric.nodes + kSample - 1) / kSample;
  std::vector<Block> blocks;
  std::vector<Row> direct;
  u32 column = 0;
  for (u32 d = 0; d < fabric.nodes; d += stride) {
    if (column == 0) {
      direct.assign(fabric.tics, Row{});
      for (Row& row : direct) row.fill(kFar - 1);  // of places that stay empty
    }
    const std::vector<u32> hops = sconnect_hops(fabric, hosts[d]);
    for (u32 tic = 0; tic < fabric.tics; ++tic) direct[tic][column] = static_cast<u8>(hops[tic]);
    if (++column < kWidth && d + stride < fabric.nodes) continue;
    blocks.emplace_back(f, direct);
    column = 0;
  }
  return blocks;
}

}  // namespace

SconnectOrder improved_order(const SconnectFabric& fabric, const SconnectOrder& start, u64 most_steps, u64* saved) {
  const Fabric f(fabric);
  std::vector<Block> blocks = make_blocks(fabric, f);
  SconnectOrder order = start, best = start;
  Agenda up(fabric.tics), down(fabric.tics);
  u64 steps = 0;
  {
    std::vector<u32> all(fabric.tics);
    for (u32 tic = 0; tic < fabric.tics; ++tic) all[tic] = tic;
    for (Block& b : blocks) b.update(order, all, all, up, down, steps);
  }
  const u32 count = static_cast<u32>(blocks.size());
  std::int64_t now = 0, least = 0;  // sums of all ways, less that of the start
  std::vector<u32> first, second;
  for (u64 draw = 0; steps < most_steps; ++draw) {
    const Random4 r = philox(0, stream::kSconnectFabric, 1, 2 * draw);
    const Random4 s = philox(0, stream::kSconnectFabric, 1, 2 * draw + 1);
    const u32 tic = below(r.word[0], fabric.tics);
    const u32 beside = f.next[tic][below(r.word[1], static_cast<u32>(f.next[tic].size()))];
    std::vector<u64>& keys = r.word[2] & 1 ? order.second : order.first;
    const u64 before = keys[tic];
    // Just beyond that neighbour, or somewhat farther.
    const u64 beyond = 1 + below(s.word[0], r.word[2] & 6 ? 1u << 22 : 1u << 31);
    const u64 after = rises(keys, tic, beside) ? keys[beside] + beyond : keys[beside] - beyond;
    first.clear();
    for (u32 n : f.next[tic]) {
      const bool was = rises(keys, tic, n);
      keys[tic] = after;
      if (rises(keys, tic, n) != was) first.push_back(n);
      keys[tic] = before;
    }
    keys[tic] = after;
    if (first.empty()) continue;
    first.push_back(tic);
    second.clear();
    if (r.word[2] & 1) std::swap(first, second);
    // Growth that is still accepted, exponentially distributed as in simulated annealing.
    const double left = 1 - static_cast<double>(steps) / static_cast<double>(most_steps);
    const double heat = kHeat * fabric.nodes * left * left * left;
    const std::int64_t limit = static_cast<std::int64_t>(-heat * exact_log(unit_interval(s.word[1])));
    std::int64_t grown = 0;
    u32 done = 0;
    for (const u32 begin = below(r.word[3], count); done < count && grown <= limit; ++done)
      grown += blocks[(begin + done) % count].update(order, first, second, up, down, steps);
    ++steps;
    if (grown <= limit) {
      now += grown;
      if (now < least) least = now, best = order;
      continue;
    }
    keys[tic] = before;
    for (const u32 begin = below(r.word[3], count); done-- > 0;) blocks[(begin + done) % count].undo();
  }
  if (saved) *saved = static_cast<u64>(-least);
  return best;
}

}  // namespace flitlab
