#pragma once
/// The order in which a terminal creates the packets of a trace (traffic.trace_order). The default depends on the
/// format of the file, which is recognised by its first bytes.
#include <istream>
#include <string>

#include "host/config/experiment.hpp"

namespace flitlab {

/// Returns the first bytes of a file, at most 4, and goes back to where the stream was.
std::string first_bytes(std::istream& file);
/// Returns whether a file that begins with these bytes is a trace of Netrace.
bool is_netrace(const std::string& first_bytes);
/// Returns whether the packets of an experiment's trace may overtake packets that wait. A file that cannot be read
/// counts as one in which they may not; opening it for the run reports it.
bool has_trace_window(const Experiment& experiment);

}  // namespace flitlab
