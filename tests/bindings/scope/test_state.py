"""The recording of a small network contains all state of every router, including frames outside the window. A page
decodes it as net.inspect does."""

import pytest
from scope_pages import choose, mutated, value_of
from scope_trees import short

import flitlab as fl
from flitlab.scope import module_text

PAGE = """<script type="module">
{module}
window.recording = new Recording(await unpack("{recording}"));
</script>"""
SMALL = [("vc-mesh-8x8", {"traffic.load": 0.4}), ("t3e-16", {}), ("bgl-midplane", {"topology.shape": [4, 2, 2]}),
         ("metro-figure1", {}), ("sconnect-priority", {}), ("bless-mesh-8x8", {})]


def check_trees(page, name, changes, window, mutant=("", "")):
    exp = fl.load(name).set(changes)
    network = fl.Network(exp).step(200)
    twin = fl.Network(exp).go_on_from(network)
    view = network.view(window).step(40)
    page.set_content(PAGE.format(module=mutated(module_text(), mutant), recording=view.recording))
    page.wait_for_function("() => window.recording")
    first, drawn = page.evaluate("() => [recording.first, recording.meta.routers]")
    routers = drawn[::max(1, len(drawn) // 6)]
    for cycle in (first, first + 1, first + 5, 240):
        twin.step(cycle - twin.cycle)
        for router in routers:
            shown = value_of(page, "([router, cycle]) => recording.tree(router, cycle)", [router, cycle])
            assert shown == short(twin._core.item("router", router))


@pytest.mark.parametrize("window", [300, 12])
@pytest.mark.parametrize(("name", "changes"), SMALL, ids=[name for name, _ in SMALL])
def test_all_state_of_every_router_is_recorded(page, name, changes, window):
    check_trees(page, name, changes, window)


@pytest.mark.parametrize("mutant", [("4 * place, true) + more", "4 * place, true) + 2 * more"),
                                    (">> BigInt(low)", ">> 0n"), ("(place += changes[i])", "(place = changes[i])")])
def test_state_that_is_read_wrongly_is_caught(page, mutant):
    with pytest.raises(AssertionError):
        check_trees(page, "bgl-midplane", {"topology.shape": [4, 2, 2]}, 300, mutant)


def test_a_live_page_keeps_all_state(page):
    """A live page with a short window discards frames; their changes remain in its state."""
    network = fl.Network("vc-mesh-8x8").step(100)
    view = network.view(12)
    page.set_content(PAGE.format(module=module_text(), recording=view.recording))
    page.wait_for_function("() => window.recording")
    for _ in range(8):
        page.evaluate("(frames) => recording.append(JSON.parse(frames), 12)", view._recorder.step(10))
    assert page.evaluate("() => recording.first") > 150
    for router in (0, 27):
        shown = value_of(page, "([r, cycle]) => recording.tree(r, cycle)", [router, network.cycle])
        assert shown == short(network._core.item("router", router))


def test_a_saved_page_shows_the_state_of_any_router(page, tmp_path):
    network = fl.Network("vc-mesh-8x8").step(100)
    network.view().step(5).save(tmp_path / "demo.html")
    page.goto((tmp_path / "demo.html").as_uri())
    choose(page, 3)
    assert page.locator(".scope-tree summary").first.inner_text() == "complete state at cycle 105: router 3"
    assert page.locator(".scope-tree dt").count() > 20


@pytest.mark.parametrize("window", [300, 6])
def test_of_a_large_network_only_inspected_routers_have_it(page, window):
    """Router 7 is inspected in frames 4 to 8 and again from frame 12 on, router 8 in frames 9 to 11."""
    network = fl.Network({"topology.kind": "mesh", "topology.shape": [9, 9], "traffic.load": 0.4}).step(100)
    twin = fl.Network(network.experiment).go_on_from(network)
    view = network.view(window).step(3)
    for inspected, cycles in ((7, 5), (8, 3), (7, 4)):
        view._recorder.inspected = {inspected}
        view.step(cycles)
    page.set_content(PAGE.format(module=module_text(), recording=view.recording))
    page.wait_for_function("() => window.recording")
    for cycle in range(page.evaluate("() => recording.first"), 116):
        twin.step(cycle - twin.cycle)
        recorded = {7: 104 <= cycle <= 108 or cycle >= 112, 8: 109 <= cycle <= 111}
        for router in (7, 8):
            shown = value_of(page, "([router, cycle]) => recording.tree(router, cycle)", [router, cycle])
            assert shown == (short(twin._core.item("router", router)) if recorded[router] else None), (router, cycle)
