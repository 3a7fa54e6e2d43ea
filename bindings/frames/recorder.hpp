#pragma once
/// Frames of a network, cycle by cycle, from its inspector and its events; what the scope replays, in a notebook and in
/// a page. Frame c has the state before cycle c, as SteppedNetwork shows it then, and the events of cycle c - 1, which
/// led there. No machine is known here: ports, virtual channels and values are what inspectors name.
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

/// Steps a traced network, writes every cycle down and keeps the last frames.
class Recorder {
 public:
  static constexpr u32 kDrawn = 1024;  ///< routers at most
  static constexpr u32 kTold = 64;  ///< of so few all state is recorded, and words of machines, else of those inspected

  /// Begins with the network as it is, whose events are the recorder's from now on. routers: those that are drawn,
  /// ascending; the others run unseen. window: frames that are kept, one at least.
  Recorder(SteppedNetwork& network, std::vector<u32> routers, u32 window);

  /// Begins anew with the network as it is now.
  void restart();
  /// Whether the network is where the last frame is; it is not if somebody else has stepped it.
  bool in_step() const { return network_.cycle() == cycle_; }
  /// Advances by so many cycles and puts a list of their frames.
  void put_steps(Json& json, u32 cycles);
  /// Puts a list of the last frames, of those that are kept, `most` of them. The first one is complete: it has every
  /// virtual channel, every queue, all words and all state.
  void put_frames(Json& json, u32 most = kNone) const;
  /// Puts what does not change: names of the routers, their ports and peers, links, terminals, and
  /// how a router's state is read.
  void put_network(Json& json) const;
  /// Puts members of an object: all of a router's state, and what its machine calls and says of its ports, now.
  void put_inspection(Json& json, u32 router) const;

  /// Routers of which every frame is to have all of the state too.
  std::set<u32> inspected;
  /// What the stages of rows are called, by number.
  const std::vector<std::string>& stages() const { return stages_; }
  /// What the network says of a deadlock or damage, and the cycle in which it was found; "": there is none.
  const std::string& deadlock() const { return deadlock_; }
  u64 deadlocked() const { return deadlocked_; }
  u64 last() const { return cycle_; }                            ///< cycle of the last frame
  u32 kept() const { return static_cast<u32>(frames_.size()); }  ///< frames
  void look_for_deadlock();

 private:
  static constexpr std::size_t kColumns = 15, kPlace = 3;  ///< of a row, and of it what names the virtual channel
  using Row = std::array<u32, kColumns>;
  /// A word of 4 bytes of a router's state that has changed.
  struct Change {
    u32 drawn;  ///< the router's place among those that are drawn
    u32 place;  ///< of the word
    u32 more;   ///< than before, modulo 2^32
  };

  struct Frame {
    std::string rest;         ///< its other members, in JSON
    bool whole;               ///< rows are all that there are
    std::vector<u32> places;  ///< not whole: of the rows that have changed
    std::vector<Row> rows;
    std::map<u32, u32> queues;         ///< packets by terminal, where that has changed
    std::map<u32, u32> held;           ///< Fill::held by router, where that has changed
    std::map<u32, std::string> words;  ///< the machine's, of its routers, in JSON, where they have changed
    std::vector<Change> state;         ///< in their order
  };

  /// What is known of a frame, whatever has changed in it.
  struct Known {
    std::vector<Row> rows;
    std::map<u32, u32> queues, held;
    std::map<u32, std::string> words;
    std::vector<std::vector<u32>> state;

    void apply(const Frame& next);
  };

  Frame& take(const std::vector<TimedEvent>& events);
  void put(Json& json, const Frame& frame) const;
  void forget_first();
  std::vector<Row> look_at_routers(Frame& frame);
  u32 stage(const std::string& name);
  void find_changes(Frame& frame);
  void look_at_queues(Frame& frame, const std::vector<TimedEvent>& events);
  void look_at_words(Frame& frame);
  void look_at_state(Frame& frame);
  void put_events(Json& json, const std::vector<TimedEvent>& events) const;
  void put_use(Json& json);
  void put_loads(Json& json);
  static void put_latencies(Json& json, const std::vector<TimedEvent>& events);

  SteppedNetwork& network_;
  std::vector<u32> routers_;
  std::vector<bool> drawn_;  ///< by router
  u32 window_;
  u64 cycle_ = 0;  ///< of the last frame
  std::deque<Frame> frames_;
  Known first_;                ///< of the first frame
  std::vector<Row> rows_;      ///< of the last frame
  std::map<u32, u32> queued_;  ///< there, packets by terminal of a drawn router
  std::map<u32, u32> held_;    ///< there, Fill::held by drawn router
  std::vector<std::string> stages_;
  std::vector<ChannelUse> carried_;
  u64 flits_created_ = 0, flits_delivered_ = 0;
  bool has_words_ = false;  ///< the machine calls things by names of its own, or says something of them
  std::map<u32, std::string> words_;
  std::vector<std::vector<u32>> state_;  ///< words of each drawn router; of large networks none
  std::string deadlock_;
  u64 deadlocked_ = 0;
};

}  // namespace flitlab
