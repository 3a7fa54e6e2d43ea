#pragma once
/// Flits in transit in lane state, one per lane (router). A flit is stored as the set whose only member is its virtual
/// channel, with a mark for a head and a mark for a tail. Up to four virtual channels and the marks fit into a byte;
/// for more channels a second plane of bytes holds the marks.
#include "kernels/common/byte_vectors.hpp"
#include "kernels/common/inbox.hpp"

namespace flitlab::vc::lanes {

using namespace flitlab::lanes;

template <class C, bool kWide>
struct Flits;

template <class C>
struct Flits<C, false> {
  using B = typename C::Value;
  static constexpr u32 planes = 1;
  static constexpr u8 kVcSet = 0x0F;
  B bytes{};

  FLITLAB_INLINE B any() const { return bytes; }
  FLITLAB_INLINE B vcs() const { return bytes & kVcSet; }
  FLITLAB_INLINE B heads() const { return nonzero(bytes & kHeadMark); }
  FLITLAB_INLINE B tails() const { return nonzero(bytes & kTailMark); }

  static FLITLAB_INLINE Flits of(B vcs, B heads, B tails) { return {vcs | (heads & kHeadMark) | (tails & kTailMark)}; }
  FLITLAB_INLINE Flits operator&(B mask) const { return {bytes & mask}; }
  /// Copies `flits` to this object in each lane where `set` contains `member`.
  FLITLAB_INLINE void put_where(B set, u32 member, const Flits& flits) {
    flitlab::lanes::put_where(bytes, set, member, flits.bytes);
  }

  /// `plane(n)` returns the bytes of plane n; `put(n, bytes)` stores them.
  template <class Plane>
  static FLITLAB_INLINE Flits read(Plane&& plane) {
    return {plane(0)};
  }
  template <class Put>
  FLITLAB_INLINE void write(Put&& put) const {
    put(0, bytes);
  }
};

template <class C>
struct Flits<C, true> {
  using B = typename C::Value;
  static constexpr u32 planes = 2;
  B channels{}, marks{};

  FLITLAB_INLINE B any() const { return channels; }
  FLITLAB_INLINE B vcs() const { return channels; }
  FLITLAB_INLINE B heads() const { return nonzero(marks & kHeadMark); }
  FLITLAB_INLINE B tails() const { return nonzero(marks & kTailMark); }

  static FLITLAB_INLINE Flits of(B vcs, B heads, B tails) { return {vcs, (heads & kHeadMark) | (tails & kTailMark)}; }
  FLITLAB_INLINE Flits operator&(B mask) const { return {channels & mask, marks & mask}; }
  FLITLAB_INLINE void put_where(B set, u32 member, const Flits& flits) {
    flitlab::lanes::put_where(channels, set, member, flits.channels);
    flitlab::lanes::put_where(marks, set, member, flits.marks);
  }

  template <class Plane>
  static FLITLAB_INLINE Flits read(Plane&& plane) {
    return {plane(0), plane(1)};
  }
  template <class Put>
  FLITLAB_INLINE void write(Put&& put) const {
    put(0, channels);
    put(1, marks);
  }
};

/// In scalar state, flits and credits hold the number of the virtual channel + 1 (kernels/common/inbox.hpp).
inline constexpr u32 kMarks = kHeadMark | kTailMark;
FLITLAB_INLINE u8 to_set(u32 flit_byte) { return static_cast<u8>(flit_byte ? 1u << ((flit_byte & kVcBits) - 1) : 0); }
FLITLAB_INLINE u8 to_number(u32 set) { return static_cast<u8>(set ? lowest_bit(set) + 1 : 0); }

/// Slot of one flit.
template <u32 kPlanes>
struct FlitSlot {
  u8* byte;            ///< null: the port is not connected
  std::size_t planes;  ///< bytes to the next plane

  FLITLAB_INLINE void write(u32 flit_byte) const {
    if (!byte) return;
    byte[0] = static_cast<u8>(to_set(flit_byte) | (kPlanes == 1 ? flit_byte & kMarks : 0));
    if constexpr (kPlanes == 2) byte[planes] = static_cast<u8>(flit_byte & kMarks);
  }
  FLITLAB_INLINE u8 read() const {
    if (!byte) return 0;
    return static_cast<u8>(to_number(kPlanes == 1 ? byte[0] & ~kMarks : byte[0]) |
                           (byte[kPlanes == 1 ? 0 : planes] & kMarks));
  }
};

/// Slot of one credit.
struct CreditSlot {
  u8* byte;  ///< null: the port is not connected

  FLITLAB_INLINE void write(u32 credit_byte) const {
    if (byte) *byte = to_set(credit_byte);
  }
  FLITLAB_INLINE u8 read() const { return byte ? to_number(*byte) : u8{0}; }
};

}  // namespace flitlab::vc::lanes
