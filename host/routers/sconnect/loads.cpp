#include "host/routers/sconnect/loads.hpp"

#include <algorithm>

#include "host/plan/interrupt.hpp"
#include "host/routers/sconnect/order.hpp"
#include "kernels/common/bits.hpp"
#include "kernels/routers/sconnect/route.hpp"

namespace flitlab {

using sconnect::kPorts;

SconnectLoads::SconnectLoads(const SconnectFabric& fabric, const std::vector<u16>& entry, u32 stride)
    : fabric_(fabric),
      entry_(entry),
      hosts_(sconnect_hosts(fabric)),
      seen_(2 * std::size_t{fabric.tics}),
      load_(std::size_t{fabric.tics} * kPorts),
      flow_(seen_.size()) {
  for (u32 channel = 0; channel < load_.size(); ++channel)
    if (fabric_.links[channel].kind == sconnect::LinkKind::kSerial) serial_.push_back(channel);
  for (u32 d = 0; d < fabric_.nodes; d += stride) {
    check_interrupt();
    add(d, 1);
  }
}

void SconnectLoads::add(u32 d, double part) {
  // Pairs (TIC, virtual channel of arrival), numbered 2 TIC + virtual channel, in topological order: the reverse of the
  // order in which a depth-first traversal leaves them.
  std::fill(seen_.begin(), seen_.end(), u8{0});
  std::fill(flow_.begin(), flow_.end(), 0.0);
  order_.clear();
  const auto options = [&](u32 vertex) -> u32 {
    return sconnect::allowed(entry_[std::size_t{vertex / 2} * fabric_.nodes + d], vertex & 1);
  };
  const auto begin = [&](u32 vertex) {
    const bool there = fabric_.node_of[vertex / 2] == d &&
                       std::find(hosts_[d].begin(), hosts_[d].end(), vertex / 2) != hosts_[d].end();
    seen_[vertex] = 1;
    way_.emplace_back(vertex, there ? 0 : options(vertex));
  };
  for (u32 node = 0; node < fabric_.nodes; ++node)
    for (u32 tic : hosts_[node]) {
      if (node == d) continue;
      flow_[2 * tic] = part;
      if (seen_[2 * tic]) continue;
      begin(2 * tic);
      while (!way_.empty()) {
        auto& [vertex, left] = way_.back();
        if (!left) {
          order_.push_back(vertex);
          way_.pop_back();
          continue;
        }
        const u32 bit = lowest_bit(left), next = 2 * fabric_.link(vertex / 2, bit / 2).far + bit % 2;
        left &= left - 1;
        if (!seen_[next]) begin(next);
      }
    }
  for (std::size_t i = order_.size(); i--;) {
    const u32 vertex = order_[i];
    if (fabric_.node_of[vertex / 2] == d &&
        std::find(hosts_[d].begin(), hosts_[d].end(), vertex / 2) != hosts_[d].end())
      continue;
    const u32 all = options(vertex);
    const double each = flow_[vertex] / bit_count(all);
    for (u32 set = all; set; set &= set - 1) {
      const u32 bit = lowest_bit(set), port = bit / 2;
      load_[vertex / 2 * kPorts + port] += each;
      flow_[2 * fabric_.link(vertex / 2, port).far + bit % 2] += each;
    }
  }
}

double SconnectLoads::busiest() const {
  double most = 0, sum = 0;
  for (u32 channel : serial_) {
    most = std::max(most, load_[channel]);
    sum += load_[channel];
  }
  return sum > 0 ? most * static_cast<double>(serial_.size()) / sum : 0;
}

}  // namespace flitlab
