#pragma once
/// Groups of routers that a step processes together, and the lists that a step makes of their ports and virtual
/// channels. On a CPU and for a block of GPU threads a group has many routers, otherwise one.
#include <type_traits>
#include <utility>

#include "kernels/common/flat_lists.hpp"
#include "kernels/routers/t3e/arbitrate.hpp"

namespace flitlab::t3e {

/// A router of a group. `View`: a view, or a reference to one.
template <class View, int W>
struct RouterOfGroup {
  View v;
  Item<W> router;
  u32 index;

  FLITLAB_INLINE RouterControl& control() const { return router.at(v.t.router_fields.control); }
  FLITLAB_INLINE PortState& port(u32 port) const { return router.at(v.t.router_fields.port, port); }
  FLITLAB_INLINE InputVc& input(u32 bit) const { return input_vc(v, router, bit / kMaxVcs, bit % kMaxVcs); }
};

/// Up to `kMost` routers of one replica, and their output ports that are taken in this clock.
template <u32 kMost, class V>
class RouterGroup {
  static constexpr int W = V::width;
  using Out = std::conditional_t<kMost == 1, Outbox<V>, BulkOutbox<V>>;

 public:
  static constexpr bool traced = V::traced;

  FLITLAB_INLINE RouterGroup(const V& view, const u32* list, u32 count, Cycle now)
      : v_(view), index_(list), n_(kMost == 1 ? 1 : count), outbox_(outbox_of<Out>(view, now)) {
    for (u32 i = 0; i < n_; ++i) router_[i] = v_.routers[list[i]], taken_[i] = 0;
  }

  FLITLAB_INLINE RouterOfGroup<const V&, W> operator[](u32 i) const { return {v_, router_[i], index_[i]}; }
  FLITLAB_INLINE const auto& table() const { return v_.t; }
  FLITLAB_INLINE ItemRange<kMost> all() const { return {n_}; }
  FLITLAB_INLINE const Out& outbox(const V&) const { return outbox_; }
  /// Counts the flits of a list of moves. A block of GPU threads counts each flit in its replica, by count_flit().
  FLITLAB_INLINE void count_flits(const MoveList<kMost, kPorts>& moves) const {
    count(*v_.shard, Total::kFlitMoves, moves.count);
  }
  FLITLAB_INLINE void count_flit(const V&) const {}

  /// Returns the output ports that are taken: bit 7 of the port's byte.
  FLITLAB_INLINE u64 taken(u32 i) const { return taken_[i]; }
  FLITLAB_INLINE void set_taken(u32 i, u64 ports) { taken_[i] = ports; }
  FLITLAB_INLINE bool is_taken(u32 i, u32 port) const { return taken_[i] >> (port * 8 + 7) & 1; }
  FLITLAB_INLINE void take(u32 i, u32 port, bool if_so) { taken_[i] |= u64{if_so} << (port * 8 + 7); }

 private:
  const V& v_;
  const u32* index_;  ///< `[n]`: numbers of the routers
  u32 n_;
  Out outbox_;
  Item<W> router_[kMost];
  u64 taken_[kMost];
};

/// A group of a block of GPU threads, with the members of RouterGroup. The routers may belong to several replicas.
/// `Items`: ItemsOfBlock (block_lists.hpp).
template <class Items>
class BlockGroup {
  using V = decltype(std::declval<const Items&>().view(0));

 public:
  static constexpr bool traced = V::traced;

  /// `taken`: `[router of the group]`, in shared memory.
  FLITLAB_INLINE BlockGroup(const Items& items, u64* taken, Cycle now) : items_(items), taken_(taken), now_(now) {
    // No barrier is needed: the first part of the step begins with one.
    for (u32 i = thread_of_block(); i < all().count; i += all().threads) taken[i] = 0;
  }

  FLITLAB_INLINE RouterOfGroup<V, V::width> operator[](u32 i) const {
    const V v = items_.view(i);
    const u32 index = items_.index(i);
    return {v, v.routers[index], index};
  }
  FLITLAB_INLINE const auto& table() const { return items_.table(); }
  FLITLAB_INLINE const ItemRange<kGpuBlock>& all() const { return items_.all(); }
  FLITLAB_INLINE Outbox<V> outbox(const V& v) const { return outbox_of<Outbox<V>>(v, now_); }
  FLITLAB_INLINE void count_flits(const MoveList<kGpuBlock, kPorts>&) const {}
  FLITLAB_INLINE void count_flit(const V& v) const { count(*v.shard, Total::kFlitMoves); }

  // Threads that visit ports of the same router change different bytes.
  FLITLAB_INLINE u64 taken(u32 i) const { return taken_[i]; }
  FLITLAB_INLINE void set_taken(u32 i, u64 ports) { taken_[i] = ports; }
  FLITLAB_INLINE bool is_taken(u32 i, u32 port) const { return byte_of_port(taken_[i], port) != 0; }
  FLITLAB_INLINE void take(u32 i, u32 port, bool if_so) {
    if (if_so) put_byte(taken_[i], port, 0x80);
  }

 private:
  const Items& items_;
  u64* taken_;
  Cycle now_;
};

/// Ports of routers, each with a byte of an inbox.
template <u32 kMost>
using Bytes = ByteList<kMost>;
template <u32 kMost>
using RareBytes = RareByteList<kMost>;
/// Input VCs; a member is bit_of(port, VC).
template <u32 kMost>
using Channels = FlatBitList<kMost, kPorts>;
/// Routers; unused by a block of GPU threads.
template <u32 kMost>
struct Awake : ItemList<kMost> {};
template <>
struct Awake<kGpuBlock> {};
/// Deterministic output VCs that are requested and have no owner.
template <u32 kMost>
using OpenOutputs =
    std::conditional_t<kMost == kGpuBlock, FlatBitList<kMost, kPorts * kDeterministicVcs>, SetList<kMost>>;
/// Output ports for which a flit competes.
template <u32 kMost>
using Outputs = std::conditional_t<kMost == kGpuBlock, FlatBitList<kMost, kPorts>, ByteList<kMost>>;
/// Input VCs with a new front packet, which is still to be routed. A block of GPU threads routes it at once.
template <u32 kMost>
struct Fronts : Channels<kMost> {};
template <>
struct Fronts<kGpuBlock> {};
/// Input VCs with an inbox byte, or with bit_of() of the output VC to which a flit moves.
template <u32 kMost>
using Moves = MoveList<kMost, kPorts>;

/// Lists of what arrives in a clock. These structs have references, because on a CPU each list is a variable: a
/// compiler keeps the lengths of lists in registers only if the lists are separate objects.
template <u32 kMost>
struct ArrivalLists {
  Bytes<kMost>&credits, &waking;
  RareBytes<kMost>&heads, &passing;
  Fronts<kMost>& fronts;
  /// Flits that arrive at routers with empty buffers. Members of `arriving_heads` and `stay` have an inbox byte.
  Moves<kMost>&moves, &moving_heads, &tails, &arriving_heads, &stay;
};

/// Lists of requests and grants of output VCs, and of the flits that cross.
template <u32 kMost>
struct ArbitrationLists {
  Bids* bids;           ///< `[router of the group]`
  Awake<kMost>& awake;  ///< routers with flits that may move
  Bytes<kMost>& ready;
  Channels<kMost>&bidders, &starting, &adapting, &stopped, &requesters, &adaptive_requests;
  OpenOutputs<kMost>& open_outputs;
  Outputs<kMost>& outputs;
  Moves<kMost>&moves, &heads, &tails;
  Channels<kMost>&winners, &released;
  Fronts<kMost>& fronts;
};

/// What a block of GPU threads shares during a step. Lists that are used one after the other have the same place.
struct SharedLists {
  BlockItems routers;
  u64 taken[kGpuBlock];  ///< for BlockGroup
  union {
    struct {
      Bytes<kGpuBlock> credits, waking;
      RareBytes<kGpuBlock> heads, passing;
      Moves<kGpuBlock> moves, moving_heads, tails, arriving_heads, stay;
    } in;
    struct {
      Bids bids[kGpuBlock];
      Channels<kGpuBlock> requesters, adaptive_requests;
      OpenOutputs<kGpuBlock> open_outputs;
      Outputs<kGpuBlock> outputs;
      Moves<kGpuBlock> moves;
      union {
        struct {
          Bytes<kGpuBlock> ready;
          Channels<kGpuBlock> bidders, starting, adapting, stopped;
        } request;
        struct {
          Moves<kGpuBlock> heads, tails;
          Channels<kGpuBlock> winners, released;
        } cross;
      };
    } out;
  };
  Fronts<kGpuBlock> fronts;  // without members, as `awake`
  Awake<kGpuBlock> awake;

  FLITLAB_INLINE ArrivalLists<kGpuBlock> arrivals() {
    return {in.credits, in.waking,       in.heads, in.passing,        fronts,
            in.moves,   in.moving_heads, in.tails, in.arriving_heads, in.stay};
  }
  FLITLAB_INLINE ArbitrationLists<kGpuBlock> arbitration() {
    auto& r = out.request;
    auto& c = out.cross;
    return {out.bids,         awake,          r.ready,
            r.bidders,        r.starting,     r.adapting,
            r.stopped,        out.requesters, out.adaptive_requests,
            out.open_outputs, out.outputs,    out.moves,
            c.heads,          c.tails,        c.winners,
            c.released,       fronts};
  }

  // One thread calls these functions, when no thread uses other lists in the same place any more.
  FLITLAB_INLINE void clear(const ItemRange<kGpuBlock>& group) {
    clear_lists(group, in.credits, in.waking, in.heads, in.passing, in.moves, in.moving_heads, in.tails,
                in.arriving_heads, in.stay);
  }
  FLITLAB_INLINE void begin_requests(const ItemRange<kGpuBlock>& group) {
    auto& r = out.request;
    clear_lists(group, r.ready, r.bidders, r.starting, r.adapting, r.stopped, out.requesters, out.adaptive_requests,
                out.open_outputs, out.outputs, out.moves);
  }
  FLITLAB_INLINE void begin_cross(const ItemRange<kGpuBlock>& group) {
    clear_lists(group, out.cross.heads, out.cross.tails, out.cross.winners, out.cross.released);
  }

 private:
  template <class... Lists>
  FLITLAB_INLINE static void clear_lists(const ItemRange<kGpuBlock>& group, Lists&... lists) {
    (lists.clear(group.threads), ...);
  }
};

}  // namespace flitlab::t3e
