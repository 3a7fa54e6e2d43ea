#include <algorithm>

#include "host/routers/bgl/plan.hpp"
#include "kernels/routers/bgl/acknowledge.hpp"

namespace flitlab {
namespace bgl {
namespace {

/// Returns the VCs of all receivers of a node, as a set of queues.
u64 vc_bits(const Table& t) {
  u64 bits = 0;
  for (u32 d = 0; d < kDirections; ++d) bits |= ((u64{1} << t.vcs) - 1) << queue_of(d, 0);
  return bits;
}

/// Returns the number of descriptors that a queue can hold. `queue`: index [direction][VC], then the injection FIFOs.
u32 descriptors_of(const Table& t, u32 queue) {
  return queue < kDirections * t.vcs ? t.ring[queue % t.vcs] : t.injection_ring;
}
u32 chunks_of_queue(const Table& t, u32 queue) {
  return queue < kDirections * t.vcs ? t.buffer[queue % t.vcs] : t.injection_flits;
}

Check each(std::function<u64(u32 element)> count) {
  return [=](u64 number, u32, u32 element) { return number < count(element); };
}

/// Returns which of the 64 nodes of a calendar item exist, as bits.
u64 nodes_of(const Table& t, u32 item) {
  const u32 nodes = std::min(t.routers - 64 * item, 64u);
  return nodes == 64 ? ~u64{0} : (u64{1} << nodes) - 1;
}

void add_calendar(std::vector<Bound>& bounds, const Table& t) {
  const Check node = [&t](u64 nodes, u32 item, u32) { return (nodes & ~nodes_of(t, item)) == 0; };
  const Check mark = [&t](u64 note, u32 item, u32 element) { return note <= (nodes_of(t, item) >> element % 64 & 1); };
  for (const char* marks : {"calendar.heads", "calendar.tokens"}) bounds.push_back({marks, mark});
  for (const char* sets : {"calendar.heard", "calendar.again", "calendar.queues", "calendar.software", "calendar.told"})
    bounds.push_back({sets, node});
}

void add_packets(std::vector<Bound>& bounds, const Table& t, u64 addresses) {
  for (const std::string prefix : {"router.ring", "router.injection_ring", "router.kept.packet",
                                   "terminal.reception_ring", "terminal.processor.packet"}) {
    if (prefix == "router.kept.packet" && !t.protocol) continue;
    bounds.push_back({prefix + ".dst", below(addresses)});
    bounds.push_back({prefix + ".src", below(t.terminals)});
    bounds.push_back({prefix + ".flits", at_most(kFullPacket)});
  }
}

void add_software(std::vector<Bound>& bounds, const Table& t) {
  bounds.push_back({"terminal.software.arrived", below(1u << kReceptionFifos)});
  bounds.push_back({"terminal.software.put", at_most(kInjectionFifos)});
  bounds.push_back({"terminal.software.take", at_most(kReceptionFifos)});
  bounds.push_back({"terminal.injection.room", at_most(t.injection_flits)});
  bounds.push_back({"terminal.injection.tail", below(t.injection_ring)});
  bounds.push_back({"terminal.reception.first", below(t.reception_ring)});
  bounds.push_back({"terminal.reception.packets", at_most(t.reception_ring)});
  bounds.push_back({"terminal.reception.tail", below(t.reception_ring)});
  bounds.push_back({"terminal.arrival_mail", below(u64{1} << 4 * kReceptionFifos)});
  bounds.push_back({"terminal.processor.task", at_most(2)});
  bounds.push_back({"terminal.processor.fifo", below(kReceptionFifos)});
}

/// Returns whether every head that requests a link has at least one hint bit, without which it has no direction.
bool heads_have_hints(const Table& t, const Item<1>& node) {
  for (u64 left = node.at(t.node_fields.control).waiting; left; left &= left - 1) {
    const u32 queue = lowest_bit(left);
    if (!(node.at(t.node_fields.queue, (queue >> 3) * t.vcs + (queue & 7)).route & kHints)) return false;
  }
  return true;
}

}  // namespace
}  // namespace bgl

std::vector<Bound> BglPlan::bounds() const {
  using namespace bgl;
  const Table& t = table_;
  const u64 vcs = vc_bits(t), queues = vcs | ((u64{1} << kInjectionFifos) - 1) << kInjectionQueue;
  const u64 addresses = *std::max_element(topology_.address.begin(), topology_.address.end()) + u64{1};
  const Check directions = below(1u << kDirections);
  std::vector<Bound> bounds{
      {"router.control.links", directions},
      {"router.control.sending", directions},
      {"router.control.address", below(addresses)},
      {"router.control.reception_room", at_most(t.reception_flits)},
      {"router.neighbour",
       [&t](u64 node, u32 item, u32 d) {
         const u32 there = d < 2 * t.dims ? t.peers[item * t.ports + d].item : kNone;
         return node == there || (there == kNone && node == 0);
       }},
      {"router.head", [&t](u64 head, u32, u32) { return (head & 0xF) <= t.vcs; }},
      {"router.owed", bytes_at_most(*std::max_element(t.buffer, t.buffer + t.vcs))},
      {"router.returned", bytes_at_most(*std::max_element(t.buffer, t.buffer + t.vcs))},
      {"router.sender_takes", below(kInjectionQueue + kInjectionFifos)},
      {"router.tokens", each([&t](u32 vc) { return t.buffer[vc % t.vcs] + u64{1}; })},
      {"router.tail", each([&t](u32 vc) { return u64{t.ring[vc % t.vcs]}; })},
      {"router.queue.first", each([&t](u32 queue) { return u64{descriptors_of(t, queue)}; })},
      {"router.queue.packets", each([&t](u32 queue) { return descriptors_of(t, queue) + u64{1}; })},
      {"router.queue.held", each([&t](u32 queue) { return chunks_of_queue(t, queue) + u64{1}; })},
      {"router.queue.direction", at_most(kReception)},
      {"router.queue.vc", below(t.vcs)},
      {"router.from_software.put", below(1u << kInjectionFifos)}};
  if (t.protocol) bounds.push_back({"router.link_receiver.coming", at_most(t.vcs)});
  if (t.protocol) bounds.push_back({"router.ghosts", subset(queues)});
  for (const char* set : {"ever", "lately", "overdue"})
    if (t.protocol && t.acks) bounds.push_back({std::string("router.link_back.") + set, subset(vcs)});
  if (t.protocol && t.acks) bounds.push_back({"router.link_back.owes", directions});
  if (t.protocol)
    bounds.push_back({"router.acknowledged", [&t](u64 word, u32, u32) { return (word >> kTokenVcShift & 7) < t.vcs; }});
  for (const char* set : {"control.waiting", "control.wanting", "control.here", "control.entering", "control.leaving",
                          "control.arriving", "control.bypassing", "blocked"})
    bounds.push_back({std::string("router.") + set, subset(queues)});
  bounds.push_back(item_bound("router", [&t](const Item<1>& node, u32) { return heads_have_hints(t, node); }));
  for (const char* set : {"open", "roomy", "fuller"})
    bounds.push_back({std::string("router.levels.") + set, subset(vcs)});
  add_packets(bounds, t, addresses);
  add_software(bounds, t);
  add_calendar(bounds, t);
  add_source(bounds, t.traffic, t.mode, t.terminal_fields);
  bounds.push_back({"router.control.fault", at_most(0)});
  return bounds;
}

}  // namespace flitlab
