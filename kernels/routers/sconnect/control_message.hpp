#pragma once
/// Control messages (S-Connect, 3.4): what they ask of a TIC, and the way they take. The paper gives no formats; these
/// are ours. A message goes by the routing table to an address, if it has one, and then over channels that it names
/// itself, so that it reaches what has no table yet; the reply goes the same way back.
#include "kernels/routers/sconnect/message.hpp"

namespace flitlab::sconnect {

enum class Operation : u8 { kNone, kReadTable, kWriteTable, kReadRegister, kWriteRegister, kAddToTimer };
inline constexpr u8 kReply = 0x80;
FLITLAB_HD inline bool is_reply(const Message& m) { return m.control & kReply; }

/// Registers of a TIC by number. Those of port p are kOfPort + 8 p + PortRegister.
enum class Register : u8 {
  kPorts,       ///< bits: ports that lead to a TIC, and 8 places up those that lead to a host
  kCameBy,      ///< port that this message has come by
  kAddress,     ///< of the node
  kEnabled,     ///< ports that are switched on
  kTimer,       ///< 16 bits, routing cycles
  kCounting,    ///< event that the counter counts; 32, and what is more: none
  kCounter,     ///< writing sets it
  kClock,       ///< bits: loop closed, pull at its limit; writing bit 0 closes or opens the loop
  kClockRate,   ///< deviation of the frequency, 2^-32 rad per routing cycle, two's complement
  kClockSends,  ///< ports whose data stream is on, and with it their clock
  kSlips,       ///< words that fifos have lost or repeated
  kOfPort = 16
};
enum class PortRegister : u8 { kDamaged, kRefused, kFailed, kLost, kCarried, kOverflows, kUnderflows, kCount };

inline constexpr u32 kMaxHops = 16;

/// Hops that a message takes by itself: three bits each; those to come from the bottom, those back from the top.
struct Way {
  u64 bits;  ///< 48 of hops, 5 of hops to come, 5 of hops made

  FLITLAB_HD u32 left() const { return static_cast<u32>(bits >> 48 & 31); }
  FLITLAB_HD u32 made() const { return static_cast<u32>(bits >> 53 & 31); }
  FLITLAB_HD u64 hops() const { return bits & ((u64{1} << 48) - 1); }

  FLITLAB_HD static Way of(u64 hops, u32 left, u32 made) { return {hops | u64{left} << 48 | u64{made} << 53}; }

  /// The next hop; `came_by` is what leads back.
  FLITLAB_HD u32 go_on(u32 came_by) {
    const u32 hop = static_cast<u32>(hops() & 7);
    *this = of(hops() >> 3 | u64{came_by} << 45, left() - 1, made() + 1);
    return hop;
  }
  FLITLAB_HD u32 go_back() {
    const u32 hop = static_cast<u32>(hops() >> 45);
    *this = of(hops() << 3 & ((u64{1} << 48) - 1), left() + 1, made() - 1);
    return hop;
  }
};

/// A control message uses the fields of a data message for what it needs: the way for its times, a number and a time
/// stamp for its id, a value for its destination, the address of who asks for its hops.
FLITLAB_HD inline Way way_of(const Message& m) { return {u64{m.injected} << 32 | m.created}; }
FLITLAB_HD inline void set_way(Message& m, Way way) {
  m.created = static_cast<u32>(way.bits);
  m.injected = static_cast<u32>(way.bits >> 32);
}
FLITLAB_HD inline u32 number_of(const Message& m) { return m.id & 0xFFFF; }
FLITLAB_HD inline u32 stamp_of(const Message& m) { return m.id >> 16; }

}  // namespace flitlab::sconnect
