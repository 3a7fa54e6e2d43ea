"""Fabrics brought up from one node by control messages."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import flitlab as fl
from flitlab.console import call_tool
from flitlab.sconnect import Fabric, Request
from flitlab.sconnect import bringup as sc
from flitlab.sconnect.published import bringup as published

CONFIGS = Path(__file__).parents[3] / "configs"
START = 100_000
GRAPH = (
    "switch,hub,3\nswitch,edge,2\nnode,a\nnode,b,2\nnode,c\nnode,d\nchannel,hub,edge,24\nchannel,hub,edge\n"
    "channel,hub,a\nchannel,hub,b\nchannel,b,edge\nchannel,edge,c\nchannel,edge,d\nchannel,a,d,6\n"
)
LINE_OF_SWITCHES = (
    "node,a\nnode,b\n"
    + "".join(f"switch,s{i},2\n" for i in range(12))
    + "channel,a,s0\n"
    + "".join(f"channel,s{i},s{i + 1}\n" for i in range(11))
    + "channel,s11,b\n"
)


def network(packets=20, **settings):
    return published.network({key.replace("__", "."): value for key, value in settings.items()}, START, packets)


@pytest.mark.parametrize(
    "settings",
    [
            {"topology.shape": [4, 4]},
        {"topology.shape": [40]},  # a line of 40 nodes, more than twice as long as the hops of one message reach
        {"topology.shape": [17, 3]},
        {"topology.shape": [2, 2, 2], "topology.node": "dual", "topology.host_ports": 2},
        {"topology.shape": [2, 2, 3, 2], "topology.node": "dual"},
        {"topology.kind": "hypercube", "topology.dimensions": 4, "topology.channel_delay": 360},
        {"topology.kind": "random", "topology.nodes": 30, "topology.degree": 3, "topology.host_ports": 2},
        {"topology.kind": "tree", "topology.arity": 5, "topology.levels": 3, "topology.inner": "switches"},
        {"topology.kind": "graph", "topology.file": GRAPH},
        {"topology.shape": [3, 3], "channel.error_rate": 0.001},
    ],
    ids=str,
)
def test_a_fabric_is_brought_up_and_carries_traffic(settings, tmp_path):
    if "topology.file" in settings:
        path = tmp_path / "graph.csv"
        path.write_text(settings["topology.file"])
        settings = settings | {"topology.file": str(path)}
    net = published.network(settings, START, 20)
    derived = net.experiment.derived()
    terminal = int(derived["terminals"]) // 3
    report = sc.bring_up(net, terminal)
    assert report.good and report.lost == 0
    assert (report.fabric.tics, len(report.fabric.nodes)) == (derived["routers"], derived["nodes"])
    assert sc.differences(net, terminal, report.fabric) == 0
    assert sum(report.messages.values()) == net.totals["control_messages"]
    assert sum(report.cycles.values()) == net.cycle < START
    sc.learn_addresses(net)
    net.step(START + 3000 - net.cycle).check()
    assert net.totals["packets_delivered"] == net.totals["packets_created"] == 20 * derived["terminals"]
    assert net.totals["packets_misdelivered"] == 0


def test_a_map_by_hand():
    """A line of three nodes, mapped from the middle one: port 0 leads to the right, port 1 to the left."""
    net = network(topology__shape=[3])
    requester = sc.Controller(net, 1)
    fabric = sc.map_fabric(net, 1, requester)
    assert fabric.links == {(0, 0): (1, 1), (1, 1): (0, 0), (0, 1): (2, 0), (2, 0): (0, 1)}
    assert fabric.hosts == [[4], [4], [4]]
    assert [way.hops for way in fabric.ways] == [(), (0,), (1,)]
    assert fabric.nodes == [[0], [1], [2]]
    # Expected number of messages. First TIC: write its address, read its registers of existing and enabled ports: 1 + 2
    # = 3. For each of its two ports write an address, read the address back and read came_by; read the first TIC's
    # address: 2 * 3 + 1 = 7. Make the first TIC a station: 1. Two registers of each of the two new TICs: 4. These have
    # no unexplored ports, but their addresses are read: 2.
    assert requester.messages == net.totals["control_messages"] == 3 + 7 + 1 + 4 + 2


def test_a_used_fabric_is_mapped_again():
    """Addresses from an earlier bring-up do not matter."""
    net = network(topology__kind="random", topology__nodes=40)
    first = sc.bring_up(net, 0)
    again = sc.bring_up(net, 7)
    assert first.good and again.good
    assert sc.differences(net, 7, again.fabric) == 0
    assert again.fabric.ends() != first.fabric.ends()  # the second map numbers TICs from another node
    marks = network(topology__shape=[4, 4])
    for tic in range(16):  # as if a mapping had just marked all TICs
        Fabric(marks).write_register(tic, "address", sc.FIRST_MARK + tic)
    assert sc.bring_up(marks, 5).good
    assert sc.differences(marks, 5, sc.map_fabric(marks, 5)) == 0


def test_a_map_that_is_wrong_differs():
    net = network(topology__shape=[3, 3])
    fabric = sc.map_fabric(net, 4)
    (a, p), (b, q) = next(iter(fabric.links.items()))
    missing = {k: v for k, v in fabric.links.items() if k not in ((a, p), (b, q))}
    assert sc.differences(net, 4, replace(fabric, links=missing)) == 2
    assert sc.differences(net, 3, fabric) > 0


def test_channels_that_are_off():
    """One channel is off at its near end, one at its far end. Requests over them get no reply, and bring-up switches
    them off."""
    net = network(topology__shape=[4, 4])
    Fabric(net).write_register(0, "enabled", 0b111110)  # 0 - 1
    Fabric(net).write_register(9, "enabled", 0b110111)  # 9 - 5 at 9
    report = sc.bring_up(net, 0)
    assert report.good
    assert sc.differences(net, 0, report.fabric) == 0
    assert report.lost == 2 == len(report.fabric.silent)
    assert len(report.fabric.off) == 2
    assert Fabric(net).read_register(5, "enabled") >> 2 & 1 == 0
    assert Fabric(net).read_register(1, "enabled") >> 1 & 1 == 0
    sc.learn_addresses(net)
    net.step(START + 3000 - net.cycle).check()
    assert net.totals["packets_delivered"] == 16 * 20


def test_unreachable_nodes_are_not_found():
    net = network(topology__shape=[4])
    Fabric(net).write_register(2, "enabled", 0b110101)
    report = sc.bring_up(net, 0)
    assert report.good and report.fabric.tics == 2
    assert len(report.fabric.silent) == 1


def test_stations_need_entries_in_tables(tmp_path):
    """Two nodes at the ends of a long line of switches. Tables then have only two entries, and two stations need both
    of them."""
    path = tmp_path / "line.csv"
    path.write_text(LINE_OF_SWITCHES)
    net = network(topology__kind="graph", topology__file=str(path))
    report = sc.bring_up(net, 0)
    assert report.good and report.fabric.tics == 26 and len(report.fabric.stations) == 2
    path.write_text(
        LINE_OF_SWITCHES.replace(
            "channel,s11,b",
            "".join(f"switch,t{i},2\n" for i in range(8))
            + "channel,s11,t0\n"
            + "".join(f"channel,t{i},t{i + 1}\n" for i in range(7))
            + "channel,t7,b",
        )
    )
    with pytest.raises(sc.BringUpError, match="cannot be made a station: tables have no entry 2"):
        sc.bring_up(network(topology__kind="graph", topology__file=str(path)), 0)


def test_damage_is_seen():
    net = network(topology__kind="random", topology__nodes=20)
    report = sc.bring_up(net, 0)
    fabric, tables = report.fabric, report.tables
    assert sc.verify_tables(net, 0, fabric, tables) == []
    assert sc.table_fault(fabric, tables) == ""
    Fabric(net).write_register(13, "table.3", Fabric(net).read_register(13, "table.3") ^ 0b100)
    [(tic, node)] = sc.verify_tables(net, 0, fabric, tables)
    assert node == 3
    assert sc.load_tables(net, 0, fabric, tables, [tic]) == []
    assert sc.verify_tables(net, 0, fabric, tables) == []
    Fabric(net).write_register(13, "table.0", 0)
    dumb = sc.call_nodes(net, 0, fabric, sc.Controller(net, 0, patience=500))
    assert fabric.node_of[tic] in dumb
    entries = tables.entries.copy()
    entries[1] = 0
    assert "no option to continue" in sc.table_fault(fabric, replace(tables, entries=entries))
    # Change the tables so that all messages for node 0 go to the first neighbour.
    entries = tables.entries.copy()
    for tic in range(1, fabric.tics):
        entries[tic, 0] = 0b01
    assert sc.table_fault(fabric, replace(tables, entries=entries))


def test_the_farthest_tables_are_loaded_first():
    """Loading tables must not cut the path to TICs that are not loaded yet, so the tables of the nearest TICs are
    loaded last."""
    net = network(topology__shape=[40])
    fabric = sc.map_fabric(net, 0)
    assert [fabric.stage(tic) for tic in (0, 1, 15, 16, 30, 31, 39)] == [0, 0, 0, 1, 1, 2, 2]
    tables = sc.compute_tables(fabric)
    requester = sc.Controller(net, 0)
    assert sc.load_tables(net, 0, fabric, tables, controller=requester) == [] and requester.lost == 0
    read = Fabric(net).read_register
    assert [[read(tic, f"table.{n}") for n in range(40)] for tic in range(40)] == tables.entries.tolist()
    assert [Fabric(net).read_register(tic, "address") for tic in range(40)] == list(range(40))
    other = network(topology__shape=[40])
    fabric = sc.map_fabric(other, 0)
    requester = sc.Controller(other, 0)
    assert sc.load_tables(other, 0, fabric, tables, range(16), requester) == []
    sc.load_tables(other, 0, fabric, tables, range(31, 40), requester)  # these TICs can no longer be reached
    assert [Fabric(other).read_register(tic, "address") for tic in range(31, 40)] != list(range(31, 40))


def test_hosts_need_addresses():
    """The bring-up program numbers nodes in the order in which it finds them. Hosts that have not learnt the addresses
    use other numbers."""
    net = network(topology__shape=[4, 4])
    assert sc.bring_up(net, 5).good
    net.step(START + 2000 - net.cycle)
    assert net.totals["packets_misdelivered"] > 0
    net = network(topology__shape=[4, 4])
    fabric = sc.bring_up(net, 5).fabric
    addresses = sc.learn_addresses(net)
    assert addresses[5] == 0 and sorted(addresses) == list(range(16))
    assert addresses != list(range(16)) and len(fabric.nodes) == 16


def test_requests_outstanding():
    net = network(topology__shape=[3, 3])
    with pytest.raises(fl.ConfigError, match="window = 129: 1 to 128"):
        sc.Controller(net, 0, window=129)
    requester = sc.Controller(net, 0, window=5)
    requests = [Request("read_register", sc.REGISTER["came_by"], 0, None, hops) for hops in ((0,), (3,), (0, 0), ())]
    replies = requester.exchange(requests * 100)
    assert [r and r.value for r in replies[:4]] == [1, None, 1, 4]
    assert replies[4:] == [] or all((a is None) == (b is None) for a, b in zip(replies, replies[4:], strict=False))
    assert (requester.messages, requester.lost) == (400, 100)
    assert requester.exchange([]) == []


def test_deadlocked_requests_time_out():
    """All four nodes of a square send requests around it at full rate: its queues are full and no message leaves
    them."""
    net = network(topology__shape=[2, 2])
    port = {(t, f): p for t, p, f, _ in net.links()}
    following = {0: 1, 1: 3, 3: 2, 2: 0}
    requests = {}
    for first in following:
        tics = [first]
        for _ in range(16):
            tics.append(following[tics[-1]])
        requests[first] = Request("read_register", 4, hops=[port[hop] for hop in pairwise(tics)])
    requester = sc.Controller(net, 0, patience=500)
    # A single requester with few requests at a time does not deadlock.
    assert all(requester.exchange([requests[0]] * 100)) and requester.lost == 0
    for _ in range(500):
        for terminal, request in requests.items():
            Fabric(net).send_controls(terminal, [request] * 16)
        net.step()
    with pytest.raises(sc.BringUpError, match=r"requests cannot be sent: .* terminal 0 is full.* a cycle"):
        requester.exchange([requests[0]] * 1000)
    assert net.cycle < 10_000
    with pytest.raises(fl.RunError, match="priority 2 VC 0 waits for") as error:
        net.check()
    assert "4 of them wait for one another in a cycle" in str(error.value)


def test_a_late_reply_is_not_taken_for_another():
    """A reply arrives after its request has timed out, when its tag is in use again."""
    net = network(topology__shape=[2], topology__channel_delay=360)
    requester = sc.Controller(net, 0, patience=64)
    assert requester.exchange([Request("read_register", 0x2222, hops=(0,))]) == [None]
    # the state after many requests have timed out
    requester._free, requester._lost_tags, requester.patience = list(range(256)), {}, 400
    [reply] = requester.exchange([Request("read_register", sc.REGISTER["came_by"], hops=(0,))])
    assert (reply.number, reply.value) == (sc.REGISTER["came_by"], 0)
    assert requester.lost == 1


def test_tables_of_any_fabric():
    links = [(0, 0, 1, 1), (1, 1, 0, 0)]
    hosts = [(0, 4, 0), (1, 4, 1)]
    found = call_tool("sconnect", "tables", tics=2, links=links, hosts=hosts)
    entries = found["entries"]
    assert entries[0][0] == entries[1][1] == 1 << 8
    assert (found["tree"], found["mean_hops"], found["stretch"]) == (False, 1, 1)
    fabric = {"tics": 2, "links": links, "hosts": hosts}
    assert call_tool("sconnect", "table_fault", **fabric, entries=np.array(entries).ravel()) == ""
    for bad_links, bad_hosts, words in (
        ([(0, 0, 1, 1)], hosts, "no matching link in the opposite direction"),
        (links + links, hosts, "given twice"),
        ([(0, 6, 1, 1)], hosts, "port 6 of TIC 0 does not exist"),
        ([(0, 0, 0, 1)], hosts, "leads to no other TIC"),
        (links, [], "no host"),
        (links, [(0, 4, 0), (0, 5, 1)], "belongs to two nodes"),
        (links, [(0, 4, 1)], "node 0 has no host"),
        ([], hosts, "disconnected"),
    ):
        with pytest.raises(fl.ConfigError, match=words):
            call_tool("sconnect", "tables", tics=2, links=bad_links, hosts=bad_hosts)
    with pytest.raises(fl.ConfigError, match="2 entries for 2 TICs and 2 nodes"):
        call_tool("sconnect", "table_fault", **fabric, entries=entries[0])


def test_the_experiment_and_its_configuration():
    rows = published.rows_of(published.CASES[0])
    assert {row["verdict"] for row in rows} == {"holds", "context"}
    net = fl.Network(fl.load(CONFIGS / "sconnect-bringup.toml"))
    report = sc.bring_up(net, 0)
    assert report.good
    sc.learn_addresses(net)
    net.step(net.experiment["traffic.start"] - net.cycle + 500).check()
    assert net.totals["packets_delivered"] > 0 and net.totals["packets_misdelivered"] == 0
