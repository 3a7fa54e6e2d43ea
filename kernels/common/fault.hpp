#pragma once
/// Device faults: states that cannot occur in a correct run. An item sets fault bits in its own state; the host turns
/// them into an error at the end of the epoch.
#include "kernels/common/types.hpp"

namespace flitlab {

enum Fault : u32 {
  kFaultBufferOverflow = 1u << 0,  ///< a flit arrived at a full buffer
  kFaultCreditOverflow = 1u << 1,  ///< a credit count exceeded the size of the downstream buffer
  kFaultMisrouted = 1u << 2,       ///< a packet reached a terminal that is not its destination
  kFaultNoRoute = 1u << 3,         ///< routing found no port toward the destination
  kFaultCreditLost = 1u << 4,      ///< audit: credits and flits of a channel do not add up to the buffer
  kFaultQueueOverflow = 1u << 5,   ///< a bounded queue of a terminal overflowed
  kFaultBookkeeping = 1u << 6,     ///< audit: a summary (a set or count) disagrees with the state that it summarises
  kFaultLostMessage = 1u << 7,     ///< audit: a message was lost or was received twice
};

/// An item's fault word: its fault bits, and above them the port of its first fault, plus one.
inline constexpr u32 kFaultBits = 0x00FFFFFFu;
inline constexpr u32 kNoFaultPort = 0xFFu;  ///< the fault belongs to no port

FLITLAB_HD inline void raise_fault(u32& word, u32 bits, u32 port) {
  if (!word && port != kNoFaultPort) word = (port + 1) << 24;
  word |= bits & kFaultBits;
}

/// Returns the port of the first fault, or kNone.
FLITLAB_HD inline u32 fault_port(u32 word) { return (word >> 24) - 1u; }

}  // namespace flitlab
