#pragma once
/// State and table of a METRO network. Items are endpoints and routers. A wide router consists of cascaded routers, its
/// slices; each slice is an item.
#include "kernels/common/counters.hpp"
#include "kernels/common/events.hpp"
#include "kernels/common/fault.hpp"
#include "kernels/common/fields.hpp"
#include "kernels/common/view.hpp"
#include "kernels/engines/engine_cost.hpp"
#include "kernels/routers/metro/checksum.hpp"
#include "kernels/routers/metro/word.hpp"
#include "kernels/traffic/terminal_state.hpp"

namespace flitlab::metro {

inline constexpr u32 kMaxPorts = 32;   ///< forward ports of a router, and backward ports
inline constexpr u32 kMaxStages = 16;  ///< routers on a path
inline constexpr u32 kMaxCascade = 4;
inline constexpr u32 kMaxLinks = 8;  ///< links of an endpoint in each direction

/// Far end of a port's wire.
struct Wire {
  u32 item = kNone;    ///< wide router or endpoint; kNone: not wired
  u8 port = 0;         ///< port of `item`
  u8 to_endpoint = 0;  ///< 1: `item` is an endpoint
  u8 delay = 0;        ///< delay of the wire (vtd), cycles
  u8 pad = 0;
};
static_assert(sizeof(Wire) == 8);

/// State of a forward port.
///
/// setup: collects header words, or the rest of a direction that straddles two words. forward: connected; words flow
/// toward the destination. reverse: connected; words flow toward the source. blocked: blocked, with detailed
/// reclamation; waits for TURN. answer: sends checksum and DROP of a blocked connection. discard: discards words until
/// the connection ends.
///
/// After a turn, `ForwardPort::count` counts the words that the router itself has sent. The router sends one such word
/// in each cycle of the round trip to its neighbour, before words from the far end can be passed on.
FLITLAB_CHOICES(PortState, (kIdle, "idle"), (kSetup, "setup"), (kForward, "forward"), (kReverse, "reverse"),
                (kBlocked, "blocked"), (kAnswer, "answer"), (kDiscard, "discard"))

struct ForwardPort {
  FLITLAB_MEMBERS(ForwardPort,
    (PortState, state, "", "PortState"),
    (u8, out, "", "backward port of the connection"),
    (u8, count, "", "header words taken during set-up; then the router's own words since the last turn"),
    (u8, direction, "", "direction that the connection requests"),
    (u16, checksum, "", "checksum of the data passed on since the last turn"),
    (u16, pad),
    (u32, words, "words", "data words passed on by this connection, in both directions"))
};
static_assert(sizeof(ForwardPort) == 12);

struct RouterControl {
  FLITLAB_MEMBERS(RouterControl,
    (u32, fault, "", "Fault bits"),
    (u32, active, "", "forward ports that are not idle"),
    (u32, used, "", "backward ports in use"),
    (u32, forward_on, "", "forward ports that are switched on"),
    (u32, backward_on, "", "backward ports that are switched on"),
    (u32, fast, "", "forward ports with fast path reclamation"),
    (u32, swallow, "", "forward ports that drop the word that completes a connection's direction"),
    (u32, misallocate, "", "fault: a 32-bit draw below this makes the router choose a port of a wrong direction"),
    (u8, log_radix, "", "log2 of the number of directions"),
    (u8, log_dilation, "", "log2 of the backward ports per direction"),
    (u8, dead, "", "1: the router is dead and does nothing"),
    (u8, some_off, "", "1: a port is switched off"))
};
static_assert(sizeof(RouterControl) == 36);

/// Fault of a wire. Each direction of a wire has a fault of its own, which is stored at the sender.
enum class WireFault : u8 { kNone, kDead, kStuckAt0, kStuckAt1, kNoise };
struct WireState {
  FLITLAB_MEMBERS(WireState,
    (WireFault, fault, "", "WireFault"),
    (u8, bit, "", "stuck bit: 0 to w-1 of the word, from 16 on of the word's kind"),
    (u16, noise, "", "share of the words in which one bit is flipped, in units of 2^-16"))
};
static_assert(sizeof(WireState) == 4);

/// Fields of a router.
struct RouterFields {
  FLITLAB_FIELDS(RouterFields,
    (Word, mail, (t.slot_mask + 1) * t.ports(), "",
      "[slot][port] inbox of arriving words: forward ports, then backward ports"),
    (RouterControl, control, 1, "", "sets of ports, and the router's settings"),
    (ForwardPort, forward, t.inputs, "", "[forward port] connection"),
    (u32, in_use, t.slices > 1 ? 2 * t.slices : 0, "",
      "[cycle % 2][slice] backward ports that the other slices use"),
    (u8, turn_delay, t.ports(), "cycles", "[port] configured delay of the wire"),
    (WireState, wire, t.faulty ? t.ports() : 0, "", "[port] with faults: fault of the port's wire"),
    (u32, carried, t.outputs, "words", "[backward port] data words of closed connections"),
    (u32, drive, t.ports(), "", "[port] scan: word that the port drives while it is off; 0: none"),
    (u32, captured, t.ports(), "", "[port] scan: last word that arrived while the port was off"))
};

enum class SourceState : u8 { kIdle, kSending, kTurned, kClosing };

/// The sending half of an endpoint.
struct Source {
  FLITLAB_MEMBERS(Source,
    (SourceState, state, "", "SourceState"),
    (u8, link, "", "leaving link in use"),
    (u8, status, "words", "STATUS and checksum words received from routers"),
    (u8, serial, "", "serial number of the message at its destination"),
    (u8, answer, "words", "words of the destination's answer received"),
    (u8, acked, "", "1: the destination has accepted the message"),
    (u8, refused, "", "1: the destination has rejected the message"),
    (u8, blocked, "", "1: a router has reported that the connection is blocked"),
    (u8, damaged, "", "stage + 1 of the first router that returned a wrong checksum; 0: none"),
    (u8, pad),
    (u16, header, "words", "header words of the message"),
    (u16, body, "words", "body words of the message; 0: no message"),
    (u16, sent, "words", "header and body words sent"),
    (u16, reply, "words", "reply words received"),
    (u16, pad2),
    (u32, id, "", "number of the message at its source"),
    (u64, said, "", "first word of the answer"),
    (u32, destination, "", "destination endpoint"),
    (u32, attempts, "", "attempts to send the message so far"),
    (u32, crc, "", "running end-to-end check"),
    (Cycle, created, "cycle", "creation of the message"),
    (Cycle, injected, "cycle", "first word of the first attempt sent"),
    (Cycle, started, "cycle", "first word of this attempt on the wire"),
    (Cycle, answered, "cycle", "first word of the answer on the wire"),
    (Cycle, from, "cycle", "idle: earliest next attempt; turned: the wire must be driven from here on; closing: DROP"),
    (u16[kMaxCascade], sum, "", "[slice] router checksum of the body's words"))
};
static_assert(sizeof(Source) == 72);

enum class SinkState : u8 { kIdle, kTaking, kAnswering, kTurned };

/// The receiving half of an endpoint at one of its links.
struct Sink {
  FLITLAB_MEMBERS(Sink,
    (SinkState, state, "", "SinkState"),
    (u8, serial, "", "serial number of the arriving message"),
    (u8, refuse, "", "1: the slices have delivered words of different kinds"),
    (u8, accepted, "", "1: the message has been accepted"),
    (u8, answered, "words", "words of the answer sent"),
    (u8, pad),
    (u16, words, "words", "words received"),
    (u16, first_wrong, "", "first data word that differs from the one the source sent; 0xFFFF: none"),
    (u16, reply, "words", "words of the reply"),
    (u16, replied, "words", "reply words sent"),
    (u16, pad2),
    (u32, source, "", "source endpoint of the message"),
    (u32, crc, "", "running end-to-end check"),
    (Cycle, from, "cycle", "answering: first word of the answer; turned: the wire must be driven from here on"),
    (u32, pause, "words", "DATA-IDLE words before the reply"))
};
static_assert(sizeof(Sink) == 32);

/// Fields of an endpoint, in front of the fields of traces and programs.
struct EndpointFields {
  FLITLAB_FIELDS(EndpointFields,
    (Source, source, 1, "", "the sending half"),
    (u32, links_on, 1, "", "leaving links that are switched on, one bit each"),
    (Word, mail, (t.slot_mask + 1) * 2 * t.links * t.slices, "",
      "[slot][link][slice] inbox of arriving words: leaving links, then entering links"),
    (Sink, sink, t.links, "", "[link] receiving half"),
    (WireState, wire, t.faulty ? 2 * t.links * t.slices : 0, "",
      "[link][slice] with faults: fault of the link's wire"))
};

/// Fields of an endpoint behind the fields of traces and programs.
struct SerialFields {
  FLITLAB_FIELDS(SerialFields,
    (u8, next_serial, t.terminals, "", "[endpoint] serial number of the next message to it"),
    (u8, last_serial, t.terminals, "", "[endpoint] serial number of the last message accepted from it"))
};

/// Construction and initial settings of a wide router.
struct RouterSetup {
  u8 forward, backward;  ///< numbers of ports
  u8 log_radix, log_dilation;
  u8 stage;
  u8 header_bits;  ///< direction bits in the first header word that arrives, for this router and later ones
  u8 pad[2];
  u32 swallow;  ///< as in RouterControl
  u32 fast;     ///< as in RouterControl
};
static_assert(sizeof(RouterSetup) == 16);

struct Table {
  static constexpr EngineCost cost{.cpu_ns = 31, .loads = 108, .blocks = 22, .bytes = 1700, .block_items = 512};

  u32 routers = 0;  ///< number of slices of all wide routers
  u32 terminals = 0;
  u32 slices = 1;         ///< slices of a wide router (c)
  u32 inputs = 0;         ///< forward ports of the largest router (I)
  u32 outputs = 0;        ///< backward ports of the largest router (O)
  u32 links = 0;          ///< links of an endpoint in each direction (L)
  u32 width = 8;          ///< width of a slice's channel, bits (w)
  u32 slot_mask = 0;      ///< number of inbox slots, a power of two, minus 1
  u32 stages = 1;         ///< pipeline stages of a router (dp)
  u32 header_words = 0;   ///< header words that each router consumes (hw)
  u32 random_inputs = 1;  ///< random inputs of a router (ri)
  u8 shared_random = 1;
  u8 in_use_check = 1;
  u8 faulty = 0;    ///< 1: wires can have faults
  u8 damaging = 0;  ///< 1: faults, or random inputs that are not shared, can damage messages
  u8 stalls = 0;
  u8 backoff = 0;
  u8 backoff_doublings = 0;
  u8 source_closes = 0;
  u8 route_by_pair = 0;  ///< 1: headers depend on source and destination, not on the destination alone
  u32 backoff_cycles = 1;
  u32 most_attempts = 0;
  u32 think_cycles = kNone;  ///< with `stalls`: from a transaction's end to the next message; kNone: drawn by load
  u32 answer_timeout = 0;    ///< cycles after TURN within which an answer must end
  Crc crc{};
  u32 source_words = 1, serial_words = 1, crc_words = 0;  ///< words of a body that hold source, serial number and check
  u16 header_first[kMaxStages] = {};     ///< `[stage]`: first header word that the router passes on unchanged
  u32 back_drop_at[kMaxStages] = {};     ///< `[stage]`: cycles from an attempt's first word to the backward control bit
  u32 most_stages = 0;                   ///< routers on the longest path
  const Wire* wires = nullptr;           ///< `[wide router][port]`: forward ports, then backward ports
  const RouterSetup* setup = nullptr;    ///< `[wide router]`
  const Wire* endpoint_wires = nullptr;  ///< `[endpoint][link]`: links from the endpoint, then links to it
  const u32* header_start = nullptr;     ///< `[destination or pair]`: first word in `header`; last entry: the end
  const u16* header = nullptr;           ///< words of all headers
  TrafficMode mode = TrafficMode::kOpen;
  TrafficTable traffic;
  RouterFields router_fields;
  TerminalFields terminal_fields;
  EndpointFields endpoint_fields;
  SerialFields serial_fields;

  FLITLAB_HD u32 ports() const { return inputs + outputs; }
  FLITLAB_HD u32 wide_routers() const { return routers / slices; }
  FLITLAB_HD u32 word_bits() const { return width * slices; }  ///< bits of a channel's word
};

template <class F>
void for_each_array(Table& t, F f) {
  const std::size_t routes = t.route_by_pair ? std::size_t{t.terminals} * t.terminals : t.terminals;
  f(t.header, t.header_start ? t.header_start[routes] : 0);
  f(t.header_start, routes + 1);
  f(t.wires, std::size_t{t.wide_routers()} * t.ports());
  f(t.setup, std::size_t{t.wide_routers()});
  f(t.endpoint_wires, std::size_t{t.terminals} * 2 * t.links);
}

/// Table of most networks: routers are not cascaded, wires have no faults, the loop is open. These facts are constants
/// at compile time, which hide the members of the same name.
struct PlainTable : Table {
  PlainTable() = default;
  explicit PlainTable(const Table& table) : Table(table) {}

  static constexpr u32 slices = 1;
  static constexpr u8 faulty = 0;
  static constexpr TrafficMode mode = TrafficMode::kOpen;

  FLITLAB_HD u32 wide_routers() const { return routers; }
  FLITLAB_HD u32 word_bits() const { return width; }

  static bool fits(const Table& t) { return t.slices == slices && !t.faulty && t.mode == mode; }
};

/// PlainTable of METRO's own networks: routers of up to eight ports of each kind, endpoints with two links.
struct EightPortTable : PlainTable {
  EightPortTable() = default;
  explicit EightPortTable(const Table& table) : PlainTable(table) {}

  static constexpr u32 inputs = 8, outputs = 8, links = 2;

  FLITLAB_HD u32 ports() const { return inputs + outputs; }

  static bool fits(const Table& t) {
    return PlainTable::fits(t) && t.inputs == inputs && t.outputs == outputs && t.links == links;
  }
};

template <int W, bool Traced, class TableType>
struct View : ViewBase<W, Traced, TableType> {
  Items<W> routers;
  Items<W> terminals;
};

}  // namespace flitlab::metro
