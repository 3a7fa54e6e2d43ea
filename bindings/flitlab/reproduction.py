"""Published experiments, which run by name and compare measured values with their source."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flitlab._core import ConfigError
from flitlab.arguments import check_path, did_you_mean, named, shown
from flitlab.machines import parts

if TYPE_CHECKING:
    import pandas as pd

# columns of the table that published() returns
PUBLISHED_COLUMNS = ("experiment", "kind", "setting", "quantity", "published", "unit", "tolerance", "source")
ROW_VERDICTS = ("match", "better", "out", "holds", "broken", "context")
FAILED = ("out", "broken")
_unmeasured: ContextVar[bool] = ContextVar("unmeasured", default=False)


def once(function: Callable[..., Any], *arguments: Any, **settings: Any) -> Callable[[], Any]:
    """Returns a function of no arguments that calls ``function`` at its first call and then repeats the result, so that
    a measurement is made only when a row needs it."""
    return cache(lambda: function(*arguments, **settings))


class Throughput(float):
    """A measured throughput or saturation load. ideal: the load at which the busiest channel is full, in the same unit;
    None if it is unknown."""

    ideal: float | None

    def __new__(cls, value: float, ideal: float | None) -> Throughput:
        made = super().__new__(cls, value)
        made.ideal = ideal
        return made


def row(experiment: str, quantity: str, source: str, setting: str, published: float | None,
        measured: float | Callable[[], float], unit: str, tolerance: float | Callable[[], float],
        lower_is_better: bool = False, higher_is_better: bool = False, reading: str | Callable[[], str] = "",
        check: bool | str = False, uncertainty: float | Callable[[], float] = 0,
        why: str | Callable[[], str] = "") -> dict:
    """Returns one row of an experiment. measured, reading, tolerance, uncertainty and why may be functions of no
    arguments, as :func:`once` returns, so that :func:`published` needs no run.

    A row is of one of three kinds. published: the source prints the number or relation, and the measured value could
    contradict it; its verdict is match (within the tolerance), better or out. check: ``published`` is the value that
    must result by construction (a count, a formula, another implementation, an input, the goal of a search); verdict
    holds or broken. context (``published`` is None): the source has no value to compare with; verdict context.

    check: true for a check; if the source prints its number, the reason why flitlab cannot miss it, which the reading
    then states. :func:`published` lists these numbers, too.

    A measured :class:`Throughput` gives the row its ideal throughput; rows of other quantities have None.

    tolerance: absolute, in ``unit``. uncertainty: of the measured value, in ``unit``; the verdict is better only if the
    difference exceeds it. why: explains a row that is out; empty in the rows that are not.
    """
    printed = published is not None and (not check or isinstance(check, str))
    if _unmeasured.get():
        kind = "context" if published is None else "check" if check else "published"
        return {"experiment": experiment, "kind": kind, "quantity": quantity, "source": source, "setting": setting,
                "published": published, "unit": unit, "tolerance": math.nan if callable(tolerance) else tolerance,
                "printed": printed}
    measured, tolerance, uncertainty, reading = (
        part() if callable(part) else part for part in (measured, tolerance, uncertainty, reading))
    difference = measured - (published or 0)
    inside = abs(difference) <= tolerance * (1 + 1e-9)  # margin for rounding of decimals
    better = (lower_is_better and difference < -uncertainty) or (higher_is_better and difference > uncertainty)
    if published is None:
        kind, verdict = "context", "context"
    elif check:
        kind, verdict = "check", "holds" if inside or better else "broken"
    else:
        kind, verdict = "published", "match" if inside else "better" if better else "out"
    if kind == "check" and isinstance(check, str):
        reading = "; ".join(filter(None, (reading, f"holds by construction: {check}")))
    return {
        "experiment": experiment, "kind": kind, "quantity": quantity, "source": source, "setting": setting,
        "published": published, "measured": float(measured), "unit": unit, "tolerance": tolerance, "verdict": verdict,
        "reading": reading, "ideal": getattr(measured, "ideal", None), "printed": printed,
        "why": (why() if callable(why) else why) if verdict == "out" else "",
    }


def trend(values: Mapping[str, float], largest: str) -> str:
    """Returns a sentence with the values by size, and on which side of the last one the largest size, that of the
    source, lies. A quantity has a trend if it changes in one direction from each size to the next, in all by more than
    1 %."""
    found = list(values.values())
    text = "by size: " + ", ".join(f"{size} {value:.4g}" for size, value in values.items())
    steps = [b - a for a, b in pairwise(found)]
    if largest in values:
        return text
    if abs(found[-1] - found[0]) > 0.01 * abs(found[-1]) and (all(s > 0 for s in steps) or all(s < 0 for s in steps)):
        direction, side = ("rises", "above") if steps[0] > 0 else ("falls", "below")
        return f"{text}; it {direction} with size, so {largest} of the source lies {side} the last value"
    return f"{text}; it has no clear trend, so {largest} of the source may lie on either side of the last value"


def by_size(experiment: str, quantity: str, source: str, setting: Callable[[str], str], published: float | None,
            measured: Mapping[str, Callable[[], float]], unit: str, tolerance: float, largest: str, reading: str = "",
            **more: Any) -> list[dict]:
    """Returns rows of one quantity of machines that are smaller than in the source. The last size is compared with the
    published value, the others are context; the reading has all values and their trend. measured: function of no
    arguments by size, from small to large. setting: text for a size. largest: size in the source."""
    measured = {size: cache(of) for size, of in measured.items()}
    *smaller, judged = measured
    return [row(experiment, quantity, source, setting(judged), published, measured[judged], unit, tolerance,
                reading=lambda: f"{reading}; {trend({size: of() for size, of in measured.items()}, largest)}", **more),
            *(row(experiment, quantity, source, setting(size), None, measured[size], unit, 0, reading=reading)
              for size in smaller)]


def experiments() -> dict[str, tuple]:
    """Returns every published experiment: name -> (one line of help, function returning rows[, function of a folder for
    intermediate results, returning rows at the paper's size])."""
    return {name: entry for published in sorted(parts("published"), key=lambda module: module.PLACE)
            for name, entry in published.EXPERIMENTS.items()}


def chosen(names: tuple[str, ...], full: bool, keep: str | Path) -> dict[str, Callable[[], list[dict]]]:
    """Returns name -> run for the experiments that ``names`` select (default: all). A full name selects one experiment,
    the beginning of names all that start with it. Raises ConfigError."""
    known = experiments()
    check_path(named("keep", keep), keep, "a folder")
    machines = list(dict.fromkeys(e.partition(".")[0] for e in known))
    for name in names:
        if not isinstance(name, str) or not name or not any(e.startswith(name) for e in known):
            raise ConfigError(f"reproduce {name}: no experiment has a name that starts with this."
                              f"{did_you_mean(name, [*machines, *known])} `flitlab reproduce --list` lists all "
                              f"experiments, of {', '.join(machines)}.")
    return {e: partial(larger[0], Path(keep) / e) if full and larger else run
            for e, (_, run, *larger) in known.items()
            if not names or any(e == n if n in known else e.startswith(n) for n in names)}


def reproduce(*names: str, full: bool = False, keep: str | Path = "out/reproduce") -> list[dict]:
    """Runs the experiments that ``names`` select (default: all) and returns their rows. A full name selects one
    experiment; the beginning of names, such as a machine's, selects all that start with it.

    full: run at the paper's size those experiments that would take a small machine more than minutes. They print the
    expected time and save progress in folder ``keep``, so that an interrupted call continues when repeated.
    Row keys: experiment, kind (published, check or context), quantity, source, setting, published (in a check: the
    required value), measured, unit, tolerance, verdict, reading (how the source was interpreted), ideal (of a
    throughput: the load at which the busiest channel is full; otherwise None), printed (true: the source prints the
    number), why (explains a row that is out; otherwise empty). Raises ConfigError for unknown names.
    """
    return [line for run in chosen(names, full, keep).values() for line in run()]


def published(name: str) -> pd.DataFrame:
    """Returns the numbers that the sources of published experiments print: pandas.DataFrame, one row per number.

    name: an experiment, or the beginning of several names, as in :func:`reproduce`. Columns: experiment; kind
    (published: the comparison could fail; check: it holds by construction); setting (the varied condition, such as the
    size of the machine); quantity; published (the number, in ``unit``); tolerance (within which a measured value
    matches, same unit; NaN if it is measured, too); source (title and section). A relation that a source prints without
    a number has its bound, such as 1 for a ratio. Most experiments need no run for this; sconnect.figure3 takes as long
    as in :func:`reproduce`.

    Raises ConfigError for an unknown name, and for experiments whose sources print no number.
    """
    import pandas as pd

    runs = chosen((name,), False, "out/reproduce")
    runs = {name: runs[name]} if name in runs else runs
    before = _unmeasured.set(True)
    try:
        rows = [line for run in runs.values() for line in run() if line["printed"]]
    finally:
        _unmeasured.reset(before)
    if not rows:
        raise ConfigError(f"published({shown(name)}): the source prints no number of it; for flitlab's values use "
                          f"fl.reproduce({shown(name)}).")
    return pd.DataFrame(rows)[list(PUBLISHED_COLUMNS)]


def counts(rows: list[dict]) -> dict[str, int]:
    """Returns verdict -> number of rows."""
    verdicts = [line["verdict"] for line in rows]
    return {v: verdicts.count(v) for v in ROW_VERDICTS}
