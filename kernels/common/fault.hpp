#pragma once
/// Device faults: states that cannot occur in a correct run. An item raises bits in its own state; the host turns
/// them into an error at the next epoch.
#include "kernels/common/types.hpp"

namespace flitlab {

enum Fault : u32 {
  kFaultBufferOverflow = 1u << 0,  ///< a flit arrived at a full buffer
  kFaultCreditOverflow = 1u << 1,  ///< more credits than the downstream buffer has flits
  kFaultMisrouted = 1u << 2,       ///< a packet reached a terminal that is not its destination
  kFaultNoRoute = 1u << 3,         ///< routing found no port toward the destination
  kFaultCreditLost = 1u << 4,      ///< audit: credits and flits of a channel do not add up to the buffer
  kFaultQueueOverflow = 1u << 5,   ///< a bounded queue of a terminal overflowed
  kFaultBookkeeping = 1u << 6,     ///< audit: sets that summarise states disagree with them
};

}  // namespace flitlab
