#pragma once
/// All-to-all traffic: the order in which a terminal sends to all other terminals. A packet's destination is computed
/// from the packet's number, so no order is stored.
#include "kernels/common/bits.hpp"
#include "kernels/common/philox.hpp"
#include "kernels/common/streams.hpp"
#include "kernels/traffic/choices.hpp"

namespace flitlab {

/// Returns element `position` of a random order of the numbers 0 to `count` - 1, which `key` selects. A keyed bijection
/// of the numbers below the next power of two is repeated until its result is below `count`, usually once or twice
/// (cycle walking: Black & Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002). The bijection has eight
/// rounds, because with four the orders of a few numbers would not be equally likely.
FLITLAB_HD inline u32 shuffled(u32 position, u32 count, u64 key) {
  const u32 bits = bit_width(count - 1), half = (bits + 1) / 2, mask = (1u << bits) - 1;
  u32 x = position;
  do {
    u64 k = key;
    for (u32 round = 0; round < 8; ++round) {
      x = (x * (static_cast<u32>(k >> 32) | 1u) + static_cast<u32>(k >> 40)) & mask;
      x ^= x >> half;
      k = k * 6364136223846793005u + 1442695040888963407u;  // Knuth's MMIX generator
    }
  } while (x >= count);
  return x;
}

/// Returns the index of the destination, among a terminal's `count` destinations, in turn `turn`. In each turn the
/// terminal sends to one destination; turns are counted from 0, and `count` turns visit every destination once. A
/// rotated order begins with destination `first`.
FLITLAB_HD inline u32 destination_of_turn(Order order, u64 seed, u32 terminal, u32 first, u32 count, u32 turn) {
  const u32 position = turn % count;
  if (order == Order::kSame) return position;
  if (order == Order::kRotated) {
    const u32 to = first + position;
    return to < count ? to : to - count;
  }
  const Random4 r = philox(seed, stream::kAllToAll, terminal, turn / count);
  return shuffled(position, count, u64{r.word[0]} << 32 | r.word[1]);
}

/// Returns the rank (index in the group) of the destination in a turn, in a group of `count` >= 2 terminals that send
/// to one another. The sender is `terminal`, with rank `rank`; a rotated order begins with the next rank.
FLITLAB_HD inline u32 all_to_all_rank(Order order, u64 seed, u32 terminal, u32 rank, u32 count, u32 turn) {
  const u32 others = count - 1, first = rank < others ? rank : 0;
  const u32 other = destination_of_turn(order, seed, terminal, first, others, turn);
  return other + (other >= rank);
}

}  // namespace flitlab
