#pragma once
/// Formats of control messages (S-Connect, 3.4): operations, registers, source routes. The paper gives no formats;
/// these are flitlab's. A message first follows the routing tables to its address, if it has one, and then its source
/// route, so that it reaches TICs without routing tables. The reply returns over the same channels.
#include "kernels/routers/sconnect/message.hpp"

namespace flitlab::sconnect {

enum class Operation : u8 { kNone, kReadTable, kWriteTable, kReadRegister, kWriteRegister, kAddToTimer };
inline constexpr u8 kReply = 0x80;
FLITLAB_HD inline bool is_reply(const Message& m) { return m.control & kReply; }

/// Register numbers of a TIC. Registers of port p are kOfPort + 8 p + PortRegister.
enum class Register : u8 {
  kPorts,       ///< bits 0 to 5: ports that lead to a TIC; bits 8 to 13: ports that lead to a host
  kCameBy,      ///< port by which this message arrived
  kAddress,     ///< node address
  kEnabled,     ///< bits: ports that are switched on
  kTimer,       ///< 16 bits, routing cycles
  kCounting,    ///< event that the counter counts; 32 and above: none
  kCounter,     ///< events counted; writable
  kClock,       ///< bit 0: phase-locked loop closed (writable); bit 1: pull at its limit
  kClockRate,   ///< frequency deviation, 2^-32 rad per routing cycle, two's complement
  kClockSends,  ///< bits: serial ports that send data, and with it their clock
  kSlips,       ///< words that receive FIFOs have lost or repeated
  kOfPort = 16
};
enum class PortRegister : u8 { kDamaged, kRefused, kFailed, kLost, kCarried, kOverflows, kUnderflows, kCount };

inline constexpr u32 kMaxHops = 16;

/// The source route of a control message: port numbers of three bits each. The next hop is in the lowest bits, the
/// first hop of the way back in the highest.
struct SourceRoute {
  u64 bits;  ///< 48 bits of hops, then 5 bits: hops left, 5 bits: hops made

  FLITLAB_HD u32 left() const { return static_cast<u32>(bits >> 48 & 31); }
  FLITLAB_HD u32 made() const { return static_cast<u32>(bits >> 53 & 31); }
  FLITLAB_HD u64 hops() const { return bits & ((u64{1} << 48) - 1); }

  FLITLAB_HD static SourceRoute of(u64 hops, u32 left, u32 made) { return {hops | u64{left} << 48 | u64{made} << 53}; }

  /// Returns the port of the next hop and records `came_by`, the port of the way back.
  FLITLAB_HD u32 next_hop(u32 came_by) {
    const u32 hop = static_cast<u32>(hops() & 7);
    *this = of(hops() >> 3 | u64{came_by} << 45, left() - 1, made() + 1);
    return hop;
  }
  /// Returns the port of the next hop of a reply.
  FLITLAB_HD u32 previous_hop() {
    const u32 hop = static_cast<u32>(hops() >> 45);
    *this = of(hops() << 3 & ((u64{1} << 48) - 1), left() + 1, made() - 1);
    return hop;
  }
};

/// A control message reuses the fields of a data message: `created` and `injected` hold its source route, `id` a number
/// (node or register) and a time stamp, `dst` a value, `hops` the requester's address.
FLITLAB_HD inline SourceRoute source_route_of(const Message& m) { return {u64{m.injected} << 32 | m.created}; }
FLITLAB_HD inline void set_source_route(Message& m, SourceRoute way) {
  m.created = static_cast<u32>(way.bits);
  m.injected = static_cast<u32>(way.bits >> 32);
}
FLITLAB_HD inline u32 number_of(const Message& m) { return m.id & 0xFFFF; }
FLITLAB_HD inline u32 stamp_of(const Message& m) { return m.id >> 16; }

}  // namespace flitlab::sconnect
