#include <algorithm>

#include "host/routers/bless/plan.hpp"

namespace flitlab {

std::vector<Bound> BlessPlan::bounds() const {
  const bless::Table& t = table_;
  const u64 addresses = *std::max_element(topology_.address.begin(), topology_.address.end()) + u64{1};
  std::vector<Bound> bounds{{"router.came", arrives_by(t.wired, t.channels)},
                            {"terminal.reassembly.open", at_most(t.reassembly_buffers)},
                            {"terminal.partial.src", below(t.terminals)}};
  for (const char* flits : {"router.mail", "terminal.sending"}) add_packet(bounds, flits, {addresses, t.terminals});
  add_source(bounds, t.traffic, t.mode, t.terminal_fields);
  bounds.push_back({"router.control.fault", at_most(0)});
  return bounds;
}

}  // namespace flitlab
