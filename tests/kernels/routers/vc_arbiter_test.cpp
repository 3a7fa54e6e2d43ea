/// The matrix arbiter against a list in the order of last service.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "kernels/common/philox.hpp"
#include "kernels/routers/vc/arbitrate.hpp"

namespace flitlab {
namespace {

TEST(MatrixArbiter, ServesTheLeastRecentlyServed) {
  constexpr u32 n = 7;
  alignas(16) std::byte memory[64] = {};
  const Item<1> item{memory};
  const Field<u32> matrix{0};
  for (u32 i = 0; i < n; ++i) item.at(matrix, i) = ~0u << i << 1;
  std::vector<u32> order{0, 1, 2, 3, 4, 5, 6};  // front: longest without service
  for (u32 round = 0; round < 5000; ++round) {
    const u32 set = philox(1, 0, 0, round).word[0] & ((1u << n) - 1);
    if (!set) continue;
    const u32 naive = *std::find_if(order.begin(), order.end(), [&](u32 i) { return (set >> i) & 1; });
    const u32 winner = vc::matrix_winner(item, matrix, 0, set);
    ASSERT_EQ(winner, naive);
    vc::matrix_update(item, matrix, 0, n, winner);
    order.erase(std::find(order.begin(), order.end(), winner));
    order.push_back(winner);
  }
}

}  // namespace
}  // namespace flitlab
