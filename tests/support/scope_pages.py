"""The scope in a page: with Python behind it as a notebook has it, and what it shows against the network itself."""

import json

from flitlab.inspection import packet_name
from flitlab.scope import module_text, style_text

LIVE = """<style>{style}</style><div id="place"></div><script type="module">
{module}
const listeners = [];
const model = {{ get: (name) => ({{ recording: "{recording}" }})[name], off: () => {{}},
  on: (name, listener) => listeners.push(listener),
  send: async (message) => deliver(JSON.parse(await ask(message))) }};
window.deliver = (messages) => {{ for (const m of messages) listeners.forEach((l) => l(m)); }};
render({{ model, el: document.getElementById("place") }});
</script>"""


class Live:
    """A view in a page; messages go as a notebook's front end sends them. mutant: a change of the JavaScript."""

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
        """Messages for the page that nobody has delivered: `window.deliver` does."""
        said, self.outbox = self.outbox, []
        return said

    def do(self, action):
        self.root.locator(f"[data-do={action}]").click()

    def wait_for(self, cycle):
        self.page.wait_for_selector(f'.flitlab-scope[data-detailed="{cycle}"]')


def mutated(text, mutant):
    assert mutant[0] in text
    return text.replace(*mutant) if mutant[0] else text


def choose(page, router):
    """Selects a router by the keyboard; routers are numbered from 0."""
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
    """Every virtual channel: flits, as a number and as cells, stage, credits and front packet."""
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
    """What has crossed the switch, by the events of one cycle."""
    shown = page.evaluate('() => [...document.querySelectorAll("[data-win]")].map((e) => e.dataset.win)')
    won = sorted((e["out_port"], e["port"], e["vc"], e["out_vc"], e["src"], e["id"]) for e in events
                 if e["kind"] == "switch_granted" and e["index"] == router)
    assert shown == [f"{port}.{vc}>{out}.{out_vc} {packet_name(src, number)}"
                     for out, port, vc, out_vc, src, number in won]
