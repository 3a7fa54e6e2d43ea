#pragma once
/// Groups of nodes that a step processes together, and for each kind of event the list of the group's nodes that have
/// one. On a CPU and for a block of GPU threads a group has many nodes, otherwise one.
#include "kernels/common/block_lists.hpp"
#include "kernels/routers/bgl/calendar.hpp"

namespace flitlab::bgl {

/// Nodes that one bulk step processes together, and for each kind of calendar note a list of the nodes that have such a
/// note.
template <int W, u32 kMost>
struct NodeGroup {
  u32 index[kMost];
  Item<W> node[kMost];
  u64 bypass[kMost];  ///< `[node]`: queues whose head may use the bypass channel; empty at the start of a step
  u32 count = 0;
  ItemList<kMost> with_head, with_tokens, from_software, freed, turning;

  template <class V>
  FLITLAB_INLINE void set(const V& v, u32 number, u32 item) {
    index[number] = item;
    node[number] = v.nodes[item];
    bypass[number] = 0;
  }
  template <class Items>
  FLITLAB_INLINE const Item<W>& node_of(const Items&, u32 number) const {
    return node[number];
  }
};

/// Largest number of queues of a node whose transfers can end in the same cycle.
inline constexpr u32 kMostEnds = 8 * kDirections + kInjectionFifos;

/// Lists that a step makes of a group's nodes. It has references, because on a CPU each list is a variable: a compiler
/// keeps the lengths of lists in registers only if the lists are separate objects.
template <u32 kMost>
struct StepLists {
  /// Whether `leaving` and `arriving` are one list, so that a GPU has one copy of the code that ends a transfer.
  static constexpr bool kOneListOfEnds = kMost == 1 || kMost == kGpuBlock;

  SetList<kMost>&free, &coming, &back;            ///< links, receivers, and directions with returned tokens
  SetList<kMost>&leaving, &arriving;              ///< senders and queues whose transfer may end
  BitList<kMost, kDirections + kMostEnds>& acks;  ///< links on which a token packet may go now
  ItemList<kMost>&here, &waiting, &uncontested, &contended, &stored;
  u64* able;  ///< `[node]`: heads that may win a link

  FLITLAB_INLINE void add_ends(u32 i, u32 senders, u64 queues) const {
    if constexpr (kOneListOfEnds) {
      leaving.add(i, senders | queues << kDirections);
    } else {
      leaving.add(i, senders);
      arriving.add(i, queues);
    }
  }
  /// Calls visit(node, sender, true) and visit(node, queue, false).
  template <class Visit>
  FLITLAB_INLINE void for_each_end(Visit&& visit) const {
    if constexpr (kOneListOfEnds) {
      leaving.for_each([&](u32 i, u32 k) __attribute__((always_inline)) {
        visit(i, k < kDirections ? k : k - kDirections, k < kDirections);
      });
    } else {
      leaving.for_each([&](u32 i, u32 sender) __attribute__((always_inline)) { visit(i, sender, true); });
      arriving.for_each([&](u32 i, u32 queue) __attribute__((always_inline)) { visit(i, queue, false); });
    }
  }
};

/// What a block of GPU threads shares during a step; with the members of NodeGroup that a step uses.
struct NodesOfBlock {
  BlockItems items;
  u64 bypass[kGpuBlock], able[kGpuBlock];
  ItemList<kGpuBlock> with_head, with_tokens, from_software, freed, turning;
  SetList<kGpuBlock> free, coming, back, ends;
  BitList<kGpuBlock, kDirections + kMostEnds> acks;
  ItemList<kGpuBlock> here, waiting, uncontested, contended, stored;
  SetList<kGpuBlock> granted;  ///< queues

  FLITLAB_INLINE StepLists<kGpuBlock> lists() {
    return {free, coming, back, ends, ends, acks, here, waiting, uncontested, contended, stored, able};
  }
  template <class Items>
  FLITLAB_INLINE auto node_of(const Items& of_step, u32 number) const {
    return of_step.view(number).nodes[of_step.index(number)];
  }
  FLITLAB_INLINE void clear(const ItemRange<kGpuBlock>& all) {
    acks.clear(all);
    for (auto* list : {&free, &coming, &back, &ends, &granted}) list->clear(all.threads);
    for (auto* list : {&with_head, &with_tokens, &from_software, &freed, &turning, &here, &waiting, &uncontested,
                       &contended, &stored})
      list->clear(all.threads);
  }
};

/// Access to a group's nodes, which all belong to one replica, as OneItem is for one node.
template <class V, u32 kMost>
struct ItemsOfGroup {
  const V& v;
  const NodeGroup<V::width, kMost>& group;

  FLITLAB_INLINE const V& view(u32) const { return v; }
  FLITLAB_INLINE u32 index(u32 i) const { return group.index[i]; }
  FLITLAB_INLINE ItemRange<kMost> all() const { return {group.count}; }
  FLITLAB_INLINE const auto& table() const { return v.t; }
};

/// Nodes with events in this cycle: the calendar notes of groups of 64 nodes, from which the bulk phase takes its
/// nodes.
template <u32 kGroups>
class DueNodes {
 public:
  /// Takes the notes of the groups `first` to `last` - 1 out of the calendar.
  template <class V>
  FLITLAB_INLINE DueNodes(const V& v, u32 first, u32 last, Cycle now) {
    for (u32 group = first; group < last; ++group) {
      notes_[count_] = take_notes_of(v, group, now);
      due_[count_] = all_of(notes_[count_]);
      group_[count_] = group;
      count_ += due_[count_] != 0;
    }
    notes_[count_] = {};
    due_[count_] = 0;
  }

  /// Fills `batch` with the next nodes that have notes. `batch` stays empty if all nodes have been taken.
  template <class V, u32 kMost>
  FLITLAB_INLINE void take(const V& v, NodeGroup<V::width, kMost>& batch) {
    static_assert(kMost <= 256);
    const u32 first = at_;
    u8 number[64 * kMost];  // `[group][node of the group]`: number of the node in `batch`
    u32 n = 0;
    u64 left = due_[at_];
    for (; at_ < count_ && n < kMost; ++n) {
      const u32 bit = lowest_bit(left);
      number[64 * (at_ - first) + bit] = static_cast<u8>(n);
      batch.set(v, n, 64 * group_[at_] + bit);
      left &= left - 1;
      const u64 done = left == 0;
      at_ += static_cast<u32>(done);
      left |= due_[at_] & (0 - done);
    }
    due_[at_] = left;  // nodes of the last group that did not fit
    batch.count = n;
    SetList<kMost> heads, tokens, from_software, again, queues;
    for (u32 at = first; at <= at_; ++at) {  // from the last group only the nodes that fit
      const u64 here = at == at_ ? ~left : ~u64{0};
      Notes& notes = notes_[at];
      heads.add(64 * (at - first), notes.heads & here);
      tokens.add(64 * (at - first), notes.tokens & here);
      from_software.add(64 * (at - first), notes.heard & here);
      again.add(64 * (at - first), notes.again & here);
      queues.add(64 * (at - first), notes.queues & here);
    }
    Notes& rest = notes_[at_];
    rest = {rest.heads & left, rest.tokens & left, rest.heard & left, rest.again & left, rest.queues & left};
    list(heads, number, batch.with_head);
    list(tokens, number, batch.with_tokens);
    list(from_software, number, batch.from_software);
    list(again, number, batch.freed);
    list(queues, number, batch.turning);
  }

 private:
  /// Lists the nodes that have a note of one kind. Few nodes of a group have one.
  template <u32 kMost>
  FLITLAB_INLINE static void list(SetList<kMost>& notes, const u8* number, ItemList<kMost>& numbers) {
    u32 n = 0;
    notes.for_each([&](u32 slot, u32 bit) { numbers.items[n++] = number[slot + bit]; });
    numbers.count = n;
  }

  u32 count_ = 0, at_ = 0;
  Notes notes_[kGroups + 1];
  u64 due_[kGroups + 1];
  u32 group_[kGroups + 1];
};

}  // namespace flitlab::bgl
