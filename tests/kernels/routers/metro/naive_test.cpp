/// METRO against a second implementation (tests/support/metro/naive.hpp). In every cycle all words on wires, the state
/// of all ports and the totals must agree, for any parameters and faults.
#include <gtest/gtest.h>

#include <sstream>

#include "kernels/routers/metro/totals.hpp"
#include "tests/support/bgl/random.hpp"
#include "tests/support/metro/naive.hpp"
#include "tests/support/metro/random.hpp"

namespace flitlab::metro_naive_test {
namespace {

using testing::allowed_faults;
using testing::AllowedFaults;
using testing::experiment;
using testing::NaiveEnd;
using testing::NaiveFault;
using testing::NaiveMetro;
using testing::NaiveRouter;
using testing::Network;
using testing::payload_of;
using testing::PortState;
using testing::random_metro;
using testing::random_straddling_metro;
using testing::TextFile;
using testing::Word;

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

/// The values of one field of all items.
template <class T>
class Fields {
 public:
  Fields(const Network& net, u32 kind, const char* name)
      : net_(net), kind_(kind), info_(net.plan->layout().kinds[kind].field(name)) {
    all_.resize(std::size_t{net.plan->layout().kinds[kind].count} * info_.count);
  }
  void read() { net_.engine->get_field(0, kind_, info_, all_.data()); }
  const T& operator()(u32 item, u32 n) const { return all_[std::size_t{item} * info_.count + n]; }

 private:
  const Network& net_;
  u32 kind_;
  const FieldInfo& info_;
  std::vector<T> all_;
};

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
    while (naive_.now() < cycles) {
      naive_.apply_faults();
      naive_.step();
      net_.step(1);
      compare();
      if (text_.str().empty()) continue;
      ADD_FAILURE() << "after cycle " << naive_.now() - 1 << text_.str() << "\n" << testing::described(config_);
      return;
    }
    EXPECT_GT(naive_.total(metro::Count::kAttempts), 0u) << testing::described(config_);
    // If a damaged message was accepted, it may be mistaken for another one, so the audit does not apply.
    if (naive_.total(metro::Count::kAcceptedWrong) == 0) check_conservation(*net_.engine, *net_.plan, 0);
  }

 private:
  template <class A, class B>
  bool differ(const A& naive, const B& emulated) {
    return naive != static_cast<A>(emulated) && ++differences_ < 12;
  }

  void compare() {
    inbox_.read();
    endpoint_inbox_.read();
    forward_.read();
    control_.read();
    const metro::Table& t = plan_.table();
    const u32 slot = naive_.now() & t.slot_mask;
    for (u32 n = 0; n < naive_.routers().size(); ++n) {
      NaiveRouter& r = naive_.routers()[n];
      const auto name = [&] { return "\n  " + plan_.router_name(n) + " "; };
      u32 used = 0;
      for (u32 q = 0; q < r.backward; ++q) used |= u32{r.used[q]} << q;
      if (differ(used, control_(n, 0).used)) text_ << name() << "uses " << control_(n, 0).used << ", not " << used;
      for (u32 p = 0; p < r.end.size(); ++p) {
        const u32 flat = p < r.forward ? p : t.inputs + p - r.forward;
        const Word expected = r.end[p].in ? r.end[p].in->words.front() : 0,
                   arriving = inbox_(n, slot * t.ports() + flat);
        if (differ(expected, arriving))
          text_ << name() << plan_.port_name(flat) << " reads " << described_word(arriving) << ", not "
                << described_word(expected);
        if (p >= r.forward) continue;
        const metro::ForwardPort& f = forward_(n, p);
        if (differ(r.port[p].state, f.state))
          text_ << name() << plan_.port_name(flat) << " is in state " << u32(f.state) << ", not "
                << u32(r.port[p].state);
        const bool open = f.state == PortState::kForward || f.state == PortState::kReverse;
        if (open && differ(r.port[p].out, f.out))
          text_ << name() << plan_.port_name(flat) << " goes to " << u32(f.out) << ", not " << r.port[p].out;
      }
    }
    for (u32 n = 0; n < naive_.endpoints().size(); ++n)
      for (u32 l = 0; l < 2 * t.links; ++l)
        for (u32 s = 0; s < t.slices; ++s) {
          const NaiveEnd& end = naive_.endpoints()[n].link[l][s];
          const Word expected = end.in ? end.in->words.front() : 0,
                     arriving = endpoint_inbox_(n, (slot * 2 * t.links + l) * t.slices + s);
          if (differ(expected, arriving))
            text_ << "\n  endpoint " << n << "'s link " << l << " of " << s << " brings " << described_word(arriving)
                  << ", not " << described_word(expected);
        }
    const auto total = [&](TotalIndex first, u32 i, const char* name) {
      const u64 counted = net_.engine->counters(0).total[first.value + i];
      if (differ(naive_.total(first, i), counted))
        text_ << "\n  " << name << " " << i << ": " << counted << ", not " << naive_.total(first, i);
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
  Fields<Word> inbox_, endpoint_inbox_;
  Fields<metro::ForwardPort> forward_;
  Fields<metro::RouterControl> control_;
  u32 differences_ = 0;
  std::ostringstream text_;
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
