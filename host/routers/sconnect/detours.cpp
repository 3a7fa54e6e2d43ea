/// Longer paths for pairs (TIC, destination) that have no shortest path.
#include <algorithm>
#include <numeric>
#include <tuple>

#include "host/plan/interrupt.hpp"
#include "host/routers/sconnect/placing.hpp"

namespace flitlab {

namespace {
/// Number of other destinations whose paths are removed together with the paths of a blocked destination.
constexpr u32 kOthers = 8;
constexpr u32 kMostForced = 20;  ///< most forced detours for one destination
}  // namespace

bool SconnectPlacing::make_detours() {
  for (u32 d = 0; d < f_.nodes; ++d) set_lengths(d);
  if (!make_detours(true)) return false;
  for (u32 d = 0; d < f_.nodes; ++d)
    for (u32 tic = 0; tic < f_.tics; ++tic)
      if (!has_path(tic, d)) add_path_for_hostless(tic, d);
  return make_detours(false);
}

bool SconnectPlacing::make_detours(bool hosts_only) {
  std::vector<u32> todo(f_.nodes);
  std::iota(todo.rbegin(), todo.rend(), 0u);
  for (u32 tries = 0; !todo.empty();) {
    check_interrupt();
    const u32 d = todo.back();
    std::vector<u32> stuck = find_longer_paths(d);
    if (hosts_only) std::erase_if(stuck, [&](u32 tic) { return !is_host_[tic]; });
    if (stuck.empty()) {
      todo.pop_back();
      continue;
    }
    if (++tries > kMostForced * f_.nodes || work_ > 2 * kMostWork) return false;
    // Force a step of the path for one of the TICs without a path. Paths that this step displaces are computed again.
    const u32 tic = stuck[random(static_cast<u32>(stuck.size()))];
    std::vector<u32> ends, touched;
    for (u32 bit = 0; bit < kQueueBits; ++bit)
      if (has_queue(f_, tic, bit) && has_path(far(tic, bit), d)) ends.push_back(bit);
    if (ends.empty()) return false;
    const u32 bit = ends[random(static_cast<u32>(ends.size()))];
    std::vector<std::vector<u8>> old;
    if (force(tic, bit, d, touched, old)) {
      length_[pair_index(tic, d)] = static_cast<u16>(length_[pair_index(far(tic, bit), d)] + 1);
    } else {  // paths to the same destination block the step: start again without them and some others
      touched.insert(touched.begin(), d);
      for (u32 i = 0; i < kOthers; ++i) touched.push_back(random(f_.nodes));
      for (u32 x : touched) remove_paths(x);
      order_.clear_rejected();
    }
    for (u32 x : touched) {
      complete(x, true);
      set_lengths(x);
      todo.push_back(x);
    }
  }
  return true;
}

std::pair<u64, u32> SconnectPlacing::cost() {
  std::pair<u64, u32> sum{0, 0};
  for (u32 d = 0; d < f_.nodes; ++d)
    for (u32 tic = 0; tic < f_.tics; ++tic) {
      if (is_host_[tic]) sum.first += has_path(tic, d) ? length_[pair_index(tic, d)] : kNoPath;
      sum.second += !has_path(tic, d);
    }
  return sum;
}

void SconnectPlacing::add_path_for_hostless(u32 tic, u32 d) {
  const auto before = std::tuple(order_, label_, length_);
  const auto [hops, without] = cost();
  for (u32 bit = 0; bit < kQueueBits; ++bit) {
    if (!has_queue(f_, tic, bit) || !has_path(far(tic, bit), d)) continue;
    std::vector<u32> touched;
    std::vector<std::vector<u8>> old;
    if (force(tic, bit, d, touched, old)) {
      length_[pair_index(tic, d)] = static_cast<u16>(length_[pair_index(far(tic, bit), d)] + 1);
      for (u32 x : touched) {
        complete(x, true);
        set_lengths(x);
        find_longer_paths(x);
      }
      if (const auto [now, still] = cost(); now <= hops && still < without) return;
    }
    std::tie(order_, label_, length_) = before;
  }
}

std::vector<u32> SconnectPlacing::find_longer_paths(u32 d) {
  std::vector<u32> left;
  for (u32 tic = 0; tic < f_.tics; ++tic)
    if (!has_path(tic, d)) left.push_back(tic);
  for (bool found = true; !left.empty() && found;) {
    found = false;
    // Try the shortest paths first.
    for (u32 length = 2; length <= 2 * f_.tics && !found; ++length) {
      bool any = false;
      for (std::size_t i = 0; i < left.size() && !found; ++i) {
        const u32 tic = left[i];
        for (u32 bit = 0; bit < kQueueBits && !found; ++bit) {
          if (!has_queue(f_, tic, bit) || !has_path(far(tic, bit), d)) continue;
          const u32 path_length = length_[pair_index(far(tic, bit), d)] + 1u;
          any |= path_length >= length;
          if (path_length != length || !use(tic, bit, d)) continue;
          length_[pair_index(tic, d)] = static_cast<u16>(path_length);
          left.erase(left.begin() + static_cast<std::ptrdiff_t>(i));
          found = true;
        }
      }
      if (!any) break;
    }
  }
  return left;
}

}  // namespace flitlab
