#pragma once
/// Reader of lines of numbers from CSV text.
#include <functional>
#include <string>
#include <vector>

#include "host/config/text_source.hpp"

namespace flitlab {

/// Calls `line(numbers, line_number)` for every line that is neither empty nor a '#' comment. Throws ConfigError if the
/// text cannot be read or a field is not a number. The message names `key` (the parameter), the text and the line.
void read_csv(std::string_view key, const TextSource& text,
              const std::function<void(const std::vector<double>&, std::size_t)>& line);

}  // namespace flitlab
