#pragma once
/// Virtual channels of routers as rows of whole numbers, for recordings: what the scope shows of every cycle.
#include <cstdint>
#include <string>
#include <vector>

#include "host/run/stepped.hpp"

namespace flitlab {

/// Every virtual channel of some routers, one row after another: router, port, VC and what router() says of it, in that
/// order; its stage as a place in `stages`, to which new ones are added, and -1 for nothing.
std::vector<std::int64_t> vc_rows(const SteppedNetwork& network, const std::vector<u32>& routers,
                                  std::vector<std::string>& stages);

}  // namespace flitlab
