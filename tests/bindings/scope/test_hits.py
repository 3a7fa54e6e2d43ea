"""Clicks on dots that lie over a router: the first click selects the router, further ones the packets, in turn."""

import pytest
from scope_pages import Live

import flitlab as fl

OVER = """(router) => { const { view, cycle } = scope, [x, y] = view.places[router], half = view.size * 0.55;
    const is_over = ({ at }) => Math.abs(at[0] - x) <= half && Math.abs(at[1] - y) <= half;
    return [...new Set(view.flits(cycle, 0).filter(is_over).map((f) => `${f.src}#${f.id}`))]; }"""
PLACE = """(router) => { const box = scope.canvas.getBoundingClientRect(), [x, y] = scope.view.places[router];
    return [box.left + scope.canvas.clientLeft + x, box.top + scope.canvas.clientTop + y]; }"""


def crowded(page, mutant=("", "")):
    """Returns a router with dots of at least two packets over it, and their names."""
    live = Live(page, fl.Network(fl.load("vc-mesh-8x8").set("traffic.load", 0.4)).view().step(60), mutant)
    over = [page.evaluate(OVER, router) for router in range(64)]
    router = max(range(64), key=lambda r: len(over[r]))
    assert len(over[router]) >= 2
    return live, router, over[router]


def heading(page):
    return page.locator(".scope-panel h3").inner_text().split(":")[0].split(" at ")[0].split(" of ")[0]


def check_turn(page, press, router, packets):
    """Presses once for the router and once for each packet, and then for the router again."""
    name = f"Router {page.evaluate('(r) => scope.recording.name(r)', router)}"
    seen = []
    for _ in range(len(packets) + 2):
        press()
        seen.append(heading(page))
    assert seen[0] == seen[-1] == name
    assert sorted(seen[1:-1]) == sorted(f"Packet {packet}" for packet in packets)


def test_a_mouse_selects_the_packets_over_a_router_in_turn(page):
    _, router, packets = crowded(page)
    place = page.evaluate(PLACE, router)
    check_turn(page, lambda: page.mouse.click(*place), router, packets)


def test_touch_selects_the_packets_over_a_router_in_turn(browser):
    page = browser.new_page(viewport={"width": 1280, "height": 900}, reduced_motion="reduce", has_touch=True)
    page.set_default_timeout(600_000)
    _, router, packets = crowded(page)
    place = page.evaluate(PLACE, router)
    check_turn(page, lambda: page.touchscreen.tap(*place), router, packets)
    page.close()


def test_a_key_selects_the_packets_over_a_router_in_turn(page):
    _, router, packets = crowded(page)
    page.locator(".flitlab-scope").focus()
    page.keyboard.press("d")
    assert page.locator(".scope-note").inner_text().strip().endswith("D: select a router first.")
    keys = iter([*"n" * (router + 1), *"d" * (len(packets) + 1)])
    for _ in range(router):
        page.keyboard.press(next(keys))
    check_turn(page, lambda: page.keyboard.press(next(keys)), router, packets)
    page.keyboard.press("Escape")
    assert "further clicks (or D)" in page.locator(".scope-hint").inner_text()


def test_a_router_without_dots_stays_selected(page):
    Live(page, fl.Network(fl.load("vc-mesh-8x8").set("traffic.load", 0.02)).view().step(60))
    router = next(r for r in range(64) if not page.evaluate(OVER, r))
    for _ in range(3):
        page.mouse.click(*page.evaluate(PLACE, router))
        assert heading(page).startswith(f"Router {router} ")
    page.keyboard.press("d")
    assert f"No dot lies over router {router} " in page.locator(".scope-note").inner_text()


def test_a_selection_without_turn_is_detected(page):
    _, router, packets = crowded(page, ("(all.findIndex((one) => is_same_selection(one, present)) + 1)", "0"))
    place = page.evaluate(PLACE, router)
    with pytest.raises(AssertionError):
        check_turn(page, lambda: page.mouse.click(*place), router, packets)
