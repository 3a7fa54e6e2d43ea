/// The code of lanes of one width, compiled for the processors that have it. FLITLAB_LANES is the width,
/// FLITLAB_LANES_NAME the function to ask.
///
/// The build gives the namespace flitlab another name here, so that a function of a header that is compiled in this
/// file as well as elsewhere is two functions: else the linker would keep one of them, and processors that do not have
/// these instructions might get it.
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
