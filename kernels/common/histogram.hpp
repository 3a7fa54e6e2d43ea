#pragma once
/// Log-binned histogram of cycle counts: exact below 128, then 64 bins per octave (relative width at most 1/64).
#include "kernels/common/bits.hpp"
#include "kernels/common/types.hpp"

namespace flitlab {

inline constexpr u32 kExactBins = 128;
inline constexpr u32 kBinsPerOctave = 64;
inline constexpr u32 kHistogramBins = kExactBins + kBinsPerOctave * (32 - 7);

/// Returns the bin of a value.
FLITLAB_HD inline u32 histogram_bin(u32 value) {
  if (value < kExactBins) return value;
  const u32 octave = log2_floor(value);  // >= 7
  return kExactBins + (octave - 7) * kBinsPerOctave + ((value >> (octave - 6)) & (kBinsPerOctave - 1));
}

/// Returns the smallest value of a bin; the largest is histogram_bin_start(bin + 1) - 1.
FLITLAB_HD inline u64 histogram_bin_start(u32 bin) {
  if (bin < kExactBins) return bin;
  const u32 octave = 7 + (bin - kExactBins) / kBinsPerOctave;
  const u64 step = (bin - kExactBins) % kBinsPerOctave;
  return (u64{1} << octave) + (step << (octave - 6));
}

}  // namespace flitlab
