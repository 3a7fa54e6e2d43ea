"""Barriers and eurekas, by hand, in partitions and around broken links."""

import pytest
from t3e_machines import build

from flitlab import ConfigError, Network, t3e


def by_hand(changes: dict) -> Network:
    return Network(build({"barrier.units": 2, "barrier.operation": "by_hand", "traffic.load": 0.0} | changes))


def test_a_barrier_by_hand():
    """Figure 6 (a): OP_BAR takes a unit from S_BAR to S_ARM. The unit returns to S_BAR when all PEs have joined, and
    not earlier."""
    network = by_hand({"topology.shape": [2, 2, 1]})
    for pe in (0, 1, 2):
        t3e.Machine(network).barrier_operation(pe, "OP_BAR")
        network.step(50)
    assert [t3e.Machine(network).barrier_state(pe) for pe in range(4)] == ["S_ARM"] * 3 + ["S_BAR"]
    assert len(t3e.Machine(network).barrier_register(0).joined) == 2  # joined: its own PE and one completed subtree
    with pytest.raises(ConfigError, match="OP_BAR of PE 0 on barrier unit 0 is not possible in state S_ARM"):
        t3e.Machine(network).barrier_operation(0, "OP_BAR")
    t3e.Machine(network).barrier_operation(3, "OP_BAR")
    network.step(7 + 3 * 2 + 3 * 2 + 10)  # two hops to the root and back
    assert network.totals["barriers"] < 4
    network.step(1)
    assert [t3e.Machine(network).barrier_state(pe) for pe in range(4)] == ["S_BAR"] * 4
    assert network.totals["barriers"] == 4 and t3e.Machine(network).barrier_state(0, 1) == "S_BAR"


def test_a_eureka_by_hand():
    """Figure 6 (b): one PE signals, all others are notified, and all join before the next eureka."""
    network = by_hand({"topology.shape": [2, 2, 1]})
    t3e.Machine(network).barrier_operation(2, "OP_EUR")
    assert t3e.Machine(network).barrier_state(2) == "S_EUR"
    network.step(60)
    assert [t3e.Machine(network).barrier_state(pe) for pe in range(4)] == ["S_EUR"] * 4
    with pytest.raises(ConfigError, match="not possible in state S_EUR"):
        t3e.Machine(network).barrier_operation(1, "OP_EUR")
    for pe in range(4):
        t3e.Machine(network).barrier_operation(pe, "OP_BAR")
    network.step(60)
    assert [t3e.Machine(network).barrier_state(pe) for pe in range(4)] == ["S_BAR"] * 4
    t3e.Machine(network).barrier_operation(1, "OP_EUR_B")
    network.step(60)
    assert [t3e.Machine(network).barrier_state(pe) for pe in range(4)] == ["S_EUR", "S_ARM", "S_EUR", "S_EUR"]


def test_barriers_of_partitions():
    """Each partition has a separate barrier unit. The unit's tree spans only the PEs of its partition, if necessary
    through routers of other partitions."""
    experiment = build({"topology.shape": [4, 4, 2], "topology.partitions": [0, 15, 20, 3], "barrier.units": 2,
                        "traffic.load": 0.1})
    network = Network(experiment).step(3000)
    rounds = network.totals["barriers"]
    assert rounds > 20 * 20
    register = t3e.Machine(network).barrier_register
    assert "PE" in register(21, 1).children
    assert "PE" not in register(21, 0).children
    assert "PE" not in register(1, 1).children
    members = [n for n in range(32) if "PE" in register(n, 1).children]
    assert members == [20, 21, 22, 23]


def test_barrier_trees_go_around_breaks():
    broken = {"topology.shape": [4, 4, 2], "faults.links": [0, 0, 0, 1], "barrier.units": 1, "traffic.load": 0.0}
    network = Network(build(broken)).step(2000)
    assert not {"X0 +x", "Y1 +y"} & set(t3e.Machine(network).barrier_register(0).children)
    assert network.totals["barriers"] > 32 * 10


@pytest.mark.parametrize("operation", ["OP_BAR", "OP_EUR", "OP_EUR_B"])
def test_a_unit_that_waits_for_software_has_not_stopped(operation):
    """Software may wait for any time between two operations, and some PEs may never join."""
    network = by_hand({"topology.shape": [2, 2, 1]})
    for pe in range(3):
        state = t3e.Machine(network).barrier_state(pe)
        t3e.Machine(network).barrier_operation(pe, operation if state == "S_BAR" else "OP_BAR")
        for _ in range(50):
            network.step(1).check()
    network.step(10000).check()


def test_a_run_reports_units_that_have_stopped(cli, tmp_path):
    """A node breaks and barrier messages over its links are lost: one line of error, and exit status 3."""
    settings = {"topology.shape": [4, 4, 2], "faults.nodes": [5], "faults.cycle": 500, "barrier.units": 2,
                "traffic.load": 0.0}
    text = "".join(f"{path} = {value}\n" for path, value in settings.items())
    (tmp_path / "c.toml").write_text('router.kind = "t3e"\n' + text)
    done = cli("run", tmp_path / "c.toml")
    assert done.returncode == 3
    line, = done.stderr.splitlines()
    assert "2 barrier units have stopped (0, 1): barrier unit 0: " in line and "broken link" in line


@pytest.mark.parametrize("call, text", [
    (lambda machine: machine.barrier_operation(0, "OP_BAR"), "by_hand"),
    (lambda machine: machine.barrier_state(0, 5), "not in use"),
])
def test_barrier_messages(call, text):
    with pytest.raises(ConfigError, match=text):
        call(t3e.Machine(Network(build({"topology.shape": [2, 2, 1], "barrier.units": 1}))))


def test_barrier_operations_are_named():
    network = by_hand({"topology.shape": [2, 2, 1], "topology.partitions": [0, 1]})
    with pytest.raises(ConfigError, match="operations are OP_BAR, OP_EUR and OP_EUR_B"):
        t3e.Machine(network).barrier_operation(0, "JOIN")
    with pytest.raises(ConfigError, match="takes no part"):
        t3e.Machine(network).barrier_operation(3, "OP_BAR")
