#pragma once
/// Totals of the bufferless deflection router, in addition to the common totals.
#include "kernels/common/counters.hpp"

namespace flitlab::bless {

FLITLAB_TOTALS(Count, kTotalTable, kCommonTotals,
               (kSent, 1, .name = "flits_sent", .unit = "flits", .help = "Sent on channels between routers.",
                .cite = "BLESS, FLIT-BLESS"),
               (kDeflections, 1, .name = "deflections", .unit = "flits",
                .help = "Flits sent on a channel that does not bring them nearer to their destination.",
                .cite = "BLESS, FLIT-BLESS", .figure = "deflections"),
               (kRefused, 1, .name = "ejections_refused", .unit = "flits",
                .help = "Ejections denied because the terminal had no free reassembly buffer; a flit counts each time.",
                .cite = "BLESS, FLIT-BLESS", .figure = "ejections_refused"),
               (kBlocked, 1, .name = "injections_blocked", .unit = "cycles",
                .help = "Cycles in which a terminal had a flit to inject and no input of its router was free.",
                .cite = "BLESS, FLIT-BLESS", .figure = "injections_blocked"),
               (kOpenMost, 1, .name = "reassembly_most", .unit = "packets",
                .help = "Most packets in reassembly at one terminal at the same time.", .cite = "BLESS, FLIT-BLESS",
                .figure = "reassembly_most", .maximum = true))

static_assert(totals_in_use(kTotalTable) <= kTotals);

}  // namespace flitlab::bless
