"""The textbook (docs/book): every figure runs, its answer is the one derived by hand, and its claims are true."""

import importlib.util
import re
from html import escape
from itertools import product
from pathlib import Path

import nbformat
import numpy as np
import pytest
from nbclient import NotebookClient

import flitlab as fl
from flitlab import textbook
from flitlab.links import in_page
from flitlab.textbook.notebooks import notebook_texts
from flitlab.textbook.source import changes_of

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "docs" / "book"
SPEC = importlib.util.spec_from_file_location("book_pages", ROOT / "tests/tools/book_pages.py")
TOOL = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(TOOL)
FIGURES = [figure for chapter in textbook.chapters() for figure in chapter.figures]
MOST_WORK = 60e6  # router-cycles of a figure's curves, so that a browser draws them in a few seconds
each = pytest.mark.parametrize("figure", FIGURES, ids=[figure.name for figure in FIGURES])


def test_names_are_unique():
    names = [figure.name for figure in FIGURES]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) for name in names)


@each
def test_answer_and_claims(figure):
    """A claim with a wrong relation, or a number derived wrongly, fails."""
    results = figure.results()
    computed = figure.solve(results)
    assert abs(figure.by_hand - computed) <= figure.within * abs(computed), f"computed {computed}"
    for claim in figure.claims:
        found = textbook.figures.value_of(claim, results)
        assert found is True, f"{claim}: {found}"
    assert figure.claims, "the notice and the solution need claims"
    names = set(re.findall(r"\b([a-z_]\w*)\.[a-z]", " ".join([figure.answer, *figure.claims])))
    assert names == set(figure.runs), "every run is used, and every used run exists"


# Answers of readers who make a plausible mistake, by figure. An exercise must not accept them.
MISTAKES = {
    "hot-spot": {"no packets but the hot ones": 1 / 4, "the others bring a whole flit": 1 / 5,
                 "the hot terminal sends no hot packets": 1 / (15 / 4 + 0.75), "numbers of the 8x8 mesh": 1 / 7.3},
    "hot-spot-1985": {"no packets but the hot ones": 1 / 0.64, "the others bring a whole flit": 1 / 1.64,
                      "the hot node sends no hot packets": 1 / (0.6 + 0.96), "numbers of 256 nodes": 1 / 11.2},
    "turn-models": {"a mean over all 64 terminals": 336 / 64, "one dimension": 3, "uniform traffic": 16 / 3,
                    "flows of the busiest channel": 7},
    "turn-models-transpose": {"eight terminals share the channel": 1 / 8, "both halves share it": 1 / 14},
}


@pytest.mark.parametrize("name", MISTAKES)
def test_plausible_mistakes_are_rejected(name):
    figure = textbook.figure(name)
    computed = figure.solve()
    accepted = {what: answer for what, answer in MISTAKES[name].items()
                if abs(answer - computed) <= figure.within * abs(computed)}
    assert accepted == {}
    assert abs(figure.by_hand - computed) <= figure.within * abs(computed)


def test_exercises_of_turn_models_differ():
    """The two figures show the same network under the same traffic."""
    here, there = (textbook.figure(name) for name in ("turn-models", "turn-models-transpose"))
    assert here.unit != there.unit and "hops_mean" in here.answer and "channel_utilization" in there.answer


@each
def test_curves(figure):
    curves = figure.sweeps()
    routers = {label: figure.experiment.set(changes_of(changes)).derived()["routers"]
               for label, changes in (figure.curves or {"": {}}).items()}
    assert sum(routers[label] * curve.frame.cycles.sum() for label, curve in curves.items()) <= MOST_WORK
    assert len({tuple(curve.frame.accepted) for curve in curves.values()}) == len(curves), "curves differ"
    assert figure.loads == sorted(set(figure.loads))


@each
def test_network(figure):
    """The page has the configuration, and packets are under way in the figure's cycle."""
    assert in_page(figure.network)
    assert figure.panel in textbook.figures.PANELS
    net = fl.Network(figure.experiment).step(figure.cycle)
    assert net.totals["packets_created"] > net.totals["packets_delivered"]


class Recorded:
    """In place of sweep and plot: keeps the experiments of the points."""

    def __init__(self):
        self.points, self.panel, self.labels = [], None, None

    def sweep(self, experiment, over):
        self.points += [experiment.set(dict(zip(over, values, strict=True))).flat()
                        for values in product(*over.values())]
        return self

    def plot(self, curves=None, panels="latency", labels=None):
        self.panel, self.labels = panels, labels


@each
def test_lines_of_python(figure, monkeypatch):
    found, recorded = {}, Recorded()
    monkeypatch.setattr(fl.Network, "view", lambda net: found.update(cycle=net.cycle))
    monkeypatch.setattr(fl, "sweep", recorded.sweep)
    monkeypatch.setattr(fl, "plot", recorded.plot)
    exec(compile(figure.python, figure.name, "exec"), found)
    assert found["cycle"] == figure.cycle
    assert found["exp"].flat() == figure.experiment.flat()
    assert recorded.panel == figure.panel
    assert recorded.labels in (None, list(figure.curves))
    assert recorded.points == [figure.experiment.set(changes_of(changes)).set("traffic.load", load).flat()
                               for changes in (figure.curves or {"": {}}).values() for load in figure.loads]


@pytest.mark.parametrize("figure", FIGURES[::12], ids=[figure.name for figure in FIGURES[::12]])
def test_plot_and_check(figure):
    """A right answer is accepted and a wrong one is not."""
    picture = figure.plot()
    assert picture is not None
    assert figure.check(figure.by_hand).startswith("Right: ")
    for side in (-1, 1):
        assert figure.check(figure.solve() * (1 + 0.9 * side * figure.within)).startswith("Right: ")
        assert figure.check(figure.solve() * (1 + 1.1 * side * figure.within)).startswith("Not yet: ")
    assert figure.check(np.float64(figure.by_hand)).startswith("Right: ")
    with pytest.raises(fl.ConfigError, match="must be a number"):
        figure.check("twenty")


def test_lessons_are_figures_in_turn():
    """The button "next" leads from a lesson's figure to the next one."""
    names = [figure.name for figure in FIGURES]
    text = (BOOK / "teaching.md").read_text(encoding="utf-8")
    lessons = re.findall(r"^\| (\d)\. .*?#figure=([\w-]+)\">.*?</a> \| (.*?) \|", text, re.M)
    assert [number for number, _, _ in lessons] == ["1", "2", "3", "4", "5"]
    for _, link, listed in lessons:
        found = re.findall(r"`([\w-]+)`", listed)
        assert found[0] == link and len(found) == 3
        assert found == names[names.index(link):][:3]


def test_terms_are_sentences_in_alphabetical_order():
    lines = [line.split(" | ") for line in (BOOK / "terms.md").read_text(encoding="utf-8").splitlines()[4:]]
    terms = [term.removeprefix("| ").lower() for term, _ in lines]
    assert terms == sorted(terms) and len(terms) >= 20
    assert all(meaning.endswith(". |") and len(meaning) < 120 for _, meaning in lines)


def test_pages_are_generated():
    again = "generate them: python tests/tools/book_pages.py"
    for file, text in TOOL.pages().items():
        assert file.read_text(encoding="utf-8") == text, again


def test_number_of_figures():
    """The pages say that there are sixty, or more."""
    assert len(FIGURES) >= 60
    counts = {chapter.name: len(chapter.figures) for chapter in textbook.chapters()}
    assert counts["papers"] == 10 and counts["machines"] == 12


def test_exercises_for_a_printer(tmp_path):
    textbook.save_exercises(tmp_path / "exercises.html")
    text = (tmp_path / "exercises.html").read_text(encoding="utf-8")
    assert text.count("<article>") == text.count('class="line"') == len(FIGURES)
    before, _, answers = text.partition('class="answers"')
    for figure in FIGURES:
        assert escape(figure.exercise) in before and escape(figure.solution) in answers
        assert escape(figure.solution) not in before
    with pytest.raises(fl.ConfigError, match="cannot be written"):
        textbook.save_exercises(tmp_path / "none" / "exercises.html")


def test_wrong_names_and_keys():
    with pytest.raises(fl.ConfigError, match=r"no such figure\. Did you mean zero-load\?"):
        textbook.figure("zero-lod")
    with pytest.raises(fl.ConfigError, match="no such figure"):
        textbook.figure(["zero-load"])
    with pytest.raises(fl.ConfigError, match="panel = 'hops': it must be one of latency, accepted"):
        textbook.figures._figure({**FIGURES[0].values(), "panel": "hops"})
    with pytest.raises(fl.ConfigError, match="unknown key exercize"):
        textbook.figures._figure({**FIGURES[0].values(), "exercize": ""})
    with pytest.raises(fl.ConfigError, match="missing 1 required"):
        textbook.figures._figure({key: value for key, value in FIGURES[0].values().items() if key != "answer"})


def test_chapters_are_notebooks(tmp_path):
    """The first chapter's notebook runs; all notebooks are valid, and their lines are the figures' lines."""
    for name, text in notebook_texts().items():
        notebook = nbformat.reads(text, as_version=4)
        nbformat.validate(notebook)
        (chapter,) = [c for c in textbook.chapters() if name.endswith(f"_{c.name}.ipynb")]
        code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
        for figure in chapter.figures:
            assert all(line in code for line in figure.python.split("\n", 2)[2].splitlines())
    notebook = nbformat.reads(notebook_texts()["book_1_topology.ipynb"], as_version=4)
    notebook.cells = notebook.cells[:7]  # the first figure
    where = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=1800, kernel_name="python3", resources=where).execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert any("Not yet: an answer" in output.get("text", "") for output in outputs)
