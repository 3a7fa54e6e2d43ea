/// Which message goes to which channel: Figure 4 by hand, and against implementations written from its text.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "kernels/routers/adaptive/assign.hpp"

namespace flitlab::adaptive::assign_test {
namespace {

using Sets = std::vector<u32>;

Pending pending_of(const Sets& options) {
  Pending p{};
  p.count = static_cast<u32>(options.size());
  for (u32 m = 0; m < p.count; ++m) {
    p.options[m] = options[m];
    p.channel[m] = kStays;
  }
  return p;
}

std::vector<int> assigned(Assignment how, const Sets& options, u32 channels) {
  Pending p = pending_of(options);
  assign(how, p, channels);
  std::vector<int> result;
  for (u32 m = 0; m < p.count; ++m) result.push_back(p.channel[m] == kStays ? -1 : p.channel[m]);
  return result;
}

/// Figure 4, steps 1 and 2, with messages in order of preference.
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
    const auto mine = std::find_if(unsent.begin(), unsent.end(), [&](std::size_t m) { return options[m] >> c & 1; });
    if (mine == unsent.end()) continue;
    result[*mine] = c;
    unsent.erase(mine);
  }
  return result;
}

/// Whether all messages of a set can be sent at once, by trying everything.
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

/// Three messages want channel 0, one of them may take channel 1 as well: in the order of numbers, channel 0 would take
/// it, and channel 1 would go out empty.
TEST(AdaptiveAssign, ChannelsThatFewWaitForChooseFirst) {
  const Sets options{0b011, 0b001, 0b001};
  EXPECT_EQ(assigned(Assignment::kGreedy, options, 0b111), (std::vector<int>{1, 0, -1}));
  EXPECT_EQ(assigned(Assignment::kFixed, options, 0b111), (std::vector<int>{0, -1, -1}));
  EXPECT_EQ(assigned(Assignment::kOptimal, options, 0b111), (std::vector<int>{1, 0, -1}));
}

/// Messages with several options are counted at each: 2 for channel 0, 3 for channel 1, 1 for channel 2.
TEST(AdaptiveAssign, MessagesAreCountedAtEachOfTheirChannels) {
  Pending p = pending_of({0b011, 0b110, 0b010, 0b001});
  u8 sorted[kMaxChannels];
  ASSERT_EQ(sort_channels(p, 0b1111, sorted), 4u);
  EXPECT_EQ((std::vector<int>(sorted, sorted + 4)), (std::vector<int>{3, 2, 0, 1}));
}

/// The order of channels is found once: with 3 for channel 0, 2 for 1 and 2, 1 takes message 0 and 2 takes message 2
/// though by then as many wait for channel 0 as for channel 2.
TEST(AdaptiveAssign, TheOrderOfChannelsStaysWhatItWas) {
  EXPECT_EQ(assigned(Assignment::kGreedy, {0b011, 0b011, 0b100, 0b101}, 0b111), (std::vector<int>{1, 0, 2, -1}));
}

/// Greedy is maximal, but not the best: two channels that as many wait for, and the first in order may take both.
TEST(AdaptiveAssign, OptimalSendsWhatGreedyLeaves) {
  const Sets options{0b011, 0b001, 0b110, 0b110};
  const std::vector<int> greedy = assigned(Assignment::kGreedy, {0b011, 0b101, 0b010, 0b010, 0b001}, 0b011);
  EXPECT_EQ(greedy, (std::vector<int>{0, -1, 1, -1, -1}));
  EXPECT_EQ(assigned(Assignment::kFixed, {0b011, 0b001}, 0b011), (std::vector<int>{0, -1}));
  EXPECT_EQ(assigned(Assignment::kOptimal, {0b011, 0b001}, 0b011), (std::vector<int>{1, 0}));
  EXPECT_EQ(assigned(Assignment::kOptimal, options, 0b111), (std::vector<int>{1, 0, 2, -1}));
}

TEST(AdaptiveAssign, ChannelsThatAreNotThereAreNotTaken) {
  for (Assignment how : {Assignment::kGreedy, Assignment::kFixed, Assignment::kOptimal})
    EXPECT_EQ(assigned(how, {0b0001, 0b0100}, 0b1011), (std::vector<int>{0, -1}));
}

TEST(AdaptiveAssign, IsWhatFigure4Says) {
  std::mt19937 random(1);
  for (int i = 0; i < 3000; ++i) {
    const u32 channels = 1 + random() % 32, messages = random() % 40;
    const Sets options = random_sets(random, messages, channels, 0.05 + 0.1 * (random() % 8));
    const u32 there = channels == 32 ? ~0u : (1u << channels) - 1;
    ASSERT_EQ(assigned(Assignment::kGreedy, options, there), naive(options, there, true)) << i;
    ASSERT_EQ(assigned(Assignment::kFixed, options, there), naive(options, there, false)) << i;
  }
}

/// As many as can be, and the first in order that can: each message is sent if it can be sent with those before it that
/// are.
TEST(AdaptiveAssign, OptimalIsWhatTryingEverythingFinds) {
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

/// The form for GPUs gives every message what the other one does.
TEST(AdaptiveAssign, PackedIsTheSame) {
  std::mt19937 random(7);
  for (u32 trial = 0; trial < 2000; ++trial) {
    const u32 channels = random() | 1u << trial % 32;
    Sets options(random() % (trial % 2 ? 12 : kMaxMessages + 1));
    for (u32& set : options) set = random() & random() & random();
    for (const Assignment how : {Assignment::kGreedy, Assignment::kFixed, Assignment::kOptimal}) {
      const std::vector<int> expected = assigned(how, options, channels);
      const auto options_of = [&](u32 m) { return options[m]; };
      u64 left[PackedPending<decltype(options_of)>::kWords];
      u8 message_of[kMaxChannels];
      PackedPending<decltype(options_of)> p{options_of, static_cast<u32>(options.size()), 0, left, message_of};
      for (u32 m = 0; m < p.count; ++m) p.stay(m);
      assign(how, p, channels);
      std::vector<int> got(options.size(), -1);
      p.for_each_given([&](u32 m, u32 channel) { got[m] = static_cast<int>(channel); });
      ASSERT_EQ(got, expected) << trial;
      for (u32 m = 0; m < p.count; ++m) ASSERT_EQ(p.stays(m), expected[m] < 0) << trial;
    }
  }
}

}  // namespace
}  // namespace flitlab::adaptive::assign_test
