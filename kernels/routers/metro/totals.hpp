#pragma once
/// What METRO counts beside the totals of all models.
#include "kernels/common/counters.hpp"

namespace flitlab::metro {

FLITLAB_TOTALS(
    Count, kTotalTable, kCommonTotals,
    (kAttempts, 1, .name = "attempts", .unit = "connections", .help = "Connections that sources have asked for.",
     .figure = "attempts"),
    (kRefused, 1, .name = "refused", .unit = "connections", .help = "Attempts whose message came damaged.",
     .figure = "refused"),
    (kShut, 1, .name = "connections_shut", .unit = "connections",
     .help = "Shut by routers: cascaded ones that disagreed, or a backward port switched off.",
     .cite = "METRO, 5.1, Router Width Cascading", .figure = "shut"),
    (kAccepted, 1, .name = "messages_accepted", .unit = "messages", .help = "That destinations have taken.",
     .figure = "accepted"),
    (kDuplicates, 1, .name = "duplicates", .unit = "messages", .help = "That destinations had taken already.",
     .figure = "duplicates"),
    (kAcceptedWrong, 1, .name = "messages_accepted_wrong", .unit = "messages",
     .help = "Taken though they were damaged, since their check fitted by chance.", .figure = "accepted_wrong"),
    (kReplyWords, 1, .name = "reply_words", .unit = "words", .help = "Of replies that have come whole.",
     .figure = "reply_words"),
    (kBlocked, 8, .name = "blocked_stage_#", .unit = "connections",
     .help = "Attempts blocked by a router of this stage; 7: or of a later one.",
     .cite = "METRO, 5.1, Path Reclamation", .figure = "blocked_stage_#"),
    (kLost, 8, .name = "lost_stage_#", .unit = "connections",
     .help = "Attempts from which no more was heard than from so many routers; 7: or more.", .figure = "lost_stage_#"),
    (kDamaged, 8, .name = "damaged_stage_#", .unit = "connections",
     .help =
         "Attempts in which the checksum of the router of this stage was the first not to fit; 7: or of a later one.",
     .figure = "damaged_stage_#"))

static_assert(totals_in_use(kTotalTable) <= kTotals);

}  // namespace flitlab::metro
