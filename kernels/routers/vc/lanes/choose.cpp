/// Which lanes this processor has.
#include <cstdlib>

#include "kernels/routers/vc/lanes/lanes.hpp"

extern "C" {
const void* flitlab_vc_lanes_16(unsigned ports, int long_packets);
#if defined(__x86_64__)
const void* flitlab_vc_lanes_32(unsigned ports, int long_packets);
const void* flitlab_vc_lanes_64(unsigned ports, int long_packets);
#endif
}

namespace flitlab::vc::lanes {

const Code* code_for(u32 ports, bool long_packets) {
  const char* asked = std::getenv("FLITLAB_LANES");
  const u32 most = asked ? static_cast<u32>(std::strtoul(asked, nullptr, 10)) : 64;
  const auto code = [&](auto lanes) { return static_cast<const Code*>(lanes(ports, long_packets)); };
#if defined(__x86_64__)
  if (most >= 64 && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
    return code(flitlab_vc_lanes_64);
  if (most >= 32 && __builtin_cpu_supports("avx2")) return code(flitlab_vc_lanes_32);
#endif
  return most >= 16 ? code(flitlab_vc_lanes_16) : nullptr;
}

u32 longest_packet(const TrafficTable& traffic) {
  if (traffic.length_law == LengthLaw::kGeometric) return traffic.max_flits;
  u32 longest = 0;
  for (u32 i = 0; i < traffic.packets.count; ++i)
    if (longest < traffic.packets.flits[i]) longest = traffic.packets.flits[i];
  return longest;
}

}  // namespace flitlab::vc::lanes
