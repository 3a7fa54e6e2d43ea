#pragma once
/// The two ends of a channel of TICs and what is between them, with nothing around: all that the channel protocol
/// (kernels/routers/sconnect/channel.hpp, S-Connect, 3.2) knows, and a few messages that are to cross it. What a router
/// would decide, and what errors do, is asked of a `Choice`, so that somebody can go through all of it.
///
/// What is left out, and why that loses nothing:
/// - Time. Slots are numbered from the one of the cycle to come, as in the shift register of a real channel. The
///   functions of the protocol compare slots with each other only, so states that differ by a turn behave alike.
/// - What was heard is kept as far as `settle` reads it: nothing readable, or the answer.
/// - Whether a slot is hit is chosen where it arrives: before, nobody looks.
/// - What comes in damaged is forgotten at once. A TIC stores it until the end of the cycle, and may begin to send it
///   over another channel; there it is a void message, which this channel's sender may have as well.
#include <array>
#include <string>

#include "kernels/routers/sconnect/channel.hpp"

namespace flitlab::sconnect {

inline constexpr u32 kMostChannelDelay = 2;
inline constexpr u32 kMostChannelMessages = 8;  ///< of both ends

/// A protocol broken on purpose, so that it is seen what the exploration finds.
enum class ChannelDefect : u8 {
  kNone,
  kIgnoresSequence,     ///< a receiver takes what it has already
  kFailsUnreadable,     ///< who cannot read an answer takes it for a refusal
  kReadsFirstAnswer,    ///< to a quad, which comes before its last part
  kAnswersTooEarly,     ///< before it is decided
  kTakesPartialQuads,   ///< a quad is taken if its last part is good
  kTakesVoid,           ///< late aborts are not looked at
  kAnswersIfAskedOnly,  ///< the answer bit says nothing in slots that follow an empty one
  kNeverAsks,           ///< who waits for an answer about a quad only waits
};
inline constexpr u32 kChannelDefects = 9;

/// What can happen.
struct ChannelInstance {
  std::array<u32, 2> delay{1, 1};           ///< of what each end sends, routing cycles
  std::array<u32, 2> singles{1, 1};         ///< messages that each end has to send
  std::array<u32, 2> quads{0, 0};           ///< and quads
  std::array<bool, 2> hits{true, true};     ///< errors in what each end sends
  std::array<bool, 2> refuses{true, true};  ///< a receiver of what each end sends may have no buffer
  std::array<bool, 2> voids{true, true};    ///< each end may send messages that turn out damaged
  bool switches = false;                    ///< ends may be switched off at any time, for any time
  bool endless = false;                     ///< a message that has been delivered is a new one that waits
  bool reduced = true;                      ///< states that behave alike are one
  ChannelDefect defect = ChannelDefect::kNone;

  u32 messages() const { return singles[0] + singles[1] + quads[0] + quads[1]; }
  u32 round() const { return round_of(delay[0], delay[1]); }
};

/// Who decides. The first of the ways is the good one: no errors, buffers for everybody, send what there is.
class Choice {
 public:
  virtual ~Choice() = default;
  /// 0 to ways - 1.
  virtual u32 of(u32 ways) = 0;
  /// What follows from it, for people; only if `tells`.
  virtual void tell(const std::string&) {}
  virtual bool tells() const { return false; }
};

/// What is between the ends in a slot.
struct SlotOnItsWay {
  u8 bits;     ///< protocol bits; 0: nothing has been sent
  u8 message;  ///< kNoBuffer: none
  u8 part;     ///< of a quad: known to nobody but who checks
};

struct ChannelEnd {
  std::array<Slot, round_of(kMostChannelDelay, kMostChannelDelay)> slot;  ///< of the cycle to come, and on
  u8 heard;    ///< 0: nothing readable, or kOccupied and the answer
  u8 reply;    ///< kOccupied: an answer has been asked for
  u8 sending;  ///< quad that is going out; kNoBuffer
  u8 parts;    ///< of it that have gone
  Train train;
  u8 good;  ///< parts of a quad that have come in order and unharmed until now: known to nobody but who checks
};

struct ChannelState {
  std::array<ChannelEnd, 2> end;
  std::array<std::array<SlotOnItsWay, kMostChannelDelay>, 2> way;  ///< from each end; the one that arrives next first
  std::array<u8, kMostChannelMessages> taken;                      ///< by the receiver
  std::array<u8, kMostChannelMessages> done;                       ///< its sender has been told so
};

/// Messages are numbered: singles of end 0, its quads, and those of end 1.
class ChannelPair {
 public:
  explicit ChannelPair(const ChannelInstance& instance);

  ChannelState start() const;
  /// A routing cycle. Returns what went wrong in it, or nothing.
  std::string step(ChannelState& state, Choice& choice) const;
  /// Everything has arrived, and nobody holds on to anything.
  bool at_rest(const ChannelState& state) const;
  /// Makes one state of all that behave alike.
  void reduce(ChannelState& state) const;

  const ChannelInstance& instance() const { return instance_; }
  bool is_quad(u32 message) const { return quad_[message]; }
  u32 first_of(u32 end) const { return end ? first_of_1_ : 0; }
  u32 last_of(u32 end) const { return end ? messages_ : first_of_1_; }
  std::string name(u32 message) const;

 private:
  /// Messages that differ in nothing but their numbers get these in a fixed order: they are of one sender and one kind,
  /// so nothing that can happen to the one could not happen to the other.
  void sort_messages(ChannelState& state) const;
  /// All sequence bits of a window, and its answers, turned over, mean the same: the protocol asks only whether two of
  /// them are equal. So each window is turned over so that its transmitter's bit is 0.
  void turn_windows_over(ChannelState& state) const;

  ChannelInstance instance_;
  u32 messages_, first_of_1_, round_;
  std::array<bool, kMostChannelMessages> quad_{};
};

}  // namespace flitlab::sconnect
