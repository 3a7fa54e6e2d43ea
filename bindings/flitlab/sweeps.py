"""Sweeps: many experiments, grouped into jobs whose replicas advance together. Interrupted sweeps can resume."""

from __future__ import annotations

import json
import math
import os
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from itertools import count
from pathlib import Path
from threading import Lock
from typing import Any

from flitlab import _core, arguments
from flitlab.arguments import Backend, check_backend, check_sweep, check_threads, named, on_command_line, shown
from flitlab.curve import Curve
from flitlab.executors import digest_of, key_of, points_per_job, run_on
from flitlab.experiment import Experiment, Given, experiment_of
from flitlab.gpu_jobs import chooser, runs_per_job
from flitlab.kept import Finished
from flitlab.more_seeds import MOST_SEEDS, in_point_order, until_of
from flitlab.refinement import Adaptive, in_order, parse_adaptive, refined
from flitlab.runner import TerminateAsInterrupt, rounded, run_job
from flitlab.settings import parse_value, plain
from flitlab.side_by_side import may_use_gpu, run_side_by_side
from flitlab.sweep_file import Plan, combinations, write_plan
from flitlab.under_way import RunningJob, saved_progress, writing

# Replicas per job: enough to keep every core busy, few enough that points finish often. On a GPU a job may have more.
REPLICAS_PER_JOB = 64
# Time for checks of networks before the first point runs. Remaining networks are checked by their jobs.
CHECK_SECONDS = 5.0


def parse_over(text: str) -> tuple[str, list[Any] | Adaptive]:
    """Parses ``KEY=START:STOP:STEP`` (STOP included, steps exact in decimal), ``KEY=a,b,c`` or
    ``traffic.load=adaptive:LOW:HIGH``. Returns the key and its values. Raises ConfigError."""
    key, equals, values = text.partition("=")
    if not equals or not values:
        raise _core.ConfigError(f"--over {text}: it must be KEY=START:STOP:STEP or KEY=a,b,c.")
    if values.partition(":")[0] == "adaptive":
        return key, parse_adaptive(values)
    if ":" in values and "[" not in values:
        try:
            start, stop, step = (Decimal(part) for part in values.split(":"))
            if not all(x.is_finite() for x in (start, stop, step)):
                raise ValueError
        except (InvalidOperation, ValueError):
            raise _core.ConfigError(f"--over {text}: a range is START:STOP:STEP, three numbers.") from None
        if step <= 0 or stop < start:
            raise _core.ConfigError(f"--over {text}: STEP must be positive and STOP not below START.")
        count = int((stop - start) / step) + 1
        if count > 100000:
            raise _core.ConfigError(f"--over {text}: {count} points; at most 100000 are allowed.")
        return key, [parse_value(str(start + i * step)) for i in range(count)]
    return key, [parse_value(part.strip()) for part in _split(values)]


def _split(text: str) -> list[str]:
    """Splits a text at commas outside brackets and quotes, because lists and file names may contain commas."""
    parts, depth, quoted = [""], 0, False
    for c in text:
        quoted ^= c == '"'
        depth += 0 if quoted else (c == "[") - (c == "]")
        if c == "," and depth == 0 and not quoted:
            parts.append("")
        else:
            parts[-1] += c
    return parts


def _values(key: str, values: Any) -> list[Any]:
    """Returns the values of one key of a sweep in Python types; for an Adaptive, its initial loads. Raises ConfigError,
    also for a string, which is not a list of characters here."""
    if isinstance(values, Adaptive):
        if key != "traffic.load":
            raise _core.ConfigError(f"over {key}: only traffic.load can be adaptive; give a list.")
        return values.first()
    try:
        listed = [] if isinstance(values, (str, Mapping)) else [plain(v) for v in values]
    except TypeError:
        listed = []
    if not listed or any(isinstance(value, Mapping) for value in listed):
        raise _core.ConfigError(f"over {key} = {shown(values)}: it must be a list of values with at least one value.")
    return listed


class _Points:
    """The experiments of a sweep, made when needed. The constructor checks all of them."""

    def __init__(self, experiment: Experiment, settings: Sequence[Mapping[str, Any]]):
        self.experiment, self.settings = experiment, settings
        self.digests: list[bytes] = []
        # [point] number of its structure (all parameters that determine the network); points with equal structure can
        # be replicas of one job
        self.structures: list[int] = []
        numbers: dict[str, int] = {}
        given: dict[str, None] = {}  # warnings given so far, so that each is given once
        for setting in settings:
            with _of_point(setting):
                point = experiment.set(setting)
            given.update(dict.fromkeys(rounded(point)))
            self.digests.append(digest_of(key_of(point)))
            self.structures.append(numbers.setdefault(point.core.structure_key(), len(numbers)))
        if given:
            self.check_networks(least=1)  # bad input gets one message, and no warnings before it
        for text in given:
            warnings.warn(text, stacklevel=3)

    def __getitem__(self, index: int) -> Experiment:
        return self.experiment.set(self.settings[index])

    def check_networks(self, least: int = 2) -> None:
        """Builds one plan per structure if there are ``least`` or more, so that errors that only a plan finds, such as
        a matrix that does not fit a shape, are raised before the sweep runs for hours."""
        firsts = {structure: i for i, structure in reversed(list(enumerate(self.structures)))}
        started = time.monotonic()
        for i in sorted(firsts.values()) if len(firsts) >= least else ():
            if time.monotonic() - started > CHECK_SECONDS:
                return
            with _of_point(self.settings[i]):
                self[i].core.check_network()


@contextmanager
def _of_point(setting: Mapping[str, Any]) -> Iterator[None]:
    """Adds the point to the message of a ConfigError, unless the message already has one of the point's values."""
    try:
        yield
    except _core.ConfigError as error:
        texts = [(key, text) for key, value in setting.items() for text in (value, json.dumps(value, default=str))]
        if any(f"{key} = {text}" in str(error) for key, text in texts):
            raise
        point = ", ".join(f"{key} = {value}" for key, value in setting.items() if key != "run.seed" or len(setting) < 2)
        raise _core.ConfigError(f"at {point}: {error}") from None


def sweep(
    experiment: Given,
    over: Mapping[str, Iterable[Any] | Adaptive],
    seeds: int | Iterable[int] = 1,
    out: str | os.PathLike | None = None,
    resume: bool = False,
    backend: Backend = "auto",
    threads: int = 0,
    executor: Any = None,
    progress: bool = True,
    until: float | None = None,
    most_seeds: int = MOST_SEEDS,
) -> Curve:
    """Runs all combinations of the values in ``over``, each with ``seeds`` seeds, and returns the :class:`Curve`.

    experiment: an Experiment, a file, the name of a shipped configuration, or a dictionary of dotted paths.
    over: dotted path -> list of values; for ``traffic.load`` also :func:`flitlab.adaptive`, which refines loads near
    saturation.
    seeds: number of seeds per point (run.seed, run.seed + 1, ...), or a list of seeds.
    out: folder for points.jsonl (each point as soon as it is finished), curve.csv, curve.png, experiment.toml and
    sweep.json (these arguments).
    resume: keep the finished points of an interrupted sweep in ``out``.
    backend, threads: as in :func:`flitlab.run`. progress: a bar on stderr.
    executor: an object with ``submit`` (of concurrent.futures, a Dask client, or from :func:`flitlab.cluster`).
    Default: this machine's GPU or cores. An executor gets several jobs for each one that it runs at a time, or one job
    per point if that number is unknown. Each job uses one CPU thread unless ``threads`` is set.
    until: after ``seeds``, points get further seeds in rounds, until half of the 95 % confidence interval of the mean
    latency over the seeds (Student's t) is at most ``until`` times the mean: 0.02 for 2 %. A point with a run that is
    saturated, or has no mean latency for another reason, gets no further seeds. most_seeds: largest number of seeds per
    point; a warning names the points whose interval is then still too wide.

    Ctrl-C keeps the finished points in ``out`` and, without an executor, the progress of running ones; ``resume``
    continues from there. Raises ConfigError (bad input) or RunError (a run or executor failed).
    """
    experiment = experiment_of(experiment)
    check_sweep(over, seeds, out, resume, executor)
    check_backend(backend)
    check_threads(threads)
    keys = list(over)
    if not keys:
        raise _core.ConfigError(f"a sweep needs a parameter to vary: {named('over')} is empty.")
    point_seeds = () if "run.seed" in keys else arguments.seeds_from(seeds, experiment["run.seed"])
    if "run.seed" in keys and arguments.whole(seeds) != 1:
        raise _core.ConfigError(f"{named('over')} run.seed and {named('seeds')} both choose seeds; use one.")
    further = until_of(until, most_seeds, seeds, keys)
    values = {k: _values(k, v) for k, v in over.items()}
    arguments.check_points(math.prod(map(len, values.values())) * max(1, len(point_seeds)))
    settings = combinations(values, point_seeds)
    points = _Points(experiment, settings)  # everything is checked before anything runs
    if executor is None:  # with an executor the workers check, because they may have more memory
        points.check_networks()
    folder = None
    if out is not None:
        folder = Path(out)
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
            experiment.save(folder / "experiment.toml")
        if (folder / "points.jsonl").exists() and not resume:
            raise _core.ConfigError(
                f"{named('out', str(folder))} already has finished points: continue with "
                f"{named('resume') if on_command_line.get() else 'resume=True'}, or choose another folder."
            )
    plan = Plan({key: loads if isinstance(loads := over[key], Adaptive) else values[key] for key in keys},
                [int(seed) for seed in point_seeds], further and further.width, int(most_seeds), False,
                _core.__version__, folder)
    with writing(folder):
        if folder:
            write_plan(plan, folder)
        journal = Finished(folder / "points.jsonl" if folder else None, resume)
    digests = list(points.digests)

    def run(added: _Points) -> None:
        _run_missing(added, journal, backend, threads, executor, progress)

    def run_more(more: list[dict[str, Any]]) -> None:
        run(added := _Points(experiment, more))
        settings.extend(more)
        digests.extend(added.digests)

    def reorder(order: list[int]) -> None:
        settings[:], digests[:] = [settings[i] for i in order], [digests[i] for i in order]

    try:
        run(points)
        if isinstance(loads := over.get("traffic.load"), Adaptive):
            while more := refined(loads, settings, map(journal.result, digests)):
                run_more(more)
            reorder(in_order(settings, keys))
        while further and (more := further.more(settings, map(journal.result, digests))):
            arguments.check_points(len(settings) + len(more))
            run_more(more)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            saved_progress(folder) if folder else "no results are kept without a folder (out)") from None
    if further:
        reorder(in_point_order(settings))
        if text := further.too_wide(settings, map(journal.result, digests)):
            warnings.warn(text, stacklevel=2)
    curve = Curve.from_results(keys, settings, map(journal.result, digests), experiment.name)
    curve.results = journal.results(digests, curve.rows)
    curve.experiment, curve.plan = experiment, replace(plan, finished=True)
    if folder:
        with writing(folder):
            # Without the configuration, which experiment.toml has.
            curve.to_csv(folder / "curve.csv", configuration=False)
            curve.save_plot(folder / "curve.png")
            write_plan(curve.plan, folder)
    return curve


def _groups(points: _Points, done: Finished, backend: str, threads: int, executor: Any) -> list[list[int]]:
    """Returns the indices of points that must still run, one list per job."""
    by_structure: dict[int, list[int]] = {}
    seen = set()
    for i, digest in enumerate(points.digests):
        if digest not in done and digest not in seen:
            seen.add(digest)
            by_structure.setdefault(points.structures[i], []).append(i)
    usual = REPLICAS_PER_JOB
    if executor is not None:
        usual = points_per_job(sum(map(len, by_structure.values())), executor, usual)

    def size_of(group: list[int]) -> int:
        if len(group) <= usual or executor is not None or not may_use_gpu(backend):
            return usual
        return runs_per_job(points[group[0]].core, len(group), usual, backend, threads)

    sizes = [(group, size_of(group)) for group in by_structure.values()]
    return [group[start : start + size] for group, size in sizes for start in range(0, len(group), size)]


def _run_missing(points: _Points, journal: Finished, backend, threads, executor, progress) -> None:
    from tqdm.auto import tqdm

    groups = _groups(points, journal, backend, threads, executor)
    total = len(set(points.digests))
    # Points of a job finish together, so an estimate of the remaining time would be wrong; the bar shows the cycle.
    with tqdm(total=total, initial=total - sum(map(len, groups)), delay=1, disable=not progress, miniters=0,
              bar_format="{l_bar}{bar}| {n_fmt}/{total_fmt} points [{elapsed}{postfix}]") as bar:

        def finished(index: int, result: dict) -> None:
            if points.digests[index] not in journal:
                journal.add(points.digests[index], key_of(points[index]), result)
                bar.update()

        def advanced(cycle: int) -> None:
            bar.set_postfix_str(f"cycle {cycle}", refresh=False)
            bar.update(0)

        with TerminateAsInterrupt():
            if executor is not None:
                run_on(executor, ([points[i] for i in group] for group in groups), backend, threads,
                       lambda job, point, result: finished(groups[job][point], result))
                return
            jobs = _interrupted_first(journal.path and journal.path.parent, points, groups)
            one_at_a_time = Lock()  # for the journal and the bar, because jobs may run side by side

            def run(job: int, its_backend: str, its_threads: int, stop: _core.Stop | None) -> None:
                _run_group(*jobs[job], points, its_backend, its_threads, _locked(one_at_a_time, finished),
                           _locked(one_at_a_time, advanced), stop)

            numbers = [group for _, group in jobs]
            run_side_by_side(numbers, backend, threads, run,
                             chooser(lambda job: points[numbers[job][0]].core, [*map(len, numbers)], backend, threads))


def _locked(lock: Lock, function: Callable[..., None]) -> Callable[..., None]:
    def call(*arguments: Any) -> None:
        with lock:
            function(*arguments)

    return call


def _interrupted_first(folder: Path | None, points: _Points,
                       groups: list[list[int]]) -> list[tuple[RunningJob | None, list[int]]]:
    """Returns the groups of points to run, each with its job if the sweep has a folder. The groups of interrupted jobs
    come first and have all of their original points, because their checkpoints contain them all. The others follow,
    those with the most terminals in all points first, because they take longest."""
    groups = sorted(groups, key=lambda group: -len(group) * points[group[0]].core.terminals())
    if folder is None or not groups:
        return [(None, group) for group in groups]
    places = {digest: i for i, digest in enumerate(points.digests)}
    jobs: list[tuple[RunningJob | None, list[int]]] = []
    again: set[int] = set()
    for job in RunningJob.interrupted(folder):
        group = [places.get(digest, -1) for digest in job.read()]
        if group and -1 not in group and not again.intersection(group):
            jobs.append((job, group))
            again.update(group)
        else:
            job.end()  # of another sweep, or damaged
    numbers = (n for n in count() if n not in {job.number for job, _ in jobs if job})
    others = ([i for i in group if i not in again] for group in groups)
    return jobs + [(RunningJob(folder, next(numbers)), group) for group in others if group]


def _run_group(under_way: RunningJob | None, group: list[int], points: _Points, backend, threads, finished,
               advanced, stop) -> None:
    """Runs the points of a job as replicas. With a folder, an interrupted job can continue from its checkpoint."""

    def run(checkpoint: str | os.PathLike) -> list[dict]:
        return run_job([points[i] for i in group], backend, threads, lambda k, result: finished(group[k], result),
                       checkpoint, advanced, stop)

    if under_way is None:
        run("")
        return
    under_way.begin([points.digests[i] for i in group])
    try:
        results = run(under_way.checkpoint)
    except _core.ConfigError as error:
        if not under_way.checkpoint.exists() or not str(error).startswith("checkpoint "):
            raise
        # The checkpoint is damaged, or from another version of flitlab.
        warnings.warn(f"{error} Its points run again.", stacklevel=2)
        under_way.checkpoint.unlink()
        results = run(under_way.checkpoint)
    for i, result in zip(group, results, strict=True):
        finished(i, result)  # includes points that had finished before an interruption
    under_way.end()
