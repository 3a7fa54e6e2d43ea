#include "host/routers/t3e/special_feed.hpp"

#include <algorithm>

#include "host/routers/t3e/registers.hpp"
#include "kernels/common/error.hpp"

namespace flitlab::t3e {
namespace {

constexpr int kMostHops = 127;  // largest number of hops in a dimension; the packet stores it as a signed byte

}  // namespace

void SpecialFeed::queue(u32 node, const Deltas& deltas, SpecialPacket packet) {
  for (u32 i = 0; i < kDeltas; ++i) {
    if (deltas[i] < -kMostHops || deltas[i] > kMostHops)
      throw ConfigError("special packet: delta " + std::to_string(i) + " = " + std::to_string(deltas[i]) +
                        " must be from -127 to 127.");
    packet.delta[i] = static_cast<std::int8_t>(deltas[i]);
  }
  packet.src = node;
  queues_[node].push_back(packet);
  ++waiting_;
}

void SpecialFeed::put(u32 node, const Deltas& deltas, const std::string& name, u64 value) {
  SpecialPacket packet{};
  packet.kind = SpecialKind::kPut;
  packet.number = static_cast<u16>(register_number(name));
  check_value(packet.number, value);
  packet.data = value;
  queue(node, deltas, packet);
}

u32 SpecialFeed::get(u32 node, const Deltas& deltas, const std::string& name) {
  SpecialPacket packet{};
  packet.kind = SpecialKind::kGet;
  packet.number = static_cast<u16>(register_number(name));
  packet.ticket = tickets_ + 1;
  queue(node, deltas, packet);
  return ++tickets_;
}

void SpecialFeed::exchange(Engine& engine) {
  const ItemKind& kind = engine.layout().kinds[kPeKind];
  std::vector<SpecialControl> controls(queues_.size());
  engine.get_field(0, kPeKind, kind.field("special"), controls.data());
  const auto answered = [&](u32 pe) { return controls[pe].answered != taken_[pe]; };
  const auto pes = static_cast<u32>(queues_.size());

  bool any = false;
  for (u32 pe = 0; pe < pes; ++pe) any = any || answered(pe);
  if (any) {
    std::vector<SpecialAnswer> rings(std::size_t{pes} * kSpecialQueue);
    engine.get_field(0, kPeKind, kind.field("special_answers"), rings.data());
    const std::size_t old = answers_.size();
    for (u32 pe = 0; pe < pes; ++pe)
      for (; answered(pe); ++taken_[pe]) {
        const SpecialAnswer& a = rings[std::size_t{pe} * kSpecialQueue + taken_[pe] % kSpecialQueue];
        answers_.push_back({a.ticket, pe, a.value, a.at});
      }
    std::stable_sort(answers_.begin() + static_cast<std::ptrdiff_t>(old), answers_.end(),
                     [](const TimedAnswer& a, const TimedAnswer& b) { return a.cycle < b.cycle; });
  }

  if (!waiting_) return;
  std::vector<SpecialPacket> rings(std::size_t{pes} * kSpecialQueue);
  engine.get_field(0, kPeKind, kind.field("special_queue"), rings.data());
  for (u32 pe = 0; pe < pes; ++pe)
    for (SpecialControl& c = controls[pe]; !queues_[pe].empty() && c.queued - c.sent < kSpecialQueue; --waiting_) {
      rings[std::size_t{pe} * kSpecialQueue + c.queued++ % kSpecialQueue] = queues_[pe].front();
      queues_[pe].pop_front();
    }
  engine.set_field(0, kPeKind, kind.field("special_queue"), rings.data());
  engine.set_field(0, kPeKind, kind.field("special"), controls.data());
}

std::vector<TimedAnswer> SpecialFeed::take_answers() { return std::exchange(answers_, {}); }

}  // namespace flitlab::t3e
