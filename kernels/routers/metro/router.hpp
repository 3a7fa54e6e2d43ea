#pragma once
/// A clock of a METRO router (METRO, 4 and 5.1). In cycle t it reads the words on its wires and answers them; what it
/// sends leaves after dp cycles and is on the next router's wire after those of the wire itself, so a word takes
/// dp + vtd cycles from router to router.
///
///   header   the leading bits of the first word, and of the second where they straddle both (hw = 0), or hw words of
///            its own, say the direction; a port is chosen
///   data     forward port to backward port of the connection, or back once it is turned
///   TURN     goes on; the router answers with STATUS and its checksum, then DATA-IDLE until the far end's words are
///            there, 2 (dp + vtd) cycles later
///   DROP     goes on and closes the connection; so does a wire that nobody drives
///   blocked  the rest is thrown away; fast: the backward control bit goes back at once; detailed: TURN is awaited
#include <type_traits>
#include <utility>

#include "kernels/common/select.hpp"
#include "kernels/routers/metro/allocate.hpp"
#include "kernels/routers/metro/totals.hpp"
#include "kernels/routers/metro/wire.hpp"

namespace flitlab::metro {

/// What becomes of a router in a cycle.
struct RouterResult {
  u32 requests;  ///< forward ports that ask for a direction
  u32 freed;     ///< backward ports that are free from the next cycle on
  u32 done;      ///< forward ports that do no more in this cycle

  FLITLAB_INLINE void clear() { requests = freed = done = 0; }
};

/// What a router has before it while it works off a cycle. No port's step changes what another one's does, but for
/// what ports ask for, which is granted at the end (`allocate`).
template <class V, class Far, class Words = const Word*>
struct RouterCycle {
  static constexpr bool kKeeps = std::is_same_v<Far, KeptWords>;

  const V& v;
  const Far& far;
  Item<V::width> node;
  RouterName name;
  Cycle now;
  RouterControl& control;
  Words in;    ///< [I] words of this cycle at forward ports
  Words back;  ///< [O] at backward ones
  RouterResult& result;

  FLITLAB_INLINE ForwardPort& forward(u32 p) const { return node.at(v.t.router_fields.forward, p); }
  FLITLAB_INLINE void send_forward(u32 out, Word word) const {
    if constexpr (kKeeps)
      far.forward = {v.t.inputs + out, word};
    else
      drive_port(v, far, node, name, v.t.inputs + out, word, now);
  }
  FLITLAB_INLINE void send_back(u32 p, Word word) const {
    if constexpr (kKeeps)
      far.back = {p, word};
    else
      drive_port(v, far, node, name, p, word, now);
  }
  /// Drives what has been kept.
  FLITLAB_INLINE void drive() const {
    if constexpr (kKeeps) {
      FLITLAB_ROLLED for (u32 turn = 0; turn < 2; ++turn) {
        const KeptWords::One one = std::exchange(far.back, far.forward);
        far.forward = {};
        if (one.word) drive_port(v, FarMail<V>{v}, node, name, one.port, one.word, now);
      }
    }
  }
  FLITLAB_INLINE Word from_far(u32 out) const { return back[out]; }

  FLITLAB_INLINE void set_idle(u32 p, ForwardPort& f) const {
    f.state = PortState::kIdle;
    control.active &= ~(1u << p);
  }

  /// The backward port is free again; its far end is told.
  FLITLAB_INLINE void let_go(ForwardPort& f) const {
    send_forward(f.out, make_word(Kind::kDrop));
    forget(f);
  }
  /// It has told itself.
  FLITLAB_INLINE void forget(ForwardPort& f) const {
    node.at(v.t.router_fields.carried, f.out) += f.words;
    result.freed |= 1u << f.out;
  }

  /// A connection is given up. The far end is told by DROP, and so is a source that listens; one that sends, by the
  /// backward control bit.
  FLITLAB_INLINE void shut(u32 p, ForwardPort& f) const {
    if (f.state != PortState::kReverse) return give_up(p, f);
    let_go(f);
    send_back(p, make_word(Kind::kDrop));
    set_idle(p, f);
  }

  /// The same when the backward control bit has come from the far end: it goes on.
  FLITLAB_INLINE void give_up(u32 p, ForwardPort& f) const {
    let_go(f);
    send_back(p, make_word(Kind::kBackDrop));
    f.state = PortState::kDiscard;
  }

  /// Words of the router's own after a turn; how many there have been is counted.
  FLITLAB_INLINE Word own_word(ForwardPort& f) const {
    const u32 n = f.count++;
    if (n == 0) return make_word(Kind::kStatus, f.out);
    if (n > 1) return make_word(Kind::kIdle);
    return make_word(Kind::kStatus, std::exchange(f.checksum, 0));
  }
  /// Cycles from a turn to the far end's first word.
  FLITLAB_INLINE u32 wait(u32 port) const { return 2 * (v.t.stages + node.at(v.t.router_fields.turn_delay, port)); }

  FLITLAB_INLINE void pass(ForwardPort& f, Word word) const {
    const bool data = kind_of(word) == Kind::kData;
    f.checksum = static_cast<u16>(select(data, add_to_checksum(f.checksum, payload_of(word), v.t.width), f.checksum));
    f.words += data;
  }

  /// Bits of a direction that the word which brings a header has not.
  FLITLAB_INLINE u32 missing_bits() const {
    const u32 bits = v.t.setup[name.wide].header_bits;
    return control.log_radix > bits ? control.log_radix - bits : 0;
  }

  /// Takes so many leading bits of a word into the direction.
  FLITLAB_INLINE void take_bits(ForwardPort& f, Word word, u32 bits) const {
    f.direction = static_cast<u8>(u32{f.direction} << bits | payload_of(word) >> (v.t.width - bits));
  }
  /// What they leave of the word that has brought the last of them: of the first word, or of the second.
  FLITLAB_INLINE Word opening(u32 p, const ForwardPort& f) const {
    const u32 missing = missing_bits(), bits = f.count == 1 ? control.log_radix - missing : missing;
    return make_word(Kind::kData, payload_of(in[p]) << bits & ((1u << v.t.width) - 1));
  }

  FLITLAB_INLINE void begin(u32 p, ForwardPort& f, Word word) const {
    const u32 missing = missing_bits();
    control.active |= 1u << p;
    f.direction = 0;
    f.count = 1;
    f.state = PortState::kSetup;
    take_bits(f, word, control.log_radix - missing);
    if (v.t.header_words <= 1 && !missing) result.requests |= 1u << p;
  }

  FLITLAB_INLINE void set_up(u32 p, ForwardPort& f, Word word) const {
    if (kind_of(word) != Kind::kData) return set_idle(p, f);
    if (v.t.header_words == 0) take_bits(f, word, missing_bits());
    if (++f.count >= v.t.header_words) result.requests |= 1u << p;
  }

  FLITLAB_INLINE void flow_forward(u32 p, ForwardPort& f, Word word) const {
    if (kind_of(from_far(f.out)) == Kind::kBackDrop) return give_up(p, f);
    if (f.count < wait(p)) {  // turned toward the destination: what is on the wire is not the source's yet
      send_forward(f.out, own_word(f));
      return;
    }
    if (ends(word)) {
      let_go(f);
      return set_idle(p, f);
    }
    send_forward(f.out, word);
    if (kind_of(word) == Kind::kTurn) {
      f.state = PortState::kReverse;
      f.count = 0;
      send_back(p, own_word(f));
    } else {
      pass(f, word);
    }
  }

  FLITLAB_INLINE void flow_back(u32 p, ForwardPort& f, Word from_source) const {
    if (kind_of(from_far(f.out)) == Kind::kBackDrop) return give_up(p, f);
    if (kind_of(from_source) == Kind::kDrop) {
      let_go(f);
      return set_idle(p, f);
    }
    if (f.count < wait(v.t.inputs + f.out)) {
      send_back(p, own_word(f));
      return;
    }
    const Word word = from_far(f.out);
    if (ends(word)) {
      send_back(p, make_word(Kind::kDrop));
      forget(f);
      return set_idle(p, f);
    }
    send_back(p, word);
    if (kind_of(word) == Kind::kTurn) {
      f.state = PortState::kForward;
      f.count = 0;
      send_forward(f.out, own_word(f));
    } else {
      pass(f, word);
    }
  }

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

  FLITLAB_INLINE void block(u32 p, ForwardPort& f) const {
    f.checksum = 0;
    if (control.fast >> p & 1) {
      send_back(p, make_word(Kind::kBackDrop));
      f.state = PortState::kDiscard;
    } else {
      f.state = PortState::kBlocked;
    }
  }

  FLITLAB_INLINE void open(u32 p, ForwardPort& f, u32 out) const {
    if (v.t.header_words == 0 && !(control.swallow >> p & 1)) send_forward(out, opening(p, f));
    f.state = PortState::kForward;
    f.out = static_cast<u8>(out);
    f.count = kNoTurn;
    f.checksum = 0;
    f.words = 0;
    control.used |= 1u << out;
  }

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

  /// Connections on backward ports that the cascaded routers do not agree about, or that have been switched off.
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

  static constexpr u8 kNoTurn = 0xFF;  ///< count of a connection that has not been turned: it waits for nothing
};

/// Backward ports about which the routers that are cascaded with this one have disagreed at the end of the last cycle.
template <class V, int W>
FLITLAB_INLINE u32 disagreement(const V& v, const Item<W>& node, const RouterName& name, Cycle now) {
  const auto& t = v.t;
  const u32 used = node.at(t.router_fields.control).used;
  u32 wrong = 0;
  for (u32 s = 0; s < t.slices; ++s)
    if (s != name.slice) wrong |= node.at(t.router_fields.in_use, (now & 1) * t.slices + s) ^ used;
  return wrong;
}

/// Tells them which ones this router uses.
template <class V, int W>
FLITLAB_INLINE void tell_cascade(const V& v, const Item<W>& node, const RouterName& name, Cycle now) {
  const auto& t = v.t;
  const RouterControl& control = node.at(t.router_fields.control);
  const u32 first = name.index - name.slice, place = ((now + 1) & 1) * t.slices + name.slice;
  const u32 used = control.dead ? 0 : control.used;
  for (u32 s = 0; s < t.slices; ++s)
    if (s != name.slice) v.routers[first + s].at(t.router_fields.in_use, place) = used;
}

/// Ports that are off: their connections are shut, they drive what scan has set, and keep what comes.
template <class C>
FLITLAB_INLINE void scan(const C& cycle) {
  const auto& t = cycle.v.t;
  cycle.shut_ports(~cycle.control.backward_on);
  for (u32 left = cycle.control.active & ~cycle.control.forward_on; left; left &= left - 1) {
    const u32 p = lowest_bit(left);
    ForwardPort& f = cycle.forward(p);
    if (cycle.is_open(f)) cycle.let_go(f);
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

/// What comes before the steps of ports. Returns the forward ports that have one; words have come to `arrived`.
template <class C>
FLITLAB_INLINE u32 begin_router(const C& cycle, u32 arrived) {
  const auto& t = cycle.v.t;
  if (cycle.control.dead) return 0;
  if (cycle.control.some_off) scan(cycle);
  if (t.slices > 1 && t.in_use_check) cycle.shut_ports(disagreement(cycle.v, cycle.node, cycle.name, cycle.now));
  return (cycle.control.active | arrived) & ~cycle.result.done;
}

}  // namespace flitlab::metro
