"""The panel of a waiting packet names the packets that block it, as buttons that follow them."""

from collections import Counter, defaultdict

import pytest
from scope_pages import Live

import flitlab as fl

CYCLES = 12
SHOWN = """([src, id]) => {
    scope.select({ packet: { src, id } });
    return [...document.querySelectorAll(".scope-waits")].map((p) => [p.dataset.vc, p.textContent,
    [...p.querySelectorAll("[data-packet]")].map((b) => b.dataset.packet)]); }"""


def next_input(network, router, out_port, out_vc):
    """Returns the virtual channel to which an output of a mesh leads; None for a terminal."""
    port = network.router(router).ports[out_port]
    if port.to_terminal:
        return None
    far = network.router(port.peer)
    (back,) = [p for p in far.ports if not p.to_terminal and p.peer == router]
    return back.vcs[out_vc]


def expected(network, router, port, vc, sent):
    """Returns kind and holders of the wait of a virtual channel's front packet, from the state and the sent flits."""
    ports = network.router(router).ports
    mine = ports[port].vcs[vc]
    if mine.stage == "waiting":
        owned = [o for o in ports[mine.out_port].vcs if o.owner_port is not None]
        fronts = [ports[o.owner_port].vcs[o.owner_vc] for o in owned]
        return "vc", {(front.src, front.id) for front in fronts}
    if ports[mine.out_port].vcs[mine.out_vc].credits == 0:
        behind = next_input(network, router, mine.out_port, mine.out_vc)
        return "credit", set() if behind is None or behind.src is None else {(behind.src, behind.id)}
    others = [e for e in sent if e["index"] == router and e["port"] == port] or [
        e for e in sent if e["index"] == router and e["out_port"] == mine.out_port]
    return "switch", {(e["src"], e["id"]) for e in others}


def check(page, mutant=("", "")):
    exp = fl.Experiment.from_dict({"topology.kind": "mesh", "topology.shape": [4, 4], "traffic.load": 0.6,
                                   "router.vcs": 2, "router.buffer_flits": 4, "traffic.packet_flits": 4})
    network, twin = fl.Network(exp), fl.Network(exp, trace=True)
    live = Live(page, network.view(window=200).step(150), mutant)
    lines, seen = defaultdict(list), Counter()  # lines: packets in each buffer, in order

    def step(cycles):
        sent = twin.step(cycles).events()
        for e in sent:
            key = (e["index"], e["port"], e["vc"])
            if e["kind"] == "arrived":
                lines[key].append((e["src"], e["id"]))
            elif e["kind"] == "switch_granted" and "tail" in e["flit"]:
                lines[key].pop(0)
        return [e for e in sent if e["kind"] in ("switch_granted", "vc_granted") and e["item"] == "router"]

    step(150)
    for cycle in range(151, 151 + CYCLES):
        live.do("step1")
        live.wait_for(cycle)
        sent = step(1)
        moved = {(e["index"], e["port"], e["vc"]) for e in sent}
        sent = [e for e in sent if e["kind"] == "switch_granted"]
        for (router, port, vc), packets in lines.items():
            if not packets:
                continue
            state = twin.router(router).ports[port].vcs[vc]
            for place, (src, number) in enumerate(packets[:2]):
                shown = {key: (text, set(names)) for key, text, names in page.evaluate(SHOWN, [src, number])}
                text, names = shown.get(f"{router}.{port}.{vc}", ("", set()))
                if place == 1 and state.src is not None and (state.src, state.id) == packets[0]:
                    assert names == {f"{packets[0][0]}#{packets[0][1]}"} and "behind another packet" in text
                    seen["behind"] += 1
                    continue
                if place or (state.src, state.id) != (src, number) or (router, port, vc) in moved:
                    continue
                if state.stage not in ("waiting", "head", "body") or not state.flits:
                    continue
                kind, holders = expected(twin, router, port, vc, sent)
                if (src, number) in holders:  # its own flits are ahead
                    assert not text
                    continue
                assert names == {f"{s}#{n}" for s, n in holders}, (router, port, vc, kind, text)
                seen[kind] += bool(holders)
    fronts = (packets[0] for packets in lines.values() if packets)
    assert any(names for front in fronts for *_, names in page.evaluate(SHOWN, front)), "a packet waits"
    holder = page.locator(".scope-waits [data-packet]").first
    name = holder.inner_text()
    holder.focus()
    page.keyboard.press("Enter")
    assert page.locator(".scope-panel h3").inner_text().startswith(f"Packet {name}")
    assert min(seen[kind] for kind in ("behind", "vc", "credit", "switch")) > 2, seen


def test_holders_agree_with_the_network(page):
    check(page)


@pytest.mark.parametrize("mutant", [
    ("r.vc === output.owner_vc", "r.vc !== output.owner_vc"), ("r.port === port && r.vc === out_vc", "r.vc === out_vc"),
    ("holders: named_packet(row,", "holders: named_packet({ src: row.src, id: row.id + 1 },"),
    ("sender(wins.find((e) => e.port === row.port)", "sender(wins.find((e) => e.port !== row.port)")],
    ids=["owner", "buffer", "line", "input port"])
def test_another_holder_is_detected(page, mutant):
    with pytest.raises(AssertionError):
        check(page, mutant)
