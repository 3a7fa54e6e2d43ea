"""Algorithms of collective operations: executed on sets of contributions, timed by hand, and run on networks."""

import math
from collections import Counter, deque

import pytest

import flitlab as fl
from flitlab.operations import Schedule, bytes_of
from flitlab.schedules import ALGORITHMS, Shape

ALL = [(operation, name) for operation, known in ALGORITHMS.items() for name in known]


def first_buffers(operation: str, ranks: int, blocks: int) -> list[dict[int, Counter]]:
    """[rank] block -> how often it has the contribution of each rank, before an operation."""
    if operation in ("allreduce", "reduce_scatter", "reduce"):
        return [{block: Counter([rank]) for block in range(blocks)} for rank in range(ranks)]
    if operation == "allgather":
        return [{rank: Counter([rank])} for rank in range(ranks)]
    if operation == "alltoall":
        return [{rank * ranks + to: Counter([rank]) for to in range(ranks)} for rank in range(ranks)]
    return [{block: Counter([0]) for block in range(blocks)}] + [{} for _ in range(ranks - 1)]


def last_buffers(operation: str, ranks: int, blocks: int) -> list[dict[int, Counter]]:
    """What each rank must have afterwards."""
    everything = Counter(range(ranks))
    if operation == "allreduce":
        return [{block: everything for block in range(blocks)} for _ in range(ranks)]
    if operation == "reduce":
        return [{block: everything for block in range(blocks)}] + [{} for _ in range(ranks - 1)]
    if operation == "reduce_scatter":
        return [{rank: everything} for rank in range(ranks)]
    if operation == "allgather":
        return [{block: Counter([block]) for block in range(ranks)} for _ in range(ranks)]
    if operation == "alltoall":
        return [{source * ranks + rank: Counter([source]) for source in range(ranks)} for rank in range(ranks)]
    return [{block: Counter([0]) for block in range(blocks)} for _ in range(ranks)]


def execute(operation: str, name: str, shape: Shape) -> list[dict[int, Counter]]:
    algorithm = ALGORITHMS[operation][name]
    buffers = first_buffers(operation, shape.ranks, algorithm.blocks(shape))
    steps = [deque(algorithm.steps(shape, rank)) for rank in range(shape.ranks)]
    sent = [False] * shape.ranks  # whether the first step that is left has sent
    messages: dict[tuple[int, int], deque] = {}
    moved = True
    while moved:
        moved = False
        for rank, left in enumerate(steps):
            while left:
                step = left[0]
                if step.send and not sent[rank]:
                    peer, blocks = step.send
                    messages.setdefault((rank, peer), deque()).append(
                        [(block, buffers[rank][block].copy()) for block in blocks])
                    sent[rank] = moved = True
                if step.receive:
                    queue = messages.get((step.receive[0], rank))
                    if not queue:
                        break
                    message = queue.popleft()
                    assert [block for block, _ in message] == list(step.receive[1])
                    for block, content in message:
                        buffers[rank][block] = buffers[rank][block] + content if step.combine else content
                left.popleft()
                sent[rank], moved = False, True
    assert not any(steps) and not any(messages.values())
    return buffers


@pytest.mark.parametrize("ranks", [2, 3, 4, 7, 8, 12, 16, 17])
@pytest.mark.parametrize("operation, name", ALL)
def test_every_rank_gets_each_contribution_once(operation, name, ranks):
    for segments in (1, 3):
        shape = Shape(ranks, segments, (2, ranks // 2) if ranks % 2 == 0 else (ranks,))
        if ALGORITHMS[operation][name].why_not(shape):
            continue
        buffers = execute(operation, name, shape)
        blocks = ALGORITHMS[operation][name].blocks(shape)
        for mine, expected in zip(buffers, last_buffers(operation, ranks, blocks), strict=True):
            assert {block: mine.get(block) for block in expected} == expected


def times(operation, name, ranks, size, **more):
    """Time without contention of a network in which a message of n bytes takes 10 + n cycles."""
    return Schedule(operation, name, Shape(ranks, 4, (2, ranks // 2)), size).alpha_beta(10, lambda n: n, **more)


def test_times_without_contention_are_the_textbook_ones():
    assert times("allreduce", "ring", 8, 800) == 2 * 7 * (10 + 100)
    assert times("allreduce", "recursive_doubling", 8, 800) == 3 * (10 + 800)
    assert times("allreduce", "halving_doubling", 8, 800) == 2 * (3 * 10 + 400 + 200 + 100)
    assert times("allreduce", "tree", 8, 800) == 2 * 3 * (10 + 800)
    assert times("allreduce", "by_dimension", 8, 800) == 2 * (10 + 400 + 3 * (10 + 100))
    assert times("allgather", "bruck", 8, 800) == 3 * 10 + 100 + 200 + 400
    assert times("alltoall", "pairwise", 8, 800) == 7 * (10 + 100)
    assert times("alltoall", "bruck", 8, 800) == 3 * (10 + 4 * 100)
    assert times("broadcast", "tree", 8, 800) == 3 * (10 + 800)
    assert times("broadcast", "chain", 8, 800) == (7 + 4 - 1) * 200 + 7 * 10
    assert times("reduce_scatter", "ring", 8, 800, combine=0.5) == 7 * (10 + 100 + 50)
    assert times("reduce", "tree", 2, 800, send=3, receive=4) == 3 + 800 + 10 + 4


def test_two_trees_use_both_directions_of_all_ranks():
    """No rank sends more than twice the buffer, and the time of many segments approaches that."""
    long = Schedule("allreduce", "double_tree", Shape(16, 200, ()), 200_000)
    sent = [sum(long.bytes_of(step.send[1]) for step in long.steps(rank) if step.send) for rank in range(16)]
    assert max(sent) <= 2 * 200_000
    assert long.alpha_beta(10, lambda n: n) < 1.25 * 2 * 200_000
    assert Schedule("allreduce", "tree", Shape(16, 1, ()), 200_000).alpha_beta(10, lambda n: n) == 8 * 200_010


@pytest.mark.parametrize("text, size", [("1MB", 10**6), ("64 KiB", 65536), ("1.5kB", 1500), (17, 17), ("17", 17)])
def test_sizes_have_units(text, size):
    assert bytes_of(text) == size


@pytest.mark.parametrize("wrong", ["", "1 XB", 0, -5, "0", 1.5, "1.5", None, True])
def test_wrong_sizes_have_a_message(wrong):
    with pytest.raises(fl.ConfigError, match=r"size = .*: it must be a whole number of bytes, at least 1, or .*1MB"):
        bytes_of(wrong)


def test_a_switch_reaches_the_time_without_contention():
    """An output-queued switch has no contention in a ring: every rank sends to one rank. A step takes a constant time
    more than in the model, because the switch stores whole packets and the model has the latency of a flit."""
    switch = {"router.kind": "switch", "topology.ports": 4}
    few, many = (fl.collective("allreduce", size, "ring", switch).frame.iloc[0] for size in (960, 96_000))
    assert many["cycles"] - few["cycles"] == many["alpha_beta"] - few["alpha_beta"]
    assert few["alpha_beta"] < few["cycles"] <= few["alpha_beta"] + 6 * (8 + 2)


@pytest.mark.parametrize("network", [
    {"topology.kind": "torus", "topology.shape": [4, 4]}, {"topology.kind": "mesh", "topology.shape": [4, 4]},
    {"topology.kind": "fat_tree"}, {"router.kind": "bgl", "topology.shape": [4, 4]},
], ids=["torus", "mesh", "fat tree", "Blue Gene/L"])
def test_no_algorithm_beats_the_bounds(network):
    for operation in ("allreduce", "alltoall", "broadcast"):
        frame = fl.collective(operation, "24kB", network=network, progress=False).frame
        assert len(frame) >= 2
        for row in frame.itertuples():
            assert row.cycles >= row.bandwidth_bound
            assert math.isnan(row.bisection_bound) or row.cycles >= row.bisection_bound


def test_the_bounds_of_a_torus():
    """Packets have 240 bytes and 8 flits. The busiest rank of 16 sends 15/16 of 24,000 bytes twice: 187 packets, and
    one with 120 + 16 bytes. 100 packets cross the middle, which has 8 channels in each direction."""
    torus = {"topology.kind": "torus", "topology.shape": [4, 4]}
    row = fl.collective("allreduce", 24_000, "ring", torus).frame.iloc[0]
    assert (row["bandwidth_bound"], row["bisection_bound"]) == (187 * 8 + 5, 100 * 8 / 8)
    assert math.isnan(fl.collective("allreduce", 24_000, "ring", torus, ranks=4).frame["bisection_bound"][0])


def test_a_table_and_a_picture():
    found = fl.collective("allreduce", ["1kB", "16kB"], None, {"topology.shape": [4, 4]})
    frame = found.frame
    assert list(frame.columns) == ["operation", "algorithm", "ranks", "bytes", "cycles", "alpha_beta",
                                   "bandwidth_bound", "bisection_bound"]
    assert set(frame["algorithm"]) == set(ALGORITHMS["allreduce"])
    axes, = found.plot()
    assert axes.get_xlabel() == "size (bytes)" and axes.get_ylabel() == "time (cycles)"
    assert len(axes.get_legend().get_texts()) == 6 + 3
    with pytest.raises(fl.ConfigError, match="there are 12 rows, not one"):
        print(found.cycles)
    assert fl.collective("reduce", 100, "tree", {"topology.shape": [4, 4]}, ranks=2).cycles > 0


@pytest.mark.parametrize("arguments, message", [
    (("allredcue", 8), "operation = 'allredcue': it must be one of allreduce.* Did you mean allreduce"),
    (("allreduce", 8, "rign"), "algorithm = 'rign': for allreduce it must be one of ring.* Did you mean ring"),
    (("allgather", 8, "recursive_doubling", {"topology.shape": [3, 2]}), "fit 6 ranks: it needs a power of two"),
])
def test_wrong_names_have_a_message(arguments, message):
    with pytest.raises(fl.ConfigError, match=message):
        fl.collective(*arguments)


@pytest.mark.parametrize("options, message", [
    ({"ranks": 65}, "ranks = 65: it must be 2 to 64"), ({"segments": 0}, "segments = 0: it must be a whole number"),
    ({"dimensions": [3, 3]}, r"dimensions = \[3, 3\]: their product must be the number of ranks, 64"),
    ({"traffic": {"traffic.load": 0.1}}, "traffic.load"),
])
def test_wrong_options_have_a_message(options, message):
    with pytest.raises(fl.ConfigError, match=message):
        fl.collective("allreduce", 8, **options)
