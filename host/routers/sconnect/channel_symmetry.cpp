/// Reduction of equivalent states of a channel to one representative.
#include "host/routers/sconnect/channel_pair.hpp"

namespace flitlab::sconnect {

void ChannelPair::reduce(ChannelState& state) const {
  if (!instance_.reduced) return;
  sort_messages(state);
  // With this defect, `normalize_windows` would be wrong: an acknowledgment that carries no information looks like a
  // valid one.
  if (instance_.defect != ChannelDefect::kAnswersIfAskedOnly) normalize_windows(state);
}

void ChannelPair::normalize_windows(ChannelState& state) const {
  for (u32 e = 0; e < 2; ++e) {
    const u32 delay = instance_.delay[e], back_delay = instance_.delay[1 - e];
    ChannelEnd &end = state.end[e], &far = state.end[1 - e];
    const auto is_inverted = [&](u32 slot) { return end.slot[slot % round_].bits & kSending; };
    // A slot that arrives in i cycles was sent delay - i cycles before the next one.
    for (u32 i = 0; i < delay; ++i) {
      SlotInFlight& out = state.in_flight[e][i];
      if (out.bits & kPresent && is_inverted(round_ + i - delay - out.part)) out.bits ^= kSequence;
    }
    // An acknowledgment that arrives in i cycles is used one cycle later.
    for (u32 i = 0; i < back_delay; ++i) {
      SlotInFlight& back = state.in_flight[1 - e][i];
      if (back.bits && is_inverted(i + 1)) back.bits ^= kAcknowledge;
    }
    if (end.heard && is_inverted(0)) end.heard ^= kAcknowledge;
    // The other end's acknowledgment of the last slot is used after the delay back and one more cycle.
    if (instance_.defect == ChannelDefect::kAnswersTooEarly && is_inverted(back_delay + 1)) far.reply ^= kAcknowledge;
    for (u32 i = 0; i < round_; ++i)
      if (is_inverted(i)) far.slot[(i + delay) % round_].bits ^= kExpected;
    for (u32 i = 0; i < round_; ++i) end.slot[i].bits &= static_cast<u8>(~kSending);
  }
}

void ChannelPair::sort_messages(ChannelState& state) const {
  // All variables that can hold a message number, in a fixed order. The variables that hold a message's number
  // characterise the message.
  std::array<u32, kMostChannelMessages> where{};
  std::array<u8*, 32> variable;
  u32 variables = 0;
  for (u32 e = 0; e < 2; ++e) {
    for (u32 i = 0; i < round_; ++i) variable[variables++] = &state.end[e].slot[i].buffer;
    variable[variables++] = &state.end[e].sending;
    variable[variables++] = &state.end[e].train.buffer;
    for (u32 i = 0; i < instance_.delay[e]; ++i) variable[variables++] = &state.in_flight[e][i].message;
  }
  for (u32 i = 0; i < variables; ++i)
    if (*variable[i] != kNoBuffer) where[*variable[i]] |= 4u << i;
  for (u32 m = 0; m < messages_; ++m) where[m] |= state.accepted[m] | state.acknowledged[m] << 1;

  std::array<u8, kMostChannelMessages> number{};  // new number of each message, by old number
  bool same = true;
  for (u32 m = 0; m < messages_; ++m) {
    u32 first = m >= first_of_1_ ? first_of_1_ : 0, last = last_of(m >= first_of_1_), before = 0;
    for (u32 other = first; other < last; ++other) {
      if (quad_[other] != quad_[m]) {
        before += other < m;
        continue;
      }
      before += where[other] < where[m] || (where[other] == where[m] && other < m);
    }
    number[m] = static_cast<u8>(first + before);
    same &= number[m] == m;
  }
  if (same) return;
  for (u32 i = 0; i < variables; ++i)
    if (*variable[i] != kNoBuffer) *variable[i] = number[*variable[i]];
  const auto taken = state.accepted, done = state.acknowledged;
  for (u32 m = 0; m < messages_; ++m) {
    state.accepted[number[m]] = taken[m];
    state.acknowledged[number[m]] = done[m];
  }
}

}  // namespace flitlab::sconnect
