#pragma once
/// S-Connect written a second time, from the paper and the emulator's descriptions, without any of its TICs: channels
/// are conveyors of parcels, a slot has a record at each of its ends, buffers are messages in a list, and what is in
/// use is counted whenever somebody asks. When messages are created and where they go is asked of the emulator's
/// sources, and errors are drawn with its keys; all else is thought out again. Control messages and clocks are left
/// out.
#include <array>
#include <cmath>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "kernels/common/philox.hpp"
#include "kernels/routers/sconnect/params.hpp"
#include "kernels/routers/sconnect/streams.hpp"
#include "kernels/routers/sconnect/totals.hpp"
#include "tests/support/sconnect/sconnect.hpp"

namespace flitlab::testing {

struct NaiveMessage {
  MessageName name;
  u32 dst, node, flits, priority;
  Cycle created, injected = 0;
  u32 entered = 0;
  u32 hops = 0;
  u32 failures = 0;         // since it was sent first
  u32 vc = 0;               // that it has come to this TIC on
  u32 next_port = 0;        // queue that it is in, or has left
  u32 next_vc = 0;          // that it has been given here
  std::optional<u32> back;  // port that it has come back from
  bool damaged = false;     // that will be known when it has come
  bool waiting = false;     // in a queue
};
using MessageRef = std::shared_ptr<NaiveMessage>;

/// What crosses a channel in a slot.
struct NaiveParcel {
  bool carries = false;  // a message, or a part of a quad
  bool quad = false, last = false, abort = false, hit = false;
  u32 sequence = 0;
  u32 answer = 0;     // number of messages taken in the slot that came a cycle before, modulo 2
  bool asks = false;  // for an answer, without a message
  NaiveMessage message{};
};

/// One way of a channel: what is in its slots, the one that arrives first.
using NaiveWire = std::deque<std::optional<NaiveParcel>>;

/// One end of a slot: a window of one message each way.
struct NaiveSlot {
  MessageRef held;        // sent, and nobody knows yet whether it has come
  bool too_soon = false;  // the answer that comes next was given before all of the quad was there
  u32 sent = 0;           // messages that the far end has taken, modulo 2
  u32 taken = 0;          // messages taken from it, modulo 2
};

/// A quad on its way into a TIC.
struct NaiveTrain {
  u32 slot;
  u32 parts;
  bool spoiled;
  MessageRef message;  // null: there was no buffer for it
};

struct NaiveTicPort {
  sconnect::Link link;
  NaiveWire *in = nullptr, *out = nullptr;
  std::vector<NaiveSlot> slots;
  std::array<std::array<std::list<MessageRef>, 2>, 4> queue;  // [priority][VC]
  u32 turn = 0;                                               // VC that is served first
  bool on = true;
  std::optional<NaiveParcel> heard;  // in the last cycle
  bool reply = false;                // an answer is to go out with the next slot
  MessageRef leaving;                // quad of which parts are still to go
  u32 parts = 0, leaving_slot = 0;
  std::optional<NaiveTrain> train;
  std::vector<MessageRef> doubtful;  // came damaged in the last cycle
  MessageRef back;                   // to be routed anew
  u32 entering = 0;                  // cycles for which the host still gives parts of a quad
  u32 carried = 0, damaged = 0, refused = 0, failed = 0, lost = 0;

  bool is_channel() const { return link.kind == LinkKind::kSerial || link.kind == LinkKind::kParallel; }
};

struct NaiveTic {
  std::array<NaiveTicPort, 6> port;
  std::list<MessageRef> pool;
  bool no_route = false;

  /// Buffers of the messages of a queue, those included that have left it and are held.
  u32 held(u32 p, u32 priority, u32 vc) const {
    u32 n = 0;
    for (const MessageRef& m : pool)
      n += m->next_port == p && m->priority == priority && m->next_vc == vc ? m->flits : 0;
    return n;
  }
  u32 used() const {
    u32 n = 0;
    for (const MessageRef& m : pool) n += m->flits;
    return n;
  }
};

struct NaiveHost {
  struct Waiting {
    u32 id;
    Cycle created;
  };
  std::deque<Waiting> queue;
  SourceCursor next;
  u32 created = 0, sent = 0, received = 0;
};

class NaiveSconnect {
 public:
  NaiveSconnect(const Experiment& e, const SconnectPlan& plan, const ReplicaRow& row)
      : t_(plan.table()), row_(row), tables_(plan.tables()), tics_(plan.fabric().tics), hosts_(t_.terminals) {
    const double whole = std::pow(1 - e.f64(sconnect::param::channel.error_rate), 96);
    threshold_ = static_cast<u32>((1 - whole) * 4294967296.0);
    buffers_ = e.u32_of(sconnect::param::router.buffers);
    host_buffers_ =
        e.is_auto(sconnect::param::router.host_buffers) ? buffers_ / 2 : e.u32_of(sconnect::param::router.host_buffers);
    const SconnectFabric& f = plan.fabric();
    for (u32 n = 0; n < f.tics; ++n)
      for (u32 p = 0; p < 6; ++p) {
        NaiveTicPort& port = tics_[n].port[p];
        port.link = f.link(n, p);
        if (!port.is_channel()) continue;
        port.slots.resize(2 * (port.link.delay + 1u));
        wires_.push_back(std::make_unique<NaiveWire>(port.link.delay));
        port.out = wires_.back().get();
      }
    for (NaiveTic& tic : tics_)
      for (NaiveTicPort& port : tic.port)
        if (port.is_channel()) tics_[port.link.far].port[port.link.port].in = port.out;
    for (u32 h = 0; h < hosts_.size(); ++h) {
      hosts_[h].next = first_creation(t_.traffic, row_, h);
      if (never_sends(t_.traffic, h)) hosts_[h].next.at = kNever;
    }
  }

  std::vector<NaiveTic>& tics() { return tics_; }
  std::vector<NaiveHost>& hosts() { return hosts_; }
  Cycle now() const { return now_; }
  u64 total(TotalIndex t, u32 i = 0) { return totals_[t.value + i]; }

  void step() {
    for (u32 n = 0; n < tics_.size(); ++n) work(n);
    for (auto& wire : wires_) wire->pop_front();
    ++now_;
  }

 private:
  void count(TotalIndex t, u64 amount = 1, u32 i = 0) { totals_[t.value + i] += amount; }
  static void error(u32& error) { error += error < 65535; }

  void work(u32 n) {
    NaiveTic& tic = tics_[n];
    for (NaiveTicPort& port : tic.port)
      if (port.link.kind == LinkKind::kHost) create(port.link.far);
    for (u32 p = 0; p < 6; ++p) {
      NaiveTicPort& port = tic.port[p];
      if (port.link.kind == LinkKind::kHost) {
        to_host(tic, p);
        from_host(tic, p);
      } else if (port.is_channel()) {
        // A quad that has begun to leave a port that is then switched off leaves whole.
        const bool on = port.on || port.leaving;
        if (on)
          transmit(n, p);
        else
          turn_away(port, p);
        if (!on) port.out->push_back(std::nullopt);
        std::optional<NaiveParcel> came = port.in->front();
        if (!on) came.reset();
        receive(tic, p, came);
      }
    }
    for (u32 p = 0; p < 6; ++p) {
      if (!tic.port[p].back) continue;
      const MessageRef m = std::move(tic.port[p].back);
      tic.port[p].back.reset();
      route_again(tic, m, p);
    }
  }

  // Buffers and queues.

  /// Buffers promised to a queue.
  u32 promised(const NaiveTic& tic, u32 p, u32 priority, u32 vc) const {
    const LinkKind kind = tic.port[p].link.kind;
    return kind == LinkKind::kNone || (kind == LinkKind::kHost && vc == 1) ? 0 : t_.reserve[priority];
  }

  /// All queues must still be able to get what they are promised, and control messages, of which there are none here.
  bool room(const NaiveTic& tic, u32 p, u32 priority, u32 vc, u32 flits) const {
    u32 all = 0;
    for (u32 port = 0; port < 6; ++port)
      for (u32 c = 0; c < 8; ++c) {
        const bool mine = port == p && c == 2 * priority + vc;
        all += std::max(tic.held(port, c / 2, c % 2) + (mine ? flits : 0), promised(tic, port, c / 2, c % 2));
      }
    return all + 2 * t_.control_buffers <= buffers_;
  }

  static void free(NaiveTic& tic, const MessageRef& m) { tic.pool.remove(m); }

  /// Null: there is no buffer.
  MessageRef store(NaiveTic& tic, const NaiveMessage& message, u32 source, bool from_host = false) {
    const MessageRef m = std::make_shared<NaiveMessage>(message);
    const auto place = choose(tic, *m, source);
    if (!place) return nullptr;
    if (from_host && tic.used() >= host_buffers_ && tic.held(place->port, m->priority, place->vc)) return nullptr;
    tic.pool.push_back(m);
    enqueue(tic, m, *place, false);
    return m;
  }

  static MessageRef take(std::list<MessageRef>& queue) {
    const MessageRef m = queue.front();
    queue.pop_front();
    m->waiting = false;
    return m;
  }

  /// Messages ahead of one at a port, if it were sent there.
  static u32 ahead(const NaiveTicPort& port, const NaiveMessage& m) {
    u32 n = port.leaving ? 1 : 0;
    for (u32 priority = 0; priority < 4; ++priority) {
      const bool before = priority > m.priority || (priority == m.priority && !m.back);
      if (before) n += port.queue[priority][0].size() + port.queue[priority][1].size();
    }
    return n;
  }

  struct Place {
    u32 port, vc;
  };

  /// The queue for a message, among those that have a buffer for it.
  std::optional<Place> choose(NaiveTic& tic, const NaiveMessage& message, u32 source) {
    const NaiveMessage* m = &message;
    const std::size_t tic_number = static_cast<std::size_t>(&tic - tics_.data());
    const u32 entry = tables_.entry[tic_number * t_.nodes + m->node];
    struct Way {
      u32 port;
      std::vector<u32> vcs;
    };
    std::vector<Way> ways;
    const auto list_ways = [&](bool all_on_1, const auto& good) {
      ways.clear();
      for (u32 i = 1; i <= 6; ++i) {
        const u32 p = (source + i) % 6;
        Way way{p, {}};
        for (u32 vc = 0; vc < 2; ++vc)
          if (entry >> (2 * p + vc) & 1 && (vc == 1 || !all_on_1)) way.vcs.push_back(vc);
        if (!way.vcs.empty() && good(p)) ways.push_back(way);
      }
      return !ways.empty();
    };
    const auto on = [&](u32 p) { return tic.port[p].on; };
    const auto any = [](u32) { return true; };
    const auto untried = [&](const auto& also) {
      return [&](u32 p) { return also(p) && (!m->back || *m->back != p); };
    };
    const bool stays_on_1 = m->vc == 1 && list_ways(true, any);
    const bool found = list_ways(stays_on_1, on) ? list_ways(stays_on_1, untried(on)) || list_ways(stays_on_1, on)
                                                 : list_ways(stays_on_1, untried(any)) || list_ways(stays_on_1, any);
    if (!found) {
      tic.no_route = true;
      return {};
    }
    std::optional<Place> best;
    u32 least = 0;
    for (const Way& way : ways) {
      std::vector<u32> vcs;
      for (u32 vc : way.vcs)
        if (room(tic, way.port, m->priority, vc, m->flits)) vcs.push_back(vc);
      const u32 load = ahead(tic.port[way.port], *m);
      if (vcs.empty() || (best && load >= least)) continue;
      const auto& queues = tic.port[way.port].queue[m->priority];
      best = Place{way.port, vcs.front()};
      if (vcs.size() == 2 && queues[1].size() < queues[0].size()) best->vc = 1;
      least = load;
    }
    return best;
  }

  void enqueue(NaiveTic& tic, const MessageRef& m, const Place& place, bool at_head) {
    m->next_port = place.port;
    m->next_vc = place.vc;
    auto& queue = tic.port[place.port].queue[m->priority][place.vc];
    if (at_head)
      queue.push_front(m);
    else
      queue.push_back(m);
    m->waiting = true;
  }

  /// What has come back, or waited for a port that is off. It keeps its place in the pool, if for another queue.
  void route_again(NaiveTic& tic, const MessageRef& m, u32 p) {
    if (m->damaged) return annihilate(tic, m);
    tic.pool.remove(m);
    const Place old{m->next_port, m->next_vc}, place = choose(tic, *m, p).value_or(old);
    tic.pool.push_back(m);
    enqueue(tic, m, place, true);
  }

  // Transmitters.

  /// The next message of a port: highest priority, virtual channels in turns.
  static MessageRef serve(NaiveTicPort& port) {
    for (u32 priority = 4; priority-- > 0;) {
      auto& queues = port.queue[priority];
      if (queues[0].empty() && queues[1].empty()) continue;
      const u32 vc = queues[port.turn].empty() ? 1 - port.turn : port.turn;
      port.turn = 1 - vc;
      return take(queues[vc]);
    }
    return nullptr;
  }

  void come_back(NaiveTicPort& port, u32 p, const MessageRef& m) {
    m->failures = std::min(m->failures + 1, 255u);
    m->back = p;
    port.back = m;
    error(port.failed);
    count(sconnect::Count::kFailed);
  }

  /// What waits for a port that is off goes elsewhere, one message a cycle.
  static void turn_away(NaiveTicPort& port, u32 p) {
    port.heard.reset();
    for (u32 priority = 4; priority-- > 0;)
      for (u32 vc = 2; vc-- > 0;) {
        auto& queue = port.queue[priority][vc];
        if (queue.empty()) continue;
        port.back = take(queue);
        port.back->back = p;
        return;
      }
  }

  /// What has become of what the slot carried a round ago. Returns whether it goes again.
  bool settle(NaiveTic& tic, NaiveTicPort& port, u32 p, NaiveSlot& slot) {
    if (!slot.held) return false;
    const bool quad = slot.held->flits == 4;
    if (slot.too_soon) {
      slot.too_soon = false;
      return false;
    }
    if (!port.heard || port.heard->hit) {
      if (quad) return false;
      error(port.lost);
      count(sconnect::Count::kAnswersLost);
      return true;
    }
    if (port.heard->answer != slot.sent) {
      slot.sent ^= 1;
      free(tic, slot.held);
    } else {
      come_back(port, p, slot.held);
    }
    slot.held.reset();
    return false;
  }

  static NaiveMessage on_its_way(const NaiveMessage& m) {
    NaiveMessage copy = m;
    copy.vc = m.next_vc;
    copy.back.reset();
    ++copy.hops;
    return copy;
  }

  void transmit(u32 n, u32 p) {
    NaiveTic& tic = tics_[n];
    NaiveTicPort& port = tic.port[p];
    const u32 round = port.slots.size(), here = now_ % round;
    NaiveSlot& slot = port.slots[here];
    const bool again = settle(tic, port, p, slot);
    port.heard.reset();
    NaiveParcel parcel;
    const auto carry = [&](const NaiveMessage& m, u32 sequence) {
      parcel.carries = true;
      parcel.quad = m.flits == 4;
      parcel.sequence = sequence;
      parcel.message = on_its_way(m);
      ++port.carried;
      count(sconnect::Count::kSlotsSent);
    };
    if (port.leaving) {
      NaiveSlot& first = port.slots[port.leaving_slot];
      const MessageRef m = port.leaving;
      carry(*m, first.sent);
      if (++port.parts == 4) {
        parcel.last = true;
        port.leaving.reset();
        if (m->damaged) {
          parcel.abort = true;
          first.held.reset();
          first.too_soon = false;
          annihilate(tic, m);
        }
      }
    } else if (again) {
      carry(*slot.held, slot.sent);
      count(sconnect::Count::kSentAgain);
    } else if (slot.held) {
      parcel.asks = true;
    } else if (const MessageRef m = serve(port)) {
      carry(*m, slot.sent);
      if (m->flits == 4) {
        port.leaving = m;
        port.parts = 1;
        port.leaving_slot = here;
        slot.held = m;
        slot.too_soon = true;
      } else if (m->damaged) {
        parcel.abort = true;
        annihilate(tic, m);
      } else {
        slot.held = m;
      }
    }
    if (!parcel.carries && !parcel.asks && !port.reply) {
      port.out->push_back(std::nullopt);
      return;
    }
    port.reply = false;
    parcel.answer = port.slots[(now_ + round - 1) % round].taken;
    parcel.hit = port.link.kind == LinkKind::kSerial &&
                 philox(row_.seed, sconnect::stream::kError, 8 * n + p, now_).word[0] < threshold_;
    port.out->push_back(parcel);
  }

  void annihilate(NaiveTic& tic, const MessageRef& m) {
    free(tic, m);
    count(sconnect::Count::kAborted);
  }

  // Receivers.

  void receive(NaiveTic& tic, u32 p, const std::optional<NaiveParcel>& came) {
    NaiveTicPort& port = tic.port[p];
    for (const MessageRef& m : port.doubtful) {
      if (!m->waiting) continue;
      for (NaiveTicPort& other : tic.port)
        for (auto& vcs : other.queue)
          for (auto& queue : vcs) queue.remove(m);
      m->waiting = false;
      free(tic, m);
    }
    port.doubtful.clear();
    port.heard = came;
    const bool hit = came && came->hit;
    if (hit) {
      error(port.damaged);
      count(sconnect::Count::kSlotsHit);
    }
    receive_part(tic, p, came);
    if (came && came->carries && !came->quad) receive_single(tic, p, *came);
    port.reply = came && (came->carries || came->asks || hit);
  }

  void refuse(NaiveTicPort& port) {
    error(port.refused);
    count(sconnect::Count::kRejected);
  }

  void receive_single(NaiveTic& tic, u32 p, const NaiveParcel& parcel) {
    NaiveTicPort& port = tic.port[p];
    NaiveSlot& slot = port.slots[now_ % port.slots.size()];
    const NaiveMessage& m = parcel.message;
    if (parcel.abort) return;
    if (parcel.sequence != slot.taken) {
      if (!parcel.hit) count(sconnect::Count::kDuplicates);
      return;
    }
    const MessageRef stored = store(tic, m, p);
    if (parcel.hit) {
      if (!stored) return;
      port.doubtful.push_back(stored);
      stored->damaged = true;
    } else if (!stored) {
      refuse(port);
    } else {
      slot.taken ^= 1;
    }
  }

  void receive_part(NaiveTic& tic, u32 p, const std::optional<NaiveParcel>& came) {
    NaiveTicPort& port = tic.port[p];
    const u32 here = now_ % port.slots.size();
    const bool part = came && !came->hit && came->carries && came->quad;
    if (!port.train) {
      if (!part || came->last) return;
      port.train = NaiveTrain{here, 1, false, nullptr};
      port.train->message = store(tic, came->message, p);
      if (!port.train->message) refuse(port);
      return;
    }
    NaiveTrain& train = *port.train;
    ++train.parts;
    train.spoiled |= !part || came->abort;
    const bool last = part && came->last;
    if (!last && train.parts < 4) return;
    const MessageRef m = train.message;
    NaiveSlot& first = port.slots[train.slot];
    const bool whole = last && train.parts == 4 && !train.spoiled;
    port.train.reset();
    if (!m) return;
    if (whole && came->sequence == first.taken) {
      first.taken ^= 1;
      return;
    }
    m->damaged = true;
    port.doubtful.push_back(m);
  }

  // Hosts.

  void create(u32 h) {
    NaiveHost& host = hosts_[h];
    while (host.next.at <= now_) {
      host.queue.push_back({host.next.index, host.next.at});
      ++host.created;
      next_creation(t_.traffic, row_, h, host.next);
    }
  }

  NaiveMessage first_of(u32 h, u32 p) const {
    const NaiveHost::Waiting& first = hosts_[h].queue.front();
    NaiveMessage m{};
    m.name = {h, first.id};
    m.created = first.created;
    m.dst = packet_destination(t_.traffic, row_, h, first.id);
    m.node = t_.terminal_node[m.dst];
    m.flits = packet_flits(t_.traffic, row_, h, first.id);
    const u32 draw = packet_draws(row_, h, first.id).word[3];
    const u32* below = t_.priority_below[p - sconnect::kSerial];
    while (m.priority < 3 && below[m.priority] != ~0u && draw >= below[m.priority]) ++m.priority;
    if (m.flits == 4) m.priority = t_.quad_priority;
    return m;
  }

  void from_host(NaiveTic& tic, u32 p) {
    NaiveTicPort& port = tic.port[p];
    NaiveHost& host = hosts_[port.link.far];
    if (port.entering) {
      --port.entering;
      return;
    }
    if (!port.on || host.queue.empty()) return;
    NaiveMessage m = first_of(port.link.far, p);
    m.injected = now_;
    m.entered = p;
    if (!store(tic, m, p, true)) return;
    host.queue.pop_front();
    ++host.sent;
    count(Total::kPacketsInjected);
    port.entering = m.flits - 1;
  }

  void to_host(NaiveTic& tic, u32 p) {
    NaiveTicPort& port = tic.port[p];
    if (port.leaving) {
      if (++port.parts < 4) return;
      finish(tic, port, port.leaving);
      port.leaving.reset();
      return;
    }
    if (!port.on) return;
    for (u32 priority = 4; priority-- > 0;) {
      auto& queue = port.queue[priority][0];
      if (queue.empty()) continue;
      if (t_.refuses >> priority & 1) return;  // and what has less priority waits behind it
      const MessageRef m = take(queue);
      ++port.carried;
      if (m->flits == 1) {
        finish(tic, port, m);
      } else {
        port.leaving = m;
        port.parts = 1;
      }
      return;
    }
  }

  void finish(NaiveTic& tic, const NaiveTicPort& port, const MessageRef& m) {
    free(tic, m);
    if (m->damaged) {
      count(sconnect::Count::kAborted);
      return;
    }
    ++hosts_[port.link.far].received;
    count(Total::kPacketsDelivered);
    count(Total::kLatencySum, now_ - m->created);
    count(sconnect::Count::kDelivered, 1, m->priority);
  }

  const sconnect::Table& t_;
  ReplicaRow row_;
  const SconnectTables& tables_;
  std::vector<NaiveTic> tics_;
  std::vector<NaiveHost> hosts_;
  std::vector<std::unique_ptr<NaiveWire>> wires_;
  std::map<u32, u64> totals_;
  u32 threshold_ = 0;  // a draw below it hits a slot
  u32 buffers_ = 0, host_buffers_ = 0;
  Cycle now_ = 0;
};

}  // namespace flitlab::testing
