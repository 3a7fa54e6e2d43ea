/// METRO against a second one (tests/support/metro/naive.hpp): every word on every wire must agree in every cycle, what
/// every port does, and the totals, whatever the parameters and whatever breaks.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "kernels/common/error.hpp"
#include "kernels/routers/metro/totals.hpp"
#include "tests/support/bgl/random.hpp"
#include "tests/support/metro/naive.hpp"

namespace flitlab::metro_naive_test {
namespace {

using testing::experiment;
using testing::integer;
using testing::NaiveEnd;
using testing::NaiveEndpoint;
using testing::NaiveFault;
using testing::NaiveMetro;
using testing::NaivePort;
using testing::NaiveRouter;
using testing::Network;
using testing::payload_of;
using testing::PortState;
using testing::TextFile;
using testing::Word;
using testing::word;

constexpr std::pair<TotalIndex, const char*> kCompared[] = {{Total::kPacketsCreated, "created"},
                                                            {metro::Count::kAttempts, "attempts"},
                                                            {metro::Count::kAccepted, "accepted"},
                                                            {metro::Count::kDuplicates, "duplicates"},
                                                            {metro::Count::kAcceptedWrong, "accepted wrong"},
                                                            {Total::kPacketsDelivered, "delivered"},
                                                            {Total::kLatencySum, "latency"},
                                                            {metro::Count::kRefused, "refused"},
                                                            {metro::Count::kShut, "shut"},
                                                            {Total::kPacketsDropped, "given up"},
                                                            {metro::Count::kReplyWords, "words of replies"}};
constexpr std::pair<TotalIndex, const char*> kComparedByStage[] = {
    {metro::Count::kBlocked, "blocked"}, {metro::Count::kLost, "lost"}, {metro::Count::kDamaged, "damaged"}};

/// A field of all items.
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

/// Runs both side by side until they disagree.
class Comparison {
 public:
  Comparison(const RawConfig& config, std::vector<NaiveFault> faults)
      : config_(config),
        e_(experiment(config)),
        net_(e_),
        plan_(dynamic_cast<const MetroPlan&>(*net_.plan)),
        naive_(e_, plan_, net_.engine->row(0), std::move(faults)),
        mail_(net_, 0, "mail"),
        endpoint_mail_(net_, 1, "mail"),
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
    // What is taken though it is damaged may pass for another message.
    if (naive_.total(metro::Count::kAcceptedWrong) == 0) check_conservation(*net_.engine, *net_.plan, 0);
  }

 private:
  template <class A, class B>
  bool differ(const A& naive, const B& emulated) {
    return naive != static_cast<A>(emulated) && ++differences_ < 12;
  }

  void compare() {
    mail_.read();
    endpoint_mail_.read();
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
        const Word expected = r.end[p].in ? r.end[p].in->words.front() : 0, comes = mail_(n, slot * t.ports() + flat);
        if (differ(expected, comes))
          text_ << name() << plan_.port_name(flat) << " hears " << described_word(comes) << ", not "
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
                     comes = endpoint_mail_(n, (slot * 2 * t.links + l) * t.slices + s);
          if (differ(expected, comes))
            text_ << "\n  endpoint " << n << "'s link " << l << " of " << s << " brings " << described_word(comes)
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
  Fields<Word> mail_, endpoint_mail_;
  Fields<metro::ForwardPort> forward_;
  Fields<metro::RouterControl> control_;
  u32 differences_ = 0;
  std::ostringstream text_;
};

/// Four endpoints, two stages, and no two wires alike: the name of its file.
std::string uneven_network(testing::BglDraw& draw) {
  std::ostringstream text;
  const auto wire = [&](const std::string& from, const std::string& to) {
    text << "wire," << from << "," << to << "," << draw.below(5) << "\n";
  };
  for (u32 r = 0; r < 2; ++r) text << "router,a" << r << ",4,2,2\n";
  for (u32 r = 0; r < 4; ++r) text << "router,b" << r << ",2,2,1\n";
  const auto place = [](const char* name, u32 number, u32 port) {
    return name + std::to_string(number) + "." + std::to_string(port);
  };
  for (u32 e = 0; e < 4; ++e)
    for (u32 l = 0; l < 2; ++l) wire(place("e", e, l), place("a", l, e));
  for (u32 r = 0; r < 2; ++r)
    for (u32 q = 0; q < 4; ++q) wire(place("a", r, q / 2) + "." + std::to_string(q % 2), place("b", q, r));
  for (u32 r = 0; r < 4; ++r)
    for (u32 q = 0; q < 2; ++q) wire(place("b", r, q) + ".0", place("e", r / 2 * 2 + q, r % 2));
  const std::string path = testing::temporary("_network.csv");
  std::ofstream(path) << text.str();
  return path;
}

/// Any parameters that fit together.
RawConfig random_metro(u64 seed) {
  testing::BglDraw draw(seed);
  RawConfig c{{"router.kind", word("metro")}, {"run.seed", static_cast<std::int64_t>(seed)}};
  switch (draw.below(8)) {
    case 0:
      c["topology.radix"] = IntList{2, 2};
      c["topology.dilation"] = IntList{2, 1};
      break;
    case 1:
      c["topology.radix"] = IntList{2, 2, 4};
      c["topology.dilation"] = IntList{2, 2, 1};
      break;
    case 2:
      c["topology.radix"] = IntList{4, 2};
      c["topology.dilation"] = IntList{1, 2};
      break;
    case 3:
      c["topology.radix"] = IntList{8};
      c["topology.dilation"] = IntList{1};
      break;
    case 4:
      c["topology.radix"] = IntList{2, 2, 2};
      c["topology.dilation"] = IntList{4, 2, 1};
      c["topology.links"] = integer(4);
      break;
    case 5:
      c["topology.kind"] = word("fat_tree");
      c["topology.arity"] = integer(2);
      c["topology.ports"] = integer(4);
      c["topology.levels"] = integer(3);
      break;
    case 6:
      c["topology.kind"] = word("file");
      c["topology.file"] = uneven_network(draw);
      break;
    default: break;  // 4 x 4 endpoints
  }
  if (!c.contains("topology.file")) c["topology.wiring"] = word(draw.coin() ? "random" : "regular");
  c["topology.wire_delay"] = draw.one_of<std::int64_t>({0, 0, 1, 2, 3});
  c["topology.entry_delay"] = draw.one_of<std::int64_t>({0, 0, 1, 2});
  c["router.width"] = draw.one_of<std::int64_t>({3, 4, 4, 5, 8, 8, 9, 16});
  c["router.cascade"] = draw.one_of<std::int64_t>({1, 1, 2, 2, 3, 4});
  c["router.header_words"] = draw.one_of<std::int64_t>({0, 0, 0, 1, 2, 3});
  c["router.pipeline_stages"] = draw.one_of<std::int64_t>({1, 1, 2, 3});
  c["router.random_inputs"] = draw.between(1, 5);
  c["router.fast_reclaim"] = draw.below(3) != 0;
  if (c["router.fast_reclaim"] == Value{true} && draw.coin()) c["router.detailed_stages"] = IntList{0};
  if (draw.below(4) == 0) c["router.shared_random"] = false;
  if (draw.below(4) == 0) c["router.in_use_check"] = false;
  c["endpoint.checksum"] = draw.one_of({word("none"), word("crc8"), word("crc16"), word("crc32")});
  c["endpoint.retry"] = word(draw.coin() ? "immediate" : "backoff");
  if (c["endpoint.retry"] == word("backoff")) {
    c["endpoint.backoff_cycles"] = draw.one_of<std::int64_t>({1, 8, 20});
    c["endpoint.backoff_doublings"] = draw.between(0, 4);
  }
  c["endpoint.closed_by"] = word(draw.coin() ? "source" : "destination");
  if (draw.below(4) == 0) c["endpoint.most_attempts"] = draw.between(1, 4);
  c["traffic.load"] = draw.one_of({0.05, 0.2, 0.4, 0.8});
  const std::int64_t channel = std::get<std::int64_t>(c["router.width"]) * std::get<std::int64_t>(c["router.cascade"]);
  const std::int64_t least = (4 + channel - 1) / channel + (8 + channel - 1) / channel + (32 + channel - 1) / channel;
  const Lengths lengths{{least + draw.below(10), 1.0}, {least + draw.below(30), 2.0}};
  c["traffic.packet_flits"] = lengths;
  switch (draw.below(4)) {
    case 0:
      c["traffic.mode"] = word("request_reply");
      c["traffic.window"] = integer(1);
      c["traffic.reply_delay"] = draw.one_of<std::int64_t>({0, 1, 7});
      c["traffic.reply_flits"] = Lengths{{least + draw.below(10), 1.0}, {least + draw.below(30), 2.0}};
      break;
    case 1: c["endpoint.stalls"] = true; break;
    default: break;
  }
  return c;
}

/// Faults of all kinds while a network runs.
std::vector<NaiveFault> random_faults(const RawConfig& config, testing::BglDraw& draw, u32 cycles) {
  const Network net(experiment(config));
  const auto& plan = dynamic_cast<const MetroPlan&>(*net.plan);
  const MetroNetwork& n = plan.network();
  const auto some_port = [&](NaiveFault& f) {
    f.endpoint = draw.below(5) == 0;
    f.item = draw.below(f.endpoint ? n.terminals : n.routers());
    if (f.endpoint) {
      f.port = draw.below(n.links);
    } else {
      const metro::RouterSetup& setup = n.setup[f.item];
      f.port = draw.below(setup.forward + setup.backward);
    }
  };
  std::vector<NaiveFault> faults;
  const auto later = [&](NaiveFault f, const char* what) {
    f.what = what;
    f.cycle += draw.below(cycles / 2);
    faults.push_back(f);
  };
  for (u32 i = 0, count = 2 + draw.below(6); i < count; ++i) {
    NaiveFault f{draw.below(cycles * 3 / 4), "", false, 0, kNone, kNone, 0, 0};
    if (plan.table().slices > 1 && draw.coin()) f.slice = draw.below(plan.table().slices);
    switch (draw.below(6)) {
      case 5:
        f.what = "misallocate";
        f.item = draw.below(n.routers());
        f.part = draw.one_of({0.125, 0.5});
        break;
      case 0:
        f.what = "dead";
        f.item = draw.below(n.routers());
        later(f, "repair");
        break;
      case 1:
        f.what = "dead";
        some_port(f);
        later(f, "repair");
        break;
      case 2:
        f.what = draw.coin() ? "stuck0" : "stuck1";
        some_port(f);
        f.bit = draw.below(plan.table().width + 3);
        if (draw.coin()) later(f, "repair");
        break;
      case 3:
        f.what = "noise";
        some_port(f);
        f.part = draw.one_of({0.015625, 0.0625, 0.25});
        break;
      default:
        f.what = "off";
        some_port(f);
        later(f, "on");
        break;
    }
    faults.push_back(f);
  }
  std::stable_sort(faults.begin(), faults.end(), [](const auto& a, const auto& b) { return a.cycle < b.cycle; });
  return faults;
}

/// Lines of a fault file.
std::string written(const std::vector<NaiveFault>& faults, const MetroNetwork& n) {
  std::ostringstream text;
  for (const NaiveFault& f : faults) {
    text << f.cycle << "," << f.what << "," << (f.endpoint ? "e" + std::to_string(f.item) : n.names[f.item]);
    if (f.slice != kNone) text << ":" << f.slice;
    if (f.port != kNone) {
      const bool is_backward = !f.endpoint && f.port >= n.setup[f.item].forward;
      const u32 dilation = is_backward ? 1u << n.setup[f.item].log_dilation : 1;
      const u32 port = is_backward ? f.port - n.setup[f.item].forward : f.port;
      if (is_backward)
        text << "." << port / dilation << "." << port % dilation;
      else
        text << "." << port;
    }
    if (f.what.starts_with("stuck")) text << "," << f.bit;
    if (f.what == "noise" || f.what == "misallocate") text << "," << f.part;
    text << "\n";
  }
  return text.str();
}

constexpr u32 kCycles = 1500;

class MetroNaive : public ::testing::TestWithParam<u32> {};

TEST_P(MetroNaive, AgreesWhateverTheParameters) { Comparison(random_metro(GetParam()), {}).run(kCycles); }

TEST_P(MetroNaive, AgreesWhateverBreaks) {
  RawConfig config = random_metro(1000 + GetParam());
  testing::BglDraw draw(GetParam());
  std::vector<NaiveFault> faults = random_faults(config, draw, kCycles);
  const Network whole(experiment(config));
  const MetroNetwork& network = dynamic_cast<const MetroPlan&>(*whole.plan).network();
  for (;;) {
    const TextFile file(written(faults, network));
    config["faults.file"] = file.path;
    const auto allowed = [&] {
      try {
        Network(experiment(config));
      } catch (const ConfigError&) {  // nobody may be cut off
        return false;
      }
      return true;
    };
    if (!allowed()) {
      faults.pop_back();
      continue;
    }
    SCOPED_TRACE(written(faults, network));
    Comparison(config, faults).run(kCycles);
    return;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, MetroNaive, ::testing::Range(0u, 40u));
// In which a source gives up while the destination answers, and a header breaks off in words that are no data.
INSTANTIATE_TEST_SUITE_P(Rare, MetroNaive, ::testing::Values(46u, 56u, 177u, 447u));

}  // namespace
}  // namespace flitlab::metro_naive_test
