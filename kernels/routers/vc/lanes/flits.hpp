#pragma once
/// Flits in transit in lane state, one per lane (router). A flit is stored as the set whose only member is its virtual
/// channel, with a mark for a head and a mark for a tail. If no virtual channel has the bit of a mark, one element
/// holds both; otherwise a second plane of elements holds the marks.
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
  static constexpr typename C::Element kVcSet = 0x0F;
  B both{};

  FLITLAB_INLINE B any() const { return both; }
  FLITLAB_INLINE B vcs() const { return both & kVcSet; }
  FLITLAB_INLINE B heads() const { return nonzero(both & kHeadMark); }
  FLITLAB_INLINE B tails() const { return nonzero(both & kTailMark); }

  static FLITLAB_INLINE Flits of(B vcs, B heads, B tails) { return {vcs | (heads & kHeadMark) | (tails & kTailMark)}; }
  FLITLAB_INLINE Flits operator&(B mask) const { return {both & mask}; }
  /// Copies `flits` to this object in each lane where `set` contains `member`.
  FLITLAB_INLINE void put_where(B set, u32 member, const Flits& flits) {
    flitlab::lanes::put_where(both, set, member, flits.both);
  }

  /// `plane(n)` returns plane n; `put(n, elements)` stores it.
  template <class Plane>
  static FLITLAB_INLINE Flits read(Plane&& plane) {
    return {plane(0)};
  }
  template <class Put>
  FLITLAB_INLINE void write(Put&& put) const {
    put(0, both);
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
FLITLAB_INLINE u32 to_set(u32 flit_byte) { return flit_byte ? 1u << ((flit_byte & kVcBits) - 1) : 0; }
FLITLAB_INLINE u8 to_number(u32 set) { return static_cast<u8>(set ? lowest_bit(set) + 1 : 0); }

/// Slot of one flit.
template <class E, u32 kPlanes>
struct FlitSlot {
  E* element;          ///< null: the port is not connected
  std::size_t planes;  ///< elements to the next plane

  FLITLAB_INLINE void write(u32 flit_byte) const {
    if (!element) return;
    element[0] = static_cast<E>(to_set(flit_byte) | (kPlanes == 1 ? flit_byte & kMarks : 0));
    if constexpr (kPlanes == 2) element[planes] = static_cast<E>(flit_byte & kMarks);
  }
  FLITLAB_INLINE u8 read() const {
    if (!element) return 0;
    return static_cast<u8>(to_number(kPlanes == 1 ? element[0] & ~kMarks : u32{element[0]}) |
                           (element[kPlanes == 1 ? 0 : planes] & kMarks));
  }
};

/// Slot of one credit.
template <class E>
struct CreditSlot {
  E* element;  ///< null: the port is not connected

  FLITLAB_INLINE void write(u32 credit_byte) const {
    if (element) *element = static_cast<E>(to_set(credit_byte));
  }
  FLITLAB_INLINE u8 read() const { return element ? to_number(*element) : u8{0}; }
};

}  // namespace flitlab::vc::lanes
