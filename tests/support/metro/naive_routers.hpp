#pragma once
/// Routers of the second implementation of METRO (naive.hpp). A router is a set of ports, each of which evaluates its
/// wire in every cycle.
#include <algorithm>
#include <deque>
#include <vector>

#include "host/config/experiment.hpp"
#include "kernels/routers/metro/params.hpp"
#include "kernels/routers/metro/state.hpp"
#include "kernels/routers/metro/streams.hpp"
#include "kernels/routers/metro/totals.hpp"
#include "tests/support/metro/naive_headers.hpp"
#include "tests/support/metro/naive_wires.hpp"

namespace flitlab::testing {

using metro::PortState;

struct NaivePort {
  PortState state = PortState::kIdle;
  u32 out = 0;
  u32 header = 0;  // header words received
  u32 direction = 0;
  u32 bits = 0;   // bits of the direction received so far
  u32 taken = 0;  // how many of `bits` the last word contained
  u32 sum = 0;
  std::deque<Word> own;  // words that the router itself has yet to send
};

struct NaiveRouter {
  u32 wide = 0, slice = 0;
  u32 forward = 0, backward = 0, radix = 0, dilation = 0;
  u32 left = 0;  // header bits of the first word that earlier routers have not used
  bool swallow = false, fast = false, dead = false;
  double misallocate = 0;
  std::vector<NaivePort> port;
  std::vector<NaiveEnd> end;  // forward ports, then backward ports
  std::vector<bool> on;
  std::vector<bool> used;  // [backward port] in use
  std::vector<bool>
      published_use;  // [backward port] in use at the end of the last cycle, as published to the cascaded routers
  NaiveEnd& back(u32 out) { return end[forward + out]; }
};

class NaiveRouters {
 public:
  NaiveRouters(const Experiment& e, const MetroNetwork& net, const NaiveHeaders& headers, NaiveCommon& common)
      : c_(common),
        inputs_(e.u32_of(metro::param::router.random_inputs)),
        shared_(e.flag(metro::param::router.shared_random)),
        in_use_check_(e.flag(metro::param::router.in_use_check)) {
    const std::vector<u32> detailed =
        e.has(metro::param::router.detailed_stages) ? e.ints(metro::param::router.detailed_stages) : std::vector<u32>{};
    for (u32 r = 0; r < net.routers(); ++r)
      for (u32 s = 0; s < c_.slices; ++s) {
        const metro::RouterSetup& setup = net.setup[r];
        NaiveRouter router;
        router.wide = r;
        router.slice = s;
        router.forward = setup.forward;
        router.backward = setup.backward;
        router.radix = 1u << setup.log_radix;
        router.dilation = 1u << setup.log_dilation;
        router.left = headers.left(setup.stage);
        router.swallow = c_.header_words == 0 && headers.last(setup.stage);
        router.fast = e.flag(metro::param::router.fast_reclaim) &&
                      std::find(detailed.begin(), detailed.end(), setup.stage) == detailed.end();
        router.port.resize(setup.forward);
        router.end.resize(setup.forward + setup.backward);
        router.on.resize(router.end.size(), true);
        router.used.resize(setup.backward);
        router.published_use = router.used;
        all_.push_back(router);
      }
  }

  std::vector<NaiveRouter>& all() { return all_; }

  void cycle() {
    for (u32 r = 0; r < all_.size(); ++r) router_cycle(all_[r], r);
    for (NaiveRouter& r : all_) {
      r.published_use = r.used;
      if (r.dead) r.published_use.assign(r.backward, false);
    }
  }

 private:
  void router_cycle(NaiveRouter& r, u32 index) {
    if (r.dead) return;
    std::vector<bool> busy = r.used;  // a released port is free in the next cycle
    shut_what_disagrees(r);
    std::vector<u32> requesters;
    for (u32 p = 0; p < r.forward; ++p)
      if (port_cycle(r, p)) requesters.push_back(p);
    const u64 cycle = u64{c_.now} << 8;
    const u32 item = shared_ ? r.wide : index;
    if (!requesters.empty()) {
      const u32 count = static_cast<u32>(requesters.size());
      const u32 start = below(philox(c_.row.seed, metro::stream::kChoice, item, cycle | 255).word[0], count);
      for (u32 k = 0; k < count; ++k) {
        const u32 p = requesters[(start + k) % count];
        std::vector<u32> free;
        const bool wrong =
            r.misallocate > 0 &&
            philox(c_.row.seed, metro::stream::kChoice, item, cycle | (128 + p)).word[0] < r.misallocate * 4294967296.0;
        for (u32 out = 0; out < r.backward; ++out)
          if ((out / r.dilation == r.port[p].direction) != wrong && !busy[out] && r.on[r.forward + out])
            free.push_back(out);
        if (free.empty()) {
          block(r, p);
          continue;
        }
        const u32 out = free[below(philox(c_.row.seed, metro::stream::kChoice, item, cycle | p % inputs_).word[0],
                                   u32(free.size()))];
        busy[out] = r.used[out] = true;
        connect(r, p, out);
      }
    }
  }

  static bool open(const NaivePort& f) { return f.state == PortState::kForward || f.state == PortState::kReverse; }

  /// Closes connections over disabled ports, and over ports that not all cascaded routers used at the end of the last
  /// cycle.
  void shut_what_disagrees(NaiveRouter& r) {
    for (u32 p = 0; p < r.forward; ++p)
      if (open(r.port[p]) && !r.on[r.forward + r.port[p].out]) shut(r, p);
    for (u32 p = 0; p < r.forward; ++p) {  // a disabled port sends nothing to its own end
      if (r.on[p]) continue;
      if (open(r.port[p])) {
        r.back(r.port[p].out).sent = make_word(Kind::kDrop);
        release(r, r.port[p]);
      }
      r.port[p].state = PortState::kIdle;
    }
    for (u32 p = 0; in_use_check_ && p < r.forward; ++p) {
      bool agree = true;
      for (u32 s = 0; open(r.port[p]) && s < c_.slices; ++s)
        agree = agree && (s == r.slice || all_[r.wide * c_.slices + s].published_use[r.port[p].out]);
      if (!agree) shut(r, p);
    }
  }

  /// Closes a connection. The source gets the backward control bit if it is sending; any other end gets DROP.
  void shut(NaiveRouter& r, u32 p) {
    NaivePort& f = r.port[p];
    const bool from_source = f.state == PortState::kForward;
    ++c_.count(metro::Count::kShut);
    release(r, f);
    r.back(f.out).sent = make_word(Kind::kDrop);
    r.end[p].sent = make_word(from_source ? Kind::kBackDrop : Kind::kDrop);
    if (from_source) f.state = PortState::kDiscard;
  }

  /// Returns whether the port requests a backward port.
  bool port_cycle(NaiveRouter& r, u32 p) {
    NaivePort& f = r.port[p];
    NaiveEnd& end = r.end[p];
    const Kind kind = kind_of(end.word);
    if (!r.on[p] || end.sent) return false;  // the port is disabled or was just closed
    const bool over = kind == Kind::kNothing || kind == Kind::kDrop;
    switch (f.state) {
      case PortState::kIdle:
        if (kind != Kind::kData) return false;
        f = NaivePort{};
        [[fallthrough]];
      case PortState::kSetup:
        if (kind != Kind::kData) {
          f.state = PortState::kIdle;
          return false;
        }
        f.state = PortState::kSetup;
        f.taken = 0;
        for (u32 k = 0; k < (f.header == 0 ? r.left : c_.width) && 1u << f.bits < r.radix; ++k) {
          f.direction = 2 * f.direction + (payload_of(end.word) >> (c_.width - 1 - k)) % 2;
          ++f.bits;
          ++f.taken;
        }
        ++f.header;
        return f.header >= c_.header_words && 1u << f.bits == r.radix;
      case PortState::kForward: flow(r, p, end, r.back(f.out)); return false;
      case PortState::kReverse: flow(r, p, r.back(f.out), end); return false;
      case PortState::kBlocked:
        if (kind == Kind::kData) f.sum = c_.added(f.sum, payload_of(end.word));
        if (over) f.state = PortState::kIdle;
        if (kind == Kind::kTurn) {
          f.state = PortState::kAnswer;
          f.own = {make_word(Kind::kBlocked, f.direction), make_word(Kind::kBlocked, f.sum), make_word(Kind::kDrop)};
          send_own_word(f, end);
        }
        return false;
      case PortState::kAnswer:
        send_own_word(f, end);
        if (f.own.empty()) f.state = PortState::kIdle;
        return false;
      case PortState::kDiscard:
        if (over) f.state = PortState::kIdle;
        return false;
    }
    return false;
  }

  static void send_own_word(NaivePort& f, NaiveEnd& to) {
    to.sent = f.own.front();
    f.own.pop_front();
  }

  void block(NaiveRouter& r, u32 p) {
    NaivePort& f = r.port[p];
    f.sum = 0;
    f.state = r.fast ? PortState::kDiscard : PortState::kBlocked;
    if (r.fast) r.end[p].sent = make_word(Kind::kBackDrop);
  }

  void connect(NaiveRouter& r, u32 p, u32 out) {
    NaivePort& f = r.port[p];
    f.state = PortState::kForward;
    f.out = out;
    f.sum = 0;
    f.own.clear();
    if (c_.header_words || r.swallow) return;
    r.back(out).sent = make_word(Kind::kData, (payload_of(r.end[p].word) << f.taken) % (1u << c_.width));
  }

  void release(NaiveRouter& r, NaivePort& f) {
    r.used[f.out] = false;
    f.state = PortState::kIdle;
    f.own.clear();
  }

  /// An open connection: words that arrive at one end are sent at the other.
  void flow(NaiveRouter& r, u32 p, NaiveEnd& from, NaiveEnd& to) {
    NaivePort& f = r.port[p];
    const bool is_forward = f.state == PortState::kForward;
    const Kind kind = kind_of(from.word);
    if (kind_of(r.back(f.out).word) == Kind::kBackDrop) {
      release(r, f);
      f.state = PortState::kDiscard;
      r.end[p].sent = make_word(Kind::kBackDrop);
      r.back(f.out).sent = make_word(Kind::kDrop);
      return;
    }
    if (!is_forward && kind_of(to.word) == Kind::kDrop) {  // the source has sent DROP meanwhile
      release(r, f);
      from.sent = make_word(Kind::kDrop);
      return;
    }
    if (!f.own.empty()) return send_own_word(f, to);
    if (kind == Kind::kNothing || kind == Kind::kDrop) {
      to.sent = make_word(Kind::kDrop);
      release(r, f);
      return;
    }
    to.sent = from.word;
    if (kind == Kind::kData) f.sum = c_.added(f.sum, payload_of(from.word));
    if (kind != Kind::kTurn) return;
    f.own.assign(2 * (c_.dp + to.delay), make_word(Kind::kIdle));
    f.own[0] = make_word(Kind::kStatus, f.out);
    f.own[1] = make_word(Kind::kStatus, f.sum);
    f.sum = 0;
    f.state = is_forward ? PortState::kReverse : PortState::kForward;
    send_own_word(f, from);
  }

  NaiveCommon& c_;
  u32 inputs_;
  bool shared_, in_use_check_;
  std::vector<NaiveRouter> all_;
};

}  // namespace flitlab::testing
