"""A packet's path in the scope: its steps cover the time from creation to delivery on every machine, and agree with the
events."""

import re
from collections import Counter
from itertools import pairwise

import pytest
from scope_pages import check_stages, journeys, show_parts

import flitlab as fl

VC = "queue, inject, behind others, route, VC allocation, switch allocation, link, tail"
KINDS = {  # configuration -> (changes, cycles, steps in which its packets spend time)
    "vc-mesh-8x8": ({}, 120, VC),
    "vc-torus-8x8": ({}, 150, VC),
    "t3e-16": ({}, 250, "queue, inject, behind others, router, link, tail"),
    "bgl-midplane": ({"topology.shape": [4, 4, 4], "traffic.load": 0.02}, 1200,
                     "queue, behind others, router, link, reception"),
    "metro-figure3": ({"traffic.load": 0.6}, 250, "queue, circuit"),
    "sconnect-protocol": ({}, 500, "router, retransmission, link"),
    # The step "switch" includes the one cycle on the channel.
    "sconnect-figure5": ({"traffic.load": 0.05}, 60, "router"),
    "sconnect-figure1": ({}, 600, "queue, router, tail"),
    "bless-mesh-8x8": ({}, 150, "queue, router, link, tail"),
}


def recorded(name, changes, cycles, start=0, **how):
    """Returns a view with some recorded cycles, and the events of an identical network in these cycles."""
    network = fl.Network(fl.load(name).set(changes)).step(start)
    twin = fl.Network(network.experiment, trace=True).go_on_from(network)
    return network.view(window=cycles + 1, **how).step(cycles), twin.step(cycles).events()


def check_paths(ways, events, last):
    """Checks that a packet's steps are contiguous and add up to its latency. Returns the total time of each step."""
    cycles = {kind: {(e["src"], e["id"]): e["cycle"] for e in events if e["kind"] == kind}
              for kind in ("created", "injected", "delivered")}
    sums = Counter()
    assert set(ways) == {(e["src"], e["id"]) for e in events}
    for name, way in ways.items():
        created, delivered = cycles["created"].get(name), cycles["delivered"].get(name)
        assert (way["created"], way["delivered"]) == (created, delivered)
        spans = way["spans"]
        assert all(a["to"] == b["from"] for a, b in pairwise(spans)), (name, spans)
        assert all(span["from"] < span["to"] for span in spans)
        if spans:
            assert created is None or spans[0]["from"] == created
            assert spans[-1]["to"] == (last if delivered is None else delivered), (name, way)
        if created is not None and delivered is not None:
            assert sum(span["to"] - span["from"] for span in spans) == delivered - created == way["latency"], name
            for span in spans:
                sums[span["stage"]] += span["to"] - span["from"]
    return sums


@pytest.mark.parametrize("name", KINDS)
def test_stages_add_up_to_the_latency(page, name):
    changes, cycles, stages = KINDS[name]
    view, events = recorded(name, changes, cycles)
    sums = check_paths(journeys(page, view), events, cycles)
    assert sum(e["kind"] == "delivered" for e in events) > 10
    assert set(sums) == set(stages.split(", "))


@pytest.mark.parametrize(("name", "drawn"), [
    ("vc-mesh-8x8", range(20, 44)), ("bless-mesh-8x8", range(20, 44)), ("t3e-16", range(0, 16, 3))], ids=str)
def test_a_packet_that_leaves_what_is_drawn_is_under_way(page, name, drawn):
    view, events = recorded(name, {}, 150, start=100, routers=drawn)
    assert "under way" in check_paths(journeys(page, view), [e for e in events if e["index"] in drawn], 250)


@pytest.mark.parametrize("name", ["vc-mesh-8x8", "bless-mesh-8x8", "sconnect-protocol"])
def test_what_was_created_before_the_recording_is_followed_from_there(page, name):
    view, events = recorded(name, {}, 100, start=200)
    ways = journeys(page, view)
    check_paths(ways, events, 300)
    assert any(way["created"] is None and way["spans"] for way in ways.values())


@pytest.mark.parametrize("name", ["vc-mesh-8x8", "bless-mesh-8x8", "t3e-16", "sconnect-protocol"])
def test_hops_are_joined_by_channels(page, name):
    """Each hop leads over a channel to the next router, in the channel's fixed time."""
    view, _ = recorded(name, {}, 600 if name == "sconnect-protocol" else 200)
    ways = journeys(page, view)
    network = view.network
    peers = {(r, p): port.peer for r in range(int(network.experiment.derived()["routers"]))
             for p, port in enumerate(network.router(r).ports) if not port.to_terminal}
    hops = [pair for way in ways.values() for pair in pairwise(way["hops"])]
    assert len(hops) > 50
    assert all(peers[a["router"], a["out_port"]] == b["router"] for a, b in hops)
    flights = Counter(b["arrived"] - a["granted"] for a, b in hops)
    assert len(flights) <= (3 if name == "sconnect-protocol" else 1), flights


@pytest.mark.parametrize(("changes", "cycles"), [
    ({"traffic.load": 0.6}, 150), ({"traffic.load": 0.6, "router.vcs": 2, "run.seed": 3}, 150),
    ({"traffic.load": 0.9, "traffic.packet_flits": 1}, 60)], ids=["4 VCs", "2 VCs", "1 flit"])
def test_stages_of_a_loaded_network_are_what_its_events_say(page, changes, cycles):
    view, events = recorded("vc-mesh-8x8", changes, cycles)
    expected = set(VC.split(", ")) - ({"queue", "tail"} if "traffic.packet_flits" in changes else set())
    assert check_stages(page, view, events) >= expected


PANEL_TEXT = """({ src, id, cycle }) => {
    const el = document.createElement("section"), way = scope_parts.journey(recording, src, id);
    scope_parts.draw_packet(el, recording, way, cycle, { choose: () => {}, follow: () => {} });
    return [el.querySelector(".scope-sum").textContent, el.querySelectorAll("rect[data-stage]").length]; }"""


@pytest.mark.parametrize(("name", "message_text"), [
    ("metro-figure3", r"(queue \d+ \+ )?circuit (\d\d) = \d\d cycles$"),
    ("sconnect-figure5", r"router (\d) = \1 cycles?, over \d channels? between routers$"),
    ("bless-mesh-8x8", r"router \d+ \+ link \d+ \+ tail \d+ = \d+ cycles, over \d+ channels? between routers$")])
def test_the_panel_shows_the_time_of_each_step(page, name, message_text):
    changes, cycles, _ = KINDS[name]
    view, events = recorded(name, changes, cycles)
    src, number = next((e["src"], e["id"]) for e in events if e["kind"] == "delivered" and e["cycle"] > cycles // 2)
    show_parts(page, view)
    text, bars = page.evaluate(PANEL_TEXT, {"src": src, "id": number, "cycle": cycles})
    assert re.match(message_text, text) and bars >= 1
