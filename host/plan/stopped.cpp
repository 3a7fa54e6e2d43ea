#include "host/plan/stopped.hpp"

namespace flitlab {

std::string describe_stopped(const std::string& kind, const std::vector<StoppedUnit>& units) {
  constexpr std::size_t kNamed = 32, kDetailed = 4;
  if (units.empty()) return "";
  std::string text = std::to_string(units.size()) + " " + kind + (units.size() > 1 ? "s have" : " has") + " stopped (";
  for (std::size_t i = 0; i < units.size() && i < kNamed; ++i) text += (i ? ", " : "") + units[i].name;
  text += units.size() > kNamed ? ", ...): " : "): ";
  for (std::size_t i = 0; i < units.size() && i < kDetailed; ++i)
    text += (i ? "; " : "") + kind + " " + units[i].name + ": " + units[i].waits_for;
  return text + (units.size() > kDetailed ? "; ..." : ".");
}

}  // namespace flitlab
