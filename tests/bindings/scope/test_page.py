"""The saved page, opened from disk: it replays the recording, and a packet can be followed to its end."""

import json
import re

import pytest
from scope_pages import check_buffers, check_cycle, check_winners, choose, shown_cycle

import flitlab as fl


def recorded(tmp_path, exp, start, cycles, **how):
    """Returns a page of the cycles start to start + cycles, and a twin of the network at its start."""
    network = fl.Network(exp).step(start)
    twin = fl.Network(exp, trace=True).go_on_from(network)
    network.view(**how).step(cycles).save(tmp_path / "demo.html")
    return tmp_path / "demo.html", twin


def open_page(page, path):
    page.goto(path.as_uri())
    page.wait_for_selector(".flitlab-scope[data-cycle]")


def test_every_recorded_cycle_is_the_networks(page, tmp_path):
    exp = fl.load("vc-mesh-8x8").set("traffic.load", 0.4)
    path, twin = recorded(tmp_path, exp, 300, 40)
    open_page(page, path)
    assert shown_cycle(page) == 340
    choose(page, 27)
    page.keyboard.press("Home")
    for cycle in range(300, 341):
        page.wait_for_selector(f'.flitlab-scope[data-detailed="{cycle}"]')
        check_cycle(page, twin)
        check_buffers(page, twin, 27)
        check_winners(page, twin.events(), 27)
        page.keyboard.press("ArrowRight")
        twin.step(1)


def test_a_packet_is_followed_to_its_end(page, tmp_path):
    """Latency of a packet that is alone in the network: 5 cycles per hop, plus its length, plus 5, as in notebook 02
    and the router's README."""
    exp = fl.load("vc-mesh-8x8").set("traffic.load", 0.002)
    path, twin = recorded(tmp_path, exp, 0, 250)
    events = twin.step(250).events()
    done = {(e["src"], e["id"]): e for e in events if e["kind"] == "delivered"}
    src, number = max(done, key=lambda p: sum(e["kind"] == "arrived" and (e["src"], e["id"]) == p for e in events))
    story = [e for e in events if (e["src"], e["id"]) == (src, number)]
    routers = [e["index"] for e in story if e["kind"] == "arrived"]
    created = next(e["cycle"] for e in story if e["kind"] == "created")
    open_page(page, path)
    page.keyboard.press("Tab")
    choose(page, routers[0])
    page.keyboard.press("Home")
    there = page.locator(f'.scope-ports [data-packet="{src}#{number}"]')
    for _ in range(250):
        if there.count():
            break
        page.keyboard.press("ArrowRight")
    there.first.click()
    panel = page.locator(".scope-panel")
    for _ in range(250):
        if panel.get_attribute("data-done") == "true":
            break
        page.keyboard.press("ArrowRight")
    latency = done[src, number]["cycle"] - created
    hops = len(routers) - 1
    assert latency == 5 * hops + 4 + 5
    assert int(panel.locator("[data-latency]").get_attribute("data-latency")) == latency
    assert [int(r) for r in page.evaluate(
        '() => [...document.querySelectorAll(".scope-way [data-router]")].map((e) => e.dataset.router)')] == routers
    spans = page.evaluate('() => [...document.querySelectorAll("rect[data-stage]")].map((e) => [e.dataset.stage, '
                          'Number(e.dataset.cycles)])')
    assert sum(cycles for _, cycles in spans) == latency
    for stage, cycles in (("route", 1), ("VC allocation", 1), ("switch allocation", 1), ("link", 2)):
        assert [c for s, c in spans if s == stage] == [cycles] * (hops + 1)


def test_flits_and_routers_of_the_picture_can_be_clicked(page, tmp_path):
    path, _ = recorded(tmp_path, fl.load("vc-mesh-8x8").set("traffic.load", 0.2), 100, 10)
    open_page(page, path)
    box = page.locator("canvas").bounding_box()
    half = 0.5 * (min(box["height"], box["width"]) - 4 * 13) / 8.1  # half of the distance between two routers
    page.mouse.click(box["x"] + box["width"] / 2 + half, box["y"] + box["height"] / 2 + half)
    assert page.locator(".scope-panel h3").inner_text().startswith("Router ")
    page.locator(".scope-ports [data-packet], .scope-winners [data-packet]").first.click()
    assert page.locator(".scope-panel h3").inner_text().startswith("Packet ")


@pytest.mark.parametrize("name", ["t3e-16", "metro-figure1", "bless-mesh-8x8", "sconnect-figure5", "sconnect-figure1"])
def test_machines_of_every_kind_are_shown(page, tmp_path, name):
    path, twin = recorded(tmp_path, fl.load(name), 150, 12)
    twin.step(12)
    open_page(page, path)
    for router in range(0, min(12, int(twin.experiment.derived()["routers"])), 5):
        choose(page, router)
        shown = page.evaluate('() => [...document.querySelectorAll(".scope-ports [data-vc]")].map((r) => '
                              '[r.dataset.vc, Number(r.dataset.flits), r.dataset.stage])')
        assert shown == [[f"{p}.{v}", vc.flits, vc.stage] for p, port in enumerate(twin.router(router).ports)
                         for v, vc in enumerate(port.vcs)]


def test_the_whole_state_of_an_inspected_router_is_in_the_page(page, tmp_path):
    network = fl.Network("t3e-16", trace=True).step(100)
    network.view().inspect(3).step(5).save(tmp_path / "demo.html")
    open_page(page, tmp_path / "demo.html")
    choose(page, 3)
    shown = dict(zip(*(page.locator(f".scope-tree {tag}").evaluate_all("(all) => all.map((e) => e.textContent)")
                       for tag in ("dt", "dd")), strict=True))
    for name in ("lut_mode", "pwho", "vcsel"):
        value = network.inspect("router", 3).part("registers")[name]
        assert shown[name].strip() == (", ".join(map(str, value)) if isinstance(value, list) else str(value))


@pytest.mark.parametrize(("name", "router"), [("bgl-midplane", 9), ("metro-figure1", 5)])
def test_a_router_is_shown_in_its_machines_terms(page, tmp_path, name, router):
    """The page shows the names and notes of every virtual channel in the last frames; of a large network, only the
    names and notes of the inspected router."""
    network = fl.Network(name, trace=True).step(150)
    twin = fl.Network(name).step(160)
    drawn = range(12) if name == "metro-figure1" else None
    network.view(routers=drawn).inspect(router).step(12).save(tmp_path / "demo.html")
    open_page(page, tmp_path / "demo.html")
    choose(page, router)
    page.keyboard.press("Home")
    for _ in range(10):
        page.keyboard.press("ArrowRight")
    page.wait_for_selector('.flitlab-scope[data-detailed="160"]')
    for cycle in (160, 161, 162):
        page.wait_for_selector(f'.flitlab-scope[data-detailed="{cycle}"]')
        shown = page.evaluate("""() => [...document.querySelectorAll(".scope-ports [data-vc]")].map((row) => [
            row.dataset.vc, row.querySelector(".scope-name").firstChild.textContent,
            row.querySelector(".scope-said")?.textContent ?? ""])""")
        ports = twin.router(router).ports
        assert shown == [[f"{p}.{v}", vc.name, vc.note.split("\n")[0]] for p, port in enumerate(ports)
                         for v, vc in enumerate(port.vcs)]
        assert any(note for *_, note in shown) and all(called for _, called, _ in shown)
        page.keyboard.press("ArrowRight")
        twin.step(1)
    choose(page, router + 1)
    called = page.locator(".scope-name").first.inner_text()
    assert called.startswith("forward") if name == "metro-figure1" else called == "VC 0"


def test_a_deadlock_is_shown_from_its_cycle_on(page, tmp_path):
    ring = {"router.vcs": 1, "routing.vc_assignment": "any", "traffic.load": 1, "router.buffer_flits": 2,
            "traffic.packet_flits": 8}
    path, _ = recorded(tmp_path, fl.load("vc-torus-8x8").set(ring), 0, 100)
    open_page(page, path)
    reported = page.locator(".scope-deadlock")
    assert "wait for one another in a cycle" in reported.inner_text()
    page.locator(".flitlab-scope").focus()
    page.keyboard.press("Home")
    page.wait_for_selector('.flitlab-scope[data-detailed="0"]')
    assert reported.is_hidden()


def test_a_released_connection_is_crossed_out(page, tmp_path):
    """In cycles with a released connection, the drawing and the router's table mark it."""
    exp = fl.load("metro-figure3").set("traffic.load", 0.5)
    path, twin = recorded(tmp_path, exp, 200, 24)
    open_page(page, path)
    page.locator(".flitlab-scope").focus()
    page.keyboard.press("Home")
    seen = set()
    for cycle in range(200, 225):
        page.wait_for_selector(f'.flitlab-scope[data-detailed="{cycle}"]')
        given_up = [r for r in range(64) if any(vc.stage == "discard" for p in twin.router(r).ports for vc in p.vcs)]
        orange = page.evaluate("""() => { const canvas = document.querySelector("canvas");
            const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
            let found = 0;
            for (let i = 0; i < data.length; i += 4)
                found += data[i] === 0xb3 && data[i + 1] === 0x47 && data[i + 2] === 0;
            return found; }""")
        assert (orange > 10) == bool(given_up), cycle
        seen.add(bool(given_up))
        page.keyboard.press("ArrowRight")
        twin.step(1)
    assert seen == {False, True}
    choose(page, 7)  # a router of the first stage, in cycle 224
    assert page.locator(".scope-lost .scope-why").inner_text() == "✗ released: blocked in this router or in a later one"
    assert "1 connection blocked or released." in page.locator(".scope-panel").inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_in_light_and_dark(browser, tmp_path, scheme):
    path, _ = recorded(tmp_path, fl.load("vc-mesh-8x8"), 10, 3)
    page = browser.new_page(color_scheme=scheme)
    open_page(page, path)
    ink, paper = page.evaluate("""() => { const css = getComputedStyle(document.querySelector(".flitlab-scope"));
        return [css.color, css.backgroundColor]; }""")
    bright = [sum(map(int, re.findall(r"\d+", colour)[:3])) for colour in (ink, paper)]
    assert abs(bright[0] - bright[1]) > 500 and (bright[0] > bright[1]) == (scheme == "dark")
    page.close()


def test_a_page_is_one_file_that_names_no_other(tmp_path):
    path, _ = recorded(tmp_path, fl.load("vc-mesh-8x8"), 10, 3)
    text = path.read_text(encoding="utf-8")
    assert not re.findall(r"<[^>]*\s(?:src|href)=|@import|^import\b|\bimport\(|fetch\(", text)
    assert set(re.findall(r"https?://[^\s\"']+", text)) <= {"http://www.w3.org/2000/svg"}
    assert json.dumps(str(tmp_path))[1:-1] not in text


def test_a_page_of_nothing_recorded_has_a_hundred_cycles(page, tmp_path):
    net, path = fl.Network("vc-mesh-8x8").step(50), tmp_path / "demo.html"
    view = net.view()

    def pages_cycles():
        view.save(path)
        open_page(page, path)
        page.evaluate("document.querySelector('.flitlab-scope').focus()")
        last = shown_cycle(page)
        page.keyboard.press("Home")
        return shown_cycle(page), last

    assert pages_cycles() == (50, 150) and net.cycle == 150
    assert pages_cycles() == (50, 150) and net.cycle == 150  # a recording exists
    net.step(30)  # this call bypasses the view, so the recording stays as it is
    assert pages_cycles() == (50, 150) and net.cycle == 180
    untouched = fl.Network("vc-mesh-8x8")
    for nowhere in (None, "", 1):
        with pytest.raises(fl.ConfigError, match=r"save\(.*\): it must be the path of an HTML file"):
            untouched.view().save(nowhere)
    assert untouched.cycle == 0


def test_a_page_that_cannot_be_written_is_refused(tmp_path):
    view = fl.Network("vc-mesh-8x8", trace=True).view()
    with pytest.raises(fl.ConfigError, match="cannot be written"):
        view.save(tmp_path / "nowhere" / "demo.html")


@pytest.mark.parametrize(("following", "back"), [("]", "["), (".", ","), ("n", "p"), ("N", "P")])
def test_routers_are_chosen_by_keys_of_every_keyboard(page, tmp_path, following, back):
    path, _ = recorded(tmp_path, fl.load("vc-mesh-8x8"), 10, 3)
    open_page(page, path)
    page.locator(".flitlab-scope").focus()
    heading = page.locator(".scope-panel h3")
    for key, router in ((following, 0), (following, 1), (following, 2), (back, 1)):
        page.keyboard.press(key)
        assert heading.inner_text().startswith(f"Router {router} ")
    page.keyboard.press("Escape")
    assert "N and P (or . and , or ] and [)" in page.locator(".scope-hint").text_content()


def test_a_bracket_that_needs_a_third_key_is_one(page, tmp_path):
    """The bracket is typed with AltGr, which Windows reports as Ctrl and Alt. A combination with Ctrl alone belongs to
    the browser."""
    path, _ = recorded(tmp_path, fl.load("vc-mesh-8x8"), 10, 3)
    open_page(page, path)
    press = """(third) => document.querySelector(".flitlab-scope").dispatchEvent(new KeyboardEvent("keydown",
        { key: "]", ctrlKey: true, altKey: third, modifierAltGraph: third, bubbles: true }))"""
    page.evaluate(press, False)
    assert not page.locator(".scope-panel h3").count()
    page.evaluate(press, True)
    assert page.locator(".scope-panel h3").inner_text().startswith("Router 0 ")


def test_a_hundred_cycles_back(page, tmp_path):
    path, _ = recorded(tmp_path, fl.load("vc-mesh-8x8"), 10, 130)
    open_page(page, path)
    page.locator(".flitlab-scope").focus()
    for key, cycle in (("PageUp", 40), ("PageUp", 10), ("PageDown", 110)):
        page.keyboard.press(key)
        assert shown_cycle(page) == cycle


@pytest.mark.parametrize(("name", "column"), [("vc-mesh-8x8", "credits out"), ("bgl-figure10", "tokens out"),
                                              ("metro-figure1", None), ("sconnect-protocol", None),
                                              ("bless-mesh-8x8", None), ("sconnect-figure5", None)])
def test_credits_are_shown_where_a_router_has_some(page, tmp_path, name, column):
    path, _ = recorded(tmp_path, fl.load(name), 10, 3)
    open_page(page, path)
    choose(page, 0)
    assert (" messages in its queues" in page.locator(".scope-panel h3").inner_text()) == (name == "sconnect-protocol")
    heads = page.locator(".scope-ports th").all_inner_texts()
    assert heads[5:-1] == ([column] if column else []) and heads[-1] == "in cycle 12"
    rows = page.locator(".scope-ports [data-vc]").evaluate_all("(rows) => rows.map((r) => r.cells.length)")
    assert set(rows) == {len(heads)}
    assert set(page.locator(".scope-port td").evaluate_all("(all) => all.map((e) => e.colSpan)")) == {len(heads)}


def test_a_packet_that_does_nothing_in_the_recording_is_where_it_is(page, tmp_path):
    """The length of a packet that stands still is unknown, and is not shown as 0."""
    ring = {"router.vcs": 1, "routing.vc_assignment": "any", "traffic.load": 1, "router.buffer_flits": 2,
            "traffic.packet_flits": 8}
    path, twin = recorded(tmp_path, fl.load("vc-torus-8x8").set(ring), 400, 3)
    moved = {(e["src"], e["id"]) for e in twin.step(3).events()}
    still = [(r, vc) for r in range(64) for port in twin.router(r).ports for vc in port.vcs
             if vc.src is not None and (vc.src, vc.id) not in moved]
    router, vc = still[0]
    open_page(page, path)
    choose(page, router)
    page.locator(f'.scope-ports [data-packet="{vc.src}#{vc.id}"]').first.click()
    assert page.locator(".scope-panel h3").inner_text() == f"Packet {vc.src}#{vc.id}"
    held = [int(e.get_attribute("data-router")) for e in page.locator(".scope-way [data-router]").all()]
    assert router in held and "since before the recording begins" in page.locator(".scope-way").inner_text()
