#pragma once
/// Integer types, and macros for code that runs on host and device.
#include <cstddef>
#include <cstdint>

#if defined(__CUDACC__)
#define FLITLAB_HD __host__ __device__
#else
#define FLITLAB_HD
#endif
/// For functions inside a cycle: inlined into the phase, so that the view of the state stays in registers.
#if defined(__CUDACC__)
#define FLITLAB_INLINE FLITLAB_HD __forceinline__
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(FLITLAB_MAY_BE_SLOW)
#define FLITLAB_INLINE inline  // a fully inlined phase takes long to compile: minutes if it is instrumented
#else
#define FLITLAB_INLINE inline __attribute__((always_inline))
#endif

/// For a function that a cycle calls in several places. On a GPU it is not inlined, because warps wait for instructions
/// if code exceeds the instruction caches (docs/gpu.md). On a CPU, FLITLAB_ONE_COPY has no effect, and FLITLAB_CALLED
/// is FLITLAB_INLINE.
#if defined(__CUDACC__)
#define FLITLAB_ONE_COPY __attribute__((noinline))
#define FLITLAB_CALLED FLITLAB_HD FLITLAB_ONE_COPY inline
#else
#define FLITLAB_ONE_COPY
#define FLITLAB_CALLED FLITLAB_INLINE
#endif

/// Placed before a loop that mostly ends after its first iteration, or that a GPU should not unroll.
#if defined(__CUDACC__)
#define FLITLAB_ROLLED _Pragma("unroll 1")
/// Placed before a loop that waits for memory. A GPU then starts the loads of four iterations together, not of sixteen.
#define FLITLAB_BY_FOUR _Pragma("unroll 4")
#else
#define FLITLAB_ROLLED
#define FLITLAB_BY_FOUR
#endif

/// Placed before a loop with few iterations that a CPU should unroll.
#if defined(__CUDACC__)
#define FLITLAB_UNROLLED
#elif defined(__clang__)
#define FLITLAB_UNROLLED _Pragma("unroll")
#else
#define FLITLAB_UNROLLED _Pragma("GCC unroll 8")
#endif

namespace flitlab {

using i32 = std::int32_t;
using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// Emulated time in router clocks.
using Cycle = u32;
/// Last cycle of a run. An event that is scheduled up to 2^31 - 1 cycles ahead still has a 32-bit cycle number.
inline constexpr Cycle kEndOfTime = 2000000000;

/// "No such item / port / cycle": the largest value of the type.
inline constexpr u32 kNone = 0xFFFFFFFFu;
inline constexpr Cycle kNever = 0xFFFFFFFFu;

}  // namespace flitlab
