"""Search for the saturation load of a network by probabilistic bisection."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from flitlab import _core
from flitlab.arguments import Backend, check_backend, check_truth, is_number, shown
from flitlab.experiment import Experiment, Given, experiment_of
from flitlab.ideal import ideal_throughput
from flitlab.refinement import MOST_STEPS
from flitlab.runner import TerminateAsInterrupt, run_keeping, warn_if_rounded

SEEDS = 2**53 - 1  # number of distinct values of run.seed
PRECISION = 0.05  # least run.precision of automatic windows: coarse, because a search does not need the exact latency


class Border:
    """Probability distribution of the saturation load over many small steps between ``low`` and ``high``, in
    flits/cycle/terminal, updated by runs whose verdict may be wrong (probabilistic bisection: Horstein 1963; Waeber,
    Frazier & Henderson, "Bisection search with noisy responses", SIAM J. Control Optim. 51(3), 2013).

    Verdicts are wrong more often near the saturation load, where they depend on the seed. The width of this region is
    unknown, so the distribution covers several widths, and the verdicts select one. A region wider than the tolerance
    cannot be located to within the tolerance anyway. At any load, at least one verdict in a hundred is assumed wrong.
    """

    STEPS = 20  # number of steps per tolerance
    # Widths of the uncertain region, in tolerances. One width above the saturation load, 73 % of runs are saturated.
    WIDTHS = (0.05, 0.2, 0.8)
    WRONG = 0.01  # probability of a wrong verdict far from the saturation load

    def __init__(self, low: float, high: float, tolerance: float):
        steps = int(np.ceil((high - low) / tolerance * self.STEPS))
        self.step = (high - low) / steps
        self.loads = low + (np.arange(steps) + 0.5) * self.step
        self.widths = np.array(self.WIDTHS)[:, None] * tolerance
        self.posterior = np.full((len(self.WIDTHS), steps), 1 / steps / len(self.WIDTHS))

    def quantile(self, part: float) -> float:
        """Returns the load below which the saturation load lies with probability ``part``: the middle of the step that
        contains it."""
        below = np.cumsum(self.posterior.sum(axis=0))
        return float(self.loads[np.searchsorted(below, part * below[-1])])

    def interval(self, confidence: float) -> tuple[float, float]:
        half = self.step / 2
        return self.quantile((1 - confidence) / 2) - half, self.quantile((1 + confidence) / 2) + half

    def observe(self, load: float, saturated: bool) -> None:
        """Updates the distribution with the verdict of a run."""
        above = 1 / (1 + np.exp(np.clip((self.loads - load) / self.widths, -50, 50)))
        likely = self.WRONG + (1 - 2 * self.WRONG) * above
        self.posterior *= likely if saturated else 1 - likely
        self.posterior /= self.posterior.sum()


class Saturation(float):
    """A load in flits/cycle/terminal: the lower end of the interval that contains the saturation load with probability
    ``confidence``.

    interval: both ends. bound: the ideal throughput, the load at which the busiest channel is full
    (``saturation_load_bound`` of ``Experiment.derived``); None if flitlab cannot compute it. runs: number of runs.
    cycles: sum of their cycles.
    """

    interval: tuple[float, float]
    confidence: float
    bound: float | None
    runs: int
    cycles: int


def find_saturation(
    experiment: Given, low: float = 0.0, high: float = 1.0, tolerance: float = 0.01, backend: Backend = "auto",
    confidence: float = 0.95, progress: bool = True,
) -> Saturation:
    """Returns the highest load (flits/cycle/terminal) that does not saturate the network, to within ``tolerance``.

    Near saturation the verdict of a run depends on its seed, so a plain bisection may go wrong. This search uses
    probabilistic bisection: each run updates a probability distribution of the saturation load (``Border``), and the
    next run has the median as its load. The search ends when the interval that contains the saturation load with
    probability ``confidence`` is at most ``tolerance`` wide; the result is its lower end.

    The n-th run has the seed run.seed + n, n = 0, 1, ..., so equal calls give equal results. Automatic windows have a
    run.precision of at least 5 %. progress: show the number of runs and the present interval on stderr if the search
    takes longer than a second; the message of a KeyboardInterrupt has the same information.

    Raises ConfigError if ``low`` is saturated or ``high`` is not, because saturation then begins outside this range.
    """
    experiment = experiment_of(experiment)
    check_backend(backend)
    check_truth("progress", progress)
    if not all(map(is_number, (low, high, tolerance))) or not (
            0 <= low < high <= 1 and 0 < tolerance < high - low <= MOST_STEPS * tolerance):
        raise _core.ConfigError(f"find_saturation(low={shown(low)}, high={shown(high)}, tolerance={shown(tolerance)}): "
                                "it needs numbers 0 <= low < high <= 1 and a positive tolerance that is smaller than "
                                f"high - low, with at most {MOST_STEPS} steps between them.")
    if not is_number(confidence) or not 0 < confidence < 1:
        raise _core.ConfigError(f"find_saturation(confidence={shown(confidence)}): it must be between 0 and 1.")
    warn_if_rounded(experiment, stacklevel=2)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"run\.\w+ = \d+ is not a multiple")  # every run would repeat it
        return _shown_search(_Tests(experiment, backend), low, high, tolerance, confidence, progress)


def _shown_search(tests: _Tests, low: float, high: float, tolerance: float, confidence: float,
                  progress: bool) -> Saturation:
    """Runs the search with a progress bar; a KeyboardInterrupt gets a message with the progress."""
    from tqdm.auto import tqdm

    with TerminateAsInterrupt(), tqdm(unit="run", delay=1, disable=not progress, miniters=0,
                                      bar_format="find_saturation: {n_fmt} runs [{elapsed}{postfix}]") as bar:
        tests.bar = bar
        try:
            return _search(tests, low, high, tolerance, confidence)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"find_saturation was stopped after {tests.runs} runs: {tests.known}.") from None


def _search(tests: _Tests, low: float, high: float, tolerance: float, confidence: float) -> Saturation:
    if not tests.saturated(high):
        raise _core.ConfigError(f"find_saturation(high={high}): this load is not saturated; give a higher one."
                                if high < 1 else "find_saturation: this network is not saturated at any load up to 1 "
                                "flit/cycle/terminal.")
    tests.report(f"load {high:g} is saturated")
    if low and tests.saturated(low):
        raise _core.ConfigError(f"find_saturation(low={low}): this load is already saturated; give a lower one.")
    border = Border(low, high, tolerance)
    while True:
        left, right = border.interval(confidence)
        tests.report(f"saturation begins at {left:.3g} to {right:.3g} with {100 * confidence:g} % probability")
        if right - left <= tolerance:
            break
        load = border.quantile(0.5)
        border.observe(load, tests.saturated(load))
    found = Saturation(left)
    found.interval, found.confidence = (left, right), confidence
    found.bound = ideal_throughput(tests.experiment.set("traffic.load", high))
    found.runs, found.cycles = tests.runs, tests.cycles
    return found


class _Tests:
    """The runs of a search, each with its own seed."""

    def __init__(self, experiment: Experiment, backend: Backend):
        self.experiment = experiment.set("run.precision", max(PRECISION, experiment["run.precision"]))
        self.backend = backend
        self.runs = self.cycles = 0
        self.known = "no result yet"
        self.bar: Any = None

    def report(self, known: str) -> None:
        self.known = known
        self.bar.set_postfix_str(known, refresh=False)
        self.bar.update(0)

    def saturated(self, load: float) -> bool:
        seed = (self.experiment["run.seed"] + self.runs) % SEEDS
        result = run_keeping(self.experiment.set({"traffic.load": load, "run.seed": seed}), self.backend,
                             advanced=lambda _: self.bar.update(0))
        self.runs += 1
        self.bar.update()
        self.cycles += result.cycles
        if result.verdict == "too_short" and result.measured_cycles < 4 * self.experiment.core.epoch_cycles():
            epoch = self.experiment.core.epoch_cycles()
            raise _core.ConfigError(
                f"find_saturation: run.measure_cycles = {self.experiment['run.measure_cycles']} is fewer than four "
                f"epochs of {epoch} cycles, too few to judge whether load {load:g} is saturated; set it to "
                f'{4 * epoch} or more, or to "auto".')
        return result.verdict in ("saturated", "too_short")
