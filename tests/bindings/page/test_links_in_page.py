"""Links from Python and from the page itself open the same network, cycle and router in the page, which compares the
state hash; wrong links get a message."""

import networkx as nx
import pytest
from page_in_browser import change, check_hash, do, draw_curve, open_text, opened, ready, text
from scope_pages import choose, mutated, shown_cycle

import flitlab as fl

__all__ = ["opened", "text"]  # fixtures

LINKED = "[data-page=linked]"
MESH = fl.load("vc-mesh-8x8").set({"traffic.load": 0.3, "router.vcs": 3, "topology.shape": [6, 5]})
EXPERIMENTS = {
    "shipped and changed": MESH,
    "removed and JSON": fl.load("vc-mesh-8x8").set({"router.vcs": None, "traffic.packet_flits": [(2, 0.5), (6, 0.5)]}),
    "of one's own": fl.Experiment({"topology.shape": [8], "topology.kind": "ring", "run.seed": 7, "traffic.load": 0.001,
                                   "traffic.hot_terminals": [1, 2], "traffic.pattern": "hot_spot"}),
    "graph in memory": fl.load("vc-mesh-8x8").with_topology(nx.petersen_graph()),
    "file of a shipped one": fl.load("vc-dgx-h100").set("traffic.load", 0.15),
    "machine": fl.load("t3e-16").set("traffic.load", 0.1),
}


def fragment(link):
    return link[link.index("#"):]


def open_link(page, text, folder, link):
    """Opens a link in a page of its own."""
    path = folder / "page.html"
    path.write_text(text, encoding="utf-8")
    page.goto(path.as_uri() + fragment(link))
    return page


def verdict(page):
    page.wait_for_selector(f"{LINKED}[data-same]")
    return page.locator(LINKED).get_attribute("data-same"), page.locator(LINKED).inner_text()


def follow(page, link):
    """Changes the fragment of an open page."""
    page.evaluate("(link) => { location.hash = link; }", fragment(link))


@pytest.mark.parametrize("exp", EXPERIMENTS.values(), ids=EXPERIMENTS)
def test_a_link_from_python_opens_the_same_state(page, text, tmp_path, exp):
    network = fl.Network(exp).step(230)
    open_link(page, text, tmp_path, fl.share(network, router=3))
    assert verdict(page) == ("true", f"Same state as linked: 0x{network.state_hash}, cycle 230.")
    check_hash(page, network)
    assert shown_cycle(page) == 230
    assert page.locator(".flitlab-scope").get_attribute("data-first") == "170"  # the last cycles can be replayed
    assert "Router 3" in page.locator(".scope-panel h3").inner_text()


def test_a_link_to_few_cycles_replays_from_the_start(page, text, tmp_path):
    open_link(page, text, tmp_path, fl.share(MESH, cycle=20))
    assert verdict(page)[0] == "true"
    assert page.locator(".flitlab-scope").get_attribute("data-first") == "0"


def test_a_result_and_a_view_are_linked(page, text, tmp_path):
    exp = MESH.set({"run.warmup_cycles": 500, "run.measure_cycles": 1000})
    result = fl.run(exp, seed=5)
    view = fl.Network(exp).step(100).view().step(5).inspect(4)
    open_link(page, text, tmp_path, fl.share(result))
    assert verdict(page) == ("true", f"Same state as linked: 0x{result.state_hash}, cycle {result.cycles}.")
    link = view.share(overlay="unknown")
    follow(page, link)
    page.wait_for_function("() => /cycle 105/.test(document.querySelector('[data-page=linked]').textContent)")
    assert verdict(page)[0] == "true" and page.evaluate("() => location.hash") == fragment(link)


def test_an_overlay_is_linked(page, text, tmp_path):
    open_link(page, text, tmp_path, fl.share(MESH, cycle=90, overlay="credit"))
    assert verdict(page)[0] == "true" and page.locator("[data-do=overlay]").input_value() == "credit"
    assert fragment(shared(page)) == fragment(fl.share(MESH, cycle=90, overlay="credit"))
    follow(page, fl.share(MESH, cycle=91, overlay="unknown"))
    page.wait_for_selector('.flitlab-scope[data-detailed="91"]')
    assert page.locator("[data-do=overlay]").input_value() == "none"


def test_another_state_differs(page, text, tmp_path):
    link = fl.share(MESH, cycle=50)
    right = fl.Network(MESH).step(50).state_hash
    open_link(page, text, tmp_path, link.replace(right, "0123456789abcdef").replace("flitlab=", "flitlab=9"))
    assert verdict(page) == ("false", f"Differs: the link has state 0x0123456789abcdef in cycle 50, this page computes "
                             f"0x{right}. The link is of flitlab 9{fl.__version__}, this page of {fl.__version__}.")


def test_a_link_by_hand_needs_no_hash(page, text, tmp_path):
    open_link(page, text, tmp_path, "#config=vc-torus-8x8&traffic.load=0.4")
    ready(page)
    check_hash(page, fl.Network(fl.load("vc-torus-8x8").set("traffic.load", 0.4)))
    assert page.locator(LINKED).inner_text() == ""


BAD = {
    "#config=vc-mesh-9x9": "config=vc-mesh-9x9: the page has no such network",
    "#figure=zero-load&config=vc-mesh-8x8": "It has figure and config; a link has one of them",
    "#config=vc-mesh-8x8&format=2": "format=2: this page reads links of format 1",
    "#config=newer&new=1&format=2": "format=2: this page reads links of format 1",
    "#config=vc-mesh-8x8&overlay=" + 8000 * "x": "It has 8028 characters; a link has at most 8000",
    "#config=vc-mesh-8x8&traffic.lod=0.3": "traffic.lod",
    "#config=vc-mesh-8x8&router.vcs=many": "router.vcs",
    "#config=vc-mesh-8x8&cycle=-1": "cycle=-1: it must be a whole number from 0",
    "#config=vc-mesh-8x8&cycle=99999999999": "cycle=99999999999: it must be a whole number from 0",
    "#config=vc-mesh-8x8&cycle=1&cycle=2": "cycle is given twice",
    "#config=vc-mesh-8x8&what=3": "what=3: a part of a link is KEY=VALUE",
    "#config=vc-mesh-8x8&traffic": "traffic: a part of a link is KEY=VALUE",
    "#config=vc-mesh-8x8&overlay=%E4%": "the characters after % are not a code",
    "#config=vc-mesh-8x8&topology.shape=%5B8,": "it is not a value",
    "#topology.kind=graph&topology.file=x.csv&text.topology.file=eNoz0DHk": "is not a compressed text",
}


@pytest.mark.parametrize(("link", "message"), BAD.items(), ids=BAD.values())
def test_a_bad_link_gets_a_message_and_the_first_network(page, text, tmp_path, link, message):
    open_link(page, text, tmp_path, link)
    page.wait_for_function("() => document.querySelector('.page-status').textContent.startsWith('This link cannot')")
    assert message in page.locator(".page-folds > .page-status").inner_text()
    check_hash(ready(page), fl.Network("vc-mesh-8x8"))
    do(page, "step10", 10)
    check_hash(page, fl.Network("vc-mesh-8x8").step(10))


def test_links_open_in_an_open_page(opened):
    do(opened, "step10", 10)
    follow(opened, fl.share(MESH, cycle=30))
    assert verdict(opened)[0] == "true"
    follow(opened, "#config=nothing")  # the shown network stays
    opened.wait_for_function("() => /config=nothing/.test(document.querySelector('.page-status').textContent)")
    opened.evaluate("() => { location.hash = '#curves'; }")  # an anchor is no link
    do(opened, "step1", 31)
    check_hash(opened, fl.Network(MESH).step(31))


def test_the_message_of_a_bad_link_stays_while_the_network_plays(page, text, tmp_path):
    page.emulate_media(reduced_motion="no-preference")
    open_link(page, text, tmp_path, "#config=nothing")
    page.wait_for_function("() => /config=nothing/.test(document.querySelector('.page-status').textContent)")
    page.wait_for_function("() => Number(document.querySelector('.flitlab-scope')?.dataset.cycle) > 8")
    assert "config=nothing" in page.locator(".page-folds > .page-status").inner_text()


def shared(page):
    """Clicks the button and returns the link that the page shows."""
    page.click("[data-page=share]")
    page.wait_for_function("() => document.querySelector('[data-page=link]').value.includes('#')")
    return page.locator("[data-page=link]").input_value()


def test_the_page_writes_pythons_links(opened):
    """In the last cycle, and in an earlier one that is replayed, whose hash the page computes anew."""
    change(opened, "traffic.load", 0.35)
    change(opened, "topology.shape", "6x5")
    do(opened, "step100", 100)
    choose(opened, 7)
    exp = fl.load("vc-mesh-8x8").set({"traffic.load": 0.35, "topology.shape": [6, 5]})
    assert fragment(shared(opened)) == fragment(fl.share(exp, cycle=100, router=7))
    assert opened.evaluate("() => location.hash") == fragment(fl.share(exp, cycle=100, router=7))
    do(opened, "back10", 90)
    opened.evaluate("() => { document.querySelector('[data-page=link]').value = ''; }")
    assert fragment(shared(opened)) == fragment(fl.share(exp, cycle=90, router=7))
    opened.reload()
    assert verdict(opened)[0] == "true" and shown_cycle(opened) == 90
    change(opened, "router.vcs", 2, 90)  # another network, so the link is no longer in the address
    opened.wait_for_function("() => location.hash === ''")
    assert opened.locator(LINKED).inner_text() == ""
    assert opened.locator("[data-page=link]").is_hidden()


def test_a_link_with_a_text_can_be_shared_again(page, text, tmp_path):
    exp = EXPERIMENTS["graph in memory"]
    open_link(page, text, tmp_path, fl.share(exp, cycle=40))
    assert verdict(page)[0] == "true"
    again = shared(page)
    page.goto("about:blank")
    open_link(page, text, tmp_path, again)
    assert verdict(page) == ("true", f"Same state as linked: 0x{fl.Network(exp).step(40).state_hash}, cycle 40.")


def test_every_point_of_a_curve_is_a_link(opened):
    (low, high) = draw_curve(opened, 0.1, 0.2, 0.1)
    for row, point in enumerate((low, high)):
        opened.locator("tr[data-load] a").nth(row).click()
        opened.wait_for_function("(h) => document.querySelector('[data-page=linked]').textContent.includes(h)",
                                 arg=point["hash"])
        assert verdict(opened)[0] == "true"
        exp = fl.load("vc-mesh-8x8").set("traffic.load", float(point["load"]))
        assert opened.evaluate("() => location.hash") == fragment(fl.share(fl.run(exp, backend="cpu")))
    assert opened.locator(".page-chart a circle").count() == 2
    end = shown_cycle(opened)
    do(opened, "step1", end + 1)
    opened.locator(".page-chart a circle").nth(1).click()  # the link that the address has already
    opened.wait_for_function("(c) => Number(document.querySelector('.flitlab-scope').dataset.cycle) === c", arg=end)


MUTANTS = {"comparison": ("const same = hash === link.hash", "const same = true"),
           "cycle": ('{ do: "step", cycles: cycle - now }', '{ do: "step", cycles: cycle - now - 1 }'),
           "value": ("= value_in_link(key, text);", '= key === "traffic.load" ? 0.1 : value_in_link(key, text);')}


@pytest.mark.parametrize("mutant", MUTANTS.values(), ids=MUTANTS)
def test_a_modified_page_is_detected(page, text, tmp_path, mutant):
    link = fl.share(MESH, cycle=50)
    open_link(page, mutated(text, mutant), tmp_path, link)
    with pytest.raises(AssertionError):
        assert verdict(page)[0] == "true"
        page.goto("about:blank")
        open_link(page, mutated(text, mutant), tmp_path, link.replace("hash=", "hash=0"))
        assert verdict(page)[0] == "false"


def test_the_page_opens_as_before_without_a_link(page, text, tmp_path):
    check_hash(open_text(page, text, tmp_path), fl.Network("vc-mesh-8x8"))
