"""The model of the rate, by hand: round numbers of work, one limit after the other."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "counts"))
import rates


def seconds(work, routers, replicas, limit, which="likely"):
    return rates.seconds_of_a_cycle(work, routers, replicas, which)[limit]


def test_a_thread_waits_for_its_loads_one_after_the_other():
    work = rates.Work(warp_blocks=0, bytes=0, longest=10, state=0)
    assert seconds(work, 64, 1, "latency") == pytest.approx(10 * 50e-9)
    assert seconds(work, 64, 132 * 8, "latency") == pytest.approx(10 * 50e-9)  # eight blocks of 64 on each
    assert seconds(work, 64, 132 * 8 + 1, "latency") == pytest.approx(2 * 10 * 50e-9)
    assert seconds(work, 1024, 132, "latency") == pytest.approx(2 * 10 * 50e-9)  # two routers a thread
    assert rates.predict(work, 64, 1).likely == pytest.approx(64 / (10 * 50e-9 + 50e-9))
    assert rates.predict(work, 32768, 1).likely == pytest.approx(32768 / (10 * 50e-9 + 2e-6))  # a thread each, a grid


def test_what_is_moved_and_issued_limits_a_full_device():
    work = rates.Work(warp_blocks=1, bytes=1000, longest=0, state=100)
    assert seconds(work, 64, 1320, "second cache") == pytest.approx(64 * 1320 * 1000 / (42 * 132 * 1e9))
    assert seconds(work, 64, 1, "second cache") == pytest.approx(64 * 1000 / 42e9)  # one multiprocessor's part
    assert seconds(work, 64, 1320, "issue") == pytest.approx(64 * 1320 * 20 / (132 * 4 * 1.755e9))
    assert seconds(work, 64, 1320, "memory") == 0  # 8 MB stay in the second cache
    large = rates.Work(warp_blocks=1, bytes=1000, longest=0, state=2000)
    assert seconds(large, 64, 1320, "memory") == pytest.approx(64 * 1320 * 1000 / 4.3e12)
    assert rates.predict(large, 64, 1320).limit == "memory"


def test_a_prediction_lies_in_its_range():
    work = rates.Work(warp_blocks=12, bytes=3000, longest=174, state=4000)
    for routers, replicas in rates.CASES.values():
        p = rates.predict(work, routers, replicas)
        assert 0 < p.low < p.likely < p.high


def test_measured_rates_stand_beside_their_predictions():
    counted = {"model": "vc", "load": 0.2, "routers": 64, "cycles": 20, "replicas": 1, "state_bytes": 64 * 4000,
               "warp_blocks": 12 * 64 * 20, "load_sectors": 90 * 64 * 20, "store_sectors": 4 * 64 * 20,
               "longest": 174 * 20}
    text = rates.table([counted], {("vc", 0.2, 64, 1000): 1.234e9})
    rows = [line for line in text.splitlines() if line.startswith("| vc")]
    assert [row.endswith("| 1.23e+09 |") for row in rows] == [False, True, False]


def test_constants_are_those_that_auto_chooses_by():
    assert rates.of_the_engine("kLoadNs") == 50
    assert rates.H200["barrier of the grid"].likely == pytest.approx(2e-6)


def test_lanes_have_a_quarter_of_the_threads():
    work = rates.Work(warp_blocks=1, bytes=0, longest=10, state=0, routers_of_a_thread=4)
    assert seconds(work, 64, 1, "latency") == pytest.approx(10 * 50e-9)
    assert seconds(work, 64, 132 * 16, "latency") == pytest.approx(10 * 50e-9)  # 16 networks of 16 threads on each
    assert seconds(work, 64, 132 * 16 + 1, "latency") == pytest.approx(2 * 10 * 50e-9)
    assert seconds(work, 64, 1, "a warp's instructions") == pytest.approx(128 * 20 * 4 / 1.755e9)
    assert seconds(work, 1024, 1, "barrier") == pytest.approx(50e-9)  # 256 threads: a block
    assert seconds(work, 1025, 1, "barrier") == pytest.approx(2e-6)
