#include "host/routers/sconnect/queues.hpp"

#include <algorithm>
#include <numeric>

#include "host/plan/interrupt.hpp"
#include "host/routers/sconnect/alternates.hpp"
#include "host/routers/sconnect/make_tables.hpp"
#include "host/routers/sconnect/placing.hpp"
#include "host/routers/sconnect/queue_search.hpp"
#include "kernels/common/bits.hpp"
#include "kernels/common/philox.hpp"
#include "kernels/routers/sconnect/streams.hpp"

namespace flitlab {

SconnectPlacing::SconnectPlacing(const SconnectFabric& f)
    : f_(f),
      order_(f, sconnect_first_ranks(f)),
      hosts_(sconnect_hosts(f)),
      is_host_(f.tics),
      label_(std::size_t{f.tics} * f.nodes, kNoPathYet),
      level_(label_.size()),
      by_level_(label_.size()),
      length_(label_.size()),
      entry_(sconnect_host_entries(f)),
      missing_(f.nodes) {
  for (const auto& tics : hosts_)
    for (u32 tic : tics) is_host_[tic] = true;
  for (u32 d = 0; d < f_.nodes; ++d) {
    check_interrupt();
    const std::vector<u32> hops = sconnect_hops(f_, hosts_[d]);
    const auto first = by_level_.begin() + pair_index(0, d);
    std::copy(hops.begin(), hops.end(), level_.begin() + pair_index(0, d));
    std::iota(first, first + f_.tics, u16{0});
    std::stable_sort(first, first + f_.tics, [&](u32 a, u32 b) { return hops[a] < hops[b]; });
  }
}

u32 SconnectPlacing::random(u32 n) { return below(philox(1, sconnect::stream::kFabric, draws_++, 2).word[0], n); }

void SconnectPlacing::fill() {
  for (bool move : {false, true}) {
    order_.clear_rejected();
    for (u32 d = 0; d < f_.nodes; ++d) {
      check_interrupt();
      remove_paths(d);
      missing_[d] = complete(d, move);
    }
  }
  improve();
  if (hosts_missing()) reorder();
}

std::vector<u16> SconnectPlacing::tables() {
  for (u32 d = 0; d < f_.nodes; ++d)
    for (u32 tic = 0; tic < f_.tics; ++tic)
      if (level(tic, d)) entry(tic, d) = static_cast<u16>(1u << label(tic, d));
  add_sconnect_alternates(f_, order_.ranks(), length_, entry_);
  balance_sconnect_tables(f_, order_.ranks(), length_, entry_);
  return std::move(entry_);
}

bool SconnectPlacing::use(u32 tic, u32 bit, u32 d) {
  if (const u32 n = far(tic, bit); level(n, d) && !order_.use(kQueueBits * tic + bit, label(n, d))) return false;
  label(tic, d) = static_cast<u8>(bit);
  return true;
}

void SconnectPlacing::remove_paths(u32 d) {
  for (u32 tic = 0; tic < f_.tics; ++tic) {
    const u32 bit = label(tic, d);
    if (bit == kNoPathYet) continue;
    if (const u32 n = far(tic, bit); level(n, d)) order_.drop(kQueueBits * tic + bit, label(n, d));
  }
  std::fill_n(label_.begin() + pair_index(0, d), f_.tics, kNoPathYet);
}

bool SconnectPlacing::settle(u32 tic, u32 d, bool move) {
  ++work_;
  u32 best = kNone, best_new = 1, best_rank = 0, hards = 0, hard[kQueueBits];
  for_each_nearer(tic, d, [&](u32 bit) {
    const u32 q = kQueueBits * tic + bit, rank = order_.rank(q), n = far(tic, bit);
    const bool fresh = level(n, d) && !order_.used(q, label(n, d));
    if (fresh && rank >= order_.rank(order_.next(q, label(n, d)))) {
      hard[hards++] = bit;
      return;
    }
    if (best != kNone && (fresh > best_new || (fresh == best_new && rank <= best_rank))) return;
    best = bit, best_new = fresh, best_rank = rank;
  });
  if (best != kNone) return use(tic, best, d);
  if (!move) return false;
  std::sort(hard, hard + hards,
            [&](u32 a, u32 b) { return order_.rank(kQueueBits * tic + a) < order_.rank(kQueueBits * tic + b); });
  return std::any_of(hard, hard + hards, [&](u32 bit) { return use(tic, bit, d); });
}

u32 SconnectPlacing::complete(u32 d, bool move) {
  u32 missing = 0;
  for (u32 i = 0; i < f_.tics; ++i) {
    const u32 tic = by_level_[pair_index(i, d)];
    if (level(tic, d) && label(tic, d) == kNoPathYet) missing += !settle(tic, d, move);
  }
  return missing;
}

void SconnectPlacing::improve() {
  u32 total = std::accumulate(missing_.begin(), missing_.end(), 0u);
  for (work_ = 0; total && work_ < kMostWork;) {
    check_interrupt();
    const u64 left = kMostWork - work_;
    work_ += 4 * u64{f_.tics};  // cost of the copy
    std::vector<u32> failing;
    for (u32 d = 0; d < f_.nodes; ++d)
      if (missing_[d]) failing.push_back(d);
    const u32 d = failing[random(static_cast<u32>(failing.size()))];
    std::vector<std::pair<u32, u32>> ends;
    for (u32 tic = 0; tic < f_.tics; ++tic)
      if (level(tic, d) && label(tic, d) == kNoPathYet)
        for_each_nearer(tic, d, [&](u32 bit) { ends.emplace_back(tic, bit); });
    const auto [tic, bit] = ends[random(static_cast<u32>(ends.size()))];
    const SconnectQueueOrder before = order_;
    std::vector<u32> touched{d}, counts;
    std::vector<std::vector<u8>> old(1, labels(d));
    u32 now = ~0u;
    if (force(tic, bit, d, touched, old)) {
      now = total;
      for (u32 x : touched) {
        counts.push_back(complete(x, true));
        now = now - missing_[x] + counts.back();
      }
    }
    const u32 slack = static_cast<u32>(total * left / kMostWork / 300);
    if (now > total + slack) {
      order_ = before;
      for (u32 i = 0; i < touched.size(); ++i)
        std::copy(old[i].begin(), old[i].end(), label_.begin() + pair_index(0, touched[i]));
      continue;
    }
    for (u32 i = 0; i < touched.size(); ++i) missing_[touched[i]] = counts[i];
    total = now;
  }
}

bool SconnectPlacing::force(u32 tic, u32 bit, u32 d, std::vector<u32>& touched, std::vector<std::vector<u8>>& old) {
  order_.clear_rejected();
  while (!use(tic, bit, d)) {
    const auto [queue, on] =
        order_.weakest(order_.next(kQueueBits * tic + bit, label(far(tic, bit), d)), kQueueBits * tic + bit);
    const u32 from = queue / kQueueBits, to = far(from, queue % kQueueBits);
    for (u32 x = 0; x < f_.nodes; ++x) {
      if (label(from, x) != queue % kQueueBits || label(to, x) != on) continue;
      if (x == d || touched.size() >= kMostAtOnce) return false;
      touched.push_back(x);
      old.push_back(labels(x));
      remove_paths(x);
    }
    order_.clear_rejected();
  }
  return true;
}

u32 SconnectPlacing::hosts_missing() {
  u32 count = 0;
  for (u32 d = 0; d < f_.nodes; ++d)
    for (const auto& tics : hosts_)
      for (u32 tic : tics) count += !has_path(tic, d);
  return count;
}

void SconnectPlacing::reorder() {
  SconnectQueueSearch search(f_, order_.ranks());
  search.run();
  if (search.missing() >= hosts_missing()) return;
  order_ = SconnectQueueOrder(f_, search.rank());
  std::fill(label_.begin(), label_.end(), kNoPathYet);
  for (u32 d = 0; d < f_.nodes; ++d) {
    for (u32 i = 0; i < f_.tics; ++i) {
      const u32 tic = by_level_[pair_index(i, d)];
      if (level(tic, d) && search.label(tic, d) != SconnectQueueSearch::kNoQueue) use(tic, search.label(tic, d), d);
    }
  }
  for (u32 d = 0; d < f_.nodes; ++d) complete(d, true);
}

std::vector<u16> sconnect_tables_by_queues(const SconnectFabric& f) {
  constexpr u64 kMostEntries = u64{1} << 18;  // tables with more entries would take too long
  if (u64{f.tics} * f.nodes > kMostEntries) return {};
  SconnectPlacing placing(f);
  placing.fill();
  if (!placing.make_detours()) return {};
  return placing.tables();
}

}  // namespace flitlab
