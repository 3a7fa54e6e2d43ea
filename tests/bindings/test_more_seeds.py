"""Sweeps that add seeds: compared with plain sweeps of as many seeds, and with the formula of the interval."""

import statistics
from concurrent.futures import ProcessPoolExecutor

import pytest

import flitlab as fl
from flitlab.more_seeds import Until, until_of
from flitlab.over_seeds import student

OVER = {"router.vcs": [1, 4], "traffic.load": [0.1, 0.3, 0.9]}


@pytest.fixture(scope="module")
def small():
    return fl.Experiment.from_dict({"topology.kind": "mesh", "topology.shape": [4, 4], "run.warmup_cycles": 500,
                                    "run.measure_cycles": 1000})


def seeds_of(curve, point):
    return [row["run.seed"] for row in curve.rows if all(row[key] == value for key, value in point.items())]


def relative(latencies):
    """Returns the relative half-width, computed apart from flitlab's mean_and_half."""
    error = statistics.stdev(latencies) / len(latencies) ** 0.5
    return student(len(latencies) - 1) * error / statistics.mean(latencies)


@pytest.fixture(scope="module")
def narrow(small):
    with pytest.warns(UserWarning, match="after 12 seeds"):
        return fl.sweep(small, OVER, seeds=2, until=0.02, most_seeds=12, progress=False)


def test_seeds_are_added_until_the_interval_is_narrow(narrow):
    counts = {}
    for vcs in OVER["router.vcs"]:
        for load in OVER["traffic.load"]:
            rows = [row for row in narrow.rows if (row["router.vcs"], row["traffic.load"]) == (vcs, load)]
            counts[vcs, load] = len(rows)
            assert [row["run.seed"] for row in rows] == list(range(1, len(rows) + 1))
            latencies = [row["latency_mean"] for row in rows]
            if None in latencies:  # saturated, or a window too short to tell
                continue
            assert relative(latencies) <= 0.02 or len(rows) == 12
            before = {3: 2, 4: 3, 6: 4, 9: 6, 12: 9}.get(len(rows))
            assert before is None or relative(latencies[:before]) > 0.02
    assert max(counts.values()) > 2 and counts[1, 0.9] == 2


def test_the_runs_are_those_of_a_plain_sweep_with_as_many_seeds(small, narrow):
    plain = {(row["router.vcs"], row["traffic.load"], row["run.seed"]): row
             for row in fl.sweep(small, OVER, seeds=12, progress=False).rows}
    assert [plain[row["router.vcs"], row["traffic.load"], row["run.seed"]] for row in narrow.rows] == list(narrow.rows)
    points = [(row["router.vcs"], row["traffic.load"], row["run.seed"]) for row in narrow.rows]
    assert points == sorted(points)


@pytest.mark.filterwarnings("ignore:after 12 seeds")
def test_a_sweep_in_a_folder_or_on_workers_has_the_same_table(small, narrow, tmp_path):
    how = {"seeds": 2, "until": 0.02, "most_seeds": 12, "progress": False}
    kept = fl.sweep(small, OVER, out=tmp_path, **how)
    assert kept.csv_text() == narrow.csv_text() == fl.Curve.read(tmp_path).csv_text()
    journal = tmp_path / "points.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    for left in (5, len(lines) - 1):  # interrupted in the first round and in the last one
        journal.write_text("".join(lines[:left]))
        assert fl.sweep(small, OVER, out=tmp_path, resume=True, **how).csv_text() == narrow.csv_text()
        assert len(journal.read_text().splitlines()) == len(lines)
    with ProcessPoolExecutor(2) as pool:
        assert fl.sweep(small, OVER, executor=pool, **how).csv_text() == narrow.csv_text()


def test_one_seed_has_no_interval_so_a_second_one_runs(small):
    curve = fl.sweep(small, {"traffic.load": [0.1, 0.9], "router.vcs": [1]}, until=0.5, progress=False)
    assert seeds_of(curve, {"traffic.load": 0.1}) == [1, 2] and seeds_of(curve, {"traffic.load": 0.9}) == [1]


@pytest.mark.filterwarnings("ignore:after 5 seeds")
def test_a_list_of_seeds_is_continued(small):
    curve = fl.sweep(small, {"traffic.load": [0.1]}, seeds=[7, 3], until=1e-6, most_seeds=5, progress=False)
    assert seeds_of(curve, {}) == [7, 3, 8, 9, 10]


@pytest.mark.filterwarnings("ignore:after 4 seeds")
def test_adaptive_loads_get_further_seeds(small):
    over = {"traffic.load": fl.adaptive(0.1, 0.9, 0.1)}
    curve = fl.sweep(small, over, seeds=2, until=0.01, most_seeds=4, progress=False)
    loads = [row["traffic.load"] for row in curve.rows]
    assert loads == sorted(loads) and {loads.count(load) for load in loads} == {2, 4}


def test_points_that_stay_wide_are_named(small, cli):
    with pytest.warns(UserWarning, match=r"after 3 seeds \(most_seeds\), the mean latency is known less precisely than "
                                         r"\+- 0\.01 % \(until\) at traffic\.load = 0\.1 \(\+- [\d.]+ %\)\.$"):
        fl.sweep(small, {"traffic.load": [0.1]}, until=1e-4, most_seeds=3, progress=False)
    done = cli("sweep", "vc-mesh-8x8", "--set", "run.warmup_cycles=500", "--set", "run.measure_cycles=500", "--over",
               "traffic.load=0.1,0.2", "--until", "0.0001", "--most-seeds", "3", "--out", "curve")
    assert done.returncode == 0, done.stderr
    assert "flitlab: warning: after 3 seeds (--most-seeds), the mean latency is known less" in done.stderr
    assert "traffic.load = 0.1 (+- " in done.stderr and "; traffic.load = 0.2 (+- " in done.stderr


def test_many_wide_points_are_counted():
    settings = [{"traffic.load": load / 10, "run.seed": seed} for load in range(8) for seed in (1, 2)]
    results = [{"latency_cycles": {"mean": 10 * (1 + i)}} for i in range(16)]
    assert Until(1e-6, 2).too_wide(settings, results).endswith("; and 3 more.")
    assert Until(1e-6, 2).more(settings, results) == []


def test_a_run_without_latency_gets_no_further_seed():
    settings = [{"traffic.load": 0.5, "run.seed": 1}]
    assert Until(0.1, 20).more(settings, [{"latency_cycles": {"mean": None}}]) == []
    assert Until(0.1, 20).more(settings, [{"latency_cycles": {"mean": 3.0}}]) == [{"traffic.load": 0.5, "run.seed": 2}]


@pytest.mark.parametrize(("how", "message"), [
    ({"until": 0}, "until = 0: it must be a number above 0 and below 1"),
    ({"until": 2}, "until = 2: it must be a number above 0 and below 1"),
    ({"until": "2 %"}, "until = '2 %': it must be a number above 0"),
    ({"until": 0.02, "most_seeds": 1}, "most_seeds = 1: it must be a whole number from 2"),
    ({"until": 0.02, "seeds": 30}, "seeds = 30: each point starts with 30 seeds, more than most_seeds = 20; raise"),
])
def test_wrong_arguments_are_reported(small, how, message):
    with pytest.raises(fl.ConfigError, match=message):
        fl.sweep(small, {"traffic.load": [0.1]}, progress=False, **how)


def test_varied_seeds_and_added_ones_exclude_each_other(small, cli):
    with pytest.raises(fl.ConfigError, match=r"over run\.seed and until both choose seeds"):
        fl.sweep(small, {"run.seed": [1, 2]}, until=0.02, progress=False)
    assert until_of(None, 20, 1, ["run.seed"]) is None
    done = cli("sweep", "vc-mesh-8x8", "--over", "run.seed=1,2", "--until", "0.02")
    assert done.returncode == 2 and done.stderr.startswith("flitlab: --over run.seed and --until both choose seeds")
