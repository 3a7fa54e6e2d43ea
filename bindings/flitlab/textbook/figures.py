"""Chapters and figures of the textbook, read from their files, and the runs that answer a figure's exercise."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from numbers import Real
from typing import TYPE_CHECKING, Any

from flitlab import shipped
from flitlab._core import ConfigError
from flitlab.arguments import did_you_mean, shown
from flitlab.curve import Curve
from flitlab.experiment import Experiment, load
from flitlab.links import PAGE
from flitlab.nested import Record
from flitlab.network import Network
from flitlab.result import Result
from flitlab.runner import run
from flitlab.sweeps import sweep
from flitlab.textbook.source import changes_of, python_text, read_chapters
from flitlab.toml import parse_toml

if TYPE_CHECKING:
    from flitlab.picture import Picture

PANELS = ("latency", "accepted")


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A figure: a network in motion, curves, and an exercise whose answer is computed.

    The fields are the keys of docs/book/README.md. ``curves``, ``runs``: changes to the figure's experiment, by label
    and by name. ``answer``, ``claims``: expressions with the results of the runs, for example
    ``"far.latency_cycles.mean / near.latency_cycles.mean"``.
    """

    name: str
    title: str
    source: str
    network: str
    loads: list[float]
    question: str
    notice: str
    exercise: str
    answer: str
    solution: str
    by_hand: float
    panel: str
    unit: str
    within: float
    set: dict[str, Any] = field(default_factory=dict)
    cycle: int = 0
    router: int | None = None
    overlay: str | None = None
    curves: dict[str, dict[str, Any]] = field(default_factory=dict)
    runs: dict[str, dict[str, Any]] = field(default_factory=dict)
    claims: list[str] = field(default_factory=list)

    @property
    def experiment(self) -> Experiment:
        """The experiment of the network that the figure shows."""
        return load(self.network).set(changes_of(self.set))

    @property
    def python(self) -> str:
        """The lines of Python that make the figure."""
        return python_text(self.values())

    def values(self) -> dict[str, Any]:
        """Returns the figure as in its chapter's file."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def view(self) -> Any:
        """Returns the view of the figure's network (:meth:`flitlab.Network.view`), in the figure's cycle."""
        return Network(self.experiment).step(self.cycle).view()

    def sweeps(self) -> dict[str, Curve]:
        """Runs the figure's curves and returns them by label; one curve without changes has the label ""."""
        base, over = self.experiment, {"traffic.load": self.loads}
        return {label: sweep(base.set(changes_of(changes)), over=over, progress=False)
                for label, changes in (self.curves or {"": {}}).items()}

    def plot(self) -> Picture:
        """Runs and draws the figure's curves."""
        from flitlab.curve import plot

        curves = self.sweeps()
        return plot(list(curves.values()), self.panel, labels=list(curves) if self.curves else None)

    def results(self) -> dict[str, Result]:
        """Runs the exercise's experiments and returns their results by name."""
        return {name: run(self.experiment.set(changes_of(changes))) for name, changes in self.runs.items()}

    def solve(self, results: Mapping[str, Result] | None = None) -> float:
        """Returns the answer of the exercise, in ``unit``. results: as :meth:`results` returns them, to save the
        runs."""
        return float(value_of(self.answer, self.results() if results is None else results))

    def check(self, answer: float) -> str:
        """Compares your answer of the exercise with the computed one, and returns a sentence, with the solution if your
        answer is right. Raises ConfigError if the answer is no number."""
        if not isinstance(answer, Real) or isinstance(answer, bool) or not math.isfinite(answer):
            raise ConfigError(f"check({shown(answer)}): the answer must be a number"
                              + (f", in {self.unit}." if self.unit else "."))
        computed = self.solve()
        right = abs(answer - computed) <= self.within * abs(computed)
        unit = f" {self.unit}" if self.unit else ""
        if not right:
            return f"Not yet: an answer within {100 * self.within:g} % of flitlab's is right."
        return f"Right: flitlab computes {computed:.4g}{unit}. {self.solution}"

    def link(self, page: str = PAGE) -> str:
        """Returns the link that opens the figure in the web page."""
        return f"{page}#figure={self.name}"

    def __repr__(self) -> str:
        return f"Figure {self.name}: {self.title}\n{self.question}"

    def _repr_html_(self) -> str:
        from html import escape

        return f"<b>{escape(self.title)}</b><p>{escape(self.question)}</p>"


@dataclass(frozen=True)
class Chapter:
    """A chapter: ``name`` (its file's, without the number), title, introduction, figures."""

    name: str
    title: str
    about: str
    figures: tuple[Figure, ...]


def value_of(expression: str, results: Mapping[str, Result]) -> Any:
    """Returns the value of an expression with the results of runs, as in ``flitlab run --json``. The same text is valid
    JavaScript, for the web page, except for ``and``, ``or`` and ``not`` in claims."""
    names = {"min": min, "max": max, "abs": abs, **{name: Record(r.to_dict()) for name, r in results.items()}}
    try:
        return eval(expression, {"__builtins__": {}}, names)  # expressions are in flitlab's own files only
    except Exception as error:
        raise ConfigError(f"{expression}: {error}") from None


@cache
def chapters() -> tuple[Chapter, ...]:
    """Returns the chapters in their order."""
    read = read_chapters(shipped.folder("book"), lambda text: parse_toml(text, "docs/book"))
    return tuple(Chapter(c["name"], c["title"], c["about"], tuple(map(_figure, c["figures"]))) for c in read)


def figure(name: str) -> Figure:
    """Returns a figure by its name. Raises ConfigError if there is none."""
    known = {f.name: f for chapter in chapters() for f in chapter.figures}
    if not isinstance(name, str) or name not in known:
        raise ConfigError(f"figure = {shown(name)}: the textbook has no such figure.{did_you_mean(str(name), known)}")
    return known[name]


def _figure(values: dict[str, Any]) -> Figure:
    known = {f.name for f in fields(Figure)}
    for key in values:
        if key not in known:
            raise ConfigError(f"docs/book: figure {values.get('name')}: unknown key {key}.{did_you_mean(key, known)}")
    if values["panel"] not in PANELS:
        raise ConfigError(f"docs/book: figure {values.get('name')}: panel = {shown(values['panel'])}: it must be one "
                          f"of {', '.join(PANELS)}.")
    try:
        return Figure(**values)
    except TypeError as error:
        raise ConfigError(f"docs/book: figure {values.get('name')}: {error}") from None
