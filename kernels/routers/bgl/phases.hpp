#pragma once
/// One cycle of a node's torus unit. For a packet of n chunks, alone in the network, whose head requests in cycle t:
///   t                         the head leaves
///   t + hop_delay             the head requests in the next node
///   t + 32 n                  the tail has left this node's buffer
///   t + 32 n + overhead       the link can take the next packet
///   t + 32 n + token_delay    the upstream sender has the tokens
/// A denied request is presented again in the next cycle, or, if it cannot be granted then, after a change in the node.
#include "kernels/engines/phases.hpp"
#include "kernels/routers/bgl/step.hpp"

namespace flitlab::bgl {

struct NodePhase {
  static constexpr const char* name = "node";
  static constexpr bool listed = true;

  template <class V>
  FLITLAB_HD static u32 items(const V& v) {
    return v.t.routers;
  }

  // The phase for one node at a time; tests compare the CPU's bulk phase with it.
  template <class V>
  FLITLAB_INLINE static u64 due_set(const V& v, u32 group, Cycle now) {
    return noted_nodes(v, group, now);
  }
  template <class V>
  FLITLAB_INLINE static bool due(const V& v, u32 index, Cycle now) {
    return is_noted(v, index, now);
  }
  template <class V>
  FLITLAB_INLINE static void work(const V& v, u32 index, Cycle now) {
    run(v, index, now);
  }
  template <class V>
  FLITLAB_INLINE static void prefetch(const V& v, u32 index) {
    prefetch_node(v, v.nodes[index]);
  }

  /// Bulk phase: processes groups of up to kAtOnce nodes. Granted transfers start after the step of the next group,
  /// when their prefetches have completed. The next group's nodes are prefetched one by one, because only few loads can
  /// be outstanding.
  template <class V>
    requires(V::width == 1)
  FLITLAB_INLINE static void work_groups(const V& v, u32 first, u32 last, Cycle now, bool prefetch) {
    Grants::Grant granted[2][kAtOnce * kDirections];
    Grants before{granted[1]};
    NodeGroup<V::width, kAtOnce> node_groups[2];
    for (; first < last; first += kGroups) {
      DueNodes<kGroups> due(v, first, std::min(first + kGroups, last), now);
      due.take(v, node_groups[0]);
      for (u32 i = 0; prefetch && i < node_groups[0].count; ++i) prefetch_node(v, node_groups[0].node[i]);
      for (u32 k = 0; node_groups[k % 2].count; ++k) {
        const auto& next = node_groups[(k + 1) % 2];
        due.take(v, node_groups[(k + 1) % 2]);
        Grants grants{granted[k % 2]};
        auto& group = node_groups[k % 2];
        step<kAtOnce>(ItemsOfGroup<V, kAtOnce>{v, group}, group, grants, now,
                      [&](u32 i) __attribute__((always_inline)) {
                        if (prefetch && i < next.count) prefetch_node(v, next.node[i]);
                      });
        move_packets(v, before, now);
        before = grants;
      }
      move_packets(v, before, now);
      before.count = 0;
    }
  }

  template <class V>
  FLITLAB_INLINE static void run(const V& v, u32 index, Cycle now) {
    const Notes notes = take_notes(v, index, now);
    if (!all_of(notes)) return;
    NodeGroup<V::width, 1> batch;
    batch.set(v, 0, index);
    batch.count = 1;
    batch.with_head.add(0, notes.heads);
    batch.with_tokens.add(0, notes.tokens);
    batch.from_software.add(0, notes.heard);
    batch.freed.add(0, notes.again);
    batch.turning.add(0, notes.queues);
    NodeGrants grants;
    step<1>(OneItem<V>{v, index}, batch, grants, now, [](u32) {});
    const auto node = v.nodes[index];
    for (u64 left = grants.queues; left; left &= left - 1)
      leave(v, node, node.at(v.t.node_fields.control), index, lowest_bit(left),
            (grants.bypassing & left & (~left + 1)) != 0, now);
  }

  using InBlock = NodesOfBlock;

  /// The phase for the nodes that are due, on a GPU. All threads of the block call it.
  template <class Due>
  FLITLAB_INLINE static void work_in_block(const Due& due, InBlock& group, Cycle now) {
    step_in_block(due, group.items, group, [&](const auto& nodes) __attribute__((always_inline)) {
      for (u32 i : nodes.all()) {
        group.bypass[i] = 0;
        group.acks.clear_item(i);
        const Notes notes = take_notes(nodes.view(i), nodes.index(i), now);
        group.with_head.add(i, notes.heads);
        group.with_tokens.add(i, notes.tokens);
        group.from_software.add(i, notes.heard);
        group.freed.add(i, notes.again);
        group.turning.add(i, notes.queues);
      }
      BlockGrants grants{group.granted, {}};
      step<kGpuBlock>(nodes, group, group.lists(), grants, now, [](u32) {});
      group.granted.for_each([&](u32 i, u32 queue) {
        const auto& v = nodes.view(i);
        const auto node = group.node_of(nodes, i);
        leave(v, node, node.at(v.t.node_fields.control), nodes.index(i), queue, (group.bypass[i] & bit(queue)) != 0,
              now);
      });
    });
  }

 private:
  static constexpr u32 kAtOnce = 64;   ///< nodes of one bulk step
  static constexpr u32 kGroups = 128;  ///< groups of 64 nodes whose calendar entries are read together

  template <class V>
  FLITLAB_INLINE static void move_packets(const V& v, const Grants& grants, Cycle now) {
    for (u32 k = 0; k < grants.count; ++k) {
      const auto& [index, queue, bypass] = grants.list[k];
      const auto node = v.nodes[index];
      leave(v, node, node.at(v.t.node_fields.control), index, queue, bypass, now);
    }
  }
};

}  // namespace flitlab::bgl
