#pragma once
/// Comparison of two states of a run: does the second one continue as the first one did? It does if both are the same,
/// apart from what moves on by itself (host/plan/motion.hpp): clocks, numbers of packets, positions in circular
/// buffers, counters. Then the period between them repeats itself, and the state after any number of repetitions is
/// known.
#include <array>
#include <vector>

#include "host/plan/plan.hpp"
#include "host/repetition/elements.hpp"
#include "host/repetition/program_period.hpp"
#include "host/repetition/snapshot.hpp"

namespace flitlab {

class StatePeriod {
 public:
  /// `own`: the totals that the model adds. The other arguments must outlive the object.
  StatePeriod(const Plan& plan, const Motion& motion, TotalTable own);

  /// Returns whether the period between two glances may repeat itself.
  bool plausible(const Glance& before, const Glance& after) {
    return before.sample == after.sample && program_.begin(before, after);
  }
  /// Returns how often what happened in a period will happen again; 0: it may not. `most`: the largest number of
  /// interest.
  u64 repeats(const Period& period, u64 most);
  /// Returns the snapshot `times` repetitions after the second one. Follows repeats() with the same period.
  Snapshot after(const Period& period, u64 times) const;

 private:
  /// Bytes of an item, or of a position of a buffer, that have the same rule.
  struct Bytes {
    u32 offset, bytes;
  };
  /// What an item, or a position of a buffer, consists of.
  struct Parts {
    std::vector<Bytes> same;         ///< must be equal
    std::vector<u32> clocks;         ///< offsets of times
    std::vector<u32> counters;       ///< offsets of numbers that nothing reads
    u32 id = kNone, source = kNone;  ///< offsets: number of a packet; its source, kNone: the item itself
  };
  /// The pointer to a buffer.
  struct Pointer {
    u32 pointers = kNone, item = 0, index = 0;
  };
  struct Buffers {
    u32 kind, offset, position_bytes, number, positions;
    Elements front, in_use, waiting;  ///< count 0: front is the cycle; number in use or waiting is not stored
    u32 most_on_the_way;
    Parts position;
    std::vector<Pointer> pointers;  ///< [item][number] to each buffer; empty: no positions of others refer to them
  };
  struct Pointers {
    Elements elements;
    const Motion::Pointers* motion;
  };
  struct Kind {
    Parts item;
    std::vector<u32> buffers;   ///< indices in `buffers_`
    std::vector<u32> pointers;  ///< indices in `pointers_`
  };

  Parts parts_of(const RecordInfo& record, u32 count) const;
  void add_buffers(const Motion::Buffers& motion);
  void add_pointers(const Elements& elements, const Motion::Pointers& motion);
  bool clock_moves(u32 before, u32 after, const Period& period);
  bool item_moves(const Period& period, u32 kind, u32 item);
  bool buffer_moves(const Period& period, const Motion::Target& buffer);
  /// Returns the number of positions in use, from the front on.
  u32 in_use(const std::vector<std::byte>& state, const Motion::Target& buffer) const;
  /// Returns how many packets have passed a buffer in a period; any number from `positions` on means that all positions
  /// have been overwritten.
  u32 passed(const Period& period, const Motion::Target& buffer) const;
  bool position_moves(const Period& period, const Parts& parts, const std::byte* a, const std::byte* b, u32 item);
  /// Returns by how many positions the contents of a buffer move on in a period.
  u32 shift(const Period& period, const Motion::Target& buffer) const;
  void move_item(const Period& period, std::byte* out, u32 kind, u32 item, u64 times) const;
  void move_buffer(const Period& period, const Motion::Target& buffer, std::byte* out, u64 times) const;
  void move_position(const Period& period, const Parts& parts, std::byte* at, u32 item, u64 times) const;

  const StateLayout& layout_;
  ProgramPeriod program_;
  std::vector<Kind> kinds_;
  std::vector<Buffers> buffers_;
  std::vector<Pointers> pointers_;
  /// For each total: whether it is a maximum, whether it is a point in time, and whether only audits write it.
  std::array<bool, kTotals> maxima_{}, times_{}, audits_{};
  u64 limit_ = 0;
};

}  // namespace flitlab
