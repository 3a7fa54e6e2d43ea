"""The scope in a page, with Python behind it as in a notebook, and checks of its display against the network."""

import json
from collections import defaultdict

from flitlab.inspection import packet_name
from flitlab.scope import module_text, style_text

LIVE = """<style>{style}</style><div id="place"></div><script type="module">
{module}
const show = Scope.prototype.show; // lets a test read the displayed state
Scope.prototype.show = function (...how) {{ window.scope = this; return show.apply(this, how); }};
const listeners = [];
const model = {{ get: (name) => ({{ recording: "{recording}" }})[name], off: () => {{}},
  on: (name, listener) => listeners.push(listener),
  send: async (message) => deliver(JSON.parse(await ask(message))) }};
window.deliver = (messages) => {{ for (const m of messages) listeners.forEach((l) => l(m)); }};
render({{ model, el: document.getElementById("place") }});
</script>"""

PARTS = """<canvas style="width: 640px; height: 480px"></canvas><script type="module">
{module}
window.recording = new Recording(await unpack("{recording}"));
window.scope_parts = {{ PALETTE, CAUSES, packet_colour, journey, draw_packet, NetworkView, arriving_words, connections,
  counts_of_blocked, routers_in, shapes_of }};
</script>"""

PAIR = """<style>{style}</style><div id="a"></div><div id="b"></div><script type="module">
{module}
window.scopes = [await show_page(a, "{recordings[0]}", "lesson"), await show_page(b, "{recordings[1]}", "lesson")];
</script>"""

JOURNEYS = """() => {
    const kept = new Map(), { recording } = window, events = recording.events.bind(recording);
    recording.events = (cycle) => kept.get(cycle) ?? kept.set(cycle, events(cycle)).get(cycle); // asked for each packet
    const names = new Map();
    for (let c = recording.first; c < recording.last; ++c)
        for (const { src, id } of recording.events(c)) names.set(`${src} ${id}`, [src, id]);
    return [...names.values()].map(([src, id]) => scope_parts.journey(recording, src, id)); }"""


def show_parts(page, view, mutant=("", "")):
    """Makes a page in which functions of the module can be called on a recording."""
    page.set_content(PARTS.format(module=mutated(module_text(), mutant), recording=view.recording))
    page.wait_for_function("() => window.scope_parts")


def show_pair(page, views):
    """Makes a page with two scopes that share a clock, `scopes`."""
    page.set_content(PAIR.format(style=style_text(), module=module_text(), recordings=[v.recording for v in views]))
    page.wait_for_function("() => window.scopes")


def value_of(page, function, argument=None):
    """Returns the value of a function of the page, via JSON with undefined as null: page.evaluate() takes a minute for
    a value with a million parts."""
    reported = "JSON.stringify(value, (key, part) => (part === undefined ? null : part))"
    return json.loads(page.evaluate(f"(x) => {{ const value = ({function})(x); return {reported}; }}", argument))


def journeys(page, view, mutant=("", "")):
    """Returns the module's path of every packet in a recording, by source and number."""
    show_parts(page, view, mutant)
    return {(way["src"], way["id"]): way for way in value_of(page, JOURNEYS)}


def check_stages(page, view, events, mutant=("", "")):
    """Checks every step of every packet of a vc network that begins empty, against a plain reading of its events.

    A cycle ends when the next begins: a step that ends with a grant in cycle c ends at c + 1. Channels take 2 cycles.
    """
    # Seen: by packet, its cycles and visits; left: by buffer, the time when the last tail left.
    seen, left = defaultdict(dict), {}
    for e in events:
        packet, buffer, cycle = seen[e["src"], e["id"]], (e["index"], e["port"], e["vc"]), e["cycle"]
        visits = packet.setdefault("visits", {})  # visits of the packet's head to routers, in order
        if e["item"] == "terminal":
            packet[e["kind"]] = cycle
        elif e["kind"] == "arrived":
            visits[e["index"]] = {"arrived": cycle}
        elif e["kind"] == "routed":
            visit = visits[e["index"]]
            visit |= {"routed": cycle, "front": max(visit["arrived"], left.get(buffer, -1) + 1)}
        elif e["kind"] == "vc_granted" or e["flit"] in ("head", "head+tail"):
            visits[e["index"]][e["kind"]] = cycle
        if e["kind"] == "switch_granted" and e["flit"] in ("tail", "head+tail"):
            left[buffer] = cycle
    ways, compared = journeys(page, view, mutant), set()
    for name, packet in seen.items():
        if "delivered" not in packet:
            continue
        spans, now = [], packet["created"]

        def until(stage, cycle, hop, spans=spans):
            nonlocal now
            if cycle > now:
                spans.append({"stage": stage, "from": now, "to": cycle, "hop": hop})
            now = cycle

        until("queue", packet["injected"], -1)
        until("inject", packet["injected"] + 1, -1)
        for i, visit in enumerate(packet["visits"].values()):
            assert visit["arrived"] == now
            until("behind others", visit["front"], i)
            until("route", visit["routed"], i)
            until("VC allocation", visit["vc_granted"] + 1, i)
            until("switch allocation", visit["switch_granted"] + 1, i)
            until("link", visit["switch_granted"] + 3, i)
        until("tail", packet["delivered"], i)
        assert ways[name]["spans"] == spans, name
        assert [hop["router"] for hop in ways[name]["hops"]] == list(packet["visits"])
        compared |= {span["stage"] for span in spans}
    return compared


class Live:
    """A view in a page, with messages as from a notebook's front end. mutant: a change of the JavaScript."""

    def __init__(self, page, view, mutant=("", "")):
        self.page, self.view, self.outbox = page, view, []
        view.send = lambda content, buffers=None: self.outbox.append(content)
        page.expose_function("ask", self.answer)
        module = mutated(module_text(), mutant)
        page.set_content(LIVE.format(style=style_text(), module=module, recording=view.recording))
        self.root = page.locator(".flitlab-scope[data-cycle]")
        self.root.wait_for()

    def answer(self, message):
        self.view._handle_custom_msg(message, [])
        return json.dumps(self.waiting())

    def waiting(self):
        """Returns messages for the page that are still to be delivered, by `window.deliver`."""
        messages, self.outbox = self.outbox, []
        return messages

    def do(self, action):
        self.root.locator(f"[data-do={action}]").click()

    def wait_for(self, cycle):
        self.page.wait_for_selector(f'.flitlab-scope[data-detailed="{cycle}"]')


def settle(page, milliseconds):
    """Waits in the page's own time, in short steps: all earlier requests of the page have then been answered, even on a
    busy machine."""
    for _ in range(-(-milliseconds // 100)):
        page.evaluate("() => new Promise((done) => setTimeout(done, 100))")


def mutated(text, mutant):
    """Returns the text with a change. Raises LookupError if the changed part is missing: an AssertionError would pass
    for a failed comparison."""
    if mutant[0] not in text:
        raise LookupError(f"the text of a mutant is not in the JavaScript: {mutant[0]}")
    return text.replace(*mutant) if mutant[0] else text


def choose(page, router):
    """Selects a router with the keyboard; routers are numbered from 0."""
    root = page.locator(".flitlab-scope")
    root.focus()
    page.keyboard.press("Escape")
    for _ in range(router + 1):
        page.keyboard.press("]")


def shown_cycle(page):
    return int(page.locator(".scope-cycle").inner_text().removeprefix("cycle "))


def check_cycle(page, network):
    assert shown_cycle(page) == network.cycle


def check_buffers(page, network, router):
    """Checks every virtual channel: flits (as a number and as cells), pipeline stage, credits and front packet."""
    shown = page.evaluate("""() => [...document.querySelectorAll(".scope-ports [data-vc]")].map((row) => ({
        vc: row.dataset.vc, flits: Number(row.dataset.flits), stage: row.dataset.stage, front: row.dataset.front,
        credits: Number(row.dataset.credits), cells: row.querySelectorAll(".scope-full").length }))""")
    expected = []
    for p, port in enumerate(network.router(router).ports):
        for v, vc in enumerate(port.vcs):
            front = "" if vc.src is None else packet_name(vc.src, vc.id)
            expected.append({"vc": f"{p}.{v}", "flits": vc.flits, "stage": vc.stage, "credits": vc.credits,
                             "front": front, "cells": vc.flits})
    assert shown == expected


def check_winners(page, events, router):
    """Checks the flits that have crossed the switch, against the events of one cycle."""
    shown = page.evaluate('() => [...document.querySelectorAll("[data-win]")].map((e) => e.dataset.win)')
    won = sorted((e["out_port"], e["port"], e["vc"], e["out_vc"], e["src"], e["id"]) for e in events
                 if e["kind"] == "switch_granted" and e["index"] == router)
    assert shown == [f"{port}.{vc}>{out}.{out_vc} {packet_name(src, number)}"
                     for out, port, vc, out_vc, src, number in won]
