#include <algorithm>
#include <bit>
#include <charconv>
#include <map>

#include "host/config/check.hpp"
#include "host/config/field_file.hpp"
#include "host/config/value.hpp"
#include "host/routers/metro/network.hpp"
#include "kernels/common/error.hpp"
#include "kernels/routers/metro/params.hpp"

namespace flitlab {
namespace {

/// One end of a wire, as the file names it: e3.0 (endpoint 3, link 0), NAME.1 (forward port 1) or NAME.2.1 (direction
/// 2, number 1 of its equivalent backward ports).
struct End {
  bool endpoint = false;
  u32 item = 0;
  u32 port = 0;
};

struct Line {
  End from, to;
  u32 delay, line;
  std::string text;
};

class Reader {
 public:
  Reader(const TextSource& text, u32 delay, u32 entry)
      : file_(metro::param::topology.file.path, text), delay_(delay), entry_(entry) {}

  MetroNetwork read() {
    while (file_.next()) {
      if (file_.field(0) == "router")
        router();
      else if (file_.field(0) == "wire")
        wire();
      else
        unknown();
    }
    if (n_.setup.empty()) file_.fail("the file has no line " + std::string(kRouterForm) + ".");
    n_.wires.resize(std::size_t{n_.routers()} * n_.ports());
    for (const Pending& p : pending_)
      lines_.push_back({from_end(p), to_end(p), p.delay, p.line, p.from + " to " + p.to});
    if (n_.terminals < 2) file_.fail("the network needs two endpoints or more, as in wire,e0.0,NAME.0.");
    n_.endpoint_wires.resize(std::size_t{n_.terminals} * 2 * n_.links);
    for (const Line& l : lines_) join(l);
    check_all_used();
    return std::move(n_);
  }

 private:
  static constexpr const char* kRouterForm = "router,NAME,forward ports,radix,dilation";
  static constexpr const char* kWireForm = "wire,FROM,TO[,delay]";

  struct Pending {
    u32 line;
    std::string from, to;
    u32 delay;  ///< delay of the wire; kNone: the line does not give it
  };

  u32 power_of_two(u32 field, const char* name, u32 least, u32 most) {
    const u32 value = file_.number(field, name, most);
    if (value < least || !std::has_single_bit(value))
      file_.fail(std::string(name) + " = " + std::to_string(value) + " must be a power of two from " +
                 std::to_string(least) + " to " + std::to_string(most) + ".");
    return value;
  }

  [[noreturn]] void unknown() const {
    const std::string word(file_.field(0));
    file_.fail("unknown kind of line " + shown(Value{word}) + did_you_mean(nearest(word, {"router", "wire"})) +
               " A line is " + kRouterForm + " or " + kWireForm + ".");
  }

  void router() {
    file_.check_form(kRouterForm);
    const std::string name(file_.field(1));
    if (name.empty() || name.find('.') != std::string::npos || is_endpoint(name))
      file_.fail("a router's name has no dots and is not an endpoint's name (e and a number).");
    const u32 forward = power_of_two(2, "forward ports", 1, metro::kMaxPorts);
    const u32 radix = power_of_two(3, "radix", 2, metro::kMaxPorts);
    const u32 dilation = power_of_two(4, "dilation", 1, metro::kMaxPorts);
    if (radix * dilation > metro::kMaxPorts)
      file_.fail("radix times dilation makes " + std::to_string(radix * dilation) + " backward ports; at most " +
                 std::to_string(metro::kMaxPorts) + " are possible.");
    if (!names_.emplace(name, n_.routers()).second) file_.fail("router " + shown(Value{name}) + " is there twice.");
    n_.setup.push_back({static_cast<u8>(forward),
                        static_cast<u8>(radix * dilation),
                        static_cast<u8>(std::bit_width(radix) - 1),
                        static_cast<u8>(std::bit_width(dilation) - 1),
                        0,
                        0,
                        {},
                        0,
                        0});
    n_.names.push_back(name);
    n_.inputs = std::max(n_.inputs, forward);
    n_.outputs = std::max(n_.outputs, radix * dilation);
  }

  void wire() {
    file_.check_form(kWireForm);
    const u32 delay = file_.fields() > 3 ? file_.number(3, "delay", 15) : kNone;
    pending_.push_back({file_.line(), std::string(file_.field(1)), std::string(file_.field(2)), delay});
  }

  static bool number(std::string_view text, u32& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size();
  }
  static bool is_endpoint(std::string_view name) {
    u32 unused;
    return name.size() > 1 && name[0] == 'e' && number(name.substr(1), unused);
  }

  [[noreturn]] void fail_end(const Pending& p, const std::string& end, const std::string& what) {
    file_.fail(p.line, "\"" + end + "\": " + what);
  }

  /// Splits the name of an end at its dots. Returns the name, and the numbers after it.
  std::pair<std::string, std::vector<u32>> parts(const Pending& p, const std::string& end) {
    std::vector<u32> numbers;
    std::size_t dot = end.find('.');
    const std::string name = end.substr(0, dot);
    while (dot != std::string::npos) {
      const std::size_t next = end.find('.', dot + 1);
      u32 value = 0;
      if (!number(std::string_view(end).substr(dot + 1, next == std::string::npos ? next : next - dot - 1), value))
        fail_end(p, end, "a dot must be followed by a number.");
      numbers.push_back(value);
      dot = next;
    }
    return {name, numbers};
  }

  End endpoint_end(const Pending& p, const std::string& end, const std::string& name, const std::vector<u32>& numbers) {
    u32 item = 0;
    number(std::string_view(name).substr(1), item);
    if (numbers.size() != 1 || numbers[0] >= metro::kMaxLinks)
      fail_end(p, end,
               "an endpoint's end is e, its number, a dot and a link from 0 to " +
                   std::to_string(metro::kMaxLinks - 1) + ".");
    if (item >= 16384) fail_end(p, end, "endpoints are numbered from 0 to at most 16383.");
    n_.terminals = std::max(n_.terminals, item + 1);
    n_.links = std::max(n_.links, numbers[0] + 1);
    return {true, item, numbers[0]};
  }

  u32 router_of(const Pending& p, const std::string& end, const std::string& name) {
    const auto found = names_.find(name);
    if (found == names_.end()) fail_end(p, end, "there is no router of that name.");
    return found->second;
  }

  End from_end(const Pending& p) {
    const auto [name, numbers] = parts(p, p.from);
    if (is_endpoint(name)) return endpoint_end(p, p.from, name, numbers);
    const u32 r = router_of(p, p.from, name);
    const u32 radix = 1u << n_.setup[r].log_radix, dilation = 1u << n_.setup[r].log_dilation;
    if (numbers.size() != 2 || numbers[0] >= radix || numbers[1] >= dilation)
      fail_end(p, p.from,
               "a wire leaves router " + name + " in a direction from 0 to " + std::to_string(radix - 1) +
                   ", a dot, by one of its ports from 0 to " + std::to_string(dilation - 1) + ".");
    return {false, r, numbers[0] * dilation + numbers[1]};
  }

  End to_end(const Pending& p) {
    const auto [name, numbers] = parts(p, p.to);
    if (is_endpoint(name)) return endpoint_end(p, p.to, name, numbers);
    const u32 r = router_of(p, p.to, name);
    if (numbers.size() != 1 || numbers[0] >= n_.setup[r].forward)
      fail_end(p, p.to,
               "a wire reaches router " + name + " at a forward port from 0 to " +
                   std::to_string(n_.setup[r].forward - 1) + ".");
    return {false, r, numbers[0]};
  }

  void join(const Line& l) {
    if (l.from.endpoint && l.to.endpoint) file_.fail(l.line, "a wire must lead to or from a router.");
    const metro::Wire& from =
        l.from.endpoint ? n_.leaving(l.from.item, l.from.port) : n_.wire(l.from.item, n_.inputs + l.from.port);
    const metro::Wire& to = l.to.endpoint ? n_.entering(l.to.item, l.to.port) : n_.wire(l.to.item, l.to.port);
    if (from.item != kNone) file_.fail(l.line, l.text + ": the first end has a wire already.");
    if (to.item != kNone) file_.fail(l.line, l.text + ": the second end has a wire already.");
    const u32 delay = l.delay != kNone ? l.delay : l.from.endpoint ? entry_ : delay_;
    if (l.from.endpoint)
      n_.join_entry(l.from.item, l.from.port, l.to.item, l.to.port, delay);
    else if (l.to.endpoint)
      n_.join_exit(l.from.item, l.from.port, l.to.item, l.to.port, delay);
    else
      n_.join(l.from.item, l.from.port, l.to.item, l.to.port, delay);
  }

  void check_all_used() {
    const auto dangling = [](const std::string& what) {
      throw ConfigError("topology.file: " + what + " is dangling: it has no wire. Add a line wire,FROM,TO for it.");
    };
    for (u32 r = 0; r < n_.routers(); ++r) {
      for (u32 p = 0; p < n_.setup[r].forward; ++p)
        if (n_.wire(r, p).item == kNone) dangling("forward port " + n_.names[r] + "." + std::to_string(p));
      const u32 dilation = 1u << n_.setup[r].log_dilation;
      for (u32 q = 0; q < n_.setup[r].backward; ++q)
        if (n_.wire(r, n_.inputs + q).item == kNone)
          dangling("backward port " + n_.names[r] + "." + std::to_string(q / dilation) + "." +
                   std::to_string(q % dilation));
    }
    for (u32 t = 0; t < n_.terminals; ++t) {
      bool leaves = false, enters = false;
      for (u32 l = 0; l < n_.links; ++l) {
        leaves = leaves || n_.leaving(t, l).item != kNone;
        enters = enters || n_.entering(t, l).item != kNone;
      }
      if (!leaves || !enters)
        throw ConfigError("topology.file: endpoint e" + std::to_string(t) + " has no wire " +
                          (leaves ? "out of" : "into") + " the network. Endpoints are numbered without gaps.");
    }
  }

  FieldFile file_;
  u32 delay_, entry_;
  MetroNetwork n_;
  std::map<std::string, u32> names_;
  std::vector<Pending> pending_;
  std::vector<Line> lines_;
};

}  // namespace

MetroNetwork read_metro_network(const TextSource& text, u32 delay, u32 entry_delay) {
  return Reader(text, delay, entry_delay).read();
}

}  // namespace flitlab
