#pragma once
/// Lines of timing cases (tests/support/timing_case.hpp) that compare a network with expected values.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "host/run/stepped.hpp"
#include "tests/support/expression.hpp"
#include "tests/support/timing_case.hpp"

namespace flitlab::testing {

inline const std::vector<std::string> kEventVerbs{"created",    "injected", "arrived",  "routed",
                                                  "vc_granted", "sent",     "delivered"};

class TimingChecks {
 public:
  TimingChecks(SteppedNetwork& net, const Variables& variables) : net_(net), variables_(variables) {}

  /// `total NAME=VALUE...`
  void total(const TimingLine& line, const std::string& rest) {
    const std::map<std::string, u64> totals = net_.totals();
    std::istringstream words(filled_in(rest, variables_));
    for (std::string word; words >> word;) {
      const std::string name = word.substr(0, word.find('='));
      const std::string is = totals.contains(name) ? std::to_string(totals.at(name)) : "no such total";
      EXPECT_EQ(is, std::to_string(value(word.substr(name.size() + 1)))) << name << ", " << where(line);
    }
  }

  /// `state KIND @ITEM FIELD.MEMBER = VALUE`: a number of the state, as net.inspect shows it.
  void state(const TimingLine& line, const std::string& left, const std::string& right) {
    std::istringstream words(left);
    std::string kind, item, path;
    words >> kind >> item >> path;
    InspectNode node = net_.item(kind, static_cast<u32>(value(item.substr(1))));
    const std::vector<std::string> names = parts_of(filled_in(path, variables_), '.');
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
  void port(const TimingLine& line, const std::string& left, const std::string& right) {
    std::istringstream words(left);
    std::string place, port, field;
    words >> place >> port >> field;
    const std::vector<std::string> vc = parts_of(port, '.');
    const auto number = [&](const std::string& text) { return static_cast<u32>(value(text)); };
    const VcSnapshot s = net_.ports(number(place.substr(1))).at(number(vc.at(0))).vcs.at(number(vc.at(1)));
    const std::map<std::string, u32> fields{{"credits", s.credits}, {"src", s.src},
                                            {"id", s.id},           {"out_port", s.out_port},
                                            {"out_vc", s.out_vc},   {"owner_port", s.owner_port}};
    if (field == "stage")
      EXPECT_EQ(s.stage, right) << where(line);
    else
      expect(line, std::to_string(fields.at(field)), right);
  }

  /// `EVENT [heads] [#PACKET] [@PLACE] [PORT.VC>PORT.VC] in CYCLES`, or `... are PACKETS`, or `... once`
  void events(const TimingLine& line, const std::string& verb, const std::string& filters_and_list) {
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
    for (TimedEvent& e : net_.take_events()) events_.push_back(e);
    std::vector<std::int64_t> measured;
    for (const TimedEvent& e : events_)
      if (std::all_of(filters.begin(), filters.end(), [&](const auto& fits) { return fits(e); }))
        measured.push_back(packets ? e.event.id : static_cast<std::int64_t>(e.cycle));
    if (once) {
      EXPECT_EQ(measured.size(), 1u) << where(line);
    } else {
      const std::vector<std::int64_t> expected = list_of(rest.substr(in + (packets ? 5 : 4)), variables_);
      EXPECT_EQ(measured, expected) << where(line);
    }
  }

  void expect(const TimingLine& line, const std::string& measured, const std::string& expected) const {
    EXPECT_EQ(measured, std::to_string(value(expected))) << where(line);
  }

 private:
  std::int64_t value(const std::string& text) const { return value_of(text, variables_); }
  std::string where(const TimingLine& line) const {
    std::string text = "line " + std::to_string(line.number) + ": " + line.text;
    for (const auto& [name, is] : variables_) text += "\n  " + name + " = " + is;
    return text + "\n  before cycle " + std::to_string(net_.cycle());
  }

  SteppedNetwork& net_;
  const Variables& variables_;
  std::vector<TimedEvent> events_;
};

}  // namespace flitlab::testing
