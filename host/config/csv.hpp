#pragma once
/// Lines of numbers from a CSV file.
#include <functional>
#include <string>
#include <vector>

namespace flitlab {

/// Calls `line(numbers, line_number)` for every line that is not empty and not a '#' comment. Throws ConfigError
/// naming `key`, the file and the line if the file cannot be read or a field is not a number.
void read_csv(std::string_view key, const std::string& path,
              const std::function<void(const std::vector<double>&, std::size_t)>& line);

}  // namespace flitlab
