#include "host/routers/metro/fault_file.hpp"

#include <algorithm>
#include <map>

#include "host/config/check.hpp"
#include "host/config/cross_checks.hpp"
#include "host/config/field_file.hpp"
#include "host/config/value.hpp"
#include "kernels/common/error.hpp"
#include "kernels/common/portable.hpp"
#include "kernels/routers/metro/params.hpp"

namespace flitlab {
namespace {

using What = MetroFault::What;

/// Kinds of events, each with the fields that follow cycle and kind in a line.
constexpr std::pair<const char*, const char*> kForms[] = {
    {"dead", "ROUTER or PORT"}, {"repair", "ROUTER or PORT"},   {"stuck0", "PORT,bit"}, {"stuck1", "PORT,bit"},
    {"noise", "PORT,part"},     {"misallocate", "ROUTER,part"}, {"off", "PORT"},        {"on", "PORT"},
    {"tap", "ROUTER,number"}};

/// Reads a fault file.
class FaultReader {
 public:
  FaultReader(const Experiment& e, const MetroNetwork& n, u32 slices)
      : file_(metro::param::faults.file.path, e.text(metro::param::faults.file)),
        n_(n),
        slices_(slices),
        width_(e.u32_of(metro::param::router.width)),
        taps_(e.u32_of(metro::param::router.scan_paths)) {
    for (u32 r = 0; r < n.routers(); ++r) names_.emplace(n.names[r], r);
  }

  void read(MetroFaults& faults, MetroDead& dead) {
    while (file_.next()) {
      const std::string what(file_.field(1));
      check_form(what);
      MetroFault f;
      f.cycle = file_.number(0, "cycle", 4000000000u);
      if (what == "dead" || what == "repair") {
        read_location(true);
        if (port_ == kNone)
          for_slices([&](u32 router) { add(faults, f, What::kDeadRouter, router, 0, what == "dead"); });
        else
          wire_both_ways(faults, f, what == "dead" ? metro::WireFault::kDead : metro::WireFault::kNone);
        note(f.cycle, what == "dead", true);
      } else if (what == "stuck0" || what == "stuck1") {
        read_location(false);
        f.wire.fault = what == "stuck0" ? metro::WireFault::kStuckAt0 : metro::WireFault::kStuckAt1;
        const u32 bit = file_.number(3, "bit", width_ + metro::kKindBits - 1);
        f.wire.bit = static_cast<u8>(bit < width_ ? bit : metro::kKindShift + bit - width_);
        wire_one_way(faults, f);
      } else if (what == "noise") {
        read_location(false);
        f.wire.fault = metro::WireFault::kNoise;
        f.wire.noise = static_cast<u16>(std::min(part() * 65536, 65535.0));
        wire_one_way(faults, f);
      } else if (what == "misallocate") {
        read_location(true);
        if (port_ != kNone) file_.fail("name a router, not a port.");
        const double p = part();
        for_slices([&](u32 router) {
          add(faults, f, What::kMisallocation, router, 0, static_cast<u32>(std::min(p * 4294967296.0, 4294967295.0)));
        });
      } else if (what == "tap") {
        read_location(true);
        if (port_ != kNone) file_.fail("name a router, not a port.");
        const u32 tap = file_.number(3, "test access port", taps_ - 1);
        for_slices([&](u32 router) { add(faults, f, What::kTap, router, 0, tap); });
      } else {  // the kinds off and on
        read_location(false);
        for_slices([&](u32 router) { add(faults, f, What::kPort, router, port_, what == "on"); });
        note(f.cycle, what == "off", false);
      }
    }
    std::stable_sort(changes_.begin(), changes_.end(),
                     [](const Change& a, const Change& b) { return a.cycle < b.cycle; });
    for (const Change& c : changes_) (dead.*c.what)[c.index] = c.value;
  }

 private:
  void check_form(const std::string& what) const {
    std::vector<std::string> known;
    for (const auto& [name, fields] : kForms) {
      if (what == name) return file_.check_form("cycle," + what + "," + fields);
      known.emplace_back(name);
    }
    file_.fail("unknown event " + shown(Value{what}) + did_you_mean(nearest(what, known)) + " Events are " +
               listed(known) + ".");
  }

  double part() {
    const std::string_view text = file_.field(3);
    double x = 0;
    const auto [end, error] = portable::from_chars(text.data(), text.data() + text.size(), x);
    if (error != std::errc{} || end != text.data() + text.size() || !(x >= 0 && x <= 1))
      file_.fail("the last field must be a fraction from 0 to 1.");
    return x;
  }

  /// Reads the field `where`, which names a part: NAME, NAME.forward port or NAME.direction.port for a router or its
  /// port; the same with :slice for one slice; eN.link for the link of endpoint N.
  void read_location(bool router_allowed) {
    std::string text(file_.field(2));
    slice_ = kNone;
    if (const std::size_t colon = text.find(':'); colon != std::string::npos) {
      const std::size_t end = std::min(text.find('.', colon), text.size());
      slice_ = number(text.substr(colon + 1, end - colon - 1));
      if (slice_ >= slices_)
        file_.fail("with router.cascade = " + std::to_string(slices_) + ", cascaded routers are numbered 0 to " +
                   std::to_string(slices_ - 1) + ".");
      text.erase(colon, end - colon);
    }
    const std::size_t dot = names_.count(text) ? std::string::npos : first_dot(text);
    const std::string name = text.substr(0, dot);
    std::vector<u32> numbers;
    for (std::size_t at = dot; at != std::string::npos && at < text.size();) {
      const std::size_t next = text.find('.', at + 1);
      numbers.push_back(number(text.substr(at + 1, next == std::string::npos ? next : next - at - 1)));
      at = next;
    }
    port_ = kNone;
    endpoint_ = false;
    const auto found = names_.find(name);
    if (found != names_.end()) {
      item_ = found->second;
      const metro::RouterSetup& setup = n_.setup[item_];
      const u32 dilation = 1u << setup.log_dilation;
      if (numbers.size() == 1 && numbers[0] < setup.forward)
        port_ = numbers[0];
      else if (numbers.size() == 2 && numbers[0] < 1u << setup.log_radix && numbers[1] < dilation)
        port_ = n_.inputs + numbers[0] * dilation + numbers[1];
      else if (!numbers.empty())
        file_.fail("router " + shown(Value{name}) + " has no such port.");
    } else if (name.size() > 1 && name[0] == 'e' && numbers.size() == 1) {
      item_ = number(name.substr(1));
      endpoint_ = true;
      if (item_ >= n_.terminals || numbers[0] >= n_.links || n_.leaving(item_, numbers[0]).item == kNone)
        file_.fail("this endpoint or link does not exist.");
      port_ = numbers[0];
    } else {
      file_.fail("\"" + text + "\" is not a router, a port or an endpoint's link.");
    }
    if (!router_allowed && port_ == kNone) file_.fail("name a port, as in NAME.0 or NAME.1.0.");
  }

  /// Returns the position of the dot after the router's name. Names may contain dots, so the longest name that exists
  /// is taken.
  std::size_t first_dot(const std::string& text) const {
    for (std::size_t end = text.size(); end-- > 0;) {
      if (text[end] != '.') continue;
      if (names_.count(text.substr(0, end))) return end;
    }
    return text.find('.');
  }

  u32 number(const std::string& text) {
    u32 value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) file_.fail("\"" + text + "\" must be a number.");
    return value;
  }

  template <class F>
  void for_slices(F f) {
    for (u32 s = 0; s < slices_; ++s)
      if (slice_ == kNone || slice_ == s) f(endpoint_ ? item_ : item_ * slices_ + s);
  }

  void add(MetroFaults& faults, MetroFault f, What what, u32 item, u32 port, u32 value) {
    f.what = what;
    f.endpoint = endpoint_;
    f.item = item;
    f.port = port;
    f.value = value;
    faults.list.push_back(f);
  }

  void wire_one_way(MetroFaults& faults, MetroFault f) { wire_end(faults, f, endpoint_, item_, port_); }

  void wire_end(MetroFaults& faults, MetroFault f, bool endpoint, u32 item, u32 port) {
    faults.wires = true;
    f.what = What::kWire;
    f.endpoint = endpoint;
    for (u32 s = 0; s < slices_; ++s) {
      if (slice_ != kNone && slice_ != s) continue;
      f.item = endpoint ? item : item * slices_ + s;
      f.port = endpoint ? port * slices_ + s : port;
      faults.list.push_back(f);
    }
  }

  void wire_both_ways(MetroFaults& faults, MetroFault f, metro::WireFault fault) {
    f.wire.fault = fault;
    wire_end(faults, f, endpoint_, item_, port_);
    const metro::Wire& far = endpoint_ ? n_.leaving(item_, port_) : n_.wire(item_, port_);
    if (far.item != kNone) wire_end(faults, f, far.to_endpoint, far.item, far.port);
  }

  /// Records that a part stops working (`off`), or works again.
  void note(u64 cycle, bool off, bool wire) {
    if (port_ == kNone) return changes_.push_back({cycle, &MetroDead::routers, item_, off});
    const auto ports = wire ? &MetroDead::wires : &MetroDead::ports_off;
    const metro::Wire& far = endpoint_ ? n_.leaving(item_, port_) : n_.wire(item_, port_);
    if (!endpoint_) changes_.push_back({cycle, ports, item_ * n_.ports() + port_, off});
    if (far.item != kNone && !far.to_endpoint)
      changes_.push_back({cycle, ports, far.item * n_.ports() + far.port, off});
  }

  struct Change {
    u64 cycle;
    std::vector<bool> MetroDead::* what;
    u32 index;
    bool value;
  };

  FieldFile file_;
  const MetroNetwork& n_;
  u32 slices_, width_, taps_;
  std::map<std::string, u32> names_;
  bool endpoint_ = false;
  u32 item_ = 0, port_ = kNone, slice_ = kNone;
  std::vector<Change> changes_;
};

}  // namespace

void read_metro_faults(const Experiment& e, const MetroNetwork& n, u32 slices, MetroFaults& faults, MetroDead& dead) {
  FaultReader(e, n, slices).read(faults, dead);
}

}  // namespace flitlab
