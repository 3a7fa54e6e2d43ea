/// The reader of timing cases, and cases that must fail because they are wrong or compare nothing.
#include "tests/support/timing_case.hpp"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include "tests/support/timing_run.hpp"

namespace flitlab::support_timing_case_test {
namespace {

using namespace testing;

std::vector<TimingCase> cases_of(const std::string& text) { return timing_cases("vc", TextFile(text).path); }

/// Runs a case with these lines after the configuration of a mesh of 2x2 routers and one packet in cycle 10.
void run(const std::string& lines) {
  run_case(cases_of("set topology.kind=mesh topology.shape=[2,2]\ncase A\nsend 10 0>3 2\n" + lines).at(0));
}

TEST(TimingCases, HaveCommonLinesNumbersAndDerivations) {
  const std::vector<TimingCase> cases = cases_of(
      "# about the file\n\nset a=1\n# why\n# so\ncase First\nrun 1\n\n# lost\n\ncase Second\ntotal a=1 \\\n  b=2\nrun "
      "2");
  ASSERT_EQ(cases.size(), 2u);
  EXPECT_EQ(cases[0].name, "First");
  EXPECT_EQ(cases[0].derivation, "# why\n# so\n");
  EXPECT_EQ(cases[1].derivation, "");
  const auto lines = [](const TimingCase& c) {
    std::string text;
    for (const TimingLine& line : c.lines) text += std::to_string(line.number) + ": " + line.text + "; ";
    return text;
  };
  EXPECT_EQ(lines(cases[0]), "3: set a=1; 7: run 1; ");
  EXPECT_EQ(lines(cases[1]), "3: set a=1; 13: total a=1 b=2; 14: run 2; ");
}

TEST(TimingCases, OfAFileWithoutCasesFail) {
  const TextFile empty("# no case\n");
  for (const std::string& path : {empty.path, std::string("/no/such/file")}) {
    const std::vector<TimingCase> cases = timing_cases("vc", path);
    ASSERT_EQ(cases.size(), 1u);
    EXPECT_NONFATAL_FAILURE(run_case(cases[0]), "no_case_in:" + path);
  }
}

TEST(TimingCase, PassesIfTheNetworkAgrees) {
  run("run to 40\ncreated #0 @0 in 10\ninjected heads once\ndelivered are 0");
  run("each n | 1..3\nskip n==2\nrun 100\ntotal packets_delivered=1");
}

TEST(TimingCase, FailsIfTheNetworkDiffers) {
  EXPECT_NONFATAL_FAILURE(run("run 40\ncreated in 11"), "line 5: created in 11");
  EXPECT_NONFATAL_FAILURE(run("run 40\ncreated in never"), "created in never");
  EXPECT_NONFATAL_FAILURE(run("run 100\ntotal packets_delivered=2"), "packets_delivered");
  EXPECT_NONFATAL_FAILURE(run("run 100\ntotal no=2"), "no such total");
  EXPECT_NONFATAL_FAILURE(run("each n | 1..3\nrun 100\ntotal packets_delivered=if(n==2,0,1)"), "n = 2");
}

TEST(TimingCase, ThatComparesNothingFails) {
  EXPECT_NONFATAL_FAILURE(run("run 100"), "the case expects nothing");
  EXPECT_NONFATAL_FAILURE(run("each n | 1 | 2\nskip n>0\ntotal packets_delivered=9"), "skips every combination");
  EXPECT_THROW(run("total"), std::runtime_error);
  EXPECT_THROW(run("run 9\nport @0 0.0 credits = 0 until 5"), std::runtime_error);
}

TEST(TimingCase, WithAFaultIsRejected) {
  for (const char* lines :
       {"vanished in 3", "created 3", "created", "created ;", "run 9\nrun to 5", "each a b | 1\nrun 1",
        "set router.vcs={m}", "run 1+", "state router @0 no.such.field = 1", "let n = ", "total packets_delivered=m"})
    EXPECT_THROW(run(lines), std::runtime_error) << lines;
}

}  // namespace
}  // namespace flitlab::support_timing_case_test
