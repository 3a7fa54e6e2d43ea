"""Blue Gene/L: the reasons that a packet waits, checked against the events of a busy torus and in the scope."""

import re
from collections import Counter

import pytest
from scope_pages import Live, choose

import flitlab as fl

PORTS = ["+x", "-x", "+y", "-y", "+z", "-z", "FIFO"]


def busy(**changes):
    return fl.load("bgl-midplane").set({"topology.shape": [4, 4, 2], "traffic.load": 0.9, **changes})


def queue_name(e, names):
    return f"FIFO {e['vc']}" if e["port"] == 6 else f"{PORTS[e['port']]} {names[e['vc']]}"


SMALL = {"router.acks": "charged", "router.dynamic_flits": 16, "router.escape_flits": 16, "routing.dynamic": 0.0,
         "traffic.packet_flits": 8, "router.bypass": False, "traffic.load": 1.0}
TOKENS = r"(\S\S) (\w+(?: \d)?) has (\d+) of (\d+) tokens( to enter)?"
SENDS = r"([+-][xyz]) sends (.+?), whose tail leaves in cycle (\d+)"


@pytest.mark.parametrize("changes", [{}, SMALL, {"router.escape": "dateline", "router.dynamic_vcs": 1}],
                         ids=["", "small", "dateline"])
def test_reasons_about_links_and_arbiters_agree_with_events(changes):
    """Checks which queue was granted a link, and when its tail leaves: 32 cycles per chunk after the head."""
    network = fl.Network(busy(**changes), trace=True).step(2500)
    seen, sends = Counter(), {}
    names = [vc.name for vc in network.router(0).ports[0].vcs]
    for e in network.events():
        if e["kind"] == "switch_granted":
            sends[e["index"], PORTS[e["out_port"]]] = (e["cycle"], e, queue_name(e, names))
    for _ in range(400):
        cycle = network.cycle
        network.step(1)
        for e in network.events():
            if e["kind"] == "switch_granted":
                sends[e["index"], PORTS[e["out_port"]]] = (e["cycle"], e, queue_name(e, names))
        for r in (0, 13, 30):
            for port in network.router(r).ports:
                for vc in port.vcs:
                    why = vc.note.partition("\n")[2]
                    assert bool(why) == (vc.packets > 0)
                    for link, queue, end in re.findall(SENDS, why):
                        begun, e, name = sends[r, link]
                        assert begun < cycle and name == queue and begun + 32 * e["flits"] == int(end)
                        seen["link"] += 1
                    if lost := re.fullmatch(r"denied: .+ its receiver presented (.+), which was granted (\S\S)", why):
                        begun, e, name = sends[r, lost[2]]
                        assert begun == cycle and name == lost[1] and PORTS[e["port"]] == port.name
                        seen["sibling"] += 1
                    elif lost := re.fullmatch(r"denied: requested (\S\S) .+, but (.+) was granted (\S\S)", why):
                        begun, e, name = sends[r, lost[1]]
                        assert begun == cycle and name == lost[2] and lost[1] == lost[3]
                        assert PORTS[e["port"]] != port.name
                        seen["lost"] += 1
                    if vc.stage == "leaving" and sends.get((r, PORTS[vc.out_port]), (0,))[0] == cycle:
                        assert why.startswith(f"leaves by {PORTS[vc.out_port]} {names[vc.out_vc]}")
                        seen["left"] += 1
                    for link, name, tokens, needs, enters in re.findall(TOKENS, why):
                        assert int(tokens) < int(needs) == (16 if enters else 8)  # two full packets to enter a ring
                        channel = network.router(r).ports[PORTS.index(link)].vcs[names.index(name)]
                        assert channel.credits == int(tokens)
                        seen["tokens"] += 1
    assert min(seen[k] for k in ("link", "lost", "left")) > 3, seen
    if "router.dynamic_flits" in changes:
        assert seen["tokens"] > 3, seen


def test_no_winner_is_named_for_a_head_that_may_not_have_requested():
    """With the arbitration gap, a blocked head requests one cycle late, so the winner among requesters is unknown
    afterwards."""
    network, first_words = fl.Network(busy(**{"router.arbitration_gap": True})).step(2500), Counter()
    for _ in range(250):
        network.step(1)
        for router in range(0, 32, 2):
            for port in network.router(router).ports[:6]:
                first_words.update(vc.note.partition("\n")[2].partition(" ")[0] for vc in port.vcs)
    assert first_words["can"] > 10 and first_words["denied:"] == 0, first_words


def test_the_scope_shows_why_a_packet_waits(page):
    network = fl.Network(busy()).step(2500)
    live = Live(page, network.view())
    choose(page, 13)
    reported = Counter()
    for _ in range(30):
        live.do("step1")
        live.wait_for(network.cycle)
        page.wait_for_function("() => window.scope.words() !== null")
        reasons = page.evaluate("""() => Object.fromEntries([...document.querySelectorAll(
            ".scope-ports [data-vc]")].map((row) => [row.dataset.vc, row.querySelector(".scope-why").textContent]))""")
        for p, port in enumerate(network.router(13).ports):
            for v, vc in enumerate(port.vcs):
                why, shown = vc.note.partition("\n")[2], reasons[f"{p}.{v}"]
                if shown.startswith("✓"):
                    continue
                assert shown == ("✗ " if vc.stage == "waiting" else "") + why
                reported[vc.stage] += 1
    assert reported["waiting"] > 10 and reported["leaving"] > 10


def test_a_channel_is_in_use_as_long_as_a_packet_takes_it(page):
    """The channel is in use for 32 cycles per chunk plus 14, not only in the cycle in which the packet is counted."""
    exp = busy(**{"router.acks": "charged", "traffic.load": 0.02})
    network = fl.Network(exp).step(1000)
    twin = fl.Network(exp, trace=True).go_on_from(network)
    Live(page, network.view(1000).step(400))
    places = {(r, p): c for c, (r, p, _) in enumerate(twin.channels())}
    taken = [(places[e["index"], e["out_port"]], e["cycle"], e["cycle"] + 32 * e["flits"] + 14)
             for e in twin.step(400).events() if e["kind"] == "switch_granted"]
    for cycle in (1010, 1032, 1333, 1400):
        since, expected = max(1000, cycle - 32), Counter()
        for channel, begin, end in taken:
            expected[channel] += max(0, min(end, cycle) - max(begin, since)) / (cycle - since)
        shown = dict(page.evaluate("(cycle) => [...scope.view.use(cycle)]", cycle))
        assert shown == pytest.approx({c: share for c, share in expected.items() if share})
        assert cycle == 1010 or len(shown) > 3
