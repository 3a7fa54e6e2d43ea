#pragma once
/// Recorder of a network, cycle by cycle, for the scope (the animated view of a network in a notebook or a page). Frame
/// c has the state before cycle c and the events of cycle c - 1. The recorder does not depend on the router model: the
/// model's plan names ports, virtual channels and values.
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

/// Columns of an event that frames omit: a frame has the events of one cycle. A frame also leaves out the last column,
/// `dst`, if it has no value.
inline bool is_omitted(const Column& column) { return column.name == "cycle"; }

/// Steps a traced network, records every cycle as a frame, and keeps the last frames.
class Recorder {
 public:
  static constexpr u32 kMostDrawn = 1024;  ///< largest number of drawn routers
  static constexpr u32 kWindow = 300;      ///< number of frames to keep, unless the user chooses another one

  /// Begins a recording at the network's current cycle. From now on the recorder consumes the network's events.
  /// `routers`: routers to draw, in ascending order; the other routers are emulated but not recorded. `window`: number
  /// of frames to keep, at least 1.
  Recorder(SteppedNetwork& network, std::vector<u32> routers, u32 window);

  /// Begins a new recording at the network's current cycle.
  void restart();
  /// Returns whether the network is at the cycle of the last frame; false if another caller has stepped it.
  bool in_step() const { return network_.cycle() == cycle_; }
  /// Advances the network by `cycles` and writes the new frames as a list.
  void put_steps(Json& json, u32 cycles);
  /// Writes the last frames as a list, at most `most`. The first frame is complete: it has every virtual channel, every
  /// queue, all texts and all recorded state. The others have the changes only.
  void put_frames(Json& json, u32 most = kNone) const;
  /// Writes the same frames in a compact form: a list of objects, and six tables, which are appended to `bytes`. An
  /// object has the members of a frame that no table has, and `whole` if `rows` has every virtual channel. The tables
  /// (ChangeTable), in their order, with their keys and columns:
  /// - rows and `v`; place(router, port, VC); the columns of a virtual channel, each plus 1 (0: none)
  /// - `q`, `f` and `u`; terminal, router, channel; one column
  /// - `s`; p * (number of drawn routers) + (index of the router), where p is the index of a pair of words in the
  ///   router's state; the eight bytes of the pair
  /// - `e`; place(router, port, VC), or place(2^32 + terminal, port, VC); number of the event among the events of the
  ///   same router or terminal in the frame, then the other columns of an event, with `dst` plus 1 (0: none)
  ///
  /// place(x, port, VC) is x * 2^20 + port * 2^10 + VC.
  void put_packed(Json& json, std::string& bytes, u32 most = kNone) const;
  /// Writes the data of the network that never change: names of the routers, their ports, the peers of the ports,
  /// links, number of terminals, and the layout of a router's state.
  void put_network(Json& json) const;
  /// Writes the current state, names and notes of a router as members of a JSON object that the caller has opened.
  void put_inspection(Json& json, u32 router) const;

  /// Routers whose whole state every frame contains.
  std::set<u32> inspected;
  /// Returns the names of the pipeline stages; rows contain indices into this list.
  const std::vector<std::string>& stages() const { return stages_; }
  /// Return the description of a deadlock or fault ("": none found), and the cycle in which it was found.
  const std::string& deadlock() const { return deadlock_; }
  u64 deadlocked() const { return deadlocked_; }
  u64 last() const { return cycle_; }                            ///< cycle of the last frame
  u32 kept() const { return static_cast<u32>(frames_.size()); }  ///< number of frames kept
  void look_for_deadlock();

 private:
  /// Largest number of drawn routers for which every frame has the state and texts of all of them. If more routers are
  /// drawn, frames have only the state and texts of inspected routers.
  static constexpr u32 kDetailLimit = 64;
  /// Number of columns of a row. The first kKeyColumns of them identify the virtual channel: router, port and VC. The
  /// others are the columns of VcSnapshot.
  static constexpr std::size_t kKeyColumns = 3, kColumns = kKeyColumns + VcSnapshot::kColumns;
  using Row = std::array<u32, kColumns>;
  /// A change of a 4-byte word in a router's state.
  struct Change {
    u32 drawn;       ///< index of the router among the drawn routers
    u32 place;       ///< index of the word
    u32 difference;  ///< new value minus old value, modulo 2^32
  };

  struct Frame {
    std::string rest;                ///< other members of the frame, in JSON
    std::vector<TimedEvent> events;  ///< of drawn routers and their terminals
    std::map<u32, u32> use;          ///< by channel: flits carried in the cycle, if any
    bool whole;                      ///< whether `rows` has all rows, not only the changed rows
    std::vector<u32> places;         ///< if not `whole`: indices of the rows that have changed
    std::vector<Row> rows;
    std::map<u32, u32> queues;   ///< by terminal: packets in the source queue, if their number has changed
    std::map<u32, u32> held;     ///< by router: Fill::held, if it has changed
    std::map<u32, Texts> texts;  ///< by router: texts that have changed
    std::vector<Change> state;   ///< changed words, ordered by router and word
  };

  /// The complete state of a frame, including the values that have not changed in it.
  struct FrameState {
    std::vector<Row> rows;
    std::map<u32, u32> queues, held;
    std::map<u32, Texts> texts;
    std::vector<std::vector<u32>> state;

    void apply(const Frame& next);
  };
  struct Packed;

  Frame& record_frame(const std::vector<TimedEvent>& events);
  void put_links(Json& json) const;
  void put(Json& json, const Frame& frame) const;
  void put_texts_of(Json& json, const Frame& frame) const;
  Frame complete_frame(std::size_t i) const;
  std::size_t first_of(u32 most) const;
  void drop_first();
  std::vector<Row> record_routers(Frame& frame);
  u32 stage(const std::string& name);
  bool all_detailed() const { return routers_.size() <= kDetailLimit; }
  void find_changes(Frame& frame);
  void record_queues(Frame& frame, const std::vector<TimedEvent>& events);
  void record_texts(Frame& frame);
  void record_state(Frame& frame);
  void record_events(Frame& frame, const std::vector<TimedEvent>& events) const;
  void record_use(Frame& frame);
  void put_loads(Json& json);
  static void put_latencies(Json& json, const std::vector<TimedEvent>& events);

  SteppedNetwork& network_;
  std::vector<u32> routers_;
  std::vector<bool> drawn_;  ///< `[router]`: whether the router is drawn
  u32 window_;
  u64 cycle_ = 0;  ///< cycle of the last frame
  std::deque<Frame> frames_;
  FrameState first_;             ///< state of the first frame
  std::vector<Row> rows_;        ///< rows of the last frame
  std::map<u32, u32> queued_;    ///< by terminal of a drawn router: packets in the source queue in the last frame
  std::map<u32, u32> occupied_;  ///< by drawn router: Fill::held in the last frame
  std::vector<std::string> stages_;
  std::vector<ChannelUse> carried_;
  u64 flits_created_ = 0, flits_delivered_ = 0;
  bool has_texts_ = false;  ///< whether the plan gives names or notes in the machine's terms
  std::map<u32, Texts> texts_;
  std::vector<std::vector<u32>> state_;  ///< `[drawn][word]`: state of each drawn router in the last frame that has it
  std::string deadlock_;
  u64 deadlocked_ = 0;
};

}  // namespace flitlab
