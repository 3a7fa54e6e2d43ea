#include "host/routers/sconnect/clocks.hpp"

#include <algorithm>
#include <cmath>

#include "host/config/experiment.hpp"
#include "host/config/field_file.hpp"
#include "kernels/common/error.hpp"
#include "kernels/common/philox.hpp"
#include "kernels/routers/sconnect/params.hpp"
#include "kernels/routers/sconnect/streams.hpp"

namespace flitlab {
namespace {

constexpr u32 kMostPpm = 100000, kMostRadians = 1000;  // limits of a line of clock.file

sconnect::i64 fixed(double radians) { return std::llround(radians * static_cast<double>(sconnect::kRadian)); }

double number(const FieldFile& file, u32 field, const char* name, u32 most) {
  const std::string text(file.field(field));
  std::size_t used = 0;
  double value = 0;
  try {
    value = std::stod(text, &used);
  } catch (const std::exception&) {
  }
  if (text.empty() || used != text.size() || !(std::abs(value) <= most))
    file.fail(std::string(name) + " must be a number from -" + std::to_string(most) + " to " + std::to_string(most) +
              ", not \"" + text + "\".");
  return value;
}

void read_file(const Experiment& e, const SconnectFabric& fabric, SconnectClocks& clocks) {
  FieldFile file(sconnect::param::clock.file.path, e.text(sconnect::param::clock.file));
  const std::vector<u32> oscillator = oscillators(fabric);
  std::vector<bool> seen(fabric.tics, false);
  while (file.next()) {
    const std::string name(file.field(0));
    const auto found = std::find(fabric.names.begin(), fabric.names.end(), name);
    if (found == fabric.names.end())
      file.fail("there is no TIC \"" + name + "\"; the first is \"" + fabric.names.front() + "\", the last \"" +
                fabric.names.back() + "\".");
    const u32 first_tic = oscillator[static_cast<std::size_t>(found - fabric.names.begin())];
    if (seen[first_tic]) file.fail("the oscillator of TIC \"" + name + "\" already has a line.");
    seen[first_tic] = true;
    if (file.fields() < 2 || file.fields() > 3) file.fail("a line is TIC,ppm or TIC,ppm,rad.");
    const double ppm = number(file, 1, "ppm", kMostPpm);
    for (u32 tic = first_tic; tic < fabric.tics; ++tic) {
      if (oscillator[tic] != first_tic) continue;
      clocks.free[tic] = fixed(ppm * kRadiansPerPpm);
      if (file.fields() == 3) clocks.phase[tic] = fixed(number(file, 2, "rad", kMostRadians));
    }
  }
}

}  // namespace

std::vector<u32> oscillators(const SconnectFabric& fabric) {
  std::vector<u32> first(fabric.tics);
  for (u32 tic = 0; tic < fabric.tics; ++tic) {
    first[tic] = tic;
    for (u32 p = sconnect::kSerial; p < sconnect::kPorts; ++p)
      if (fabric.link(tic, p).kind == sconnect::LinkKind::kParallel)
        first[tic] = std::min(first[tic], fabric.link(tic, p).far);
  }
  return first;
}

void set_clocks(const Experiment& e, const SconnectFabric& fabric, SconnectClocks& clocks) {
  if (!e.flag(sconnect::param::clock.emulated)) return;
  const u64 seed = e.u32_of(sconnect::param::clock.seed);
  const double spread = e.f64(sconnect::param::clock.spread) * kRadiansPerPpm,
               phases = e.f64(sconnect::param::clock.phase_spread);
  for (u32 oscillator : oscillators(fabric)) {
    const Random4 r = philox(seed, sconnect::stream::kClock, oscillator, 0);
    clocks.free.push_back(fixed((2 * unit_interval(r.word[0]) - 1) * spread));
    clocks.phase.push_back(fixed((2 * unit_interval(r.word[1]) - 1) * phases));
  }
  clocks.offset.assign(std::size_t{fabric.tics} * sconnect::kSerial, 0);
  const double cables = e.f64(sconnect::param::clock.cable_phase);
  for (u32 tic = 0; tic < fabric.tics; ++tic) {
    for (u32 p = 0; p < sconnect::kSerial; ++p) {
      const sconnect::Link& link = fabric.link(tic, p);
      if (link.kind != sconnect::LinkKind::kSerial) continue;
      const bool first_tic = tic < link.far || (tic == link.far && p < link.port);
      const u32 end = first_tic ? tic * sconnect::kPorts + p : link.far * sconnect::kPorts + link.port;
      const Random4 r = philox(seed, sconnect::stream::kClock, end, 1);
      clocks.offset[tic * sconnect::kSerial + p] = fixed(unit_interval(r.word[0]) * cables);
    }
  }
  if (!e.str(sconnect::param::clock.file).empty()) read_file(e, fabric, clocks);
  sconnect::ClockTable& t = clocks.table;
  t.gain = fixed(e.f64(sconnect::param::clock.gain));
  t.range = fixed(e.f64(sconnect::param::clock.range) / 2);
  t.knee = std::min(fixed(e.f64(sconnect::param::clock.knee)), t.range);
  t.outer_gain = std::llround(e.f64(sconnect::param::clock.outer_gain) * 256);
  t.tuning = fixed(e.f64(sconnect::param::clock.tuning) * kRadiansPerPpm);
  t.word = fixed(2 * 3.14159265358979323846);
  t.sums = e.is({sconnect::param::clock.detector, "sum"});
  t.free = clocks.free.data();
  t.phase = clocks.phase.data();
  t.offset = clocks.offset.data();
}

}  // namespace flitlab
