#pragma once
/// Runs timing cases (tests/support/timing_case.hpp).
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <list>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "host/run/stepped.hpp"
#include "tests/support/build.hpp"
#include "tests/support/expression.hpp"
#include "tests/support/temporary.hpp"
#include "tests/support/timing_case.hpp"
#include "tests/support/timing_checks.hpp"

namespace flitlab::testing {

/// One run of a case, with one combination of the values of its variables. A traced network does not use all forms of a
/// router's phases, so events are traced only if the case has lines for them, and the final state is then compared with
/// that of a network without a trace.
class TimingRun {
 public:
  TimingRun(const TimingCase& c, Variables variables) : variables_(std::move(variables)) {
    for (const TimingLine& line : c.lines)
      for (const std::string& verb : kEventVerbs) trace_ = trace_ || line.text.starts_with(verb + " ");
  }

  void execute(const TimingLine& line) {
    std::string text = line.text;
    const std::size_t loop = text.find(" for ");  // "... for NAME in FIRST..LAST"
    if (loop == std::string::npos) return execute(line, text);
    std::istringstream words(text.substr(loop + 5));
    std::string name, in, range;
    words >> name >> in >> range;
    text.resize(loop);
    const std::size_t dots = range.find("..");
    for (std::int64_t n = value(range.substr(0, dots)); n <= value(range.substr(dots + 2)); ++n) {
      variables_[name] = std::to_string(n);
      execute(line, text);
    }
    variables_.erase(name);
  }
  /// Returns whether the case omits this combination of values.
  bool skipped() const { return skipped_; }
  /// Checks the state of the network after the last line.
  void finish() {
    if (skipped_) return;
    EXPECT_GT(expectations_, 0u) << "the case expects nothing";
    net().check();
    const SteppedNetwork& other = untraced_ ? *untraced_ : *net_;
    EXPECT_EQ(other.state_hash(), net_->state_hash()) << "of a network without a trace";
  }

 private:
  struct Packet {
    std::int64_t cycle;
    std::string line;
  };

  std::int64_t value(const std::string& text) const { return value_of(text, variables_); }

  /// Executes a line without its loop. In most lines `;` separates repetitions: "delivered #0 in 15; #1 in 19".
  void execute(const TimingLine& line, const std::string& text) {
    std::istringstream words(text);
    std::string verb, rest;
    words >> verb;
    std::getline(words >> std::ws, rest);
    if (skipped_) return;
    if (verb == "skip") {
      skipped_ = value(rest);
    } else if (verb == "set") {
      settings_ += " " + filled_in(rest, variables_);
    } else if (verb == "file") {
      write_file(rest);
    } else {
      for (const std::string& part : parts_of(rest, ';')) {
        const std::size_t begin = part.find_first_not_of(' ');
        if (begin == std::string::npos) throw std::runtime_error("nothing follows: " + line.text);
        execute(line, verb, part.substr(begin));
      }
    }
  }
  void execute(const TimingLine& line, const std::string& verb, const std::string& rest) {
    const std::size_t equals = rest.find(" = ");
    const std::string left = rest.substr(0, equals), right = equals == std::string::npos ? "" : rest.substr(equals + 3);
    if (verb == "let") {
      variables_[left] = std::to_string(value(right));
    } else if (verb == "send") {
      send(rest);
    } else if (verb == "run") {
      const bool to = rest.starts_with("to ");
      const std::int64_t cycles = value(rest.substr(to ? 3 : 0)) - (to ? static_cast<std::int64_t>(net().cycle()) : 0);
      if (cycles < 0) throw std::runtime_error("the cycle is over: " + rest);
      step(static_cast<u64>(cycles));
    } else if (++expectations_; verb == "total") {
      checks().total(line, rest);
    } else if (verb == "write" || verb == "read") {
      access(line, verb == "write", left, right);
    } else if (verb == "port" || verb == "state") {  // now, or after each cycle until a given one
      const std::size_t until = right.find(" until ");
      const std::string expected = right.substr(0, until);
      const auto compare = [&] {
        verb == "port" ? checks().port(line, left, expected) : checks().state(line, left, expected);
      };
      if (until == std::string::npos) return compare();
      const u64 end = static_cast<u64>(value(right.substr(until + 7)));
      if (end < net().cycle()) throw std::runtime_error("the cycle is over: " + right);
      for (; net().cycle() <= end && !::testing::Test::HasFailure(); compare()) step(1);
    } else {
      checks().events(line, verb, rest);
    }
  }

  /// `file NAME LINE...`: {NAME} is the path of a file with these lines.
  void write_file(const std::string& rest) {
    std::istringstream words(rest);
    std::string name, line, text;
    words >> name;
    while (words >> line) text += filled_in(line, variables_) + "\n";
    variables_[name] = files_.emplace_back(text).path;
  }

  /// `send CYCLE SOURCE>DESTINATION FLITS [x COUNT]`
  void send(const std::string& rest) {
    std::istringstream words(rest);
    std::string cycle, ends, flits, by, count = "1";
    words >> cycle >> ends >> flits >> by >> count;
    const std::vector<std::string> end = parts_of(ends, '>');
    std::string line;
    for (const std::string& part : {cycle, end.at(0), end.at(1), flits})
      line += (line.empty() ? "" : ",") + std::to_string(value(part));
    for (std::int64_t n = by.empty() ? 1 : value(count); n > 0; --n) packets_.push_back({value(cycle), line});
  }

  SteppedNetwork& net() {
    if (net_) return *net_;
    if (!packets_.empty()) {
      std::stable_sort(packets_.begin(), packets_.end(),
                       [](const Packet& a, const Packet& b) { return a.cycle < b.cycle; });
      std::string text;
      for (const Packet& p : packets_) text += p.line + "\n";
      settings_ += " traffic.mode=trace traffic.trace_file=" + files_.emplace_back(text).path;
    }
    const Experiment e = Experiment::resolve(Settings(settings_), ".");
    net_ = std::make_unique<SteppedNetwork>(e, "cpu", 1, trace_);
    if (trace_) untraced_ = std::make_unique<SteppedNetwork>(e, "cpu", 1, false);
    checks_.emplace(*net_, variables_);
    return *net_;
  }
  TimingChecks& checks() {
    net();
    return *checks_;
  }
  void step(u64 cycles) {
    net().step(cycles);
    if (untraced_) untraced_->step(cycles);
  }

  /// `write REGISTER @ROUTER = VALUE`, or `|VALUE` to set bits, where `now` is its value before; `read REGISTER @ROUTER
  /// = VALUE`
  void access(const TimingLine& line, bool write, const std::string& left, const std::string& right) {
    const std::vector<std::string> at = parts_of(filled_in(left, variables_), '@');
    std::string name = at.at(0);
    name.resize(name.find_last_not_of(' ') + 1);
    const u64 router = static_cast<u64>(value(at.at(1)));
    const auto now = [&] {
      return std::get<u64>(net().call("read_register", {{"node", router}, {"name", name}}).value);
    };
    if (!write) return checks().expect(line, std::to_string(now()), right);
    const bool sets = right.starts_with('|');
    variables_["now"] = std::to_string(now());
    const u64 bits = static_cast<u64>(value(right.substr(sets))) | (sets ? now() : 0);
    variables_.erase("now");
    for (SteppedNetwork* net : {net_.get(), untraced_.get()})
      if (net) net->call("write_register", {{"node", router}, {"name", name}, {"value", bits}});
  }

  Variables variables_;
  bool trace_ = false;
  u32 expectations_ = 0;  ///< lines that compare, or that access a register
  bool skipped_ = false;
  std::string settings_;
  std::list<TextFile> files_;
  std::vector<Packet> packets_;
  std::unique_ptr<SteppedNetwork> net_, untraced_;
  std::optional<TimingChecks> checks_;
};

/// Runs a case from a line on, once for each combination of the values in its `each` lines:
/// `each NAME... | VALUE... | VALUE...`, or `each NAME | FIRST..LAST`. Returns the number of combinations that the case
/// does not skip.
inline u32 run_combinations(const TimingCase& c, const Variables& given, std::size_t done) {
  const auto is_each = [](const TimingLine& l) { return l.text.find_first_not_of(' ') == l.text.find("each "); };
  const auto line = std::find_if(c.lines.begin() + static_cast<std::ptrdiff_t>(done), c.lines.end(), is_each);
  if (line == c.lines.end()) {
    TimingRun run(c, given);
    for (const TimingLine& l : c.lines)
      if (!is_each(l) && !::testing::Test::HasFailure()) run.execute(l);
    if (!::testing::Test::HasFailure()) run.finish();
    return !run.skipped();
  }
  const auto words_of = [](const std::string& text) {
    std::istringstream words(text);
    return std::vector<std::string>(std::istream_iterator<std::string>(words), {});
  };
  const std::size_t next = static_cast<std::size_t>(line - c.lines.begin()) + 1;
  const std::vector<std::string> columns = parts_of(line->text, '|');
  const std::vector<std::string> names = words_of(columns[0]);  // the first word is "each"
  u32 runs = 0;
  for (std::size_t row = 1; row < columns.size(); ++row) {
    Variables variables = given;
    const std::size_t dots = columns[row].find("..");
    if (dots == std::string::npos) {
      const std::vector<std::string> values = words_of(columns[row]);
      if (values.size() + 1 != names.size()) throw std::runtime_error("wrong number of values: " + line->text);
      for (std::size_t i = 0; i < values.size(); ++i) variables[names[i + 1]] = values[i];
      runs += run_combinations(c, variables, next);
    } else {
      const std::int64_t last = value_of(columns[row].substr(dots + 2), given);
      for (std::int64_t n = value_of(columns[row].substr(0, dots), given); n <= last; ++n) {
        variables[names.at(1)] = std::to_string(n);
        runs += run_combinations(c, variables, next);
      }
    }
  }
  return runs;
}

inline void run_case(const TimingCase& c) {
  EXPECT_GT(run_combinations(c, {}, 0), 0u) << "the case skips every combination";
}

}  // namespace flitlab::testing
