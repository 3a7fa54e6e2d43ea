#pragma once
/// Values of parameters, before and after the check against their records.
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace flitlab {

using IntList = std::vector<std::int64_t>;
/// Packet lengths in flits, with their weights.
using Lengths = std::vector<std::pair<std::int64_t, double>>;

using Value = std::variant<bool, std::int64_t, double, std::string, IntList, Lengths>;

/// The user's configuration: dotted path -> value.
using RawConfig = std::map<std::string, Value>;

/// Returns a value as it is written in TOML, on one line. Strings are escaped, so that different values give different
/// texts.
std::string to_text(const Value& value);

/// Returns a value for a message: as to_text(), without the middle of a long text.
std::string shown(const Value& value);

}  // namespace flitlab
