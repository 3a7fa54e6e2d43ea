#pragma once
/// Values of parameters, before and after they are checked against the parameters' records.
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace flitlab {

using IntList = std::vector<std::int64_t>;
/// Packet lengths in flits, each with its weight.
using Lengths = std::vector<std::pair<std::int64_t, double>>;

using NumberList = std::vector<double>;
/// Words as the user gives them; a checked value has them in one text (ParamType::kChoiceList).
using WordList = std::vector<std::string>;

using Value = std::variant<bool, std::int64_t, double, std::string, IntList, Lengths, NumberList, WordList>;

/// The user's configuration: values by dotted path.
using RawConfig = std::map<std::string, Value>;

/// Returns a value as TOML text on one line. Strings are escaped, so that different values have different texts.
std::string to_text(const Value& value);

/// Returns a value for a message: the same text as to_text(), but of a long text the middle is omitted.
std::string shown(const Value& value);

}  // namespace flitlab
