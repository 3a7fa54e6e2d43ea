#pragma once
/// Packets that terminals create: creation cycles, lengths and destinations. All are pure functions of (seed, terminal,
/// packet number). So a source queue of any length is represented by two cursors over the same sequence: one at the
/// next creation, one at the next injection. No memory is needed per waiting packet.
#include "kernels/common/exact_math.hpp"
#include "kernels/common/fields.hpp"
#include "kernels/common/philox.hpp"
#include "kernels/common/replica.hpp"
#include "kernels/common/streams.hpp"
#include "kernels/traffic/all_to_all.hpp"
#include "kernels/traffic/choices.hpp"
#include "kernels/traffic/program_state.hpp"

namespace flitlab {

/// How a terminal's packets are generated.
enum class TrafficMode : u8 {
  kOpen,
  kRequestReply,
  kTrace,
  kProgram,
  kBroadcast,
  kClasses  ///< open, with several classes of packets (kernels/traffic/classes.hpp)
};
enum class Pattern : u8 { kUniform, kPermutation, kHot, kMatrix, kAllToAll, kAllToRegion };
enum class LengthLaw : u8 { kTable, kGeometric };

/// Packet lengths and their probabilities.
struct LengthTable {
  u32 count = 1;
  const u32* flits = nullptr;       ///< [count]
  const u32* cumulative = nullptr;  ///< [count] rising 32-bit thresholds: the first one above the draw gives the length
};

/// A terminal's position in a group of terminals that send to one another: `count` terminals, from `first` in
/// TrafficTable::member.
struct TrafficGroup {
  u32 first, count;
  u32 rank;  ///< the terminal's own index in the group
};

/// Traffic parameters shared by all replicas; filled by the host. With several classes of packets, each class has a
/// table.
struct TrafficTable {
  Injection injection = Injection::kBernoulli;
  Pattern pattern = Pattern::kUniform;
  LengthLaw length_law = LengthLaw::kTable;
  u32 terminals = 0;
  u32 batch_packets = 0;  ///< kAllAtOnce: packets per terminal; kAllToAll, kAllToRegion: per destination of a terminal
  u32 others_only = 0;    ///< 1: kUniform and kHot never draw the sender itself
  const TrafficGroup* group = nullptr;  ///< [terminals]; null: all terminals are one group
  const u32* member = nullptr;          ///< terminals of all groups, ordered by group
  Cycle start = 0;                      ///< first cycle in which packets may be created
  const u32* destination = nullptr;     ///< kPermutation: [terminals], kNone: sends nothing; others: [hot_count]
  u32 hot_count = 0;
  u32 hot_threshold = 0;              ///< kHot: a 32-bit draw below this goes to a hot terminal
  const u32* row_start = nullptr;     ///< [terminals + 1] kMatrix
  const u32* column = nullptr;        ///< [entries] kMatrix: destination terminal
  const u32* cumulative = nullptr;    ///< [entries] kMatrix: rising 32-bit thresholds in each row: the first one above
                                      ///< the draw gives the entry
  const SourceRate* rates = nullptr;  ///< [terminals] kMatrix; null: all terminals have the rate of the ReplicaRow
  LengthTable packets;                ///< packets of open loops, requests of closed ones
  LengthTable replies;
  double inverse_log_continue = 0;  ///< kGeometric: 1 / ln(1 - 1 / mean); 0: always one flit
  u32 max_flits = 0;                ///< kGeometric: largest length, flits; a longer draw gives this length
  Order order = Order::kRandom;     ///< kAllToAll
  u32 in_a_row = 1;                 ///< kAllToAll, kAllToRegion: packets to one destination before the next one
  u32 window = 0;                   ///< closed loop: most requests of a terminal that have no reply
  u32 reply_delay = 0;              ///< closed loop: cycles from the arrival of a request to the creation of its reply
  u32 reply_queue = 0;              ///< closed loop: most replies that a terminal can queue, packets
  ProgramTable program;
  u32 trace_window = 0;                  ///< traces: 1: each packet is created as soon as it may be (replay.hpp)
  u32 classes = 1;                       ///< number of classes of packets
  const TrafficTable* more = nullptr;    ///< [classes - 1] in the table of class 0: tables of the classes from 1 on
  u8 priority[kMaxTrafficClasses] = {};  ///< in the table of class 0: [class] traffic.class_priority
};

/// Returns the table of a class. `t`: table of class 0.
FLITLAB_HD inline const TrafficTable& traffic_of_class(const TrafficTable& t, u32 number) {
  return number ? t.more[number - 1] : t;
}

/// Calls `f(array, elements)` for every array to which a table points, so that `f` can move it elsewhere, for example
/// to a device; not for the tables of further classes.
template <class F>
void for_each_array(TrafficTable& t, F f) {
  std::size_t members = 0;
  for (u32 i = 0; t.group && i < t.terminals; ++i)
    if (members < t.group[i].first + std::size_t{t.group[i].count}) members = t.group[i].first + t.group[i].count;
  f(t.member, members);
  f(t.group, t.group ? t.terminals : 0);
  f(t.destination, t.pattern == Pattern::kPermutation ? t.terminals : t.hot_count);
  const std::size_t entries = t.row_start ? t.row_start[t.terminals] : 0;
  f(t.column, entries);
  f(t.cumulative, entries);
  f(t.row_start, t.row_start ? t.terminals + std::size_t{1} : 0);
  f(t.rates, t.rates ? t.terminals : 0);
  for (LengthTable* lengths : {&t.packets, &t.replies}) {
    f(lengths->flits, lengths->count);
    f(lengths->cumulative, lengths->count);
  }
  for_each_array(t.program, f);
}

/// Returns the group that a terminal sends to, and its rank in it.
FLITLAB_HD inline TrafficGroup group_of(const TrafficTable& t, u32 terminal) {
  return t.group ? t.group[terminal] : TrafficGroup{0, t.terminals, terminal};
}

/// Returns the terminal of rank `rank` in a group.
FLITLAB_HD inline u32 member_of(const TrafficTable& t, const TrafficGroup& group, u32 rank) {
  return t.group ? t.member[group.first + rank] : rank;
}

/// kAllAtOnce: returns the packets that a terminal sends, unless never_sends().
FLITLAB_HD inline u32 batch_size(const TrafficTable& t, u32 terminal) {
  if (t.pattern == Pattern::kAllToRegion) return t.batch_packets * t.hot_count;
  return t.pattern == Pattern::kAllToAll ? t.batch_packets * (group_of(t, terminal).count - 1) : t.batch_packets;
}

/// Returns a terminal's rate of packet creation.
FLITLAB_HD inline const SourceRate& rate_of(const TrafficTable& t, const SourceRow& row, u32 terminal) {
  return t.rates ? t.rates[terminal] : row;
}

/// A position in a terminal's sequence of creations.
struct SourceCursor {
  FLITLAB_MEMBERS(SourceCursor,
    (Cycle, at, "cycle", "creation cycle of packet `index`; kNever: no more packets"),
    (u32, index, "", "packet number"),
    (Cycle, on_until, "cycle", "on-off: first cycle after the present burst"),
    (u32, burst, "", "on-off: number of the burst"))
};

namespace detail {

FLITLAB_HD inline void next_burst(const SourceRate& rate, const SourceRow& row, u32 terminal, SourceCursor& cursor,
                                  Cycle& at) {
  const Random4 r = philox(row.seed, stream::kBurst, terminal, cursor.burst++);
  at = cursor.on_until + geometric_trials(unit_interval(r.word[0]), rate.inverse_log_stay_off);
  if (at < kEndOfTime) cursor.on_until = at + geometric_trials(unit_interval(r.word[1]), row.inverse_log_stay_on);
}

}  // namespace detail

/// Sets a cursor to the creation cycle of packet `cursor.index`. The caller has just incremented this index, unless it
/// is the first packet. `from` is the earliest possible creation cycle.
FLITLAB_HD inline void seek_creation(const TrafficTable& t, const SourceRow& row, u32 terminal, SourceCursor& cursor,
                                     Cycle from) {
  if (row.silent) {
    cursor.at = kNever;
    return;
  }
  const SourceRate& rate = rate_of(t, row, terminal);
  switch (t.injection) {
    case Injection::kBernoulli: {
      const Random4 r = philox(row.seed, stream::kInjection, terminal, cursor.index);
      cursor.at = from + geometric_trials(unit_interval(r.word[0]), rate.inverse_log_miss) - 1;
      return;
    }
    case Injection::kPeriodic: {
      // A random phase shift per terminal, then packet n at floor(shift + n * period).
      const Random4 r = philox(row.seed, stream::kInjection, terminal, 0);
      const double when = t.start + (unit_interval(r.word[0]) + static_cast<double>(cursor.index)) * rate.period;
      cursor.at = when < 4294967294.0 ? static_cast<Cycle>(when) : kNever;
      return;
    }
    case Injection::kOnOff: {
      // Both states are memoryless: a gap that would end in a pause continues in the next burst.
      const Random4 r = philox(row.seed, stream::kInjection, terminal, cursor.index);
      Cycle at = from;
      if (at >= cursor.on_until) detail::next_burst(rate, row, terminal, cursor, at);
      u32 gap = geometric_trials(unit_interval(r.word[0]), rate.inverse_log_miss) - 1;
      while (at < kEndOfTime && gap >= cursor.on_until - at) {
        gap -= cursor.on_until - at;
        detail::next_burst(rate, row, terminal, cursor, at);
      }
      cursor.at = at < kEndOfTime ? at + gap : kNever;
      return;
    }
    case Injection::kAllAtOnce: cursor.at = cursor.index < batch_size(t, terminal) ? t.start : kNever; return;
  }
}

FLITLAB_HD inline SourceCursor first_creation(const TrafficTable& t, const SourceRow& row, u32 terminal) {
  SourceCursor cursor{0, 0, t.start, 0};
  seek_creation(t, row, terminal, cursor, t.start);
  return cursor;
}

FLITLAB_HD inline void next_creation(const TrafficTable& t, const SourceRow& row, u32 terminal, SourceCursor& cursor) {
  ++cursor.index;
  seek_creation(t, row, terminal, cursor, cursor.at + 1);
}

/// Returns the index of the first of `count` rising thresholds that is above the draw, or the last index if no
/// threshold is.
FLITLAB_HD inline u32 pick_weighted(const u32* cumulative, u32 count, u32 draw) {
  u32 low = 0, high = count - 1;
  while (low < high) {
    const u32 middle = (low + high) / 2;
    if (draw < cumulative[middle])
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

FLITLAB_HD inline u32 length_from(const LengthTable& table, u32 draw) {
  return table.count == 1 ? table.flits[0] : table.flits[pick_weighted(table.cumulative, table.count, draw)];
}

/// Returns the length in flits of a packet with draws `r`.
FLITLAB_HD inline u32 packet_flits(const TrafficTable& t, const Random4& r) {
  if (t.length_law == LengthLaw::kGeometric) {
    const u32 n = geometric_trials(unit_interval(r.word[1]), t.inverse_log_continue);
    return n < t.max_flits ? n : t.max_flits;
  }
  return length_from(t.packets, r.word[1]);
}

/// Returns the draws of packet `index` of a terminal: words 0 and 2 for its destination, word 1 for its length.
FLITLAB_HD inline Random4 packet_draws(const SourceRow& row, u32 terminal, u32 index) {
  return philox(row.seed, stream::kPacket, terminal, index);
}

/// Returns the length in flits of packet `index` of a terminal; without a draw if all packets have the same length.
FLITLAB_HD inline u32 packet_flits(const TrafficTable& t, const SourceRow& row, u32 terminal, u32 index) {
  if (t.length_law == LengthLaw::kTable && t.packets.count == 1) return t.packets.flits[0];
  return packet_flits(t, packet_draws(row, terminal, index));
}

/// Returns whether a terminal has no destination.
FLITLAB_HD inline bool never_sends(const TrafficTable& t, u32 terminal) {
  if (t.pattern == Pattern::kPermutation) return t.destination[terminal] == kNone;
  if (t.pattern == Pattern::kMatrix) return t.row_start[terminal] == t.row_start[terminal + 1];
  if (t.pattern == Pattern::kAllToAll) return group_of(t, terminal).count <= 1;
  if (t.pattern == Pattern::kAllToRegion) {
    bool inside = false;
    for (u32 i = 0; i < t.hot_count; ++i) inside |= t.destination[i] == terminal;
    return inside;
  }
  return group_of(t, terminal).count <= t.others_only;
}

FLITLAB_HD inline u32 uniform_destination(const TrafficTable& t, u32 terminal, u32 draw) {
  const TrafficGroup g = group_of(t, terminal);
  u32 other = below(draw, g.count - t.others_only);
  if (t.others_only) other += other >= g.rank;
  return member_of(t, g, other);
}

/// Returns the destination terminal of packet `index` of a terminal.
FLITLAB_HD inline u32 packet_destination(const TrafficTable& t, const SourceRow& row, u32 terminal, u32 index) {
  const auto draw = [&] { return packet_draws(row, terminal, index); };
  switch (t.pattern) {
    case Pattern::kUniform: return uniform_destination(t, terminal, draw().word[0]);
    case Pattern::kPermutation: return t.destination[terminal];
    case Pattern::kHot: {
      const Random4 r = draw();
      const u32 hot = t.destination[below(r.word[0], t.hot_count)];
      const bool chosen = r.word[2] < t.hot_threshold && !(t.others_only && hot == terminal) &&
                          group_of(t, hot).first == group_of(t, terminal).first;
      return chosen ? hot : uniform_destination(t, terminal, r.word[0]);
    }
    case Pattern::kMatrix: {
      const u32 begin = t.row_start[terminal], entries = t.row_start[terminal + 1] - begin;
      return t.column[begin + pick_weighted(t.cumulative + begin, entries, draw().word[0])];
    }
    case Pattern::kAllToAll: {
      const TrafficGroup g = group_of(t, terminal);
      return member_of(t, g, all_to_all_rank(t.order, row.seed, terminal, g.rank, g.count, index / t.in_a_row));
    }
    case Pattern::kAllToRegion:
      return t.destination[destination_of_turn(t.order, row.seed, terminal, terminal % t.hot_count, t.hot_count,
                                               index / t.in_a_row)];
  }
  return 0;
}

}  // namespace flitlab
