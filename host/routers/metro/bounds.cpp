#include <algorithm>

#include "host/routers/metro/plan.hpp"

namespace flitlab {
namespace {

/// Returns a check of a channel word: its payload has at most `width` bits, and its kind is one of the possible kinds.
Check words_of_width(u32 width) {
  return [=](u64 word, u32, u32) {
    return metro::payload_of(static_cast<metro::Word>(word)) >> width == 0 && word >> metro::kWordBits == 0;
  };
}

u64 ports(u32 count) { return (u64{1} << count) - 1; }

}  // namespace

std::vector<Bound> MetroPlan::bounds() const {
  const metro::Table& t = table_;
  const Check word = words_of_width(t.width), inputs = subset(ports(t.inputs)), outputs = subset(ports(t.outputs));
  // Scan may change the dilation; radix times dilation is the router's number of backward ports.
  const Check log_of_outputs = [setup = t.setup, slices = t.slices](u64 log, u32 router, u32) {
    const metro::RouterSetup& built = setup[router / slices];
    return log <= u64{built.log_radix} + built.log_dilation;
  };
  std::vector<Bound> bounds{{"router.mail", word},
                            {"router.control.active", inputs},
                            {"router.control.used", outputs},
                            {"router.control.log_radix", log_of_outputs},
                            {"router.control.log_dilation", log_of_outputs},
                            {"router.forward.state", at_most(static_cast<u64>(metro::PortState::kDiscard))},
                            {"router.forward.out", below(t.outputs)},
                            {"router.forward.direction", below(t.outputs)},
                            {"router.wire.fault", at_most(static_cast<u64>(metro::WireFault::kNoise))},
                            {"router.wire.bit", below(metro::kWordBits)},
                            {"router.drive", word},
                            {"router.captured", word},
                            {"terminal.source.state", at_most(static_cast<u64>(metro::SourceState::kClosing))},
                            {"terminal.source.link", below(t.links)},
                            {"terminal.links_on", subset(ports(t.links))},
                            {"terminal.mail", word},
                            {"terminal.sink.state", at_most(static_cast<u64>(metro::SinkState::kTurned))},
                            {"terminal.sink.source", below(t.terminals)},
                            {"terminal.wire.fault", at_most(static_cast<u64>(metro::WireFault::kNoise))},
                            {"terminal.wire.bit", below(metro::kWordBits)}};
  bounds.push_back(record_bound<metro::Source>("terminal.source", [&t](const metro::Source& s, u32 item, u32) {
    if (s.destination >= t.terminals) return false;
    const u32 route = t.route_by_pair ? item * t.terminals + s.destination : s.destination;
    return s.header == 0 || s.header == t.header_start[route + 1] - t.header_start[route];
  }));
  add_source(bounds, t.traffic, t.mode, t.terminal_fields);
  bounds.push_back({"router.control.fault", at_most(0)});
  return bounds;
}

}  // namespace flitlab
