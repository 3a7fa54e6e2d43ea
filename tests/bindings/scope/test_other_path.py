"""The path that a followed packet would take with another routing algorithm, alone in the network."""

from itertools import pairwise

import pytest
from scope_pages import Live, settle

import flitlab as fl
from flitlab.scope.lone import lone_path

MESH = fl.load("vc-mesh-8x8").set("traffic.load", 0.2)


def visited(exp, hops):
    """Returns the coordinates of the routers of a path in an 8x8 mesh."""
    return [(router % 8, router // 8) for router, _ in hops]


def test_dimension_order_by_hand():
    """From (1,2) to (4,4): along the row, then along the column."""
    hops = lone_path(fl.Network(MESH), "dimension_order", 17, 36)
    assert visited(MESH, hops) == [(1, 2), (2, 2), (3, 2), (4, 2), (4, 3), (4, 4)]


@pytest.mark.parametrize(("algorithm", "shortest"), [("o1turn", True), ("odd_even", True), ("minimal_adaptive", True),
                                                     ("valiant", False)])
def test_paths_lead_to_the_destination(algorithm, shortest):
    lengths = set()
    for seed in range(4):
        places = visited(MESH, lone_path(fl.Network(MESH.set("run.seed", seed)), algorithm, 17, 36))
        assert places[0] == (1, 2) and places[-1] == (4, 4)
        assert all(abs(a - c) + abs(b - d) == 1 for (a, b), (c, d) in pairwise(places))
        lengths.add(len(places))
    assert (lengths == {6}) == shortest


def test_other_settings_are_kept_and_errors_name_the_cause():
    torus = fl.Network(fl.load("vc-torus-8x8").set({"traffic.mode": "request_reply", "traffic.window": 4}))
    assert len(lone_path(torus, "dimension_order", 0, 7)) == 2  # over the wrap-around channel
    with pytest.raises(fl.ConfigError, match="routing"):
        lone_path(torus, "odd_even", 0, 7)


def dashed(page):
    """Returns the number of dashed lines that are drawn anew."""
    return page.evaluate("""() => {
        const kept = CanvasRenderingContext2D.prototype.setLineDash;
        let lines = 0;
        CanvasRenderingContext2D.prototype.setLineDash = function (dash) {
            lines += dash.length > 0;
            kept.call(this, dash);
        };
        window.scope.view.fit(window.scope.recording);
        window.scope.paint();
        CanvasRenderingContext2D.prototype.setLineDash = kept;
        return lines; }""")


def test_the_scope_draws_it(page):
    view = fl.Network(MESH).step(50).view().step(40)
    live = Live(page, view)
    settle(page, 200)
    created = [e for e in page.evaluate("() => window.scope.recording.frames.slice(1).flatMap((f) => "
                                        "window.scope.recording.events(f.c - 1))") if e["kind"] == "created"]
    packet = next(e for e in created if (e["src"] % 8) != (e["dst"] % 8) and (e["src"] // 8) != (e["dst"] // 8))
    choice = page.locator("[data-do=other_path]")
    choice.select_option("o1turn")
    assert "select a packet" in page.locator(".scope-note").inner_text()
    page.evaluate("([src, id]) => window.scope.select({ packet: { src, id } })", [packet["src"], packet["id"]])
    assert choice.input_value() == ""
    choice.select_option("negative_first")
    hops = lone_path(view.network, "negative_first", packet["src"], packet["dst"])
    page.wait_for_function("() => /Dashed: .* negative_first/.test(document.querySelector('.scope-note').textContent)")
    assert f"{len(hops) - 1} channel" in page.locator(".scope-note").inner_text()
    assert dashed(page) == len(hops) - 1 == page.evaluate("() => window.scope.other.length") - 1
    page.keyboard.press("Escape")
    live.root.focus()
    page.keyboard.press("Escape")
    assert dashed(page) == 0
