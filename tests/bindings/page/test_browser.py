"""The page in Chromium, from disk and from a static server: its display agrees with native networks and runs."""

import functools
import http.server
import re
import threading

import pytest
import wasm_page
from page_in_browser import HASH, change, check_hash, do, draw_curve, open_text, opened, ready, text
from scope_pages import check_buffers, check_cycle, check_winners, choose, mutated, settle

import flitlab as fl

__all__ = ["opened", "text"]  # fixtures

def test_steps_show_the_state_of_a_native_network(opened):
    network = fl.Network("vc-mesh-8x8", trace=True)
    choose(opened, 27)
    for action, cycles in (("step100", 100), ("step10", 10), *[("step1", 1)] * 5):
        network.events()
        network.step(cycles)
        do(opened, action, network.cycle)
        check_cycle(opened, network)
        check_buffers(opened, network, 27)
        check_hash(opened, network)
    check_winners(opened, network.events(), 27)


def test_load_vcs_routing_and_pattern_are_pythons(opened):
    """Each change alone, and all changes together, show a new network with the same seed in the same cycle, equal to
    the one that Python makes."""
    exp, cycle = fl.load("vc-mesh-8x8"), 0
    for path, value, shown in (("traffic.load", 0.37, 0.37), ("router.vcs", 5, 5), ("router.buffer_flits", 3, 3),
                               ("routing.algorithm", "valiant", "valiant"),
                               ("traffic.pattern", "transpose", "transpose"),
                               ("topology.shape", [4, 4], "4x4"), ("topology.kind", "torus", "torus")):
        cycle += 10
        do(opened, "step10", cycle)
        change(opened, path, shown, cycle)
        exp = exp.set(path, value)
        check_hash(opened, fl.Network(exp).step(cycle))
    do(opened, "step100", cycle + 100)
    check_hash(opened, fl.Network(exp).step(cycle + 100))


@pytest.mark.parametrize("name", ["t3e-16", "bgl-figure10", "metro-figure3", "sconnect-protocol", "sconnect-figure5",
                                  "sconnect-figure1", "bless-torus-8x8"])
def test_machines_can_be_chosen_and_looked_into(opened, name):
    opened.select_option("[data-page=network]", name)
    network = fl.Network(name)
    check_hash(opened, network)
    do(opened, "step100", 100)
    check_hash(opened, network.step(100))
    choose(opened, 0)
    opened.wait_for_selector(".scope-tree dt", state="attached")
    shown = opened.evaluate('() => [...document.querySelectorAll(".scope-ports [data-vc]")].map((r) => '
                            '[r.dataset.vc, Number(r.dataset.flits), r.dataset.stage])')
    ports = network.router(0).ports
    assert shown == [[f"{p}.{v}", vc.flits, vc.stage] for p, port in enumerate(ports) for v, vc in enumerate(port.vcs)]
    words = opened.evaluate("""() => [...document.querySelectorAll(".scope-ports [data-vc] .scope-name")].map((cell) =>
        [cell.childNodes[0].textContent, cell.querySelector(".scope-said")?.textContent ?? ""])""")
    assert words == [[vc.name or f"VC {v}", vc.note.split("\n")[0]] for port in ports for v, vc in enumerate(port.vcs)]
    notes = opened.locator(".scope-ports .scope-port").evaluate_all("(rows) => rows.map((r) => r.dataset.note ?? '')")
    assert notes == [port.note for port in ports]


def test_it_plays_and_pauses(opened):
    do(opened, "step100", 100)
    opened.click("[data-do=play]")
    opened.wait_for_function("() => Number(document.querySelector('.flitlab-scope').dataset.cycle) > 105")
    opened.click("[data-do=play]")
    stopped = int(opened.locator(".flitlab-scope").get_attribute("data-cycle"))
    settle(opened, 400)
    assert int(opened.locator(".flitlab-scope").get_attribute("data-cycle")) == stopped
    last = int(opened.locator(".flitlab-scope").get_attribute("data-last"))
    check_hash(opened, fl.Network("vc-mesh-8x8").step(last))


def test_a_packet_can_be_followed(opened):
    do(opened, "step100", 100)
    choose(opened, 27)
    opened.locator(".scope-ports [data-packet], .scope-winners [data-packet]").first.click()
    assert opened.locator(".scope-panel h3").inner_text().startswith("Packet ")
    for _ in range(60):
        opened.keyboard.press("ArrowRight")
        if opened.locator(".scope-panel").get_attribute("data-done") == "true":
            break
    assert opened.locator("rect[data-stage]").count() > 3


def test_many_cycles_run_on_and_can_be_stopped(opened):
    opened.fill("[data-do=cycles]", "30000")
    opened.click("[data-do=run]")
    opened.wait_for_selector('.flitlab-scope[data-cycle="30000"]')
    check_hash(opened, fl.Network("vc-mesh-8x8").step(30000))
    opened.fill("[data-do=cycles]", "1000000000")
    opened.click("[data-do=run]")
    opened.wait_for_function("() => Number(document.querySelector('.flitlab-scope').dataset.cycle) > 40000")
    opened.click("[data-do=run]")
    opened.wait_for_function("() => document.querySelector('progress').hidden")


def check_curve(page, exp, loads):
    points = draw_curve(page, loads[0], loads[-1], round(loads[1] - loads[0], 6))
    assert [float(p["load"]) for p in points] == pytest.approx(loads[:len(points)])
    for point in points:
        result = fl.run(exp.set("traffic.load", float(point["load"])), backend="cpu", threads=1)
        assert point["hash"] == result["state_hash"]
        mean = result["latency_cycles"]["mean"]
        assert point["mean"] == "" if mean is None else float(point["mean"]) == mean
        assert point["saturated"] == str(result["saturated"]).lower()
    return points


def test_a_curve_grows_by_the_points_of_native_runs(opened):
    exp = fl.load("vc-mesh-8x8").set("router.vcs", 2)
    change(opened, "router.vcs", 2)
    points = check_curve(opened, exp, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7])
    assert [p["saturated"] for p in points][-2:] == ["true", "true"] and len(points) < 7  # no points beyond saturation
    assert opened.locator(".page-chart circle").count() == len(points) - 2
    do(opened, "step10", 10)  # running a curve has not changed the network in the scope
    check_hash(opened, fl.Network(exp).step(10))


def test_curves_of_two_configurations_are_distinguished(opened):
    draw_curve(opened, 0.1, 0.1, 0.1)
    change(opened, "router.vcs", 1)
    draw_curve(opened, 0.1, 0.1, 0.1)
    assert opened.locator(".page-points summary").all_inner_texts() == [" router.vcs = 4", " router.vcs = 1"]
    opened.select_option("[data-page=network]", "bless-mesh-8x8")
    check_hash(opened, fl.Network("bless-mesh-8x8"))
    draw_curve(opened, 0.1, 0.1, 0.1)
    assert opened.locator(".page-points summary").all_inner_texts() == [
        " vc-mesh-8x8, router.vcs = 4", " vc-mesh-8x8, router.vcs = 1", " bless-mesh-8x8"]
    opened.click("[data-do=clear]")
    assert opened.locator(".page-points summary").count() == 0


def test_the_page_answers_while_a_curve_runs(opened):
    """A worker simulates a long point of a curve; meanwhile the network in the scope responds."""
    opened.fill("[data-page=text]", "[topology]\nkind = 'mesh'\nshape = [16, 16]\n[run]\nmeasure_cycles = 4_000_000\n")
    opened.click("[data-page=apply]")
    network = fl.Network({"topology.kind": "mesh", "topology.shape": [16, 16], "run.measure_cycles": 4_000_000})
    check_hash(opened, network)
    opened.click("[data-do=curve]")
    opened.wait_for_function("() => /load 0.05: cycle [1-9]/.test(document.body.textContent)")
    do(opened, "step10", 10)
    check_hash(opened, network.step(10))
    opened.click("[data-do=curve]")
    assert opened.locator("[data-do=curve]").inner_text() == "draw the curve"


MUTANTS = {
    "cycle": ("`cycle ${cycle}`", "`cycle ${cycle + 1}`"),
    "hash": ("show_hash({ cycle, hash, of }) {", "show_hash({ cycle, hash, of }) { hash = hash.replace(/./, 'x');"),
    "load of a point": ('"traffic.load": load }', '"traffic.load": load + 0.01 }'),
}


@pytest.mark.parametrize("mutant", MUTANTS.values(), ids=MUTANTS)
def test_a_modified_page_is_detected(page, text, tmp_path, mutant):
    open_text(page, mutated(text, mutant), tmp_path)
    network = fl.Network("vc-mesh-8x8").step(10)
    with pytest.raises(AssertionError):
        do(page, "step10", 10)
        check_cycle(page, network)
        page.wait_for_function(f"() => Number(document.querySelector('{HASH}').dataset.cycle) >= 10")
        shown = page.locator(HASH)
        assert (shown.get_attribute("data-cycle"), shown.get_attribute("data-hash")) == ("10", network.state_hash)
        check_curve(page, fl.load("vc-mesh-8x8"), [0.1, 0.2])


def refusal(exp, **changes):
    with pytest.raises(fl.ConfigError) as error:
        exp.set(changes).derived()
    return str(error.value)


def test_bad_input_gets_the_cores_own_message(opened):
    """A torus needs two virtual channels."""
    change(opened, "topology.kind", "torus")
    exp = fl.load("vc-mesh-8x8").set("topology.kind", "torus")
    do(opened, "step10", 10)
    for path, shown, message_text in (("router.vcs", 1, refusal(exp, **{"router.vcs": 1})),
                                      ("traffic.pattern", "matrix", None), ("topology.shape", "8x8x", None)):
        control = opened.locator(f'[data-setting="{path}"]')
        before = control.input_value()
        if path == "traffic.pattern":
            control.select_option(shown)
        else:
            control.evaluate("(e, v) => { e.value = v; e.dispatchEvent(new Event('change')); }", str(shown))
        opened.wait_for_function("(path) => document.querySelector('.scope-note').textContent.includes(path)", arg=path)
        if message_text:
            assert message_text in opened.locator(".scope-note").inner_text()
        assert control.input_value() == before  # the value that the network still uses
    do(opened, "step1", 11)
    check_hash(opened, fl.Network(exp).step(11))


@pytest.mark.parametrize(("lines", "message_text"), [
    ("[traffic]\nlod = 0.2", "traffic.lod"), ("[traffic]\nload = ", "line 2"), ("[topology]\nshape = [8,\n8", "line 2"),
    ("[router]\nvcs = 2\nvcs = 3", "twice"), ("[router]\nvcs = 1.5", "router.vcs = 1.5"), ("load = @", "line 1")])
def test_a_text_that_is_wrong_is_refused(opened, lines, message_text):
    opened.fill("[data-page=text]", lines)
    opened.click("[data-page=apply]")
    opened.wait_for_function("(text) => document.querySelector('.page-status').textContent.includes(text)",
                             arg=message_text)
    do(opened, "step10", 10)
    check_hash(opened, fl.Network("vc-mesh-8x8").step(10))


def test_shipped_files_can_be_pasted(opened):
    for name in ("t3e-64", "bless-mesh-8x8", "sconnect-priority", "bgl-faults", "metro-faults"):
        opened.fill("[data-page=text]", (wasm_page.ROOT / "configs" / f"{name}.toml").read_text(encoding="utf-8"))
        opened.click("[data-page=apply]")
        check_hash_text(opened, fl.Network(name).state_hash)


def test_a_changed_text_has_no_shipped_name(opened):
    """A text equal to a shipped file gets the file's name and its data files again."""
    chosen, about = opened.locator("[data-page=network]"), opened.locator(".scope-about")
    wiring = (wasm_page.ROOT / "configs" / "metro-wiring.toml").read_text(encoding="utf-8")
    for name, written in (("your own", "[topology]\nkind = 'torus'\nshape = [4, 4]\n"), ("metro-wiring", wiring)):
        opened.fill("[data-page=text]", written)
        opened.click("[data-page=apply]")
        opened.wait_for_function("(n) => document.querySelector('.scope-about').textContent.includes(n)", arg=name)
        assert chosen.input_value() == name and about.inner_text().startswith(f"Experiment {name}: ")
    opened.click("[data-page=apply]")  # unchanged
    check_hash(opened, fl.Network("metro-wiring"))
    assert chosen.input_value() == "metro-wiring"


def check_hash_text(page, state_hash):
    page.wait_for_function("(h) => document.querySelector('[data-page=hash]').dataset.hash === h", arg=state_hash)


@pytest.mark.parametrize("loads", [("0.5", "0.1", "0.1"), ("0.1", "0.5", "0"), ("0", "1", "0.001")])
def test_loads_that_lead_nowhere_are_refused(opened, loads):
    assert draw_curve(opened, *loads) == []
    assert "the loads must increase" in opened.locator("[data-page=curves] .page-status").inner_text()


def test_the_page_works_from_a_static_server(browser, text, tmp_path):
    (tmp_path / "index.html").write_text(text, encoding="utf-8")
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=tmp_path)
    handler.log_message = lambda *_: None
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page = browser.new_page(reduced_motion="reduce")
        page.goto(f"http://127.0.0.1:{server.server_port}/")
        do(ready(page), "step10", 10)
        check_hash(page, fl.Network("vc-mesh-8x8").step(10))
        page.close()
        server.shutdown()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_in_light_and_dark(browser, text, tmp_path, scheme):
    page = browser.new_page(color_scheme=scheme)
    open_text(page, text, tmp_path)
    for place in (".flitlab-page", ".flitlab-scope", "[data-page=curves] button"):
        ink, paper = page.locator(place).first.evaluate(
            "(e) => [getComputedStyle(e).color, getComputedStyle(e).backgroundColor]")
        bright = [sum(map(int, re.findall(r"\d+", colour)[:3])) for colour in (ink, paper)]
        assert abs(bright[0] - bright[1]) > 450 and (bright[0] > bright[1]) == (scheme == "dark")
    page.close()


def test_the_page_names_no_other_file_and_is_small(text):
    assert not re.findall(r"<[^>]*\s(?:src|href)=[\"'][^\"'#]", text.partition('id="configs"')[0])
    assert len(text) < 10e6


@pytest.mark.parametrize("link", ["", "#figure=zero-load"], ids=["plain", "figure"])
def test_terms_of_curves_are_explained_by_keyboard(page, text, tmp_path, link):
    (tmp_path / "page.html").write_text(text, encoding="utf-8")
    page.goto((tmp_path / "page.html").as_uri() + link)
    page.wait_for_selector(".flitlab-scope[data-detailed]")
    terms = page.locator("[data-page=curves] > details")
    assert terms.get_attribute("open") is None
    terms.locator("summary").focus()
    page.keyboard.press("Enter")
    explained = dict(zip(terms.locator("dt").all_inner_texts(), terms.locator("dd").all_inner_texts(), strict=True))
    assert "at the same time" in explained["workers"] and explained["p99"].startswith("99 % of the packets")
    assert page.locator("label", has_text="workers").get_attribute("title") == explained["workers"]
    page.fill("[data-curve=from]", "0.1")
    page.fill("[data-curve=to]", "0.1")
    page.click("[data-do=curve]")
    page.wait_for_selector("tr[data-load]", state="attached")
    assert "99 %" in page.locator(".page-points th", has_text="p99").get_attribute("title")
