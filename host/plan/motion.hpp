#pragma once
/// How the state of a network changes while its traffic repeats itself: what moves on from one repetition to the next,
/// and in which way. Everything that is not described here must be equal after a repetition.
///
/// Clocks (elements with the unit "cycle") need no description. They move on with time, or lie in the past or future.
#include <functional>
#include <string>
#include <vector>

#include "kernels/common/types.hpp"
#include "kernels/traffic/program_state.hpp"

namespace flitlab {

/// A name such as "router.input.first" has three parts: kind of item, field and member. Plan::bounds() uses such names,
/// too.
struct Motion {
  /// Circular buffers, the parts of a field. The contents of a buffer move as its front does.
  struct Buffers {
    std::string field;
    u32 number, positions;   ///< buffers in the field of an item; positions of each
    std::string front = {};  ///< position of each buffer's front; empty: the cycle, modulo `positions`
    /// Positions in use, from the front on; all others are left over, and will be overwritten. If the number is not
    /// stored, they end at the position of the pointer to the buffer; if that is also the front, all are in use or
    /// none: all if a number of packets at the front (`waiting`) is not 0, or if so many can be on their way there.
    std::string in_use = {}, waiting = {};
    u32 most_on_the_way = 0;
  };
  /// A buffer: which of `buffers`, item, number in the item.
  struct Target {
    u32 buffers, item, number;
  };
  /// Positions in other items' buffers. `target(item, index)`: the buffer that element `index` refers to.
  struct Pointers {
    std::string name;
    std::function<Target(u32 item, u32 index)> target;
  };

  std::string never = {};  ///< why no state can repeat itself; empty: it can
  std::vector<Buffers> buffers = {};
  std::vector<Pointers> pointers = {};
  std::vector<std::string> counters = {};  ///< numbers that no rule reads, or only their differences
  /// Returns whether packets from a terminal to another one draw random numbers, so that no two of them are alike.
  std::function<bool(u32 source, u32 destination)> draws = {};
  const ProgramTable* program = nullptr;
  /// Small parts of items that change when anything moves there. They are compared first, at a few items.
  std::vector<std::string> quick = {};
};

}  // namespace flitlab
