#pragma once
/// Values as they come out of a TOML file, before and after they are checked against their parameter's record.
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace flitlab {

using IntList = std::vector<std::int64_t>;
/// Packet lengths with their weights.
using Lengths = std::vector<std::pair<std::int64_t, double>>;

using Value = std::variant<bool, std::int64_t, double, std::string, IntList, Lengths>;

/// What the user gave: dotted path -> value.
using RawConfig = std::map<std::string, Value>;

/// A value as it would be written in TOML, on one line: strings are escaped, so that different values differ.
std::string to_text(const Value& value);

/// A value for a message: as to_text(), with the middle of a long one left out.
std::string shown(const Value& value);

}  // namespace flitlab
