"""The textbook in the page: figures open in their cycle, and curves and answers are Python's."""

import json
import re
import subprocess

import pytest
import wasm_page
from page_in_browser import check_hash, opened, text
from playwright.sync_api import TimeoutError
from scope_pages import mutated, shown_cycle

import flitlab as fl
from flitlab import textbook

__all__ = ["opened", "text"]  # fixtures

FIGURES = [figure for chapter in textbook.chapters() for figure in chapter.figures]
FIRST = FIGURES[0]
CONFIGURATIONS = wasm_page.configurations()
SOLVE = """
const fs = require("fs");
eval(fs.readFileSync(process.argv[2], "utf8") + ";globalThis.value_of_answer = value_of_answer;");
const given = JSON.parse(fs.readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(given.map(([answer, results]) => value_of_answer(answer, results))));
"""


def open_figure(page, text, folder, name, query=""):
    path = folder / "page.html"
    path.write_text(text, encoding="utf-8")
    page.goto(f"{path.as_uri()}{query}#figure={name}")
    return shown(page, name)


def shown(page, name):
    page.wait_for_function("(name) => document.querySelector('[data-page=figure]').value === name", arg=name)
    page.wait_for_selector(f'.flitlab-scope[data-detailed="{textbook.figure(name).cycle}"]')
    return page


def answer(page, number):
    page.fill("[data-page=lesson] input", str(number))
    page.click("[data-do=check]")
    page.wait_for_selector(".page-verdict[data-right]")
    return page.locator(".page-verdict").inner_text()


def values_in_node(folder, expressions, results):
    (folder / "solve.js").write_text(SOLVE, encoding="utf-8")
    given = json.dumps(list(zip(expressions, results, strict=True)))
    done = subprocess.run(["node", folder / "solve.js", wasm_page.ROOT / "bindings/page/js/book.js"], input=given,
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_runs_and_answers_are_those_of_python(tmp_path):
    """The runs of one exercise of each chapter, in Node: the same state hashes, and the same answers."""
    wasm_page.needs_core()
    figures = [chapter.figures[-1] for chapter in textbook.chapters()]
    messages = [{"do": "point", "config": {path: value for path, value in
                                           {**CONFIGURATIONS[f.network]["config"], **f.set, **changes}.items()
                                           if value != ""},
                 "texts": CONFIGURATIONS[f.network]["texts"]} for f in figures for changes in f.runs.values()]
    points = iter(wasm_page.answers(messages, tmp_path))
    native = [figure.results() for figure in figures]
    found = [{name: next(points) for name in results} for results in native]
    assert [{name: r["state_hash"] for name, r in results.items()} for results in found] == \
           [{name: r.state_hash for name, r in results.items()} for results in native]
    assert values_in_node(tmp_path, [f.answer for f in figures], found) == \
        pytest.approx([f.solve(r) for f, r in zip(figures, native, strict=True)])


class Invented:
    """Results of runs with invented numbers for all names in an expression."""

    def __init__(self, expression, run):
        self.values = {}
        for k, path in enumerate(re.findall(rf"\b{run}\.([\w.]+)", expression)):
            *parts, last = path.split(".")
            place = self.values
            for part in parts:
                place = place.setdefault(part, {})
            place[last] = 1.5 + k + len(path) / 7 + len(run)

    def to_dict(self):
        return self.values


def test_expressions_have_pythons_values(tmp_path):
    """The expressions of all answers."""
    results = [{run: Invented(f.answer, run) for run in f.runs} for f in FIGURES]
    found = values_in_node(tmp_path, [f.answer for f in FIGURES],
                           [{run: r.values for run, r in named.items()} for named in results])
    assert found == pytest.approx([f.solve(named) for f, named in zip(FIGURES, results, strict=True)])


def check_first(page):
    """The figure's network in its cycle, at rest, with its question."""
    assert page.locator("[data-page=question] h2").inner_text() == FIRST.title
    assert FIRST.question in page.locator("[data-page=question]").inner_text()
    assert shown_cycle(page) == FIRST.cycle
    check_hash(page, fl.Network(FIRST.experiment).step(FIRST.cycle))


MUTANTS = {
    "a figure without its changes": ("figure?.set), texts", "{}), texts"),
    "the first cycle": ("`${figure?.cycle ?? 0}`", '"0"'),
    "another question": ("${figure.question} (Answer", "${figure.notice} (Answer"),
}


def test_a_link_opens_a_figure(page, text, tmp_path):
    open_figure(page, text, tmp_path, FIRST.name)
    check_first(page)
    assert page.locator(".page-notice").get_attribute("open") is None  # the reader answers first
    assert "In the picture: 4 flits, at a load of 0.02." in page.locator("[data-page=lesson]").inner_text()
    terms = page.locator(".page-terms").evaluate("(e) => [...e.querySelectorAll('dt')].map((t) => t.textContent)")
    assert {"flit", "credit", "virtual channel (VC)"} <= set(terms)
    page.click("[data-do=step1]")
    page.wait_for_selector(f'.flitlab-scope[data-detailed="{FIRST.cycle + 1}"]')


@pytest.mark.parametrize("mutant", MUTANTS.values(), ids=MUTANTS)
def test_a_modified_book_is_detected(page, text, tmp_path, mutant):
    page.set_default_timeout(20_000)
    with pytest.raises((AssertionError, TimeoutError)):
        check_first(open_figure(page, mutated(text, mutant), tmp_path, FIRST.name))


def test_the_exercise_is_checked(page, text, tmp_path):
    open_figure(page, text, tmp_path, FIRST.name)
    page.click("[data-do=check]")
    assert page.locator(".page-verdict").inner_text().startswith("The answer must be a number")
    wrong = FIRST.solve() * (1 + 1.1 * FIRST.within)
    assert answer(page, wrong) == f"{FIRST.check(wrong)} show the solution"
    page.click("[data-do=solution]")
    assert page.locator(".page-verdict").inner_text() == FIRST.check(FIRST.by_hand).removeprefix("Right: ")
    assert page.locator(".page-verdict").get_attribute("data-right") is None
    assert answer(page, FIRST.by_hand) == FIRST.check(FIRST.by_hand)
    assert page.locator(".page-verdict").get_attribute("data-right") == "true"


def test_curves_are_those_of_python(page, text, tmp_path):
    open_figure(page, text, tmp_path, FIRST.name)
    page.click("[data-do=figure-curves]")
    page.wait_for_function("() => document.querySelector('[data-do=curve]').textContent === 'draw the curve'")
    rows = page.locator("tr[data-load]").evaluate_all("(rows) => rows.map((r) => ({ ...r.dataset }))")
    frames = [curve.frame for curve in FIRST.sweeps().values()]
    expected = [(load, key) for f in frames for load, key in zip(f["traffic.load"], f.state_hash, strict=True)]
    found = [(float(r["load"]), r["hash"]) for r in rows]
    assert found == [point for point in expected if point in found] and len(found) > len(expected) / 2
    labels = page.locator(".page-points summary").all_inner_texts()
    assert [label.strip() for label in labels] == list(FIRST.curves)


def test_a_panel_of_accepted_loads(page, text, tmp_path):
    figure = next(f for f in FIGURES if f.panel == "accepted")
    open_figure(page, text, tmp_path, figure.name)
    page.click("[data-do=figure-curves]")
    page.wait_for_function("() => document.querySelector('[data-do=curve]').textContent === 'draw the curve'")
    assert "accepted load (flits/cycle/terminal)" in page.locator(".page-chart svg").text_content()
    assert page.locator("tr[data-load]").count() == len(figure.loads) * max(1, len(figure.curves))
    assert page.locator(".page-chart circle, .page-chart path[fill=none][stroke-width='1.6']").count() > 0


def test_figures_in_turn(opened):
    page = opened
    page.click("[data-page=next]")
    shown(page, FIRST.name)
    page.click("[data-page=previous]")
    shown(page, FIGURES[-1].name)
    page.select_option("[data-page=network]", "vc-torus-8x8")
    page.wait_for_selector('.flitlab-scope[data-detailed="0"]')
    assert page.locator("[data-page=question]").inner_text() == ""
    page.evaluate("() => { location.hash = '#figure=none'; }")
    page.wait_for_function("() => /figure=none: the textbook/.test(document.querySelector('.page-status').textContent)")


def test_every_figure_opens(opened):
    page = opened
    for figure in FIGURES:
        page.select_option("[data-page=figure]", figure.name)
        shown(page, figure.name)
        page.wait_for_function("() => document.querySelector('.page-status').textContent === ''")
        assert page.evaluate("() => location.hash") == f"#figure={figure.name}"
        assert shown_cycle(page) == figure.cycle
        assert page.locator(".page-python pre").text_content() == figure.python


def test_a_figure_in_a_frame(page, text, tmp_path):
    """In the documentation, a frame shows the network, the exercise and the curves; the text is around it."""
    open_figure(page, text, tmp_path, FIRST.name, "?embed")
    assert page.locator(".scope-network").is_visible()
    assert page.locator("[data-do=figure-curves]").is_visible()
    for hidden in ("header", "[data-page=question]", ".page-notice", ".page-foot", "[data-page=network]"):
        assert not page.locator(f"main {hidden}").first.is_visible(), hidden


def ready_to_draw(page):
    page.wait_for_function("() => document.querySelector('[data-do=curve]').textContent === 'draw the curve'")


def labels(page):
    return [text.strip() for text in page.locator(".page-points summary").all_inner_texts()]


def test_a_link_changes_the_picture_and_not_the_exercise(page, text, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(text, encoding="utf-8")
    fragment = f"#figure={FIRST.name}&traffic.load=0.3&traffic.packet_flits=8&cycle=30"
    page.goto(path.as_uri() + fragment)
    page.wait_for_selector('.flitlab-scope[data-detailed="30"]')
    changed = FIRST.experiment.set({"traffic.load": 0.3, "traffic.packet_flits": 8})
    check_hash(page, fl.Network(changed).step(30))
    assert page.evaluate("() => location.hash") == fragment
    assert "In the picture: 8 flits, at a load of 0.3." in page.locator("[data-page=lesson]").inner_text()
    assert answer(page, FIRST.by_hand) == FIRST.check(FIRST.by_hand)
    page.click("[data-page=share]")
    page.wait_for_function("() => document.querySelector('[data-page=link]').value.includes('#')")
    link = page.locator("[data-page=link]").input_value()
    assert f"#figure={FIRST.name}&" in link and "traffic.load=0.3" in link and "config=" not in link
    page.goto("about:blank")
    page.goto(link)
    page.wait_for_selector("[data-page=linked][data-same=true]")
    assert page.locator("[data-page=question] h2").inner_text() == FIRST.title


def test_a_slider_in_a_figure_keeps_the_figure_over_a_reload(page, text, tmp_path):
    open_figure(page, text, tmp_path, FIRST.name)
    page.locator('[data-setting="traffic.load"]').first.evaluate(
        "(e) => { e.value = 0.4; e.dispatchEvent(new Event('change')); }")
    page.wait_for_function("() => /at a load of 0.4/.test(document.querySelector('[data-page=lesson]').textContent)")
    assert page.evaluate("() => location.hash") == f"#figure={FIRST.name}"
    page.evaluate("() => { location.hash = '#figure=none'; }")
    page.wait_for_function("() => /figure=none: the textbook/.test(document.querySelector('.page-status').textContent)")
    assert page.evaluate("() => location.hash") == f"#figure={FIRST.name}"
    page.reload()
    shown(page, FIRST.name)


def test_curves_stay_with_their_figure(page, text, tmp_path):
    """A point opens the figure's network at the end of its run; another figure removes the curves."""
    open_figure(page, text, tmp_path, FIRST.name)
    page.fill("[data-curve=workers]", "9")
    page.click("[data-do=figure-curves]")
    assert "workers = 9" in page.locator("[data-page=curves] .page-status").inner_text()
    page.fill("[data-curve=workers]", "2")
    page.click("[data-do=figure-curves]")
    ready_to_draw(page)
    assert labels(page) == list(FIRST.curves)
    link = page.locator("tr[data-load] a").first.evaluate("(a) => a.getAttribute('href')")
    assert link.startswith(f"#figure={FIRST.name}&") and "hash=" in link
    page.evaluate("(link) => { location.hash = link; }", link)
    page.wait_for_selector("[data-page=linked][data-same=true]")
    assert labels(page) == list(FIRST.curves)
    page.reload()
    page.wait_for_selector("[data-page=linked][data-same=true]")
    assert labels(page) == list(FIRST.curves)
    for _ in range(2):  # faster than the figures open
        page.click("[data-page=next]", no_wait_after=True)
    shown(page, FIGURES[2].name)
    assert labels(page) == []


def test_a_network_of_its_own_ends_the_curves_of_a_figure(page, text, tmp_path):
    open_figure(page, text, tmp_path, FIRST.name)
    page.click("[data-do=figure-curves]")
    page.select_option("[data-page=network]", "vc-torus-8x8")
    page.wait_for_selector('.flitlab-scope[data-detailed="0"]')
    ready_to_draw(page)
    assert labels(page) == []
    page.fill("[data-curve=step]", "0")
    page.click("[data-do=curve]")
    assert "the loads must increase" in page.locator("[data-page=curves] .page-status").inner_text()


def test_frames_keep_nothing(page, text, tmp_path):
    open_figure(page, text, tmp_path, FIRST.name, "?embed")
    page.locator('[data-setting="traffic.load"]').first.evaluate(
        "(e) => { e.value = 0.4; e.dispatchEvent(new Event('change')); }")
    page.wait_for_function("() => /at a load of 0.4/.test(document.querySelector('[data-page=lesson]').textContent)")
    assert page.evaluate("() => localStorage.length") == 0


def test_a_frame_starts_when_it_is_in_view(page, text, tmp_path):
    (tmp_path / "page.html").write_text(text, encoding="utf-8")
    frame = '<iframe src="page.html?embed#figure={}" style="width: 900px; height: 640px"></iframe>'
    (tmp_path / "chapter.html").write_text(frame.format(FIRST.name) + '<div style="height: 4000px"></div>'
                                           + frame.format(FIGURES[1].name), encoding="utf-8")
    page.goto((tmp_path / "chapter.html").as_uri())
    first, second = (page.frame_locator("iframe").nth(i) for i in (0, 1))
    first.locator(".flitlab-scope").wait_for()
    assert second.locator("main.embedded").count() == 1 and second.locator(".flitlab-scope").count() == 0
    page.evaluate("() => window.scrollTo(0, document.body.scrollHeight)")
    second.locator(".flitlab-scope").wait_for()
