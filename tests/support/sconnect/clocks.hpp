#pragma once
/// Fabrics with emulated clocks, and random numbers for them.
#include <algorithm>
#include <cmath>
#include <string>

#include "host/routers/sconnect/control.hpp"
#include "host/routers/sconnect/plan.hpp"
#include "kernels/common/philox.hpp"
#include "tests/support/build.hpp"
#include "tests/support/sconnect/naive_clocks.hpp"

namespace flitlab::testing::sconnect_clocks {

inline RawConfig clocks(RawConfig changes) {
  changes.merge(Settings("router.kind=sconnect clock.emulated=true"));
  if (!changes.contains("traffic.mode")) changes["traffic.load"] = 0.0;
  return changes;
}

/// Returns the experiment without the default shape of other models' tests.
inline Experiment resolved(const RawConfig& changes) { return Experiment::resolve(clocks(changes), "."); }

struct Clocks : Network {
  explicit Clocks(const Experiment& e) : Network(e), fabric(dynamic_cast<SconnectPlan&>(*plan).fabric()) {}

  u64 get(u32 tic, const std::string& name) const { return sconnect_register(*engine, table(), tic, name); }
  u64 get(u32 tic, const char* name, u32 port) const { return get(tic, name + ("." + std::to_string(port))); }
  double rad(u32 tic, const std::string& name) const { return radians(get(tic, name)); }
  void set(u32 tic, const std::string& name, u64 value) { set_sconnect_register(*engine, table(), tic, name, value); }
  const sconnect::Table& table() const { return dynamic_cast<const SconnectPlan&>(*plan).table(); }

  /// Returns the largest minus the smallest frequency, in ppm, of all TICs except `without`.
  double spread(u32 without = kNone) const {
    double least = INFINITY, most = -INFINITY;
    for (u32 tic = 0; tic < fabric.tics; ++tic) {
      if (tic == without) continue;
      least = std::min(least, rad(tic, "clock_rate"));
      most = std::max(most, rad(tic, "clock_rate"));
    }
    return (most - least) / (12e-6 * kPi);
  }

  const SconnectFabric& fabric;
};

struct Draw {
  u32 seed;
  u32 n = 0;
  u32 next() { return philox(seed, 0x5C, 0, n++).word[0]; }
  u32 below(u32 most) { return next() % most; }
  double between(double a, double b) { return a + (b - a) * unit_interval(next()); }
};

}  // namespace flitlab::testing::sconnect_clocks
