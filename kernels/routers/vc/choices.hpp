#pragma once
/// Enumerations for the parameters of the canonical router that select one of several choices: flow control,
/// allocators, arbiters, routing, use of VCs.
#include "kernels/common/choices.hpp"

namespace flitlab::vc {

FLITLAB_CHOICES(FlowControl, (kWormhole, "wormhole"), (kVirtualCutThrough, "virtual_cut_through"),
                (kStoreAndForward, "store_and_forward"))
FLITLAB_CHOICES(VcAllocator, (kInputFirst, "separable_input_first"), (kOutputFirst, "separable_output_first"),
                (kIslip, "islip"), (kWavefront, "wavefront"))
FLITLAB_CHOICES(SwitchAllocator, (kInputFirst, "separable_input_first"), (kOutputFirst, "separable_output_first"),
                (kIslip, "islip"), (kWavefront, "wavefront"), (kInputFirstByOutput, "separable_input_first_by_output"))
FLITLAB_CHOICES(ArbiterKind, (kRoundRobin, "round_robin"), (kMatrix, "matrix"), (kOldestFirst, "oldest_first"),
                (kMostHopsFirst, "most_hops_first"), (kRandom, "random"), (kFixedPriority, "fixed_priority"),
                (kHighestPriorityFirst, "highest_priority_first"), (kRoundRobinByTwo, "round_robin_by_two"))
FLITLAB_CHOICES(Algorithm, (kDimensionOrder, "dimension_order"), (kO1Turn, "o1turn"), (kValiant, "valiant"),
                (kRomm, "romm"), (kMinimalAdaptive, "minimal_adaptive"), (kTable, "table"), (kMinimal, "minimal"),
                (kUpDown, "up_down"), (kUgal, "ugal_l"), (kPar, "par"),
                (kNearestCommonAncestor, "nearest_common_ancestor"), (kAdaptive, "adaptive"),
                (kWestFirst, "west_first"), (kNorthLast, "north_last"), (kNegativeFirst, "negative_first"),
                (kOddEven, "odd_even"), (kDal, "dal"), (kDimWar, "dimwar"), (kOmniWar, "omniwar"))
FLITLAB_CHOICES(Congestion, (kPort, "port"), (kClass, "class"))
FLITLAB_CHOICES(EjectionVcs, (kAll, "all"), (kClass, "class"))
FLITLAB_CHOICES(Intermediate, (kRouter, "router"), (kGroup, "group"))
FLITLAB_CHOICES(VcAssignment, (kDateline, "dateline"), (kBalanced, "balanced"), (kByCrossing, "by_crossing"),
                (kAny, "any"), (kTwoDatelines, "two_datelines"))
FLITLAB_CHOICES(Selection, (kMostCredits, "most_credits"), (kFirst, "first"), (kFirstOrEscape, "first_or_escape"),
                (kTwoRandom, "two_random"))

}  // namespace flitlab::vc
