#include "host/plan/bounds.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "host/plan/state_numbers.hpp"
#include "kernels/common/error.hpp"
#include "kernels/common/inbox.hpp"
#include "kernels/traffic/matching.hpp"
#include "kernels/traffic/trace.hpp"

namespace flitlab {
namespace {

/// Returns whether a list of matching.hpp has an end, and all its elements may be in it. next[n] - base: index of the
/// element after n of `count`; base - 1: n is the last one.
template <class MayBeIn>
bool is_sound(const MatchList& list, const u32* next, u32 count, u32 base, const MayBeIn& may_be_in) {
  if (!list.first) return true;
  u32 at = list.first - 1;
  for (u32 steps = 0; steps < count && at < count && may_be_in(at); ++steps) {
    if (next[at] < base) return next[at] == base - 1 && list.last == at + 1;
    at = next[at] - base;
  }
  return false;
}

/// Adds the bounds of the mailboxes of terminals.
void add_mailboxes(std::vector<Bound>& bounds, const ProgramTable& p, const ProgramFields& fields) {
  bounds.push_back(item_bound("terminal", [=](const Item<1>& terminal, u32 index) {
    const u32 receives = p.first_receive[index + 1] - p.first_receive[index],
              messages = p.first_message[index + 1] - p.first_message[index];
    for (u32 i = 0; i < receives; ++i) {
      const u32 match = terminal.at(fields.match, i);
      // A receive that is not in the list is appended when it is posted.
      if (match >= detail::kFirstMatched + messages ||
          (match != detail::kUnmatched && terminal.at(fields.next_receive, i)))
        return false;
    }
    return is_sound(terminal.at(fields.unexpected), &terminal.at(fields.next_message), messages, 2,
                    [](u32) { return true; }) &&
           is_sound(terminal.at(fields.posted), &terminal.at(fields.next_receive), receives, 1,
                    [&](u32 i) { return terminal.at(fields.match, i) == detail::kUnmatched; });
  }));
}

/// Calls visit(address, member) for each number or struct at the end of a path. The first `steps` members of the path
/// have been followed already and lead to the address `at`.
template <class Visit>
void for_each_end(const std::vector<MemberInfo>& path, std::size_t steps, const std::byte* at, const Visit& visit) {
  if (steps == path.size()) return visit(at, path.back());
  const MemberInfo& member = path[steps];
  for (u32 i = 0; i < member.count; ++i)
    for_each_end(path, steps + 1, at + member.offset + std::size_t{i} * member.element->bytes, visit);
}

/// Returns a number of the state. Numbers in the state are little-endian.
u64 read_number(const std::byte* at, const MemberInfo& member) {
  u64 word = 0;
  std::memcpy(&word, at, member.element->bytes);
  return member.mask ? (word & member.mask) >> std::countr_zero(member.mask) : word;
}

[[noreturn]] void reject(const std::string& what) {
  throw ConfigError("checkpoint: no network can have this state, so the file has been changed: " + what + ".");
}

void check_item(const ItemKind& kind, const StateNumbers& numbers, const Bound& bound, u32 item, const std::byte* at) {
  const auto name = [&] { return bound.where + " of " + kind.name + " " + std::to_string(item); };
  if (numbers.path.empty()) {
    if (!bound.record_holds(at, item, 0)) reject(kind.name + " " + std::to_string(item) + " has an impossible state");
    return;
  }
  const MemberInfo& field = numbers.path[0];
  for (u32 element = 0; element < field.count; ++element)
    for_each_end(numbers.path, 1, at + field.offset + std::size_t{element} * field.element->bytes,
                 [&](const std::byte* end, const MemberInfo& member) {
                   if (bound.record_holds) {
                     if (!bound.record_holds(end, item, element)) reject(name() + " has an impossible value");
                   } else if (const u64 number = read_number(end, member); !bound.holds(number, item, element)) {
                     reject(name() + " cannot be " + std::to_string(number));
                   }
                 });
}

/// Returns whether a terminal's transactions agree with its counters. A source searches without a limit for the
/// transaction of its next request, and for an unused transaction. So each waiting request must have exactly one
/// transaction, and `outstanding` must be the number of transactions in use.
bool transactions_fit(const Item<1>& terminal, const TerminalFields& fields, u32 window) {
  const TerminalControl& control = terminal.at(fields.control);
  u32 used = 0, waiting = 0;
  for (u32 i = 0; i < window; ++i) {
    const u32 id = terminal.at(fields.transaction, i).id;
    used += id != kNone;
    const bool waits = id - control.sent < control.created - control.sent;
    waiting += waits;
    for (u32 other = 0; waits && other < i; ++other)
      if (terminal.at(fields.transaction, other).id == id) return false;
  }
  return control.created == control.next.index && used == terminal.at(fields.loop).outstanding &&
         waiting == control.created - control.sent;
}

/// Returns whether the sums in a terminal's control agree with the source queues of its classes. `draws`: whether the
/// terminal determines its packets itself.
bool classes_fit(const Item<1>& terminal, const TerminalFields& fields, u32 classes, bool draws) {
  const TerminalControl& control = terminal.at(fields.control);
  u32 created = 0, sent = 0, left = 0;
  Cycle next = kNever;
  for (u32 c = 0; c < classes; ++c) {
    const ClassSource& source = terminal.at(fields.source, c);
    created += source.created;
    sent += source.sent;
    left += source.lane.left;
    if (source.sent > source.created) return false;
    for (u32 other = 0; source.lane.left && other < c; ++other) {
      const PacketInInjection& lane = terminal.at(fields.source, other).lane;
      if (lane.left && lane.vc == source.lane.vc) return false;
    }
    next = std::min(next, source.next.at);
  }
  return created == control.created && sent == control.sent && left == control.lane.left &&
         (!draws || next == control.next.at);
}

}  // namespace

Check below(u64 count) {
  return [=](u64 number, u32, u32) { return number < count; };
}
Check below_or(u64 count, u64 none) {
  return [=](u64 number, u32, u32) { return number < count || number == none; };
}
Check at_most(u64 most) {
  return [=](u64 number, u32, u32) { return number <= most; };
}
Check subset(u64 all) {
  return [=](u64 set, u32, u32) { return (set & ~all) == 0; };
}
Check bytes_at_most(u64 most) {
  return [=](u64 word, u32, u32) {
    for (; word; word >>= 8)
      if ((word & 0xFF) > most) return false;
    return true;
  };
}
Check flits_of(u32 vcs) {
  return [=](u64 word, u32, u32) {
    for (; word; word >>= 8) {
      const u64 vc = word & kVcBits;
      if (vc > vcs || (!vc && word & 0xFF)) return false;
    }
    return true;
  };
}
Check arrives_by(const u32* wired, u32 channels) {
  return [=](u64 mark, u32 item, u32 element) { return mark <= (wired[item] >> element % channels & 1u); };
}

void add_packet(std::vector<Bound>& bounds, const std::string& where, const PacketBounds& packet) {
  bounds.push_back({where + ".dst", below(packet.addresses)});
  bounds.push_back({where + ".src", below(packet.terminals)});
  bounds.push_back({where + ".dst_port", below(packet.ports)});
  bounds.push_back({where + ".message_class", below(packet.classes)});
}

void add_source(std::vector<Bound>& bounds, const TrafficTable& t, TrafficMode mode, const TerminalFields& fields) {
  const bool draws = t.packets.flits != nullptr;  // otherwise a trace or a program defines the packets
  std::vector<u8> silent(t.terminals);            // bit c: class c
  for (u32 c = 0; draws && c < t.classes; ++c)
    for (u32 i = 0; i < t.terminals; ++i)
      silent[i] = static_cast<u8>(silent[i] | u32{never_sends(traffic_of_class(t, c), i)} << c);
  const u8 all_silent = static_cast<u8>((1u << t.classes) - 1);
  for (const char* at : {"terminal.control.next.at", "terminal.control.oldest.at"})
    bounds.push_back({at, [=](u64 cycle, u32 item, u32) { return silent[item] != all_silent || cycle == kNever; }});
  const bool several = t.classes > 1, trace = mode == TrafficMode::kTrace;
  for (const char* at : {"terminal.source.next.at", "terminal.source.oldest.at"})
    if (several)
      bounds.push_back({at, [=](u64 cycle, u32 item, u32 c) { return !(silent[item] >> c & 1) || cycle == kNever; }});
  bounds.push_back(record_bound<TraceControl>("terminal.trace", [](const TraceControl& trace, u32, u32) {
    return trace.first < kTraceQueue && trace.entries <= kTraceQueue && trace.created <= trace.entries &&
           trace.arrivals <= kTraceQueue;
  }));
  bounds.push_back(item_bound("terminal", [=, &fields](const Item<1>& terminal, u32 index) {
    const TerminalControl& control = terminal.at(fields.control);
    if (silent[index] == all_silent && control.created) return false;
    if (several && !classes_fit(terminal, fields, t.classes, draws)) return false;
    for (u32 c = 0; trace && c < t.classes; ++c) {
      const ClassSource* source = several ? &terminal.at(fields.source, c) : nullptr;
      const u32 queued = source ? source->created - source->sent : control.created - control.sent;
      if (queued != terminal.at(fields.trace.control, c).created) return false;
    }
    return true;
  }));
  bounds.push_back({"terminal.control.fault", at_most(0)});
  bounds.push_back({"terminal.trace_entry.destination", below(t.terminals)});
  const u32 *const first = t.program.first, ranks = t.program.ranks;
  for (const char* call : {"terminal.program.next", "terminal.program.sending"})
    bounds.push_back({call, [=](u64 n, u32 item, u32 number) {
                        const u32 rank = item * ranks + number;
                        return n <= first[rank + 1] - first[rank];
                      }});
  bounds.push_back({"terminal.program_served", below(ranks)});
  if (t.program.receives) add_mailboxes(bounds, t.program, fields.program);
}

void add_terminal_channels(std::vector<Bound>& bounds, u32 vcs, u32 buffer_flits, u32 ring, TrafficMode mode,
                           const TrafficTable& t, const TerminalFields& fields, const PacketBounds& packet) {
  bounds.push_back({"terminal.flit_mail", flits_of(vcs)});
  bounds.push_back({"terminal.credit_mail", at_most(vcs)});
  bounds.push_back({"terminal.output.credits", at_most(buffer_flits)});
  bounds.push_back({"terminal.output.tail", below(ring)});
  bounds.push_back({"terminal.first", below(ring)});
  const bool several = t.classes > 1;
  for (const std::string lane : {"terminal.control.lane", "terminal.loop.lane", "terminal.source.lane"}) {
    if (lane == "terminal.source.lane" && !several) continue;
    const bool over_classes = several && lane == "terminal.control.lane";
    bounds.push_back({lane + ".vc", below(vcs)});
    bounds.push_back({lane + ".pick", over_classes ? below(t.classes) : at_most(vcs)});
  }
  bounds.push_back({"terminal.loop.outstanding", at_most(t.window)});
  bounds.push_back({"terminal.loop.reply_first", below(t.reply_queue)});
  for (const char* replies : {"terminal.loop.replies", "terminal.loop.created", "terminal.loop.promised"})
    bounds.push_back({replies, at_most(t.reply_queue)});
  bounds.push_back({"terminal.loop.served", at_most(1)});
  bounds.push_back({"terminal.loop.take", at_most(vcs)});
  bounds.push_back({"terminal.reply.to", below(t.terminals)});
  bounds.push_back({"terminal.reply.tag", at_most(t.window)});
  bounds.push_back({"terminal.held.flits", at_most(buffer_flits)});
  if (mode == TrafficMode::kRequestReply)
    bounds.push_back(item_bound("terminal", [&t, &fields](const Item<1>& terminal, u32) {
      return transactions_fit(terminal, fields, t.window);
    }));
  add_packet(bounds, "terminal.ring", packet);
}

void check_bounds(const StateLayout& layout, const std::vector<Bound>& bounds, const std::vector<std::byte>& state) {
  for (const Bound& bound : bounds) {
    const StateNumbers numbers = find_numbers(layout, bound.where);
    if (numbers.absent) continue;
    const bool is_number = !numbers.path.empty() && numbers.path.back().element->members.empty();
    if (is_number == static_cast<bool>(bound.record_holds))
      throw std::logic_error("bounds: \"" + bound.where + "\" is a number with a bound for a record, or the reverse");
    const ItemKind& kind = layout.kinds[numbers.kind];
    const std::byte* items = state.data() + layout.kind_offset(numbers.kind, 1);
    for (u32 item = 0; item < kind.count; ++item)
      check_item(kind, numbers, bound, item, items + std::size_t{item} * kind.item_bytes);
  }
}

}  // namespace flitlab
