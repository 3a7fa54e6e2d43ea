"""The scope's display of a busy network, compared with an identical network. If the display's code is deliberately
changed, the comparison must fail."""

import re
from collections import Counter, defaultdict

import pytest
from scope_pages import Live, check_stages, choose
from scope_picture import Picture

import flitlab as fl
from flitlab.inspection import packet_name

ROUTER = 9
SIDE = 4
FLIGHT = 3  # cycles from the switch grant to the arrival


class Watched:
    """A page with a 4x4 mesh near saturation, recorded from cycle 0, and an identical network (the twin) with all of
    its events.

    ``buffers[router, port, vc]``: packets in order of arrival, each [name, flits, flits sent].
    """

    def __init__(self, page, mutant=("", ""), cycles=100):
        exp = fl.Experiment.from_dict({
            "topology.kind": "mesh", "topology.shape": [SIDE, SIDE], "traffic.load": 0.7, "traffic.packet_flits": 2,
            "router.vcs": 2, "router.buffer_flits": 8, "run.seed": 4})
        self.network, self.twin = fl.Network(exp, trace=True), fl.Network(exp, trace=True)
        self.page, self.buffers, self.events = page, defaultdict(list), []
        self.carried, self.totals, self.held = [self.flits_by_channel()], [self.twin.totals], [0]
        self.live = Live(page, self.network.view().step(cycles), mutant)
        self.go_on(cycles)

    def flits_by_channel(self):
        return [flits for _, _, flits in self.twin.channels()]

    def go_on(self, cycles):
        """Advances the twin and updates ``buffers`` from its events."""
        for _ in range(cycles):
            events = self.twin.step(1).events()
            self.events.append(events)
            for e in events:
                buffer = self.buffers[e["index"], e["port"], e["vc"]]
                if e["kind"] == "arrived":
                    buffer.append([packet_name(e["src"], e["id"]), e["flits"], 0])
                elif e["kind"] == "switch_granted":
                    assert buffer[0][0] == packet_name(e["src"], e["id"])
                    buffer[0][2] += 1
                    if "tail" in e["flit"]:
                        buffer.pop(0)
            self.carried.append(self.flits_by_channel())
            self.totals.append(self.twin.totals)
            self.held.append(sum(self.twin.router(r).flits for r in range(SIDE**2)))

    def step(self):
        self.live.do("step1")
        self.go_on(1)
        self.live.wait_for(self.twin.cycle)

    def contents(self, port, vc, flits):
        """Returns the packet name of each flit in a buffer, front first; only the last packet may be incomplete."""
        names = [name for name, length, gone in self.buffers[ROUTER, port, vc] for _ in range(length - gone)]
        return names[:flits]


def check_cells(page, mutant):
    """Checks each buffer's flits, front on the right. A packet has the same colour in buffers and wherever it is
    named."""
    watched, most, colours = Watched(page, mutant), 0, defaultdict(set)
    choose(page, ROUTER)
    for _ in range(25):
        watched.step()
        shown = page.evaluate("""() => [...document.querySelectorAll(".scope-ports [data-vc]")].map(
            (row) => [row.dataset.vc, [...row.querySelectorAll(".scope-full")].reverse().map(
                (cell) => [cell.title, cell.style.getPropertyValue("--packet")])])""")
        expected = []
        for p, port in enumerate(watched.twin.router(ROUTER).ports):
            for v, vc in enumerate(port.vcs):
                names = watched.contents(p, v, vc.flits)
                most = max(most, len(set(names)))
                expected.append([f"{p}.{v}", [f"flit of {name}" for name in names]])
        assert [[vc, [title for title, _ in cells]] for vc, cells in shown] == expected
        named = page.locator(".scope-panel .scope-packet").evaluate_all(
            """(all) => all.map((b) => [`flit of ${b.dataset.packet}`, b.style.getPropertyValue("--packet")])""")
        for title, colour in [*(cell for _, cells in shown for cell in cells), *named]:
            colours[title].add(colour)
        assert all(len(found) == 1 for found in colours.values())
    assert most >= 3 and len(set.union(*colours.values())) > 3


def check_reasons(page, mutant):
    """Checks the reasons for an output that is taken, and for VCs that were granted to others."""
    watched, seen = Watched(page, mutant), Counter()
    choose(page, ROUTER)
    for _ in range(60):
        watched.step()
        reasons = page.evaluate("""() => Object.fromEntries([...document.querySelectorAll(
            ".scope-ports [data-vc]")].map((row) => [row.dataset.vc, row.querySelector(".scope-why").textContent]))""")
        here = [e for e in watched.events[-1] if e["item"] == "router" and e["index"] == ROUTER]
        ports = watched.twin.router(ROUTER).ports

        def winner(e, ports=ports):
            return f"{ports[e['port']].name} VC {e['vc']} ({packet_name(e['src'], e['id'])})"

        for p, port in enumerate(ports):
            for v, vc in enumerate(port.vcs):
                why = reasons[f"{p}.{v}"]
                if "taken by" in why:
                    won = [e for e in here if e["kind"] == "switch_granted" and e["out_port"] == vc.out_port]
                    assert why == f"✗ output {ports[vc.out_port].name} taken by {winner(won[0])}"
                    seen["output"] += 1
                elif vc.stage == "waiting":
                    won = [e for e in here if e["kind"] == "vc_granted" and e["out_port"] == vc.out_port]
                    to = ports[vc.out_port].name
                    assert not won or why == "✗ VC not granted: " + ", ".join(
                        f"VC {e['out_vc']} of {to} went to {winner(e)}" for e in won)
                    seen["VC"] += bool(won)
    assert seen["output"] > 3 and seen["VC"] > 3


def check_source_queue(page, mutant):
    watched, lengths = Watched(page, mutant), set()
    for router in range(SIDE**2):
        choose(page, router)
        headings = " ".join(page.locator(".scope-port").all_inner_texts())
        found = re.search(r"— terminal (\d+)(?:, (\d+) packets? in its source queue)?", headings)
        assert int(found[1]) == router
        assert int(found[2] or 0) == watched.twin.terminal(router).queued
        lengths.add(int(found[2] or 0))
    assert len(lengths) > 2


def check_flits(page, mutant):
    """Checks that flits between routers are as far along the channel as the time since they were sent."""
    watched = Watched(page, mutant)
    for part in (0, 0.25, 0.9):
        watched.step()
        cycle = watched.twin.cycle
        shown = page.evaluate("([cycle, part]) => scope.view.flits(cycle, part)", [cycle, part])
        sent = [e for c in range(cycle - FLIGHT, cycle) for e in watched.events[c] if e["kind"] == "switch_granted"]
        assert [(f["src"], f["id"], f["head"]) for f in shown] == [
            (e["src"], e["id"], "head" in e["flit"]) for e in sent]
        places = page.evaluate("() => scope.view.places")
        terminals = page.evaluate(f"() => [...Array({SIDE**2}).keys()].map((r) => scope.view.terminal_place(r))")
        size, among_routers = page.evaluate("() => scope.view.size"), 0
        for flit, e in zip(shown, sent, strict=True):
            port = watched.twin.router(e["index"]).ports[e["out_port"]]
            (x, y), (to_x, to_y) = places[e["index"]], (terminals if port.to_terminal else places)[port.peer]
            dx, dy = to_x - x, to_y - y
            far = ((flit["at"][0] - x) * dx + (flit["at"][1] - y) * dy) / (dx * dx + dy * dy)
            aside = abs((flit["at"][0] - x) * dy - (flit["at"][1] - y) * dx) / (dx * dx + dy * dy) ** 0.5
            assert far == pytest.approx((cycle - e["cycle"] - 1 + part) / FLIGHT)
            assert aside < 0.25 * size
            among_routers += not port.to_terminal
        assert among_routers > 10
    # The picture shows routers at their mesh coordinates: x to the right, y upwards.
    for r, (x, y) in enumerate(places):
        unit = places[1][0] - places[0][0]
        assert (x - places[0][0], places[0][1] - y) == pytest.approx((r % SIDE * unit, r // SIDE * unit))


def check_ranks(pairs):
    """Checks that larger values are drawn larger; pairs: (value, drawn size)."""
    for a, drawn_a in pairs:
        for b, drawn_b in pairs:
            assert drawn_a > drawn_b if a > b else drawn_a == drawn_b if a == b else True, (a, drawn_a, b, drawn_b)


def check_use(page, mutant):
    """Checks the share of the last 32 cycles in which a channel carries a flit, as a number and as a line's width."""
    watched = Watched(page, mutant, cycles=20)
    for _ in range(2):
        cycle = watched.twin.cycle
        since = max(0, cycle - 32)
        share = [(now - then) / (cycle - since) for now, then in zip(
            watched.carried[cycle], watched.carried[since], strict=True)]
        shown = dict(page.evaluate("(cycle) => [...scope.view.use(cycle)]", cycle))
        assert {c: s for c, s in shown.items() if s} == pytest.approx({c: s for c, s in enumerate(share) if s})
        widths = dict(Picture(page).lines())
        assert len(widths) == len(share) == 48
        check_ranks([(share[c], widths[router, watched.twin.router(router).ports[port].peer])
                     for c, (router, port, _) in enumerate(watched.twin.channels())])
        for _ in range(40):
            watched.step()


def check_fill(page, mutant):
    """Checks that a router's box is filled from below in proportion to its buffers' occupancy, and the legend's full
    scale."""
    watched = Watched(page, mutant, cycles=12)
    for _ in range(3):
        picture = Picture(page)
        boxes = picture.boxes("fillRect", fill=picture.colours["used"])
        routers = [watched.twin.router(r) for r in range(SIDE**2)]
        assert len(boxes) == SIDE**2 and len({router.flits for router in routers}) > 4
        for r, box in boxes.items():
            wired = sum(port.peer is not None for port in routers[r].ports)
            assert box["height"] == pytest.approx(picture.size * routers[r].flits / (wired * 2 * 8), abs=1e-3)
            assert box["y"] + box["height"] == pytest.approx(picture.places[r][1] + picture.size / 2)
        legend = "flits in buffers: empty to full (48 to 80, the router's capacity)"
        assert page.locator(".scope-scale").inner_text().startswith(legend)
        for _ in range(8):
            watched.step()


def check_path(page, mutant):
    """Checks, for a followed packet, the channels over which its head was sent up to the displayed cycle."""
    watched = Watched(page, mutant)
    sent = defaultdict(list)
    for events in watched.events:
        for e in events:
            if e["kind"] == "switch_granted" and "head" in e["flit"]:
                sent[e["src"], e["id"]].append((e["cycle"], e["index"], e["out_port"]))
    (src, number), way = max(sent.items(), key=lambda item: len(item[1]))
    page.evaluate("([src, id]) => scope.select({ packet: { src, id } })", [src, number])
    assert len(way) > 4
    colour = page.locator(".scope-panel h3 .scope-packet").evaluate("(b) => b.style.getPropertyValue('--packet')")
    lengths = set()
    for cycle in range(way[-1][0] + 2, way[0][0] - 1, -1):
        page.evaluate("(cycle) => scope.go_to(cycle)", cycle)
        expected = set()
        for when, router, out in way:
            port = watched.twin.router(router).ports[out]
            if when < cycle and not port.to_terminal:
                expected.add((router, port.peer))
        drawn = Picture(page).lines(colour.lower())
        assert {ends for ends, width in drawn if width > 2} == expected, cycle
        lengths.add(len(expected))
    assert len(lengths) > 3


def check_plots(page, mutant):
    """Checks the latency histogram and mean, offered and accepted load, and flits in buffers."""
    watched = Watched(page, mutant, cycles=150)
    for back in (0, 10, 10):
        page.evaluate("(cycle) => scope.go_to(cycle)", watched.twin.cycle - back)
        cycle = watched.twin.cycle - back
        events = [e for events in watched.events[:cycle] for e in events]
        created = {(e["src"], e["id"]): e["cycle"] for e in events if e["kind"] == "created"}
        latencies = [e["cycle"] - created[e["src"], e["id"]] for e in events if e["kind"] == "delivered"]
        mean = page.locator("[data-mean]")
        assert float(mean.get_attribute("data-mean")) == pytest.approx(sum(latencies) / len(latencies))
        few = f"{len(latencies)} packet{'' if len(latencies) == 1 else 's'}"
        assert mean.inner_html() == (f"mean {sum(latencies) / len(latencies):.1f} of {len(latencies)}"
                                     if len(latencies) >= 100 else few)
        longest = max(10, *latencies)
        bins = Counter(24 * x // (longest + 1) for x in latencies)
        heights = page.locator(".scope-bar").evaluate_all("(all) => all.map((bar) => bar.height.baseVal.value)")
        assert heights == pytest.approx([76 * bins[b] / max(bins.values()) for b in sorted(bins)], abs=0.1)
        loads = [[sum(values[max(0, i - 31):i + 1]) / min(i + 1, 32) for i in range(cycle)] for values in (
            [(b[what] - a[what]) / SIDE**2 for a, b in zip(watched.totals, watched.totals[1 : cycle + 1], strict=False)]
            for what in ("flits_created", "flits_delivered"))]
        most = max(map(max, loads))
        load = page.locator(".scope-plots svg").nth(1)
        assert f"{most:.2f}" in load.locator("text").all_inner_texts() or f"{most:.2f}" in load.inner_html()
        for shown, expected in zip((".scope-dashed", ".scope-line:not(.scope-dashed)"), loads, strict=True):
            assert curve(load.locator(shown), most) == pytest.approx(expected, abs=most / 500)
        held = watched.held[: cycle + 1]
        buffers = page.locator(".scope-plots svg").nth(2)
        places = (4 * 3 + 8 * 4 + 4 * 5) * 2 * 8  # ports with a channel, VCs, flits
        assert buffers.get_attribute("aria-label") == f"flits in buffers: {held[-1]} of {places}"
        assert curve(buffers.locator(".scope-line"), max(held)) == pytest.approx(held, abs=max(held) / 500)


def curve(line, most):
    """Returns the values of a line whose highest point in the plot stands for `most`."""
    heights = [float(point.split(",")[1]) for point in line.get_attribute("points").split()]
    top, bottom = 16, 110 - 18
    return [(bottom - y) / (bottom - top) * most for y in heights]


def check_deadlock(page, mutant):
    """Checks that exactly the routers named in the deadlock's description have a thick orange frame."""
    exp = fl.load("vc-torus-8x8").set({"router.vcs": 1, "routing.vc_assignment": "any", "traffic.load": 1,
                                       "router.buffer_flits": 2, "traffic.packet_flits": 8})
    live = Live(page, fl.Network(exp).step(280).view(), mutant)
    live.do("step10")
    live.wait_for(290)
    named = {int(r) for r in re.findall(r"(\d+) \(\d+,\d+\)", page.locator(".scope-deadlock").inner_text())}
    assert 2 < len(named) < 60
    picture = Picture(page)
    assert set(picture.boxes("strokeRect", stroke=picture.colours["alarm"])) == named


def check_followed(page, mutant):
    """Checks the steps of packets in a full network."""
    exp = fl.load("vc-mesh-8x8").set({"traffic.load": 0.6, "topology.shape": [SIDE, SIDE], "router.vcs": 2})
    view, twin = fl.Network(exp, trace=True).view().step(120), fl.Network(exp, trace=True)
    assert "behind others" in check_stages(page, view, twin.step(120).events(), mutant)


CHECKS = [check_cells, check_reasons, check_source_queue, check_flits, check_use, check_fill, check_path, check_plots,
          check_deadlock, check_followed]


@pytest.mark.parametrize("check", CHECKS, ids=lambda c: c.__name__.removeprefix("check_"))
def test_the_display_agrees_with_the_twin(page, check):
    check(page, ("", ""))


MUTANTS = {
    "output taken by another": (check_reasons, "taken by ${port(taker.port)}", "taken by ${port(taker.out_port)}"),
    "VC went to another": (check_reasons, "went to ${port(e.port)}", "went to ${port(e.out_port)}"),
    "no packet is behind others": (check_followed, "if (hop && in_line && departs_ahead(e, hop))", "if (false)"),
    "order of packets behind": (check_cells, "for (const p of others) add(", "for (const p of others.reverse()) add("),
    "colour of cells": (check_cells, 'scope-full", style: `--packet: ${packet_colour(src, id)}`',
                        'scope-full", style: `--packet: ${packet_colour(src + 1, id)}`'),
    "source queue": (check_source_queue, "state.queues.get(peer)", "state.queues.get(peer) + 7"),
    "dots go back": (check_flits, "place(Math.min(1, (cycle - sent - 1 + part) / flight))",
                     "place(1 - Math.min(1, (cycle - sent - 1 + part) / flight))"),
    "use of another channel": (check_use, "use.get(wire.channel)", "use.get(wire.channel + 1)"),
    "fill": (check_fill, "full = this.recording.fill(cycle, r)", "full = 1 - this.recording.fill(cycle, r)"),
    "full at a fifth": (check_fill, "this.state(cycle).occupied_in(router) / places",
                        "Math.min(1, 5 * this.state(cycle).occupied_in(router) / places)"),
    "loads": (check_plots, "f.t[k] / terminals", "3 * f.t[1 - k] / terminals"),
    "mean latency": (check_plots, "a + b, 0) / latencies.length", "a + b, 0) * 2 / latencies.length"),
    "way": (check_path, "of way?.hops ?? []", "of []"),
    "deadlock": (check_deadlock, "deadlock?.has(r)", "deadlock && !deadlock.has(r)"),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_modified_display_is_detected(page, mutant):
    check, *change = MUTANTS[mutant]
    with pytest.raises(AssertionError):
        check(page, tuple(change))
