#pragma once
/// Totals of S-Connect, in addition to the common totals.
#include "kernels/common/counters.hpp"

namespace flitlab::sconnect {

FLITLAB_TOTALS(
    Count, kTotalTable, kCommonTotals,
    (kSlotsSent, 1, .name = "slots_sent", .unit = "slots",
     .help = "Slots of channels between TICs that carried a message or a part of a quad.", .cite = "S-Connect, 3.2",
     .figure = "slots_sent"),
    (kSlotsHit, 1, .name = "slots_hit", .unit = "slots", .help = "Slots that arrived damaged.",
     .cite = "S-Connect, 3.2", .figure = "slots_hit"),
    (kRejected, 1, .name = "refused", .unit = "messages",
     .help = "Messages that a receiver rejected because it had no buffer for them.", .cite = "S-Connect, 3.2",
     .figure = "refused"),
    (kFailed, 1, .name = "came_back", .unit = "messages",
     .help = "Transmissions that failed, because the message was damaged or rejected, and returned it to the router.",
     .cite = "S-Connect, 3.2", .figure = "came_back"),
    (kAnswersLost, 1, .name = "answers_lost", .unit = "slots",
     .help = "Slots whose acknowledgment the sender could not read.", .cite = "S-Connect, 3.2",
     .figure = "answers_lost"),
    (kSentAgain, 1, .name = "sent_again", .unit = "messages",
     .help = "Retransmissions in the same slot after an unreadable acknowledgment.", .cite = "S-Connect, 3.2",
     .figure = "sent_again"),
    (kDuplicates, 1, .name = "duplicates", .unit = "messages",
     .help = "Retransmissions of messages that had arrived before; the receiver discards them by their sequence bit.",
     .cite = "S-Connect, 3.2", .figure = "duplicates"),
    (kAborted, 1, .name = "aborted", .unit = "messages",
     .help = "Damaged messages that were annihilated by a late abort on their way out.", .cite = "S-Connect, 3.2",
     .figure = "aborted"),
    (kSlips, 1, .name = "slips", .unit = "slots",
     .help = "Words that receive FIFOs lost or repeated because clocks drifted apart.", .cite = "S-Connect, 3.3",
     .figure = "slips"),
    (kControlMessages, 1, .name = "control_messages", .unit = "messages",
     .help = "Control messages that TICs have executed.", .cite = "S-Connect, 3.4", .figure = "control_messages"),
    (kDelivered, 4, .name = "delivered_priority_#", .unit = "packets", .help = "Packets of this priority delivered.",
     .cite = "S-Connect, 3.3", .figure = "delivered_priority_#"),
    (kMeasuredLatency, 4, .name = "measured_latency_sum_priority_#", .unit = "cycles",
     .help = "Creation to arrival, measured packets of this priority.", .cite = "S-Connect, 3.3"),
    (kMeasured, 4, .name = "measured_delivered_priority_#", .unit = "packets",
     .help = "Measured packets of this priority delivered.", .cite = "S-Connect, 3.3"),
    (kClocksSum, 1, .name = "clocks_sum", .unit = "clocks",
     .help = "Sum over measured packets of 10 + turn of the exit port - turn of the entry port; a turn is the port "
             "number + the phase of its node.",
     .cite = "S-Connect, 3.2; 4.1"))

static_assert(totals_in_use(kTotalTable) <= kTotals);

}  // namespace flitlab::sconnect
