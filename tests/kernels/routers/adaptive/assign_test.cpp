/// Assignment of messages to channels: hand-derived cases of Figure 4, and comparison with implementations that follow
/// its text.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "kernels/routers/adaptive/assign.hpp"

namespace flitlab::adaptive::assign_test {
namespace {

using Sets = std::vector<u32>;

std::vector<int> assigned(Assignment how, const Sets& options, u32 channels) {
  Assigned a;
  assign(how, a, static_cast<u32>(options.size()), [&](u32 m) { return options[m]; }, channels);
  std::vector<int> result(options.size(), -1);
  for (u32 set = a.channels; set; set &= set - 1)
    result[a.message[lowest_bit(set)]] = static_cast<int>(lowest_bit(set));
  for (u32 m = 0; m < options.size(); ++m) EXPECT_EQ(a.departed.has(m), result[m] >= 0);
  return result;
}

/// Figure 4, steps 1 and 2. `options[message]`: bit set of its channels, with messages in order of preference. Returns
/// the message of each channel, -1 if it has none.
std::vector<int> naive(const Sets& options, u32 channels, bool sorted) {
  std::vector<int> order, result(options.size(), -1);
  for (int c = 0; c < 32; ++c)
    if (channels >> c & 1) order.push_back(c);
  const auto waiting = [&](int c) {
    return std::count_if(options.begin(), options.end(), [&](u32 set) { return (set >> c & 1) != 0; });
  };
  if (sorted) std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return waiting(a) < waiting(b); });
  std::vector<std::size_t> unsent(options.size());
  std::iota(unsent.begin(), unsent.end(), 0u);
  for (int c : order) {
    const auto taken_message =
        std::find_if(unsent.begin(), unsent.end(), [&](std::size_t m) { return options[m] >> c & 1; });
    if (taken_message == unsent.end()) continue;
    result[*taken_message] = c;
    unsent.erase(taken_message);
  }
  return result;
}

/// Returns whether all messages of a set can be sent at once. Searches exhaustively.
bool all_can_be_sent(const Sets& options, const std::vector<std::size_t>& messages, std::size_t from, u32 free) {
  if (from == messages.size()) return true;
  for (int c = 0; c < 32; ++c)
    if ((options[messages[from]] & free) >> c & 1 && all_can_be_sent(options, messages, from + 1, free & ~(1u << c)))
      return true;
  return false;
}

Sets random_sets(std::mt19937& random, u32 messages, u32 channels, double density) {
  Sets sets(messages, 0);
  for (u32& set : sets)
    for (u32 c = 0; c < channels; ++c)
      if (std::uniform_real_distribution<>(0, 1)(random) < density) set |= 1u << c;
  return sets;
}

/// Three messages request channel 0; one of them may also take channel 1. If channels chose in numerical order, channel
/// 0 would take that message and channel 1 would stay unused.
TEST(AdaptiveAssign, ChannelsWithFewMessagesChooseFirst) {
  const Sets options{0b011, 0b001, 0b001};
  EXPECT_EQ(assigned(Assignment::kGreedy, options, 0b111), (std::vector<int>{1, 0, -1}));
  EXPECT_EQ(assigned(Assignment::kFixed, options, 0b111), (std::vector<int>{0, -1, -1}));
  EXPECT_EQ(assigned(Assignment::kOptimal, options, 0b111), (std::vector<int>{1, 0, -1}));
}

/// A message with several options counts for each of these channels: 2 messages wait for channel 0, 3 for channel 1 and
/// 1 for channel 2.
TEST(AdaptiveAssign, MessagesAreCountedAtEachOfTheirChannels) {
  Waiting waiting;
  for (u32 options : {0b011, 0b110, 0b010, 0b001}) waiting.add(options);
  std::vector<u32> sorted;
  for (u32 left = 0b1111; left; left &= ~(1u << sorted.back())) sorted.push_back(waiting.fewest(left));
  EXPECT_EQ(sorted, (std::vector<u32>{3, 2, 0, 1}));
}

/// All of 160 messages may wait for one channel.
TEST(AdaptiveAssign, AllMessagesMayWaitForAChannel) {
  Waiting waiting;
  for (u32 m = 0; m < kMaxMessages; ++m) waiting.add(m < 127 ? 0b111 : m < 128 ? 0b011 : 0b001);
  EXPECT_EQ(waiting.fewest(0b111), 2u);
  EXPECT_EQ(waiting.fewest(0b011), 1u);
}

/// The order in which channels choose is computed once. 3 messages wait for channel 0 and 2 each for channels 1 and 2.
/// Channel 1 takes message 0; then 2 messages are left for channel 0 and 2 for channel 2, but channel 2 is still the
/// next to choose.
TEST(AdaptiveAssign, TheOrderOfChannelsIsComputedOnce) {
  EXPECT_EQ(assigned(Assignment::kGreedy, {0b011, 0b011, 0b100, 0b101}, 0b111), (std::vector<int>{1, 0, 2, -1}));
}

/// The greedy assignment is maximal, not optimal. If equally many messages wait for two channels, the first channel may
/// take a message that the second one could have sent as well, while another message has the first channel only.
TEST(AdaptiveAssign, OptimalSendsMoreThanGreedy) {
  const Sets options{0b011, 0b001, 0b110, 0b110};
  const std::vector<int> greedy = assigned(Assignment::kGreedy, {0b011, 0b101, 0b010, 0b010, 0b001}, 0b011);
  EXPECT_EQ(greedy, (std::vector<int>{0, -1, 1, -1, -1}));
  EXPECT_EQ(assigned(Assignment::kFixed, {0b011, 0b001}, 0b011), (std::vector<int>{0, -1}));
  EXPECT_EQ(assigned(Assignment::kOptimal, {0b011, 0b001}, 0b011), (std::vector<int>{1, 0}));
  EXPECT_EQ(assigned(Assignment::kOptimal, options, 0b111), (std::vector<int>{1, 0, 2, -1}));
}

TEST(AdaptiveAssign, AbsentChannelsAreNotUsed) {
  for (Assignment how : {Assignment::kGreedy, Assignment::kFixed, Assignment::kOptimal})
    EXPECT_EQ(assigned(how, {0b0001, 0b0100}, 0b1011), (std::vector<int>{0, -1}));
}

TEST(AdaptiveAssign, FollowsFigure4) {
  std::mt19937 random(1);
  for (int i = 0; i < 3000; ++i) {
    const u32 channels = 1 + random() % 32, messages = random() % 40;
    const Sets options = random_sets(random, messages, channels, 0.05 + 0.1 * (random() % 8));
    const u32 there = channels == 32 ? ~0u : (1u << channels) - 1;
    ASSERT_EQ(assigned(Assignment::kGreedy, options, there), naive(options, there, true)) << i;
    ASSERT_EQ(assigned(Assignment::kFixed, options, there), naive(options, there, false)) << i;
  }
}

/// The optimal assignment sends the largest possible set of messages. Of all such sets it is the first in order of
/// preference: a message is sent if it can be sent together with the messages chosen before it.
TEST(AdaptiveAssign, OptimalAgreesWithExhaustiveSearch) {
  std::mt19937 random(2);
  for (int i = 0; i < 3000; ++i) {
    const u32 channels = 1 + random() % 6, messages = random() % 9;
    const Sets options = random_sets(random, messages, channels, 0.1 + 0.1 * (random() % 6));
    const u32 there = (1u << channels) - 1;
    const std::vector<int> found = assigned(Assignment::kOptimal, options, there);
    u32 used = 0;
    std::vector<std::size_t> sent, tried;
    for (std::size_t m = 0; m < found.size(); ++m) {
      if (found[m] < 0) continue;
      ASSERT_TRUE(options[m] >> found[m] & 1);
      ASSERT_FALSE(used >> found[m] & 1);
      used |= 1u << found[m];
      sent.push_back(m);
    }
    for (std::size_t m = 0; m < found.size(); ++m) {
      tried.push_back(m);
      if (!all_can_be_sent(options, tried, 0, there)) tried.pop_back();
    }
    ASSERT_EQ(sent, tried) << i;
    u32 most = 0;
    for (u32 set = 0; set < 1u << messages; ++set) {
      std::vector<std::size_t> chosen;
      for (std::size_t m = 0; m < messages; ++m)
        if (set >> m & 1) chosen.push_back(m);
      if (chosen.size() > most && all_can_be_sent(options, chosen, 0, there)) most = static_cast<u32>(chosen.size());
    }
    ASSERT_EQ(sent.size(), most) << i;
  }
}

}  // namespace
}  // namespace flitlab::adaptive::assign_test
