/// The code of lanes of one width, compiled for the processors that have it. FLITLAB_LANES is the width,
/// FLITLAB_LANES_NAME the function to ask.
///
/// The build gives the namespace flitlab another name here, so that a function of a header that is compiled in this
/// file as well as elsewhere is two functions: else the linker would keep one of them, and processors that do not have
/// these instructions might get it.
#include "kernels/routers/vc/lanes/unit.hpp"

/// See code_for() in choose.cpp.
extern "C" const void* FLITLAB_LANES_NAME(unsigned ports, int long_packets) {
  using namespace flitlab;
  const auto with = [&]<flitlab::u32 P>() -> const void* {
    using Table = vc::FixedVcTable<P, 4>;
    if (long_packets) return &vc::lanes::Unit<FLITLAB_LANES, vc::lanes::Sizes<P, 8, 5>, Table>::code;
    return &vc::lanes::Unit<FLITLAB_LANES, vc::lanes::Sizes<P, 3, 2>, Table>::code;
  };
  return ports == 5 ? with.operator()<5>() : ports == 7 ? with.operator()<7>() : nullptr;
}
