"""Traffic matrices of weights and of rates: the load of each source in every model, and rejected files."""

import warnings

import numpy as np
import pytest

import flitlab as fl

SIZES = {"t3e": {"topology.shape": [4, 2, 2]}, "switch": {"topology.ports": 16}, "metro": {}}


def network(kind, **settings):
    return fl.Experiment.from_dict({"router.kind": kind} | SIZES.get(kind, {"topology.shape": [4, 4]}) | settings)


def matrix(terminals=16, step=0.004):
    """Returns a matrix in which source s sends s * step flits/cycle in total, to the next two terminals."""
    rates = np.zeros((terminals, terminals))
    for source in range(terminals):
        rates[source, (source + 1) % terminals] = source * step / 4
        rates[source, (source + 2) % terminals] = source * step * 3 / 4
    return rates


def offered(experiment, cycles=30000):
    """Returns flits per cycle that each terminal has created: packets times the mean packet length."""
    net = fl.Network(experiment, backend="cpu")
    net.step(cycles)
    lengths = experiment["traffic.packet_flits"]
    mean = sum(n * w for n, w in lengths) / sum(w for _, w in lengths) if isinstance(lengths, list) else lengths
    created = [net.terminal(i).created for i in range(int(experiment.derived()["terminals"]))]
    return np.array(created) * mean / cycles


@pytest.mark.parametrize("kind", [model["kind"] for model in fl._core.models()])
def test_each_source_offers_the_sum_of_its_row(kind):
    experiment = network(kind).with_pattern(matrix(), values="rates")
    measured, expected = offered(experiment), matrix().sum(axis=1)
    assert measured[0] == 0
    assert measured == pytest.approx(expected, rel=0.12, abs=0.003)
    weighted = offered(network(kind, **{"traffic.load": 0.03}).with_pattern(matrix()))
    assert weighted[1:] == pytest.approx(np.full(15, 0.03), rel=0.25)


def test_channels_are_loaded_by_the_rates():
    """Two flows of 0.4 and 0.04 flits/cycle. If flitlab read them as weights, their channels would carry equal load."""
    ring = network("vc", **{"topology.kind": "ring", "topology.shape": [8], "run.measure_cycles": 20000})
    flows = {0: {1: 0.4}, 4: {5: 0.04}}
    use = fl.run(ring.with_pattern(flows, values="rates")).channels.use
    assert sorted(use)[-2:] == pytest.approx([0.04, 0.4], rel=0.1)
    with pytest.warns(UserWarning, match=r'set traffic\.matrix_values = "rates"'):
        use = fl.run(ring.set("traffic.load", 0.2).with_pattern(flows)).channels.use
    assert sorted(use)[-2:] == pytest.approx([0.2, 0.2], rel=0.1)


def test_rates_replace_a_load():
    mesh = network("vc", **{"traffic.load": 0.2})
    given = mesh.with_pattern(matrix(), values="rates")
    assert "traffic.load" not in given
    assert given.with_pattern(matrix())["traffic.matrix_values"] == "rates"
    assert given.with_pattern(matrix(), values="weights")["traffic.load"] == 0.1
    # Traffic.matrix_values no longer applies and is removed.
    assert given.set("traffic.pattern", "uniform")["traffic.load"] == 0.1
    with pytest.raises(fl.ConfigError, match=r"^traffic\.load = 0\.3 has no effect here: it belongs to "
                                             r'traffic\.matrix_values other than "rates"'):
        given.set("traffic.load", 0.3)
    with pytest.raises(fl.ConfigError, match=r"source 11 add up to 1\.1 flits/cycle, and a terminal offers at most 1"):
        mesh.with_pattern(matrix(step=0.1), values="rates")
    with pytest.raises(fl.ConfigError, match=r"traffic\.matrix_values"):
        mesh.with_pattern(matrix(), values="loads")


def test_equal_sums_are_no_reason_to_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fl.run(network("vc").with_pattern(1 - np.eye(16)))
        fl.run(network("vc").with_pattern({3: {5: 1 / 3, 6: 2 / 3}, 4: 1}))
