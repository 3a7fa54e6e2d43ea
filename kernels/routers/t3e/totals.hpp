#pragma once
/// Totals of the Cray T3E, in addition to the common totals.
#include "kernels/common/counters.hpp"

namespace flitlab::t3e {

FLITLAB_TOTALS(Count, kTotalTable, kCommonTotals,
               (kBarriers, 1, .name = "barriers", .unit = "barriers",
                .help = "Barrier completions that PEs have received.", .cite = "paper, section 6"),
               (kBarrierWaitSum, 1, .name = "barrier_wait_sum", .unit = "cycles",
                .help = "Sum of the times from a PE's join to the completion.", .cite = "paper, section 6"),
               (kChannelErrors, 1, .name = "channel_errors", .unit = "hits",
                .help = "Flits corrupted on links, as detected by routers; a flit counts once per link.",
                .cite = "paper, section 9", .figure = "channel_errors"),
               (kFlitsCorrected, 1, .name = "flits_corrected", .unit = "flits",
                .help = "Flits corrupted on at least one link, and corrected by the destination's router.",
                .cite = "paper, section 9", .figure = "flits_corrected"),
               (kFlitsHitAgain, 1, .name = "flits_hit_again", .unit = "flits",
                .help = "Corrected flits that were corrupted on more than one link.", .cite = "paper, section 9",
                .figure = "flits_hit_again"),
               (kSpecialSent, 1, .name = "special_sent", .unit = "packets",
                .help = "Special packets sent, answers included.", .cite = "manual, Special Routing"),
               (kSpecialArrived, 1, .name = "special_arrived", .unit = "packets",
                .help = "Special packets that have reached a register or a PE.", .cite = "manual, Special Routing"),
               (kSpecialLost, 1, .name = "special_lost", .unit = "packets",
                .help = "Special packets lost in a collision, at an open or broken link, or at a channel with "
                        "IGNORE_SPCL.",
                .cite = "manual, Special Routing"),
               (kAuditedSpecial, 1, .name = "audited_special", .unit = "packets",
                .help = "Special packets in transit, summed over all audits."))

static_assert(totals_in_use(kTotalTable) <= kTotals);

}  // namespace flitlab::t3e
