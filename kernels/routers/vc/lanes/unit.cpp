/// Lane code of one vector width, compiled for processors with registers of that width. FLITLAB_LANES is the width in
/// bytes, FLITLAB_LANES_NAME the exported function.
///
/// The build renames the namespace flitlab in this file, so that its header functions differ from other files' copies.
/// Otherwise the linker would keep one copy, and processors without these instructions might run it.
#include "kernels/routers/vc/lanes/unit.hpp"

/// See code_for() in choose.cpp.
extern "C" const void* FLITLAB_LANES_NAME(unsigned ports, unsigned vcs, int table, int roomy) {
  using namespace flitlab;
  using vc::lanes::Sizes;
  const auto code = []<class Sizes, class Table>() -> const void* {
    return &vc::lanes::Unit<lanes::Vectors<FLITLAB_LANES>, Sizes, Table>::code;
  };
  const auto with = [&]<u32 P>() -> const void* {
    using vc::lanes::TableKind;
    switch (static_cast<TableKind>(table)) {
      case TableKind::kFixed:
        return roomy ? code.operator()<Sizes<P, 4, true>, vc::FixedVcTable<P, 4>>()
                     : code.operator()<Sizes<P, 4, false>, vc::FixedVcTable<P, 4>>();
      case TableKind::kOpen:
        return vcs <= 4 ? code.operator()<Sizes<P, 4, true>, vc::OpenVcTable>()
                        : code.operator()<Sizes<P, 8, true>, vc::OpenVcTable>();
      default:
        return vcs <= 4 ? code.operator()<Sizes<P, 4, true>, vc::RoundRobinVcTable>()
                        : code.operator()<Sizes<P, 8, true>, vc::RoundRobinVcTable>();
    }
  };
  if (vcs > 8) return nullptr;
  return ports == 5 ? with.operator()<5>() : ports == 7 ? with.operator()<7>() : nullptr;
}
