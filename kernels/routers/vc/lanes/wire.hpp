#pragma once
/// Construction of Wiring: for each port of a lane block, the rows of senders that it reads, as a list of (offset, mask
/// of lanes).
#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>
#include <vector>

#include "kernels/routers/vc/lanes/state.hpp"

namespace flitlab::vc::lanes {

/// Returns the rows that ports may read on average; with more, senders write to receivers' rows. Measured for random
/// graphs and dragonflies with 64 lanes: a row takes 2.3 ns, a written flit with its credit 8 ns. Ports of meshes and
/// tori read one or two rows.
inline u32 most_rows(u32 width) { return std::max(4u, width * 3 / 16); }

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

/// Replaces the rows that ports read by the elements to which their routers write.
inline void write_to_receivers(Wires& w, const VcTable& t, u32 width, u32 blocks) {
  w.sender_rows.clear();
  w.first.assign(w.first.size(), 0);
  const u32 row = row_elements(blocks * width, width);
  for (u32 b = 0; b < blocks; ++b)
    for (u32 port = 0; port < t.network_ports; ++port)
      for (u32 router = b * width; router < (b + 1) * width; ++router) {
        const Peer peer = router < t.routers ? t.peers[std::size_t{router} * t.ports + port] : Peer{kNone, 0};
        if (peer.item == kNone)
          w.other_end.push_back({kNone, 0, 0});
        else
          w.other_end.push_back({peer.port * row + peer.item, static_cast<u16>(link_delay_of(t, router, port)),
                                 static_cast<u16>(credit_delay_of(t, router, port))});
      }
}

/// Returns the wiring for blocks of `width` routers with elements of `bytes` bytes. `vcs`: virtual channels per port
/// for which lane state has room. `blocks`: at least enough for all routers. `may_write`: kMayWriteRows.
inline Wires wire(const VcTable& t, u32 width, u32 bytes, u32 vcs, u32 blocks, bool may_write = true) {
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
  for (u32 b = 0; b < blocks; ++b)
    for (u32 port = 0; port < t.network_ports; ++port) {
      w.first.push_back(static_cast<u32>(w.sender_rows.size()));
      std::map<std::tuple<u32, i32, u32, u32>, std::size_t> known;
      for (u32 lane = 0; lane < width && b * width + lane < t.routers; ++lane) {
        const u32 router = b * width + lane;
        const Peer& peer = t.peers[std::size_t{router} * t.ports + port];
        if (peer.item == kNone) continue;
        const i32 offset = static_cast<i32>(peer.item) - static_cast<i32>(router);
        // A channel has the same delays in both directions.
        const u32 link = link_delay_of(t, router, port), credit = credit_delay_of(t, router, port);
        const auto [at, is_new] = known.try_emplace({peer.port, offset, link, credit}, w.sender_rows.size());
        if (is_new) {
          w.sender_rows.push_back({static_cast<i32>(peer.port * row_elements(blocks * width, width)) + offset,
                                   static_cast<u32>(masks.size()), link, credit});
          masks.emplace_back(width * bytes);
        }
        std::fill_n(&masks[w.sender_rows[at->second].mask][lane * bytes], bytes, std::byte{0xFF});
      }
    }
  if (may_write && w.sender_rows.size() > std::size_t{most_rows(width)} * blocks * t.network_ports) {
    write_to_receivers(w, t, width, blocks);
    masks.clear();
  }
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
