#include "host/sconnect/clocks.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "host/config/experiment.hpp"
#include "host/error.hpp"
#include "host/field_file.hpp"
#include "kernels/common/philox.hpp"
#include "kernels/common/streams.hpp"

namespace flitlab {
namespace {

sconnect::i64 fixed(double radians) { return std::llround(radians * static_cast<double>(sconnect::kRadian)); }

double number(const FieldFile& file, u32 field, const char* name) {
  const std::string text(file.field(field));
  std::size_t used = 0;
  double value = 0;
  try {
    value = std::stod(text, &used);
  } catch (const std::exception&) {
  }
  if (text.empty() || used != text.size() || !(std::abs(value) <= 1e6))
    file.fail(std::string(name) + " is a number of at most 1e6, and this is \"" + text + "\".");
  return value;
}

void read_file(const Experiment& e, const SconnectFabric& fabric, SconnectClocks& clocks) {
  FieldFile file("clock.file", e.text("clock.file"));
  std::set<std::string> seen;
  while (file.next()) {
    const std::string name(file.field(0));
    const auto found = std::find(fabric.names.begin(), fabric.names.end(), name);
    if (found == fabric.names.end())
      file.fail("there is no TIC \"" + name + "\"; the first is \"" + fabric.names.front() + "\", the last \"" +
                fabric.names.back() + "\".");
    if (!seen.insert(name).second) file.fail("TIC \"" + name + "\" has a line already.");
    if (file.fields() < 2 || file.fields() > 3) file.fail("a line is TIC,ppm or TIC,ppm,rad.");
    const std::size_t tic = static_cast<std::size_t>(found - fabric.names.begin());
    clocks.free[tic] = fixed(number(file, 1, "ppm") * kRadiansPerPpm);
    if (file.fields() == 3) clocks.phase[tic] = fixed(number(file, 2, "rad"));
  }
}

}  // namespace

void set_clocks(const Experiment& e, const SconnectFabric& fabric, SconnectClocks& clocks) {
  if (!e.flag("clock.emulated")) return;
  const u64 seed = e.u32_of("clock.seed");
  const double spread = e.f64("clock.spread") * kRadiansPerPpm, phases = e.f64("clock.phase_spread");
  for (u32 tic = 0; tic < fabric.tics; ++tic) {
    const Random4 r = philox(seed, stream::kSconnectClock, tic, 0);
    clocks.free.push_back(fixed((2 * unit_interval(r.word[0]) - 1) * spread));
    clocks.phase.push_back(fixed((2 * unit_interval(r.word[1]) - 1) * phases));
  }
  clocks.offset.assign(std::size_t{fabric.tics} * sconnect::kPorts, 0);
  const double cables = e.f64("clock.cable_spread");
  for (u32 tic = 0; tic < fabric.tics; ++tic) {
    for (u32 p = 0; p < sconnect::kSerial; ++p) {
      const sconnect::Link& link = fabric.link(tic, p);
      if (link.kind != sconnect::LinkKind::kSerial) continue;
      const bool mine = tic < link.far || (tic == link.far && p < link.port);
      const u32 end = mine ? tic * sconnect::kPorts + p : link.far * sconnect::kPorts + link.port;
      const Random4 r = philox(seed, stream::kSconnectClock, end, 1);
      clocks.offset[tic * sconnect::kPorts + p] = fixed((2 * unit_interval(r.word[0]) - 1) * cables);
    }
  }
  if (!e.str("clock.file").empty()) read_file(e, fabric, clocks);
  sconnect::ClockTable& t = clocks.table;
  t.gain = fixed(e.f64("clock.gain"));
  t.range = fixed(e.f64("clock.range") / 2);
  t.knee = std::min(fixed(e.f64("clock.knee")), t.range);
  t.outer_gain = std::llround(e.f64("clock.outer_gain") * 256);
  t.tuning = fixed(e.f64("clock.tuning") * kRadiansPerPpm);
  t.slot = fixed(2 * 3.14159265358979323846);
  t.sums = e.str("clock.detector") == "sum";
  t.free = clocks.free.data();
  t.phase = clocks.phase.data();
  t.offset = clocks.offset.data();
}

}  // namespace flitlab
