"""I/O devices at nodes beside PEs."""

import pytest
from t3e_machines import build, deliveries

from flitlab import ConfigError, Experiment, Network, run, t3e


def io_trace(tmp_path, lines: list[tuple[int, int, int, int]], interval: int = 2) -> Network:
    path = tmp_path / "io.csv"
    path.write_text("".join(",".join(map(str, line)) + "\n" for line in lines))
    return Network(Experiment.from_dict({
        "router.kind": "t3e", "topology.shape": [4, 4, 2], "io.nodes": [5, 20], "io.interval": interval,
        "traffic.mode": "trace", "traffic.trace_file": str(path)}), trace=True)


def test_io_devices_are_reached_and_answer(tmp_path):
    """Devices are terminals 32 and 33, at the I/O ports of nodes 5 and 20. A packet to a device takes as long as one to
    the node's PE if it arrives in a clock in which the port is open."""
    to_pe, to_io, back = (deliveries(io_trace(tmp_path, [(0, src, dst, 1)], 1).step(100))
                          for src, dst in ((0, 5), (0, 32), (32, 0)))
    assert to_io == [(to_pe[0][0], 32)] and back == [(to_pe[0][0], 0)]
    device_to_device = deliveries(io_trace(tmp_path, [(0, 33, 32, 4)]).step(200))
    assert [index for _, index in device_to_device] == [32]
    assert [port.name for port in io_trace(tmp_path, []).router(5).ports][6:] == ["PE", "I/O"]
    assert [port.name for port in io_trace(tmp_path, []).router(6).ports][6:] == ["PE"]


@pytest.mark.parametrize("interval", [1, 2, 5])
def test_the_io_port_is_slow_both_ways(tmp_path, interval):
    """40 packets of 10 flits pass the I/O port at one flit per `interval` clocks, in either direction. Packets to the
    PE of the same node are not delayed."""
    clocks = 400 * interval
    for src, dst in ((0, 32), (32, 0)):
        times = [t for t, _ in deliveries(io_trace(tmp_path, [(0, src, dst, 10)] * 40, interval).step(clocks + 300))]
        assert len(times) == 40
        assert (times[-1] - times[3]) / 36 == pytest.approx(10 * interval, rel=0.03)
    both = [(n, src, dst, 10) for n in range(0, 400, 10) for src, dst in ((0, 32), (6, 5))]
    to_pe = [t for t, index in deliveries(io_trace(tmp_path, both, interval).step(clocks + 300)) if index == 5]
    assert len(to_pe) == 40 and to_pe[-1] - to_pe[0] <= 390 + 2 * interval


def test_the_io_channel_can_be_shut(tmp_path):
    """R_CHAN7 controls the I/O channel: the router drops the device's packets (manual, Tables 9 and 10)."""
    network = io_trace(tmp_path, [(10, 32, 0, 3), (10, 33, 0, 3)])
    t3e.Machine(network).write_register(5, "R_CHAN7", 1)
    network.step(200)
    assert network.totals["packets_dropped"] == 1 and [i for _, i in deliveries(network)] == [0]


def test_uniform_traffic_leaves_devices_alone_and_matrices_do_not(tmp_path):
    base = {"topology.shape": [2, 2, 1], "io.nodes": [1]}
    network = Network(build(base)).step(1000)
    assert network.terminal(4).created == network.terminal(4).received == 0
    path = tmp_path / "matrix.csv"
    path.write_text("0,4,1\n1,0,1\n2,4,1\n3,4,1\n4,2,1\n")
    network = Network(build(base | {"traffic.pattern": "matrix", "traffic.matrix_file": str(path),
                                    "traffic.mode": "request_reply", "traffic.load": 0.05})).step(3000)
    assert network.terminal(4).created > 20 and network.totals["transactions"] > 100
    result = run(build(base | {"run.warmup_cycles": 500, "run.measure_cycles": 2000}))
    assert result.terminals == 4


@pytest.mark.parametrize("nodes, text", [([32], "numbered 0 to 31"), ([3, 3], "one I/O port")])
def test_bad_io_nodes(nodes, text):
    with pytest.raises(ConfigError, match=text):
        Network(build({"topology.shape": [4, 4, 2], "io.nodes": nodes}))
