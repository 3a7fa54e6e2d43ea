#pragma once
/// Numbers of a state that say where something lies: a port, a virtual channel, a place in a ring, a terminal. Routers
/// believe them, so a state that comes from outside is looked at before any router sees it.
#include <cstddef>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/engines/state_layout.hpp"
#include "kernels/traffic/terminal_state.hpp"
#include "kernels/traffic/traffic.hpp"

namespace flitlab {

/// Whether a number can be what it is in an element of a field of an item.
using Holds = std::function<bool(u64 number, u32 item, u32 element)>;

/// The same of a record as a whole.
using RecordHolds = std::function<bool(const std::byte* record, u32 item, u32 element)>;

struct Bound {
  std::string where;              ///< item, field and members by name: "router.input.out_port"
  Holds holds;                    ///< each number of that name
  RecordHolds record_holds = {};  ///< or each record; an item as a whole, if `where` names no field
};

/// A bound of records, where what a number can be depends on another: holds(record, item, element).
template <class Record, class F>
Bound record_bound(std::string where, F holds) {
  return {std::move(where), {}, [holds](const std::byte* at, u32 item, u32 element) {
            Record record;
            std::memcpy(&record, at, sizeof record);
            return holds(record, item, element);
          }};
}

/// A bound of items, where fields depend on one another: holds(item, index).
template <class F>
Bound item_bound(std::string kind, F holds) {
  return {std::move(kind), {}, [holds](const std::byte* at, u32 index, u32) {
            return holds(Item<1>{const_cast<std::byte*>(at)}, index);
          }};
}

/// Less than so much; or a number that means that there is none.
Holds below(u64 count);
Holds below_or(u64 count, u64 none);
/// At most so much.
Holds at_most(u64 most);
/// A set of things, as bits.
Holds subset(u64 all);
/// Each byte of a word by itself.
Holds bytes_at_most(u64 most);
/// Each byte is a flit of mail.hpp, of one of so many virtual channels, or none.
Holds flits_of(u32 vcs);
/// A mark for something that a channel brings: 0, or 1 where there is such a channel. `channels` of every item, as
/// bits; an element is a slot's channel.
Holds arrives_by(const u32* wired, u32 channels);

/// What numbers in a packet's descriptor are less than.
struct PacketBounds {
  u64 addresses;  ///< of destinations
  u64 terminals;
  u64 ports = 256;
  u64 classes = 256;
};
void add_packet(std::vector<Bound>& bounds, const std::string& where, const PacketBounds& packet);

/// A terminal's source queue, trace and program.
void add_source(std::vector<Bound>& bounds, const TrafficTable& traffic, TrafficMode mode,
                const TerminalFields& fields);
/// Its channels to and from a router, with so many virtual channels, whose buffers hold so many flits and packets, and
/// its closed loop.
void add_terminal_channels(std::vector<Bound>& bounds, u32 vcs, u32 buffer_flits, u32 ring, TrafficMode mode,
                           const TrafficTable& traffic, const TerminalFields& fields, const PacketBounds& packet);

/// ConfigError that names the first number which cannot be. A field that this network's items do not have bounds
/// nothing; a name that no item has is the model's mistake: logic_error.
void check_bounds(const StateLayout& layout, const std::vector<Bound>& bounds, const std::vector<std::byte>& state);

}  // namespace flitlab
