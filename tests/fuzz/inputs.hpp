#pragma once
/// What a fuzzer may feed with bytes: every form of file that flitlab reads, values of configurations, and checkpoints.
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
  std::string name;                             ///< of the form, and of the folder of its corpus
  const ParamRecord* file;                      ///< parameter that names such a file; null: none does
  std::function<void(std::string_view)> tries;  ///< reads the bytes, and steps the network that they make
};

/// All forms.
const std::vector<Input>& inputs();

/// Reads some bytes. They are taken, or refused in one line that names what is wrong; anything else ends the process
/// with a message.
void judge(const Input& input, std::string_view bytes);

}  // namespace flitlab::fuzz
