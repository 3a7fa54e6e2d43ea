#pragma once
/// Totals of METRO, in addition to the common totals.
#include "kernels/common/counters.hpp"

namespace flitlab::metro {

FLITLAB_TOTALS(
    Count, kTotalTable, kCommonTotals,
    (kAttempts, 1, .name = "attempts", .unit = "connections", .help = "Connections that sources have requested.",
     .figure = "attempts"),
    (kRefused, 1, .name = "refused", .unit = "connections",
     .help = "Attempts whose message arrived damaged and was rejected.", .figure = "refused"),
    (kShut, 1, .name = "connections_shut", .unit = "connections",
     .help = "Connections shut by routers, because cascaded routers disagreed or a backward port was switched off.",
     .cite = "METRO, 5.1, Router Width Cascading", .figure = "shut"),
    (kAccepted, 1, .name = "messages_accepted", .unit = "messages", .help = "Messages that destinations have accepted.",
     .figure = "accepted"),
    (kDuplicates, 1, .name = "duplicates", .unit = "messages",
     .help = "Messages that destinations had accepted before.", .figure = "duplicates"),
    (kAcceptedWrong, 1, .name = "messages_accepted_wrong", .unit = "messages",
     .help = "Damaged messages that destinations accepted because the check fitted by chance.",
     .figure = "accepted_wrong"),
    (kReplyWords, 1, .name = "reply_words", .unit = "words", .help = "Words of replies that arrived complete.",
     .figure = "reply_words"),
    (kBlocked, 8, .name = "blocked_stage_#", .unit = "connections",
     .help = "Attempts blocked by a router of this stage; 7: of this or a later stage.",
     .cite = "METRO, 5.1, Path Reclamation", .figure = "blocked_stage_#"),
    (kLost, 8, .name = "lost_stage_#", .unit = "connections",
     .help = "Attempts without a valid answer from which only so many routers returned STATUS; 7: or more.",
     .figure = "lost_stage_#"),
    (kDamaged, 8, .name = "damaged_stage_#", .unit = "connections",
     .help = "Attempts in which the router of this stage was the first to return a wrong checksum; 7: of this or a "
             "later stage.",
     .figure = "damaged_stage_#"))

static_assert(totals_in_use(kTotalTable) <= kTotals);

}  // namespace flitlab::metro
