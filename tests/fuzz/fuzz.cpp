/// The entry point of libFuzzer. The environment variable FLITLAB_FUZZ_INPUT names the form of input.
#include <cstdlib>

#include "tests/fuzz/inputs.hpp"

namespace {

const flitlab::fuzz::Input& chosen() {
  const char* name = std::getenv("FLITLAB_FUZZ_INPUT");
  for (const flitlab::fuzz::Input& input : flitlab::fuzz::inputs())
    if (name && input.name == name) return input;
  std::fputs("FLITLAB_FUZZ_INPUT must be one of:", stderr);
  for (const flitlab::fuzz::Input& input : flitlab::fuzz::inputs()) std::fprintf(stderr, " %s", input.name.c_str());
  std::fputs("\n", stderr);
  std::exit(2);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const flitlab::fuzz::Input& input = chosen();
  flitlab::fuzz::judge(input, {reinterpret_cast<const char*>(data), size});
  return 0;
}
