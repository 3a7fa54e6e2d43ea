/// Hand-derived cycles of all router models: the cases in <model>/timing.txt.
#include <gtest/gtest.h>

#include "host/config/registry.hpp"
#include "tests/support/timing_run.hpp"

namespace flitlab::routers_timing_test {
namespace {

using namespace testing;

const std::string kFolder = FLITLAB_CORPUS "/../../kernels/routers/";

std::vector<TimingCase> all_cases() {
  std::vector<TimingCase> all;
  for (const ModelRecord& model : models())
    for (TimingCase& c : timing_cases(std::string(model.kind), kFolder + std::string(model.kind) + "/timing.txt"))
      all.push_back(std::move(c));
  return all;
}

class Timing : public ::testing::TestWithParam<TimingCase> {};

TEST_P(Timing, IsAsDerived) {
  SCOPED_TRACE("case " + GetParam().name + " of " + GetParam().model + "/timing.txt\n" + GetParam().derivation);
  run_case(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Routers, Timing, ::testing::ValuesIn(all_cases()),
                         [](const auto& c) { return c.param.model + "_" + c.param.name; });

}  // namespace
}  // namespace flitlab::routers_timing_test
