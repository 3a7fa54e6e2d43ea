"""What the scope draws over the network: causes of waiting, connections, deadlocks, datelines. Each is compared with
the network itself."""

import re
from collections import Counter

import pytest
from scope_pages import Live, settle, show_parts, value_of
from scope_picture import Picture

import flitlab as fl

PARTS = "(cycle) => Object.fromEntries(scope_parts.counts_of_blocked(recording, cycle, 'all'))"
FULL = {"topology.kind": "mesh", "topology.shape": [4, 4], "traffic.load": 0.7, "router.vcs": 2,
        "router.buffer_flits": 4, "traffic.packet_flits": 2}


def naive_causes(network, events):
    """Returns by router the causes for which front flits wait, from the state after a cycle and the cycle's events.

    A virtual channel that sent a flit or got an output virtual channel in the cycle does not wait.
    """
    moved = {(e["index"], e["port"], e["vc"]) for e in events
             if e["item"] == "router" and e["kind"] in ("switch_granted", "vc_granted")}
    sent = {(e["index"], e["port"]) for e in events if e["kind"] == "switch_granted"}
    taken = {(e["index"], e["out_port"]) for e in events if e["kind"] == "switch_granted"}
    found = {}
    for router in range(16):
        ports, counts = network.router(router).ports, Counter()
        for p, port in enumerate(ports):
            for v, vc in enumerate(port.vcs):
                if (router, p, v) in moved:
                    continue
                waits = None
                if vc.stage == "waiting":
                    waits = "vc"
                elif vc.stage in ("head", "body") and vc.flits:
                    if ports[vc.out_port].vcs[vc.out_vc].credits == 0:
                        waits = "credit"
                    elif (router, p) in sent:
                        waits = "input"
                    elif (router, vc.out_port) in taken:
                        waits = "output"
                    elif any(other.flits and other.out_vc is not None for o, other in enumerate(port.vcs) if o != v):
                        waits = "input"
                if waits:
                    counts[waits] += 1
                    counts["line"] += max(0, vc.packets - 1)
        found[router] = +counts
    return {str(router): dict(counts) for router, counts in found.items() if counts}


def check_causes(page, mutant=("", "")):
    exp = fl.Experiment.from_dict(FULL)
    network, twin = fl.Network(exp), fl.Network(exp, trace=True)
    show_parts(page, network.view().step(150), mutant)
    seen = Counter()
    for cycle in range(1, 151):
        events = twin.step(1).events()
        expected = naive_causes(twin, events)
        if cycle % 3 == 0:
            assert value_of(page, PARTS, cycle) == expected, cycle
            for counts in expected.values():
                seen.update(counts)
    assert min(seen[cause] for cause in ("credit", "vc", "output", "input", "line")) > 10


def test_causes_of_waiting_are_the_networks(page):
    check_causes(page)


@pytest.mark.parametrize("mutant", [
    ('return { lost: true, cause: "vc", why: held', 'return { lost: true, cause: "credit", why: held'),
    ("behind: Math.max(0, row.packets - 1)", "behind: row.packets"),
    ("if (fate?.lost) found.push", "if (fate) found.push"),
    ('if (taken) return { lost: true, cause: "output"', 'if (taken) return { lost: true, cause: "input"'),
], ids=["cause", "behind", "lost", "output"])
def test_a_wrong_cause_is_detected(page, mutant):
    with pytest.raises(AssertionError):
        check_causes(page, mutant)


def test_the_next_waiting_flit_is_found(page):
    exp = fl.Experiment.from_dict(FULL)
    Live(page, fl.Network(exp).view().step(100))
    twin = fl.Network(exp, trace=True).step(99)
    twin.events()
    events = twin.step(1).events()
    waiting = [r for r, counts in naive_causes(twin, events).items() if counts.get("credit")]
    assert 2 < len(waiting) < 16
    page.locator("[data-do=overlay]").select_option("credit")
    page.locator(".flitlab-scope").focus()
    for router in [*waiting, waiting[0]]:
        page.keyboard.press("b")
        assert page.locator(".scope-panel h3").inner_text().startswith(f"Router {router} ")
        assert "no credit" in page.locator(".scope-panel").inner_text()
    bars = [f for f in Picture(page).found if f["what"] == "fillRect" and f["fill"].lower() == "#de6a08"]
    assert len(bars) == len(waiting)


def naive_connections(network):
    """Returns (source, router of the first stage) of every connection that a source has open."""
    return sorted((port.peer, r) for r in range(64) for port in network.router(r).ports
                  if port.name.startswith("forward") and port.to_terminal
                  and port.vcs[0].stage in ("forward", "reverse"))


def test_connections_run_from_source_to_sink(page):
    exp = fl.load("metro-figure3").set("traffic.load", 0.4)
    network, twin = fl.Network(exp), fl.Network(exp)
    show_parts(page, network.view().step(120))
    lengths, turned = Counter(), 0
    for cycle in range(1, 121):
        twin.step(1)
        if cycle % 5:
            continue
        shown = value_of(page, "(cycle) => scope_parts.connections(recording, cycle)", cycle)
        assert sorted((c["src"], c["spans"][0]["router"]) for c in shown if c["src"] >= 0) == naive_connections(twin)
        for c in shown:
            for a, b in zip(c["spans"], c["spans"][1:], strict=False):
                assert twin.router(a["router"]).ports[a["out_port"]].peer == b["router"]
            for s in c["spans"]:
                vc = twin.router(s["router"]).ports[s["port"]].vcs[0]
                assert (vc.stage, vc.out_port) == (s["stage"], s["out_port"])
            lengths[len(c["spans"])] += 1
            turned += all(s["stage"] == "reverse" for s in c["spans"])
    assert min(lengths[n] for n in (1, 2, 3)) > 3 and turned > 3


@pytest.mark.parametrize(("name", "words"), [("metro-figure3", {"DATA", "TURN", "STATUS", "DROP"}),
                                             ("metro-jr-dp2", {"DATA", "DATA-IDLE", "TURN"})])
def test_words_on_wires_are_the_networks(page, name, words):
    exp = fl.load(name).set("traffic.load", 0.4)
    network, twin = fl.Network(exp), fl.Network(exp)
    show_parts(page, network.view().step(90))
    seen = Counter()
    for cycle in range(1, 91):
        twin.step(1)
        expected = [[r, p, vc.note.split()[0]] for r in range(64) for p, port in enumerate(twin.router(r).ports)
                    for vc in port.vcs if " arrives" in vc.note and not vc.note.startswith("nothing")]
        shown = value_of(page, """(cycle) => scope_parts.arriving_words(recording, cycle).map(
            ({ router, port, word }) => [router, port, word])""", cycle)
        assert shown == [[r, p, word] for r, p, word in expected if word != "backward"]
        seen.update(word for *_, word in shown)
    assert words <= set(seen)


RING = {"router.vcs": 1, "routing.vc_assignment": "any", "traffic.load": 1, "router.buffer_flits": 2,
        "traffic.packet_flits": 8}


def test_arrows_lead_around_a_deadlock(page):
    live = Live(page, fl.Network(fl.load("vc-torus-8x8").set(RING)).step(280).view())
    live.do("step10")
    live.wait_for(290)
    described = page.locator(".scope-deadlock").text_content()
    cycle = [int(r) for r in re.findall(r"router (\d+) \(\d+,\d+\) input", described)]
    expected = {(a, b) for a, b in zip(cycle, [*cycle[1:], cycle[0]], strict=True) if a != b}
    assert len(expected) > 2
    picture = Picture(page)
    drawn = {ends for ends, wide in picture.lines(picture.colours["alarm"]) if wide < 4}
    assert drawn == expected  # other packets of these routers wait, too, but not in the circle


def test_numbers_of_virtual_channels_are_no_names_of_routers(page):
    """The routers of a graph have numbers as names; a deadlock's description also has numbers of virtual channels."""
    show_parts(page, fl.Network("vc-mesh-8x8").view().step(2))
    text = "router 7 input port 1 VC 0 waits for\n router 12 input port 2 VC 1 waits for the first"
    named = value_of(page, """(text) => [...scope_parts.routers_in(text, { routers: [...Array(20).keys()],
        names: [...Array(20).keys()].map(String) })]""", text)
    assert named == [7, 12]


@pytest.mark.parametrize(("assignment", "vcs", "marks"), [("dateline", 2, 32), ("balanced", 2, 32), ("any", 1, 0),
                                                          ("by_crossing", 2, 0)])
def test_datelines_are_marked(page, assignment, vcs, marks):
    """An 8x8 torus has 16 rings, each with a wrap-around channel in both directions. All are drawn as stubs."""
    exp = fl.load("vc-torus-8x8").set({"routing.vc_assignment": assignment, "router.vcs": vcs})
    show_parts(page, fl.Network(exp).view().step(2))
    shapes = value_of(page, "() => scope_parts.shapes_of(recording.meta)")
    assert sum(shape["dateline"] for shape in shapes) == marks
    assert sum(shape["stub"] is not None for shape in shapes) == 32 and not any(shape["curved"] for shape in shapes)


def test_straight_channels_cross_no_router(page):
    """A channel is curved if and only if a straight line would pass another router."""
    for exp in (fl.Experiment.from_dict({"topology.kind": kind, "traffic.load": 0.1, "router.vcs": 4})
                for kind in ("fat_tree", "dragonfly", "mesh", "hyperx", "flattened_butterfly", "cmesh")):
        show_parts(page, fl.Network(exp).view().step(2))
        meta = value_of(page, "() => ({ x: recording.meta.x, y: recording.meta.y, links: recording.meta.links })")
        shapes = value_of(page, "() => scope_parts.shapes_of(recording.meta)")
        places = list(zip(meta["x"], meta["y"], strict=True))
        assert not any(shape["stub"] for shape in shapes)
        for a, b, shape in zip(meta["links"]["router"], meta["links"]["to_router"], shapes, strict=True):
            (ax, ay), (bx, by) = places[a], places[b]
            length = ((bx - ax) ** 2 + (by - ay) ** 2) ** 0.5
            near = [i for i, (x, y) in enumerate(places) if i not in (a, b)
                    and 0 < ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / length < length
                    and abs((x - ax) * (by - ay) - (y - ay) * (bx - ax)) / length < 0.3]
            assert shape["curved"] == (bool(near) and length >= 1.2)


def test_parallel_channels_do_not_cover_one_another(page):
    exp = fl.Experiment.from_dict({"topology.kind": "hyperx", "topology.shape": [3, 3], "topology.copies": 2,
                                   "traffic.load": 0.1, "router.vcs": 2})
    live = Live(page, fl.Network(exp).view().step(2))
    live.do("step1")
    lines = page.evaluate(
        "() => scope.view.wires.map((w) => [w.start, w.bend, w.end].flat().map(Math.round).join())")
    assert len(lines) == len(set(lines)) == 72


def test_the_only_router_has_inputs_and_outputs(page):
    live = Live(page, fl.Network("sconnect-figure1").view().step(30))
    live.do("step1")
    settle(page, 200)
    texts = page.evaluate("""() => { const found = [], proto = CanvasRenderingContext2D.prototype;
        const kept = proto.fillText;
        proto.fillText = function (text, x) { found.push([text, x]); };
        scope.view.fit(scope.recording);
        scope.paint();
        proto.fillText = kept;
        return found.map(([text, x]) => [text, x < scope.view.places[0][0]]); }""")
    assert [t for t in texts if t[0] != "switch"] == [
        [f"{way} {i}", way == "in"] for i in range(8) for way in ("in", "out")]


def test_play_stops_once_at_a_deadlock(page):
    view = fl.Network(fl.load("vc-torus-8x8").set(RING)).step(200).view()
    live = Live(page, view)
    page.locator("[data-do=speed]").evaluate(
        "(e) => { e.value = 6; e.dispatchEvent(new Event('input')); }")
    live.do("play")
    page.wait_for_function("() => !document.querySelector('.scope-deadlock').hidden")
    page.wait_for_function("() => !window.scope.playing")
    found = int(re.search(r"found at cycle (\d+)", page.locator(".scope-deadlock").text_content())[1])
    assert page.evaluate("() => window.scope.cycle") >= found
    live.do("play")
    page.wait_for_function("(cycle) => window.scope.cycle > cycle", arg=page.evaluate("() => window.scope.cycle") + 3)
    assert page.evaluate("() => window.scope.playing")
