"""Sweeps that choose their loads, compared with a network whose saturation is known and with a plain sweep."""

from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise

import pytest

import flitlab as fl
from flitlab.refinement import BEND, Adaptive
from flitlab.sweeps import parse_over


def queue(load, border):
    """Returns one seed's result of a queue with latency 20 / (1 - load / border); loads of at least ``border`` are
    saturated."""
    saturated = load >= border
    return [{"saturated": saturated, "latency_cycles": {"mean": None if saturated else 20 / (1 - load / border)}}]


def searched(loads: Adaptive, border):
    measured = {load: queue(load, border) for load in loads.first()}
    rounds = 0
    while more := loads.next(measured):
        assert not set(more) & set(measured)
        measured |= {load: queue(load, border) for load in more}
        rounds += 1
    return measured, rounds


@pytest.mark.parametrize("border", [0.015, 0.1, 0.3701, 0.62, 0.995])
def test_the_border_is_enclosed_and_the_curve_is_even(border):
    measured, rounds = searched(fl.adaptive(0, 1, 0.01), border)
    steady = sorted(load for load, results in measured.items() if not results[0]["saturated"])
    saturated = sorted(load for load, results in measured.items() if results[0]["saturated"])
    assert saturated[0] - steady[-1] == pytest.approx(0.01)
    assert steady[-1] < border <= saturated[0]
    for left, right in pairwise(steady):
        latencies = [measured[load][0]["latency_cycles"]["mean"] for load in (left, right)]
        assert latencies[1] <= BEND * latencies[0] or right - left == pytest.approx(0.01)
    assert len(measured) < 30 and rounds <= 4  # the initial gap of 1 / 8 is halved until it is one step of 0.01
    assert all(load == round(load, 2) for load in measured)  # loads are exact in decimal


def test_what_never_saturates_is_only_bent():
    measured, _ = searched(fl.adaptive(0.1, 0.5, 0.001), 1e9)
    assert sorted(measured) == [pytest.approx(0.1 + 0.05 * i) for i in range(9)]


def test_load_0_measures_nothing():
    assert fl.adaptive(0, 1).first()[0] == 0.01 and fl.adaptive(0.2, 1).first()[0] == 0.2
    assert fl.adaptive(0, 0.02, 0.01).first() == [0.01, 0.02]


def test_one_seed_that_saturates_is_enough():
    loads = fl.adaptive(0, 1, 0.125)
    sound, full = queue(0.1, 1)[0], queue(1, 1)[0]
    measured = {load: [sound, full if load > 0.6 else sound] for load in loads.first()}
    assert loads.next(measured) == []
    finer = fl.adaptive(0, 1, 0.0625)
    assert finer.next({load: [sound, full if load > 0.6 else sound] for load in finer.first()}) == [0.5625]


@pytest.fixture
def small():
    return fl.Experiment.from_dict({"topology.kind": "mesh", "topology.shape": [4, 4], "run.warmup_cycles": 500,
                                    "run.measure_cycles": 2000})


def test_a_sweep_refines_each_of_its_lines(small):
    curve = fl.sweep(small, {"traffic.load": fl.adaptive(0, 1, 0.02), "router.vcs": [1, 4]}, seeds=2, progress=False)
    points = [(row["traffic.load"], row["router.vcs"], row["run.seed"]) for row in curve.rows]
    assert points == sorted(points) and len(points) == len(set(points))
    assert len(points) == 2 * len({point[:2] for point in points})  # both seeds for each load
    borders = {}
    for vcs in (1, 4):
        rows = [row for row in curve.rows if row["router.vcs"] == vcs]
        assert {row["run.seed"] for row in rows} == {1, 2}
        loads = sorted({row["traffic.load"] for row in rows})
        first = min(row["traffic.load"] for row in rows if row["saturated"])
        assert loads[loads.index(first) - 1] == pytest.approx(first - 0.02)
        borders[vcs] = first
    assert borders[1] < borders[4]
    # Each point has the results that it has in a plain sweep.
    row = next(r for r in curve.rows if r["traffic.load"] == borders[4] and r["router.vcs"] == 4)
    settings = {key: row[key] for key in ("traffic.load", "router.vcs", "run.seed")}
    assert fl.run(small.set(settings)).state_hash == row["state_hash"]


def test_it_is_the_same_on_workers_and_when_resumed(small, tmp_path):
    over = {"traffic.load": fl.adaptive(0.1, 0.9, 0.05)}
    alone = fl.sweep(small, over, out=tmp_path, progress=False)
    with ProcessPoolExecutor(2) as pool:
        assert fl.sweep(small, over, executor=pool, progress=False).csv_text() == alone.csv_text()
    journal = tmp_path / "points.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(lines[:5]))
    assert fl.sweep(small, over, out=tmp_path, resume=True, progress=False).csv_text() == alone.csv_text()
    again = journal.read_text().splitlines(keepends=True)
    assert again[:5] == lines[:5] and len(again) == len(lines)


def test_loads_are_exact_and_end_with_the_highest():
    assert fl.adaptive(0.1, 0.11, 0.01).first() == [0.1, 0.11]
    assert fl.adaptive(0.2, 0.3, 0.1).first() == [0.2, 0.3]
    assert fl.adaptive(0, 1, 0.3).first() == [0.3, 0.6, 0.9, 1]
    assert fl.adaptive(0.05, 0.5, 0.2).first() == [0.05, 0.25, 0.45, 0.5]


def test_slips_are_reported(small):
    assert parse_over("traffic.load=adaptive:0:0.5:0.02") == ("traffic.load", fl.adaptive(0, 0.5, 0.02))
    assert parse_over("traffic.load=adaptive:0:1") == ("traffic.load", fl.adaptive())
    for text in ("adaptive:0", "adaptive:a:b", "adaptive:0:1:0.1:2", "adaptive:"):
        with pytest.raises(fl.ConfigError, match="adaptive:LOW:HIGH"):
            parse_over(f"traffic.load={text}")
    for slip in ((0.5, 0.5), (0, 2), (-1, 1), (0, 1, 0), (0, 1, 2), (0, 1, 1e-9), ("a", 1), (float("nan"), 1),
                 (0, 1, float("nan")), (0, float("inf")), (None, 1)):
        with pytest.raises(fl.ConfigError, match=r"adaptive\(low="):
            fl.adaptive(*slip)
    with pytest.raises(fl.ConfigError, match=r"over router\.vcs: only traffic\.load"):
        fl.sweep(small, {"router.vcs": fl.adaptive()}, progress=False)
