#pragma once
/// METRO written a second time, as its description has it, without any of the emulator's routers or endpoints: wires
/// are queues of words, a router is its ports, an endpoint its message and what its links bring, and everybody looks at
/// everything in every cycle. Random choices are drawn with the same keys, and what data consists of and when messages
/// are created is asked of the emulator; all else is thought out again. Every word on every wire must agree, what every
/// port does, and the totals. Of what the description leaves open - what becomes of connections that cascaded routers
/// see differently, and of words that faults have made - this is a second account, so that it cannot change unnoticed.
#include <algorithm>
#include <bit>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "kernels/common/philox.hpp"
#include "kernels/common/streams.hpp"
#include "kernels/routers/metro/message.hpp"
#include "tests/support/metro.hpp"

namespace flitlab::testing {

using metro::Kind;
using metro::kind_of;
using metro::make_word;
using metro::payload_of;
using metro::PortState;
using metro::Word;

struct NaiveFault {
  Cycle cycle;
  std::string what;
  bool endpoint;   // `item` is an endpoint and `port` a leaving link; else a wide router and its flat port
  u32 item, port;  // port: kNone for all of a router
  u32 slice;       // kNone: all of them
  u32 bit;         // stuck
  double part;     // noise, misallocation
};

/// One direction of a wire, with the pipeline of whoever drives it.
struct NaiveWire {
  std::deque<Word> words;
  std::string fault;  // "", "dead", "stuck0", "stuck1", "noise"
  u32 bit = 0;
  double part = 0;
  u32 sender = 0;  // what its noise is drawn for
};

/// The two directions between a port and what it is joined to.
struct NaiveEnd {
  NaiveWire* in = nullptr;
  NaiveWire* out = nullptr;
  u32 delay = 0;
  Word word = 0;  // read in this cycle
  Word sent = 0;
};

struct NaivePort {
  PortState state = PortState::kIdle;
  u32 out = 0;
  u32 header = 0;  // words taken
  u32 direction = 0;
  u32 sum = 0;
  std::deque<Word> own;  // that the router has still to send by itself
};

struct NaiveRouter {
  u32 wide = 0, slice = 0;
  u32 forward = 0, backward = 0, radix = 0, dilation = 0;
  bool swallow = false, fast = false, dead = false;
  double misallocate = 0;
  std::vector<NaivePort> port;
  std::vector<NaiveEnd> end;  // forward ports, then backward ones
  std::vector<bool> on;
  std::vector<bool> used;  // backward ports
  std::vector<bool> said;  // of these, what the cascaded routers have been told at the end of the last cycle
  NaiveEnd& back(u32 out) { return end[forward + out]; }
};

/// What all cascaded wires of a link bring.
struct Heard {
  Kind kind = Kind::kNothing;
  bool agree = true;
  u64 content = 0;
};

struct NaiveMessage {
  u32 id, destination, words;
  Cycle created;
};

struct NaiveSource {
  enum { kIdle, kSending, kTurned, kClosing } state = kIdle;
  std::deque<NaiveMessage> queue;  // its first is under way once it has been tried
  bool open = false;               // it has been
  u32 serial = 0;
  u32 attempts = 0;
  u32 link = 0;
  std::vector<u64> words;  // header and body
  u32 header = 0;
  u32 sent = 0;
  Cycle started = 0;
  Cycle from = 0;
  u32 status = 0;
  bool acked = false, refused = false, blocked = false;
  u32 damaged = kNone;  // stage
  std::vector<u64> answer, reply;
  Cycle answered = 0;
  SourceCursor next;
};

struct NaiveSink {
  enum { kIdle, kTaking, kAnswering, kTurned } state = kIdle;
  std::vector<u64> words;
  bool refuse = false;
  std::deque<std::pair<Kind, u64>> answer;
  Cycle from = 0;
};

struct NaiveEndpoint {
  NaiveSource source;
  std::vector<NaiveSink> sink;
  std::vector<std::vector<NaiveEnd>> link;  // [leaving links, entering ones][cascaded wires]
  std::vector<bool> link_on;
  std::vector<u32> next_serial, last_serial;
};

class NaiveMetro {
 public:
  NaiveMetro(const Experiment& e, const MetroPlan& plan, const ReplicaRow& row, std::vector<NaiveFault> faults)
      : t_(plan.table()), row_(row), faults_(std::move(faults)), net_(plan.network()) {
    width_ = e.u32_of("router.width");
    slices_ = e.u32_of("router.cascade");
    header_words_ = e.u32_of("router.header_words");
    dp_ = e.u32_of("router.pipeline_stages");
    inputs_ = e.u32_of("router.random_inputs");
    shared_ = e.flag("router.shared_random");
    in_use_check_ = e.flag("router.in_use_check");
    backoff_ = e.str("endpoint.retry") == "backoff";
    backoff_cycles_ = backoff_ ? e.u32_of("endpoint.backoff_cycles") : 0;
    doublings_ = backoff_ ? e.u32_of("endpoint.backoff_doublings") : 0;
    most_attempts_ = e.u32_of("endpoint.most_attempts");
    source_closes_ = e.str("endpoint.closed_by") == "source";
    replies_ = e.str("traffic.mode") == "request_reply";
    stalls_ = replies_ || (e.has("endpoint.stalls") && e.flag("endpoint.stalls"));
    reply_delay_ = replies_ ? e.u32_of("traffic.reply_delay") : 0;
    const std::string& check = e.str("endpoint.checksum");
    check_bits_ = check == "crc8" ? 8 : check == "crc16" ? 16 : check == "crc32" ? 32 : 0;
    polynomial_ = check == "crc8" ? 0x07u : check == "crc16" ? 0x1021u : check == "crc32" ? 0x04C11DB7u : 0;
    entry_ = e.u32_of("topology.entry_delay");
    hop_ = dp_ + e.u32_of("topology.wire_delay");
    build(e);
  }

  Cycle now() const { return now_; }
  u64 total(Total first, u32 i = 0) const { return total_[static_cast<u32>(first) + i]; }
  std::vector<NaiveRouter>& routers() { return routers_; }
  std::vector<NaiveEndpoint>& endpoints() { return endpoints_; }

  /// Faults of the cycle to come.
  void apply_faults() {
    for (const NaiveFault& f : faults_)
      if (f.cycle == now_) apply(f);
  }

  void step() {
    for (NaiveRouter& r : routers_)
      for (NaiveEnd& end : r.end) listen(end);
    for (NaiveEndpoint& e : endpoints_)
      for (auto& link : e.link)
        for (NaiveEnd& end : link) listen(end);
    for (u32 n = 0; n < endpoints_.size(); ++n) endpoint_cycle(n);
    for (u32 r = 0; r < routers_.size(); ++r) router_cycle(routers_[r], r);
    for (NaiveRouter& r : routers_) {
      r.said = r.used;
      if (r.dead) r.said.assign(r.backward, false);
      for (NaiveEnd& end : r.end) speak(end);
    }
    for (NaiveEndpoint& e : endpoints_)
      for (auto& link : e.link)
        for (NaiveEnd& end : link) speak(end);
    ++now_;
  }

 private:
  // Wiring.
  void build(const Experiment& e) {
    const std::vector<u32> detailed =
        e.has("router.detailed_stages") ? e.ints("router.detailed_stages") : std::vector<u32>{};
    std::vector<u32> bits(net_.stages);
    for (const metro::RouterSetup& s : net_.setup) bits[s.stage] = s.log_radix;
    // Stages whose router is the last to take bits of a word, and places in the header.
    std::vector<bool> last(net_.stages, true);
    u32 used = 0, words = 0;
    for (u32 s = 0; s < net_.stages; ++s) {
      used += bits[s];
      last[s] = !net_.levelled || header_words_ || s + 1 == net_.stages || used + bits[s + 1] > width_;
      words += std::max(header_words_, 1u) - 1;
      decides_.push_back(words);
      if (last[s]) ++words, used = 0;
    }
    for (u32 r = 0; r < net_.routers(); ++r)
      for (u32 s = 0; s < slices_; ++s) {
        const metro::RouterSetup& setup = net_.setup[r];
        NaiveRouter router;
        router.wide = r;
        router.slice = s;
        router.forward = setup.forward;
        router.backward = setup.backward;
        router.radix = 1u << setup.log_radix;
        router.dilation = 1u << setup.log_dilation;
        router.swallow = header_words_ == 0 && last[setup.stage];
        router.fast =
            e.flag("router.fast_reclaim") && std::find(detailed.begin(), detailed.end(), setup.stage) == detailed.end();
        router.port.resize(setup.forward);
        router.end.resize(setup.forward + setup.backward);
        router.on.resize(router.end.size(), true);
        router.used.resize(setup.backward);
        router.said = router.used;
        routers_.push_back(router);
      }
    endpoints_.resize(net_.terminals);
    for (u32 n = 0; n < endpoints_.size(); ++n) {
      NaiveEndpoint& p = endpoints_[n];
      p.sink.resize(net_.links);
      p.link.resize(2 * net_.links);
      p.link_on.resize(net_.links, true);
      p.next_serial.assign(net_.terminals, 0);
      p.last_serial.assign(net_.terminals, 255);
      p.source.next = first_creation(t_.traffic, row_, n);
      for (u32 l = 0; l < 2 * net_.links; ++l) p.link[l].resize(slices_);
    }
    for (u32 r = 0; r < routers_.size(); ++r) {
      NaiveRouter& a = routers_[r];
      for (u32 p = 0; p < a.end.size(); ++p) {
        const u32 flat = p < a.forward ? p : net_.inputs + p - a.forward;
        const metro::Wire& w = net_.wire(a.wide, flat);
        if (w.item == kNone) continue;
        const u32 me = r << 6 | flat;
        if (w.to_endpoint) {
          join(a.end[p], me, dp_, endpoints_[w.item].link[w.port][a.slice],
               1u << 31 | w.item << 6 | (w.port * slices_ + a.slice), 1, w.delay);
        } else if (p >= a.forward) {
          NaiveRouter& b = routers_[w.item * slices_ + a.slice];
          join(a.end[p], me, dp_, b.end[w.port], (w.item * slices_ + a.slice) << 6 | w.port, dp_, w.delay);
        }
      }
    }
    // Headers.
    headers_.resize(std::size_t{net_.terminals} * net_.terminals);
    for (u32 from = 0; from < net_.terminals; ++from)
      for (u32 to = 0; to < net_.terminals; ++to) {
        std::vector<u64>& header = headers_[from * net_.terminals + to];
        std::vector<u32> way;
        if (net_.levelled) {
          u32 left = to;
          for (u32 s = net_.stages; s-- > 0; left >>= bits[s]) way.insert(way.begin(), left % (1u << bits[s]));
        } else {
          way = metro_directions(net_, from, to);
        }
        u32 value = 0, place = width_;
        NaiveRouter* at = &routers_[net_.leaving(from, 0).item * slices_];
        for (u32 s = 0; s < way.size(); ++s) {
          const u32 n = static_cast<u32>(std::bit_width(at->radix) - 1);
          place -= n;
          value += way[s] << place;
          const metro::Wire& next = net_.wire(at->wide, net_.inputs + way[s] * at->dilation);
          if (s + 1 < way.size()) at = &routers_[next.item * slices_];
          if (!last[s]) continue;
          u64 everywhere = 0;  // each of cascaded routers has it
          for (u32 c = 0; c < slices_; ++c) everywhere |= u64{value} << c * width_;
          header.push_back(everywhere);
          for (u32 k = 1; k < header_words_; ++k) header.push_back(0);
          value = 0;
          place = width_;
        }
      }
  }

  void join(NaiveEnd& a, u32 a_name, u32 a_time, NaiveEnd& b, u32 b_name, u32 b_time, u32 delay) {
    const auto make = [&](u32 name, u32 time) {
      wires_.push_back(std::make_unique<NaiveWire>());
      wires_.back()->words.assign(time + delay, 0);
      wires_.back()->sender = name;
      return wires_.back().get();
    };
    a.out = b.in = make(a_name, a_time);
    b.out = a.in = make(b_name, b_time);
    a.delay = b.delay = delay;
  }

  void apply(const NaiveFault& f) {
    for (u32 s = 0; s < slices_; ++s) {
      if (f.slice != kNone && f.slice != s) continue;
      if (!f.endpoint && f.port == kNone) {
        NaiveRouter& r = routers_[f.item * slices_ + s];
        if (f.what == "misallocate") r.misallocate = f.part;
        if (f.what != "dead" && f.what != "repair") continue;
        r.dead = f.what == "dead";
        r.used.assign(r.backward, false);
        for (NaivePort& p : r.port) p = {};  // it comes back without connections
        continue;
      }
      if (f.what == "on" || f.what == "off") {
        if (f.endpoint)
          endpoints_[f.item].link_on[f.port] = f.what == "on";
        else
          routers_[f.item * slices_ + s].on[f.port] = f.what == "on";
        continue;
      }
      NaiveEnd& end = f.endpoint ? endpoints_[f.item].link[f.port][s] : routers_[f.item * slices_ + s].end[f.port];
      end.out->fault = f.what == "repair" ? "" : f.what;
      end.out->bit = f.bit;
      end.out->part = f.part;
      if (f.what == "dead" || f.what == "repair") end.in->fault = end.out->fault;
    }
  }

  static void listen(NaiveEnd& end) {
    end.sent = end.word = 0;
    if (!end.in) return;
    end.word = end.in->words.front();
    end.in->words.pop_front();
  }

  void speak(NaiveEnd& end) {
    if (!end.out) return;
    NaiveWire& w = *end.out;
    Word sent = end.sent;
    if (sent != 0) {
      const u32 bit = w.bit < width_ ? w.bit : 16 + w.bit - width_;
      if (w.fault == "dead") sent = 0;
      if (w.fault == "stuck0") sent &= ~(1u << bit);
      if (w.fault == "stuck1") sent |= 1u << bit;
      if (w.fault == "noise") {
        const Random4 r = philox(row_.seed, stream::kMetroNoise, w.sender, now_);
        if (r.word[0] % 65536 < w.part * 65536) sent ^= 1u << below(r.word[1], width_);
      }
    }
    w.words.push_back(sent);
  }

  u32 added(u32 sum, u32 payload) const { return ((sum << 1) % (1u << width_) + (sum >> (width_ - 1))) ^ payload; }

  // Routers.
  void router_cycle(NaiveRouter& r, u32 index) {
    if (r.dead) return;
    std::vector<bool> busy = r.used;  // what is let go is free in the next cycle
    shut_what_disagrees(r);
    std::vector<u32> asking;
    for (u32 p = 0; p < r.forward; ++p)
      if (port_cycle(r, p)) asking.push_back(p);
    const u64 cycle = u64{now_} << 8;
    const u32 item = shared_ ? r.wide : index;
    if (!asking.empty()) {
      const u32 count = static_cast<u32>(asking.size());
      const u32 start = below(philox(row_.seed, stream::kMetroChoice, item, cycle | 255).word[0], count);
      for (u32 k = 0; k < count; ++k) {
        const u32 p = asking[(start + k) % count];
        std::vector<u32> free;
        const bool wrong =
            r.misallocate > 0 &&
            philox(row_.seed, stream::kMetroChoice, item, cycle | (128 + p)).word[0] < r.misallocate * 4294967296.0;
        for (u32 out = 0; out < r.backward; ++out)
          if ((out / r.dilation == r.port[p].direction) != wrong && !busy[out] && r.on[r.forward + out])
            free.push_back(out);
        if (free.empty()) {
          block(r, p);
          continue;
        }
        const u32 out =
            free[below(philox(row_.seed, stream::kMetroChoice, item, cycle | p % inputs_).word[0], u32(free.size()))];
        busy[out] = r.used[out] = true;
        connect(r, p, out);
      }
    }
  }

  static bool open(const NaivePort& f) { return f.state == PortState::kForward || f.state == PortState::kReverse; }

  /// Connections over ports that have been switched off, or that not all cascaded routers used after the last cycle.
  void shut_what_disagrees(NaiveRouter& r) {
    for (u32 p = 0; p < r.forward; ++p)
      if (open(r.port[p]) && !r.on[r.forward + r.port[p].out]) shut(r, p);
    for (u32 p = 0; p < r.forward; ++p) {  // one that is off says nothing to where it hears from
      if (r.on[p]) continue;
      if (open(r.port[p])) {
        r.back(r.port[p].out).sent = make_word(Kind::kDrop);
        release(r, r.port[p]);
      }
      r.port[p].state = PortState::kIdle;
    }
    for (u32 p = 0; in_use_check_ && p < r.forward; ++p) {
      bool agree = true;
      for (u32 s = 0; open(r.port[p]) && s < slices_; ++s)
        agree = agree && (s == r.slice || routers_[r.wide * slices_ + s].said[r.port[p].out]);
      if (!agree) shut(r, p);
    }
  }

  /// Its ends are told: the source by the backward control bit if it sends, everybody else by DROP.
  void shut(NaiveRouter& r, u32 p) {
    NaivePort& f = r.port[p];
    const bool from_source = f.state == PortState::kForward;
    ++count(Total::kMetroShut);
    release(r, f);
    r.back(f.out).sent = make_word(Kind::kDrop);
    r.end[p].sent = make_word(from_source ? Kind::kBackDrop : Kind::kDrop);
    if (from_source) f.state = PortState::kDiscard;
  }

  /// Whether the port asks for a backward one.
  bool port_cycle(NaiveRouter& r, u32 p) {
    NaivePort& f = r.port[p];
    NaiveEnd& end = r.end[p];
    const Kind kind = kind_of(end.word);
    if (!r.on[p] || end.sent) return false;  // off, or just shut
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
        if (f.header == 0) f.direction = payload_of(end.word) * r.radix >> width_;
        ++f.header;
        f.state = PortState::kSetup;
        return f.header >= header_words_;
      case PortState::kForward: flow(r, p, end, r.back(f.out)); return false;
      case PortState::kReverse: flow(r, p, r.back(f.out), end); return false;
      case PortState::kBlocked:
        if (kind == Kind::kData) f.sum = added(f.sum, payload_of(end.word));
        if (over) f.state = PortState::kIdle;
        if (kind == Kind::kTurn) {
          f.state = PortState::kAnswer;
          f.own = {make_word(Kind::kBlocked, f.direction), make_word(Kind::kBlocked, f.sum), make_word(Kind::kDrop)};
          say(f, end);
        }
        return false;
      case PortState::kAnswer:
        say(f, end);
        if (f.own.empty()) f.state = PortState::kIdle;
        return false;
      case PortState::kDiscard:
        if (over) f.state = PortState::kIdle;
        return false;
    }
    return false;
  }

  static void say(NaivePort& f, NaiveEnd& to) {
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
    if (header_words_ || r.swallow) return;
    r.back(out).sent = make_word(Kind::kData, payload_of(r.end[p].word) * r.radix % (1u << width_));
  }

  void release(NaiveRouter& r, NaivePort& f) {
    r.used[f.out] = false;
    f.state = PortState::kIdle;
    f.own.clear();
  }

  /// A connection whose words come at one end and leave at the other.
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
    if (!is_forward && kind_of(to.word) == Kind::kDrop) {  // the source has given up meanwhile
      release(r, f);
      from.sent = make_word(Kind::kDrop);
      return;
    }
    if (!f.own.empty()) return say(f, to);
    if (kind == Kind::kNothing || kind == Kind::kDrop) {
      to.sent = make_word(Kind::kDrop);
      release(r, f);
      return;
    }
    to.sent = from.word;
    if (kind == Kind::kData) f.sum = added(f.sum, payload_of(from.word));
    if (kind != Kind::kTurn) return;
    f.own.assign(2 * (dp_ + to.delay), make_word(Kind::kIdle));
    f.own[0] = make_word(Kind::kStatus, f.out);
    f.own[1] = make_word(Kind::kStatus, f.sum);
    f.sum = 0;
    f.state = is_forward ? PortState::kReverse : PortState::kForward;
    say(f, from);
  }

  // Endpoints.
  u64& count(Total first, u32 i = 0) { return total_[static_cast<u32>(first) + i]; }

  u32 word_bits() const { return width_ * slices_; }
  u32 words_for(u32 bits) const { return (bits + word_bits() - 1) / word_bits(); }
  u64 channel(u64 content) const { return word_bits() == 64 ? content : content % (u64{1} << word_bits()); }

  Heard heard(const std::vector<NaiveEnd>& link) const {
    Heard h;
    h.kind = kind_of(link[0].word);
    bool given_up = false;
    for (u32 s = 0; s < slices_; ++s) {
      h.content |= u64{payload_of(link[s].word)} << s * width_;
      if (kind_of(link[s].word) != h.kind) h.agree = false;
      if (kind_of(link[s].word) == Kind::kBackDrop) given_up = true;
    }
    if (given_up) h.kind = Kind::kBackDrop, h.agree = true;
    return h;
  }

  void send(std::vector<NaiveEnd>& link, Kind kind, u64 content = 0) {
    for (u32 s = 0; s < slices_; ++s)
      link[s].sent = make_word(kind, static_cast<u32>((content >> s * width_) % (1u << width_)));
  }

  /// What is left when the words' bits, with a check before them, are divided by the check's polynomial.
  u32 remainder(u32 before, const std::vector<u64>& words, u32 zeros) const {
    if (!check_bits_) return 0;
    std::vector<u8> bits;
    for (u64 w : words)
      for (u32 b = word_bits(); b-- > 0;) bits.push_back(w >> b & 1);
    bits.insert(bits.end(), zeros + check_bits_, 0);
    const std::size_t n = bits.size() - check_bits_;
    for (u32 b = 0; b < check_bits_; ++b) bits[b] ^= before >> (check_bits_ - 1 - b) & 1;
    for (std::size_t i = 0; i < n; ++i)
      if (bits[i])
        for (u32 b = 0; b < check_bits_; ++b) bits[i + 1 + b] ^= polynomial_ >> (check_bits_ - 1 - b) & 1;
    u32 left = 0;
    for (u32 b = 0; b < check_bits_; ++b) left = left << 1 | bits[n + b];
    return left;
  }

  /// Words and their check for an endpoint.
  std::vector<u64> checked(std::vector<u64> words, u32 destination) const {
    return checked_from(metro::first_crc(t_, destination), std::move(words));
  }
  std::vector<u64> checked_from(u32 first, std::vector<u64> words) const {
    const u32 n = words_for(check_bits_);
    const u32 check = remainder(first, words, n * word_bits() - check_bits_);
    for (u32 k = n; k-- > 0;) words.push_back(k * word_bits() >= 32 ? 0 : channel(u64{check} >> k * word_bits()));
    return words;
  }

  void push_number(std::vector<u64>& words, u32 value, u32 n) const {
    for (u32 k = n; k-- > 0;) words.push_back(k * word_bits() >= 32 ? 0 : channel(u64{value} >> k * word_bits()));
  }

  /// Words of a body before its check.
  std::vector<u64> body(u32 from, u32 to, u32 serial, u32 words) const {
    std::vector<u64> all;
    push_number(all, from, source_words());
    push_number(all, serial, words_for(8));
    while (all.size() < words)
      all.push_back(metro::data_word(t_, row_.seed, from, to, serial, static_cast<u32>(all.size())));
    return all;
  }
  u32 source_words() const { return words_for(static_cast<u32>(std::bit_width(endpoints_.size() - 1))); }

  void endpoint_cycle(u32 n) {
    NaiveEndpoint& e = endpoints_[n];
    NaiveSource& s = e.source;
    while (s.next.at <= now_) {
      const u32 id = s.next.index;
      s.queue.push_back(
          {id, packet_destination(t_.traffic, row_, n, id), packet_flits(t_.traffic, row_, n, id), s.next.at});
      ++count(Total::kPacketsCreated);
      if (stalls_)
        s.next.at = kNever;
      else
        next_creation(t_.traffic, row_, n, s.next);
    }
    if (s.state != NaiveSource::kIdle) hear_back(n, heard(e.link[s.link]));
    if (s.state == NaiveSource::kIdle && !s.queue.empty() && s.from <= now_) start(n);
    if (s.state == NaiveSource::kSending) {
      if (s.sent < s.words.size()) {
        send(e.link[s.link], Kind::kData, s.words[s.sent++]);
      } else {
        send(e.link[s.link], Kind::kTurn);
        s.state = NaiveSource::kTurned;
        s.from = now_ + 1 + dp_ + 2 * e.link[s.link][0].delay;
      }
    } else if (s.state == NaiveSource::kClosing && s.from <= now_) {
      send(e.link[s.link], Kind::kDrop);
      ended(n);
    }
    for (u32 l = 0; l < net_.links; ++l) sink_cycle(n, l);
  }

  void start(u32 n) {
    NaiveEndpoint& e = endpoints_[n];
    NaiveSource& s = e.source;
    std::vector<u32> links;
    for (u32 l = 0; l < net_.links; ++l)
      if (e.link_on[l] && e.link[l][0].out) links.push_back(l);
    if (links.empty()) return;
    const NaiveMessage& m = s.queue.front();
    if (!s.open) {
      s.open = true;
      s.attempts = 0;
      s.serial = e.next_serial[m.destination]++ % 256;
    }
    s.link =
        links[below(philox(row_.seed, stream::kMetroLink, n, u64{m.id} << 32 | s.attempts).word[0], u32(links.size()))];
    ++s.attempts;
    ++count(Total::kMetroAttempts);
    s.state = NaiveSource::kSending;
    s.words = headers_[n * net_.terminals + m.destination];
    s.header = static_cast<u32>(s.words.size());
    const std::vector<u64> content =
        checked(body(n, m.destination, s.serial, m.words - words_for(check_bits_)), m.destination);
    s.words.insert(s.words.end(), content.begin(), content.end());
    s.sent = 0;
    s.started = now_ + 1;
    s.status = 0;
    s.acked = s.refused = s.blocked = false;
    s.damaged = kNone;
    s.answer.clear();
    s.reply.clear();
  }

  void hear_back(u32 n, const Heard& h) {
    NaiveSource& s = endpoints_[n].source;
    if (s.state == NaiveSource::kClosing) return;
    if (h.kind == Kind::kBackDrop) {
      u32 stage = 0;
      while (stage + 1 < net_.stages && back_drop_at(stage + 1) <= now_ - s.started) ++stage;
      ++count(Total::kMetroBlocked0, std::min(stage, 7u));
      ended(n);
      send(endpoints_[n].link[s.link], Kind::kDrop);
      return;
    }
    if (s.state != NaiveSource::kTurned) return;
    if (now_ < s.from) return;  // what comes now is not for this attempt
    if (!h.agree || now_ - s.from > t_.patience) {
      send(endpoints_[n].link[s.link], Kind::kDrop);
      return falls_silent(n);
    }
    switch (h.kind) {
      case Kind::kStatus:
      case Kind::kBlocked:
        if (h.kind == Kind::kBlocked) s.blocked = true;
        if (s.status++ % 2 == 1 && s.damaged == kNone && h.content != expected_sum(s, s.status / 2 - 1))
          s.damaged = s.status / 2 - 1;
        return;
      case Kind::kData:
        if (s.answer.size() == 1 + words_for(check_bits_)) {
          s.reply.push_back(h.content);
          return;
        }
        if (s.answer.empty()) s.answered = now_;
        s.answer.push_back(h.content);
        if (s.answer.size() == 1 + words_for(check_bits_)) judge_answer(n);
        return;
      case Kind::kTurn:
        s.state = NaiveSource::kClosing;
        s.from = now_ + dp_ - 1;
        return;
      case Kind::kIdle: return;
      default: return falls_silent(n);
    }
  }

  /// The destination's answer has come, with its check.
  void judge_answer(u32 n) {
    NaiveSource& s = endpoints_[n].source;
    const u32 to = s.queue.front().destination;
    const u32 stages = net_.levelled ? net_.stages : s.header / std::max(header_words_, 1u);
    const bool refusal = s.answer[0] == channel(metro::kRefused);
    const u32 first = refusal ? metro::first_crc(t_, 0) : metro::first_answer_crc(t_, n, to, s.serial);
    if (s.status != 2 * stages || remainder(first, s.answer, 0) != 0) return;
    s.acked = s.answer[0] == channel(metro::kAcknowledged);
    s.refused = refusal;
    if (s.acked && !replies_) delivered(n, s.answered);
  }

  /// `at`: when what says so was on the wire.
  void delivered(u32 n, Cycle at) {
    NaiveSource& s = endpoints_[n].source;
    ++count(Total::kPacketsDelivered);
    count(Total::kLatencySum) += at - 1 - s.queue.front().created;  // its first word was on the wire at created + 1
    goes_on(n);
  }

  /// The processor does, if it has been waiting.
  void goes_on(u32 n) {
    if (!stalls_) return;
    SourceCursor& next = endpoints_[n].source.next;
    ++next.index;
    seek_creation(t_.traffic, row_, n, next, now_ + 1);
  }

  /// DROP, or nothing more.
  void falls_silent(u32 n) {
    const NaiveSource& s = endpoints_[n].source;
    if (s.blocked)
      ++count(Total::kMetroBlocked0, std::min((s.status - 1) / 2, 7u));
    else if (!s.acked && !s.refused)
      ++count(Total::kMetroLost0, std::min(s.status / 2, 7u));
    ended(n);
  }

  /// The attempt is over.
  void ended(u32 n) {
    NaiveSource& s = endpoints_[n].source;
    s.state = NaiveSource::kIdle;
    s.from = now_ + 1;
    const bool whole = !s.reply.empty() && s.reply.size() >= words_for(check_bits_) &&
                       remainder(metro::first_crc(t_, n), s.reply, 0) == 0;
    if (s.acked && replies_ && whole) {
      count(Total::kMetroReplyWords) += s.reply.size();
      delivered(n, now_);
    }
    if (s.acked && (!replies_ || whole)) return over(s);
    if (s.refused) ++count(Total::kMetroRefused);
    if (s.damaged != kNone && !s.acked) ++count(Total::kMetroDamaged0, std::min(s.damaged, 7u));
    if (most_attempts_ && s.attempts == most_attempts_) {
      ++count(Total::kPacketsDropped);
      goes_on(n);
      return over(s);
    }
    if (!backoff_) return;
    const u32 longest = backoff_cycles_ << std::min(s.attempts - 1, doublings_);
    s.from += below(philox(row_.seed, stream::kMetroBackoff, n, u64{s.queue.front().id} << 32 | s.attempts).word[0],
                    longest + 1);
  }

  static void over(NaiveSource& s) {
    s.queue.pop_front();
    s.open = false;
  }

  u32 back_drop_at(u32 stage) const { return 2 * entry_ + decides_[stage] + 2 * stage * hop_ + dp_; }

  /// Of the words that the router of a stage has passed on as they are.
  u64 expected_sum(const NaiveSource& s, u32 stage) const {
    u64 all = 0;
    for (u32 c = 0; c < slices_; ++c) {
      u32 sum = 0;
      for (u32 k = stage < net_.stages ? std::min(decides_[stage] + 1, s.header) : s.header; k < s.words.size(); ++k)
        sum = added(sum, static_cast<u32>((s.words[k] >> c * width_) % (1u << width_)));
      all |= u64{sum} << c * width_;
    }
    return all;
  }

  void sink_cycle(u32 n, u32 l) {
    NaiveEndpoint& e = endpoints_[n];
    NaiveSink& s = e.sink[l];
    auto& link = e.link[net_.links + l];
    const Heard h = heard(link);
    switch (s.state) {
      case NaiveSink::kIdle:
        if (h.kind != Kind::kData) return;
        s = NaiveSink{};
        s.state = NaiveSink::kTaking;
        [[fallthrough]];
      case NaiveSink::kTaking:
        if (!h.agree) s.refuse = true;
        if (h.kind == Kind::kData) s.words.push_back(h.content);
        if (h.kind == Kind::kNothing || h.kind == Kind::kDrop) s.state = NaiveSink::kIdle;
        if (h.kind == Kind::kTurn) decide(n, s);
        break;
      case NaiveSink::kAnswering:
        if (h.kind == Kind::kDrop) s.state = NaiveSink::kIdle;
        break;
      case NaiveSink::kTurned:
        if (now_ >= s.from && (h.kind == Kind::kDrop || h.kind == Kind::kNothing)) s.state = NaiveSink::kIdle;
        return;
    }
    if (s.state != NaiveSink::kAnswering || now_ < s.from) return;
    const auto [kind, content] = s.answer.front();
    s.answer.pop_front();
    send(link, kind, content);
    if (!s.answer.empty()) return;
    s.state = kind == Kind::kDrop ? NaiveSink::kIdle : NaiveSink::kTurned;
    s.from = now_ + 1 + link[0].delay + dp_ + link[0].delay;
  }

  /// TURN has come.
  void decide(u32 n, NaiveSink& s) {
    NaiveEndpoint& e = endpoints_[n];
    s.state = NaiveSink::kAnswering;
    s.from = now_ + dp_ - 1;
    const u32 numbers = source_words() + words_for(8), check = words_for(check_bits_);
    // Of a number's words only as many bits count as it has.
    u32 source = 0;
    u8 serial = 0;
    bool good = !s.refuse && s.words.size() >= numbers + check;
    if (good) {
      u64 number = 0;
      for (u32 k = 0; k < source_words(); ++k) number = (k ? number << word_bits() : 0) | s.words[k];
      source = static_cast<u32>(number);
      for (u32 k = source_words(); k < numbers; ++k)
        number = (k > source_words() ? number << word_bits() : 0) | s.words[k];
      serial = static_cast<u8>(number);
      good = source < endpoints_.size() && remainder(metro::first_crc(t_, n), s.words, 0) == 0;
    }
    s.answer.clear();
    const u32 first = good ? metro::first_answer_crc(t_, source, n, serial) : metro::first_crc(t_, 0);
    for (u64 w : checked_from(first, {channel(good ? metro::kAcknowledged : metro::kRefused)}))
      s.answer.emplace_back(Kind::kData, w);
    if (good) {
      const bool known = e.last_serial[source] == serial;
      ++count(known ? Total::kMetroDuplicates : Total::kMetroAccepted);
      e.last_serial[source] = serial;
      if (!known) {
        const u32 words = static_cast<u32>(s.words.size()) - check;
        const std::vector<u64> sent = body(source, n, serial, words);
        if (!std::equal(sent.begin() + numbers, sent.end(), s.words.begin() + numbers))
          ++count(Total::kMetroAcceptedWrong);
      }
      if (replies_) {
        for (u32 k = 0; k < reply_delay_; ++k) s.answer.emplace_back(Kind::kIdle, 0);
        const u32 words =
            length_from(t_.traffic.replies, philox(row_.seed, stream::kReply, n, u64{source} << 8 | serial).word[0]);
        std::vector<u64> data;
        for (u32 k = 0; k + check < words; ++k)
          data.push_back(metro::data_word(t_, row_.seed, n, source, serial | 1u << 16, k));
        for (u64 w : checked(data, source)) s.answer.emplace_back(Kind::kData, w);
      }
    }
    s.answer.emplace_back(source_closes_ ? Kind::kTurn : Kind::kDrop, 0);
  }

  const metro::Table& t_;
  const ReplicaRow& row_;
  std::vector<NaiveFault> faults_;
  const MetroNetwork& net_;
  u32 width_, slices_, header_words_, dp_, inputs_, backoff_cycles_, doublings_, most_attempts_, reply_delay_,
      check_bits_, polynomial_, entry_, hop_;
  bool shared_, in_use_check_, backoff_, source_closes_, replies_, stalls_;
  std::vector<std::unique_ptr<NaiveWire>> wires_;
  std::vector<NaiveRouter> routers_;
  std::vector<NaiveEndpoint> endpoints_;
  std::vector<std::vector<u64>> headers_;
  std::vector<u32> decides_;  // header word with which the router of a stage knows where to
  u64 total_[static_cast<u32>(Total::kCount)] = {};
  Cycle now_ = 0;
};

}  // namespace flitlab::testing
