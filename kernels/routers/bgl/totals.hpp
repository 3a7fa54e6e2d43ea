#pragma once
/// Totals of Blue Gene/L's torus, in addition to the common totals.
#include "kernels/common/counters.hpp"

namespace flitlab::bgl {

FLITLAB_TOTALS(Count, kTotalTable, kCommonTotals,
               (kVcFlits, 8, .name = "vc#_flits", .unit = "chunks", .help = "Sent on this virtual channel of any link.",
                .cite = "BG/L torus, Torus network"),
               (kTokenMessages, 1, .name = "token_messages", .unit = "messages",
                .help = "Token messages to nodes where the head of a receiver's queue could enter no virtual channel.",
                .cite = "BG/L torus, Torus network"),
               (kUnblocking, 1, .name = "unblocking", .unit = "messages",
                .help = "Token messages that let such a head move.", .cite = "BG/L torus, Torus network"),
               (kTokenPackets, 1, .name = "token_packets", .unit = "packets",
                .help = "Token packets sent on links (router.acks = packets).", .cite = "BG/L torus, Torus network"),
               (kPacketsHit, 1, .name = "channel_errors", .unit = "packets", .help = "Packets hit by link errors.",
                .cite = "BG/L torus, Torus network", .figure = "packets_hit"),
               (kRepeated, 1, .name = "packets_repeated", .unit = "packets", .help = "Packets retransmitted on links.",
                .cite = "BG/L torus, Torus network", .figure = "packets_repeated"),
               (kOutOfSequence, 1, .name = "packets_out_of_sequence", .unit = "packets",
                .help = "Packets rejected by receivers: out of sequence.", .cite = "BG/L torus, Torus network",
                .figure = "packets_out_of_sequence"),
               (kAcknowledgmentsLost, 1, .name = "acknowledgments_lost", .unit = "acknowledgments",
                .help = "Acknowledgments hit by link errors and dropped.", .cite = "BG/L torus, Torus network",
                .figure = "acknowledgments_lost"),
               (kNotValid, 1, .name = "packets_not_valid", .unit = "packets",
                .help = "Forwarded copies of corrupted packets, dropped.", .cite = "BG/L torus, Torus network",
                .figure = "packets_not_valid"),
               (kCopies, 1, .name = "copies", .unit = "packets", .help = "Broadcast copies that software took.",
                .cite = "BG/L torus, Torus network"),
               (kAckOnly, 1, .name = "ack_only_packets", .unit = "packets",
                .help = "Acknowledgments without tokens, sent on links.", .cite = "BG/L torus, Torus network",
                .figure = "ack_only_packets"),
               (kIdleAcks, 1, .name = "idle_acks", .unit = "packets",
                .help = "Token packets that repeated a count of returned tokens.",
                .cite = "BG/L torus, Simulator overview", .figure = "idle_acks"))

static_assert(totals_in_use(kTotalTable) <= kTotals);

}  // namespace flitlab::bgl
