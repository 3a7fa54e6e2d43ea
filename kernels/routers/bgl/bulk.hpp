#pragma once
/// Groups of nodes that a step processes together, and for each kind of event the list of the group's nodes that have
/// one. On a CPU a group has many nodes, otherwise one.
#include "kernels/common/lists.hpp"
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
