/// Lane code of one vector width, compiled for processors with registers of that width. FLITLAB_LANES is the width in
/// bytes, FLITLAB_LANES_NAME the exported function.
///
/// The build renames the namespace flitlab in this file, so that its header functions differ from other files' copies.
/// Otherwise the linker would keep one copy, and processors without these instructions might run it.
#include "kernels/routers/vc/lanes/unit.hpp"

namespace flitlab::vc::lanes {

/// Sizes known at compile time for a trace, whose packets may have any length.
template <u32 P, u32 V>
struct TraceSizes : Sizes<P, V, Room::kRoomy, true> {
  static constexpr u32 left_planes = 16;
};

}  // namespace flitlab::vc::lanes

/// See code_for() in choose.cpp. Routers of four virtual channels in two and three dimensions are the most common, so
/// their sizes are known at compile time.
extern "C" const void* FLITLAB_LANES_NAME(const void* code_choice) {
  using namespace flitlab;
  using namespace vc::lanes;
  const CodeChoice& choice = *static_cast<const CodeChoice*>(code_choice);
  const auto code = []<class Element, class Sizes, class Table>() -> const void* {
    return &Unit<lanes::Vectors<FLITLAB_LANES, Element>, Sizes, Table>::code;
  };
  const auto fixed = [&]<u32 P>() -> const void* {
    if (choice.table == TableKind::kFixedTrace)
      return code.operator()<u8, TraceSizes<P, 4>, vc::FixedVcTable<P, 4, vc::TraceVcTable>>();
    if (choice.table == TableKind::kFixedLoop)
      return code.operator()<u8, Sizes<P, 4, Room::kRoomy, true>, vc::FixedVcTable<P, 4, vc::LoopVcTable>>();
    return choice.room == Room::kTight ? code.operator()<u8, Sizes<P, 4, Room::kTight, true>, vc::FixedVcTable<P, 4>>()
                                       : code.operator()<u8, Sizes<P, 4, Room::kRoomy, true>, vc::FixedVcTable<P, 4>>();
  };
  const auto of_any_size = [&]<class Table>() -> const void* {
    switch (choice.element_bits) {
      case 8:
        return choice.room == Room::kHuge ? code.operator()<u8, Sizes<8, 8, Room::kHuge, false>, Table>()
                                          : code.operator()<u8, Sizes<8, 8, Room::kRoomy, false>, Table>();
      case 16:
        return choice.room == Room::kHuge ? code.operator()<u16, Sizes<16, 16, Room::kHuge, false>, Table>()
                                          : code.operator()<u16, Sizes<16, 16, Room::kRoomy, false>, Table>();
      default: return code.operator()<u32, Sizes<32, 16, Room::kHuge, false>, Table>();
    }
  };
  if (choice.table == TableKind::kNoScript) return of_any_size.operator()<vc::NoScriptVcTable>();
  if (choice.table == TableKind::kScript) return of_any_size.operator()<vc::ScriptVcTable>();
  return choice.ports == 5 ? fixed.operator()<5>() : fixed.operator()<7>();
}
