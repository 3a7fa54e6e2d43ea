#pragma once
/// State of a METRO network. Items: routers (of a wide router, each one of those that are cascaded), and endpoints.
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

inline constexpr u32 kMaxPorts = 32;   ///< forward ones, and backward ones
inline constexpr u32 kMaxStages = 16;  ///< routers on a way
inline constexpr u32 kMaxCascade = 4;
inline constexpr u32 kMaxLinks = 8;  ///< of an endpoint, each way

/// The far end of a port.
struct Wire {
  u32 item = kNone;  ///< wide router, or endpoint; kNone: not wired
  u8 port = 0;       ///< there
  u8 to_endpoint = 0;
  u8 delay = 0;  ///< pipeline stages, cycles
  u8 pad = 0;
};
static_assert(sizeof(Wire) == 8);

/// What a forward port does. A connection's words flow from the source when it is kForward; once they have been turned,
/// they do in the other direction, kReverse. In both, `count` says how many words of its own the router has sent since
/// the last turn; there are as many as its wires are long, before what comes from the far end can be passed on.
enum class PortState : u8 {
  kIdle,
  kSetup,  ///< takes header words, or waits for the rest of a direction
  kForward,
  kReverse,
  kBlocked,  ///< waits for TURN to answer in detail
  kAnswer,   ///< does so
  kDiscard   ///< takes what still comes
};

struct ForwardPort {
  FLITLAB_MEMBERS(ForwardPort,
    (PortState, state, "", "PortState"),
    (u8, out, "", "backward port of its connection"),
    (u8, count, "", "header words taken; or words sent since the last turn"),
    (u8, direction, "", "that its connection asked for"),
    (u16, checksum, "", "of the data passed on since the last turn"),
    (u16, pad),
    (u32, words, "words", "passed on by this connection, either way"))
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
    (u32, swallow, "", "forward ports that drop the word that has brought a connection's direction"),
    (u32, misallocate, "", "32-bit draws below this choose a wrong port"),
    (u8, log_radix, "", "log2 of the directions"),
    (u8, log_dilation, "", "log2 of the backward ports of a direction"),
    (u8, dead, "", "1: it does nothing"),
    (u8, some_off, "", "a port is switched off"))
};
static_assert(sizeof(RouterControl) == 36);

/// What is wrong with a wire; the sender's end of each direction has its own.
enum class WireFault : u8 { kNone, kDead, kStuckAt0, kStuckAt1, kNoise };
struct WireState {
  FLITLAB_MEMBERS(WireState,
    (WireFault, fault, "", "WireFault"),
    (u8, bit, "", "bit that is stuck: 0 to w-1 of the word, and from 16 on of its kind"),
    (u16, noise, "", "parts of 2^16 of the words in which one bit is hit"))
};
static_assert(sizeof(WireState) == 4);

/// Fields of a router.
struct RouterFields {
  FLITLAB_FIELDS(RouterFields,
    (Word, mail, (t.slot_mask + 1) * t.ports(), "",
      "[slot][port] words that arrive: at forward ports, then at backward ones"),
    (RouterControl, control, 1, "", "sets of ports, and how the router is set"),
    (ForwardPort, forward, t.inputs, "", "[forward port] connections"),
    (u32, in_use, t.slices > 1 ? 2 * t.slices : 0, "",
      "[cycle][cascaded router] backward ports that the other cascaded routers use, of alternate cycles"),
    (u8, turn_delay, t.ports(), "cycles", "[port] as configured"),
    (WireState, wire, t.faulty ? t.ports() : 0, "", "[port] with faults: what is wrong with its wire"),
    (u32, carried, t.outputs, "words", "[backward port] of connections that are closed"),
    (u32, drive, t.ports(), "", "[port] with scan: word that a port drives while it is off; 0: none"),
    (u32, captured, t.ports(), "", "[port] the last word that has come to a port that is off"))
};

enum class SourceState : u8 { kIdle, kSending, kTurned, kClosing };

/// The sending half of an endpoint.
struct Source {
  FLITLAB_MEMBERS(Source,
    (SourceState, state, "", "SourceState"),
    (u8, link, "", "link that it sends on"),
    (u8, status, "words", "of routers' STATUS that have come"),
    (u8, serial, "", "number of the message at its destination"),
    (u8, answer, "words", "of the destination's answer that have come"),
    (u8, acked, "", "1: the destination has taken the message"),
    (u8, refused, "", "1: it has not"),
    (u8, blocked, "", "1: a router has answered that it could not switch"),
    (u8, damaged, "", "stage, plus 1, of the first router whose checksum was not what it should be"),
    (u8, pad),
    (u16, header, "words", "of the message's header"),
    (u16, body, "words", "of the message's body"),
    (u16, sent, "words", "of both that have been sent"),
    (u16, reply, "words", "of the reply that have come"),
    (u16, pad2),
    (u32, id, "", "number of the message at its source"),
    (u64, said, "", "first word of the answer"),
    (u32, destination, "", "endpoint that it goes to"),
    (u32, attempts, "", "attempts to send the message so far"),
    (u32, crc, "", "checksum of the message"),
    (Cycle, created, "cycle", "when the message was"),
    (Cycle, injected, "cycle", "when the first word of the first attempt was sent"),
    (Cycle, started, "cycle", "when the first word of this attempt was on the wire"),
    (Cycle, answered, "cycle", "when the first word of the answer was"),
    (Cycle, from, "cycle", "idle: no attempt before this cycle; turned: when the wire must be driven"),
    (u16[kMaxCascade], sum, "", "checksums of the body's words"))
};
static_assert(sizeof(Source) == 72);

enum class SinkState : u8 { kIdle, kTaking, kAnswering, kTurned };

/// The receiving half at one of an endpoint's links.
struct Sink {
  FLITLAB_MEMBERS(Sink,
    (SinkState, state, "", "SinkState"),
    (u8, serial, "", "number of the message that is coming"),
    (u8, refuse, "", "1: the cascaded wires have not agreed"),
    (u8, accepted, "", "1: the message has been taken"),
    (u8, answered, "words", "of the answer that have been sent"),
    (u8, pad),
    (u16, words, "words", "that have come"),
    (u16, first_wrong, "", "the first that is not what the source should have sent; 0xFFFF: none"),
    (u16, reply, "words", "of the reply"),
    (u16, replied, "words", "of the reply that have been sent"),
    (u16, pad2),
    (u32, source, "", "endpoint that the message is from"),
    (u32, crc, "", "checksum of what has come"),
    (Cycle, from, "cycle", "answering: from this cycle; turned: when the wire must be driven"),
    (u32, pause, "words", "DATA-IDLE before the reply"))
};
static_assert(sizeof(Sink) == 32);

/// Fields of an endpoint. They lie before the fields of traces and programs.
struct EndpointFields {
  FLITLAB_FIELDS(EndpointFields,
    (Source, source, 1, "", "the sending half"),
    (u32, links_on, 1, "", "leaving links in use, as bits"),
    (Word, mail, (t.slot_mask + 1) * 2 * t.links * t.slices, "",
      "[slot][link][cascaded router] words that arrive: back at leaving links, then at entering ones"),
    (Sink, sink, t.links, "", "[link] the receiving half"),
    (WireState, wire, t.faulty ? 2 * t.links * t.slices : 0, "",
      "[link][cascaded router] with faults: what is wrong with its wire"))
};

/// They lie behind those.
struct SerialFields {
  FLITLAB_FIELDS(SerialFields,
    (u8, next_serial, t.terminals, "", "[endpoint] of the next message to it"),
    (u8, last_serial, t.terminals, "", "[endpoint] of the last message taken from it"))
};

/// How a router is built and set when it starts.
struct RouterSetup {
  u8 forward, backward;  ///< ports
  u8 log_radix, log_dilation;
  u8 stage;
  u8 header_bits;  ///< of the word that brings a header, left for this router and those behind it
  u8 pad[2];
  u32 swallow;
  u32 fast;
};
static_assert(sizeof(RouterSetup) == 16);

struct Table {
  static constexpr EngineCost cost{.cpu_ns = 31, .loads = 108, .blocks = 22, .bytes = 1700};

  u32 routers = 0;  ///< c of each wide one
  u32 terminals = 0;
  u32 slices = 1;         ///< c
  u32 inputs = 0;         ///< I, the largest
  u32 outputs = 0;        ///< O
  u32 links = 0;          ///< L
  u32 width = 8;          ///< w
  u32 slot_mask = 0;      ///< S - 1
  u32 stages = 1;         ///< dp
  u32 header_words = 0;   ///< hw
  u32 random_inputs = 1;  ///< ri
  u8 shared_random = 1;
  u8 in_use_check = 1;
  u8 faulty = 0;    ///< wires can have faults
  u8 damaging = 0;  ///< something can damage messages
  u8 stalls = 0;
  u8 backoff = 0;
  u8 backoff_doublings = 0;
  u8 source_closes = 0;
  u8 route_by_pair = 0;  ///< headers depend on the source as well
  u32 backoff_cycles = 1;
  u32 most_attempts = 0;
  u32 think_cycles = kNone;  ///< of processors that stall; kNone: by the load
  u32 patience = 0;          ///< cycles after TURN in which an answer must have ended
  Crc crc{};
  u32 source_words = 1, serial_words = 1, crc_words = 0;  ///< of a message's body
  u16 header_first[kMaxStages] = {};  ///< first header word that the router of a stage passes on unchanged
  u32 back_drop_at[kMaxStages] = {};  ///< first word of an attempt to the backward drop of a router there, cycles
  u32 most_stages = 0;
  const Wire* wires = nullptr;           ///< [wide routers][I + O]
  const RouterSetup* setup = nullptr;    ///< [wide routers]
  const Wire* endpoint_wires = nullptr;  ///< [terminals][2L] leaving links, entering ones
  const u32* header_start = nullptr;     ///< [destinations, or pairs, + 1]
  const u16* header = nullptr;
  TrafficMode mode = TrafficMode::kOpen;
  TrafficTable traffic;
  RouterFields router_fields;
  TerminalFields terminal_fields;
  EndpointFields endpoint_fields;
  SerialFields serial_fields;

  FLITLAB_HD u32 ports() const { return inputs + outputs; }
  FLITLAB_HD u32 wide_routers() const { return routers / slices; }
  FLITLAB_HD u32 word_bits() const { return width * slices; }  ///< of a channel
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

/// Routers that are not cascaded, with wires that have no faults, in an open loop: what most networks are, known at
/// compile time. The constants hide the members of the same name.
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

/// The same of routers with up to eight ports each way and endpoints with two links: METRO's own networks.
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
