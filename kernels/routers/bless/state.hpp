#pragma once
/// State of a network of bufferless deflection routers. Items: routers, terminals. A router has no buffers: its state
/// is its inbox, which holds the flits on their way to the router. Only its own router reads or changes a terminal's
/// state.
#include "kernels/common/bits.hpp"
#include "kernels/common/counters.hpp"
#include "kernels/common/events.hpp"
#include "kernels/common/fault.hpp"
#include "kernels/common/fields.hpp"
#include "kernels/common/peer.hpp"
#include "kernels/common/view.hpp"
#include "kernels/engines/engine_cost.hpp"
#include "kernels/traffic/terminal_state.hpp"

namespace flitlab::bless {

inline constexpr u32 kMaxDims = 10;
inline constexpr u32 kMaxChannels = 2 * kMaxDims;

/// A flit carries the complete description of its packet; `via` is the flit's number in the packet, from 0.
using Flit = Packet;

FLITLAB_HD inline bool is_last(const Flit& flit) { return flit.via + 1 == flit.flits; }

struct RouterControl {
  FLITLAB_MEMBERS(RouterControl,
    (u32, fault, "", "Fault bits"))
};
static_assert(sizeof(RouterControl) == 4);

/// Fields of a router; `t` is a Table.
struct RouterFields {
  FLITLAB_FIELDS(RouterFields,
    (RouterControl, control, 1, "", "fault bits of the router"),
    (u8, came, (t.slot_mask + 1) * t.channels, "", "[slot][channel] whether the slot holds a flit"),
    (u32, sent, t.channels, "flits", "[channel] flits sent on it"),
    (Flit, mail, (t.slot_mask + 1) * t.channels, "", "[slot][channel] inbox: one slot for each arrival cycle"))
};

struct Reassembly {
  FLITLAB_MEMBERS(Reassembly,
    (u32, open, "packets", "incomplete: some of their flits have arrived"))
};
static_assert(sizeof(Reassembly) == 4);

/// A packet in reassembly: some of its flits have arrived, others have not.
struct Partial {
  FLITLAB_MEMBERS(Partial,
    (u32, src, "", "source terminal"),
    (u32, id, "", "packet number at its source"),
    (u16, left, "flits", "not yet arrived"),
    (u16, last_here, "", "whether its last flit has arrived"))
};
static_assert(sizeof(Partial) == 12);

/// Fields of a terminal in addition to the common ones; `t` is a Table.
struct InterfaceFields {
  FLITLAB_FIELDS(InterfaceFields,
    (Flit, sending, 1, "", "the next flit of the packet that is being injected"),
    (Reassembly, reassembly, 1, "", "incomplete packets"),
    (Partial, partial, t.reassembly_buffers, "", "[index] reassembly buffers; the first `open` are in use"))
};

struct Table {
  static constexpr bool kPlane = false;
  static constexpr EngineCost cost{.cpu_ns = 50, .loads = 83, .blocks = 7, .bytes = 1300};

  u32 routers = 0;
  u32 terminals = 0;
  u32 channels = 0;  ///< channels of an inner router; routers at the edges of a mesh have fewer
  u32 ports = 0;     ///< number of channels, plus one for the terminal's port
  u32 dims = 0;
  u32 wraps = 0;  ///< 1: torus
  u32 radix[kMaxDims]{};
  u32 dim_shift[kMaxDims]{};  ///< position of a coordinate in a packed address, bits
  u32 dim_mask[kMaxDims]{};
  u32 delay = 2;      ///< delay of a router, cycles (BLESS: 2)
  u32 hop_delay = 3;  ///< delay of a router and a channel together, cycles
  u32 slot_mask = 0;
  u32 ejection_width = 1;      ///< flits that a terminal takes in a cycle
  u32 reassembly_buffers = 1;  ///< reassembly buffers of a terminal, packets
  TrafficMode mode = TrafficMode::kOpen;
  const Peer* peers = nullptr;   ///< [routers][ports]
  const u32* address = nullptr;  ///< [routers] packed coordinates
  const u32* wired = nullptr;    ///< [routers] set of the channels that exist
  TrafficTable traffic;
  RouterFields router_fields;
  TerminalFields terminal_fields;
  InterfaceFields interface_fields;
};

template <class F>
void for_each_array(Table& t, F f) {
  f(t.peers, std::size_t{t.routers} * t.ports);
  f(t.address, std::size_t{t.routers});
  f(t.wired, std::size_t{t.routers});
}

/// Table of a two-dimensional network with open-loop traffic. Its compile-time constants hide the members of Table that
/// have the same names.
template <u32 kWraps>
struct PlaneTable : Table {
  PlaneTable() = default;
  explicit PlaneTable(const Table& table) : Table(table) {}

  static constexpr bool kPlane = true;
  static constexpr u32 dims = 2, channels = 4, ports = 5, wraps = kWraps;
  static constexpr TrafficMode mode = TrafficMode::kOpen;

  static bool fits(const Table& t) {
    return t.dims == dims && t.channels == channels && t.ports == ports && t.wraps == wraps && t.mode == mode;
  }
};

template <int W, bool Traced, class TableType>
struct View : ViewBase<W, Traced, TableType> {
  Items<W> routers;
  Items<W> terminals;
};

}  // namespace flitlab::bless
