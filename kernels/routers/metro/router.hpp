#pragma once
/// One cycle of a METRO router (METRO, 4 and 5.1). In cycle t the router reads the words on its wires and reacts to
/// them. The words that it sends take dp cycles through the router (router.pipeline_stages) and vtd cycles through the
/// wire (its delay), so dp + vtd cycles from router to router. The router reacts as follows to the words on its wires,
/// where hw is router.header_words:
///
///   header   gives the direction: with hw = 0 in the leading bits of the first word, and of the second word if the
///            direction straddles both; else in the first of the hw words that the router consumes. The router then
///            allocates a backward port
///   data     passes from the forward port to the backward port of its connection, or the other way after a turn
///   TURN     is passed on; the router sends STATUS and its checksum, then DATA-IDLE until words from the far end
///            arrive, 2 (dp + vtd) cycles later
///   DROP     is passed on and closes the connection; so does an undriven wire
///
/// If a connection is blocked, the router discards the rest of the stream. With fast reclamation it sends the backward
/// control bit at once; with detailed reclamation it waits for TURN.
#include <type_traits>
#include <utility>

#include "kernels/common/select.hpp"
#include "kernels/common/shared_words.hpp"
#include "kernels/routers/metro/allocate.hpp"
#include "kernels/routers/metro/totals.hpp"
#include "kernels/routers/metro/wire.hpp"

namespace flitlab::metro {

/// Results of the steps of a router's ports in one cycle, as sets of ports.
struct RouterResult {
  u32 requests;  ///< forward ports that request a backward port
  u32 freed;     ///< backward ports that become free in the next cycle
  u32 done;      ///< forward ports that are finished for this cycle

  FLITLAB_INLINE void clear() { requests = freed = done = 0; }
};

/// One cycle of a router. The steps of the ports are independent of each other, except that they change bits of the
/// same sets; on a GPU several threads share a router's ports. `allocate` grants the ports' requests
/// after all steps.
template <class V, class Far, class Words = const Word*>
struct RouterCycle {
  static constexpr bool kDefers = std::is_same_v<Far, DeferredWords>;

  const V& v;
  const Far& far;
  Item<V::width> node;
  RouterName name;
  Cycle now;
  RouterControl& control;
  Words in;    ///< `in[forward port]`: words of this cycle
  Words back;  ///< `back[backward port]`: words of this cycle
  RouterResult& result;

  FLITLAB_INLINE ForwardPort& forward(u32 p) const { return node.at(v.t.router_fields.forward, p); }
  FLITLAB_INLINE void send_forward(u32 out, Word word) const {
    if constexpr (kDefers)
      far.forward = {v.t.inputs + out, word};
    else
      drive_port(v, far, node, name, v.t.inputs + out, word, now);
  }
  FLITLAB_INLINE void send_back(u32 p, Word word) const {
    if constexpr (kDefers)
      far.back = {p, word};
    else
      drive_port(v, far, node, name, p, word, now);
  }
  /// Drives the wires with the words that the last step has stored.
  FLITLAB_INLINE void drive() const {
    if constexpr (kDefers) {
      FLITLAB_ROLLED for (u32 turn = 0; turn < 2; ++turn) {
        const DeferredWords::One one = std::exchange(far.back, far.forward);
        far.forward = {};
        if (one.word) drive_port(v, FarInbox<V>{v}, node, name, one.port, one.word, now);
      }
    }
  }
  FLITLAB_INLINE Word from_far(u32 out) const { return back[out]; }

  FLITLAB_INLINE void set_idle(u32 p, ForwardPort& f) const {
    f.state = PortState::kIdle;
    clear_bits(control.active, 1u << p);
  }

  /// Releases the backward port of a connection and sends DROP to the far end of that port.
  FLITLAB_INLINE void release_with_drop(ForwardPort& f) const {
    send_forward(f.out, make_word(Kind::kDrop));
    release(f);
  }
  /// Releases the backward port of a connection without DROP, because the far end has closed the connection.
  FLITLAB_INLINE void release(ForwardPort& f) const {
    node.at(v.t.router_fields.carried, f.out) += f.words;
    set_bits(result.freed, 1u << f.out);
  }

  /// Closes a connection. The far end gets DROP. The source gets DROP if it receives, the backward control bit if it
  /// sends.
  FLITLAB_INLINE void shut(u32 p, ForwardPort& f) const {
    if (f.state != PortState::kReverse) return release_backward(p, f);
    release_with_drop(f);
    send_back(p, make_word(Kind::kDrop));
    set_idle(p, f);
  }

  /// Closes a connection by the backward control bit to the source, whether the bit has come from the far end or the
  /// router itself closes the connection. The rest of the stream is discarded.
  FLITLAB_INLINE void release_backward(u32 p, ForwardPort& f) const {
    release_with_drop(f);
    send_back(p, make_word(Kind::kBackDrop));
    f.state = PortState::kDiscard;
  }

  /// Returns the next of the words that the router itself sends after a turn, and counts it: STATUS, the checksum, then
  /// DATA-IDLE.
  FLITLAB_INLINE Word status_word(ForwardPort& f) const {
    const u32 n = f.count++;
    if (n == 0) return make_word(Kind::kStatus, f.out);
    if (n > 1) return make_word(Kind::kIdle);
    return make_word(Kind::kStatus, std::exchange(f.checksum, 0));
  }
  /// Returns the cycles from a turn to the first word from the far end of a port.
  FLITLAB_INLINE u32 wait(u32 port) const { return 2 * (v.t.stages + node.at(v.t.router_fields.turn_delay, port)); }

  /// Counts a word of a stream and adds its data to the checksum.
  FLITLAB_INLINE void pass(ForwardPort& f, Word word) const {
    const bool data = kind_of(word) == Kind::kData;
    f.checksum = static_cast<u16>(select(data, add_to_checksum(f.checksum, payload_of(word), v.t.width), f.checksum));
    f.words += data;
  }

  /// Returns how many bits of the direction are in the second header word instead of the first.
  FLITLAB_INLINE u32 missing_bits() const {
    const u32 bits = v.t.setup[name.wide].header_bits;
    return control.log_radix > bits ? control.log_radix - bits : 0;
  }

  /// Appends the leading `bits` bits of a word to the direction.
  FLITLAB_INLINE void take_bits(ForwardPort& f, Word word, u32 bits) const {
    f.direction = static_cast<u8>(u32{f.direction} << bits | payload_of(word) >> (v.t.width - bits));
  }
  /// Returns the first word that the router passes on. It is the header word that contained the last bits of the
  /// direction, shifted so that the bits for this router are removed.
  FLITLAB_INLINE Word opening(u32 p, const ForwardPort& f) const {
    const u32 missing = missing_bits(), bits = f.count == 1 ? control.log_radix - missing : missing;
    return make_word(Kind::kData, payload_of(in[p]) << bits & ((1u << v.t.width) - 1));
  }

  /// Takes the first header word of a new connection.
  FLITLAB_INLINE void begin(u32 p, ForwardPort& f, Word word) const {
    const u32 missing = missing_bits();
    set_bits(control.active, 1u << p);
    f.direction = 0;
    f.count = 1;
    f.state = PortState::kSetup;
    take_bits(f, word, control.log_radix - missing);
    if (v.t.header_words <= 1 && !missing) set_bits(result.requests, 1u << p);
  }

  /// Takes a further header word.
  FLITLAB_INLINE void set_up(u32 p, ForwardPort& f, Word word) const {
    if (kind_of(word) != Kind::kData) return set_idle(p, f);
    if (v.t.header_words == 0) take_bits(f, word, missing_bits());
    if (++f.count >= v.t.header_words) set_bits(result.requests, 1u << p);
  }

  /// Step of a connection whose words flow toward the destination.
  FLITLAB_INLINE void flow_forward(u32 p, ForwardPort& f, Word word) const {
    if (kind_of(from_far(f.out)) == Kind::kBackDrop) return release_backward(p, f);
    if (f.count < wait(p)) {  // after a turn toward the destination: the source's words have not arrived yet
      send_forward(f.out, status_word(f));
      return;
    }
    if (ends(word)) {
      release_with_drop(f);
      return set_idle(p, f);
    }
    send_forward(f.out, word);
    if (kind_of(word) == Kind::kTurn) {
      f.state = PortState::kReverse;
      f.count = 0;
      send_back(p, status_word(f));
    } else {
      pass(f, word);
    }
  }

  /// Step of a connection whose words flow toward the source.
  FLITLAB_INLINE void flow_back(u32 p, ForwardPort& f, Word from_source) const {
    if (kind_of(from_far(f.out)) == Kind::kBackDrop) return release_backward(p, f);
    if (kind_of(from_source) == Kind::kDrop) {
      release_with_drop(f);
      return set_idle(p, f);
    }
    if (f.count < wait(v.t.inputs + f.out)) {
      send_back(p, status_word(f));
      return;
    }
    const Word word = from_far(f.out);
    if (ends(word)) {
      send_back(p, make_word(Kind::kDrop));
      release(f);
      return set_idle(p, f);
    }
    send_back(p, word);
    if (kind_of(word) == Kind::kTurn) {
      f.state = PortState::kForward;
      f.count = 0;
      send_forward(f.out, status_word(f));
    } else {
      pass(f, word);
    }
  }

  /// Step of a forward port in any state.
  FLITLAB_INLINE void step(u32 p) const {
    ForwardPort& f = forward(p);
    const Word word = in[p];
    switch (f.state) {
      case PortState::kIdle:
        if (kind_of(word) == Kind::kData && control.forward_on >> p & 1) begin(p, f, word);
        return;
      case PortState::kSetup: return set_up(p, f, word);
      case PortState::kForward: return flow_forward(p, f, word);
      case PortState::kReverse: return flow_back(p, f, word);
      case PortState::kBlocked:
        if (ends(word)) return set_idle(p, f);
        pass(f, word);
        if (kind_of(word) != Kind::kTurn) return;
        f.state = PortState::kAnswer;
        f.count = 0;
        send_back(p, make_word(Kind::kBlocked, f.direction));
        return;
      case PortState::kAnswer:
        if (f.count++ == 0) {
          send_back(p, make_word(Kind::kBlocked, f.checksum));
        } else {
          send_back(p, make_word(Kind::kDrop));
          set_idle(p, f);
        }
        return;
      case PortState::kDiscard:
        if (ends(word)) set_idle(p, f);
        return;
    }
  }

  /// Denies the request of forward port p.
  FLITLAB_INLINE void block(u32 p, ForwardPort& f) const {
    f.checksum = 0;
    if (control.fast >> p & 1) {
      send_back(p, make_word(Kind::kBackDrop));
      f.state = PortState::kDiscard;
    } else {
      f.state = PortState::kBlocked;
    }
  }

  /// Connects forward port p with backward port `out`.
  FLITLAB_INLINE void open(u32 p, ForwardPort& f, u32 out) const {
    if (v.t.header_words == 0 && !(control.swallow >> p & 1)) send_forward(out, opening(p, f));
    f.state = PortState::kForward;
    f.out = static_cast<u8>(out);
    f.count = kNoTurn;
    f.checksum = 0;
    f.words = 0;
    control.used |= 1u << out;
  }

  /// Grants or denies all requests of the cycle.
  FLITLAB_INLINE void allocate() const {
    const RandomInputs random = random_inputs(v, name.index, now);
    u32 p = lowest_bit(result.requests);
    if (result.requests & (result.requests - 1))
      p = nth_member(result.requests, below(random(kOrderInput).word[0], bit_count(result.requests)));
    for (u32 left = result.requests; left; left &= ~(1u << p)) {
      p = first_at_or_after(left, p);
      ForwardPort& f = forward(p);
      const u32 out = choose_port(v.t, control, p, f.direction, random);
      if (out == kNone)
        block(p, f);
      else
        open(p, f, out);
      drive();
    }
  }

  /// Shuts the connections on the backward ports in `wrong`: the slices disagree about the use of these ports, or the
  /// ports are switched off.
  FLITLAB_INLINE void shut_ports(u32 wrong) const {
    for (u32 left = control.active & ~result.done; left && wrong; left &= left - 1) {
      const u32 p = lowest_bit(left);
      ForwardPort& f = forward(p);
      if (!is_open(f) || !(wrong >> f.out & 1)) continue;
      shut(p, f);
      drive();
      result.done |= 1u << p;
      count(*v.shard, Count::kShut);
    }
  }

  static FLITLAB_INLINE bool is_open(const ForwardPort& f) {
    return f.state == PortState::kForward || f.state == PortState::kReverse;
  }

  static constexpr u8 kNoTurn = 0xFF;  ///< ForwardPort::count of a connection that has not been turned
};

/// Returns the backward ports that were in use in this slice but not in another slice, or the reverse, at the end of
/// the last cycle.
template <class V, int W>
FLITLAB_INLINE u32 disagreement(const V& v, const Item<W>& node, const RouterName& name, Cycle now) {
  const auto& t = v.t;
  const u32 used = node.at(t.router_fields.control).used;
  u32 wrong = 0;
  for (u32 s = 0; s < t.slices; ++s)
    if (s != name.slice) wrong |= node.at(t.router_fields.in_use, (now & 1) * t.slices + s) ^ used;
  return wrong;
}

/// Publishes to the other slices which backward ports this slice uses.
template <class V, int W>
FLITLAB_INLINE void publish_in_use(const V& v, const Item<W>& node, const RouterName& name, Cycle now) {
  const auto& t = v.t;
  const RouterControl& control = node.at(t.router_fields.control);
  const u32 first = name.index - name.slice, position = ((now + 1) & 1) * t.slices + name.slice;
  const u32 used = control.dead ? 0 : control.used;
  for (u32 s = 0; s < t.slices; ++s)
    if (s != name.slice) v.routers[first + s].at(t.router_fields.in_use, position) = used;
}

/// Handles ports that are off: shuts their connections, drives the words that scan has set, captures arriving words.
template <class C>
FLITLAB_INLINE void scan(const C& cycle) {
  const auto& t = cycle.v.t;
  cycle.shut_ports(~cycle.control.backward_on);
  for (u32 left = cycle.control.active & ~cycle.control.forward_on; left; left &= left - 1) {
    const u32 p = lowest_bit(left);
    ForwardPort& f = cycle.forward(p);
    if (cycle.is_open(f)) cycle.release_with_drop(f);
    cycle.drive();
    cycle.set_idle(p, f);
  }
  for (u32 p = 0; p < t.ports(); ++p) {
    const bool on = p < t.inputs ? cycle.control.forward_on >> p & 1 : cycle.control.backward_on >> (p - t.inputs) & 1;
    if (on) continue;
    const Word word = p < t.inputs ? cycle.in[p] : cycle.back[p - t.inputs];
    if (word) cycle.node.at(t.router_fields.captured, p) = word;
    const Word drive = cycle.node.at(t.router_fields.drive, p);
    const bool drops = p < t.inputs ? cycle.result.done >> p & 1 : cycle.result.freed >> (p - t.inputs) & 1;
    if (drive && !drops) cycle.send_back(p, drive);
    cycle.drive();
  }
}

/// Does the work that precedes the ports' steps. Returns the forward ports that have a step. `arrived`: forward ports
/// with an arriving word.
template <class C>
FLITLAB_INLINE u32 begin_router(const C& cycle, u32 arrived) {
  const auto& t = cycle.v.t;
  if (cycle.control.dead) return 0;
  if (cycle.control.some_off) scan(cycle);
  if (t.slices > 1 && t.in_use_check) cycle.shut_ports(disagreement(cycle.v, cycle.node, cycle.name, cycle.now));
  return (cycle.control.active | arrived) & ~cycle.result.done;
}

}  // namespace flitlab::metro
