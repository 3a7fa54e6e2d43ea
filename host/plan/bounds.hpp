#pragma once
/// Bounds of numbers in a state that are used as indices: a port, a virtual channel, a position in a buffer, a
/// terminal. Routers do not check them, so a state from outside (a checkpoint) is checked before any router uses it.
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

/// Whether a number is possible in an element of a field of an item.
using Check = std::function<bool(u64 number, u32 item, u32 element)>;

/// The same for a record (a struct of the state) or item as a whole.
using RecordCheck = std::function<bool(const std::byte* record, u32 item, u32 element)>;

struct Bound {
  std::string where;              ///< item, field and members by name: "router.input.out_port"
  Check holds;                    ///< checks each number of that name
  RecordCheck record_holds = {};  ///< or checks each record; or an item as a whole, if `where` names no field
};

/// Returns a bound of records in which the possible values of one number depend on another: holds(record, item,
/// element).
template <class Record, class F>
Bound record_bound(std::string where, F holds) {
  return {std::move(where), {}, [holds](const std::byte* at, u32 item, u32 element) {
            Record record;
            std::memcpy(&record, at, sizeof record);
            return holds(record, item, element);
          }};
}

/// Returns a bound of items whose fields depend on one another: holds(item, index).
template <class F>
Bound item_bound(std::string kind, F holds) {
  return {std::move(kind), {}, [holds](const std::byte* at, u32 index, u32) {
            return holds(Item<1>{const_cast<std::byte*>(at)}, index);
          }};
}

/// Less than `count`; or also equal to `none`.
Check below(u64 count);
Check below_or(u64 count, u64 none);
/// At most `most`.
Check at_most(u64 most);
/// A bit set that is a subset of `all`.
Check subset(u64 all);
/// Each byte of a word is at most `most`.
Check bytes_at_most(u64 most);
/// Each byte is empty or a flit (kernels/common/inbox.hpp) of one of `vcs` virtual channels.
Check flits_of(u32 vcs);
/// A mark of an arrival through a channel: 0, or 1 if the item has that channel. `wired[item]`: its channels, as bits.
/// An element belongs to channel element % `channels`.
Check arrives_by(const u32* wired, u32 channels);

/// Exclusive upper bounds of numbers in a packet's descriptor.
struct PacketBounds {
  u64 addresses;  ///< destination addresses
  u64 terminals;
  u64 ports = 256;
  u64 classes = 256;
};
void add_packet(std::vector<Bound>& bounds, const std::string& where, const PacketBounds& packet);

/// Adds the bounds of a terminal's source queue, trace and program.
void add_source(std::vector<Bound>& bounds, const TrafficTable& traffic, TrafficMode mode,
                const TerminalFields& fields);
/// Adds the bounds of a terminal's closed loop and of its channels to and from a router, with `vcs` virtual channels
/// whose buffers hold `buffer_flits` flits and `ring` packet descriptors.
void add_terminal_channels(std::vector<Bound>& bounds, u32 vcs, u32 buffer_flits, u32 ring, TrafficMode mode,
                           const TrafficTable& traffic, const TerminalFields& fields, const PacketBounds& packet);

/// Throws ConfigError that names the first number out of bounds. It skips a field that this configuration's items do
/// not have. A name that no item has is an error of the model: logic_error.
void check_bounds(const StateLayout& layout, const std::vector<Bound>& bounds, const std::vector<std::byte>& state);

}  // namespace flitlab
