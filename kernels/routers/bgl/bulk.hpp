#pragma once
/// Node groups of the bulk phase, the CPU code that processes many nodes in one call, and lists of the group's nodes
/// that have events of one kind. Lists are built without branches, because a node's events are unpredictable.
#include "kernels/common/bits.hpp"
#include "kernels/routers/bgl/calendar.hpp"

namespace flitlab::bgl {

/// List of nodes of a group; a node's number is its index in the group.
template <u32 kMost>
struct Numbers {
  u32 nodes[kMost + 1];  ///< one more, because add() writes an entry even if it does not keep it
  u32 count = 0;

  FLITLAB_INLINE void add(u32 number, bool is_one) {
    nodes[count] = number;
    count += is_one;
  }
  FLITLAB_HD const u32* begin() const { return nodes; }
  FLITLAB_HD const u32* end() const { return nodes + count; }
};

/// List for a group of one node: a flag instead of an array, which a GPU would keep in memory.
template <>
struct Numbers<1> {
  struct Zero {
    u32 position;
    FLITLAB_HD u32 operator*() const { return 0; }
    FLITLAB_HD void operator++() { ++position; }
    FLITLAB_HD bool operator!=(const Zero& other) const { return position != other.position; }
  };
  u32 count = 0;

  FLITLAB_INLINE void add(u32, bool is_one) { count += is_one; }
  FLITLAB_HD Zero begin() const { return {0}; }
  FLITLAB_HD Zero end() const { return {count}; }
};

/// List of non-empty bit sets, each with the number of the node to which it belongs.
template <u32 kMost>
struct SetsOf {
  u64 set[kMost + 2];
  u32 owners[kMost + 2];
  u32 count = 0;

  FLITLAB_INLINE void add(u32 owner, u64 bits) {
    set[count] = bits;
    owners[count] = owner;
    count += bits != 0;
  }
  /// Calls visit(node, bit) for all bits of all sets. It is a single loop, because the end of an inner loop would be
  /// mispredicted for every set.
  template <class Visit>
  FLITLAB_INLINE void for_each(Visit&& visit) {
    set[count] = set[count + 1] = 0;
    u64 left = set[0];
    for (u32 i = 0; i < count;) {
      visit(owners[i], lowest_bit(left));
      left &= left - 1;
      const u64 done = left == 0;
      i += static_cast<u32>(done);
      left |= set[i] & (0 - done);  // without a branch
    }
  }
};

template <>
struct SetsOf<1> {
  u64 set = 0;

  FLITLAB_INLINE void add(u32, u64 bits) { set = bits; }
  template <class Visit>
  FLITLAB_INLINE void for_each(Visit&& visit) {
    for (; set; set &= set - 1) visit(0u, lowest_bit(set));
  }
};

/// Actions that run later, when the prefetches of their data have completed: up to `kRoom` for each node. For a group
/// of one node the actions run at once.
template <u32 kMost, u32 kRoom, class Action, class Do>
class Later {
 public:
  FLITLAB_INLINE explicit Later(const Do& act) : do_(act) {
    if constexpr (kMost == 1) list_[0] = {};
  }

  FLITLAB_INLINE void add(bool condition, const Action& action) {
    if constexpr (kMost == 1) {
      if (condition) do_(action);
    } else {
      list_[count_] = action;
      count_ += condition;
    }
  }
  FLITLAB_INLINE void run() {
    for (u32 k = 0; k < count_; ++k) do_(list_[k]);
  }

 private:
  const Do& do_;
  u32 count_ = 0;
  Action list_[kMost == 1 ? 1 : kMost * kRoom + 1];
};
template <u32 kMost, u32 kRoom, class Action, class Do>
FLITLAB_INLINE Later<kMost, kRoom, Action, Do> later(const Do& act) {
  return Later<kMost, kRoom, Action, Do>(act);
}

/// List of links, up to `kRoom` for each node of a group; for a group of one node, a set of directions.
template <u32 kMost, u32 kRoom>
struct LinkList {
  u32 entry[kMost == 1 ? 1 : kMost * kRoom + 1];
  u32 count = 0;

  FLITLAB_INLINE void add(bool condition, u32 owner, u32 direction) {
    if constexpr (kMost == 1) {
      count |= u32{condition} << direction;
    } else {
      entry[count] = owner << 8 | direction;
      count += condition;
    }
  }
  template <class Visit>
  FLITLAB_INLINE void for_each(Visit&& visit) const {
    if constexpr (kMost == 1)
      for (u32 set = count; set; set &= set - 1) visit(0u, lowest_bit(set));
    else
      for (u32 k = 0; k < count; ++k) visit(entry[k] >> 8, entry[k] & 0xFF);
  }
};

/// Nodes that one bulk step processes together, and for each kind of calendar note a list of the nodes that have such a
/// note.
template <int W, u32 kMost>
struct NodeGroup {
  u32 index[kMost];
  Item<W> node[kMost];
  u64 bypass[kMost];  ///< `[node]`: queues whose head may use the bypass channel; empty at the start of a step
  u32 count = 0;
  Numbers<kMost> with_head, with_tokens, from_software, freed, turning;

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
    SetsOf<kMost> heads, tokens, from_software, again, queues;
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
  FLITLAB_INLINE static void list(SetsOf<kMost>& notes, const u8* number, Numbers<kMost>& numbers) {
    u32 n = 0;
    notes.for_each([&](u32 slot, u32 bit) { numbers.nodes[n++] = number[slot + bit]; });
    numbers.count = n;
  }

  u32 count_ = 0, at_ = 0;
  Notes notes_[kGroups + 1];
  u64 due_[kGroups + 1];
  u32 group_[kGroups + 1];
};

}  // namespace flitlab::bgl
