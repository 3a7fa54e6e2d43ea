#pragma once
/// Exact fast-forward of programs: if a period of a run repeats itself, the host computes the state after all its
/// repetitions and sets the engine to it, instead of stepping through them.
///
/// Candidates for periods are the times between events of one rank: it passes on a packet of a long message, begins a
/// message, or makes a call. A fixed number of cycles after such an event the host glances at the network: it compares
/// the progress of all ranks and some items with an earlier glance. If they are alike, it compares the complete
/// state with that at the next such event (StatePeriod). The earlier glance, and the earlier state, are replaced after
/// 1, 2, 4, 8 ... comparisons (Brent, BIT 20, 1980), so that a period is found whatever its length and its beginning
/// are. A network in which nothing moves repeats itself in any period.
#include <array>
#include <memory>
#include <optional>

#include "host/config/experiment.hpp"
#include "host/repetition/state_period.hpp"
#include "kernels/engines/engine.hpp"

namespace flitlab {

class Repetition {
 public:
  /// `plan` must outlive the object.
  Repetition(const Experiment& experiment, const Plan& plan);

  /// Returns why this run is stepped; "": what repeats itself is skipped.
  const std::string& why_not() const { return motion_.never; }
  /// Returns the number of cycles to step until the next skip(), at least 1.
  u32 pause(u64 now) const;
  /// Compares the state with earlier ones if that is due. If it repeats itself, sets the engine forward by at most
  /// `most` cycles. Returns the number of cycles skipped.
  u64 skip(Engine& engine, u32 replica, u64 most);
  /// Forgets earlier states, because the state has been changed from outside.
  void forget();

  u64 skipped() const { return skipped_; }  ///< cycles skipped so far

 private:
  enum class Event : u8 { kCall, kMessage, kPacket, kQuiet };
  /// Events of a rank, and the earlier state with which the present one is compared.
  struct Watch {
    Event event;
    u32 rank = kNone;
    u32 seen = kNone;  ///< number of the latest event
    u64 due = kNever;  ///< cycle of the next look
    u32 glances = 0, looks = 0;
    u64 period = 0;                                  ///< cycles after which the latest glances were alike
    std::optional<Glance> glance = {}, recent = {};  ///< `recent`: from about one such period ago
    std::optional<Snapshot> earlier = {};
  };
  Watch& watch(Event event) { return watches_[static_cast<u32>(event)]; }

  void read(Engine& engine, u32 replica, u32 terminal, const FieldInfo& field, void* out) const;
  ProgramControl control_of(Engine& engine, u32 replica, u32 rank) const;
  void notice(Watch& watch, Engine& engine, u32 replica);
  void notice_call(Watch& watch, const ProgramControl& c, u64 now);
  void notice_packet(Watch& watch, const ProgramControl& c, u64 now, u64 last_created);
  void choose_rank(Engine& engine, u32 replica);
  u64 look(Watch& watch, Engine& engine, u32 replica, u64 most);
  Glance glance(Engine& engine, u32 replica) const;
  bool must_look(Watch& watch, const Glance& now);
  void set(const Snapshot& next, Engine& engine, u32 replica, double gain);
  static bool nothing_under_way(const Snapshot& s);
  bool affordable(u64 now);
  void account(Engine& engine, u32 replica);

  const Plan& plan_;
  Motion motion_;
  std::unique_ptr<StatePeriod> period_;  ///< null: this run is stepped
  const FieldInfo *controls_ = nullptr, *trace_ = nullptr;
  std::vector<std::pair<Elements, const FieldInfo*>> quick_;  ///< numbers, and their field
  std::array<Watch, 4> watches_{};
  u64 next_poll_ = 0, next_choice_ = 0, gap_ = 0;
  /// Time of a core, ns: left for looking; of the cycles stepped so far; of a look.
  double credit_ns_ = 0, stepped_ns_ = 0, look_ns_ = 0;
  bool waits_ = false;  ///< whether the credit was used up and must grow again
  u64 accounted_ = 0, moves_ = 0, stepped_ = 0, skipped_ = 0;
  u64 quiet_since_ = kNever, activity_ = 0;
};

}  // namespace flitlab
