"""Deadlock of an S-Connect fabric that software causes, by tables and requests that fill a cycle of queues."""

import pytest

import flitlab as fl
from flitlab.sconnect import Fabric, Request

RING = "0,1\n1,2\n2,3\n3,0\n"
NODES = 4


def ring(tmp_path, **settings):
    (tmp_path / "ring.csv").write_text(RING)
    return fl.Network(fl.Experiment.from_dict({
        "router.kind": "sconnect", "topology.kind": "graph", "topology.file": str(tmp_path / "ring.csv"),
        **{key.replace("__", "."): value for key, value in settings.items()}}))


def onward(net):
    """Returns for each TIC the port that leads to the next one."""
    return {tic: port for tic, port, far, _ in net.links() if far == (tic + 1) % NODES}


def all_one_way(net, dateline):
    """Writes tables as software does: all routes lead in one direction around the ring, on virtual channel 0. With
    `dateline`, routes change to virtual channel 1 at TIC 0."""
    ports = onward(net)
    for tic in range(NODES):
        for node in range(NODES):
            if tic != node:
                vc = int(dateline and tic < node)
                way = [ports[i] for i in range(tic)]
                Fabric(net).send_control(0, "write_table", node, 1 << (2 * ports[tic] + vc), hops=way)
                net.step(60)
    assert net.cycle < 1000
    net.step(1000 - net.cycle)


def full_ring(tmp_path):
    """Returns a network in which every host sends to the opposite node, starting after the tables are loaded."""
    lines = [f"{1000 + i},{tic},{(tic + 2) % NODES},1" for i in range(1500) for tic in range(NODES)]
    (tmp_path / "messages.csv").write_text("\n".join(lines) + "\n")
    return ring(tmp_path, traffic__mode="trace", traffic__trace_file=str(tmp_path / "messages.csv"),
                router__host_buffers=64)


def test_tables_that_software_writes_can_close_a_circle(tmp_path):
    net = full_ring(tmp_path)
    all_one_way(net, dateline=False)
    with pytest.raises(fl.RunError, match="4 of them wait for one another in a cycle") as error:
        for _ in range(50):
            net.step(100).check()
    message_text = str(error.value)
    for tic, port in onward(net).items():
        assert f"TIC {tic} channel {port} priority 0 VC 0 waits for" in message_text
    before = net.totals["packets_delivered"]
    net.step(2000)
    assert net.totals["packets_delivered"] == before  # the deadlock is real: no further deliveries


def test_with_a_dateline_they_do_not(tmp_path):
    net = full_ring(tmp_path)
    all_one_way(net, dateline=True)
    for _ in range(15):
        before = net.totals["packets_delivered"]
        net.step(100).check()
        assert net.totals["packets_delivered"] > before


def test_the_watchdog_of_a_table_less_fabric_sees_it_too(tmp_path):
    """All hosts send requests that name their hops, each more than once around the ring."""
    net = ring(tmp_path, traffic__load=0, router__buffers=24, router__control_buffers=1)
    ports = onward(net)
    requests = {tic: Request("read_register", 4, hops=[ports[(tic + i) % NODES] for i in range(15)])
                for tic in range(NODES)}
    with pytest.raises(fl.RunError, match="in a cycle") as error:
        for _ in range(300):
            for tic, request in requests.items():
                Fabric(net).send_controls(tic, [request] * 16)
            net.step(10).check()
    assert "priority 2 VC 0 waits for" in str(error.value)
    replies = [len(Fabric(net).take_replies(tic)) for tic in range(NODES)]
    net.step(2000)
    assert sum(replies) >= 0
    assert [len(Fabric(net).take_replies(tic)) for tic in range(NODES)] == [0] * NODES


def test_messages_that_hosts_refuse_are_no_deadlock(tmp_path):
    """Messages of a priority that software does not accept now may be accepted later, so they are not deadlocked."""
    net = ring(tmp_path, traffic__load=1.0, host__refuses=[0])
    net.step(3000).check()


def test_full_fabrics_are_not_reported_as_deadlocked():
    """Random graphs that use one or two VCs, loaded far beyond capacity, with frequent deadlock searches."""
    for nodes, degree, seed in ((16, 3, 1), (24, 4, 2), (40, 3, 5)):
        net = fl.Network(fl.Experiment.from_dict({
            "router.kind": "sconnect", "topology.kind": "random", "topology.nodes": nodes, "topology.degree": degree,
            "topology.wiring_seed": seed, "topology.host_ports": 2, "traffic.load": 1.0, "router.buffers": 40,
            "router.reserve": [1, 0, 0, 0], "router.host_buffers": 40, "channel.error_rate": 1e-4}))
        for _ in range(400):
            net.step(7).check()


def test_requests_and_replies_of_one_priority_can_wait_for_one_another():
    with pytest.warns(UserWarning, match="replies have priority 0, the same as requests"):
        # Hosts send many more requests than they have buffers for replies.
        net = fl.Network(fl.Experiment.from_dict({
            "router.kind": "sconnect", "topology.shape": [3, 3], "router.buffers": 24, "traffic.mode": "request_reply",
            "traffic.load": 1.0, "traffic.window": 64, "traffic.reply_queue": 1, "host.reply_priority": 0}))
    with pytest.raises(fl.RunError, match="reply queue waits for") as error:
        for _ in range(50):
            net.step(100).check()
    assert "waits for\n  terminal" in str(error.value)  # a queue to a host waits for the host's reply queue
    net.step(3000)  # other parts of the fabric continue for a while
    before = net.totals["transactions"]
    net.step(2000)
    assert net.totals["transactions"] == before  # the deadlock is real: no further transactions
