"""The model of the rate, by hand: round numbers of work, one limit after the other."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "counts"))
import rates
import sass


def seconds(work, routers, replicas, limit, which="likely"):
    return rates.seconds_of_a_cycle(work, routers, replicas, which)[limit]


def work(instructions=0.0, clocks=0.0, bytes=0.0, state=0.0, crew=0, lookahead=1):
    def always(x):
        return dict.fromkeys(rates.LEVELS, x)

    return rates.Work(always(instructions), always(clocks), bytes, state, crew, lookahead)


def test_a_warp_that_is_alone_goes_on_by_itself():
    slow = work(clocks=1755)  # a microsecond
    alone = "a warp's instructions"
    assert seconds(slow, 64, 1, alone) == pytest.approx(1e-6)
    assert seconds(slow, 64, 132 * 8, alone) == pytest.approx(1e-6)  # eight blocks of 64 on each
    assert seconds(slow, 64, 132 * 8 + 1, alone) == pytest.approx(2e-6)
    assert seconds(slow, 1024, 132, alone) == pytest.approx(2e-6)  # two routers a thread
    assert rates.predict(slow, 64, 1).likely == pytest.approx(64 / (1e-6 + 50e-9))
    assert rates.predict(slow, 32768, 1).likely == pytest.approx(32768 / (1e-6 + 2e-6))  # a thread each, a grid
    ahead = work(clocks=1755, lookahead=4)  # a barrier of the grid in four cycles
    assert rates.predict(ahead, 32768, 1).likely == pytest.approx(32768 / (1e-6 + 0.5e-6))


def test_what_is_moved_and_issued_limits_a_full_device():
    small = work(instructions=20, bytes=1000, state=100)
    assert seconds(small, 64, 1320, "second cache") == pytest.approx(64 * 1320 * 1000 / (42 * 132 * 1e9))
    assert seconds(small, 64, 1, "second cache") == pytest.approx(64 * 1000 / 42e9)  # one multiprocessor's part
    assert seconds(small, 64, 1320, "issue") == pytest.approx(64 * 1320 * 20 / (132 * 4 * 1.755e9))
    assert seconds(small, 64, 1320, "memory") == 0  # 8 MB stay in the second cache
    large = work(instructions=20, bytes=1000, state=2000)
    assert seconds(large, 64, 1320, "memory") == pytest.approx(64 * 1320 * 1000 / 4.3e12)
    assert rates.predict(large, 64, 1320).limit == "memory"


def test_a_prediction_lies_in_its_range():
    some = rates.Work({"low": 340, "likely": 240, "high": 170}, {"low": 40000, "likely": 20000, "high": 10000},
                      bytes=3000, state=4000)
    for routers, replicas in rates.CASES.values():
        p = rates.predict(some, routers, replicas)
        assert 0 < p.low < p.likely < p.high


def test_measured_rates_stand_beside_their_predictions():
    counted = {"model": "vc", "load": 0.2, "routers": 64}
    some = work(instructions=240, clocks=20000, bytes=3000, state=4000)
    text = rates.table([counted, counted | {"model": "vc, one by one"}], [some, some],
                       {("vc", 0.2, 64, 1000): 1.234e9})
    rows = [line for line in text.splitlines() if line.startswith("| vc")]
    assert [row.endswith("| 1.23e+09 |") for row in rows] == [False, True, False] + [False] * 3


def test_constants_are_those_that_auto_chooses_by():
    assert rates.of_the_engine("kLoadNs") == 50
    assert rates.H200["barrier of the grid"].likely == pytest.approx(2e-6)


def test_lanes_have_a_warp_for_each_port():
    lanes = work(clocks=1755, crew=192)  # so many for 128 routers
    alone = "a warp's instructions"
    assert seconds(lanes, 64, 1, alone) == pytest.approx(1e-6)
    assert seconds(lanes, 64, 132 * 8, alone) == pytest.approx(1e-6)  # 8 networks of 96 threads on each
    assert seconds(lanes, 64, 132 * 8 + 1, alone) == pytest.approx(2e-6)
    assert seconds(lanes, 512, 1, "barrier") == pytest.approx(50e-9)  # 768 threads: a block
    assert seconds(lanes, 513, 1, "barrier") == pytest.approx(2e-6)


def test_clocks_follow_the_clock():
    assert rates.latencies("likely") == sass.Latencies(pytest.approx(50e-9 * 1.755e9), 29, 20)
