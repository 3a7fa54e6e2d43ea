#pragma once
/// What Blue Gene/L's torus counts beside the totals of all models.
#include "kernels/common/counters.hpp"

namespace flitlab::bgl {

FLITLAB_TOTALS(Count, kTotalTable, kCommonTotals,
               (kVcFlits, 8, .name = "vc#_flits", .unit = "chunks", .help = "Sent on this virtual channel of any link.",
                .cite = "BG/L torus, Torus network"),
               (kTokenMessages, 1, .name = "token_messages", .unit = "messages",
                .help = "Token messages to a node where a packet in a receiver could enter no virtual channel.",
                .cite = "BG/L torus, Torus network"),
               (kUnblocking, 1, .name = "unblocking", .unit = "messages",
                .help = "Of these, those that let a blocked packet move.", .cite = "BG/L torus, Torus network"),
               (kTokenPackets, 1, .name = "token_packets", .unit = "packets",
                .help = "Token packets that had a link to themselves (router.acks = packets).",
                .cite = "BG/L torus, Torus network"),
               (kPacketsHit, 1, .name = "channel_errors", .unit = "packets", .help = "Hit on links.",
                .cite = "BG/L torus, Torus network", .figure = "packets_hit"),
               (kRepeated, 1, .name = "packets_repeated", .unit = "packets", .help = "That links have sent again.",
                .cite = "BG/L torus, Torus network", .figure = "packets_repeated"),
               (kOutOfSequence, 1, .name = "packets_out_of_sequence", .unit = "packets",
                .help = "Of what receivers got, those out of sequence.", .cite = "BG/L torus, Torus network",
                .figure = "packets_out_of_sequence"),
               (kAcknowledgmentsLost, 1, .name = "acknowledgments_lost", .unit = "acknowledgments",
                .help = "Hit on their way, with the tokens that they bear.", .cite = "BG/L torus, Torus network",
                .figure = "acknowledgments_lost"),
               (kNotValid, 1, .name = "packets_not_valid", .unit = "packets",
                .help = "Copies of spoiled packets that had gone on, thrown away.", .cite = "BG/L torus, Torus network",
                .figure = "packets_not_valid"),
               (kCopies, 1, .name = "copies", .unit = "packets",
                .help = "Copies of broadcast packets that software has taken.", .cite = "BG/L torus, Torus network"),
               (kAckOnly, 1, .name = "ack_only_packets", .unit = "packets",
                .help = "Acknowledgments without tokens that had a link to themselves.",
                .cite = "BG/L torus, Torus network", .figure = "ack_only_packets"),
               (kIdleAcks, 1, .name = "idle_acks", .unit = "packets",
                .help = "Token packets that only said once more how many tokens have been returned.",
                .cite = "BG/L torus, Simulator overview", .figure = "idle_acks"))

static_assert(totals_in_use(kTotalTable) <= kTotals);

}  // namespace flitlab::bgl
