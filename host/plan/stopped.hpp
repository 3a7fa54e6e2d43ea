#pragma once
/// Text about units of a model that have stopped, as one line.
#include <string>
#include <vector>

namespace flitlab {

struct StoppedUnit {
  std::string name;
  std::string waits_for;  ///< clause that says what the unit waits for: "PE 3 waits for ..."
};

/// Returns "" if no unit has stopped. Otherwise returns a line with the names of the units, and what each of the first
/// few waits for. `kind`: kind of the units, for example "barrier unit".
std::string describe_stopped(const std::string& kind, const std::vector<StoppedUnit>& units);

}  // namespace flitlab
