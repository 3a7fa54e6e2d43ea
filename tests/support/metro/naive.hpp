#pragma once
/// A second implementation of METRO, written from its description without the emulator's routers and endpoints. A wire
/// is a queue of words, a router is a set of ports, an endpoint is a message and the words of its links, and everything
/// is evaluated in every cycle. Random choices use the same keys as the emulator. The contents of data and the creation
/// times come from the emulator. Every word on every wire, the state of every port and the totals must agree. The
/// description leaves some cases open (connections that cascaded routers see differently, words made by faults). There
/// the second implementation guards the emulator's behaviour against change.
#include <utility>
#include <vector>

#include "kernels/routers/metro/params.hpp"
#include "tests/support/metro/metro.hpp"
#include "tests/support/metro/naive_endpoints.hpp"
#include "tests/support/metro/naive_headers.hpp"
#include "tests/support/metro/naive_routers.hpp"
#include "tests/support/metro/naive_wires.hpp"

namespace flitlab::testing {

struct NaiveFault {
  Cycle cycle;
  std::string what;
  bool endpoint;   // true: `item` is an endpoint, `port` a leaving link; false: a wide router and its flat port
  u32 item, port;  // port: kNone for the whole router
  u32 slice;       // kNone: all slices
  u32 bit;         // bit that is stuck
  double part;     // probability of noise or misallocation
};

class NaiveMetro {
 public:
  NaiveMetro(const Experiment& e, const MetroPlan& plan, const ReplicaRow& row, std::vector<NaiveFault> faults)
      : faults_(std::move(faults)),
        net_(plan.network()),
        common_{row, e.u32_of(metro::param::router.width), e.u32_of(metro::param::router.cascade),
                e.u32_of(metro::param::router.header_words), e.u32_of(metro::param::router.pipeline_stages)},
        wires_(common_),
        headers_(net_, common_,
                 e.has(metro::param::router.header_straddles) && e.flag(metro::param::router.header_straddles)),
        routers_(e, net_, headers_, common_),
        endpoints_(e, plan, headers_, common_) {
    join_all();
  }
  NaiveMetro(const NaiveMetro&) = delete;  // because its parts point to common_
  NaiveMetro& operator=(const NaiveMetro&) = delete;

  Cycle now() const { return common_.now; }
  u64 total(TotalIndex first, u32 i = 0) const { return common_.total[first.value + i]; }
  std::vector<NaiveRouter>& routers() { return routers_.all(); }
  std::vector<NaiveEndpoint>& endpoints() { return endpoints_.all(); }

  /// Applies the faults of the next cycle.
  void apply_faults() {
    for (const NaiveFault& f : faults_)
      if (f.cycle == common_.now) apply(f);
  }

  void step() {
    for_each_end([](NaiveEnd& end) { NaiveWires::read_wire(end); });
    endpoints_.cycle();
    routers_.cycle();
    for_each_end([&](NaiveEnd& end) { wires_.write_wire(end); });
    ++common_.now;
  }

 private:
  template <class F>
  void for_each_end(F f) {
    for (NaiveRouter& r : routers())
      for (NaiveEnd& end : r.end) f(end);
    for (NaiveEndpoint& e : endpoints())
      for (auto& link : e.link)
        for (NaiveEnd& end : link) f(end);
  }

  void join_all() {
    const u32 dp = common_.dp, slices = common_.slices;
    for (u32 r = 0; r < routers().size(); ++r) {
      NaiveRouter& a = routers()[r];
      for (u32 p = 0; p < a.end.size(); ++p) {
        const u32 flat = p < a.forward ? p : net_.inputs + p - a.forward;
        const metro::Wire& w = net_.wire(a.wide, flat);
        if (w.item == kNone) continue;
        const u32 me = r << 6 | flat;
        if (w.to_endpoint) {
          wires_.join(a.end[p], me, dp, endpoints()[w.item].link[w.port][a.slice],
                      1u << 31 | w.item << 6 | (w.port * slices + a.slice), 1, w.delay);
        } else if (p >= a.forward) {
          NaiveRouter& b = routers()[w.item * slices + a.slice];
          wires_.join(a.end[p], me, dp, b.end[w.port], (w.item * slices + a.slice) << 6 | w.port, dp, w.delay);
        }
      }
    }
  }

  void apply(const NaiveFault& f) {
    for (u32 s = 0; s < common_.slices; ++s) {
      if (f.slice != kNone && f.slice != s) continue;
      if (!f.endpoint && f.port == kNone) {
        NaiveRouter& r = routers()[f.item * common_.slices + s];
        if (f.what == "misallocate") r.misallocate = f.part;
        if (f.what != "dead" && f.what != "repair") continue;
        r.dead = f.what == "dead";
        r.used.assign(r.backward, false);
        for (NaivePort& p : r.port) p = {};  // a repaired router starts without connections
        continue;
      }
      if (f.what == "on" || f.what == "off") {
        if (f.endpoint)
          endpoints()[f.item].link_on[f.port] = f.what == "on";
        else
          routers()[f.item * common_.slices + s].on[f.port] = f.what == "on";
        continue;
      }
      NaiveEnd& end =
          f.endpoint ? endpoints()[f.item].link[f.port][s] : routers()[f.item * common_.slices + s].end[f.port];
      end.out->fault = f.what == "repair" ? "" : f.what;
      end.out->bit = f.bit;
      end.out->part = f.part;
      if (f.what == "dead" || f.what == "repair") end.in->fault = end.out->fault;
    }
  }

  std::vector<NaiveFault> faults_;
  const MetroNetwork& net_;
  NaiveCommon common_;
  NaiveWires wires_;
  NaiveHeaders headers_;
  NaiveRouters routers_;
  NaiveEndpoints endpoints_;
};

}  // namespace flitlab::testing
