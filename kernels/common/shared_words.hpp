#pragma once
/// Changes of words that other threads of a step may change at the same time. On a GPU they are atomic, because threads
/// of a block share the work on an item (block_lists.hpp). On a CPU one thread processes an item, so they are plain.
/// Each result depends only on the set of the changes, not on their order.
#include "kernels/common/fault.hpp"
#include "kernels/common/types.hpp"

namespace flitlab {

FLITLAB_INLINE void set_bits(u32& word, u32 bits) {
#if defined(__CUDA_ARCH__)
  atomicOr(&word, bits);
#else
  word |= bits;
#endif
}
FLITLAB_INLINE void clear_bits(u32& word, u32 bits) {
#if defined(__CUDA_ARCH__)
  atomicAnd(&word, ~bits);
#else
  word &= ~bits;
#endif
}

/// Sets a bit of a word, if `if_so`. Returns whether this has changed the word. Without an atomic it has no branch.
FLITLAB_INLINE bool set_bit(u64& word, u32 bit, bool if_so = true) {
#if defined(__CUDA_ARCH__)
  if (!if_so) return false;
  return !(atomicOr(reinterpret_cast<unsigned long long*>(&word), 1ull << bit) >> bit & 1);
#else
  const bool was_set = word >> bit & 1;
  word |= u64{if_so} << bit;
  return if_so & !was_set;
#endif
}

/// Clears a bit of a word, if `if_so`.
FLITLAB_INLINE void clear_bit(u64& word, u32 bit, bool if_so = true) {
#if defined(__CUDA_ARCH__)
  if (if_so) atomicAnd(reinterpret_cast<unsigned long long*>(&word), ~(1ull << bit));
#else
  word &= ~(u64{if_so} << bit);
#endif
}

/// Sets a bit of byte `index` of an array, if `if_so`. Returns whether it has done so and the byte was 0. `bytes`: its
/// address is a multiple of four, because a GPU changes four bytes together; so no other thread may read these four
/// bytes meanwhile.
FLITLAB_INLINE bool set_bit_of_byte(u8* bytes, u32 index, u32 bit, bool if_so = true) {
#if defined(__CUDA_ARCH__)
  if (!if_so) return false;
  const u32 shift = index % 4 * 8;
  return !(atomicOr(reinterpret_cast<u32*>(bytes) + index / 4, 1u << (shift + bit)) >> shift & 0xFF);
#else
  const u32 before = bytes[index];
  bytes[index] = static_cast<u8>(before | u32{if_so} << bit);
  return if_so & (before == 0);
#endif
}

FLITLAB_INLINE void add_to(u32& word, u32 amount) {
#if defined(__CUDA_ARCH__)
  atomicAdd(&word, amount);
#else
  word += amount;
#endif
}

FLITLAB_INLINE void subtract_from(u32& word, u32 amount) { add_to(word, 0u - amount); }

/// raise_fault() for a word that other threads may change. If several ports of an item have their first fault in the
/// same part of a step, a GPU may store any of these ports.
FLITLAB_INLINE void raise_shared_fault(u32& word, u32 bits, u32 port) {
#if defined(__CUDA_ARCH__)
  u32 first = 0;
  raise_fault(first, bits, port);
  if (atomicCAS(&word, 0u, first)) atomicOr(&word, bits & kFaultBits);
#else
  raise_fault(word, bits, port);
#endif
}

}  // namespace flitlab
