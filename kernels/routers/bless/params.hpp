#pragma once
/// Parameters of the bufferless deflection router. BLESS: Moscibroda and Mutlu, "A Case for Bufferless Routing in
/// On-Chip Networks", ISCA 2009.
#include "kernels/common/param.hpp"

namespace flitlab::bless::param {

inline constexpr struct RouterParams {
  ParamRecord delay{.path = "router.delay",
                    .type = ParamType::kInt,
                    .default_value = "2",
                    .min = 1,
                    .max = 64,
                    .unit = "cycles",
                    .help = "From a flit's arrival at a router until it leaves, on a channel or to the terminal.",
                    .cite = "BLESS (a router of two cycles)"};
  ParamRecord ejection_width{.path = "router.ejection_width",
                             .type = ParamType::kInt,
                             .default_value = "1",
                             .min = 1,
                             .max = 20,
                             .unit = "flits/cycle",
                             .help = "Flits that a terminal takes in a cycle; others that are for it are deflected.",
                             .cite = "BLESS, FLIT-BLESS"};
  ParamRecord reassembly_packets{
      .path = "router.reassembly_packets",
      .type = ParamType::kIntOrAuto,
      .default_value = "auto",
      .min = 1,
      .max = 1000000,
      .unit = "packets/terminal",
      .help =
          "Packets that a terminal can put together at a time; a flit of one more is deflected. auto: as many "
          "as can ever be incomplete, so that no flit is refused. With fewer a flit may travel for ever.",
      .cite = "BLESS (receivers have buffers for it; how large they are is a reading)"};
} router{};

}  // namespace flitlab::bless::param
