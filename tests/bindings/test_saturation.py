"""The search for the saturation load: accuracy with noisy observations, and cost."""

import math
import os
import random
import re
import signal
import time

import numpy as np
import pytest

import flitlab as fl
from flitlab import saturation
from flitlab.saturation import Border

VERDICT = {True: "saturated", False: "steady"}


def search(true: float, width: float, tolerance: float, seed: int) -> tuple[float, float, int]:
    """Searches for a saturation load at ``true``. Simulated runs near it are saturated at random; ``width`` is the
    width of this region. Returns the interval found (low, high) and the number of runs."""
    draw, border, answers = random.Random(seed), Border(0, 1, tolerance), 0
    while True:
        low, high = border.interval(0.95)
        if high - low <= tolerance:
            return low, high, answers
        load = border.quantile(0.5)
        away = (load - true) / width if width else math.copysign(50, load - true)
        border.observe(load, draw.random() < 1 / (1 + math.exp(-max(-50.0, min(50.0, away)))))
        answers += 1


@pytest.mark.parametrize("width", [0.0, 0.1, 0.3, 0.5])
def test_the_interval_contains_the_border_with_its_confidence(width):
    """The interval contains the saturation load as often as its confidence promises, for any width of the uncertain
    region up to half the tolerance. A grid of loads would need 50 runs."""
    tolerance, held, took = 0.02, 0, []
    for seed in range(100):
        true = random.Random(seed).uniform(0.1, 0.9)
        low, high, answers = search(true, width * tolerance, tolerance, seed)
        held += low <= true <= high
        took.append(answers)
    assert held >= 93
    assert np.mean(took) < (20 if width == 0 else 40)


def test_an_answer_moves_belief_to_its_side():
    border = Border(0.2, 0.6, 0.01)
    assert border.quantile(0.5) == pytest.approx(0.4, abs=0.001)
    assert border.interval(0.5) == pytest.approx((0.3, 0.5), abs=0.001)
    border.observe(0.4, saturated=True)
    assert border.quantile(0.5) == pytest.approx(0.3, abs=0.005)
    border.observe(0.3, saturated=False)
    assert border.quantile(0.5) == pytest.approx(0.35, abs=0.005)


def test_a_wrong_answer_is_overcome():
    """One verdict in a hundred may be wrong. Here the first verdict is wrong: it puts the saturation load below 0.5,
    but it is 0.7."""
    border = Border(0, 1, 0.02)
    border.observe(0.5, saturated=True)
    for _ in range(60):
        load = border.quantile(0.5)
        border.observe(load, load > 0.7)
    low, high = border.interval(0.95)
    assert low <= 0.7 <= high and high - low < 0.02


@pytest.fixture
def mesh():
    return fl.Experiment.from_dict({"topology.kind": "mesh", "topology.shape": [8, 8], "run.seed": 5})


def test_it_takes_fewer_cycles_than_a_grid_of_the_same_resolution():
    torus = fl.Experiment.from_dict({"topology.kind": "torus", "topology.shape": [8, 8], "run.seed": 5})
    found = fl.find_saturation(torus, low=0.3, high=0.8)
    low, high = found.interval
    assert isinstance(found, float) and found == low and high - low <= 0.01 and found.confidence == 0.95
    loads = [round(0.3 + 0.01 * i, 2) for i in range(51)]
    grid = fl.sweep(torus, {"traffic.load": loads}, progress=False)
    assert low - 0.02 < grid.saturation <= high + 0.02
    assert found.cycles < sum(row["cycles"] for row in grid.rows)


def test_it_always_finds_the_same(mesh):
    found, again = (fl.find_saturation(mesh, low=0.2, high=0.6, tolerance=0.1) for _ in range(2))
    assert (again, again.interval, again.runs, again.cycles) == (found, found.interval, found.runs, found.cycles)


def test_every_run_has_a_seed_of_its_own(mesh, monkeypatch):
    asked = []

    def run(experiment, backend, advanced):
        asked.append((experiment["run.seed"], experiment["traffic.load"]))
        return type("Run", (), {"verdict": VERDICT[experiment["traffic.load"] > 0.4], "cycles": 1000})

    monkeypatch.setattr(saturation, "run_keeping", run)
    found = fl.find_saturation(mesh, low=0.1, high=0.9, tolerance=0.05)
    assert [seed for seed, _ in asked] == list(range(5, 5 + len(asked)))
    assert [load for _, load in asked[:2]] == [0.9, 0.1]
    assert found.runs == len(asked) and found.cycles == 1000 * len(asked)
    assert found.interval[0] <= 0.4 <= found.interval[1]
    sure = fl.find_saturation(mesh, low=0.1, high=0.9, tolerance=0.05, confidence=0.999)
    assert sure.runs > found.runs and sure.interval[0] <= 0.4 <= sure.interval[1]


@pytest.mark.parametrize("confidence", [0.0, 1.0, float("nan")])
def test_a_confidence_is_between_0_and_1(mesh, confidence):
    with pytest.raises(fl.ConfigError, match=r"find_saturation\(confidence=.*\): it must be between 0 and 1"):
        fl.find_saturation(mesh, confidence=confidence)


def test_rounded_windows_warn_once_at_the_callers_line():
    torus = fl.Experiment.from_dict({"topology.shape": [4, 4], "run.warmup_cycles": 550, "run.measure_cycles": 1000,
                                     "run.epoch_cycles": 100})
    with pytest.warns() as reported:
        found = fl.find_saturation(torus, tolerance=0.2)
    assert found.runs > 1 and [w.filename for w in reported] == [__file__]
    assert str(reported[0].message).startswith("run.warmup_cycles = 550 is not a multiple of run.epoch_cycles = 100")


def test_a_search_that_takes_a_while_shows_how_far_it_is(mesh, monkeypatch, capsys):
    """The progress is also shown during a run, because a single run may take longer than a second."""
    monkeypatch.setattr(saturation, "run_keeping", slow_runs())
    found = fl.find_saturation(mesh, low=0.1, high=0.9, tolerance=0.2)
    shown = capsys.readouterr().err.split("\r")
    first = r"find_saturation: 1 runs \[\d\d:\d\d, load 0\.9 is saturated\]"
    assert any(re.search(first, line) for line in shown), shown
    assert f"find_saturation: {found.runs} runs [" in shown[-1], shown
    low, high = found.interval
    assert f"saturation begins at {low:.3g} to {high:.3g} with 95 % probability]" in shown[-1], shown
    fl.find_saturation(mesh, low=0.1, high=0.9, tolerance=0.2, progress=False)
    assert not capsys.readouterr().err


def slow_runs():
    """Returns a run function with the border at 0.4; its second run takes longer than a second and reports progress."""
    def run(experiment, backend, advanced):
        if experiment["run.seed"] == 6:
            for _ in range(6):
                time.sleep(0.25)
                advanced(1000)
        return type("Run", (), {"verdict": VERDICT[experiment["traffic.load"] > 0.4], "cycles": 1000})

    return run


@pytest.mark.parametrize(("runs", "known"), [
    (0, "no result yet"), (1, "load 0.9 is saturated"),
    (2, r"saturation begins at 0\.1\d* to 0\.8\d* with 95 % probability"),
])
def test_ctrl_c_reports_the_interval_so_far(mesh, monkeypatch, runs, known):
    left = [None] * runs

    def run(experiment, backend, advanced):
        if not left:
            os.kill(os.getpid(), signal.SIGTERM)  # SIGTERM has the same effect as Ctrl-C
            time.sleep(1)
        left.pop()
        return type("Run", (), {"verdict": VERDICT[experiment["traffic.load"] > 0.4], "cycles": 1000})

    monkeypatch.setattr(saturation, "run_keeping", run)
    with pytest.raises(KeyboardInterrupt, match=f"^find_saturation was stopped after {runs} runs: {known}\\.$"):
        fl.find_saturation(mesh, low=0.1, high=0.9, tolerance=0.05)
