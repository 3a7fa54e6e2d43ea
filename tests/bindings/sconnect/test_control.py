"""S-Connect's control messages (S-Connect, 3.4), by hand.

Timing on a line of nodes: TIC n's port 0 leads to port 1 of TIC n + 1, a channel takes 2 routing cycles, hosts are at
port 4. What a host sends in cycle 0 leaves in cycle 1; what it asks its own TIC is answered in cycle 1. What comes by
port 1 in a cycle leaves by port 0 in the next, since that transmitter has had its clock; what comes by port 0 leaves by
port 1 at once.
"""

import random

import pytest

import flitlab as fl
from flitlab.sconnect import Fabric, Request

PORTS, CAME_BY, ADDRESS, ENABLED, TIMER, COUNTING, COUNTER, CLOCK, CLOCK_RATE, CLOCK_SENDS, SLIPS = range(11)
OF_PORT = {"damaged": 0, "refused": 1, "failed": 2, "lost": 3, "carried": 4}
SENT, RECEIVED, DAMAGED, REFUSED, CAME_BACK = range(5)
HELD_UP, EVERY_CYCLE = 30, 31
ALL_ON = 0b111111


def network(shape=(3,), trace=False, **settings):
    given = {key.replace("__", "."): value for key, value in settings.items()}
    base = {"router.kind": "sconnect", "topology.shape": list(shape)}
    if "topology.kind" in given:
        del base["topology.shape"]
    if "traffic.mode" not in given and "traffic.load" not in given:
        base["traffic.load"] = 0
    return fl.Network(fl.Experiment.from_dict(base | given), trace=trace)


def trace_file(tmp_path, lines):
    path = tmp_path / "trace.csv"
    path.write_text("".join(f"{cycle},{src},{dst},{flits}\n" for cycle, src, dst, flits in lines))
    return {"traffic__mode": "trace", "traffic__trace_file": str(path)}


def ask(net, operation, number=0, value=0, terminal=0, cycles=200, **way):
    """The reply to one request; None: none came."""
    Fabric(net).send_control(terminal, operation, number, value, **way)
    net.step(cycles)
    replies = Fabric(net).take_replies(terminal)
    assert len(replies) <= 1
    return replies[0] if replies else None


def value_of(net, number, **way):
    return ask(net, "read_register", number, **way).value


# Operations and registers.


@pytest.mark.parametrize(
    "way, tic",
    [({}, 0), ({"hops": [0]}, 1), ({"hops": [0, 0]}, 2), ({"address": 2}, 2), ({"address": 1, "hops": [0]}, 2)],
)
def test_tables_are_read_and_written(way, tic):
    net = network()
    for node in range(3):
        assert ask(net, "read_table", node, **way).value == Fabric(net).read_register(tic, f"table.{node}") != 0
    others = {t: Fabric(net).registers(t) for t in range(3) if t != tic}
    # Both virtual channels of what leads to a TIC, one of the host's port 4: TIC 0 has port 0, TIC 2 port 1.
    there = {0: 0x103, 1: 0x10F, 2: 0x10C}[tic]
    assert ask(net, "write_table", 1, 0xFFFFFFFF, **way).value == there
    assert Fabric(net).read_register(tic, "table.1") == there
    assert {t: Fabric(net).read_register(t, "table.1") for t in others} == {t: others[t]["table.1"] for t in others}


def test_tables_have_an_entry_for_each_node():
    net = network()
    before = Fabric(net).registers(0)
    assert ask(net, "write_table", 3, 5, cycles=2).value == 0  # the reply bears what is there now
    assert ask(net, "read_table", 3, cycles=2).value == 0
    assert ask(net, "write_table", 0xFFFF, 5, cycles=2).value == 0
    after = Fabric(net).registers(0)
    assert {k: v for k, v in after.items() if k[:5] == "table"} == {k: v for k, v in before.items() if k[:5] == "table"}


def test_tables_hold_only_what_a_tic_has(tmp_path):
    """Virtual channel 1 of a host's port would make two messages of one, a port without a wire would keep them."""
    net = network((2,), **trace_file(tmp_path, [(10 + i, 0, 1, 1) for i in range(20)]))
    for option in (1 << 9, 1 << 10, 1 << 4, 1 << 2, 1 << 12):
        assert ask(net, "write_table", 1, option | 1 << 8, terminal=1, cycles=2).value == 1 << 8
    net.step(100).check()
    assert net.totals["packets_delivered"] == 20
    for option in (1 << 9, 1 << 10, 1 << 4, 1 << 12, 1 << 40):
        with pytest.raises(fl.ConfigError, match=r"table\.0 = \d+: this TIC has the options 259 "):
            Fabric(net).write_register(1, "table.0", option)
    assert Fabric(net).write_register(1, "table.0", 259).read_register(1, "table.0") == 259
    switch = tmp_path / "graph.csv"
    switch.write_text("switch,s,2\nnode,a\nnode,b,2\nchannel,s,a\nchannel,s,b\n")
    net = network(topology__kind="graph", topology__file=str(switch))
    links = net.links()
    for terminal, tic, hops in ((0, 2, []), (1, 3, []), (1, 4, [5])):
        there = sum(3 << 2 * p for t, p, _, _ in links if t == tic) | (tic < 4) << 8
        assert ask(net, "write_table", 0, 0xFFF, terminal=terminal, hops=hops).value == there


def test_a_tic_says_what_it_has():
    net = network()
    assert value_of(net, PORTS) == 0b000001 | 1 << 8 + 4
    assert value_of(net, PORTS, hops=[0]) == 0b000011 | 1 << 8 + 4
    assert value_of(net, PORTS, address=2) == 0b000010 | 1 << 8 + 4
    assert value_of(net, CAME_BY) == 4
    assert value_of(net, CAME_BY, hops=[0]) == 1
    assert value_of(net, CAME_BY, hops=[0, 1]) == 0  # to the neighbour and back
    assert value_of(net, CAME_BY, address=2, terminal=0) == 1
    assert value_of(net, ADDRESS, hops=[0, 0]) == 2
    assert ask(net, "write_register", ADDRESS, 77, hops=[0, 0]).value == 77
    assert Fabric(net).read_register(2, "address") == 77


def test_switches_and_second_tics(tmp_path):
    path = tmp_path / "graph.csv"
    path.write_text("switch,s,3\nnode,a\nnode,b,2\nchannel,s,a\nchannel,s,b\n")
    net = network(topology__kind="graph", topology__file=str(path))
    names = [net.router(i).name for i in range(6)]
    assert names == ["sa", "sb", "sc", "a", "ba", "bb"]
    for terminal, tic in ((0, 3), (1, 4)):
        assert (
            value_of(net, PORTS, terminal=terminal)
            == Fabric(net).read_register(tic, "enabled") & sum(1 << p for t, p, *_ in net.links() if t == tic)
            | 1 << 8 + 4
        )
    beside = value_of(net, PORTS, terminal=1, hops=[5])  # the second TIC: a parallel port, no host
    assert beside == 1 << 5
    assert value_of(net, ADDRESS, terminal=1, hops=[5]) == 1
    first = next(q for t, p, f, q in net.links() if t == 3)
    assert value_of(net, CAME_BY, hops=[0]) == first
    assert value_of(net, ADDRESS, hops=[0]) == 0xFFFF
    assert value_of(net, PORTS, hops=[0]) & 0b110000 == 0b110000  # the ring of the switch
    assert value_of(net, CAME_BY, hops=[0, 5, 5, 5]) == 4


def test_registers_read_as_they_are():
    net = network((3, 3), channel__error_rate=0.002, traffic__load=0.8, router__buffers=16)
    net.step(500)
    for tic in range(9):
        for name, register in OF_PORT.items():
            for port in range(6):
                Fabric(net).send_control(tic, "read_register", 16 + 8 * port + register)
                net.step(1)
                now = Fabric(net).read_register(tic, f"{name}.{port}")
                read = [r.value for r in Fabric(net).take_replies(tic)]
                while not read:
                    net.step(1)
                    read = [r.value for r in Fabric(net).take_replies(tic)]
                # What the host presents to its TIC is carried out at once, and that cycle is over when we look.
                assert now - 2 <= read[0] <= now, (tic, name, port)
    read = Fabric(net).read_register
    errors = {name: sum(read(t, f"{name}.{p}") for t in range(9) for p in range(4)) for name in OF_PORT}
    assert errors["damaged"] == net.totals["slots_hit"] > 0
    assert errors["refused"] == net.totals["refused"] > 0
    assert errors["failed"] == net.totals["came_back"] > 0
    assert errors["lost"] == net.totals["answers_lost"] > 0
    assert errors["carried"] == net.totals["slots_sent"] > 0


def test_registers_that_are_not_there_read_as_nothing():
    net = network()
    for number in (CLOCK, CLOCK_RATE, CLOCK_SENDS, SLIPS, 15, 16 + 5, 16 + 8 * 6, 0xFFFF):
        assert value_of(net, number, cycles=2) == 0
    before = Fabric(net).registers(0)
    for number in (PORTS, CAME_BY, CLOCK, 11, 16, 0xFFFF):
        ask(net, "write_register", number, 1, cycles=2)
    assert {k: v for k, v in Fabric(net).registers(0).items() if k != "timer" and k != "carried.4"} == {
        k: v for k, v in before.items() if k != "timer" and k != "carried.4"
    }


def test_clocks_are_watched_and_switched_off():
    net = network((3,), clock__emulated=True, clock__spread=40)
    net.step(100)
    assert value_of(net, CLOCK, hops=[0]) & 1 == 1
    ask(net, "write_register", CLOCK, 0, hops=[0])
    ask(net, "write_register", CLOCK_SENDS, 0b0010, hops=[0])
    assert Fabric(net).read_register(1, "clock_on") == 0 and Fabric(net).read_register(0, "clock_on") == 1
    assert Fabric(net).read_register(1, "clock_sends") == 0b0010
    assert value_of(net, CLOCK_SENDS, hops=[0]) == 0b0010
    # Its loop is open: it goes at its own frequency, which stays as it is.
    assert value_of(net, CLOCK_RATE, hops=[0]) == Fabric(net).read_register(1, "clock_rate") & 0xFFFFFFFF
    assert value_of(net, SLIPS, hops=[0]) == Fabric(net).read_register(1, "slips")


# Ways and times.


@pytest.mark.parametrize("number, value, there", [
    (ADDRESS, 70000, 4464), (ENABLED, 255, 63), (TIMER, 0x12345, 0x2345), (COUNTING, 31, 31), (COUNTING, 32, 32),
    (COUNTING, 1000, 32), (COUNTER, 0xFFFFFFFF, 0xFFFFFFFF), (PORTS, 5, 1 << 8 + 4 | 3), (CAME_BY, 5, 1),
    (16, 5, 0), (15, 5, 0), (CLOCK, 1, 0),
])  # fmt: skip
def test_replies_to_writing_bear_what_is_there_now(number, value, there):
    net = network()
    assert ask(net, "write_register", number, value, hops=[0], cycles=20).value == there
    if number == COUNTING:
        assert Fabric(net).read_register(1, "counting") == there


def test_replies_to_writing_bear_what_clocks_hold():
    net = network(clock__emulated=True)
    for number, value, there in ((CLOCK, 0b110, 0), (CLOCK, 0b111, 1), (CLOCK_SENDS, 0xFF, 15)):
        assert ask(net, "write_register", number, value, cycles=20).value == there


def test_sixteen_hops_out_and_back():
    net = network((17,))
    Fabric(net).send_control(0, "read_register", CAME_BY, hops=[0] * 16, tag=9)
    net.step(81)
    assert Fabric(net).take_replies(0) == []
    # 3 cycles for each hop out; the reply leaves in cycle 49 and takes 2 for each hop back.
    [reply] = Fabric(net.step(1)).take_replies(0)
    assert (reply.tag, reply.number, reply.value, reply.stamp) == (9, CAME_BY, 1, 3 * 16)


def test_a_message_may_turn_on_its_way():
    net = network((2, 2))
    assert net.links()[:2] == [(0, 0, 1, 0), (0, 2, 2, 2)]
    reply = ask(net, "read_register", ADDRESS, hops=[0, 2] * 8)  # four times round the square
    assert reply.value == 0
    # A hop by port 2 after one that came by port 0 takes 2 cycles, the others 3.
    assert reply.stamp == 8 * 3 + 8 * 2


def test_stamps_of_neighbours_differ_by_the_way_between_them():
    forward, back = network((3,)), network((3,))
    assert ask(forward, "read_register", hops=[0]).stamp == 3
    at = forward.cycle
    assert ask(forward, "read_register", hops=[0, 0]).stamp == at + 3 + (1 + 2)
    assert ask(back, "read_register", terminal=2, hops=[1]).stamp == 3
    at = back.cycle
    assert ask(back, "read_register", terminal=2, hops=[1, 1]).stamp == at + 3 + 2


def test_timers_are_compared_over_a_channel():
    """What each end of a channel says about the other's timer, sent at once: half of the difference is the offset."""
    net = network()
    ask(net, "write_register", TIMER, 5000, hops=[0])
    here, there = [], []
    for terminal, hops, stamps in ((0, [0], here), (1, [1], there)):
        for way in ([], hops):
            sent = net.cycle
            stamps.append(ask(net, "read_register", TIMER, terminal=terminal, hops=way, cycles=20).stamp - sent)
    offset = ((here[1] - here[0]) - (there[1] - there[0])) / 2
    assert offset == Fabric(net).read_register(1, "timer") - Fabric(net).read_register(0, "timer") > 4000
    assert ((here[1] - here[0]) + (there[1] - there[0])) / 2 == 3  # the way: 1 to leave, 2 on the channel


def test_a_timer_is_read_written_and_wraps():
    net = network()
    net.step(100)
    assert value_of(net, TIMER, cycles=2) == 100
    reply = ask(net, "write_register", TIMER, 0xFFFC, cycles=2)  # in cycle 102
    assert reply.stamp == 0xFFFC
    assert [ask(net, "read_register", TIMER, cycles=2).value for _ in range(3)] == [0xFFFE, 0, 2]
    assert ask(net, "read_register", CAME_BY, cycles=2).stamp == 4
    assert ask(net, "add_to_timer", value=0xFFFF, cycles=2).value == 5  # 6 - 1
    assert value_of(net, TIMER, cycles=2) == 7
    assert value_of(net, TIMER, hops=[0]) != 3


def test_two_nodes_add_to_a_timer_at_once():
    net = network()
    Fabric(net).send_control(0, "add_to_timer", value=1000, hops=[0])
    Fabric(net).send_control(2, "add_to_timer", value=200, hops=[1])
    net.step(20)
    # Both come in cycle 3: by port 0 from TIC 2 first, by port 1 from TIC 0 then.
    assert [r.value for r in Fabric(net).take_replies(2)] == [3 + 200]
    assert [r.value for r in Fabric(net).take_replies(0)] == [3 + 200 + 1000]
    assert Fabric(net).read_register(1, "timer") == 20 + 1200


def test_tables_lead_a_reply_to_the_port_that_asked():
    """Node 0's two TICs have a host port each; a reply by tables comes to the second one first."""
    net = network((2, 2, 2), topology__node="dual", topology__host_ports=2)
    assert ask(net, "read_register", ADDRESS, address=4).value == 4
    assert Fabric(net).take_replies(1) == []
    assert ask(net, "read_register", ADDRESS, address=4, terminal=1).value == 4
    assert Fabric(net).take_replies(0) == []


# Messages without a reply, and bad input.


def test_messages_that_lead_nowhere_are_thrown_away():
    net = network()
    assert ask(net, "read_register", hops=[2]) is None  # no channel
    assert ask(net, "read_register", hops=[0, 5]) is None
    assert ask(net, "read_register", address=3) is None  # no entry
    Fabric(net).write_register(1, "table.2", 0)
    assert ask(net, "read_register", address=2) is None  # none on the way
    ask(net, "write_register", ENABLED, ALL_ON & ~1, hops=[0])
    assert ask(net, "read_register", hops=[0, 0]) is None  # off
    assert ask(net, "read_register", terminal=1, hops=[4]) is None  # a host, its own or another's
    assert ask(net, "read_register", terminal=1, hops=[0, 4]) is None
    assert Fabric(net).take_replies(2) == []
    net.check()
    assert [Fabric(net).read_register(tic, "used") for tic in range(3)] == [0, 0, 0]
    assert value_of(net, ADDRESS, hops=[0]) == 1


def test_mailboxes_hold_sixteen_messages():
    net = network()
    assert Fabric(net).send_controls(0, [Request("read_register", TIMER, tag=t) for t in range(20)]) == 16
    with pytest.raises(fl.ConfigError, match="mailbox of terminal 0 is full"):
        Fabric(net).send_control(0, "read_register")
    assert Fabric(net).send_controls(1, [Request("read_register")]) == 1  # another's is not
    net.step(4)
    assert Fabric(net).send_controls(0, [Request("read_register", TIMER, tag=t) for t in range(16, 24)]) == 4
    net.step(40)
    # Nobody has looked: what found no place is lost, as by a host that does not listen.
    assert [r.tag for r in Fabric(net).take_replies(0)] == list(range(16))
    assert Fabric(net).take_replies(0) == []
    assert [Fabric(net).read_register(tic, "unheard.4") for tic in range(3)] == [4, 0, 0]
    assert ask(net, "read_register", TIMER, tag=3).tag == 3


@pytest.mark.parametrize(
    "arguments, words",
    [
        (dict(operation="erase"), 'no operation "erase"; known: read_table'),
        (dict(hops=[0] * 17), "17 hops are too many"),
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


def test_what_waits_for_a_channel_takes_another_way(tmp_path):
    """Node 0 sends to the far corner of a square: over TIC 1 (port 0) or TIC 2 (port 2)."""
    count = 60
    net = network(
        (2, 2), topology__host_ports=2, **trace_file(tmp_path, [(10 + i // 2, i % 2, 6, 1) for i in range(count)])
    )
    entry = Fabric(net).read_register(0, "table.3")
    assert entry & 0b11
    assert entry & 0b110000
    ask(net, "write_register", ENABLED, ALL_ON & ~0b100, cycles=2)  # all go over port 0, and queue up
    net.step(25)
    waiting = sum(vc.packets for vc in net.router(0).ports[0].vcs)
    assert waiting > 5
    ask(net, "write_register", ENABLED, ALL_ON & ~0b001, cycles=2)  # and now over port 2
    assert Fabric(net).read_register(0, "enabled") == ALL_ON & ~0b001
    carried = Fabric(net).read_register(0, "carried.0")
    net.step(300)
    assert Fabric(net).read_register(0, "carried.0") == carried
    assert sum(vc.packets for vc in net.router(0).ports[0].vcs) == 0
    held = Fabric(net).read_register(0, "used")  # sent, and whether they have been taken is not known here
    assert 0 < held <= 6  # slots of a round
    net.check()
    totals = net.totals
    assert count - held <= totals["packets_delivered"] <= count
    ask(net, "write_register", ENABLED, ALL_ON)
    assert net.totals["packets_delivered"] == count
    assert Fabric(net).read_register(0, "used") == 0
    net.check()


def test_what_a_channel_holds_waits_until_it_is_on_again(tmp_path):
    """The far end is off: nobody answers, and messages go again and again until it is on."""
    net = network((2,), **trace_file(tmp_path, [(10 + i, 0, 1, 1) for i in range(20)]))
    ask(net, "write_register", ENABLED, 0b110000, terminal=1, cycles=2)
    net.step(200)
    assert net.totals["packets_delivered"] == 0
    assert net.totals["sent_again"] > 100
    assert Fabric(net).read_register(0, "used") == 20
    net.check()
    ask(net, "write_register", ENABLED, ALL_ON, terminal=1)
    assert net.totals["packets_delivered"] == 20
    assert net.totals["duplicates"] == 0
    net.check()


@pytest.mark.parametrize("seed", range(8))
def test_no_message_is_lost_when_channels_go_off_and_on(seed):
    """However full the pools are that are told so."""
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


def test_control_messages_by_tables_take_another_way():
    """As data does: requests for TIC 3 wait for port 0 of TIC 0 when it is switched off, and go over TIC 2."""
    net = network((2, 2), topology__host_ports=2)
    ask(net, "write_register", ENABLED, ALL_ON & ~0b1000, terminal=6)  # replies come over TIC 2 as well
    asked = [Request("read_register", ADDRESS, address=3)]
    for terminal, requests in (
        (
            0,
            [
                Request("write_register", ENABLED, ALL_ON & ~0b100),
                *asked * 13,
                Request("write_register", ENABLED, ALL_ON & ~0b001),
            ],
        ),
        (1, asked * 15),
    ):
        assert Fabric(net).send_controls(terminal, requests) == len(requests)
    net.step(300)
    assert sum(vc.packets for vc in net.router(0).ports[0].vcs) == 0
    came = [r.number for t in (0, 1) for r in Fabric(net).take_replies(t)]
    assert 5 < came.count(ADDRESS) < 28  # some were on their way to TIC 1, which has no other
    for terminal in (6, 0):
        Fabric(net).send_control(terminal, "write_register", ENABLED, ALL_ON)
    net.step(100).check()
    came += [r.number for t in (0, 1) for r in Fabric(net).take_replies(t)]
    assert came.count(ADDRESS) == 28
    assert [Fabric(net).read_register(tic, "used") for tic in range(4)] == [0] * 4


# The counter.


def busy(event, trace=False):
    """The TIC in the middle of a square, all of its ports in use; its counter counts from cycle 3 on."""
    net = network(
        (3, 3),
        trace=trace,
        topology__host_ports=2,
        traffic__load=0.5,
        traffic__start=20,
        traffic__packet_flits=1,
        channel__error_rate=0.002,
        router__buffers=20,
        router__host_buffers=20,
    )
    Fabric(net).send_control(8, "write_register", COUNTING, event)
    Fabric(net).send_control(8, "write_register", COUNTER, 0)
    net.step(20)
    Fabric(net).take_replies(8)
    return net


CYCLES = 400


@pytest.mark.parametrize("kind", [SENT, DAMAGED, REFUSED, CAME_BACK])
def test_the_counter_agrees_with_the_registers_of_ports(kind):
    name = {SENT: "carried", DAMAGED: "damaged", REFUSED: "refused", CAME_BACK: "failed"}[kind]
    for port in range(6):
        net = busy(5 * port + kind)
        before = Fabric(net).registers(4)
        net.step(CYCLES)
        after = Fabric(net).registers(4)
        happened = after[f"{name}.{port}"] - before[f"{name}.{port}"]
        assert after["counter"] - before["counter"] == happened, port
        assert (happened > 0) == (port < 4 or kind == SENT), port


def test_the_counter_agrees_with_what_came():
    for port in range(6):
        net = busy(5 * port + RECEIVED, trace=True)
        net.events()
        before = Fabric(net).read_register(4, "counter")
        net.step(CYCLES)
        kinds = [
            e["kind"]
            for e in net.events()
            if (e["item"] == "router" and e["index"] == 4 and e["kind"] == "arrived" and e["port"] == port)
            or (e["item"] == "terminal" and e["index"] in (8, 9) and e["kind"] == "injected" and e["port"] == port)
        ]
        assert len(kinds) == Fabric(net).read_register(4, "counter") - before > 0, port


def test_the_counter_counts_cycles():
    net = busy(EVERY_CYCLE)
    before = Fabric(net).read_register(4, "counter")
    assert Fabric(net.step(CYCLES)).read_register(4, "counter") - before == CYCLES


def test_the_counter_counts_the_cycles_of_an_idle_tic():
    net = network()
    Fabric(net.step(10)).write_register(1, "counting", EVERY_CYCLE)
    assert Fabric(net.step(CYCLES)).read_register(1, "counter") == CYCLES


def test_the_counter_counts_messages_held_up():
    net = busy(HELD_UP)
    before, held, sent = Fabric(net).read_register(4, "counter"), 0, [net.terminal(t).sent for t in (8, 9)]
    for _ in range(CYCLES):
        net.step()
        for i, terminal in enumerate((8, 9)):
            now = net.terminal(terminal)
            held += now.sent == sent[i] and now.created > now.sent
            sent[i] = now.sent
    assert Fabric(net).read_register(4, "counter") - before == held > 0


def test_the_counter_is_programmed_in_band():
    net = network()
    assert value_of(net, COUNTING, hops=[0]) == 32  # nothing
    ask(net, "write_register", COUNTING, EVERY_CYCLE, hops=[0])
    Fabric(net).send_control(0, "write_register", COUNTER, 0xFFFFFFFF, hops=[0])
    net.step(4)
    assert Fabric(net).read_register(1, "counter") == 0xFFFFFFFF  # written in cycle 3 after that was counted
    net.step(10)
    assert Fabric(net).read_register(1, "counter") == 9
    Fabric(net).take_replies(0)
    ask(net, "write_register", COUNTING, 5 * 0 + SENT, hops=[0])
    ask(net, "write_register", COUNTER, 0, hops=[0])
    for _ in range(7):
        ask(net, "read_register", hops=[0, 0])
    # Seven messages over port 0, as a monitor of the traffic of a channel.
    assert value_of(net, COUNTER, hops=[0]) == 7


# Under load and errors.


@pytest.mark.parametrize("errors", [0.0, 0.002])
def test_control_messages_are_carried_out_once_whatever_happens(errors):
    """Requests by tables at the priorities of saturated data, and at 2 over ways of their own, some at a time: those
    could wait in a circle if there were many."""
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
    added, asked, named, got = [0] * 9, 0, 0, 0
    for step in range(2500):
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
            asked += 1
            named += request.tag
            added[tic] += 1
        net.step(3)
        for t in range(9):
            replies = Fabric(net).take_replies(t)
            got += len(replies)
            named -= sum(r.tag for r in replies)
    assert net.totals["control_messages"] == asked == got > 500
    assert [Fabric(net).read_register(tic, "timer") for tic in range(9)] == [net.cycle + n for n in added]
    assert net.totals["packets_delivered"] > 500
    if errors:
        assert net.totals["answers_lost"] > 100
    net.check()
