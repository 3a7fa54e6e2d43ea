"""Patterns for with_pattern: destinations by hand, and the traffic that runs measure."""

import networkx as nx
import numpy as np
import pytest

import flitlab as fl
from flitlab import patterns


def targets(pattern, source, terminals):
    return {int(d): w for d, w in pattern(source, terminals).items()}


def test_a_stencil_has_the_neighbours_of_a_grid_graph():
    for shape, wraps in (([4, 5], True), ([4, 5], False), ([3, 4, 5], True), ([6], False)):
        # networkx counts the last dimension fastest
        graph = nx.convert_node_labels_to_integers(nx.grid_graph(shape, periodic=wraps), ordering="sorted")
        terminals = graph.number_of_nodes()
        for source in range(terminals):
            assert set(patterns.stencil(shape, wraps=wraps)(source, terminals)) == set(graph[source]), (shape, source)


def test_diagonals_are_the_cells_around():
    inner = targets(patterns.stencil([4, 4], diagonals=True, wraps=False), 5, 16)
    assert set(inner) == {0, 1, 2, 4, 6, 8, 9, 10}
    assert set(targets(patterns.stencil([4, 4], diagonals=True, wraps=False), 0, 16)) == {1, 4, 5}
    assert len(targets(patterns.stencil([3, 3, 3], diagonals=True), 0, 27)) == 26


def test_tornado_goes_nearly_half_way_in_one_dimension():
    assert targets(patterns.tornado([8, 4], 0), 0, 32) == {3: 1}
    assert targets(patterns.tornado([8, 4], 1), 30, 32) == {6: 1}  # y = 3 to y = 0
    assert targets(patterns.tornado([5], 0), 4, 5) == {1: 1}


def test_incast_has_the_senders_that_are_given():
    senders = [s for s in range(8) if targets(patterns.incast(6, 3), s, 8)]
    assert senders == [0, 1, 7]
    assert [s for s in range(8) if targets(patterns.incast(6, [2, 5]), s, 8)] == [2, 5]
    assert sum(bool(targets(patterns.incast(), s, 8)) for s in range(8)) == 7


def test_permutations_differ_by_seed_only():
    first, same, other = ([next(iter(p(s, 64))) for s in range(64)]
                          for p in map(patterns.permutation, (3, 3, 4)))
    assert first == same != other
    assert sorted(first) == list(range(64))


def test_a_mixture_has_the_shares_of_its_parts():
    array = np.zeros((8, 8))
    array[:, 7] = 5
    mixed = patterns.mixture((3, patterns.uniform), (1, patterns.incast(2, 1)), (1, array))
    assert targets(mixed, 3, 8)[2] == pytest.approx((3 / 8 + 1) / 5)  # sender of the incast
    assert targets(mixed, 4, 8)[2] == pytest.approx(3 / 8 / 4)
    assert targets(mixed, 4, 8)[7] == pytest.approx((3 / 8 + 1) / 4)


def test_a_run_of_a_mixture_has_its_channel_loads():
    """The incast alone fills terminal 0: half of the traffic of 15 terminals, and the uniform share of all."""
    e = fl.Experiment.from_dict({"topology.kind": "mesh", "topology.shape": [4, 4]}).with_pattern(
        patterns.mixture((1, patterns.uniform), (1, patterns.incast(0))))
    arriving = 15 * 0.5 + 15 * 0.5 / 16 + 1 / 16
    assert e.derived()["saturation_load_bound"] == pytest.approx(1 / arriving, rel=1e-3)
    assert not fl.run(e.set("traffic.load", 0.8 / arriving)).saturated
    assert fl.run(e.set("traffic.load", 1.15 / arriving)).saturated


@pytest.mark.parametrize(("pattern", "words"), [
    (patterns.stencil([3, 3]), ["stencil", "[3, 3]", "16"]),
    (patterns.tornado([4, 4], 2), ["dimension=2", "0 to 1"]),
    (patterns.incast(16), ["to=16", "0 to 15"]),
    (patterns.incast(0, 16), ["senders=16", "1 to 15"]),
    (patterns.incast(0, [0, 1]), ["senders=[0, 1]", "other than 0"]),
    (patterns.incast(0, 3.5), ["senders=3.5"]),
    (patterns.stencil(16), ["stencil(16)", "a list of radices"]),
])
def test_a_wrong_number_has_one_clear_message(pattern, words):
    e = fl.Experiment.from_dict({"topology.kind": "mesh", "topology.shape": [4, 4]})
    with pytest.raises(fl.ConfigError) as error:
        e.with_pattern(pattern)
    assert all(word in str(error.value) for word in words)


def test_a_mixture_needs_parts():
    assert patterns.mixture((np.float32(1), patterns.uniform))(0, 4) == dict.fromkeys(range(4), 0.25)
    with pytest.raises(fl.ConfigError, match="seed=-1"):
        patterns.permutation(-1)
    for parts in ((), (patterns.uniform,), ((0, patterns.uniform),), ((np.inf, patterns.uniform),)):
        with pytest.raises(fl.ConfigError, match="mixture"):
            patterns.mixture(*parts)
