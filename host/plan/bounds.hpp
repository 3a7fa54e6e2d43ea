#pragma once
/// Bounds of the numbers in a state that routers use as indices: ports, virtual channels, positions in buffers,
/// terminals. Routers do not check these numbers. So a state from outside (a checkpoint) is checked before a router
/// uses it.
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

/// Returns whether a number is possible. `item`: index of the item; `element`: index in the item's field.
using Check = std::function<bool(u64 number, u32 item, u32 element)>;

/// Returns whether a struct of the state, or an item as a whole, is possible. `item`, `element`: as above.
using RecordCheck = std::function<bool(const std::byte* record, u32 item, u32 element)>;

struct Bound {
  std::string where;  ///< name of the numbers: kind of item, field and members: "router.input.out_port"
  Check holds;        ///< check of each number of that name
  /// Or check of each struct of that name; of each item as a whole if `where` names no field.
  RecordCheck record_holds = {};
};

/// Returns a bound for structs in which the possible values of one number depend on another number: holds(record, item,
/// element).
template <class Record, class F>
Bound record_bound(std::string where, F holds) {
  return {std::move(where), {}, [holds](const std::byte* at, u32 item, u32 element) {
            Record record;
            std::memcpy(&record, at, sizeof record);
            return holds(record, item, element);
          }};
}

/// Returns a bound for items whose fields depend on one another: holds(item, index).
template <class F>
Bound item_bound(std::string kind, F holds) {
  return {std::move(kind), {}, [holds](const std::byte* at, u32 index, u32) {
            return holds(Item<1>{const_cast<std::byte*>(at)}, index);
          }};
}

/// The next functions return checks. A number is less than `count`; with `none`, it may also equal `none`.
Check below(u64 count);
Check below_or(u64 count, u64 none);
/// A number is at most `most`.
Check at_most(u64 most);
/// A number is a set of bits that is a subset of `all`.
Check subset(u64 all);
/// Each byte of a number is at most `most`.
Check bytes_at_most(u64 most);
/// Each byte of a number is empty or a flit (kernels/common/inbox.hpp) of one of `vcs` virtual channels.
Check flits_of(u32 vcs);
/// A number marks an arrival through a channel: 0, or 1 if the item has that channel. `wired[item]`: channels that the
/// item has, as bits. Element i of the field belongs to channel i % `channels`.
Check arrives_by(const u32* wired, u32 channels);

/// Exclusive upper bounds of the numbers in a packet's descriptor.
struct PacketBounds {
  u64 addresses;  ///< number of destination addresses
  u64 terminals;
  u64 ports = 256;
  u64 classes = 256;
};
void add_packet(std::vector<Bound>& bounds, const std::string& where, const PacketBounds& packet);

/// Adds the bounds of a terminal's source queue, trace and program.
void add_source(std::vector<Bound>& bounds, const TrafficTable& traffic, TrafficMode mode,
                const TerminalFields& fields);
/// Adds the bounds of a terminal's closed loop, and of its channels to and from a router with `vcs` virtual channels.
/// The buffer of each virtual channel holds `buffer_flits` flits and `ring` packet descriptors.
void add_terminal_channels(std::vector<Bound>& bounds, u32 vcs, u32 buffer_flits, u32 ring, TrafficMode mode,
                           const TrafficTable& traffic, const TerminalFields& fields, const PacketBounds& packet);

/// Checks a state. Throws a ConfigError that names the first number out of bounds. Skips fields that the items of this
/// configuration do not have. Throws logic_error for a name that no item of the model has.
void check_bounds(const StateLayout& layout, const std::vector<Bound>& bounds, const std::vector<std::byte>& state);

}  // namespace flitlab
