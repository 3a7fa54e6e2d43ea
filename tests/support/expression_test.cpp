/// Expressions of timing cases, and texts and lists with expressions.
#include "tests/support/expression.hpp"

#include <gtest/gtest.h>

namespace flitlab::support_expression_test {
namespace {

using namespace testing;

const Variables kVariables{{"n", "3"}, {"word", "mesh"}, {"sum", "n + 1"}};

std::int64_t value(std::string_view text) { return value_of(text, kVariables); }

TEST(Expression, HasTheOperatorsOfC) {
  for (const auto& [text, expected] : std::vector<std::pair<std::string, std::int64_t>>{
           {"2+3*4", 14},   {"(2+3)*4", 20}, {"20-3-4", 13},     {"24/4/2", 3},    {"17%5*2", 4},
           {"-2*3", -6},    {"2 - -3", 5},   {"1<<2+1", 8},      {"1<<2<9", 1},    {"2<3==1", 1},
           {"3>=3", 1},     {"3>3", 0},      {"2<=1", 0},        {"4!=4", 0},      {"1==2||1==1", 1},
           {"0||1&&0", 0},  {"1||0&&0", 1},  {"1&&2", 1},        {"0x10", 16},     {"true+false", 1},
           {"max(2,7)", 7}, {"min(2,7)", 2}, {"if(1<2,5,6)", 5}, {"if(0,5,6)", 6}, {"max(1,min(9,4))", 4},
           {"n*2", 6},      {"sum*2", 8},    {" n ", 3}})
    EXPECT_EQ(value(text), expected) << text;
}

TEST(Expression, WithAFaultIsRejected) {
  for (const char* text : {"", " ", "1+", "*2", "(1", "1)", "1 2", "m", "word", "1/0", "1%0", "max(1)", "max(1,2,3)",
                           "if(1,2)", "sin(1,2)", "max(1,2", "1=2", "1..2", "$"})
    EXPECT_THROW(value(text), std::runtime_error) << text;
}

TEST(FilledIn, ReplacesExpressionsAndTextsOfVariables) {
  EXPECT_EQ(filled_in("kind={word} vcs={n} x={n*2}{n}", kVariables), "kind=mesh vcs=3 x=63");
  EXPECT_THROW(filled_in("{word+1}", kVariables), std::runtime_error);
}

TEST(PartsOf, AreSeparatedOutsideOfParentheses) {
  using Texts = std::vector<std::string>;
  EXPECT_EQ(parts_of("max(1,2),3,", ','), (Texts{"max(1,2)", "3", ""}));
  EXPECT_EQ(parts_of("", ','), (Texts{""}));
}

TEST(ListOf, HasNumbersAndSeries) {
  using Numbers = std::vector<std::int64_t>;
  EXPECT_EQ(list_of("never", kVariables), Numbers{});
  EXPECT_EQ(list_of("5, n, max(1,2)", kVariables), (Numbers{5, 3, 2}));
  EXPECT_EQ(list_of("5:n,1:2:10,9:0", kVariables), (Numbers{5, 6, 7, 1, 11}));
}

}  // namespace
}  // namespace flitlab::support_expression_test
