#pragma once
/// A small METRO network whose words a test can read and overwrite.
#include <string>
#include <utility>
#include <vector>

#include "host/routers/metro/plan.hpp"
#include "host/routers/metro/registers.hpp"
#include "tests/support/build.hpp"
#include "tests/support/fields.hpp"
#include "tests/support/temporary.hpp"

namespace flitlab::testing {

/// A METRO network with a single message: endpoint `source` sends `words` words to `destination`, created in cycle
/// `start`. By default the network has the routers of Figure 3, two stages and 16 endpoints.
class MetroNet {
 public:
  explicit MetroNet(RawConfig changes = {}, u32 source = 0, u32 destination = 5, u32 start = 10, u32 words = 20)
      : trace_(std::to_string(start) + "," + std::to_string(source) + "," + std::to_string(destination) + "," +
               std::to_string(words) + "\n"),
        source_(source),
        start_(start) {
    changes.merge(Settings("router.kind=metro traffic.mode=trace traffic.trace_file=", trace_.path));
    net_ = std::make_unique<Network>(experiment(changes));
  }

  const MetroPlan& plan() const { return dynamic_cast<const MetroPlan&>(*net_->plan); }
  const metro::Table& table() const { return plan().table(); }
  const MetroNetwork& network() const { return plan().network(); }
  Engine& engine() { return *net_->engine; }
  u32 now() const { return net_->engine->now(); }
  void step(u32 cycles = 1) { net_->step(cycles); }
  u64 total(TotalIndex t) { return net_->total(t); }
  u64 total(TotalIndex first, u32 i) { return net_->engine->counters(0).total[first.value + i]; }
  void check() { check_conservation(*net_->engine, *net_->plan, 0); }

  template <class T>
  std::vector<T> field(u32 kind, const char* name) const {
    return testing::field<T>(*net_, kind, name);
  }
  template <class T>
  void set_field(u32 kind, const char* name, const std::vector<T>& all) {
    net_->engine->set_field(0, kind, net_->plan->layout().kinds[kind].field(name), all.data());
  }

  /// Reads or writes the word that a port of a router (flat number) will read in the next cycle.
  metro::Word at_router(u32 router, u32 port) const { return field<metro::Word>(0, "mail")[router_slot(router, port)]; }
  void put_at_router(u32 router, u32 port, metro::Word word) {
    auto inbox = field<metro::Word>(0, "mail");
    inbox[router_slot(router, port)] = word;
    set_field(0, "mail", inbox);
  }
  /// Reads or writes the word that an endpoint's link will read in the next cycle. Leaving links are numbered first.
  metro::Word at_endpoint(u32 terminal, u32 link, u32 slice = 0) const {
    const metro::Table& t = table();
    return field<metro::Word>(
        1,
        "mail")[((std::size_t{terminal} * (t.slot_mask + 1) + (now() & t.slot_mask)) * 2 * t.links + link) * t.slices +
                slice];
  }
  metro::ForwardPort forward(u32 router, u32 port) const {
    return field<metro::ForwardPort>(0, "forward")[router * table().inputs + port];
  }
  metro::Source source() const { return field<metro::Source>(1, "source")[source_]; }
  u32 start() const { return start_; }

 private:
  std::size_t router_slot(u32 router, u32 port) const {
    const metro::Table& t = table();
    return (std::size_t{router} * (t.slot_mask + 1) + (now() & t.slot_mask)) * t.ports() + port;
  }

  TextFile trace_;
  u32 source_, start_;
  std::unique_ptr<Network> net_;
};

}  // namespace flitlab::testing
