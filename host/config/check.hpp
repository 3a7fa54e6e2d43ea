#pragma once
/// Checks of single values against their record, and the wording of what is wrong.
#include <string>
#include <string_view>
#include <vector>

#include "host/config/value.hpp"
#include "kernels/common/param.hpp"

namespace flitlab {

/// The words of a '|'-separated list.
std::vector<std::string> split_words(std::string_view words, char separator = '|');

/// Words with commas between them.
std::string listed(const std::vector<std::string>& words);

/// The candidate that a word probably means, whatever the case of its letters; "" if none is near. A candidate is near
/// if the edit distance is at most a third of the word's length, or if one of the two begins with the other, which has
/// three letters or more. Of dotted paths the last names are compared; a wrong section counts as one slip more.
std::string nearest(const std::string& word, const std::vector<std::string>& candidates);

/// The end of a message about an unknown word: `: did you mean BEST?`, or `.` if `best` is "".
std::string did_you_mean(const std::string& best);

/// The default of a record as a value of its type.
Value default_value(const ParamRecord& record);

/// The value in the record's own type (an integer given for a float becomes one). Throws ConfigError for a wrong
/// type, a value out of range, or a word that is not a choice.
Value check_value(const ParamRecord& record, const Value& value);

/// ConfigError for a key that no record of router kind `kind` has: names the kind it belongs to, or the nearest key.
[[noreturn]] void unknown_key(const std::string& path, const Value& value, std::string_view kind);

}  // namespace flitlab
