"""Published experiments: named, run on demand, compared with their source."""

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


COLUMNS = ("experiment", "setting", "quantity", "published", "unit", "tolerance", "source")  # of `published`
_unmeasured: ContextVar[bool] = ContextVar("unmeasured", default=False)


def once(function: Callable[..., Any], *arguments: Any, **settings: Any) -> Callable[[], Any]:
    """A measurement that is made when a row needs it: a function that calls the other one the first time."""
    return cache(lambda: function(*arguments, **settings))


def row(experiment: str, quantity: str, source: str, setting: str, published: float | None,
        measured: float | Callable[[], float], unit: str, tolerance: float | Callable[[], float],
        lower_is_better: bool = False, higher_is_better: bool = False, reading: str | Callable[[], str] = "",
        check: bool = False, uncertainty: float | Callable[[], float] = 0) -> dict:
    """One line of an experiment, of one of three kinds. measured, reading, tolerance and uncertainty may be functions
    of nothing, as :func:`once` makes them: :func:`published` then knows the row without a run.

    published: the source prints the number, or the relation; it is compared with what running the emulator gave.
    Verdict match, better or out.
    check: `published` is what must be so by construction (a count, a formula of ours, another implementation); verdict
    holds or broken.
    context (published None): the source gives nothing to compare with. Verdict context.
    tolerance: absolute, in the unit. uncertainty: of the measured value; it is better only if it is by more.
    """
    if _unmeasured.get():
        kind = "context" if published is None else "check" if check else "published"
        return {"experiment": experiment, "kind": kind, "quantity": quantity, "source": source, "setting": setting,
                "published": published, "unit": unit, "tolerance": math.nan if callable(tolerance) else tolerance}
    measured, tolerance, uncertainty, reading = (
        part() if callable(part) else part for part in (measured, tolerance, uncertainty, reading))
    difference = measured - (published or 0)
    inside = abs(difference) <= tolerance * (1 + 1e-9)  # 0.0625 is 0.063 in three decimals
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
    """Every published experiment: name -> (one line of help, function returning rows[, the same in the paper's size,
    given a folder for what has been done])."""
    return {name: entry for published in sorted(parts("published"), key=lambda module: module.PLACE)
            for name, entry in published.EXPERIMENTS.items()}


def chosen(names: tuple[str, ...], full: bool, keep: str | Path) -> dict[str, Callable[[], list[dict]]]:
    """The experiments that ``names`` select (all without): a whole name selects that one, the beginning of names all
    of these."""
    known = experiments()
    check_path(named("keep", keep), keep, "a folder")
    machines = list(dict.fromkeys(e.partition(".")[0] for e in known))
    for name in names:
        if not isinstance(name, str) or not name or not any(e.startswith(name) for e in known):
            raise ConfigError(f"reproduce {name}: no experiment has a name that begins so."
                              f"{did_you_mean(name, [*machines, *known])} `flitlab reproduce --list` lists all, "
                              f"of {', '.join(machines)}.")
    return {e: partial(larger[0], Path(keep) / e) if full and larger else run
            for e, (_, run, *larger) in known.items()
            if not names or any(e == n if n in known else e.startswith(n) for n in names)}


def reproduce(*names: str, full: bool = False, keep: str | Path = "out/reproduce") -> list[dict]:
    """Runs the experiments that ``names`` select (all without) and returns their rows. The whole name of an experiment
    selects that one; the beginning of names, such as a machine's, selects all of these.

    full: in the paper's size where that does not fit a small machine in minutes; these print the time that they will
    take, and keep what they have done below ``keep``, so that they go on when started again.
    Row keys: experiment, kind (published, check or context), quantity, source, setting, published (in a check: what
    must be), measured, unit, tolerance, verdict, reading.
    """
    return [line for run in chosen(names, full, keep).values() for line in run()]


def published(name: str) -> pd.DataFrame:
    """The numbers that the sources of published experiments print: pandas.DataFrame, one row per number.

    name: an experiment, or the beginning of several, as of :func:`reproduce`, whose rows these are. Columns:
    experiment; setting (what varies, such as the size of the machine); quantity; published (the number, in ``unit``);
    tolerance (within which a measured value matches, same unit; NaN where it is measured itself); source (title and
    section). A relation that a source prints without a number has its bound, such as 1 for a ratio. Most experiments
    need no run for this; sconnect.figure3 and sconnect.priority take as long as with :func:`reproduce`.

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
        raise ConfigError(f"published({shown(name)}): the source prints no number of it; what flitlab measures is in "
                          f"fl.reproduce({shown(name)}).")
    return pd.DataFrame(rows)[list(COLUMNS)]


def timed(run: Callable[[], list[dict]]) -> Timed:
    start = time.monotonic()
    return run(), time.monotonic() - start


def timed_by_name(name: str, full: bool, keep: str) -> Timed:
    """In a process of its own: what `chosen` returns cannot be sent there."""
    return timed(chosen((name,), full, keep)[name])


def rows_or_error(result: Callable[[], Timed]) -> Timed | Exception:
    """An experiment that fails must not take the rows of the others with it."""
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
    except BaseException:  # nobody waits for what is still running
        for process in multiprocessing.active_children():
            process.terminate()
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()


def expected(line: dict) -> str:
    words = {"published": "published", "check": "must be"}
    return f"{words[line['kind']]} {line['published']:g}, " if line["kind"] in words else ""


def texts(rows: list[dict], readings: bool = True) -> Iterator[str]:
    """The rows of an experiment for people, and then how they are read."""
    for line in rows:
        yield (f"{line['verdict']:<8} {line['experiment']:<16} {line['setting']:<22} {line['quantity']:<42} "
               f"{expected(line)}measured {line['measured']:.4g} {line['unit']}".rstrip())
    for reading in dict.fromkeys(line["reading"] for line in rows if line["reading"] and readings):
        yield f"         {rows[0]['experiment']:<16} read as: {reading}"


VERDICTS = ("match", "better", "out", "holds", "broken", "context")
FAILED = ("out", "broken")


def counts(rows: list[dict]) -> dict[str, int]:
    """How many rows of each verdict."""
    verdicts = [line["verdict"] for line in rows]
    return {v: verdicts.count(v) for v in VERDICTS}


def table(done: dict[str, Timed]) -> Iterator[str]:
    """Experiments by name with their rows and seconds: a line each, the sums, and then what is out or broken."""
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
    """jobs: experiments at a time; 0: as many as there are cores."""
    if list_only:
        known = experiments()
        for name in chosen(tuple(names), full, keep):
            print(f"{name:<28} {known[name][0]}")
        return 0
    if jobs < 0:
        raise ConfigError(f"--jobs {jobs}: it must be 1 or more, or 0 for one to a core.")
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
        if markdown:  # the page is all that goes to stdout
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
