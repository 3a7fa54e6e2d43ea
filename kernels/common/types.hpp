#pragma once
/// Integer names and the host/device marker used by everything under kernels/.
#include <cstddef>
#include <cstdint>

#if defined(__CUDACC__)
#define FLITLAB_HD __host__ __device__
#else
#define FLITLAB_HD
#endif
/// For the inside of a cycle: inlined into the phase, so that the view of the state stays in registers.
#if defined(__CUDACC__)
#define FLITLAB_INLINE FLITLAB_HD __forceinline__
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(FLITLAB_MAY_BE_SLOW)
#define FLITLAB_INLINE inline  // as one function, a phase takes long to compile, and minutes when it is instrumented
#else
#define FLITLAB_INLINE inline __attribute__((always_inline))
#endif

/// For what a cycle does in several places: on a device they call one copy of it. There warps mostly wait for
/// instructions if what they walk through is more than its caches for those hold (docs/gpu.md). Elsewhere nothing is
/// said, or, with FLITLAB_CALLED, as FLITLAB_INLINE does.
#if defined(__CUDACC__)
#define FLITLAB_ONE_COPY __attribute__((noinline))
#define FLITLAB_CALLED FLITLAB_HD FLITLAB_ONE_COPY inline
#else
#define FLITLAB_ONE_COPY
#define FLITLAB_CALLED FLITLAB_INLINE
#endif

/// Before a loop that mostly ends after its first turn, or of which a device should have one copy.
#if defined(__CUDACC__)
#define FLITLAB_ROLLED _Pragma("unroll 1")
/// Before one whose turns wait for memory: a device asks for what four of them need at once, not of sixteen.
#define FLITLAB_BY_FOUR _Pragma("unroll 4")
#else
#define FLITLAB_ROLLED
#define FLITLAB_BY_FOUR
#endif

/// Before a loop over a few things that a processor should have a copy of the body for each of.
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
/// Emulated time ends here: whatever is planned ahead of it, up to 2^31 - 1 cycles, still has a number of 32 bits.
inline constexpr Cycle kEndOfTime = 2000000000;

/// "No such item / port / cycle": the largest value of the type.
inline constexpr u32 kNone = 0xFFFFFFFFu;
inline constexpr Cycle kNever = 0xFFFFFFFFu;

}  // namespace flitlab
