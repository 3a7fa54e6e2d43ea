"""The scope in a browser, with a live network: its display agrees with the network's state."""

import time
from itertools import pairwise

import pytest
from scope_pages import Live, check_buffers, check_cycle, check_winners, choose, settle, shown_cycle

import flitlab as fl

ROUTER = 9


def busy(seed=1, **changes):
    """Returns a view of a 4x4 mesh near saturation at cycle 200, and an identical network without a view."""
    exp = fl.Experiment.from_dict({"topology.kind": "mesh", "topology.shape": [4, 4], "traffic.load": 0.6,
                                   "run.seed": seed, "router.vcs": 2, "router.buffer_flits": 4, **changes})
    network = fl.Network(exp).step(200)
    return network, fl.Network(exp, trace=True).go_on_from(network)


def check_all(page, network, twin, router=ROUTER):
    assert twin.step(1).cycle == network.cycle
    events = twin.events()
    check_cycle(page, twin)
    check_buffers(page, twin, router)
    check_winners(page, events, router)
    return events


@pytest.mark.parametrize("changes", [
    {"seed": 1}, {"seed": 2, "router.switch_allocator": "wavefront"}, {"seed": 3, "traffic.pattern": "transpose"}],
    ids=lambda c: str(c["seed"]))
def test_steps_show_the_networks_state(page, changes):
    network, twin = busy(**changes)
    live = Live(page, network.view())
    choose(page, ROUTER)
    won = 0
    for _ in range(12):
        live.do("step1")
        live.wait_for(network.cycle + (network.cycle == twin.cycle))
        won += sum(e["kind"] == "switch_granted" and e["index"] == ROUTER for e in check_all(page, network, twin))
    assert won > 5
    assert network.state_hash == twin.state_hash


MUTANTS = {
    "cycle": ("`cycle ${cycle}`", "`cycle ${cycle + 1}`"),
    "buffer": ("const i = recording.place.get(router), state = recording.state(cycle)",
               "const i = recording.place.get(router), state = recording.state(Math.max(recording.first, cycle - 1))"),
    "winner": ("arbitration(recording, router, cycle - 1, ", "arbitration(recording, router, cycle - 2, "),
    "winner's name": ('"data-win": `${e.port}.${e.vc}>', '"data-win": `${e.port}.${e.out_vc}>'),
    "cells": ("Array.from({ length: shown }, cell)", "Array.from({ length: shown + 1 }, cell)"),
    "deltas": ("named(this.meta.columns, ", "named(this.meta.columns.slice(1), "),
}


@pytest.mark.parametrize("mutant", MUTANTS.values(), ids=MUTANTS)
def test_a_modified_widget_is_detected(page, mutant):
    network, twin = busy()
    live = Live(page, network.view(), mutant)
    choose(page, ROUTER)
    with pytest.raises(AssertionError):
        for _ in range(12):
            live.do("step1")
            live.wait_for(twin.cycle + 1)
            check_all(page, network, twin)


def test_virtual_channels_without_a_grant_show_the_reason(page):
    """Each virtual channel that has a flit and does not send it shows the reason: no credit, or the output is taken."""
    network, twin = busy()
    live = Live(page, network.view())
    choose(page, ROUTER)
    seen = set()
    for _ in range(60):
        live.do("step1")
        live.wait_for(twin.cycle + 1)
        events = [e for e in check_all(page, network, twin) if e["item"] == "router" and e["index"] == ROUTER]
        reasons = page.evaluate("""() => Object.fromEntries([...document.querySelectorAll(
            ".scope-ports [data-vc]")].map((row) => [row.dataset.vc, row.querySelector(".scope-why").textContent]))""")
        ports = twin.router(ROUTER).ports
        moved = {(e["port"], e["vc"]): e["kind"] for e in events if e["kind"] in ("switch_granted", "vc_granted")}
        taken = {e["out_port"] for e in events if e["kind"] == "switch_granted"}
        for p, port in enumerate(ports):
            for v, vc in enumerate(port.vcs):
                why = reasons[f"{p}.{v}"]
                if (p, v) in moved:
                    assert why.startswith("✓")
                elif vc.stage == "waiting":
                    assert why.startswith("✗ VC not granted")
                    seen.add("VC")
                    if "all VCs" in why:
                        assert all(o.owner_port is not None for o in ports[vc.out_port].vcs)
                elif vc.stage in ("head", "body") and vc.flits:
                    no_credit = ports[vc.out_port].vcs[vc.out_vc].credits == 0
                    assert ("no credit" in why) == no_credit
                    assert no_credit or vc.out_port in taken or "its input port" in why
                    seen.add("credit" if no_credit else "output" if "taken by" in why else "input")
    assert seen == {"VC", "credit", "output", "input"}


def test_it_plays_and_pauses(page):
    network, _ = busy()
    live = Live(page, network.view())
    live.do("play")
    page.wait_for_function("() => Number(document.querySelector('.flitlab-scope').dataset.cycle) > 204")
    live.do("play")
    stopped = shown_cycle(page)
    assert 204 < stopped <= network.cycle
    assert live.root.get_attribute("data-playing") == "false"
    settle(page, 400)
    assert shown_cycle(page) == stopped


def test_a_short_window_plays_without_gaps(page):
    """Recording ahead does not discard frames that have not been shown yet."""
    network, _ = busy()
    live = Live(page, network.view(window=24))
    page.locator("[data-do=speed]").evaluate("(e) => { e.value = e.max; e.dispatchEvent(new Event('input')); }")
    page.evaluate("""() => {
        const root = document.querySelector(".flitlab-scope");
        window.shown = [Number(root.dataset.cycle)];
        new MutationObserver(() => window.shown.push(Number(root.dataset.cycle))).observe(root,
            { attributes: true, attributeFilter: ["data-cycle"] }); }""")
    live.do("play")
    page.wait_for_function("() => Number(document.querySelector('.flitlab-scope').dataset.cycle) > 400")
    live.do("play")
    shown = page.evaluate("window.shown")
    assert max(b - a for a, b in pairwise(shown)) <= 24


def test_back_and_forth_and_by_hundreds(page):
    network, _ = busy()
    live = Live(page, network.view(window=64))
    choose(page, ROUTER)
    live.do("step100")
    live.wait_for(300)
    assert network.cycle == 300
    check_buffers(page, network, ROUTER)
    page.keyboard.press("Shift+ArrowLeft")
    page.keyboard.press("ArrowLeft")
    live.wait_for(289)
    assert network.cycle == 300  # the view replays the past
    page.keyboard.press("Shift+ArrowRight")
    live.wait_for(299)
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    live.wait_for(302)
    check_buffers(page, network, ROUTER)
    live.do("reset")
    live.wait_for(0)
    assert network.cycle == 0


def test_load_pattern_and_routing_make_a_new_network_of_the_same_seed(page):
    network, _ = busy(seed=7)
    view = network.view()
    live = Live(page, view)
    page.select_option('[data-setting="traffic.pattern"]', "transpose")
    while view.network.experiment["traffic.pattern"] != "transpose":
        settle(page, 100)
    page.select_option('[data-setting="routing.algorithm"]', "o1turn")
    while view.network.experiment["routing.algorithm"] != "o1turn":
        settle(page, 100)
    settle(page, 200)
    live.do("step10")
    live.wait_for(210)
    exp = view.network.experiment
    assert (exp["traffic.pattern"], exp["routing.algorithm"], exp["run.seed"]) == ("transpose", "o1turn", 7)
    assert view.cycle == 210 and network.cycle == 200
    assert view.network.state_hash == fl.Network(exp).step(210).state_hash  # as if it had had them from cycle 0 on
    offered = page.locator('[data-setting="routing.algorithm"] option').evaluate_all("(all) => all.map((o) => o.value)")
    assert "odd_even" in offered and not {"table", "minimal", "ugal_l"} & set(offered)  # only what a mesh can have
    page.select_option('[data-setting="traffic.pattern"]', "next_group")  # a mesh has no groups: a message appears
    page.wait_for_function("() => document.querySelector('.scope-note').textContent.includes('next_group')")
    assert view.network.experiment["traffic.pattern"] == "transpose"


def test_the_load_changes_while_the_network_plays(page):
    network, _ = busy()
    view = network.view()
    live = Live(page, view)
    live.do("play")
    page.wait_for_function("() => Number(document.querySelector('.flitlab-scope').dataset.cycle) > 204")
    page.locator('[data-setting="traffic.load"]').evaluate(
        "(e) => { e.value = 0.1; e.dispatchEvent(new Event('change')); }")
    while view.network.experiment["traffic.load"] != 0.1:
        settle(page, 100)
    reached = view.cycle
    page.wait_for_function(f"() => Number(document.querySelector('.flitlab-scope').dataset.cycle) > {reached + 3}")
    assert live.root.get_attribute("data-playing") == "true" and reached > 204


def test_many_cycles_run_on_with_progress_and_can_be_stopped(page):
    network, _ = busy()
    live = Live(page, network.view())
    page.fill("[data-do=cycles]", "1000000000")
    live.do("run")
    page.wait_for_function("() => Number(document.querySelector('.flitlab-scope').dataset.cycle) > 50000")
    assert page.locator("progress").is_visible()
    live.do("run")  # the button now reads "stop"
    page.wait_for_function("() => document.querySelector('progress').hidden")
    settle(page, 500)
    stopped = network.cycle
    settle(page, 500)
    assert network.cycle == stopped < 1_000_000_000


def test_without_a_kernel_the_replay_continues(page):
    network, _ = busy()
    view = network.view().step(20)
    live = Live(page, view)
    page.evaluate("() => { window.ask = () => { throw new Error('no kernel'); }; }")
    page.keyboard.press("Tab")
    live.do("back10")
    live.wait_for(210)
    live.do("play")
    page.wait_for_function("() => document.querySelector('.flitlab-scope').dataset.cycle === '220'")


def test_the_page_follows_steps_from_python(page):
    network, _ = busy()
    view = network.view()
    live = Live(page, view)
    view.step(5)
    page.evaluate("(messages) => window.deliver(messages)", live.waiting())
    live.wait_for(205)
    network.step(3)  # this call bypasses the view, so the recording restarts at the new cycle
    live.do("step1")
    live.wait_for(209)
    assert network.cycle == 209
    live.do("back1")  # after a step back the page stays there
    live.wait_for(208)
    view.step(5)
    page.evaluate("(messages) => window.deliver(messages)", live.waiting())
    page.wait_for_function("() => document.querySelector('.flitlab-scope').dataset.last === '214'")
    assert shown_cycle(page) == 208


@pytest.mark.parametrize("action", ["reset", "set", "play"])
def test_what_begins_anew_ends_a_run(page, action):
    network, _ = busy()
    view = network.view()
    live = Live(page, view)
    page.fill("[data-do=cycles]", "1000000000")
    live.do("run")
    page.wait_for_function("() => Number(document.querySelector('.flitlab-scope').dataset.cycle) > 5000")
    if action == "set":
        page.select_option('[data-setting="traffic.pattern"]', "transpose")
    else:
        live.do(action)
    if action == "play":
        live.do("play")
    page.wait_for_function("() => document.querySelector('progress').hidden")
    settle(page, 1500)  # the reply that was in flight
    stopped = view.cycle
    settle(page, 700)
    assert view.cycle == stopped and (action != "reset" or stopped == 0)


def test_a_run_of_no_cycles_is_refused(page):
    network, _ = busy()
    live = Live(page, network.view())
    for text in ("", "0", "-5"):
        page.fill("[data-do=cycles]", text)
        live.do("run")
        assert "how many cycles" in page.locator(".scope-note").inner_text()
    assert network.cycle == 200


def test_an_answer_takes_less_than_a_second_however_large_the_network(page):
    network = fl.Network({"topology.kind": "mesh", "topology.shape": [48, 48], "traffic.load": 0.05}).step(10)
    view = network.view(routers=range(16))
    view.send = lambda content, buffers=None: None
    view._handle_custom_msg({"do": "skip", "cycles": 20}, [])  # builds the fast network
    started = time.process_time()
    view._handle_custom_msg({"do": "skip", "cycles": 10_000_000}, [])
    assert 30 < network.cycle < 10_000_000 and time.process_time() - started < 5


def test_a_deadlock_shows_its_cycle(page):
    exp = fl.load("vc-torus-8x8").set({"router.vcs": 1, "routing.vc_assignment": "any", "traffic.load": 1,
                                       "router.buffer_flits": 2, "traffic.packet_flits": 8})
    live = Live(page, fl.Network(exp).step(280).view())
    live.do("step10")
    live.wait_for(290)
    text = page.locator(".scope-deadlock").inner_text()
    assert "wait for one another in a cycle" in text and "waits for the first" in text


def test_the_slider_covers_the_whole_run(page):
    """A cycle that is no longer recorded is emulated again; the last cycles before it can be replayed."""
    exp = fl.load("vc-mesh-8x8").set("traffic.load", 0.3)
    view = fl.Network(exp).view()
    live = Live(page, view)
    page.fill("[data-do=cycles]", "3000")
    live.do("run")
    page.wait_for_selector('.flitlab-scope[data-cycle="3000"]')
    slider = page.locator("[data-do=seek]")
    assert (slider.get_attribute("min"), slider.get_attribute("max")) == ("0", "3000")

    def drop(cycle):
        slider.evaluate("""(e, cycle) => { e.value = cycle; e.dispatchEvent(new Event("input"));
            e.dispatchEvent(new Event("change")); }""", cycle)
        page.wait_for_selector(f'.flitlab-scope[data-detailed="{cycle}"]')

    choose(page, ROUTER)
    for cycle in (1000, 2500, 10):
        drop(cycle)
        assert slider.get_attribute("max") == "3000" and shown_cycle(page) == cycle
        check_buffers(page, fl.Network(exp).step(cycle), ROUTER)
    drop(1000)
    assert live.root.get_attribute("data-first") == "970"
    live.do("back10")
    live.wait_for(990)
    check_buffers(page, fl.Network(exp).step(990), ROUTER)
