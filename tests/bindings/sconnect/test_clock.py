"""The distributed phase-locked loop: its configuration, its equations, diagnostics, and its published experiment."""

from pathlib import Path

import numpy as np
import pytest

import flitlab as fl
from flitlab.experiment import Experiment
from flitlab.sconnect import Fabric
from flitlab.sconnect.clock import (
    PPM,
    Loop,
    frequencies,
    frequency_difference,
    mean_frequency,
    oscillators,
    phases,
    radians,
)
from flitlab.sconnect.published import clock as published

CONFIGS = Path(__file__).parents[3] / "configs"


def network(*changes):
    return published.network(*changes)


def test_the_configuration_locks_under_traffic():
    e = fl.load(CONFIGS / "sconnect-pll.toml").set({"run.warmup_cycles": 40000, "run.measure_cycles": 2000})
    result = fl.run(e)
    assert result.model.clock_spread_ppm < 0.1
    assert result.model.slips == 0
    assert result.model.clocks_at_limit == 0


def test_far_off_oscillators_damage_slots():
    e = fl.load(CONFIGS / "sconnect-pll.toml").set({"run.warmup_cycles": 40000, "run.measure_cycles": 2000,
                                                    "clock.spread": 300})
    result = fl.run(e)
    assert result.model.slips > 100
    assert result.model.clock_spread_ppm > 1
    assert result.accepted == pytest.approx(0.2, rel=0.05)


def test_registers_are_signed():
    assert radians((1 << 64) - (1 << 31)) == -0.5
    assert radians(3 << 31) == 1.5


def test_the_matrix_of_a_ring_by_hand():
    loop = Loop.of(network(published.LINEAR, {"topology.kind": "hypercube", "topology.dimensions": 2}))
    assert np.array_equal(loop.matrix, [[-2, 1, 1, 0], [1, -2, 0, 1], [1, 0, -2, 1], [0, 1, 1, -2]])
    assert np.allclose(loop.eigenvalues, [0, -2, -2, -4])
    assert np.allclose(loop.rates, [0.001, 0.001, 0.002])
    assert len(loop.slowest) == 2


def test_averages_weigh_by_degree():
    """A line of three nodes: the middle one has twice the weight of the others, because the rows of the matrix are
    divided by 1, 2 and 1."""
    loop = Loop.of(network(published.LINEAR, {"topology.kind": "mesh", "topology.shape": [3],
                                              "clock.detector": "average", "clock.cable_phase": 0}))
    assert np.allclose(loop.weights, [0.25, 0.5, 0.25])
    assert np.allclose(loop.detector, [[-1, 1, 0], [0.5, -1, 0.5], [0, 1, -1]])
    assert np.allclose(loop.eigenvalues, np.sort(np.linalg.eigvals(loop.detector).real)[::-1])
    assert np.allclose(loop.eigenvalues, [0, -1, -2])
    assert loop.lock_frequency == pytest.approx(loop.weights @ loop.free / (1 + 2 * loop.gain))


def test_switches_have_one_oscillator_also_in_the_theory():
    tree = {"topology.kind": "tree", "topology.inner": "switches", "topology.arity": 9, "topology.levels": 2,
            "clock.gain": 0.01}
    net = network(published.LINEAR, tree)
    loop = Loop.of(net)
    assert [len(tics) for tics in oscillators(net)] == [3] + [1] * 9
    assert loop.shared.tolist() == [True] + [False] * 9
    assert loop.degrees.tolist() == [9] + [1] * 9
    assert published.decay(net, loop) == pytest.approx(float(loop.exact_rates[0]), rel=1e-3)
    assert mean_frequency(net, 20000) == pytest.approx(loop.lock_frequency, rel=1e-6)


def test_the_step_matrix_predicts_phases():
    """The step matrix predicts the phases after a step of the emulator from the phases of the preceding cycles."""
    net = network(published.LINEAR, published.FABRICS["tree, 13 nodes"],
                  {"clock.gain": 0.05, "clock.spread": 0, "clock.cable_phase": 0})
    step = Loop.of(net).step_matrix
    net.step(10)
    before = [phases(net)]
    for _ in range(len(step) // 13 - 1):
        before.insert(0, phases(net.step()))
    assert np.allclose((step @ np.concatenate(before))[:13], phases(net.step()), atol=1e-8)


def test_too_much_gain_is_unstable():
    """A switch adds the phases of nine channels. With a gain of 0.25 for each, a correction is larger than the phase
    error that causes it."""
    switch = {"topology.kind": "tree", "topology.inner": "switches", "topology.arity": 9, "topology.levels": 2}
    for gain, locks in ((0.25, False), (0.05, True)):
        net = network(published.LINEAR, switch, {"clock.gain": gain})
        assert (Loop.of(net).exact_rates[0] > 0) == locks
        assert (np.ptp(frequencies(net.step(3000))) < 1e-6) == locks


def test_differences_of_frequency_by_slips():
    net = network(published.TIC, published.CUBE, {"clock.spread": 300}).step(1000)
    free = Loop.of(net).free
    before = [Fabric(net).read_register(i, "clock_sends") for i in range(8)]
    for port, far in ((0, 1), (1, 2), (2, 4)):
        assert abs(frequency_difference(net, 0, port, 50000) - (free[far] - free[0])) < 2 * np.pi / 50000
    assert [Fabric(net).read_register(i, "clock_sends") for i in range(8)] == before
    assert Fabric(net).read_register(0, "clock_on") == 1


def test_diagnostics_refuse_what_cannot_be():
    net = network(published.TIC, published.CUBE)
    with pytest.raises(fl.ConfigError, match="port 3 of TIC 0 is not a serial channel"):
        frequency_difference(net, 0, 3, 100)
    with pytest.raises(fl.ConfigError, match="has no emulated clocks"):
        Loop.of(fl.Network(Experiment.from_dict({"router.kind": "sconnect"})))
    dual = network(published.TIC, published.CUBE, {"topology.node": "dual"})
    with pytest.raises(fl.ConfigError, match="shares its oscillator"):
        frequency_difference(dual, 0, 0, 100)


def test_the_faulty_oscillator_is_found(tmp_path):
    rows = published.faulty(tmp_path / "clocks.csv")
    assert {row["verdict"] for row in rows} == {"match", "holds", "context"}
    assert sum("by slips" in row["quantity"] for row in rows) == 3


def test_two_slopes_and_gains():
    assert [row["verdict"] for row in published.slopes()] == ["better", "context", "context", "holds"]
    assert [row["verdict"] for row in published.gains()] == ["match", "better"]


def test_equations_hold():
    rows = published.equations("hypercube, 8 nodes", published.CUBE)
    assert {row["verdict"] for row in rows} == {"match", "holds", "context"}


def test_a_locked_network_keeps_its_frequencies():
    net = network(published.TIC, published.CUBE).step(60000)
    first = frequencies(net)
    assert np.ptp(first) < 1e-4 * PPM
    assert np.allclose(frequencies(net.step(1000)), first, atol=1e-4 * PPM)
