#pragma once
/// Construction of Wiring: for each port of a lane block, the rows that it reads, as a list of (offset, mask of lanes),
/// and where routers write if these are their own rows.
#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "kernels/engines/tiles.hpp"
#include "kernels/routers/vc/lanes/state.hpp"

namespace flitlab::vc::lanes {

/// A row of senders that a port reads: the senders' port, their distance in routers, and the channels' delays.
using RowOfSenders = std::tuple<u32, i32, u32, u32>;

/// Calls work(lane, row) for the routers of block b whose port is connected.
template <class Work>
void for_each_row(const VcTable& t, u32 width, u32 b, u32 port, Work&& work) {
  for (u32 lane = 0; lane < width && b * width + lane < t.routers; ++lane) {
    const u32 router = b * width + lane;
    const Peer& peer = t.peers[std::size_t{router} * t.ports + port];
    if (peer.item == kNone) continue;
    // A channel has the same delays in both directions.
    work(lane, RowOfSenders{peer.port, static_cast<i32>(peer.item) - static_cast<i32>(router),
                            link_delay_of(t, router, port), credit_delay_of(t, router, port)});
  }
}

/// Returns whether ports would read so many rows that routers write to rows of receivers instead. Ports of
/// meshes and tori read one or two rows. With 64 lanes a row takes 2.3 ns; the random graph of docs/benchmarks.md is a
/// third faster without them, and the dragonfly of 36 routers as fast, at a load of 0.2, and a tenth faster at 0.02.
inline bool has_many_rows(const VcTable& t, u32 width) {
  if (t.algorithm != Algorithm::kTable) return false;
  u64 rows = 0, ports = 0;
  for (u32 b = 0; b < blocks_of(t.routers, width); ++b)
    for (u32 port = 0; port < t.network_ports; ++port) {
      std::set<RowOfSenders> of_port;
      for_each_row(t, width, b, port, [&](u32, const RowOfSenders& row) { of_port.insert(row); });
      rows += of_port.size();
      ports += !of_port.empty();
    }
  return rows > ports * std::max(4u, width * 3 / 16);
}

struct Wires {
  std::vector<u32> to;
  std::vector<u32> first;
  std::vector<SenderRow> sender_rows;
  std::vector<std::byte> masks;
  std::vector<OtherEnd> other_end;

  /// Starts of the masks, and of the widths, inside `masks`, aligned to a cache line, which a vector does not
  /// guarantee.
  const std::byte *mask_base = nullptr, *width_base = nullptr;
};

/// Lets routers write to rows of receivers: a port reads one row, its own.
inline void write_to_receivers(Wires& w, std::vector<std::vector<std::byte>>& masks, const VcTable& t, u32 width,
                               u32 bytes, u32 blocks) {
  masks.emplace_back(width * bytes, std::byte{0xFF});
  const u32 row = row_elements(blocks * width, width);
  for (u32 b = 0; b < blocks; ++b)
    for (u32 port = 0; port < t.network_ports; ++port) {
      w.first.push_back(static_cast<u32>(w.sender_rows.size()));
      w.sender_rows.push_back({static_cast<i32>(port * row), 0, 0, 0});
      for (u32 router = b * width; router < (b + 1) * width; ++router) {
        const Peer peer = router < t.routers ? t.peers[std::size_t{router} * t.ports + port] : Peer{kNone, 0};
        if (peer.item == kNone)
          w.other_end.push_back({kNone, 0, 0});
        else
          w.other_end.push_back({peer.port * row + peer.item, static_cast<u16>(link_delay_of(t, router, port)),
                                 static_cast<u16>(credit_delay_of(t, router, port))});
      }
    }
}

/// Lets ports read the rows of their senders.
inline void read_from_senders(Wires& w, std::vector<std::vector<std::byte>>& masks, const VcTable& t, u32 width,
                              u32 bytes, u32 blocks) {
  const u32 elements = row_elements(blocks * width, width);
  for (u32 b = 0; b < blocks; ++b)
    for (u32 port = 0; port < t.network_ports; ++port) {
      w.first.push_back(static_cast<u32>(w.sender_rows.size()));
      std::map<RowOfSenders, u32> known;
      for_each_row(t, width, b, port, [&](u32 lane, const RowOfSenders& row) {
        const auto [at, is_new] = known.try_emplace(row, static_cast<u32>(masks.size()));
        const auto [other_port, distance, link, credit] = row;
        if (is_new) {
          w.sender_rows.push_back({static_cast<i32>(other_port * elements) + distance, at->second, link, credit});
          masks.emplace_back(width * bytes);
        }
        std::fill_n(&masks[at->second][lane * bytes], bytes, std::byte{0xFF});
      });
    }
}

/// Returns the neighbours of tiles; a tile has two blocks. A block reads the words that hold its senders' elements,
/// with elements between them that it ignores, and perhaps the next word (load_unaligned() in
/// kernels/common/byte_slices.cuh). `writes`: routers write to rows of receivers; then a block also reads its own row.
inline TileNeighbours neighbours_of_tiles(const VcTable& t, u32 width, u32 blocks, bool writes) {
  std::vector<std::set<u32>> tiles(blocks / 2);
  const i32 block = static_cast<i32>(width), last = static_cast<i32>(blocks * width) - 1;
  for (u32 b = 0; b < blocks; ++b) {
    std::set<i32> distances;
    if (writes) distances.insert(0);
    for (u32 port = 0; port < t.network_ports; ++port)
      for_each_row(t, width, b, port, [&](u32, const RowOfSenders& row) { distances.insert(std::get<1>(row)); });
    for (const i32 distance : distances) {
      const i32 start = static_cast<i32>(b) * block + distance, from = std::max(start, 0);
      for (i32 tile = from / (2 * block); tile <= std::min(start + block, last) / (2 * block); ++tile)
        tiles[b / 2].insert(static_cast<u32>(tile));
    }
  }
  return TileNeighbours(std::move(tiles));
}

/// Returns the wiring for blocks of `width` routers with elements of `bytes` bytes. `vcs`: virtual channels per port
/// for which lane state has room. `blocks`: at least enough for all routers. `may_write`: whether routers may write to
/// rows of receivers (kMayWriteRows).
inline Wires wire(const VcTable& t, u32 width, u32 bytes, u32 vcs, u32 blocks, bool may_write) {
  Wires w;
  const u32 queues = (t.ports + t.concentration) * vcs;
  for (u32 b = 0; b < blocks; ++b)
    for (u32 port = 0; port < t.ports; ++port)
      for (u32 lane = 0; lane < width; ++lane) {
        const u32 router = b * width + lane;
        Peer peer{kNone, 0};
        if (router < t.routers)
          peer = port < t.network_ports ? t.peers[std::size_t{router} * t.ports + port]
                                        : Peer{router, static_cast<u16>(t.ports + port - t.network_ports)};
        w.to.push_back(peer.item == kNone ? kNone
                                          : (peer.item / width * queues + peer.port * vcs) * width + peer.item % width);
      }
  std::vector<std::vector<std::byte>> masks;
  if (may_write && has_many_rows(t, width))
    write_to_receivers(w, masks, t, width, bytes, blocks);
  else
    read_from_senders(w, masks, t, width, bytes, blocks);
  w.first.push_back(static_cast<u32>(w.sender_rows.size()));
  const std::size_t readers = masks.size();
  for (u32 b = 0; t.narrow && b < blocks; ++b)
    for (u32 port = 0; port < t.network_ports; ++port)
      for (const u8 PortChannel::* number : {&PortChannel::flits, &PortChannel::cycles}) {
        masks.emplace_back(width * bytes);
        for (u32 lane = 0; lane < width && b * width + lane < t.routers; ++lane)
          masks.back()[lane * bytes] = std::byte{channel_of(t, b * width + lane, port).*number};
      }
  w.masks.resize(masks.size() * width * bytes + 64);
  std::byte* base = w.masks.data() + (64 - reinterpret_cast<std::uintptr_t>(w.masks.data()) % 64) % 64;
  for (std::size_t i = 0; i < masks.size(); ++i) std::memcpy(base + i * width * bytes, masks[i].data(), width * bytes);
  w.mask_base = base;
  w.width_base = t.narrow ? base + readers * width * bytes : nullptr;
  return w;
}

}  // namespace flitlab::vc::lanes
