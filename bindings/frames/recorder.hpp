#pragma once
/// Recorder of a network, cycle by cycle, for the scope in a notebook or a page. Frame c has the state before cycle c
/// and the events of cycle c - 1. The recorder is independent of the router model: the model's inspector names ports,
/// virtual channels and values.
#include <array>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bindings/frames/json.hpp"
#include "host/run/stepped.hpp"

namespace flitlab {

/// Steps a traced network, records every cycle and keeps the last frames.
class Recorder {
 public:
  static constexpr u32 kMostDrawn = 1024;  ///< largest number of drawn routers
  /// Largest number of drawn routers for which the state and texts of all are recorded. If more are drawn, only those
  /// of inspected routers are.
  static constexpr u32 kDetailLimit = 64;

  /// Begins a recording at the network's current cycle. From now on the recorder consumes the network's events.
  /// `routers`: routers to draw, ascending; the others run without being recorded. `window`: frames to keep, at least
  /// 1.
  Recorder(SteppedNetwork& network, std::vector<u32> routers, u32 window);

  /// Begins a new recording at the network's current cycle.
  void restart();
  /// Returns whether the network is at the cycle of the last frame; false if another caller has stepped it.
  bool in_step() const { return network_.cycle() == cycle_; }
  /// Advances the network by `cycles` and writes a list of the new frames.
  void put_steps(Json& json, u32 cycles);
  /// Writes a list of the last frames, at most `most`. The first one is complete: every virtual channel, every queue,
  /// all texts and all recorded state.
  void put_frames(Json& json, u32 most = kNone) const;
  /// Writes the constant data of the network: names of the routers, their ports and peers, links, number of terminals,
  /// and the layout of a router's state.
  void put_network(Json& json) const;
  /// Writes members of an object: the whole state of a router, and its texts in the machine's terms, now.
  void put_inspection(Json& json, u32 router) const;

  /// Routers whose whole state every frame contains.
  std::set<u32> inspected;
  /// Returns the names of the pipeline stages in rows, by number.
  const std::vector<std::string>& stages() const { return stages_; }
  /// Returns the description of a deadlock or fault, and the cycle in which it was found; "": none found.
  const std::string& deadlock() const { return deadlock_; }
  u64 deadlocked() const { return deadlocked_; }
  u64 last() const { return cycle_; }                            ///< cycle of the last frame
  u32 kept() const { return static_cast<u32>(frames_.size()); }  ///< frames
  void look_for_deadlock();

 private:
  static constexpr std::size_t kColumns = 15,
                               kKeyColumns = 3;  ///< columns of a row; the first 3 name the virtual channel
  using Row = std::array<u32, kColumns>;
  /// A change of a 4-byte word in a router's state.
  struct Change {
    u32 drawn;       ///< index of the router among the drawn routers
    u32 place;       ///< index of the word
    u32 difference;  ///< difference to the value before, modulo 2^32
  };

  struct Frame {
    std::string rest;         ///< the other members, in JSON
    bool whole;               ///< `rows` has all rows
    std::vector<u32> places;  ///< not whole: indices of the rows that have changed
    std::vector<Row> rows;
    std::map<u32, u32> queues;         ///< by terminal: packets in the source queue, where it has changed
    std::map<u32, u32> held;           ///< by router: Fill::held, where it has changed
    std::map<u32, std::string> texts;  ///< by router: texts in the machine's terms, in JSON, where they have changed
    std::vector<Change> state;         ///< ordered by router and word
  };

  /// The complete state of a frame: values that have changed in it and values that have not.
  struct FrameState {
    std::vector<Row> rows;
    std::map<u32, u32> queues, held;
    std::map<u32, std::string> texts;
    std::vector<std::vector<u32>> state;

    void apply(const Frame& next);
  };

  Frame& record_frame(const std::vector<TimedEvent>& events);
  void put(Json& json, const Frame& frame) const;
  void drop_first();
  std::vector<Row> record_routers(Frame& frame);
  u32 stage(const std::string& name);
  void find_changes(Frame& frame);
  void record_queues(Frame& frame, const std::vector<TimedEvent>& events);
  void record_texts(Frame& frame);
  void record_state(Frame& frame);
  void put_events(Json& json, const std::vector<TimedEvent>& events) const;
  void put_use(Json& json);
  void put_loads(Json& json);
  static void put_latencies(Json& json, const std::vector<TimedEvent>& events);

  SteppedNetwork& network_;
  std::vector<u32> routers_;
  std::vector<bool> drawn_;  ///< `[router]`: whether it is drawn
  u32 window_;
  u64 cycle_ = 0;  ///< cycle of the last frame
  std::deque<Frame> frames_;
  FrameState first_;             ///< state of the first frame
  std::vector<Row> rows_;        ///< rows of the last frame
  std::map<u32, u32> queued_;    ///< by terminal of a drawn router: packets in the source queue, in the last frame
  std::map<u32, u32> occupied_;  ///< by drawn router: Fill::held in the last frame
  std::vector<std::string> stages_;
  std::vector<ChannelUse> carried_;
  u64 flits_created_ = 0, flits_delivered_ = 0;
  bool has_texts_ = false;  ///< the inspector gives names or notes in the machine's terms
  std::map<u32, std::string> texts_;
  std::vector<std::vector<u32>> state_;  ///< `[drawn][word]`: state of routers; empty above kDetailLimit routers
  std::string deadlock_;
  u64 deadlocked_ = 0;
};

}  // namespace flitlab
