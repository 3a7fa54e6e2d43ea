#pragma once
/// Totals of the adaptive router, in addition to the common totals.
#include "kernels/common/counters.hpp"

namespace flitlab::adaptive {

FLITLAB_TOTALS(Count, kTotalTable, kCommonTotals,
               (kMisrouted, 1, .name = "misrouted", .unit = "messages",
                .help = "Sent on a channel not named by the routing table.", .cite = "S-Connect, 2.2",
                .figure = "misrouted"),
               (kSent, 1, .name = "sent_by_adaptive", .unit = "messages", .help = "Sent by routers.",
                .cite = "S-Connect, 2.2"),
               (kDelivered, 4, .name = "delivered_priority_#", .unit = "packets",
                .help = "Delivered, of this priority.", .cite = "S-Connect, 2.2", .figure = "delivered_priority_#"),
               (kMeasuredLatency, 4, .name = "measured_latency_sum_priority_#", .unit = "cycles",
                .help = "Creation to arrival, measured packets of this priority.", .cite = "S-Connect, 2.2"),
               (kMeasured, 4, .name = "measured_delivered_priority_#", .unit = "packets",
                .help = "Measured packets of this priority delivered.", .cite = "S-Connect, 2.2"))

static_assert(totals_in_use(kTotalTable) <= kTotals);

}  // namespace flitlab::adaptive
