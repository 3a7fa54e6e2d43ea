#pragma once
/// Units of a model that have stopped, in one line.
#include <string>
#include <vector>

namespace flitlab {

struct StoppedUnit {
  std::string name;
  std::string waits_for;  ///< a clause: "PE 3 waits for ..."
};

/// "" if there are none; else a line that names them, and says of the first few what each waits for. `kind`: "barrier
/// unit".
std::string describe_stopped(const std::string& kind, const std::vector<StoppedUnit>& units);

}  // namespace flitlab
