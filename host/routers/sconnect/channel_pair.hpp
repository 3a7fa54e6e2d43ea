#pragma once
/// Model of one channel for exhaustive exploration (explore.hpp): two ends that execute the protocol functions of
/// kernels/routers/sconnect/channel.hpp (S-Connect, 3.2), the slots in flight between them, and a few messages. A
/// `Choice` makes the decisions that depend on routers and errors, so that the exploration can try all of them.
///
/// Simplifications, which preserve all behaviour of the protocol:
/// - Time: slots are numbered from the slot of the next cycle, as in the shift register of a real channel. The protocol
///   compares slots only with each other, so states that differ by a rotation are equivalent.
/// - Of the last slot received, the model keeps only what the function `settle` reads: that the slot was unreadable, or
///   the acknowledgment in it.
/// - An error is chosen when a slot arrives, because no function reads it earlier.
/// - The receiver drops a damaged message at once. A real TIC stores it until the end of the cycle and may begin to
///   send it over another channel, where it becomes a void message. The model includes void messages.
#include <array>
#include <string>

#include "kernels/routers/sconnect/channel.hpp"

namespace flitlab::sconnect {

inline constexpr u32 kMostChannelDelay = 2;
inline constexpr u32 kMostChannelMessages = 8;  ///< most messages of both ends together

/// Deliberate defects of the protocol, to test that the exploration finds them.
enum class ChannelDefect : u8 {
  kNone,
  kIgnoresSequence,     ///< a receiver accepts duplicates
  kFailsUnreadable,     ///< a transmitter treats an unreadable acknowledgment as negative
  kReadsFirstAnswer,    ///< a transmitter uses the first acknowledgment of a quad, which precedes the last part
  kAnswersTooEarly,     ///< a receiver acknowledges before it decides
  kTakesPartialQuads,   ///< a receiver accepts a quad (a message of four parts) if its last part is undamaged
  kTakesVoid,           ///< a receiver ignores late aborts, so it accepts void messages
  kAnswersIfAskedOnly,  ///< the acknowledgment bit is invalid after an empty slot
  kNeverRequests,       ///< a transmitter never requests the acknowledgment of a quad again
};
inline constexpr u32 kChannelDefects = 9;

/// Parameters of an exploration.
struct ChannelInstance {
  std::array<u32, 2> delay{1, 1};           ///< delay from each end to the other, routing cycles
  std::array<u32, 2> singles{1, 1};         ///< single messages that each end sends
  std::array<u32, 2> quads{0, 0};           ///< quads (messages of four parts) that each end sends
  std::array<bool, 2> hits{true, true};     ///< whether slots that each end sends may be damaged in flight
  std::array<bool, 2> refuses{true, true};  ///< whether the receiver of each end's messages may lack a free buffer
  std::array<bool, 2> voids{true, true};    ///< whether each end may send void messages, which a late abort cancels
  bool switches = false;                    ///< whether ends may be switched off, at any time and for any duration
  bool endless = false;                     ///< whether a new message replaces each delivered one
  bool reduced = true;                      ///< whether equivalent states are merged
  ChannelDefect defect = ChannelDefect::kNone;

  u32 messages() const { return singles[0] + singles[1] + quads[0] + quads[1]; }
  u32 round() const { return round_of(delay[0], delay[1]); }
};

/// Source of the decisions. Alternative 0 of each decision is the good one: no errors, free buffers, messages are sent.
class Choice {
 public:
  virtual ~Choice() = default;
  /// Returns the number of the chosen alternative, 0 to ways - 1.
  virtual u32 of(u32 ways) = 0;
  /// Receives a description of an event; called only if `wants_description` returns true.
  virtual void describe(const std::string&) {}
  virtual bool wants_description() const { return false; }
};

/// A slot in flight between the ends.
struct SlotInFlight {
  u8 bits;     ///< protocol bits; 0: nothing has been sent
  u8 message;  ///< number of the message in the slot; kNoBuffer: no message
  u8 part;     ///< number of the part if the message is a quad; used only by checks
};

/// State of one end of the channel.
struct ChannelEnd {
  /// Slots of the transmitter and receiver, beginning with the slot of the next cycle.
  std::array<Slot, round_of(kMostChannelDelay, kMostChannelDelay)> slot;
  u8 heard;    ///< kOccupied and the acknowledgment of the last slot received; 0: the slot was unreadable
  u8 reply;    ///< acknowledgment to send; kOccupied: the last slot received must be acknowledged
  u8 sending;  ///< number of the quad in transmission; kNoBuffer: no quad
  u8 parts;    ///< number of parts of this quad sent so far
  Train train;
  u8 good;  ///< number of parts of a quad received in order and undamaged; used only by checks
};

/// State of the channel.
struct ChannelState {
  std::array<ChannelEnd, 2> end;
  std::array<std::array<SlotInFlight, kMostChannelDelay>, 2>
      in_flight;  ///< [end] slots that the end has sent; the next one to arrive comes first
  std::array<u8, kMostChannelMessages> accepted;  ///< [message] 1: the receiver has accepted it
  /// [message] 1: its sender has been notified that the receiver has accepted it.
  std::array<u8, kMostChannelMessages> acknowledged;
};

/// The transitions of a channel. Messages are numbered: single messages of end 0, quads of end 0, single messages of
/// end 1, quads of end 1.
class ChannelPair {
 public:
  explicit ChannelPair(const ChannelInstance& instance);

  /// Returns the initial state.
  ChannelState start() const;
  /// Executes a routing cycle. Returns a description of the first violation in it, or "".
  std::string step(ChannelState& state, Choice& choice) const;
  /// Returns whether all messages have arrived and all slots are free.
  bool at_rest(const ChannelState& state) const;
  /// Replaces a state by the representative of all states that are equivalent to it.
  void reduce(ChannelState& state) const;

  const ChannelInstance& instance() const { return instance_; }
  bool is_quad(u32 message) const { return quad_[message]; }
  u32 first_of(u32 end) const { return end ? first_of_1_ : 0; }
  u32 last_of(u32 end) const { return end ? messages_ : first_of_1_; }
  std::string name(u32 message) const;

 private:
  /// Renumbers messages of the same sender and kind, which are interchangeable, by the positions at which they occur in
  /// the state.
  void sort_messages(ChannelState& state) const;
  /// Inverts all sequence bits and acknowledgments of each window in which the transmitter's sequence bit is 1. The
  /// protocol only compares these bits with each other, so the result is equivalent.
  void normalize_windows(ChannelState& state) const;

  ChannelInstance instance_;
  u32 messages_, first_of_1_, round_;
  std::array<bool, kMostChannelMessages> quad_{};
};

}  // namespace flitlab::sconnect
