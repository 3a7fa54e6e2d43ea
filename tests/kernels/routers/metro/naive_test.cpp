/// METRO against a second implementation (tests/support/metro/naive.hpp). In every cycle all words on wires, the state
/// of all ports and the totals must agree, for any parameters and faults.
#include <gtest/gtest.h>

#include "kernels/routers/metro/totals.hpp"
#include "tests/support/bgl/random.hpp"
#include "tests/support/fields.hpp"
#include "tests/support/metro/naive.hpp"
#include "tests/support/metro/random.hpp"
#include "tests/support/side_by_side.hpp"

namespace flitlab::metro_naive_test {
namespace {

using namespace testing;

constexpr std::pair<TotalIndex, const char*> kCompared[] = {{Total::kPacketsCreated, "created"},
                                                            {metro::Count::kAttempts, "attempts"},
                                                            {metro::Count::kAccepted, "accepted"},
                                                            {metro::Count::kDuplicates, "duplicates"},
                                                            {metro::Count::kAcceptedWrong, "accepted wrong"},
                                                            {Total::kPacketsDelivered, "delivered"},
                                                            {Total::kLatencySum, "latency"},
                                                            {metro::Count::kRefused, "refused"},
                                                            {metro::Count::kShut, "shut"},
                                                            {Total::kPacketsDropped, "dropped"},
                                                            {metro::Count::kReplyWords, "words of replies"}};
constexpr std::pair<TotalIndex, const char*> kComparedByStage[] = {
    {metro::Count::kBlocked, "blocked"}, {metro::Count::kLost, "lost"}, {metro::Count::kDamaged, "damaged"}};

std::string described_word(Word w) {
  static constexpr const char* kNames[] = {"nothing", "data", "idle", "turn", "drop", "status", "blocked", "back drop"};
  return std::string(kNames[w >> 16 & 7]) + " " + std::to_string(payload_of(w));
}

/// Runs emulator and second implementation side by side until they disagree.
class Comparison {
 public:
  Comparison(const RawConfig& config, std::vector<NaiveFault> faults)
      : config_(config),
        e_(experiment(config)),
        net_(e_),
        plan_(dynamic_cast<const MetroPlan&>(*net_.plan)),
        naive_(e_, plan_, net_.engine->row(0), std::move(faults)),
        inbox_(net_, 0, "mail"),
        endpoint_inbox_(net_, 1, "mail"),
        forward_(net_, 0, "forward"),
        control_(net_, 0, "control") {}

  void run(u32 cycles) {
    const auto step = [&](u32) {
      naive_.apply_faults();
      naive_.step();
      net_.step(1);
    };
    if (!side_by_side(cycles, described(config_), step, [&](Differences& d) { compare(d); })) return;
    EXPECT_GT(naive_.total(metro::Count::kAttempts), 0u) << described(config_);
    // If a damaged message was accepted, it may be mistaken for another one, so the audit does not apply.
    if (naive_.total(metro::Count::kAcceptedWrong) == 0) check_conservation(*net_.engine, *net_.plan, 0);
  }

 private:
  void compare(Differences& d) {
    inbox_.read();
    endpoint_inbox_.read();
    forward_.read();
    control_.read();
    const metro::Table& t = plan_.table();
    const u32 slot = naive_.now() & t.slot_mask;
    const auto same_word = [&](const NaiveEnd& end, Word arriving, const auto& name) {
      const Word expected = end.in ? end.in->words.front() : 0;
      if (expected != arriving) d.same(described_word(expected), described_word(arriving), name);
    };
    for (u32 n = 0; n < naive_.routers().size(); ++n) {
      NaiveRouter& r = naive_.routers()[n];
      u32 used = 0;
      for (u32 q = 0; q < r.backward; ++q) used |= u32{r.used[q]} << q;
      d.same(used, control_(n).used, [&] { return plan_.router_name(n) + " uses"; });
      for (u32 p = 0; p < r.end.size(); ++p) {
        const u32 flat = p < r.forward ? p : t.inputs + p - r.forward;
        const auto name = [&](const char* what) {
          return [&, what] { return plan_.router_name(n) + " " + plan_.port_name(flat) + what; };
        };
        same_word(r.end[p], inbox_(n, slot * t.ports() + flat), name(" reads"));
        if (p >= r.forward) continue;
        const metro::ForwardPort& f = forward_(n, p);
        d.same(u32(r.port[p].state), u32(f.state), name(" is in state"));
        if (f.state == PortState::kForward || f.state == PortState::kReverse)
          d.same(u32(r.port[p].out), u32(f.out), name(" goes to"));
      }
    }
    for (u32 n = 0; n < naive_.endpoints().size(); ++n)
      for (u32 l = 0; l < 2 * t.links; ++l)
        for (u32 s = 0; s < t.slices; ++s)
          same_word(naive_.endpoints()[n].link[l][s], endpoint_inbox_(n, (slot * 2 * t.links + l) * t.slices + s), [&] {
            return "endpoint " + std::to_string(n) + "'s link " + std::to_string(l) + " of " + std::to_string(s);
          });
    const auto total = [&](TotalIndex first, u32 i, const char* name) {
      d.same(naive_.total(first, i), net_.engine->counters(0).total[first.value + i],
             [&] { return name + (" " + std::to_string(i)); });
    };
    for (const auto& [which, name] : kCompared) total(which, 0, name);
    for (const auto& [which, name] : kComparedByStage)
      for (u32 s = 0; s < 8; ++s) total(which, s, name);
  }

  RawConfig config_;
  Experiment e_;
  Network net_;
  const MetroPlan& plan_;
  NaiveMetro naive_;
  ItemFields<Word> inbox_, endpoint_inbox_;
  ItemFields<metro::ForwardPort> forward_;
  ItemFields<metro::RouterControl> control_;
};

constexpr u32 kCycles = 1500;

class MetroNaive : public ::testing::TestWithParam<u32> {};

TEST_P(MetroNaive, AgreesForRandomParameters) { Comparison(random_metro(GetParam()), {}).run(kCycles); }

void agree_whatever_breaks(RawConfig config, u32 seed) {
  const AllowedFaults faults = allowed_faults(config, seed, kCycles);
  const TextFile file(faults.text);
  config["faults.file"] = file.path;
  SCOPED_TRACE(faults.text);
  Comparison(config, faults.list).run(kCycles);
}

TEST_P(MetroNaive, AgreesWithRandomFaults) { agree_whatever_breaks(random_metro(1000 + GetParam()), GetParam()); }

INSTANTIATE_TEST_SUITE_P(Seeds, MetroNaive, ::testing::Range(0u, 40u));

class MetroNaiveStraddling : public ::testing::TestWithParam<u32> {};

TEST_P(MetroNaiveStraddling, AgreesForRandomParameters) {
  Comparison(random_straddling_metro(GetParam()), {}).run(kCycles);
}

TEST_P(MetroNaiveStraddling, AgreesWithRandomFaults) {
  agree_whatever_breaks(random_straddling_metro(1000 + GetParam()), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Seeds, MetroNaiveStraddling, ::testing::Range(0u, 16u));

// Seeds with rare cases: a source ends its attempt while the destination answers; a word that is not data ends a header
// early.
INSTANTIATE_TEST_SUITE_P(Rare, MetroNaive, ::testing::Values(46u, 56u, 177u, 447u));

}  // namespace
}  // namespace flitlab::metro_naive_test
