#pragma once
/// Model of one channel for exhaustive exploration: two ends that execute the protocol functions of
/// kernels/routers/sconnect/channel.hpp (S-Connect, 3.2), the slots between them, and a few messages. A `Choice` makes
/// the decisions that depend on routers and errors, so that an explorer can try all of them.
///
/// Simplifications, which preserve all behaviour of the protocol:
/// - Time: slots are numbered from that of the next cycle, as in the shift register of a real channel. The protocol
///   compares slots only with each other, so states that differ by a rotation are equivalent.
/// - Of the last slot received, the model keeps what `settle` reads: unreadable, or the acknowledgment.
/// - Errors are chosen when a slot arrives, because no function reads them earlier.
/// - A damaged message is dropped at once. A TIC stores it until the end of the cycle and may begin to send it over
///   another channel. There it is a void message, which the model includes.
#include <array>
#include <string>

#include "kernels/routers/sconnect/channel.hpp"

namespace flitlab::sconnect {

inline constexpr u32 kMostChannelDelay = 2;
inline constexpr u32 kMostChannelMessages = 8;  ///< messages of both ends

/// Deliberate defects of the protocol, to test that the exploration finds them.
enum class ChannelDefect : u8 {
  kNone,
  kIgnoresSequence,     ///< a receiver accepts duplicates
  kFailsUnreadable,     ///< a transmitter treats an unreadable acknowledgment as negative
  kReadsFirstAnswer,    ///< a transmitter uses the first acknowledgment of a quad, which precedes the last part
  kAnswersTooEarly,     ///< a receiver acknowledges before it decides
  kTakesPartialQuads,   ///< a receiver accepts a quad if its last part is undamaged
  kTakesVoid,           ///< a receiver ignores late aborts
  kAnswersIfAskedOnly,  ///< the acknowledgment bit is invalid after an empty slot
  kNeverRequests,       ///< a transmitter never requests the acknowledgment of a quad again
};
inline constexpr u32 kChannelDefects = 9;

/// Parameters of an exploration.
struct ChannelInstance {
  std::array<u32, 2> delay{1, 1};           ///< delay from each end to the other, routing cycles
  std::array<u32, 2> singles{1, 1};         ///< single messages that each end sends
  std::array<u32, 2> quads{0, 0};           ///< quads that each end sends
  std::array<bool, 2> hits{true, true};     ///< whether slots that each end sends may be damaged
  std::array<bool, 2> refuses{true, true};  ///< whether the receiver of each end's messages may lack a buffer
  std::array<bool, 2> voids{true, true};    ///< whether each end may send void messages
  bool switches = false;                    ///< whether ends may be switched off, at any time and for any duration
  bool endless = false;                     ///< whether a new message replaces each delivered one
  bool reduced = true;                      ///< whether equivalent states are merged
  ChannelDefect defect = ChannelDefect::kNone;

  u32 messages() const { return singles[0] + singles[1] + quads[0] + quads[1]; }
  u32 round() const { return round_of(delay[0], delay[1]); }
};

/// Source of decisions. Alternative 0 is the good one: no errors, free buffers, messages are sent.
class Choice {
 public:
  virtual ~Choice() = default;
  /// Returns an alternative, 0 to ways - 1.
  virtual u32 of(u32 ways) = 0;
  /// Receives a description of an event; called only if `wants_description` returns true.
  virtual void describe(const std::string&) {}
  virtual bool wants_description() const { return false; }
};

/// A slot between the ends.
struct SlotInFlight {
  u8 bits;     ///< protocol bits; 0: nothing has been sent
  u8 message;  ///< kNoBuffer: none
  u8 part;     ///< part of a quad; used only by checks
};

/// State of an end.
struct ChannelEnd {
  std::array<Slot, round_of(kMostChannelDelay, kMostChannelDelay)> slot;  ///< slots, from that of the next cycle
  u8 heard;    ///< last slot received: kOccupied and the acknowledgment; 0: unreadable
  u8 reply;    ///< kOccupied: the last slot must be acknowledged
  u8 sending;  ///< quad in transmission; kNoBuffer: none
  u8 parts;    ///< parts of that quad sent
  Train train;
  u8 good;  ///< parts of a quad received in order and undamaged; used only by checks
};

/// State of the channel.
struct ChannelState {
  std::array<ChannelEnd, 2> end;
  std::array<std::array<SlotInFlight, kMostChannelDelay>, 2>
      in_flight;                                      ///< [end] slots in flight, next to arrive first
  std::array<u8, kMostChannelMessages> accepted;      ///< [message] 1: the receiver has accepted it
  std::array<u8, kMostChannelMessages> acknowledged;  ///< [message] 1: its sender has been notified of that
};

/// The transitions of a channel. Messages are numbered: singles of end 0, its quads, singles of end 1, its quads.
class ChannelPair {
 public:
  explicit ChannelPair(const ChannelInstance& instance);

  /// Returns the initial state.
  ChannelState start() const;
  /// Executes a routing cycle. Returns the first violation in it, or "".
  std::string step(ChannelState& state, Choice& choice) const;
  /// Returns whether all messages have arrived and all slots are free.
  bool at_rest(const ChannelState& state) const;
  /// Replaces a state by the representative of its equivalents.
  void reduce(ChannelState& state) const;

  const ChannelInstance& instance() const { return instance_; }
  bool is_quad(u32 message) const { return quad_[message]; }
  u32 first_of(u32 end) const { return end ? first_of_1_ : 0; }
  u32 last_of(u32 end) const { return end ? messages_ : first_of_1_; }
  std::string name(u32 message) const;

 private:
  /// Renumbers messages of the same sender and kind by where they occur; they are interchangeable.
  void sort_messages(ChannelState& state) const;
  /// Inverts all sequence bits and acknowledgments of each window whose transmitter's bit is 1. The protocol only
  /// compares these bits with each other, so the result is equivalent.
  void normalize_windows(ChannelState& state) const;

  ChannelInstance instance_;
  u32 messages_, first_of_1_, round_;
  std::array<bool, kMostChannelMessages> quad_{};
};

}  // namespace flitlab::sconnect
