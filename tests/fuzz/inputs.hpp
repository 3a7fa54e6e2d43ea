#pragma once
/// Inputs of the fuzzers: every form of file that flitlab reads, values of configurations, and checkpoints.
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/config/value.hpp"
#include "kernels/common/param.hpp"

namespace flitlab::fuzz {

struct Input {
  std::string name;                             ///< name of the form, and of the folder of its corpus
  const ParamRecord* file;                      ///< parameter that names such a file; null: none
  std::function<void(std::string_view)> tries;  ///< reads the bytes, and steps the resulting network
};

/// Returns all forms of input.
const std::vector<Input>& inputs();

/// Reads an input. flitlab must accept it, or reject it in one line that names the error; any other outcome ends the
/// process with a message.
void judge(const Input& input, std::string_view bytes);

}  // namespace flitlab::fuzz
