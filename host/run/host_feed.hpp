#pragma once
/// Packets from the program that steps the network (traffic.mode = "host"). The program offers packets and reads
/// arrivals at any time.
#include <span>

#include "host/run/feed.hpp"

namespace flitlab {

/// A packet that the program offers.
struct OfferedPacket {
  u64 source, destination;  ///< terminals
  u64 flits;
  u64 tag;           ///< any number, which arrives with the packet
  u64 cycle;         ///< earliest creation; a cycle that has passed means the next cycle
  u64 of_class = 0;  ///< class of packets (traffic.classes)
};

/// A packet that has arrived.
struct ArrivedPacket {
  u64 tag;
  u32 source, destination, flits;
  u32 hops;        ///< router-to-router channels crossed
  Cycle created;   ///< cycle in which it entered the source queue
  Cycle injected;  ///< cycle in which its head left the source queue
  Cycle head;      ///< cycle in which its head arrived; kNever: the model does not record it
  Cycle cycle;     ///< cycle in which its tail arrived (if acknowledged: its source has checked that)
};

class HostFeed final : public Feed {
 public:
  /// `room`: most packets of a class that wait at a source; 0: no limit.
  HostFeed(PacketLimits limits, u32 room) : Feed(std::move(limits)), room_(room) {}

  /// Offers packets, in order. A source creates the packets of a class in the order of the offers, each at the latest
  /// of its cycle, the next cycle, and the creation of the packet before it. Returns how many packets were accepted:
  /// all, or those before the first packet whose source queue is full. ConfigError, and no packet is accepted, if the
  /// network cannot carry one of them.
  std::size_t offer(std::span<const OfferedPacket> packets, Engine& engine, u32 replica);

  /// Returns the packets of a class that wait at a source: offered, and their head has not left the source queue.
  u32 waiting(u32 source, u32 of_class, Engine& engine, u32 replica);

  /// Returns how many flits of the packet being sent each source has not sent, [terminal][class].
  std::vector<u32> flits_left(Engine& engine, u32 replica) const;

  /// Returns the number of packets that have arrived before cycle `now` and have not been taken.
  std::size_t arrivals(u64 now);
  /// Removes packets that have arrived before cycle `now`, at most `most`, and returns them by cycle, destination and
  /// source.
  std::vector<ArrivedPacket> take(u64 now, std::size_t most);
  /// Returns the number of packets that terminals have been given and that have not arrived. Dropped packets count,
  /// too.
  u64 in_flight() const { return given_ - arrived_; }
  /// Returns the first cycle in which a listed packet can be taken; kNever: no packet is listed.
  u64 next_arrival();

  bool due(Cycle now) const override { return !changed_.empty() || Feed::due(now); }
  void exchange(Engine& engine, u32 replica) override;
  bool settled(u64 settled) const override { return settled == given_; }
  u64 next_cycle() const override;
  void save(Saver& saver) const override { visit(saver, *this); }
  void load(Loader& loader) override;

 protected:
  void arrived(u32 terminal, const TraceArrival& arrival) override;

 private:
  /// A packet that has been offered.
  struct Open {
    u64 tag;
    u32 source, destination, flits;
    u32 done;  ///< whether it has arrived
  };

  template <class Archive, class Self>
  static void visit(Archive& archive, Self& self) {
    archive(self.given_, self.arrived_, self.first_open_, self.open_, self.queues_, self.changed_, self.arrivals_);
  }

  u32 room_;
  u64 given_ = 0, arrived_ = 0;  ///< number of packets that terminals have been given, that have arrived
  /// Packets by number, from the first one that has not arrived; numbers are counted modulo 2^32.
  std::deque<Open> open_;
  u32 first_open_ = 0;        ///< number of the first of them
  std::vector<u32> changed_;  ///< indices of queues that were empty, and to which packets have been added
  std::deque<ArrivedPacket> arrivals_;
  bool sorted_ = true;  ///< whether `arrivals_` is in order
};

}  // namespace flitlab
