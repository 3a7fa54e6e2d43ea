#pragma once
/// The distributed phase-locked loop (S-Connect, 2.5, 3.3), with one step in each routing cycle. The far clock fills a
/// receive FIFO and the local clock empties it, so the depth of the FIFO measures the phase difference. The average
/// depth of the active channels pulls the oscillator, with a higher gain far from half full (the paper's converter with
/// two resistors). Time in routing cycles:
///
///     t           a transmitter sends a word and with it its phase
///     t + delay   the receiver compares that phase with its own; phase(t + delay + 1) = phase(t + delay) + rate
///
/// A full FIFO loses every further word, so the comparator stays at its limit until the far clock is the slower one. An
/// empty FIFO repeats words. A lost or repeated word damages the slot that is being received.
///
/// TICs of one node or switch share an oscillator. Each TIC sends the sum of its comparator outputs and the number of
/// its active channels to the others. One cycle later every TIC has all sums, and all advance their copies of the
/// oscillator alike.
#include "kernels/routers/sconnect/tic.hpp"
#include "kernels/routers/sconnect/totals.hpp"

namespace flitlab::sconnect {

/// Returns x clamped to [-most, most].
FLITLAB_HD constexpr i64 limited(i64 x, i64 most) { return x > most ? most : x < -most ? -most : x; }

/// Returns gain * y / 2^32 rounded to the nearest integer, halves upward. 0 <= gain <= 2^30, |y| < 2^62.
FLITLAB_HD constexpr i64 scaled(i64 gain, i64 y) {
  const i64 high = y >> 32, low = y & 0xFFFFFFFF;  // y = high 2^32 + low
  return gain * high + ((gain * low + (i64{1} << 31)) >> 32);
}

/// Returns a comparator's output for a FIFO whose depth differs from half full by x, both in 2^-32 rad.
FLITLAB_HD constexpr i64 compared(const ClockTable& c, i64 x) {
  const i64 d = limited(x, c.range), size = d < 0 ? -d : d;
  const i64 output = size <= c.knee ? size : c.knee + (size - c.knee) * c.outer_gain / 256;
  return d < 0 ? -output : output;
}

/// Encodes a phase as an inbox word that is never 0.
FLITLAB_HD constexpr u64 inbox_word_of(u64 phase) { return 2 * phase + 1; }

/// Returns a FIFO's depth from half full: far phase (encoded) + offset - local phase. Phases wrap around, but the depth
/// is small, so the difference is right.
FLITLAB_HD constexpr i64 depth_of(u64 inbox, u64 offset, u64 phase) {
  return static_cast<i64>(inbox - 1 + 2 * (offset - phase)) / 2;
}

/// Updates a FIFO with the far clock's phase. Returns the number of words that the FIFO loses (positive) or repeats
/// (negative).
FLITLAB_HD constexpr i64 receive_phase(const ClockTable& c, Fifo& fifo, u64 inbox, u64 phase) {
  if (fifo.stream == Stream::kStopped) {  // a restarted FIFO is half full
    fifo.offset -= static_cast<u64>(depth_of(inbox, fifo.offset, phase));
    fifo.lost = 0;
  }
  fifo.stream = Stream::kRuns;
  const i64 depth = depth_of(inbox, fifo.offset, phase);
  fifo.depth = limited(depth, c.range);
  fifo.offset -= static_cast<u64>(depth - fifo.depth);
  fifo.lost += depth - fifo.depth;
  const i64 words = fifo.lost / c.word;
  fifo.lost -= words * c.word;
  if (words > 0)
    fifo.overflows += static_cast<u32>(words);
  else
    fifo.underflows += static_cast<u32>(-words);
  return words;
}

template <class V, int W>
struct Clock {
  const Tic<V, W>& tic;
  ClockState& clock;

  /// Inbox word of a port of this TIC.
  FLITLAB_INLINE u64& inbox(u32 item_port, Cycle at) const {
    const auto& t = tic.v.t;
    return tic.item.at(t.fields.clock.mail, (at & t.slot_mask) * kPorts + item_port);
  }
  /// Inbox word of the far end of a link.
  FLITLAB_INLINE u64& far_inbox(const Link& link, Cycle at) const {
    const auto& t = tic.v.t;
    return tic.v.tics[link.far].at(t.fields.clock.mail, (at & t.slot_mask) * kPorts + link.port);
  }

  /// Returns whether port p carries comparator sums to a TIC with the same oscillator. Two TICs that are joined by both
  /// parallel ports use only the first.
  FLITLAB_INLINE bool shares(u32 p) const {
    const Link& link = tic.link(p);
    if (link.kind != LinkKind::kParallel) return false;
    return p == kSerial || tic.link(kSerial).kind != LinkKind::kParallel || tic.link(kSerial).far != link.far;
  }

  /// Sends the phase over serial channels, and the comparator sum to TICs that share the oscillator.
  FLITLAB_INLINE void send(bool shared) const {
    for (u32 p = 0; p < kSerial; ++p) {
      const Link& link = tic.link(p);
      if (link.kind == LinkKind::kSerial && tic.enabled(p) && clock.sends >> p & 1)
        far_inbox(link, tic.now + link.delay) = inbox_word_of(clock.phase);
    }
    if (!shared) return;
    const u64 output = static_cast<u64>(clock.sum) * 8 + clock.active;  // 0: no active channels
    for (u32 p = kSerial; p < kPorts; ++p)
      if (shares(p)) far_inbox(tic.link(p), tic.now + 1) = output;
  }

  /// Sets the sum of the comparator outputs and the number of active channels. Returns the ports whose FIFO lost or
  /// repeated words (slipped), as bits.
  FLITLAB_INLINE u8 compare() const {
    const auto& t = tic.v.t;
    u8 slipped = 0;
    clock.sum = clock.active = 0;
    for (u32 p = 0; p < kSerial; ++p) {
      u64& word = inbox(p, tic.now);
      const u64 far_phase = tic.enabled(p) ? word : 0;
      word = 0;
      Fifo& fifo = tic.item.at(t.fields.clock.fifo, p);
      if (!far_phase) {
        if (fifo.stream == Stream::kRuns) fifo.stream = Stream::kStopped;
        continue;
      }
      const i64 words = receive_phase(t.clock, fifo, far_phase, clock.phase), slips = words < 0 ? -words : words;
      if (slips) {
        slipped |= static_cast<u8>(1u << p);
        clock.slips += static_cast<u32>(slips);
        count(*tic.v.shard, Count::kSlips, static_cast<u64>(slips));
      }
      if (!clock.on) continue;
      clock.sum += compared(t.clock, fifo.depth);
      ++clock.active;
    }
    return slipped;
  }

  /// Advances the oscillator by a cycle. Returns the ports that slipped, as bits.
  FLITLAB_INLINE u8 work() const {
    const auto& c = tic.v.t.clock;
    const bool shared = shares(kSerial) || shares(kSerial + 1);
    i64 sum = clock.sum;
    u32 active = clock.active;
    for (u32 p = kSerial; shared && p < kPorts; ++p) {
      u64& output = inbox(p, tic.now);
      sum += static_cast<i64>(output) >> 3;
      active += output & 7;
      output = 0;
    }
    const u8 slipped = compare();
    if (!shared) {
      sum = clock.sum;
      active = clock.active;
    }
    send(shared);
    clock.error = c.sums || !active ? sum : sum / static_cast<i64>(active);
    const i64 wanted = scaled(c.gain, clock.error), pull = limited(wanted, c.tuning);
    clock.limit = pull != wanted;
    clock.rate = clock.free + pull;
    clock.phase += static_cast<u64>(clock.rate);
    return slipped;
  }
};

}  // namespace flitlab::sconnect
