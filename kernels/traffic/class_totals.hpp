#pragma once
/// Totals of each class of packets, of models whose sources have several classes, in addition to the common totals.
#include "kernels/common/counters.hpp"
#include "kernels/common/replica.hpp"

namespace flitlab {

FLITLAB_TOTALS(ClassTotal, kClassTotalTable, kCommonTotals,
               (kOfferedFlits, kMaxTrafficClasses, .name = "offered_flits_class_#", .unit = "flits",
                .help = "Flits of measured packets of this class that were created."),
               (kAcceptedFlits, kMaxTrafficClasses, .name = "accepted_flits_class_#", .unit = "flits",
                .help = "Flits of this class that arrived in the measurement window."),
               (kDelivered, kMaxTrafficClasses, .name = "packets_delivered_class_#", .unit = "packets",
                .help = "Packets of this class whose tail has arrived."),
               (kMeasured, kMaxTrafficClasses, .name = "measured_delivered_class_#", .unit = "packets",
                .help = "Measured packets of this class delivered."),
               (kMeasuredLatency, kMaxTrafficClasses, .name = "measured_latency_sum_class_#", .unit = "cycles",
                .help = "Sum of latencies of measured packets of this class."),
               (kMeasuredNetworkLatency, kMaxTrafficClasses, .name = "measured_network_latency_sum_class_#",
                .unit = "cycles", .help = "Sum of network latencies of measured packets of this class."))

static_assert(totals_in_use(kClassTotalTable) <= kTotals);

}  // namespace flitlab
