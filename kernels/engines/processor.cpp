#include "kernels/engines/processor.hpp"

#include <cstdlib>
#include <initializer_list>

namespace flitlab {

bool has_vectors(u32 bytes) {
#ifdef FLITLAB_WIDE_LANES
  if (bytes == 64) return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  if (bytes == 32) return __builtin_cpu_supports("avx2");
#endif
  return bytes <= 16;
}

u32 lane_width() {
  const char* requested = std::getenv("FLITLAB_LANES");
  const u64 most = requested ? std::strtoul(requested, nullptr, 10) : 64;
#ifdef FLITLAB_SLOW_LANES
  if (requested && most == 64) return 64;
#endif
  for (u32 width : {64u, 32u, 16u})
    if (width <= most && has_vectors(width)) return width;
  return 0;
}

}  // namespace flitlab
