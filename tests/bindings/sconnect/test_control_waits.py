"""S-Connect's control messages (S-Connect, 3.4) that block each other or data."""

import pytest

import flitlab as fl
from flitlab.sconnect import Fabric, Request


def line_of_three(settings):
    return fl.Network(fl.Experiment.from_dict({"router.kind": "sconnect", "topology.shape": [3]} | settings))


def crossing(ways, priority):
    """Two hosts at each end of a line of three TICs send 60 requests each to the other end. Requests and replies share
    the channels, which are so long that the pools fill with requests before the first arrives. Returns the number of
    replies per host."""
    net = line_of_three({
        "topology.host_ports": 2, "topology.channel_delay": 360, "router.buffers": 40, "router.reserve": 1,
        "router.control_buffers": 0, "traffic.load": 0,
    })  # fmt: skip
    sent, got = dict.fromkeys((0, 1, 4, 5), 0), dict.fromkeys((0, 1, 4, 5), 0)
    while net.cycle < 8000 and sum(got.values()) < 240:
        for terminal in got:
            request = Request("read_register", **ways[terminal // 4], priority=priority)
            sent[terminal] += Fabric(net).send_controls(terminal, [request] * min(16, 60 - sent[terminal]))
            got[terminal] += len(Fabric(net).take_replies(terminal))
        net.step(4)
    net.check()
    return list(got.values())


@pytest.mark.parametrize("priority", range(3))
def test_replies_have_a_priority_of_their_own(priority):
    """Requests and replies that tables route use the same virtual channels. With equal priority, requests would wait
    for buffers that replies occupy, and replies for buffers that requests occupy."""
    assert crossing([{"address": 2}, {"address": 0}], priority) == [60] * 4


@pytest.mark.parametrize("priority", range(4))
def test_replies_have_a_virtual_channel_of_their_own(priority):
    """Messages that name their hops cannot block their replies, even at priority 3, where requests and replies have
    equal priority."""
    assert crossing([{"hops": [0, 0]}, {"hops": [1, 1]}], priority) == [60] * 4


def test_a_message_without_a_table_entry_is_a_table_fault(tmp_path):
    (tmp_path / "trace.csv").write_text("10,0,2,1\n")
    net = line_of_three({"traffic.mode": "trace", "traffic.trace_file": str(tmp_path / "trace.csv")})
    Fabric(net).send_control(0, "write_table", 2, 0, hops=[0])
    net.step(5)
    with pytest.raises(fl.RunError) as error:
        net.step(30).check()
    message = str(error.value)
    assert "routing tables: TIC 1 has no entry for node 2, and a message for it has arrived by channel 1" in message
    assert "defect" not in message


@pytest.mark.parametrize("priority", [2, 3])
def test_a_host_that_refuses_a_priority_takes_its_replies(priority):
    net = line_of_three({"host.refuses": [3], "traffic.load": 0})
    Fabric(net).send_control(0, "read_register", 2, hops=[0], priority=priority)
    net.step(30)
    assert [r.value for r in Fabric(net).take_replies(0)] == [1]
