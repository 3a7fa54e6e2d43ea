"""routing.vc_assignment = "by_crossing": a packet chooses its VC class when it enters a ring, by whether it will cross
the wrap-around channel, and keeps it on the whole ring; Valiant's second phase chooses again. "two_datelines": a packet
that crosses neither this channel nor the middle of the ring draws its class."""

from itertools import groupby

import pytest

import flitlab as fl

RADIX = 8


def hops(**settings):
    """Returns for each packet that has arrived its network hops in order: (router, direction, VC), direction 1 or
    -1."""
    e = fl.Experiment.from_dict({
        "topology.kind": "ring", "topology.shape": [RADIX], "routing.vc_assignment": "by_crossing",
        "traffic.packet_flits": 2} | {key.replace("__", "."): value for key, value in settings.items()})
    net = fl.Network(e, trace=True).step(4000)
    net.check()
    ways, arrived = {}, set()
    for event in net.events():
        packet = event["src"], event["id"]
        if event["kind"] == "delivered":
            arrived.add(packet)
        if event["kind"] == "switch_granted" and "head" in event["flit"] and event["out_port"] < 2:
            ways.setdefault(packet, []).append((event["index"], 1 - 2 * event["out_port"], event["out_vc"]))
    return [ways[p] for p in arrived if p in ways]


def crosses(way):
    return any((at, step) in ((RADIX - 1, 1), (0, -1)) for at, step, _ in way)


@pytest.mark.parametrize("load", [0.05, 0.6])
@pytest.mark.parametrize("vcs", [2, 4])
def test_the_class_is_kept_all_along_the_ring(load, vcs):
    seen = {False: 0, True: 0}
    for way in hops(router__vcs=vcs, traffic__load=load):
        classes = {vc * 2 // vcs for *_, vc in way}
        assert classes == {int(crosses(way))}, way
        seen[crosses(way)] += len(way) > 1
    assert min(seen.values()) > 50


@pytest.mark.parametrize("vcs", [2, 4])
def test_packets_that_cross_no_dateline_draw_their_class(vcs):
    drawn = []
    for way in hops(routing__vc_assignment="two_datelines", router__vcs=vcs, traffic__load=0.2):
        (number,) = {vc * 2 // vcs for *_, vc in way}
        if crosses(way):
            assert number == 1, way
        elif any((at, step) in ((RADIX // 2 - 1, 1), (RADIX // 2, -1)) for at, step, _ in way):
            assert number == 0, way
        else:
            drawn.append(number)
    assert len(drawn) > 200
    assert abs(sum(drawn) / len(drawn) - 0.5) < 2 / len(drawn)**0.5  # four standard deviations


def test_valiants_second_phase_decides_anew():
    """VCs 0 and 1 belong to the first phase of Valiant routing, VCs 2 and 3 to the second."""
    decided = set()
    for way in hops(routing__algorithm="valiant", router__vcs=4, traffic__load=0.1):
        phases = {second: list(part) for second, part in groupby(way, lambda hop: hop[2] >= 2)}
        for part in phases.values():
            assert {vc % 2 for *_, vc in part} == {int(crosses(part))}, way
        # The packet moves in the same direction in both phases.
        if len(phases) == 2 and phases[False][-1][1] == phases[True][0][1]:
            decided.add((crosses(phases[False]), crosses(phases[True])))
    assert decided >= {(False, False), (False, True), (True, False)}
