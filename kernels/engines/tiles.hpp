#pragma once
/// Neighbours of tiles, on the host (kernels/engines/tile_flags.cuh).
#include <algorithm>
#include <set>
#include <vector>

#include "kernels/common/types.hpp"

namespace flitlab {

/// Most neighbours of a tile with which tiles synchronise by flags: each thread of a warp polls one. With more, the
/// grid barrier is likely to be cheaper, because a tile then waits for most of the network anyway.
inline constexpr u32 kMostNeighbours = 32;

/// For each tile of a network, the other tiles that access the same data.
struct TileNeighbours {
  std::vector<u32> first{0};  ///< [tile] first entry in `list`; one more at the end
  std::vector<u32> list;
  u32 most = 0;  ///< neighbours of a tile

  /// `tiles`: for each tile, tiles that access the same data, perhaps itself.
  explicit TileNeighbours(std::vector<std::set<u32>> tiles) {
    for (u32 a = 0; a < tiles.size(); ++a)
      for (const u32 b : tiles[a]) tiles[b].insert(a);
    for (u32 a = 0; a < tiles.size(); ++a) {
      tiles[a].erase(a);
      list.insert(list.end(), tiles[a].begin(), tiles[a].end());
      first.push_back(static_cast<u32>(list.size()));
      most = std::max(most, static_cast<u32>(tiles[a].size()));
    }
  }
};

}  // namespace flitlab
