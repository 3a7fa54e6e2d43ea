#pragma once
/// Formats the units of a model that have stopped as one line.
#include <string>
#include <vector>

namespace flitlab {

struct StoppedUnit {
  std::string name;
  std::string waits_for;  ///< a clause: "PE 3 waits for ..."
};

/// Returns "" if there are none; else a line with their names, and what each of the first few waits for. `kind`: for
/// example "barrier unit".
std::string describe_stopped(const std::string& kind, const std::vector<StoppedUnit>& units);

}  // namespace flitlab
