#pragma once
/// Cases of tests/kernels/routers/<model>/timing.txt: a configuration, packets, and the cycles of their events, derived
/// by hand. tests/kernels/routers/README.md describes the format.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <list>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "host/run/stepped.hpp"
#include "tests/support/build.hpp"
#include "tests/support/expression.hpp"
#include "tests/support/temporary.hpp"

namespace flitlab::testing {

struct TimingLine {
  u32 number;  ///< in its file, from 1
  std::string text;
};

struct TimingCase {
  std::string name, model, derivation;
  std::vector<TimingLine> lines;
  friend void PrintTo(const TimingCase& c, std::ostream* out) { *out << c.name; }
};

/// Returns the cases of a model's file. Lines before the first case belong to all cases.
inline std::vector<TimingCase> timing_cases(const std::string& model, const std::string& path) {
  std::ifstream file(path);
  std::vector<TimingCase> cases;
  TimingCase common;
  std::string comment, text;
  for (u32 number = 1; std::getline(file, text); ++number) {
    for (std::string more; text.ends_with('\\') && std::getline(file, more); ++number)  // the next line continues it
      text.replace(text.size() - 1, 1, more.substr(more.find_first_not_of(' ')));
    if (text.starts_with('#')) {
      comment += text + "\n";
    } else if (text.starts_with("case ")) {
      cases.push_back({text.substr(5), model, std::exchange(comment, ""), common.lines});
    } else if (text.find_first_not_of(' ') != std::string::npos) {
      (cases.empty() ? common : cases.back()).lines.push_back({number, text});
    } else {
      comment.clear();
    }
  }
  if (cases.empty()) cases.push_back({"None", model, "", {{0, "total no_case_in:" + path + "=1"}}});  // it fails
  return cases;
}

/// Returns the parts of a text between separators that are outside of parentheses.
inline std::vector<std::string> parts_of(const std::string& text, char separator) {
  std::vector<std::string> parts{""};
  int depth = 0;
  for (char c : text) {
    depth += (c == '(') - (c == ')');
    if (c == separator && depth == 0)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

inline const std::vector<std::string> kEventVerbs{"created",    "injected", "arrived",  "routed",
                                                  "vc_granted", "sent",     "delivered"};

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

  std::int64_t value(const std::string& text) const { return Expression(text, variables_).value(); }

  /// Replaces {expression} by its value, or by the variable's text if it is no number.
  std::string filled_in(std::string text) const {
    for (std::size_t open; (open = text.find('{')) != std::string::npos;) {
      const std::size_t close = text.find('}', open);
      const std::string inside = text.substr(open + 1, close - open - 1);
      const auto variable = variables_.find(inside);
      text.replace(open, close - open + 1,
                   variable != variables_.end() ? variable->second : std::to_string(value(inside)));
    }
    return text;
  }

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
      settings_ += " " + filled_in(rest);
    } else if (verb == "file") {
      write_file(rest);
    } else {
      for (std::string& part : parts_of(rest, ';')) execute(line, verb, part.substr(part.find_first_not_of(' ')));
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
      compare_totals(line, filled_in(rest));
    } else if (verb == "write" || verb == "read") {
      access(line, verb == "write", left, right);
    } else if (verb == "port" || verb == "state") {  // now, or after each cycle until a given one
      const std::size_t until = right.find(" until ");
      const std::string expected = right.substr(0, until);
      const auto compare = [&] {
        verb == "port" ? compare_port(line, left, expected) : compare_state(line, left, expected);
      };
      if (until == std::string::npos) return compare();
      const u64 end = static_cast<u64>(value(right.substr(until + 7)));
      if (end < net().cycle()) throw std::runtime_error("the cycle is over: " + right);
      for (; net().cycle() <= end && !::testing::Test::HasFailure(); compare()) step(1);
    } else {
      expect_events(line, verb, rest);
    }
  }

  /// `file NAME LINE...`: {NAME} is the path of a file with these lines.
  void write_file(const std::string& rest) {
    std::istringstream words(rest);
    std::string name, line, text;
    words >> name;
    while (words >> line) text += filled_in(line) + "\n";
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
    return *net_;
  }
  void step(u64 cycles) {
    net().step(cycles);
    if (untraced_) untraced_->step(cycles);
  }

  /// `write REGISTER @ROUTER = VALUE`, or `|VALUE` to set bits, where `now` is its value before; `read REGISTER @ROUTER
  /// = VALUE`
  void access(const TimingLine& line, bool write, const std::string& left, const std::string& right) {
    const std::vector<std::string> at = parts_of(filled_in(left), '@');
    std::string name = at.at(0);
    name.resize(name.find_last_not_of(' ') + 1);
    const u64 router = static_cast<u64>(value(at.at(1)));
    const auto now = [&] {
      return std::get<u64>(net().call("read_register", {{"node", router}, {"name", name}}).value);
    };
    if (!write) return expect(line, std::to_string(now()), right);
    const bool sets = right.starts_with('|');
    variables_["now"] = std::to_string(now());
    const u64 bits = static_cast<u64>(value(right.substr(sets))) | (sets ? now() : 0);
    variables_.erase("now");
    for (SteppedNetwork* net : {net_.get(), untraced_.get()})
      if (net) net->call("write_register", {{"node", router}, {"name", name}, {"value", bits}});
  }

  /// `total NAME=VALUE...`
  void compare_totals(const TimingLine& line, const std::string& rest) {
    const std::map<std::string, u64> totals = net().totals();
    std::istringstream words(rest);
    for (std::string word; words >> word;) {
      const std::string name = word.substr(0, word.find('='));
      const std::string is = totals.contains(name) ? std::to_string(totals.at(name)) : "no such total";
      EXPECT_EQ(is, std::to_string(value(word.substr(name.size() + 1)))) << name << ", " << where(line);
    }
  }

  /// `state KIND @ITEM FIELD.MEMBER = VALUE`: a number of the state, as net.inspect shows it.
  void compare_state(const TimingLine& line, const std::string& left, const std::string& right) {
    std::istringstream words(left);
    std::string kind, item, path;
    words >> kind >> item >> path;
    InspectNode node = net().item(kind, static_cast<u32>(value(item.substr(1))));
    const std::vector<std::string> names = parts_of(filled_in(path), '.');
    for (std::size_t n = 0; n + 1 < names.size(); ++n) {
      const auto part = std::find_if(node.parts.begin(), node.parts.end(), [&](const InspectNode& p) {
        return p.kind == names[n] && (p.name.empty() || p.name == names[n + 1]);
      });
      if (part == node.parts.end()) throw std::runtime_error("no such field: " + line.text);
      n += !part->name.empty();
      node = InspectNode(*part);
    }
    for (const InspectValue& v : node.values)
      if (v.name == names.back()) return expect(line, std::to_string(std::get<u64>(v.value.value)), right);
    throw std::runtime_error("no such field: " + line.text);
  }

  /// `port @ROUTER PORT.VC FIELD = VALUE [until CYCLE]`
  void compare_port(const TimingLine& line, const std::string& left, const std::string& right) {
    std::istringstream words(left);
    std::string place, port, field;
    words >> place >> port >> field;
    const std::vector<std::string> vc = parts_of(port, '.');
    const auto number = [&](const std::string& text) { return static_cast<u32>(value(text)); };
    const VcSnapshot s = net().ports(number(place.substr(1))).at(number(vc.at(0))).vcs.at(number(vc.at(1)));
    const std::map<std::string, u32> fields{{"credits", s.credits}, {"src", s.src},
                                            {"id", s.id},           {"out_port", s.out_port},
                                            {"out_vc", s.out_vc},   {"owner_port", s.owner_port}};
    if (field == "stage")
      EXPECT_EQ(s.stage, right) << where(line);
    else
      expect(line, std::to_string(fields.at(field)), right);
  }

  void expect(const TimingLine& line, const std::string& measured, const std::string& expected) {
    EXPECT_EQ(measured, std::to_string(value(expected))) << where(line);
  }
  std::string where(const TimingLine& line) const {
    std::string text = "line " + std::to_string(line.number) + ": " + line.text;
    for (const auto& [name, is] : variables_) text += "\n  " + name + " = " + is;
    return text + "\n  before cycle " + std::to_string(net_->cycle());
  }

  /// `EVENT [heads] [#PACKET] [@PLACE] [PORT.VC>PORT.VC] in CYCLES`, or `... are PACKETS`, or `... once`
  void expect_events(const TimingLine& line, const std::string& verb, const std::string& filters_and_list) {
    const std::string rest = " " + filters_and_list;
    const auto kind = std::find(kEventVerbs.begin(), kEventVerbs.end(), verb) - kEventVerbs.begin();
    const bool packets = rest.find(" are ") != std::string::npos, once = rest.ends_with(" once");
    const std::size_t in = rest.find(once ? " once" : packets ? " are " : " in ");
    if (kind == std::ssize(kEventVerbs) || in == std::string::npos)
      throw std::runtime_error("unknown line: " + line.text);
    std::istringstream words(rest.substr(0, in));
    std::vector<std::function<bool(const TimedEvent&)>> filters;
    filters.push_back([&](const TimedEvent& e) { return static_cast<int>(e.event.kind) == kind; });
    const auto filter = [&](const std::string& text, auto member) {
      if (!text.empty())
        filters.push_back(
            [member, wanted = value(text)](const TimedEvent& e) { return std::int64_t{member(e)} == wanted; });
    };
    for (std::string word; words >> word;) {
      if (word == "heads") {
        filters.push_back([](const TimedEvent& e) { return e.event.flit & kHeadFlit; });
      } else if (word[0] == '#') {
        filter(word.substr(1), [](const TimedEvent& e) { return e.event.id; });
      } else if (word[0] == '@') {
        filter(word.substr(1), [](const TimedEvent& e) { return e.index; });
      } else {
        const std::vector<std::string> ends = parts_of(word, '>'), from = parts_of(ends.at(0) + ".", '.'),
                                       to = parts_of(ends.at(1) + ".", '.');
        filter(from[0], [](const TimedEvent& e) { return e.event.port; });
        filter(from[1], [](const TimedEvent& e) { return e.event.vc; });
        filter(to[0], [](const TimedEvent& e) { return e.event.out_port; });
        filter(to[1], [](const TimedEvent& e) { return e.event.out_vc; });
      }
    }
    for (TimedEvent& e : net().take_events()) events_.push_back(e);
    std::vector<std::int64_t> measured;
    for (const TimedEvent& e : events_)
      if (std::all_of(filters.begin(), filters.end(), [&](const auto& fits) { return fits(e); }))
        measured.push_back(packets ? e.event.id : static_cast<std::int64_t>(e.cycle));
    if (once) {
      EXPECT_EQ(measured.size(), 1u) << where(line);
    } else {
      const std::vector<std::int64_t> expected = list_of(rest.substr(in + (packets ? 5 : 4)));
      EXPECT_EQ(measured, expected) << where(line);
    }
  }

  /// Returns the numbers of a list. An element is a number, FIRST:COUNT or FIRST:COUNT:STEP; `never`: none.
  std::vector<std::int64_t> list_of(const std::string& text) const {
    std::vector<std::int64_t> list;
    if (text == "never") return list;
    for (const std::string& element : parts_of(text, ',')) {
      const std::vector<std::string> parts = parts_of(element, ':');
      const std::int64_t count = parts.size() > 1 ? value(parts[1]) : 1, step = parts.size() > 2 ? value(parts[2]) : 1;
      for (std::int64_t n = 0; n < count; ++n) list.push_back(value(parts[0]) + n * step);
    }
    return list;
  }

  Variables variables_;
  bool trace_ = false;
  u32 expectations_ = 0;  ///< lines that compare, or that access a register
  bool skipped_ = false;  ///< this combination of values is none of the case
  std::string settings_;
  std::list<TextFile> files_;
  std::vector<Packet> packets_;
  std::unique_ptr<SteppedNetwork> net_, untraced_;
  std::vector<TimedEvent> events_;
};

/// Runs a case from a line on, once for each combination of the values in its `each` lines:
/// `each NAME... | VALUE... | VALUE...`, or `each NAME | FIRST..LAST`.
inline void run_case(const TimingCase& c, const Variables& given = {}, std::size_t done = 0) {
  const auto line =
      std::find_if(c.lines.begin() + static_cast<std::ptrdiff_t>(done), c.lines.end(),
                   [](const TimingLine& l) { return l.text.find_first_not_of(' ') == l.text.find("each "); });
  if (line == c.lines.end()) {
    TimingRun run(c, given);
    for (const TimingLine& l : c.lines)
      if (l.text.find_first_not_of(' ') != l.text.find("each ") && !::testing::Test::HasFailure()) run.execute(l);
    if (!::testing::Test::HasFailure()) run.finish();
    return;
  }
  const auto words_of = [](const std::string& text) {
    std::istringstream words(text);
    return std::vector<std::string>(std::istream_iterator<std::string>(words), {});
  };
  const std::size_t next = static_cast<std::size_t>(line - c.lines.begin()) + 1;
  const std::vector<std::string> columns = parts_of(line->text, '|');
  const std::vector<std::string> names = words_of(columns[0]);  // the first word is "each"
  for (std::size_t row = 1; row < columns.size(); ++row) {
    Variables variables = given;
    const std::size_t dots = columns[row].find("..");
    if (dots == std::string::npos) {
      const std::vector<std::string> values = words_of(columns[row]);
      if (values.size() + 1 != names.size()) throw std::runtime_error("wrong number of values: " + line->text);
      for (std::size_t i = 0; i < values.size(); ++i) variables[names[i + 1]] = values[i];
      run_case(c, variables, next);
    } else {
      const std::int64_t last = Expression(columns[row].substr(dots + 2), given).value();
      for (std::int64_t n = Expression(columns[row].substr(0, dots), given).value(); n <= last; ++n) {
        variables[names.at(1)] = std::to_string(n);
        run_case(c, variables, next);
      }
    }
  }
}

}  // namespace flitlab::testing
