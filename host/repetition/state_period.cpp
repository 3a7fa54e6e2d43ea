#include "host/repetition/state_period.hpp"

#include <algorithm>

#include "host/plan/state_numbers.hpp"

namespace flitlab {
namespace {

/// A time that has been past for this many cycles has no effect any more.
constexpr u32 kPast = 64;

enum class Rule : u8 { kNone, kSame, kClock, kCounter, kElsewhere };

/// Calls visit(offset, bytes, unit) for every number of a record.
template <class Visit>
void for_each_number(const RecordInfo& record, u32 offset, std::string_view unit, const Visit& visit) {
  if (record.members.empty()) return visit(offset, record.bytes, unit);
  for (const MemberInfo& m : record.members)
    for (u32 i = 0; i < m.count; ++i)
      for_each_number(*m.element, offset + m.offset + i * m.element->bytes, m.unit, visit);
}

/// Rules of the bytes of an item or a record.
class Rules {
 public:
  explicit Rules(u32 bytes) : rules_(bytes, Rule::kNone) {}

  void set(u32 offset, u32 bytes, Rule rule) { std::fill_n(rules_.begin() + offset, bytes, rule); }
  void add(const RecordInfo& record, u32 offset, std::string_view unit) {
    set(offset, record.bytes, Rule::kSame);
    for_each_number(record, offset, unit, [this](u32 at, u32 bytes, std::string_view u) {
      if (u == "cycle" && bytes == sizeof(Cycle)) set(at, bytes, Rule::kClock);
    });
  }
  /// Calls same(offset, bytes) for each run of bytes that must be equal, clock(offset), counter(offset).
  template <class Same, class Clock, class Counter>
  void visit(Same same, Clock clock, Counter counter) const {
    for (u32 i = 0; i < rules_.size();) {
      u32 end = i + 1;
      if (rules_[i] == Rule::kSame) {
        while (end < rules_.size() && rules_[end] == Rule::kSame) ++end;
        same(i, end - i);
      } else if (rules_[i] == Rule::kClock || rules_[i] == Rule::kCounter) {
        end = i + sizeof(u32);
        rules_[i] == Rule::kClock ? clock(i) : counter(i);
      }
      i = end;
    }
  }

 private:
  std::vector<Rule> rules_;
};

u32 word(const std::byte* at) { return number_at(at, sizeof(u32)); }

/// Returns (position + shift) modulo the number of positions.
u32 moved(u32 position, u64 shift, u32 positions) { return static_cast<u32>((position + shift) % positions); }

}  // namespace

StatePeriod::StatePeriod(const Plan& plan, const Motion& motion, TotalTable own)
    : layout_(plan.layout()), program_(layout_, motion), kinds_(layout_.kinds.size()) {
  std::vector<Rules> rules;
  for (const ItemKind& kind : layout_.kinds) {
    Rules& all = rules.emplace_back(kind.item_bytes);
    for (const FieldInfo& f : kind.fields)
      for (u32 i = 0; i < f.count; ++i) all.add(*f.element, f.offset + i * f.element_bytes, f.unit);
  }
  const auto set = [&](const Elements& e, Rule rule) {
    for (u32 i = 0; i < e.count; ++i) rules[e.kind].set(e.offset + i * e.stride, e.bytes, rule);
  };
  for (const std::string& name : motion.counters) set(find_elements(layout_, name), Rule::kCounter);
  for (const char* name : {"terminal.program.next", "terminal.program.sending", "terminal.program.handed",
                           "terminal.program_arrived", "terminal.program_latest"})
    set(find_elements(layout_, name), Rule::kElsewhere);
  for (const Motion::Buffers& b : motion.buffers) {
    add_buffers(b);
    set(find_elements(layout_, b.field), Rule::kElsewhere);
    set(buffers_.back().front, Rule::kElsewhere);
  }
  for (const Motion::Pointers& p : motion.pointers) {
    const Elements e = find_elements(layout_, p.name);
    set(e, Rule::kElsewhere);
    add_pointers(e, p);
  }
  for (u32 k = 0; k < kinds_.size(); ++k) {
    Parts& item = kinds_[k].item;
    rules[k].visit([&](u32 offset, u32 bytes) { item.same.push_back({offset, bytes}); },
                   [&](u32 offset) { item.clocks.push_back(offset); },
                   [&](u32 offset) { item.counters.push_back(offset); });
  }
  for (u32 i = 0; i < totals_in_use(own); ++i) {
    maxima_[i] = total_record(own, i)->maximum;
    times_[i] = total_record(own, i)->unit == "cycle";
  }
  audits_[u32(Total::kAuditedFlits)] = audits_[u32(Total::kAuditedPackets)] = true;
  for (const Conserved& law : plan.facts().conserved) audits_[law.audited] = true;
}

/// Returns the parts of `count` records that lie side by side.
StatePeriod::Parts StatePeriod::parts_of(const RecordInfo& record, u32 count) const {
  Parts parts;
  Rules rules(record.bytes * count);
  for (u32 i = 0; i < count; ++i) rules.add(record, i * record.bytes, "");
  for (const MemberInfo& m : record.members) {
    if (m.name == "id") parts.id = m.offset;
    if (m.name == "src") parts.source = m.offset;
  }
  if (parts.id != kNone) rules.set(parts.id, sizeof(u32), Rule::kElsewhere);
  rules.visit([&](u32 offset, u32 bytes) { parts.same.push_back({offset, bytes}); },
              [&](u32 offset) { parts.clocks.push_back(offset); }, [](u32) {});
  return parts;
}

void StatePeriod::add_buffers(const Motion::Buffers& motion) {
  const StateNumbers numbers = find_numbers(layout_, motion.field);
  const FieldInfo& field = *numbers.field;
  const u32 elements = field.count / (motion.number * motion.positions);
  Buffers b{numbers.kind,
            field.offset,
            elements * field.element_bytes,
            motion.number,
            motion.positions,
            {},
            {},
            {},
            motion.most_on_the_way,
            {},
            {}};
  if (!motion.front.empty()) b.front = find_elements(layout_, motion.front);
  if (!motion.in_use.empty()) b.in_use = find_elements(layout_, motion.in_use);
  if (!motion.waiting.empty()) b.waiting = find_elements(layout_, motion.waiting);
  b.position = parts_of(*field.element, elements);
  kinds_[numbers.kind].buffers.push_back(static_cast<u32>(buffers_.size()));
  buffers_.push_back(b);
}

void StatePeriod::add_pointers(const Elements& elements, const Motion::Pointers& motion) {
  const u32 index = static_cast<u32>(pointers_.size());
  kinds_[elements.kind].pointers.push_back(index);
  pointers_.push_back({elements, &motion});
  for (u32 item = 0; item < layout_.kinds[elements.kind].count; ++item)
    for (u32 i = 0; i < elements.count; ++i) {
      const Motion::Target target = motion.target(item, i);
      Buffers& b = buffers_[target.buffers];
      b.pointers.resize(std::size_t{layout_.kinds[b.kind].count} * b.number);
      b.pointers[std::size_t{target.item} * b.number + target.number] = {index, item, i};
    }
}

u32 StatePeriod::in_use(const std::vector<std::byte>& state, const Motion::Target& buffer) const {
  const Buffers& b = buffers_[buffer.buffers];
  const std::byte* item = item_at(layout_, state, b.kind, buffer.item);
  if (b.in_use.count) return b.in_use.read(item, buffer.number);
  if (b.pointers.empty()) return b.positions;
  const Pointer& p = b.pointers[std::size_t{buffer.item} * b.number + buffer.number];
  if (p.pointers == kNone) return 0;
  const Elements& pointer = pointers_[p.pointers].elements;
  const u32 end = pointer.read(item_at(layout_, state, pointer.kind, p.item), p.index);
  const u32 used = (end + b.positions - b.front.read(item, buffer.number)) % b.positions;
  if (used) return used;
  const bool none = b.positions > b.most_on_the_way && !(b.waiting.count && b.waiting.read(item, buffer.number));
  return none ? 0 : b.positions;
}

/// A packet overwrites a position with something that was not there before, so the positions that are as before have
/// not been overwritten.
u32 StatePeriod::passed(const Period& period, const Motion::Target& buffer) const {
  const Buffers& b = buffers_[buffer.buffers];
  const u32 first = b.offset + buffer.number * b.positions * b.position_bytes;
  const std::byte *before = item_at(layout_, period.before.state, b.kind, buffer.item) + first,
                  *after = item_at(layout_, period.after.state, b.kind, buffer.item) + first;
  u32 passed = 0;
  for (u32 i = 0; i < b.positions; ++i)
    passed += std::memcmp(before + i * b.position_bytes, after + i * b.position_bytes, b.position_bytes) != 0;
  return passed;
}

/// Returns whether a time moves on with the clock, or has no effect in the period; a future time limits the number of
/// repetitions.
bool StatePeriod::clock_moves(u32 before, u32 after, const Period& period) {
  if (after - before == period.cycles()) return true;
  if (after != before) return false;
  if (after == kNever || u64{after} + kPast <= period.before.cycle) return true;
  if (after < period.after.cycle) return false;
  limit_ = std::min(limit_, (after - period.after.cycle) / period.cycles());
  return true;
}

/// Returns whether a position of a buffer in the second snapshot is what a position in the first one has become.
bool StatePeriod::position_moves(const Period& period, const Parts& parts, const std::byte* a, const std::byte* b,
                                 u32 item) {
  for (const Bytes& s : parts.same)
    if (std::memcmp(a + s.offset, b + s.offset, s.bytes) != 0) return false;
  for (const u32 at : parts.clocks)
    if (word(b + at) - word(a + at) != period.cycles()) return false;
  if (parts.id == kNone) return true;
  const u32 source = parts.source == kNone ? item : word(a + parts.source), id = word(a + parts.id);
  program_.note(source, id);
  return word(b + parts.id) - id == program_.packets_moved(source, id);
}

bool StatePeriod::buffer_moves(const Period& period, const Motion::Target& target) {
  const Buffers& b = buffers_[target.buffers];
  const u32 first = b.offset + target.number * b.positions * b.position_bytes, d = shift(period, target);
  const std::byte *before = item_at(layout_, period.before.state, b.kind, target.item),
                  *after = item_at(layout_, period.after.state, b.kind, target.item);
  const u32 front = b.front.count ? b.front.read(before, target.number) : 0;
  const u32 used = b.front.count ? in_use(period.before.state, target) : b.positions;
  if (b.front.count && in_use(period.after.state, target) != used) return false;
  for (u32 i = 0; i < used; ++i) {
    const u32 from = moved(front, i, b.positions), to = moved(from, d, b.positions);
    const std::byte *x = before + first + from * b.position_bytes, *y = after + first + to * b.position_bytes;
    const bool rests = !d && b.front.count && std::memcmp(x, y, b.position_bytes) == 0;
    if (!rests && !position_moves(period, b.position, x, y, target.item)) return false;
  }
  return true;
}

u32 StatePeriod::shift(const Period& period, const Motion::Target& buffer) const {
  const Buffers& b = buffers_[buffer.buffers];
  if (!b.front.count) return period.cycles() % b.positions;
  const std::byte *before = item_at(layout_, period.before.state, b.front.kind, buffer.item),
                  *after = item_at(layout_, period.after.state, b.front.kind, buffer.item);
  return (b.front.read(after, buffer.number) + b.positions - b.front.read(before, buffer.number)) % b.positions;
}

bool StatePeriod::item_moves(const Period& period, u32 kind, u32 item) {
  const Kind& k = kinds_[kind];
  const std::byte *a = item_at(layout_, period.before.state, kind, item),
                  *b = item_at(layout_, period.after.state, kind, item);
  for (const Bytes& s : k.item.same)
    if (std::memcmp(a + s.offset, b + s.offset, s.bytes) != 0) return false;
  for (const u32 at : k.item.clocks)
    if (!clock_moves(word(a + at), word(b + at), period)) return false;
  for (const u32 index : k.pointers) {
    const Pointers& p = pointers_[index];
    for (u32 i = 0; i < p.elements.count; ++i) {
      const Motion::Target target = p.motion->target(item, i);
      const u32 positions = buffers_[target.buffers].positions;
      if (moved(p.elements.read(a, i), shift(period, target), positions) != p.elements.read(b, i)) return false;
    }
  }
  for (const u32 index : k.buffers)
    for (u32 n = 0; n < buffers_[index].number; ++n)
      if (!buffer_moves(period, {index, item, n})) return false;
  return true;
}

u64 StatePeriod::repeats(const Period& period, u64 most) {
  limit_ = most;
  if (!plausible(period.before, period.after)) return 0;
  for (u32 kind = 0; kind < kinds_.size(); ++kind)
    for (u32 item = 0; item < layout_.kinds[kind].count; ++item)
      if (!item_moves(period, kind, item)) return 0;
  return limit_ ? program_.repeats(period, limit_) : 0;
}

void StatePeriod::move_position(const Period& period, const Parts& parts, std::byte* at, u32 item, u64 times) const {
  for (const u32 clock : parts.clocks)
    set_number_at(at + clock, sizeof(u32), word(at + clock) + static_cast<u32>(times) * period.cycles());
  if (parts.id == kNone) return;
  const u32 source = parts.source == kNone ? item : word(at + parts.source), id = word(at + parts.id);
  set_number_at(at + parts.id, sizeof(u32), id + static_cast<u32>(times) * program_.packets_moved(source, id));
}

void StatePeriod::move_buffer(const Period& period, const Motion::Target& target, std::byte* out, u64 times) const {
  const Buffers& b = buffers_[target.buffers];
  const u32 first = b.offset + target.number * b.positions * b.position_bytes, d = shift(period, target);
  const std::byte *before = item_at(layout_, period.before.state, b.kind, target.item) + first,
                  *after = item_at(layout_, period.after.state, b.kind, target.item) + first;
  const u32 front = b.front.count ? b.front.read(after - first, target.number) : 0;
  const u32 used = b.front.count ? in_use(period.after.state, target) : b.positions;
  const auto copy = [&](u64 to, u64 from, u64 periods) {
    std::byte* at = out + first + moved(front, to, b.positions) * b.position_bytes;
    std::memcpy(at, after + moved(front, from, b.positions) * b.position_bytes, b.position_bytes);
    move_position(period, b.position, at, target.item, periods);
  };
  for (u32 i = 0; i < used; ++i) {
    const std::size_t at = moved(front, i, b.positions) * std::size_t{b.position_bytes};
    const bool rests = !d && b.front.count && std::memcmp(before + at, after + at, b.position_bytes) == 0;
    if (!rests) copy(i + times * d, i, times);
  }
  const u32 n = used < b.positions ? passed(period, target) : 0;
  if (!n) return;
  // Of the positions left over, the ones before the front were in use last. The j-th one before it is what it became in
  // one of the repetitions, or has only moved away from the front.
  const u64 whole = u64{b.positions} * (2 + times);  // keeps positions positive
  for (u64 j = 1; j + used <= b.positions; ++j) {
    const u64 periods = (j - 1) / n;
    if (n == b.positions || periods < times)
      copy(times * d + whole - j, whole - ((j - 1) % n + 1), n == b.positions ? times : times - periods);
    else
      copy(times * d + whole - j, whole - (j - times * n), 0);
  }
}

void StatePeriod::move_item(const Period& period, std::byte* out, u32 kind, u32 item, u64 times) const {
  const Kind& k = kinds_[kind];
  const std::byte *a = item_at(layout_, period.before.state, kind, item),
                  *b = item_at(layout_, period.after.state, kind, item);
  for (const u32 at : k.item.clocks)
    if (word(b + at) != word(a + at))
      set_number_at(out + at, sizeof(u32), word(b + at) + static_cast<u32>(times) * period.cycles());
  for (const u32 at : k.item.counters)
    set_number_at(out + at, sizeof(u32), word(b + at) + static_cast<u32>(times) * (word(b + at) - word(a + at)));
  for (const u32 index : k.pointers) {
    const Elements& e = pointers_[index].elements;
    for (u32 i = 0; i < e.count; ++i) {
      const Motion::Target target = pointers_[index].motion->target(item, i);
      e.write(out, i, moved(e.read(b, i), times * shift(period, target), buffers_[target.buffers].positions));
    }
  }
  for (const u32 index : k.buffers) {
    const Buffers& buffers = buffers_[index];
    for (u32 n = 0; n < buffers.number; ++n) {
      const Motion::Target target{index, item, n};
      move_buffer(period, target, out, times);
      if (buffers.front.count)
        buffers.front.write(out, n, moved(buffers.front.read(b, n), times * shift(period, target), buffers.positions));
    }
  }
}

Snapshot StatePeriod::after(const Period& period, u64 times) const {
  Snapshot next = period.after;
  next.cycle += times * period.cycles();
  for (u32 kind = 0; kind < kinds_.size(); ++kind)
    for (u32 item = 0; item < layout_.kinds[kind].count; ++item)
      move_item(period, item_at(layout_, next.state, kind, item), kind, item, times);
  program_.move_on(period, next, times);
  const CounterShard &a = period.before.counters, &b = period.after.counters;
  for (u32 i = 0; i < kTotals; ++i) {
    if (audits_[i] || a.total[i] == b.total[i]) continue;
    if (!maxima_[i]) next.counters.total[i] += times * (b.total[i] - a.total[i]);
    if (maxima_[i] && times_[i]) next.counters.total[i] += times * period.cycles();
  }
  for (u32 i = 0; i < kHistogramBins; ++i) {
    next.counters.latency[i] += times * (b.latency[i] - a.latency[i]);
    next.counters.network_latency[i] += times * (b.network_latency[i] - a.network_latency[i]);
  }
  return next;
}

}  // namespace flitlab
