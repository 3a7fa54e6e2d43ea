"""The scope as it opens: it moves, fills the window, and can be used with keyboard, zoom, touch and screen reader."""

import re
from itertools import pairwise
from statistics import mean, stdev

import pytest
from scope_pages import Live, choose, settle, show_pair, shown_cycle

import flitlab as fl

SIZES = {"laptop": (1366, 768), "projector": (1024, 576), "phone": (390, 844)}


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A page of the cycles 100 to 160 of a busy mesh."""
    path = tmp_path_factory.mktemp("opening") / "mesh.html"
    fl.Network(fl.load("vc-mesh-8x8").set("traffic.load", 0.3)).step(100).view().step(60).save(path)
    return path


@pytest.fixture
def opened(browser, saved):
    """Returns a function that opens the page: motion, size and theme of the reader are arguments."""
    pages = []

    def open_it(size=(1366, 768), motion="reduce", scheme="light"):
        wide, high = size
        page = browser.new_page(viewport={"width": wide, "height": high}, reduced_motion=motion, color_scheme=scheme)
        page.set_default_timeout(600_000)
        pages.append(page)
        page.goto(saved.as_uri())
        page.wait_for_selector(".flitlab-scope[data-cycle]")
        return page

    yield open_it
    for page in pages:
        page.close()


def test_a_page_opens_moving_and_stops_at_the_last_cycle(opened):
    page = opened(motion="no-preference")
    page.wait_for_function("() => Number(document.querySelector('.flitlab-scope').dataset.cycle) < 110")
    before = page.evaluate("() => document.querySelector('canvas').toDataURL()")
    page.wait_for_function("(b) => document.querySelector('canvas').toDataURL() !== b", arg=before)
    page.locator("[data-do=speed]").evaluate("(e) => { e.value = e.max; e.dispatchEvent(new Event('input')); }")
    page.wait_for_selector('.flitlab-scope[data-cycle="160"][data-playing="false"]')


def test_a_live_view_opens_moving_but_does_not_advance_its_network(browser):
    network = fl.Network("vc-mesh-8x8", trace=True)
    page = browser.new_page(reduced_motion="no-preference")
    page.set_default_timeout(600_000)
    Live(page, network.view().step(40))
    page.locator("[data-do=speed]").evaluate("(e) => { e.value = e.max; e.dispatchEvent(new Event('input')); }")
    page.wait_for_selector('.flitlab-scope[data-cycle="40"][data-playing="false"]')
    assert network.cycle == 40
    page.locator("[data-do=play]").click()
    page.wait_for_function("() => Number(document.querySelector('.flitlab-scope').dataset.cycle) > 50")
    assert network.cycle > 50
    page.close()


@pytest.mark.parametrize("size", ["laptop", "projector"])
def test_network_and_panel_fill_a_window_without_scrolling(opened, size):
    page = opened(SIZES[size])
    choose(page, 27)
    wide, high = SIZES[size]
    assert page.evaluate("document.documentElement.scrollHeight") <= high
    network, side = (page.locator(f".scope-{part}").bounding_box() for part in ("network", "side"))
    assert network["width"] * network["height"] > 0.35 * wide * high
    assert side["x"] > network["x"] + network["width"] - 1 and side["x"] + side["width"] <= wide
    routers = page.evaluate("() => document.querySelector('.scope-network').clientHeight")
    assert routers > 0.5 * high


def test_on_a_phone_the_panel_comes_into_view(opened):
    page = opened(SIZES["phone"])
    assert page.evaluate("document.documentElement.scrollWidth") <= SIZES["phone"][0]
    box = page.locator(".scope-network").bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2 + 19, box["y"] + box["height"] / 2 + 19)
    panel = page.locator(".scope-panel h3")
    panel.wait_for()
    shown = panel.bounding_box()
    assert 0 < shown["y"] < SIZES["phone"][1] - 20 and panel.inner_text().startswith("Router ")


@pytest.mark.parametrize("size", SIZES)
def test_the_table_of_a_router_fits_its_panel(opened, size):
    page = opened(SIZES[size])
    choose(page, 27)
    table, panel = (page.locator(f".scope-{part}").first.bounding_box() for part in ("ports", "panel"))
    assert table["x"] + table["width"] <= panel["x"] + panel["width"] + 1 <= SIZES[size][0] + 1
    assert page.locator(".scope-cell").first.bounding_box()["width"] >= 4  # pixels


def click_router(page, router):
    """Clicks a router where the page has drawn it."""
    x, y = page.evaluate("""(r) => { const canvas = document.querySelector("canvas");
        const box = canvas.getBoundingClientRect(), by = box.width / canvas.offsetWidth;
        const [x, y] = window.scope.view.places[r];
        return [box.left + (x + canvas.clientLeft) * by, box.top + (y + canvas.clientTop) * by]; }""", router)
    page.mouse.click(x, y)


@pytest.mark.parametrize("style", ["", "zoom: 0.8", "transform: scale(0.7); transform-origin: 0 0"])
def test_a_click_hits_the_router_under_it(page, style):
    live = Live(page, fl.Network("vc-mesh-8x8").step(20).view())
    live.do("step1")
    page.evaluate("(style) => { document.body.style = style; }", style)
    settle(page, 300)
    for router in (0, 27, 63):
        click_router(page, router)
        assert page.locator(".scope-panel h3").inner_text().startswith(f"Router {router} ")


def test_zoom_and_pan_keep_the_router_under_the_pointer(page):
    live = Live(page, fl.Network("vc-mesh-8x8").step(20).view())
    live.do("step1")
    canvas = page.locator("canvas").bounding_box()
    x, y = canvas["x"] + canvas["width"] / 2, canvas["y"] + canvas["height"] / 2

    def unit():
        return page.evaluate("() => scope.view.places[1][0] - scope.view.places[0][0]")

    whole = unit()
    x0, y0 = page.evaluate("() => scope.view.places[27]")
    page.mouse.move(canvas["x"] + x0, canvas["y"] + y0)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -400)
    page.keyboard.up("Control")
    page.wait_for_function("(u) => scope.view.places[1][0] - scope.view.places[0][0] > 2 * u", arg=whole)
    x1, y1 = page.evaluate("() => scope.view.places[27]")
    assert (x1, y1) == pytest.approx((x0, y0), abs=4)  # the pointer is rounded to a pixel before it zooms
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 60, y + 30, steps=4)
    page.mouse.up()
    assert page.evaluate("() => scope.view.places[27]") == pytest.approx([x1 + 60, y1 + 30], abs=6)
    assert not page.locator(".scope-panel h3").count()  # a drag is no click
    page.locator(".flitlab-scope").focus()
    page.keyboard.press("0")
    assert unit() == pytest.approx(whole)
    page.keyboard.press("+")
    assert unit() == pytest.approx(1.3 * whole)


def test_text_grows_for_a_projector(opened):
    page = opened()
    sizes = []
    for size in (12, 24):
        page.locator("[data-do=font]").evaluate(
            "(e, size) => { e.value = size; e.dispatchEvent(new Event('input')); }", size)
        sizes.append(page.locator(".scope-numbers").evaluate("(e) => parseFloat(getComputedStyle(e).fontSize)"))
    assert sizes == [12, 24]


def test_idle_channels_are_one_line_and_the_state_is_closed(opened):
    page = opened()
    choose(page, 0)
    rows = page.locator(".scope-ports [data-vc]")
    hidden = rows.evaluate_all("(all) => all.filter((r) => r.hidden).map((r) => r.dataset.vc)")
    assert len(hidden) >= 8
    for vc in hidden:
        cells = page.locator(f'.scope-ports [data-vc="{vc}"]')
        assert cells.get_attribute("data-flits") == "0" and cells.get_attribute("data-front") == ""
    line = page.locator(".scope-fold").first
    count = int(re.match(r"(\d+) idle: ", line.inner_text())[1])
    line.click()
    assert line.inner_text() == "hide the idle ones"
    assert rows.evaluate_all("(all) => all.filter((r) => r.hidden).length") == len(hidden) - count
    state = page.locator(".scope-tree details").first
    assert state.get_attribute("open") is None
    state.locator("summary").first.click()
    page.keyboard.press("ArrowLeft")
    page.wait_for_selector('.flitlab-scope[data-detailed="159"]')
    assert page.locator(".scope-tree details").first.get_attribute("open") is not None  # it stays open


def test_numbers_are_shown_when_there_are_enough_packets(page):
    """The interval is that of ten batch means, from a naive formula."""
    exp = fl.load("vc-mesh-8x8").set("traffic.load", 0.3)
    network, twin = fl.Network(exp), fl.Network(exp, trace=True)
    Live(page, network.view().step(120))
    events = twin.step(120).events()
    created = {(e["src"], e["id"]): e["cycle"] for e in events if e["kind"] == "created"}
    done = [(e["cycle"] + 1, e["cycle"] - created[e["src"], e["id"]]) for e in events if e["kind"] == "delivered"]
    seen = set()
    for cycle in (20, 35, 60, 120):
        page.evaluate("(cycle) => scope.go_to(cycle)", cycle)
        text, latencies = page.locator(".scope-numbers").inner_text(), [x for when, x in done if when <= cycle]
        if len(latencies) < 100:
            assert text == f"{len(latencies)} packet{'' if len(latencies) == 1 else 's'} delivered since cycle 0"
            seen.add("few")
            continue
        seen.add("many")
        size = len(latencies) // 10
        batches = [mean(latencies[i * size:(i + 1) * size]) for i in range(10)]
        half = 2.262 * stdev(batches) / 10**0.5
        assert text.startswith(f"latency {mean(latencies):.1f} ± {half:.1f} cycles (95 %; "
                               f"{len(latencies)} packets of the last {cycle} cycles); ")
        flits = sum(e["flits"] for e in events if e["kind"] == "created" and e["cycle"] < cycle)
        assert f"offered {flits / cycle / 64:.3f}, " in text
    assert seen == {"few", "many"}


def test_the_number_of_packets_does_not_fall(page):
    """At a low load the window of a running network sometimes loses more packets than it gains."""
    exp = fl.load("vc-mesh-8x8").set("traffic.load", 0.01)
    network, twin = fl.Network(exp).step(20), fl.Network(exp, trace=True)
    live = Live(page, network.view(window=40).step(30))
    done = [e["cycle"] for e in twin.step(260).events() if e["kind"] == "delivered"]
    in_window = []
    for cycle in range(60, 261, 10):
        live.do("step10")
        live.wait_for(cycle)
        expected = sum(20 <= when < cycle for when in done)
        plural = "" if expected == 1 else "s"
        assert page.locator(".scope-numbers").inner_text() == f"{expected} packet{plural} delivered since cycle 20"
        in_window.append(page.evaluate("() => scope.recording.frames.slice(1).flatMap((frame) => frame.l).length"))
    assert any(later < earlier for earlier, later in pairwise(in_window)), "the window has lost packets"


def test_the_live_region_changes_at_most_once_a_second(opened):
    page = opened(motion="no-preference")
    page.evaluate("""() => { window.changes = [];
        new MutationObserver(() => window.changes.push(performance.now())).observe(
            document.querySelector("[aria-live=polite]"),
            { childList: true, characterData: true, subtree: true }); }""")
    page.wait_for_function("() => window.changes.length >= 4")  # 60 cycles at 5 cycles/s last 12 seconds
    changes = page.evaluate("window.changes")
    assert all(later - earlier > 900 for earlier, later in pairwise(changes))
    assert page.locator("[aria-live]").evaluate_all("(all) => all.map((e) => e.ariaLive)") .count("polite") == 1


def test_a_packet_in_a_buffer_is_followed_by_keyboard(opened):
    page = opened()
    choose(page, 27)
    run = page.locator(".scope-run").first
    name = run.get_attribute("aria-label")
    run.focus()
    page.keyboard.press("Enter")
    found = re.match(r"follow packet (\d+#\d+), \d+ flits?$", name)
    assert page.locator(".scope-panel h3").inner_text().startswith(f"Packet {found[1]}")


CONTRAST = """() => {
    const value = (colour) => { const [r, g, b] = colour.match(/[\\d.]+/g).map(Number).map((v) => { v /= 255;
        return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
        return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
    const opaque = (e) => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor;
        if (c !== "rgba(0, 0, 0, 0)") return c; } return "rgb(255, 255, 255)"; };
    const found = [];
    for (const e of document.querySelectorAll(".flitlab-scope *")) {
        const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
        if (!own || !e.getClientRects().length) continue;
        let alpha = 1;
        for (let p = e; p; p = p.parentElement) alpha *= Number(getComputedStyle(p).opacity);
        const css = getComputedStyle(e), ink = e.namespaceURI.endsWith("svg") ? css.fill : css.color;
        const [a, b] = [value(ink), value(opaque(e))].sort((x, y) => y - x);
        const contrast = alpha < 1 ? 0 : (a + 0.05) / (b + 0.05);
        found.push([contrast, e.className?.baseVal ?? e.className, e.textContent.slice(0, 40)]);
    }
    return found; }"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_has_enough_contrast(opened, scheme):
    page = opened(scheme=scheme)
    choose(page, 27)
    page.locator("[data-do=overlay]").select_option("all")
    found = page.evaluate(CONTRAST)
    assert len(found) > 60
    assert [text for text in found if text[0] < 4.5] == []


def test_a_change_of_theme_is_painted_at_once(opened):
    page = opened()
    before = page.evaluate("() => document.querySelector('canvas').toDataURL()")
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    page.wait_for_function("(b) => document.querySelector('canvas').toDataURL() !== b", arg=before)
    assert shown_cycle(page) == 160


def test_scopes_with_one_clock_show_the_same_cycle(page):
    show_pair(page, [fl.Network(fl.load("vc-mesh-8x8").set("traffic.load", load)).view().step(30)
                     for load in (0.1, 0.4)])

    def cycles():
        return page.evaluate("() => scopes.map((s) => s.cycle)")

    assert cycles() == [30, 30]
    page.locator("#a [data-do=back10]").click()
    assert cycles() == [20, 20]
    page.locator("#b [data-do=first]").click()
    assert cycles() == [0, 0]
    page.locator("#b [data-do=play]").click()
    assert page.evaluate("() => scopes.map((s) => s.playing)") == [True, True]
    apart = page.evaluate("""() => new Promise((done) => { const seen = []; const look = () => {
        seen.push(scopes[0].cycle - scopes[1].cycle);
        seen.length > 60 ? done(seen) : requestAnimationFrame(look); }; look(); })""")
    assert set(apart) == {0}
    page.locator("#a [data-do=last]").click()
    assert cycles() == [30, 30]
