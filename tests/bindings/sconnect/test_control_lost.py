"""Control messages without a reply, bad input, channels that are switched off and on, and channel errors."""

import random

import pytest
from control_messages import ADDRESS, ALL_ON, ENABLED, TIMER, network, send_request, trace_file, value_of

import flitlab as fl
from flitlab.sconnect import Fabric, Request

# Messages without a reply, and bad input.


def test_messages_without_a_path_are_dropped():
    net = network()
    assert send_request(net, "read_register", hops=[2]) is None  # no channel
    assert send_request(net, "read_register", hops=[0, 5]) is None
    assert send_request(net, "read_register", address=3) is None  # no entry at the source
    Fabric(net).write_register(1, "table.2", 0)
    assert send_request(net, "read_register", address=2) is None  # no entry on the path
    send_request(net, "write_register", ENABLED, ALL_ON & ~1, hops=[0])
    assert send_request(net, "read_register", hops=[0, 0]) is None  # off
    assert send_request(net, "read_register", terminal=1, hops=[4]) is None  # a host's port, here or at the neighbour
    assert send_request(net, "read_register", terminal=1, hops=[0, 4]) is None
    assert Fabric(net).take_replies(2) == []
    net.check()
    assert [Fabric(net).read_register(tic, "used") for tic in range(3)] == [0, 0, 0]
    assert value_of(net, ADDRESS, hops=[0]) == 1


def test_mailboxes_hold_sixteen_messages():
    net = network()
    assert Fabric(net).send_controls(0, [Request("read_register", TIMER, tag=t) for t in range(20)]) == 16
    with pytest.raises(fl.ConfigError, match="mailbox of terminal 0 is full"):
        Fabric(net).send_control(0, "read_register")
    assert Fabric(net).send_controls(1, [Request("read_register")]) == 1  # the mailbox of terminal 1 has room
    net.step(4)
    assert Fabric(net).send_controls(0, [Request("read_register", TIMER, tag=t) for t in range(16, 24)]) == 4
    net.step(40)
    # The host has not read its mailbox: messages beyond its capacity are lost.
    assert [r.tag for r in Fabric(net).take_replies(0)] == list(range(16))
    assert Fabric(net).take_replies(0) == []
    assert [Fabric(net).read_register(tic, "unheard.4") for tic in range(3)] == [4, 0, 0]
    assert send_request(net, "read_register", TIMER, tag=3).tag == 3


@pytest.mark.parametrize(
    "arguments, words",
    [
        (dict(operation="erase"), 'no operation "erase"; known: read_table'),
        (dict(hops=[0] * 17), "17 hops exceed the limit of 16"),
        (dict(hops=[6]), "hop 6: ports are numbered 0 to 5"),
        (dict(hops=[-1]), "not negative"),
        (dict(number=0x10000), "number is 0 to 65535"),
        (dict(number=-1), "not negative"),
        (dict(value=1 << 32), "not negative"),
        (dict(priority=4), "priority 0 to 3"),
        (dict(tag=256), "tag 0 to 255"),
        (dict(address=0xFFFF), "addresses are 0 to 65534"),
        (dict(terminal=3), "terminal 3 does not exist"),
        (dict(terminal=-1), "terminal -1 does not exist"),
    ],
)
def test_bad_requests(arguments, words):
    net = network()
    with pytest.raises(fl.ConfigError, match=words):
        Fabric(net).send_control(**{"terminal": 0, "operation": "read_register"} | arguments)
    assert net.step(50).totals["control_messages"] == 0


def test_replies_and_addresses_of_what_is_not_there():
    net = network()
    with pytest.raises(fl.ConfigError, match="terminal 3 does not exist"):
        Fabric(net).take_replies(3)
    with pytest.raises(fl.ConfigError, match=r'routing\.tables = "none"'):
        Fabric(net).set_addresses([0, 1, 2])
    blank = network(routing__tables="none")
    with pytest.raises(fl.ConfigError, match="2 for 3 terminals"):
        Fabric(blank).set_addresses([0, 1])
    with pytest.raises(fl.ConfigError, match="address 3 of terminal 2"):
        Fabric(blank).set_addresses([0, 1, 3])
    with pytest.raises(fl.ConfigError, match="negative"):
        Fabric(blank).set_addresses([0, 1, -3])
    other = fl.Network(fl.Experiment.from_dict({"topology.shape": [4, 4]}))
    with pytest.raises(fl.ConfigError, match=r'router\.kind = "vc" is no S-Connect fabric: set it to "sconnect"'):
        Fabric(other)


# Channels switched off and on, in band.


def test_messages_waiting_for_a_channel_take_another_path(tmp_path):
    """Node 0 sends to the far corner of a square: over TIC 1 (port 0) or TIC 2 (port 2)."""
    count = 60
    net = network(
        (2, 2), topology__host_ports=2, **trace_file(tmp_path, [(10 + i // 2, i % 2, 6, 1) for i in range(count)])
    )
    entry = Fabric(net).read_register(0, "table.3")
    assert entry & 0b11
    assert entry & 0b110000
    # Port 2 is off, so all messages queue for port 0.
    send_request(net, "write_register", ENABLED, ALL_ON & ~0b100, cycles=2)
    net.step(25)
    waiting = sum(vc.packets for vc in net.router(0).ports[0].vcs)
    assert waiting > 5
    # Port 0 is off, so the messages can use only port 2.
    send_request(net, "write_register", ENABLED, ALL_ON & ~0b001, cycles=2)
    assert Fabric(net).read_register(0, "enabled") == ALL_ON & ~0b001
    carried = Fabric(net).read_register(0, "carried.0")
    net.step(300)
    assert Fabric(net).read_register(0, "carried.0") == carried
    assert sum(vc.packets for vc in net.router(0).ports[0].vcs) == 0
    unacknowledged = Fabric(net).read_register(0, "used")  # messages sent on port 0 that are not acknowledged
    assert 0 < unacknowledged <= 6  # a round has six slots
    net.check()
    totals = net.totals
    assert count - unacknowledged <= totals["packets_delivered"] <= count
    send_request(net, "write_register", ENABLED, ALL_ON)
    assert net.totals["packets_delivered"] == count
    assert Fabric(net).read_register(0, "used") == 0
    net.check()


def test_messages_in_a_channel_wait_until_it_is_on_again(tmp_path):
    """The port at the far end is off and sends no acknowledgments, so messages are repeated until it is switched on."""
    net = network((2,), **trace_file(tmp_path, [(10 + i, 0, 1, 1) for i in range(20)]))
    send_request(net, "write_register", ENABLED, 0b110000, terminal=1, cycles=2)
    net.step(200)
    assert net.totals["packets_delivered"] == 0
    assert net.totals["sent_again"] > 100
    assert Fabric(net).read_register(0, "used") == 20
    net.check()
    send_request(net, "write_register", ENABLED, ALL_ON, terminal=1)
    assert net.totals["packets_delivered"] == 20
    assert net.totals["duplicates"] == 0
    net.check()


@pytest.mark.parametrize("seed", range(8))
def test_no_message_is_lost_when_channels_go_off_and_on(seed):
    """No message is lost, however full the TICs' buffer pools are when a channel is switched off."""
    net = network(
        (3, 3),
        traffic__mode="batch",
        traffic__batch_packets=300,
        traffic__packet_flits=[[1, 3], [4, 1]],
        channel__error_rate=0.0005,
    )
    choose = random.Random(seed)
    links = [link for link in net.links() if link[0] < link[2]]
    for _ in range(12):
        a, p, b, q = choose.choice(links)
        for tic, port in ((a, p), (b, q)):
            Fabric(net).send_control(tic, "write_register", ENABLED, ALL_ON & ~(1 << port))
        net.step(choose.randrange(5, 80)).check()
        for tic in (a, b):
            Fabric(net).send_control(tic, "write_register", ENABLED, ALL_ON)
        net.step(choose.randrange(1, 20)).check()
    while net.totals["packets_delivered"] < 9 * 300 and net.cycle < 20000:
        net.step(100)
    assert net.totals["packets_delivered"] == net.totals["packets_created"] == 9 * 300
    assert net.totals["packets_misdelivered"] == 0
    net.step(100).check()


def test_control_messages_by_tables_take_another_path():
    """Like data, requests for TIC 3 wait for port 0 of TIC 0. When that port is switched off they are redirected, over
    TIC 2."""
    net = network((2, 2), topology__host_ports=2)
    send_request(net, "write_register", ENABLED, ALL_ON & ~0b1000, terminal=6)  # replies come over TIC 2 as well
    requested = [Request("read_register", ADDRESS, address=3)]
    for terminal, requests in (
        (
            0,
            [
                Request("write_register", ENABLED, ALL_ON & ~0b100),
                *requested * 13,
                Request("write_register", ENABLED, ALL_ON & ~0b001),
            ],
        ),
        (1, requested * 15),
    ):
        assert Fabric(net).send_controls(terminal, requests) == len(requests)
    net.step(300)
    assert sum(vc.packets for vc in net.router(0).ports[0].vcs) == 0
    came = [r.number for t in (0, 1) for r in Fabric(net).take_replies(t)]
    # The other requests had already left for TIC 1, from which no other path leads on.
    assert 5 < came.count(ADDRESS) < 28
    for terminal in (6, 0):
        Fabric(net).send_control(terminal, "write_register", ENABLED, ALL_ON)
    net.step(100).check()
    came += [r.number for t in (0, 1) for r in Fabric(net).take_replies(t)]
    assert came.count(ADDRESS) == 28
    assert [Fabric(net).read_register(tic, "used") for tic in range(4)] == [0] * 4


# Under load and errors.


@pytest.mark.parametrize("errors", [0.0, 0.002])
def test_control_messages_are_executed_exactly_once(errors):
    """Requests routed by tables have the priorities of saturated data. Requests that name their hops have priority 2
    and arbitrary paths. Only a few of these are outstanding at a time, because many could deadlock."""
    net = network(
        (3, 3),
        channel__error_rate=errors,
        traffic__load=0.9,
        host__priorities=[1, 1, 0, 0],
        router__buffers=64,
        router__reserve=[4, 1, 1, 1],
        traffic__packet_flits=[[1, 2], [4, 1]],
    )
    choose = random.Random(7)
    port_to = {(t, f): p for t, p, f, _ in net.links()}
    added, requested, named, got = [0] * 9, 0, 0, 0
    for step in range(4000):  # the last replies must cross the full fabric
        terminal = choose.randrange(9)
        if step < 1500 and choose.random() < 0.5:
            tic = choose.randrange(9)
            request = Request("add_to_timer", value=1, priority=choose.randrange(2), address=tic)
        elif step < 1500 and named < 8:
            tic, hops = terminal, []
            for _ in range(choose.randrange(17)):
                following = choose.choice([f for t, f in port_to if t == tic])
                hops.append(port_to[tic, following])
                tic = following
            request = Request("add_to_timer", value=1, hops=hops, tag=1)
        else:
            request = None
        if request and Fabric(net).send_controls(terminal, [request]):
            requested += 1
            named += request.tag
            added[tic] += 1
        net.step(3)
        for t in range(9):
            replies = Fabric(net).take_replies(t)
            got += len(replies)
            named -= sum(r.tag for r in replies)
    assert net.totals["control_messages"] == requested == got > 500
    assert [Fabric(net).read_register(tic, "timer") for tic in range(9)] == [net.cycle + n for n in added]
    assert net.totals["packets_delivered"] > 500
    if errors:
        assert net.totals["answers_lost"] > 100
    net.check()
