#pragma once
/// What the bufferless deflection router counts beside the totals of all models.
#include "kernels/common/counters.hpp"

namespace flitlab::bless {

FLITLAB_TOTALS(Count, kTotalTable, kCommonTotals,
               (kSent, 1, .name = "flits_sent", .unit = "flits", .help = "Sent on channels between routers.",
                .cite = "BLESS, FLIT-BLESS"),
               (kDeflections, 1, .name = "deflections", .unit = "flits",
                .help = "Of these, those sent on a channel that does not bring them nearer.",
                .cite = "BLESS, FLIT-BLESS", .figure = "deflections"),
               (kRefused, 1, .name = "ejections_refused", .unit = "flits",
                .help = "Flits at their destination that found no place for their packet, each time.",
                .cite = "BLESS, FLIT-BLESS", .figure = "ejections_refused"),
               (kBlocked, 1, .name = "injections_blocked", .unit = "cycles",
                .help = "Cycles of terminals that had a flit to inject when no input of their router was free.",
                .cite = "BLESS, FLIT-BLESS", .figure = "injections_blocked"),
               (kOpenMost, 1, .name = "reassembly_most", .unit = "packets",
                .help = "Most packets that a terminal had in parts at a time.", .cite = "BLESS, FLIT-BLESS",
                .figure = "reassembly_most", .maximum = true))

static_assert(totals_in_use(kTotalTable) <= kTotals);

}  // namespace flitlab::bless
