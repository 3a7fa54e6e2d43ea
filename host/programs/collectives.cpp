#include "host/programs/collectives.hpp"

#include <algorithm>
#include <bit>

namespace flitlab {
namespace {

/// One member of a collective operation. Its functions issue the calls that this member makes.
struct Member {
  const Collective& c;
  u32 n, me;
  const CallSink& sink;

  /// Return the member that is `distance` positions ahead of, or behind, this member in cyclic order.
  u32 after(u32 distance) const { return static_cast<u32>((u64{me} + distance) % n); }
  u32 before(u32 distance) const { return static_cast<u32>((u64{me} + n - distance) % n); }

  void send(u32 to, u64 bytes) const { sink(CallKind::kSend, to, bytes); }
  void receive(u32 from, u64 bytes) const { sink(CallKind::kReceive, from, bytes); }
  void combine() const {
    if (c.cycles) sink(CallKind::kCompute, me, c.cycles);
  }
  void exchange(u32 with) const {
    send(with, c.bytes);
    receive(with, c.bytes);
    combine();
  }

  void barrier() const {
    for (u32 distance = 1; distance < n; distance *= 2) {
      send(after(distance), 0);
      receive(before(distance), 0);
    }
  }

  // Binomial tree. Each member has a distance from the root, in cyclic order. The distance of a member's parent is that
  // of the member without its lowest 1 bit. The distance of a child has one more 1 bit, below this lowest bit.
  void broadcast() const {
    const u32 distance = (me + n - c.root) % n;
    u32 bit = distance ? distance & -distance : std::bit_ceil(n);
    if (distance) receive(before(bit), c.bytes);
    while (bit /= 2)
      if (distance + bit < n) send(after(bit), c.bytes);
  }

  void reduce() const {
    const u32 distance = (me + n - c.root) % n;
    u32 bit = 1;
    for (; bit < n && !(distance & bit); bit *= 2) {
      if (distance + bit >= n) continue;
      receive(after(bit), c.bytes);
      combine();
    }
    if (distance) send(before(bit), c.bytes);
  }

  // Recursive doubling needs a power of two. So the first 2 * extra members form pairs, and only the odd member of each
  // pair takes part in the recursive doubling.
  void allreduce() const {
    const u32 doubling = std::bit_floor(n), extra = n - doubling;
    if (me < 2 * extra && me % 2 == 0) {
      send(me + 1, c.bytes);
      receive(me + 1, c.bytes);
      return;
    }
    const bool paired = me < 2 * extra;
    if (paired) {
      receive(me - 1, c.bytes);
      combine();
    }
    const u32 number = paired ? me / 2 : me - extra;
    for (u32 bit = 1; bit < doubling; bit *= 2) {
      const u32 other = number ^ bit;
      exchange(other < extra ? 2 * other + 1 : other + extra);
    }
    if (paired) send(me - 1, c.bytes);
  }

  void allgather() const {
    const bool doubling = std::has_single_bit(n);
    for (u32 distance = 1; distance < n; distance *= 2) {
      const u64 bytes = u64{std::min(distance, n - distance)} * c.bytes;
      send(doubling ? me ^ distance : before(distance), bytes);
      receive(doubling ? me ^ distance : after(distance), bytes);
    }
  }

  void alltoall() const {
    const bool pairs = std::has_single_bit(n);
    for (u32 step = 1; step < n; ++step) {
      send(pairs ? me ^ step : after(step), c.bytes);
      receive(pairs ? me ^ step : before(step), c.bytes);
    }
  }
};

}  // namespace

void expand(const Collective& collective, u32 members, u32 me, const CallSink& sink) {
  const Member member{collective, members, me, sink};
  switch (collective.kind) {
    case CollectiveKind::kBarrier: return member.barrier();
    case CollectiveKind::kBroadcast: return member.broadcast();
    case CollectiveKind::kReduce: return member.reduce();
    case CollectiveKind::kAllreduce: return member.allreduce();
    case CollectiveKind::kAllgather: return member.allgather();
    case CollectiveKind::kAlltoall: return member.alltoall();
  }
}

}  // namespace flitlab
