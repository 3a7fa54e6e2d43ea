"""Published experiments, which run by name and compare measured values with their source."""

from __future__ import annotations

import json
import math
import multiprocessing
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextvars import ContextVar
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flitlab import _core
from flitlab._core import ConfigError, __version__
from flitlab.arguments import check_path, did_you_mean, named, shown
from flitlab.machines import parts
from flitlab.runner import TerminateAsInterrupt

if TYPE_CHECKING:
    import pandas as pd

Timed = tuple[list[dict], float]  # an experiment's rows, and the seconds it took


# columns of the table that published() returns
COLUMNS = ("experiment", "setting", "quantity", "published", "unit", "tolerance", "source")
_unmeasured: ContextVar[bool] = ContextVar("unmeasured", default=False)


def once(function: Callable[..., Any], *arguments: Any, **settings: Any) -> Callable[[], Any]:
    """Returns a function of no arguments that calls ``function`` at its first call and then repeats the result, so that
    a measurement is made only when a row needs it."""
    return cache(lambda: function(*arguments, **settings))


def row(experiment: str, quantity: str, source: str, setting: str, published: float | None,
        measured: float | Callable[[], float], unit: str, tolerance: float | Callable[[], float],
        lower_is_better: bool = False, higher_is_better: bool = False, reading: str | Callable[[], str] = "",
        check: bool = False, uncertainty: float | Callable[[], float] = 0) -> dict:
    """Returns one row of an experiment. measured, reading, tolerance and uncertainty may be functions of no arguments,
    as :func:`once` returns, so that :func:`published` needs no run.

    A row is of one of three kinds. published: the source prints the number or relation, which is compared with the
    measured value; its verdict is match (within the tolerance), better or out. check: ``published`` is the value that
    must result by construction (a count, a formula, another implementation); verdict holds or broken. context
    (``published`` is None): the source has no value to compare with; verdict context.

    tolerance: absolute, in ``unit``. uncertainty: of the measured value, in ``unit``; the verdict is better only if the
    difference exceeds it.
    """
    if _unmeasured.get():
        kind = "context" if published is None else "check" if check else "published"
        return {"experiment": experiment, "kind": kind, "quantity": quantity, "source": source, "setting": setting,
                "published": published, "unit": unit, "tolerance": math.nan if callable(tolerance) else tolerance}
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
    return {
        "experiment": experiment, "kind": kind, "quantity": quantity, "source": source, "setting": setting,
        "published": published, "measured": measured, "unit": unit, "tolerance": tolerance, "verdict": verdict,
        "reading": reading,
    }


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
    required value), measured, unit, tolerance, verdict, reading (how the source was interpreted). Raises ConfigError
    for unknown names.
    """
    return [line for run in chosen(names, full, keep).values() for line in run()]


def published(name: str) -> pd.DataFrame:
    """Returns the numbers that the sources of published experiments print: pandas.DataFrame, one row per number.

    name: an experiment, or the beginning of several names, as in :func:`reproduce`. Columns: experiment; setting (the
    varied condition, such as the size of the machine); quantity; published (the number, in ``unit``); tolerance (within
    which a measured value matches, same unit; NaN if it is measured, too); source (title and section). A relation that
    a source prints without a number has its bound, such as 1 for a ratio. Most experiments need no run for this;
    sconnect.figure3 and sconnect.priority take as long as in :func:`reproduce`.

    Raises ConfigError for an unknown name, and for experiments whose sources print no number.
    """
    import pandas as pd

    runs = chosen((name,), False, "out/reproduce")
    runs = {name: runs[name]} if name in runs else runs
    before = _unmeasured.set(True)
    try:
        rows = [line for run in runs.values() for line in run() if line["kind"] == "published"]
    finally:
        _unmeasured.reset(before)
    if not rows:
        raise ConfigError(f"published({shown(name)}): the source prints no number of it; for flitlab's values use "
                          f"fl.reproduce({shown(name)}).")
    return pd.DataFrame(rows)[list(COLUMNS)]


def timed(run: Callable[[], list[dict]]) -> Timed:
    start = time.monotonic()
    return run(), time.monotonic() - start


def timed_by_name(name: str, full: bool, keep: str) -> Timed:
    """Runs an experiment in another process, by its name, because the functions from `chosen` cannot be pickled."""
    return timed(chosen((name,), full, keep)[name])


def rows_or_error(result: Callable[[], Timed]) -> Timed | Exception:
    """Returns the result of the function, or the exception that it raised, so that a failed experiment does not discard
    the rows of the others."""
    try:
        return result()
    except Exception as error:
        return error


def each(names: tuple[str, ...], full: bool, keep: str, jobs: int) -> Iterator[tuple[str, Timed | Exception]]:
    """Runs ``jobs`` experiments at a time and yields their rows, or the error of one that failed, in their order. Most
    experiments keep one core busy."""
    runs = chosen(names, full, keep)
    if min(jobs, len(runs)) <= 1:
        yield from ((name, rows_or_error(partial(timed, run))) for name, run in runs.items())
        return
    pool = ProcessPoolExecutor(min(jobs, len(runs)), multiprocessing.get_context("spawn"))
    try:
        with TerminateAsInterrupt():
            futures = {name: pool.submit(timed_by_name, name, full, keep) for name in runs}
            yield from ((name, rows_or_error(future.result)) for name, future in futures.items())
    except BaseException:  # end the processes of experiments that are still running
        for process in multiprocessing.active_children():
            process.terminate()
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()


def expected(line: dict) -> str:
    words = {"published": "published", "check": "must be"}
    return f"{words[line['kind']]} {line['published']:g}, " if line["kind"] in words else ""


def texts(rows: list[dict], readings: bool = True) -> Iterator[str]:
    """Yields the rows of an experiment as lines of text, and then their readings."""
    for line in rows:
        yield (f"{line['verdict']:<8} {line['experiment']:<16} {line['setting']:<22} {line['quantity']:<42} "
               f"{expected(line)}measured {line['measured']:.4g} {line['unit']}".rstrip())
    for reading in dict.fromkeys(line["reading"] for line in rows if line["reading"] and readings):
        yield f"         {rows[0]['experiment']:<16} read as: {reading}"


VERDICTS = ("match", "better", "out", "holds", "broken", "context")
FAILED = ("out", "broken")


def counts(rows: list[dict]) -> dict[str, int]:
    """Returns verdict -> number of rows."""
    verdicts = [line["verdict"] for line in rows]
    return {v: verdicts.count(v) for v in VERDICTS}


def table(done: dict[str, Timed]) -> Iterator[str]:
    """Yields the lines of the final table: for each experiment the number of rows with each verdict, and its seconds;
    the sums; and all rows whose verdict is out (outside the tolerance) or broken (a check that does not hold)."""
    yield f"{'experiment':<26}" + "".join(f"{v:>8}" for v in VERDICTS) + f"{'seconds':>9}"
    everything = [line for rows, _ in done.values() for line in rows]
    for name, (rows, seconds) in [*done.items(), ("all", (everything, sum(s for _, s in done.values())))]:
        yield f"{name:<26}" + "".join(f"{n or '':>8}" for n in counts(rows).values()) + f"{seconds:>9.0f}"
    out = [line for line in everything if line["verdict"] in FAILED]
    if out:
        yield ""
        yield from texts(out, readings=False)


def main(names: list[str], list_only: bool, as_json: bool, full: bool, keep: str, markdown: bool = False,
         jobs: int = 1) -> int:
    """Implements ``flitlab reproduce`` and returns the exit code. jobs: experiments at a time; 0: one per core."""
    if list_only:
        known = experiments()
        for name in chosen(tuple(names), full, keep):
            print(f"{name:<28} {known[name][0]}")
        return 0
    if jobs < 0:
        raise ConfigError(f"--jobs {jobs}: it must be 1 or more, or 0 for one per core.")
    jobs, start = jobs or _core.backends()["cpu"]["threads"], time.monotonic()
    done: dict[str, Timed] = {}
    errors: list[Exception] = []
    for name, result in each(tuple(names), full, keep, jobs):
        if isinstance(result, Exception):
            print(f"{name:<26} failed: {result}", file=sys.stderr, flush=True)
            errors.append(result)
            continue
        done[name] = result
        rows = result[0]
        if markdown:  # the page alone goes to stdout
            print(f"{name:<26} {done[name][1]:.1f} s", file=sys.stderr, flush=True)
        if as_json or markdown:
            continue
        for text in texts(rows):
            print(text)
        print(f"         {name:<16} {done[name][1]:.1f} s", flush=True)
    everything = [line for rows, _ in done.values() for line in rows]
    if as_json:
        print(json.dumps(everything))
    elif markdown:
        from flitlab.reproduction_page import page

        command = " ".join(["flitlab reproduce", *names, *(["--full"] if full else []), "--markdown"])
        print(*page(done, command, __version__, full, took=time.monotonic() - start), sep="\n")
    else:
        if len(done) > 1:
            print("", *table(done), sep="\n")
        print(", ".join(f"{n} {v}" for v, n in counts(everything).items() if n))
    if errors:
        raise errors[0]
    return 1 if any(line["verdict"] in FAILED for line in everything) else 0
