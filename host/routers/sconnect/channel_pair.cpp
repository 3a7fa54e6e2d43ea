#include "host/routers/sconnect/channel_pair.hpp"

#include <algorithm>

#include "kernels/common/error.hpp"

namespace flitlab::sconnect {
namespace {

constexpr const char* kEndName[] = {"A", "B"};

/// One end during a routing cycle: first its transmitter, then its receiver, as in work_port
/// (kernels/routers/sconnect/phases.hpp).
class EndInACycle {
 public:
  EndInACycle(const ChannelPair& pair, ChannelState& state, u32 which, Choice& choice, std::string& wrong)
      : pair_(pair),
        what_(pair.instance()),
        state_(state),
        end_(state.end[which]),
        which_(which),
        choice_(choice),
        violation_(wrong) {}

  SlotInFlight transmit() {
    Slot& s = end_.slot[0];
    const Outcome outcome = settle_slot(s);
    SlotInFlight out{kRequestBits, kNoBuffer, 0};
    switch (turn_of(s, outcome, end_.sending != kNoBuffer)) {
      case Turn::kPart: out = send_next_part(); break;
      case Turn::kAgain: out = {single_bits(s), s.buffer, 0}; break;
      case Turn::kStart: out = start(s); break;
      case Turn::kRequest:
        if (has(ChannelDefect::kNeverRequests)) out.bits = 0;
        break;
    }
    u8 answer = acknowledgment_of(end_.slot[what_.round() - 1]);
    if (has(ChannelDefect::kAnswersTooEarly)) answer = end_.reply & kAcknowledge;
    if (has(ChannelDefect::kAnswersIfAskedOnly) && !(end_.reply & kOccupied)) answer = 0;
    out.bits = sent_bits(out.bits, end_.reply & kOccupied, answer);
    end_.reply = 0;
    if (choice_.wants_description()) describe_sent(out);
    return out;
  }

  /// A cycle of an end that is switched off: it sends and receives nothing. Parts of a quad in transmission are lost.
  void pass() {
    if (end_.sending != kNoBuffer) send_next_part();
    end_.heard = 0;
    if (choice_.wants_description()) describe_event("is off");
    if (end_.train.parts) take_part({kHit, kNoBuffer, 0});
  }

  void receive(SlotInFlight in) {
    end_.heard = 0;
    if (!in.bits) {
      if (end_.train.parts) take_part({kHit, kNoBuffer, 0});
      end_.good = 0;
      return;
    }
    if (what_.hits[1 - which_] && choice_.of(2)) {
      in.bits |= kHit;
      if (choice_.wants_description()) describe_event("gets a damaged slot");
    }
    if (has(ChannelDefect::kTakesVoid)) in.bits = static_cast<u8>(in.bits & ~kAbort);
    if (!(in.bits & kHit)) end_.heard = in.bits & (kOccupied | kAcknowledge);
    Slot& s = end_.slot[0];
    const u8 early = acknowledgment_of(s);
    note_good(in);
    if (concerns_quads(end_.train, in.bits)) take_part(in);
    take_single(s, in);
    if (needs_acknowledgment(in.bits)) end_.reply = kOccupied;
    if (has(ChannelDefect::kAnswersTooEarly)) end_.reply |= early;
  }

 private:
  bool has(ChannelDefect defect) const { return what_.defect == defect; }
  void describe_event(const std::string& text) { choice_.describe(std::string(kEndName[which_]) + " " + text); }
  void report_violation(u32 message, const char* text) {
    if (violation_.empty()) violation_ = pair_.name(message) + " " + text;
  }

  Outcome settle_slot(Slot& s) {
    const u8 message = s.buffer;
    Outcome outcome = settle(s, end_.heard);
    if (has(ChannelDefect::kFailsUnreadable) && outcome == Outcome::kUnknown) {
      outcome = Outcome::kFailed;
      s.buffer = kNoBuffer;
    }
    if (outcome == Outcome::kTaken) {
      if (!state_.accepted[message]) report_violation(message, "is lost: its sender was notified that it was accepted");
      finish(message);
      if (choice_.wants_description()) describe_event("is notified that " + pair_.name(message) + " was accepted");
    }
    if (outcome == Outcome::kFailed) {
      if (state_.accepted[message])
        report_violation(message, "was accepted, but its sender was notified that it was rejected");
      if (choice_.wants_description()) describe_event("is notified that " + pair_.name(message) + " was rejected");
    }
    if (outcome == Outcome::kUnknown && choice_.wants_description())
      describe_event("misses the acknowledgment of " + pair_.name(message));
    return outcome;
  }

  /// Ends a message whose sender was notified of its acceptance. If `endless`, a new message takes its number, so it is
  /// a violation if a copy of the old one is still in flight.
  void finish(u32 message) {
    state_.acknowledged[message] = !what_.endless;
    if (!what_.endless) return;
    state_.accepted[message] = 0;
    for (const SlotInFlight& slot : state_.in_flight[which_])
      if (slot.message == message)
        report_violation(message, "is still in flight after its sender was notified that it was accepted");
  }

  static bool held(const ChannelEnd& end, u32 message) {
    return std::any_of(end.slot.begin(), end.slot.end(), [&](const Slot& s) { return s.buffer == message; });
  }
  bool waits(u32 message) const { return !state_.acknowledged[message] && !held(end_, message); }

  /// Returns a message of a kind (quad or single) that waits to be sent, or kNone. Any of them may be returned, because
  /// messages of a kind are interchangeable.
  u32 next(bool quad) const {
    for (u32 m = pair_.first_of(which_); m < pair_.last_of(which_); ++m)
      if (pair_.is_quad(m) == quad && waits(m)) return m;
    return kNone;
  }

  /// Chooses and sends one of: a single message, the first part of a quad, nothing, or a void message.
  SlotInFlight start(Slot& s) {
    const u32 single = next(false), quad = next(true);
    // If `endless`, alternative 0 is to send nothing, so that the error-free sequence brings the channel to rest.
    enum class Start { kNothing, kSingle, kQuad, kVoid };
    std::array<Start, 4> way{};
    u32 ways = what_.endless;
    if (single != kNone) way[ways++] = Start::kSingle;
    if (quad != kNone) way[ways++] = Start::kQuad;
    if (!what_.endless) way[ways++] = Start::kNothing;
    if (what_.voids[which_]) way[ways++] = Start::kVoid;
    const Start chosen = way[choice_.of(ways)];
    if (chosen == Start::kSingle) {
      hold(s, static_cast<u8>(single), false);
      return {single_bits(s), static_cast<u8>(single), 0};
    }
    if (chosen == Start::kQuad) {
      const u8 bits = part_bits(s, 0);
      hold(s, static_cast<u8>(quad), true);
      if (has(ChannelDefect::kReadsFirstAnswer)) s.bits = static_cast<u8>(s.bits & ~kTooEarly);
      end_.sending = static_cast<u8>(quad);
      end_.parts = 1;
      return {bits, static_cast<u8>(quad), 0};
    }
    if (chosen == Start::kNothing) return {0, kNoBuffer, 0};
    return {static_cast<u8>(single_bits(s) | kAbort), kNoBuffer, 0};
  }

  SlotInFlight send_next_part() {
    Slot& first = end_.slot[what_.round() - end_.parts];
    SlotInFlight out{part_bits(first, end_.parts), end_.sending, end_.parts};
    if (++end_.parts < kQuadParts) return out;
    end_.sending = kNoBuffer;
    end_.parts = 0;
    if (!what_.voids[which_] || !choice_.of(2)) return out;
    release_void(first);
    out.bits |= kAbort;
    return out;
  }

  /// Counts the undamaged parts of a quad, for checks.
  void note_good(const SlotInFlight& in) {
    const bool part = in.bits & kQuad && !(in.bits & (kHit | kAbort));
    if (part && (in.part == end_.good || !in.part))
      end_.good = in.part + 1;
    else
      end_.good = 0;
  }

  void accept(u32 message) {
    if (choice_.wants_description())
      describe_event("accepts " + (message == kNoBuffer ? "a void message" : pair_.name(message)));
    if (message == kNoBuffer) {
      if (violation_.empty()) violation_ = "a void message was accepted";
      return;
    }
    if (state_.acknowledged[message] || state_.accepted[message]) report_violation(message, "was accepted twice");
    if (!held(state_.end[1 - which_], message))
      report_violation(message, "was accepted after its sender was notified that it was rejected");
    state_.accepted[message] = 1;
  }

  bool room() {
    if (!what_.refuses[1 - which_] || !choice_.of(2)) return true;
    if (choice_.wants_description()) describe_event("has no buffer");
    return false;
  }

  /// Returns the bits of a slot as the receiver reads them. With ChannelDefect::kIgnoresSequence the sequence bit is
  /// replaced by the expected one.
  u8 seen(const Slot& s, u8 bits) const {
    if (!has(ChannelDefect::kIgnoresSequence)) return bits;
    return static_cast<u8>((bits & ~kSequence) | (s.bits & kExpected ? kSequence : 0));
  }

  void take_single(Slot& s, const SlotInFlight& in) {
    if (note_single(s, seen(s, in.bits)) != Single::kNew || !room()) return;
    take(s);
    accept(in.message);
  }

  void take_part(const SlotInFlight& in) {
    if (has(ChannelDefect::kTakesPartialQuads)) end_.train.spoiled = 0;
    const Train before = end_.train;
    switch (note_part(end_.train, in.bits, 0)) {
      case Part::kFirst:
        if (room()) end_.train.buffer = in.message;
        break;
      case Part::kWhole: {
        Slot& first = end_.slot[before.slot];
        if (!take_quad(first, seen(first, in.bits))) break;
        if (end_.good != kQuadParts || in.message != before.buffer)
          report_violation(before.buffer, "was accepted, but is incomplete");
        accept(before.buffer);
        break;
      }
      default: break;
    }
  }

  void describe_sent(const SlotInFlight& out) {
    if (!(out.bits & kPresent)) {
      if (out.bits) describe_event(out.bits & kLast ? "requests an acknowledgment" : "sends an acknowledgment");
      return;
    }
    std::string text = "sends ";
    text += out.message == kNoBuffer ? "a void message" : pair_.name(out.message);
    if (out.bits & kQuad) text += ", part " + std::to_string(out.part);
    if (out.bits & kAbort && out.message != kNoBuffer) text += ", void";
    describe_event(text + ", sequence bit " + (out.bits & kSequence ? "1" : "0"));
  }

  const ChannelPair& pair_;
  const ChannelInstance& what_;
  ChannelState& state_;
  ChannelEnd& end_;
  u32 which_;
  Choice& choice_;
  std::string& violation_;
};

/// Moves an end to the next slot of its round.
void turn(ChannelEnd& end, u32 round) {
  std::rotate(end.slot.begin(), end.slot.begin() + 1, end.slot.begin() + round);
  if (end.train.parts)
    end.train.slot = static_cast<u8>((end.train.slot + round - 1) % round);
  else
    end.train = Train{0, 0, kNoBuffer, 0};
  if (end.good == kQuadParts) end.good = 0;  // nothing follows the last part
}

}  // namespace

ChannelPair::ChannelPair(const ChannelInstance& instance)
    : instance_(instance), messages_(instance.messages()), round_(instance.round()) {
  for (u32 delay : instance.delay)
    if (delay < 1 || delay > kMostChannelDelay)
      throw ConfigError("delay = " + std::to_string(delay) + ": channels can have 1 to " +
                        std::to_string(kMostChannelDelay) + " routing cycles.");
  if (messages_ > kMostChannelMessages)
    throw ConfigError("there are " + std::to_string(messages_) + " messages and quads; the limit is " +
                      std::to_string(kMostChannelMessages) + ".");
  u32 m = 0;
  for (u32 e = 0; e < 2; ++e) {
    if (e) first_of_1_ = m;
    m += instance.singles[e];
    for (u32 i = 0; i < instance.quads[e]; ++i) quad_[m++] = true;
  }
}

std::string ChannelPair::name(u32 message) const {
  const u32 end = message >= first_of_1_;
  return (quad_[message] ? "quad " : "message ") + std::string(kEndName[end]) + std::to_string(message - first_of(end));
}

ChannelState ChannelPair::start() const {
  ChannelState state{};
  for (ChannelEnd& end : state.end) {
    for (Slot& s : end.slot) s.buffer = kNoBuffer;
    end.sending = end.train.buffer = kNoBuffer;
  }
  for (auto& way : state.in_flight)
    for (SlotInFlight& slot : way) slot.message = kNoBuffer;
  return state;
}

std::string ChannelPair::step(ChannelState& state, Choice& choice) const {
  std::string wrong;
  std::array<SlotInFlight, 2> out{SlotInFlight{0, kNoBuffer, 0}, SlotInFlight{0, kNoBuffer, 0}};
  for (u32 e = 0; e < 2; ++e) {
    EndInACycle end(*this, state, e, choice, wrong);
    if (instance_.switches && choice.of(2)) {
      end.pass();
      continue;
    }
    out[e] = end.transmit();
    end.receive(state.in_flight[1 - e][0]);
  }
  for (u32 e = 0; e < 2; ++e) {
    turn(state.end[e], round_);
    auto& way = state.in_flight[e];
    std::rotate(way.begin(), way.begin() + 1, way.begin() + instance_.delay[e]);
    way[instance_.delay[e] - 1] = out[e];
  }
  return wrong;
}

bool ChannelPair::at_rest(const ChannelState& state) const {
  for (u32 m = 0; m < messages_; ++m) {
    const bool arrived = state.acknowledged[m] && state.accepted[m];
    if (instance_.endless ? state.accepted[m] : !arrived) return false;
  }
  for (const ChannelEnd& end : state.end) {
    if (end.train.parts || end.sending != kNoBuffer) return false;
    for (u32 i = 0; i < round_; ++i)
      if (end.slot[i].buffer != kNoBuffer) return false;
  }
  return true;
}

}  // namespace flitlab::sconnect
