#include "host/routers/bgl/table.hpp"

#include <algorithm>
#include <bit>

#include "kernels/routers/bgl/params.hpp"

namespace flitlab::bgl {
namespace {

/// Returns the threshold below which a 32-bit draw means "yes", for a probability; kNone if the probability is 1.
u32 threshold(double probability) { return probability >= 1 ? kNone : static_cast<u32>(probability * 4294967296.0); }

/// Returns the cycles that tokens may wait in addition to their delay. With the link protocol and without token
/// packets, a VC can have several token messages in one cycle, which then arrive one after the other.
u32 token_wait(const Experiment& e) { return e.flag(param::router.link_protocol) && !has_token_packets(e) ? 8 : 0; }

u32 buffer_of(const Table& t, const Experiment& e, u32 vc) {
  return e.u32_of(vc < t.dynamic_vcs ? param::router.dynamic_flits
                  : vc < t.high_vc   ? param::router.escape_flits
                                     : param::router.priority_flits);
}

}  // namespace

u32 hop_delay(const Experiment& e) {
  return e.u32_of(param::topology.channel_delay) + e.u32_of(param::router.pipeline_delay) +
         e.u32_of(param::router.arbitration_delay);
}

u32 token_delay(const Experiment& e) {
  return e.u32_of(param::topology.channel_delay) + e.u32_of(param::router.ack_bytes);
}

bool has_token_packets(const Experiment& e) {
  const std::string& acks = e.str(param::router.acks);
  if (acks == "auto") return e.u32_of(param::router.ack_bytes);
  return acks == "packets";
}

u32 packet_overhead(const Experiment& e) {
  const u32 charged = has_token_packets(e) ? 0 : e.u32_of(param::router.ack_bytes);
  return e.u32_of(param::router.trailer_bytes) + charged + e.u32_of(param::router.gap_bytes);
}

u32 inbox_slots(const Table& t, const Experiment& e) {
  return std::bit_ceil(std::max(t.hop_delay, t.token_delay + token_wait(e)) + 1);
}

u32 software_slots(const Table& t) { return std::bit_ceil(std::max(t.injection_delay, 1u) + 1); }

u32 head_slots(const Table& t) {
  const u32 between = kChunkBytes + t.overhead;  // smallest distance of two heads on a link, cycles
  return t.hop_delay < between ? 1 : std::bit_ceil(t.hop_delay / kChunkBytes + 2);
}

u32 calendar_slots(const Table& t) {
  return std::bit_ceil(std::max({kChunkBytes * kFullPacket + t.overhead, t.hop_delay + t.fifo_delay, t.token_delay,
                                 kFullPacket * t.put_interval, t.take_interval, u32{t.handling[kFullPacket]}}) +
                       1);
}

void set_network(Table& t, const Topology& topology) {
  t.routers = topology.routers;
  t.terminals = topology.terminals;
  t.dims = static_cast<u32>(topology.shape.size());
  for (u32 d = 0; d < t.dims; ++d) {
    t.radix[d] = topology.shape[d];
    t.mask[d] = topology.dim_mask[d];
    t.shift[d] = topology.dim_shift[d];
  }
  t.peers = topology.peers.data();
  t.ports = topology.ports;
  t.address = topology.address.data();
}

void set_vcs(Table& t, const Experiment& e) {
  const bool bubble = e.is({param::router.escape, "bubble"});
  const bool full_size = !bubble || e.is({param::router.bubble_rule, "full_size"});
  t.dynamic_vcs = e.u32_of(param::router.dynamic_vcs);
  t.escape_vcs = bubble ? 1 : 2;
  t.high_vc = t.dynamic_vcs + t.escape_vcs;
  t.vcs = t.high_vc + 1;
  const u32 escape = 1u << t.dynamic_vcs, high = 1u << t.high_vc;
  t.dynamic_set = static_cast<u8>(escape - 1);
  t.bubble_set = static_cast<u8>(high | (bubble ? escape : 0));
  t.full_size_set = static_cast<u8>(high | (bubble && full_size ? escape : 0));
  t.order = e.choice<Order>(param::router.escape_order);
}

void set_buffers(Table& t, const Experiment& e, u32 shortest) {
  shortest = std::min(shortest, kFullPacket);
  for (u32 vc = 0; vc < t.vcs; ++vc) {
    t.buffer[vc] = static_cast<u8>(buffer_of(t, e, vc));
    // One more descriptor than packets fit: a packet that bypasses the VC may already have returned its tokens.
    t.ring[vc] = static_cast<u16>(t.buffer[vc] / token_cost(t, vc, shortest) + 1);
    t.ring_start[vc] = static_cast<u16>(t.rings);
    t.rings += t.ring[vc];
  }
  t.injection_flits = e.u32_of(param::injection.fifo_flits);
  t.reception_flits = e.u32_of(param::reception.fifo_flits);
  t.injection_ring = t.injection_flits / shortest;
  t.reception_ring = t.reception_flits / shortest;
}

void set_delays(Table& t, const Experiment& e) {
  t.hop_delay = hop_delay(e);
  t.fifo_delay = e.u32_of(param::router.fifo_delay);
  t.injection_delay = e.u32_of(param::router.arbitration_delay);
  t.token_delay = token_delay(e);
  t.overhead = packet_overhead(e);
  t.ack_cycles = e.u32_of(param::router.ack_bytes);
}

void set_choices(Table& t, const Experiment& e) {
  t.paths = e.u32_of(param::router.paths);
  t.bypass = e.flag(param::router.bypass);
  t.jsq = e.flag(param::router.jsq);
  t.gap = e.flag(param::router.arbitration_gap);
  t.register_ties = e.is({param::routing.ties, "registers"});
  t.statistics = e.flag(param::router.count_unblocking);
  t.acks = has_token_packets(e);
  t.defer = !t.statistics && !e.flag(param::router.link_protocol);
  t.slq_threshold = threshold(e.f64(param::router.slq));
  t.network_threshold = threshold(e.f64(param::router.network_first));
  t.dynamic_threshold = t.dynamic_vcs ? threshold(e.f64(param::routing.dynamic)) : 0;
  t.priority_threshold = threshold(e.f64(param::injection.priority_share));
}

void set_software(Table& t, const Experiment& e) {
  t.infinite_fifos = e.flag(param::injection.infinite);
  t.fifos = e.u32_of(param::injection.fifos);
  t.reception_groups = e.u32_of(param::reception.groups);
  t.put_interval = t.infinite_fifos ? 0 : e.u32_of(param::injection.put_interval);
  t.take_interval = e.u32_of(param::reception.take_interval);
  const u32 packet = e.u32_of(param::software.packet_time), chunk = e.u32_of(param::software.chunk_time);
  t.processors = packet || chunk ? e.u32_of(param::software.processors) : 0;
  for (u32 n = 1; n <= kFullPacket; ++n)
    t.handling[n] = static_cast<u16>((packet + chunk * n + kProcessorCycles - 1) / kProcessorCycles);
  t.start_spread = e.u32_of(param::software.start_spread);
}

void set_slots(Table& t, const Experiment& e) {
  t.slot_mask = inbox_slots(t, e) - 1;
  t.software_mask = software_slots(t) - 1;
  t.head_slots = head_slots(t);
  t.calendar_slots = calendar_slots(t);
}

void set_broadcast(Table& t, const Experiment& e) {
  const std::vector<u32>& dims = e.ints(param::broadcast.dimensions);
  t.fill_root = e.u32_of(param::broadcast.root);
  t.fill_dims = static_cast<u32>(dims.size());
  for (u32 i = 0; i < dims.size(); ++i) t.fill_dim[i] = dims[i];
  t.fill_packets = e.u32_of(param::broadcast.packets);
}

}  // namespace flitlab::bgl
