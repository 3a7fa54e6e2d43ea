#pragma once
/// What the Cray T3E counts beside the totals of all models.
#include "kernels/common/counters.hpp"

namespace flitlab::t3e {

FLITLAB_TOTALS(Count, kTotalTable, kCommonTotals,
               (kBarriers, 1, .name = "barriers", .unit = "barriers",
                .help = "Completions of barriers that PEs have seen.", .cite = "paper, section 6"),
               (kBarrierWaitSum, 1, .name = "barrier_wait_sum", .unit = "cycles",
                .help = "Joining to completion, all barriers.", .cite = "paper, section 6"),
               (kChannelErrors, 1, .name = "channel_errors", .unit = "hits",
                .help = "Hits of flits on links that routers have detected.", .cite = "paper, section 9",
                .figure = "channel_errors"),
               (kFlitsCorrected, 1, .name = "flits_corrected", .unit = "flits",
                .help = "Flits hit on one link or more, and corrected by the destination's router.",
                .cite = "paper, section 9", .figure = "flits_corrected"),
               (kFlitsHitAgain, 1, .name = "flits_hit_again", .unit = "flits",
                .help = "Of the corrected flits, those hit on several links.", .cite = "paper, section 9",
                .figure = "flits_hit_again"),
               (kSpecialSent, 1, .name = "special_sent", .unit = "packets",
                .help = "Special packets sent, answers included.", .cite = "manual, Special Routing"),
               (kSpecialArrived, 1, .name = "special_arrived", .unit = "packets",
                .help = "Special packets that have reached a register or a PE.", .cite = "manual, Special Routing"),
               (kSpecialLost, 1, .name = "special_lost", .unit = "packets",
                .help = "Special packets lost to another one, at an open link, or where software wants them ignored.",
                .cite = "manual, Special Routing"),
               (kAuditedSpecial, 1, .name = "audited_special", .unit = "packets",
                .help = "Grows at every audit by the special packets on their way."))

static_assert(totals_in_use(kTotalTable) <= kTotals);

}  // namespace flitlab::t3e
