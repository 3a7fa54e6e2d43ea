"""The page when it opens, after a reload, its downloads, its workers and its layout."""

import io
import xml.etree.ElementTree as ElementTree

import matplotlib.image
import pytest
import website
from page_in_browser import change, check_hash, do, draw_curve, open_text, opened, ready, text
from scope_pages import choose, mutated

import flitlab as fl
from flitlab.scope.lone import lone_path
from flitlab.toml import parse_toml

__all__ = ["opened", "text"]  # fixtures

SIZES = [(1366, 768), (1024, 576), (390, 844)]
SLIDERS = ["traffic.load", "router.vcs", "router.buffer_flits"]
POINTS = "() => [...document.querySelectorAll('tr[data-load]')].map((r) => ({ ...r.dataset }))"


def written(text, folder):
    path = folder / "page.html"
    path.write_text(text, encoding="utf-8")
    return path.as_uri()


def wait_for_motion(page, cycle=5):
    page.wait_for_function("(c) => Number(document.querySelector('.flitlab-scope')?.dataset.cycle) > c", arg=cycle)


def sliders(page):
    return page.locator("[data-page=sliders] input").evaluate_all("(all) => all.map((e) => e.dataset.setting)")


# What it opens with.


def test_a_mesh_moves_below_three_sliders(page, text, tmp_path):
    page.emulate_media(reduced_motion="no-preference")
    page.goto(written(text, tmp_path))
    wait_for_motion(page)
    assert page.locator("[data-page=network]").input_value() == "vc-mesh-8x8"
    assert sliders(page) == SLIDERS
    assert page.locator(".page-folds details[open]").count() == 0
    values = page.locator("[data-page=sliders] output").all_inner_texts()
    assert [value.split()[0] for value in values] == ["0.2", "4", "8"]


def test_it_opens_from_the_documentation_of_the_site(page, text, tmp_path):
    first = tmp_path / "site" / website.DOCS
    first.parent.mkdir(parents=True)
    first.write_text('<a href="../../page.html">Open it</a>', encoding="utf-8")
    written(text, tmp_path)
    website.assemble(tmp_path / "site", tmp_path / "page.html")
    page.emulate_media(reduced_motion="no-preference")
    page.goto(first.as_uri())
    page.click("text=Open it")
    wait_for_motion(page)


def test_a_slider_changes_the_network_which_goes_on_moving(page, text, tmp_path):
    page.emulate_media(reduced_motion="no-preference")
    page.goto(written(text, tmp_path))
    wait_for_motion(page)
    slider = page.locator('[data-setting="router.vcs"]')
    slider.focus()
    page.keyboard.press("ArrowLeft")
    page.wait_for_function("() => /vcs = 3/.test(document.querySelector('[data-page=text]').value)")
    wait_for_motion(page)
    assert page.locator(".flitlab-scope").get_attribute("data-playing") == "true"
    page.click("[data-do=play]")
    last = int(page.locator(".flitlab-scope").get_attribute("data-last"))
    check_hash(page, fl.Network(fl.load("vc-mesh-8x8").set("router.vcs", 3)).step(last))


def test_it_does_not_move_if_the_reader_prefers_so(opened):
    assert opened.locator(".flitlab-scope").get_attribute("data-playing") == "false"


def test_sliders_are_those_of_the_router(opened):
    opened.select_option("[data-page=network]", "bless-mesh-8x8")
    check_hash(opened, fl.Network("bless-mesh-8x8"))
    assert sliders(opened) == ["traffic.load"]
    assert opened.locator("[data-setting]").evaluate_all(
        "(all) => all.length === new Set(all.map((e) => e.dataset.setting)).size")  # no parameter has two controls


def test_the_slider_of_virtual_channels_ends_at_the_parameters_maximum(opened):
    (record,) = [r for r in fl._core.parameters() if r["path"] == "router.vcs"]
    assert int(opened.locator('[data-setting="router.vcs"]').get_attribute("max")) == record["max"]


@pytest.mark.parametrize(("wide", "high"), SIZES)
def test_the_moving_network_is_on_the_first_screen(browser, text, tmp_path, wide, high):
    """At least half of it; curves are beside it if the window is wide. Nothing is wider than the window."""
    page = browser.new_page(viewport={"width": wide, "height": high})
    page.goto(written(text, tmp_path))
    wait_for_motion(page, 1)
    canvas, curves, sliders = (page.locator(name).first.bounding_box() for name in (
        ".scope-network", "[data-page=curves]", "[data-page=sliders]"))
    assert canvas["y"] + canvas["height"] / 2 < high and sliders["y"] < canvas["y"]
    assert page.evaluate("() => document.documentElement.scrollWidth") <= wide
    beside = curves["x"] >= canvas["x"] + canvas["width"] and curves["y"] < canvas["y"]
    assert beside == (wide > 1100)
    page.close()


@pytest.mark.parametrize("link", ["", "#figure=zero-load"], ids=["plain", "figure"])
@pytest.mark.parametrize(("wide", "high"), [(1366, 768), (1280, 720), (1024, 576)])
def test_panel_and_chart_are_on_the_first_screen_too(browser, text, tmp_path, wide, high, link):
    """Network, controls, the head of the panel, and the top of a plot; in a wide window, of the chart of curves."""
    page = browser.new_page(viewport={"width": wide, "height": high}, reduced_motion="reduce")
    page.set_default_timeout(600_000)
    page.goto(written(text, tmp_path) + link)
    page.wait_for_selector(".flitlab-scope[data-detailed]")
    if link:
        page.wait_for_selector(".page-lesson h3")
    choose(page, 27)
    page.evaluate("() => scrollTo(0, 0)")

    def box(name):
        return page.locator(name).first.bounding_box()

    for name in (".scope-network", ".scope-bar-of-controls", ".scope-time", ".scope-panel h3"):
        assert box(name)["y"] + box(name)["height"] <= high, name
    assert box(".scope-network")["height"] >= 0.4 * high and box(".scope-network")["width"] >= 340
    side = box(".scope-side")
    assert side["x"] + side["width"] <= wide and box(".scope-panel h3")["x"] > box(".scope-network")["x"] + 340
    if wide > 1100:
        assert box(".page-chart")["y"] + 100 <= high
    page.close()


def test_a_selected_router_that_a_smaller_network_lacks_is_deselected(opened):
    choose(opened, 63)
    assert opened.locator(".scope-panel h3").inner_text().startswith("Router 63 ")
    change(opened, "topology.shape", "4x4")
    check_hash(opened, fl.Network(fl.load("vc-mesh-8x8").set("topology.shape", [4, 4])))
    assert not opened.locator(".scope-panel h3").count()
    do(opened, "step1", 1)


# What a reload keeps.


def test_a_reload_keeps_network_and_curves(opened):
    change(opened, "router.vcs", 2)
    change(opened, "routing.algorithm", "valiant")
    points = draw_curve(opened, 0.05, 0.1, 0.05)
    opened.reload()
    ready(opened)
    check_hash(opened, fl.Network(fl.load("vc-mesh-8x8").set({"router.vcs": 2, "routing.algorithm": "valiant"})))
    assert opened.evaluate(POINTS) == points and len(points) == 2
    assert opened.locator('[data-setting="router.vcs"]').input_value() == "2"
    assert [opened.locator(f"[data-curve={name}]").input_value() for name in ("from", "to", "step")] == [
        "0.05", "0.1", "0.05"]
    opened.reload()  # a second reload finds the same curves
    ready(opened)
    assert opened.evaluate(POINTS) == points
    opened.click("[data-do=clear]")
    opened.select_option("[data-page=network]", "vc-mesh-8x8")
    check_hash(opened, fl.Network("vc-mesh-8x8"))
    opened.reload()
    check_hash(ready(opened), fl.Network("vc-mesh-8x8"))
    assert opened.evaluate(POINTS) == []


def test_a_link_is_not_kept(opened):
    """A reload without the link shows the reader's own network again."""
    change(opened, "router.vcs", 2)
    opened.evaluate("() => { location.hash = '#config=t3e-16'; }")
    check_hash(opened, fl.Network("t3e-16"))
    opened.evaluate("() => history.replaceState(null, '', location.href.split('#')[0])")
    opened.reload()
    check_hash(ready(opened), fl.Network(fl.load("vc-mesh-8x8").set("router.vcs", 2)))


@pytest.mark.parametrize("kept", [
    "{", "null", "3", '{"format":2,"given":3}', '{"format":1,"given":{"config":{"router.vcs":0},"texts":{}}}'])
def test_what_is_kept_may_be_of_another_version(opened, kept):
    opened.evaluate("(text) => localStorage.setItem('flitlab-page', text)", kept)
    opened.reload()
    do(ready(opened), "step1", 1)
    check_hash(opened, fl.Network("vc-mesh-8x8").step(1))


def test_curves_of_another_version_are_not_kept(opened):
    draw_curve(opened, 0.1, 0.1, 0.1)
    opened.evaluate("""() => localStorage.setItem('flitlab-page', localStorage.getItem('flitlab-page')
        .replace(/"flitlab":"[^"]*"/, '"flitlab":"0.0.1"'))""")
    opened.reload()
    ready(opened)
    opened.wait_for_function("() => document.querySelector('[data-curve=to]').value === '0.1'")
    assert opened.evaluate(POINTS) == []


def test_a_browser_that_keeps_nothing_shows_the_page(page, text, tmp_path):
    private = "{ get: () => { throw new Error('private'); } }"
    page.add_init_script(f"Object.defineProperty(window, 'localStorage', {private})")
    open_text(page, text, tmp_path)
    change(page, "router.vcs", 2)
    assert len(draw_curve(page, 0.1, 0.1, 0.1)) == 1
    check_hash(page, fl.Network(fl.load("vc-mesh-8x8").set("router.vcs", 2)))


# Downloads.


def downloaded(page, button, folder):
    with page.expect_download() as download:
        page.click(button)
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def test_the_points_are_a_table_that_python_reads(opened, tmp_path):
    draw_curve(opened, 0.1, 0.9, 0.4)
    path = downloaded(opened, "[data-do=csv]", tmp_path)
    loads = [0.1, 0.5, 0.9]
    swept = fl.sweep("vc-mesh-8x8", {"traffic.load": loads}, backend="cpu", progress=False)
    read = fl.Curve.read(path)
    assert read.csv_text() == swept.csv_text() and len(read.rows) == 3
    change(opened, "router.vcs", 2)
    draw_curve(opened, 0.1, 0.1, 0.1)
    read = fl.Curve.read(downloaded(opened, "[data-do=csv]", tmp_path))
    assert [(row["traffic.load"], row["router.vcs"]) for row in read.rows] == [*((load, 4) for load in loads), (0.1, 2)]


def test_the_chart_is_an_svg_and_a_png(opened, tmp_path):
    draw_curve(opened, 0.1, 0.3, 0.1)
    change(opened, "router.vcs", 2)
    draw_curve(opened, 0.1, 0.2, 0.1)
    root = ElementTree.parse(downloaded(opened, "[data-do=svg]", tmp_path)).getroot()
    svg = "{http://www.w3.org/2000/svg}"
    assert root.tag == f"{svg}svg" and len(root.findall(f".//{svg}circle")) == 5
    assert {"router.vcs = 4", "router.vcs = 2", "latency (cycles)"} <= {part.text for part in root.iter(f"{svg}text")}
    width, height = (int(root.get(name)) for name in ("width", "height"))
    image = matplotlib.image.imread(io.BytesIO(downloaded(opened, "[data-do=png]", tmp_path).read_bytes()))
    assert image.shape[:2] == (3 * height, 3 * width)
    colours = {tuple(int(255 * part) for part in pixel[:3]) for pixel in image[::2, ::2].reshape(-1, image.shape[2])}
    assert {(255, 255, 255), (0, 0x72, 0xB2), (0xD5, 0x5E, 0)} <= colours


@pytest.mark.parametrize("name", ["vc-mesh-8x8", "metro-wiring"])
def test_the_configuration_is_a_file(opened, tmp_path, name):
    opened.select_option("[data-page=network]", name)
    check_hash(opened, fl.Network(name))
    if name == "metro-wiring":  # with a file that it names
        with opened.expect_download(lambda d: d.suggested_filename.endswith(".csv")) as file:
            path = downloaded(opened, "[data-page=save]", tmp_path)
        file.value.save_as(tmp_path / file.value.suggested_filename)
    else:
        path = downloaded(opened, "[data-page=save]", tmp_path)
        assert parse_toml(path.read_text(), path.name)["router"]["vcs"] == 4
    assert path.name == f"{name}.toml"
    assert fl.Network(fl.load(path)).step(50).state_hash == fl.Network(name).step(50).state_hash


# Several workers.


def test_several_workers_give_the_points_of_one(opened):
    """Also where the curve ends: workers run points beyond saturation, which are left out."""
    change(opened, "router.vcs", 1)
    curves = []
    for workers in (1, 3):
        opened.click("[data-do=clear]")
        opened.fill("[data-curve=workers]", str(workers))
        curves.append(draw_curve(opened, 0.1, 0.9, 0.1))
        assert "higher loads are skipped" in opened.locator("#curves .page-status").inner_text()
    assert curves[0] == curves[1] and [p["saturated"] for p in curves[0]][-2:] == ["true", "true"]


def test_a_number_of_workers_has_limits(opened):
    opened.fill("[data-curve=workers]", "9")
    assert draw_curve(opened, 0.1, 0.1, 0.1) == []
    assert "workers = 9: it must be 1 to 4." in opened.locator("#curves .page-status").inner_text()


def test_points_beyond_saturation_are_detected(page, text, tmp_path):
    mutant = ("run.end = second + 1;", "run.end = run.next;")
    open_text(page, mutated(text, mutant), tmp_path)
    with pytest.raises(AssertionError):
        test_several_workers_give_the_points_of_one(page)


def test_the_path_with_another_routing_algorithm_is_pythons(opened):
    do(opened, "step100", 100)
    choose(opened, 27)
    opened.locator(".scope-panel .scope-packet").first.click()
    src, identity = map(int, opened.locator(".scope-panel").get_attribute("data-packet").split("#"))
    network = fl.Network("vc-mesh-8x8", trace=True).step(100)
    dst = next(e["dst"] for e in network.events() if (e["kind"], e["src"], e["id"]) == ("created", src, identity))
    opened.select_option("[data-do=other_path]", "valiant")
    opened.wait_for_function("() => /Dashed: /.test(document.querySelector('.scope-note').textContent)")
    hops = lone_path(network, "valiant", src, dst)
    assert f"valiant, alone in the network: {len(hops) - 1} channel" in opened.locator(".scope-note").inner_text()
    opened.select_option("[data-do=other_path]", "nearest_common_ancestor")
    opened.wait_for_function("() => /routing.algorithm/.test(document.querySelector('.scope-note').textContent)")
