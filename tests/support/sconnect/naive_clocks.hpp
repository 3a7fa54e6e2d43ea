#pragma once
/// A second implementation of a fabric's clocks, in floating point from the equations (S-Connect, 2.5, 3.3). It keeps
/// all past phases, and phase comparators look them up. TICs that share an oscillator have one phase here.
#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "host/routers/sconnect/control.hpp"
#include "host/routers/sconnect/plan.hpp"
#include "kernels/routers/sconnect/params.hpp"

namespace flitlab::testing {

inline constexpr double kPi = 3.14159265358979323846;

inline double radians(u64 value) { return static_cast<double>(static_cast<std::int64_t>(value)) / 4294967296.0; }

struct NaiveChannel {
  u32 tic = 0, port = 0, to = 0, from = 0, delay = 0;  ///< `to`, `from`: oscillators
  double d = 0, depth = 0;
  double full = 0;  ///< overflow of the fifo in words; a word is lost or repeated at each integer
  std::int64_t words = 0;
};

class NaiveClocks {
 public:
  NaiveClocks(const Experiment& e, const SconnectFabric& fabric, const Plan& plan, const Engine& engine)
      : gain_(e.f64(sconnect::param::clock.gain)),
        range_(e.f64(sconnect::param::clock.range) / 2),
        knee_(std::min(e.f64(sconnect::param::clock.knee), range_)),
        outer_(std::round(e.f64(sconnect::param::clock.outer_gain) * 256) / 256),
        tuning_(e.f64(sconnect::param::clock.tuning) * 12e-6 * kPi),
        sums_(e.str(sconnect::param::clock.detector) == "sum"),
        of_(fabric.tics, kNone) {
    for (u32 tic = 0; tic < fabric.tics; ++tic) {
      if (of_[tic] != kNone) continue;
      const u32 oscillator = static_cast<u32>(free_.size());
      of_[tic] = oscillator;
      shared_.push_back(false);
      for (u32 p = 4; p < 6; ++p)
        if (fabric.link(tic, p).kind == sconnect::LinkKind::kParallel) {
          of_[fabric.link(tic, p).far] = oscillator;
          shared_[oscillator] = true;
        }
      free_.push_back(
          radians(sconnect_register(engine, dynamic_cast<const SconnectPlan&>(plan).table(), tic, "clock_free")));
      phase_.push_back(
          {radians(sconnect_register(engine, dynamic_cast<const SconnectPlan&>(plan).table(), tic, "clock_phase"))});
    }
    for (u32 tic = 0; tic < fabric.tics; ++tic)
      for (u32 p = 0; p < 4; ++p) {
        const sconnect::Link& link = fabric.link(tic, p);
        if (link.kind != sconnect::LinkKind::kSerial) continue;
        const double d = radians(sconnect_register(engine, dynamic_cast<const SconnectPlan&>(plan).table(), tic,
                                                   "cable." + std::to_string(p)));
        channels_.push_back({tic, p, of_[tic], of_[link.far], fabric.link(link.far, link.port).delay, d});
      }
    published_.assign(free_.size(), {});
  }

  void step() {
    std::vector<Published> now(free_.size());
    for (NaiveChannel& c : channels_) {
      if (now_ < c.delay) continue;
      const double x = phase_[c.from][now_ - c.delay] + c.d - phase_[c.to][now_];
      c.depth = std::clamp(x, -range_, range_);
      c.d -= x - c.depth;
      c.full += (x - c.depth) / (2 * kPi);
      while (c.full >= 1) c.full -= 1, ++c.words;
      while (c.full <= -1) c.full += 1, --c.words;
      const double size = std::abs(c.depth), published = size <= knee_ ? size : knee_ + outer_ * (size - knee_);
      now[c.to].sum += c.depth < 0 ? -published : published;
      ++now[c.to].active;
    }
    for (u32 i = 0; i < free_.size(); ++i) {
      const Published& s = shared_[i] ? published_[i] : now[i];
      const double error = sums_ || !s.active ? s.sum : s.sum / s.active;
      const double wanted = gain_ * error;
      phase_[i].push_back(phase_[i].back() + free_[i] + std::clamp(wanted, -tuning_, tuning_));
    }
    published_ = now;
    ++now_;
  }

  double phase(u32 tic) const { return phase_[of_[tic]].back(); }
  const std::vector<NaiveChannel>& channels() const { return channels_; }

 private:
  struct Published {
    double sum = 0;
    u32 active = 0;
  };
  double gain_, range_, knee_, outer_, tuning_;
  bool sums_;
  u32 now_ = 0;
  std::vector<u32> of_;
  std::vector<bool> shared_;
  std::vector<double> free_;
  std::vector<std::vector<double>> phase_;
  std::vector<NaiveChannel> channels_;
  std::vector<Published> published_;
};

}  // namespace flitlab::testing
