#pragma once
/// Small networks for tests.
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "host/config/experiment.hpp"
#include "host/plan/plan.hpp"
#include "host/run/advance.hpp"
#include "host/run/run.hpp"
#include "tests/support/settings.hpp"

namespace flitlab::testing {

/// Returns an experiment on a 4x4 torus (a T3E of 4x4x2 nodes, a METRO network of 16 endpoints, a switch of 8 ports).
/// `changes` replace defaults.
inline Experiment experiment(const RawConfig& changes = {}) {
  RawConfig raw{{"topology.shape", IntList{4, 4}}};
  if (const auto kind = changes.find("router.kind"); kind != changes.end() && kind->second == Value{std::string("t3e")})
    raw["topology.shape"] = IntList{4, 4, 2};
  if (const auto kind = changes.find("router.kind");
      kind != changes.end() &&
      (kind->second == Value{std::string("metro")} || kind->second == Value{std::string("switch")}))
    raw.erase("topology.shape");
  static const std::set<std::string> kOfShape{
      "mesh", "torus", "ring", "chiplet_mesh", "chiplet_torus", "hyperx", "flattened_butterfly"};
  if (const auto kind = changes.find("topology.kind");
      kind != changes.end() && !kOfShape.contains(std::get<std::string>(kind->second)))
    raw.erase("topology.shape");
  for (const auto& [path, value] : changes) raw[path] = value;
  return Experiment::resolve(raw, ".");
}
template <class... Parts>
Experiment experiment(const char* text, const Parts&... parts) {
  return experiment(Settings(text, parts...));
}

/// Returns a derived number, as `flitlab inspect` prints it; -1 if there is none of that name.
inline double derived(const Experiment& e, const std::string& name) {
  for (const auto& [key, value] : make_plan(e)->derived())
    if (key == name) return value;
  return -1;
}

/// Returns how many of `all` random cases to run: a fifth if a sanitizer makes each case several times slower.
constexpr u32 trials(u32 all) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return (all + 4) / 5;
#else
  return all;
#endif
}

/// Width of the memory layout of GPUs (items stored side by side). It is 1 in builds with sanitizers, which have no
/// engine for that layout.
#ifdef FLITLAB_WIDE
inline constexpr u32 kWide = 32;
#else
inline constexpr u32 kWide = 1;
#endif

inline std::int64_t integer(std::int64_t x) { return x; }
inline Value word(const char* text) { return std::string(text); }

/// One replica of an experiment with its engine, by default on the CPU.
struct Network {
  explicit Network(const Experiment& e, EngineChoice choice = {"cpu", 1, false, 1})
      : plan(make_plan(e)), engine(plan->make_engine({e}, choice)), feeds(make_feeds({e}, *plan)), skips(e, *plan) {}

  void step(u32 cycles) {
    const u32 only[] = {0};
    flitlab::advance(*engine, *plan, feeds, skips, cycles, only);
  }
  u64 total(TotalIndex t) { return engine->counters(0).total[t.value]; }

  std::unique_ptr<Plan> plan;
  std::unique_ptr<Engine> engine;
  Feeds feeds;
  Skips skips;
};

}  // namespace flitlab::testing
