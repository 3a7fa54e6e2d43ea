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
                    .help = "Time from a flit's arrival at a router until it leaves, on a channel or to the terminal.",
                    .cite = "BLESS (a router of two cycles)"};
  ParamRecord ejection_width{.path = "router.ejection_width",
                             .type = ParamType::kInt,
                             .default_value = "1",
                             .min = 1,
                             .max = 20,
                             .unit = "flits/cycle",
                             .help = "Flits ejected to a terminal in a cycle; other flits for it are deflected.",
                             .cite = "BLESS, FLIT-BLESS"};
  ParamRecord reassembly_packets{
      .path = "router.reassembly_packets",
      .type = ParamType::kIntOrAuto,
      .default_value = "auto",
      .min = 1,
      .max = 1000000,
      .unit = "packets/terminal",
      .help =
          "Packets that a terminal can reassemble at the same time; flits of further packets are deflected. auto: as "
          "many as can ever be incomplete, so that no ejection is denied. With fewer, livelock is possible.",
      .cite = "BLESS (receivers have reassembly buffers; their size is not given)"};
} router{};

}  // namespace flitlab::bless::param
