#pragma once
/// Checks of single values against their records, and parts of the error messages.
#include <string>
#include <string_view>
#include <vector>

#include "host/config/value.hpp"
#include "kernels/common/param.hpp"

namespace flitlab {

/// Splits a list at its separators.
std::vector<std::string> split_words(std::string_view words, char separator = '|');

/// Joins words with commas.
std::string listed(const std::vector<std::string>& words);

/// Returns the candidate that is most similar to a word, or "" if no candidate is similar. Case is ignored. A candidate
/// is similar if its edit distance to the word is at most a third of the word's length (rounded up), or if one of the
/// two begins with the other, which has at least three letters. Of dotted paths, the last names are compared; a
/// different section adds 1 to the distance.
std::string nearest(const std::string& word, const std::vector<std::string>& candidates);

/// Returns the end of a message about an unknown word: `: did you mean BEST?`, or `.` if `best` is "".
std::string did_you_mean(const std::string& best);

/// Returns the default of a record as a value of its type.
Value default_value(const ParamRecord& record);

/// Returns a value converted to the type of a parameter; an integer for a float parameter becomes a float. Throws
/// ConfigError for a wrong type, a value out of range, or a string that is not one of the choices.
Value check_value(const ParamRecord& record, const Value& value);

/// Throws a ConfigError about a key that router kind `kind` does not have. The message names the router kinds that have
/// the key, or the most similar key.
[[noreturn]] void unknown_key(const std::string& path, const Value& value, std::string_view kind);

}  // namespace flitlab
