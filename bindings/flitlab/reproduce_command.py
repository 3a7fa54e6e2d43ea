"""The command ``flitlab reproduce``: runs published experiments and prints their rows, a table, or a page."""

from __future__ import annotations

import json
import multiprocessing
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from flitlab import _core
from flitlab._core import ConfigError, __version__
from flitlab.reproduction import FAILED, ROW_VERDICTS, chosen, counts, experiments
from flitlab.reproduction_merge import merged, parts_of
from flitlab.reproduction_page import page, with_ideal
from flitlab.runner import TerminateAsInterrupt

Timed = tuple[list[dict], float]  # an experiment's rows, and the seconds it took


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
               f"{expected(line)}measured {with_ideal(line)} {line['unit']}".rstrip())
    for reading in dict.fromkeys(line["reading"] for line in rows if line["reading"] and readings):
        yield f"         {rows[0]['experiment']:<16} read as: {reading}"


def table(done: dict[str, Timed]) -> Iterator[str]:
    """Yields the lines of the final table: for each experiment the number of rows with each verdict, and its seconds;
    the sums; and all rows whose verdict is out (outside the tolerance) or broken (a check that does not hold)."""
    yield f"{'experiment':<26}" + "".join(f"{v:>8}" for v in ROW_VERDICTS) + f"{'seconds':>9}"
    everything = [line for rows, _ in done.values() for line in rows]
    for name, (rows, seconds) in [*done.items(), ("all", (everything, sum(s for _, s in done.values())))]:
        yield f"{name:<26}" + "".join(f"{n or '':>8}" for n in counts(rows).values()) + f"{seconds:>9.0f}"
    out = [line for line in everything if line["verdict"] in FAILED]
    if out:
        yield ""
        yield from texts(out, readings=False)


def read_page(name: str) -> str:
    """Returns the text of a page. Raises ConfigError if the file cannot be read or has another form."""
    try:
        text = Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"--update {name}: {error}. It must be a page of flitlab reproduce --markdown.") from error
    parts_of(text, name)
    return text


def main(names: list[str], list_only: bool, as_json: bool, full: bool, keep: str, markdown: bool = False,
         jobs: int = 1, update: str | None = None) -> int:
    """Implements ``flitlab reproduce`` and returns the exit code. jobs: experiments at a time; 0: one per core. update:
    file with a page in which the experiments are replaced."""
    if list_only:
        known = experiments()
        for name in chosen(tuple(names), full, keep):
            print(f"{name:<28} {known[name][0]}")
        return 0
    if jobs < 0:
        raise ConfigError(f"--jobs {jobs}: it must be 1 or more, or 0 for one per core.")
    before = read_page(update) if update else ""
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
        if markdown or update:  # the page alone goes to stdout
            print(f"{name:<26} {done[name][1]:.1f} s", file=sys.stderr, flush=True)
        if as_json or markdown or update:
            continue
        for text in texts(rows):
            print(text)
        print(f"         {name:<16} {done[name][1]:.1f} s", flush=True)
    everything = [line for rows, _ in done.values() for line in rows]
    if as_json:
        print(json.dumps(everything))
    elif markdown or update:
        command = " ".join(["flitlab reproduce", *names, *(["--full"] if full else []), "--markdown"])
        text = "\n".join(page(done, command, __version__, full, took=time.monotonic() - start))
        if update:
            Path(update).write_text(merged(before, text, list(experiments()), update), encoding="utf-8")
        else:
            print(text)
    else:
        if len(done) > 1:
            print("", *table(done), sep="\n")
        print(", ".join(f"{n} {v}" for v, n in counts(everything).items() if n))
    if errors:
        raise errors[0]
    return 1 if any(line["verdict"] in FAILED for line in everything) else 0
