"""Courses: networks that advance window by window, with a sample of the totals after each window.

One network runs per core. Long courses save samples and checkpoints in a folder and continue from there."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import threading
import time
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from flitlab import _core
from flitlab.experiment import Experiment
from flitlab.journal import entry_of, line_of, write_anew
from flitlab.network import Network
from flitlab.runner import TerminateAsInterrupt

SAVE_SECONDS = 60.0  # interval between two checkpoints of a course (a run divided into windows)
PROBE_SECONDS = 3.0

Sample = dict  # state after a window: cycle, Network.totals, and the values that Course.observe returns


@dataclass(frozen=True)
class Course:
    """A run of ``windows`` windows of ``cycles`` cycles, which ends early if ``until(sample)`` is true."""

    experiment: Experiment
    cycles: int
    windows: int
    until: Callable[[Sample], bool] | None = None
    observe: Callable[[Network], dict] | None = None

    def key(self) -> str:
        """Returns a hash of the configuration, by which a saved file is recognised as belonging to this course."""
        text = json.dumps([_core.__version__, self.experiment.core.files_hash(), self.experiment.flat(), self.cycles],
                          sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def nodes(self) -> int:
        return int(self.experiment.derived()["routers"])

    def ends(self, samples: list[Sample]) -> bool:
        return len(samples) >= self.windows or bool(samples and self.until and self.until(samples[-1]))


def all_delivered(sample: Sample) -> bool:
    """Returns whether a batch has ended."""
    return sample["packets_created"] == sample["packets_delivered"] > 0


def _are_samples(samples: list[Sample]) -> bool:
    """Returns whether samples have the same keys and rising cycles. Raises LookupError or TypeError for other data."""
    cycles = [sample["cycle"] for sample in samples]
    return all(sample.keys() == samples[0].keys() for sample in samples) and all(
        before < after for before, after in pairwise([0, *cycles]))


class _CourseFiles:
    """A course's file of samples and its checkpoint."""

    def __init__(self, folder: Path, name: str, course: Course):
        self.journal, self.checkpoint = folder / f"{name}.json", folder / f"{name}.checkpoint"
        self.course = course

    def samples(self) -> list[Sample]:
        try:
            text = self.journal.read_text(encoding="utf-8")
        except FileNotFoundError:
            return []
        except (OSError, ValueError):
            text = ""
        entry = entry_of(text, _are_samples)
        if entry is None:
            warnings.warn(f"{self.journal} is damaged, or from another version of flitlab; its windows run again.",
                          stacklevel=2)
        return entry[1] if entry and entry[0] == self.course.key() else []

    def load(self, network: Network) -> list[Sample]:
        """Loads the checkpoint into the network and returns the samples up to its cycle; [] without a checkpoint."""
        samples = self.samples()
        if not samples or not self.checkpoint.exists():
            return []
        network.load(self.checkpoint)
        return [s for s in samples if s["cycle"] <= network.cycle]

    def save(self, samples: list[Sample], network: Network | None) -> None:
        # write the journal first: the saved samples must reach at least to the cycle of the checkpoint
        write_anew(self.journal, [line_of(self.course.key(), samples)])
        if network is None:
            self.checkpoint.unlink(missing_ok=True)
        else:
            network.save(self.checkpoint)


def _follow(course: Course, threads: int, kept: _CourseFiles | None, stop: threading.Event) -> list[Sample]:
    samples = kept.samples() if kept else []
    if course.ends(samples):
        return samples
    network = Network(course.experiment, threads=threads)
    samples = kept.load(network) if kept else []
    saved = time.monotonic()
    while not course.ends(samples):
        if stop.is_set():
            break
        network.step(course.cycles).check()
        observed = course.observe(network) if course.observe else {}
        samples.append({"cycle": network.cycle} | network.totals | observed)
        if kept and time.monotonic() - saved > SAVE_SECONDS:
            kept.save(samples, network)
            saved = time.monotonic()
    if kept:
        kept.save(samples, None if course.ends(samples) else network)
    return samples


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def expected_seconds(courses: list[tuple[Course, int]]) -> float:
    """Returns the estimated seconds on this machine for (course, number of windows to run) pairs, based on the speed of
    the first course."""
    first = courses[0][0]
    # A warm-up: the start of a batch, whose packets are all created in cycle 0, is not typical.
    network = Network(first.experiment).step(200)
    start, cycle = time.monotonic(), network.cycle
    while time.monotonic() - start < PROBE_SECONDS:
        network.step(100)
    speed = (network.cycle - cycle) * first.nodes() / (time.monotonic() - start)
    return sum(c.nodes() * c.cycles * windows for c, windows in courses) / (speed * cores())


def _announce(folder: Path, courses: Mapping[str, Course], kept: Mapping[str, _CourseFiles]) -> None:
    left = [(c, c.windows - len(samples)) for name, c in courses.items()
            if not c.ends(samples := kept[name].samples())]
    if not left:
        return
    seconds = expected_seconds(left)
    text = f"{seconds / 3600:.1f} h" if seconds > 5400 else f"{seconds / 60:.0f} min" if seconds > 90 else \
        f"{seconds:.0f} s"
    print(f"flitlab: {folder}: {len(left)} runs of {left[0][0].nodes()} nodes, at most "
          f"{max(c.cycles * c.windows for c, _ in left) / 1e6:.3g} million cycles each: about {text} on {cores()} "
          "cores; if interrupted, the same command continues", file=sys.stderr, flush=True)


def follow(courses: Mapping[str, Course], keep: Path | None = None) -> dict[str, list[Sample]]:
    """Runs courses and returns the samples of each by its name.

    keep: folder for samples and checkpoints; with it, the expected time is printed first. Raises RunError if a network
    loses flits or deadlocks."""
    if keep:
        keep.mkdir(parents=True, exist_ok=True)
    kept = {name: _CourseFiles(keep, name, c) if keep else None for name, c in courses.items()}
    if keep:
        _announce(keep, courses, kept)
    workers = max(1, min(cores(), len(courses)))
    stop = threading.Event()
    with TerminateAsInterrupt(), ThreadPoolExecutor(workers) as pool:
        try:
            futures = {name: pool.submit(_follow, c, cores() // workers, kept[name], stop)
                       for name, c in courses.items()}
            return {name: future.result() for name, future in futures.items()}
        finally:
            stop.set()
