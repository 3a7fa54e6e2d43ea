#pragma once
/// What S-Connect counts beside the totals of all models.
#include "kernels/common/counters.hpp"

namespace flitlab::sconnect {

FLITLAB_TOTALS(
    Count, kTotalTable, kCommonTotals,
    (kSlotsSent, 1, .name = "slots_sent", .unit = "slots",
     .help = "Of serial channels, that carried a message or part of one.", .cite = "S-Connect, 3.2",
     .figure = "slots_sent"),
    (kSlotsHit, 1, .name = "slots_hit", .unit = "slots", .help = "That arrived damaged.", .cite = "S-Connect, 3.2",
     .figure = "slots_hit"),
    (kRejected, 1, .name = "refused", .unit = "messages", .help = "Refused by a receiver without a buffer for them.",
     .cite = "S-Connect, 3.2", .figure = "refused"),
    (kFailed, 1, .name = "came_back", .unit = "messages", .help = "That came damaged, by what their sender was told.",
     .cite = "S-Connect, 3.2", .figure = "came_back"),
    (kAnswersLost, 1, .name = "answers_lost", .unit = "slots", .help = "Whose outcome the sender could not read.",
     .cite = "S-Connect, 3.2", .figure = "answers_lost"),
    (kSentAgain, 1, .name = "sent_again", .unit = "messages", .help = "Sent again in their slot for that.",
     .cite = "S-Connect, 3.2", .figure = "sent_again"),
    (kDuplicates, 1, .name = "duplicates", .unit = "messages",
     .help = "Of these, those that had arrived the first time, discarded by their sequence bit.",
     .cite = "S-Connect, 3.2", .figure = "duplicates"),
    (kAborted, 1, .name = "aborted", .unit = "messages",
     .help = "Annihilated on their way out, since they came in damaged.", .cite = "S-Connect, 3.2",
     .figure = "aborted"),
    (kSlips, 1, .name = "slips", .unit = "slots", .help = "Lost to clocks that drifted apart.",
     .cite = "S-Connect, 3.3", .figure = "slips"),
    (kControlMessages, 1, .name = "control_messages", .unit = "messages", .help = "That routers have carried out.",
     .cite = "S-Connect, 3.4", .figure = "control_messages"),
    (kDelivered, 4, .name = "delivered_priority_#", .unit = "packets", .help = "Of this priority.",
     .cite = "S-Connect, 3.3", .figure = "delivered_priority_#"),
    (kMeasuredLatency, 4, .name = "measured_latency_sum_priority_#", .unit = "cycles",
     .help = "Creation to arrival, measured packets of this priority.", .cite = "S-Connect, 3.3"),
    (kMeasured, 4, .name = "measured_delivered_priority_#", .unit = "packets",
     .help = "Measured packets of this priority delivered.", .cite = "S-Connect, 3.3"),
    (kClocksSum, 1, .name = "clocks_sum", .unit = "clocks",
     .help = "Measured packets: 10 + turn of the port where they left, less that where they entered; a turn is a "
             "port's clock in the routing cycle, and the phase of its node.",
     .cite = "S-Connect, 3.2; 4.1"))

static_assert(totals_in_use(kTotalTable) <= kTotals);

}  // namespace flitlab::sconnect
