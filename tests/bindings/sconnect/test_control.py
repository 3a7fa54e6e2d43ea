"""S-Connect's control messages (S-Connect, 3.4): operations, registers, paths and times, compared with values derived
by hand. tests/support/control_messages.py describes the timing."""

import pytest
from control_messages import (
    ADDRESS,
    CAME_BY,
    CLOCK,
    CLOCK_RATE,
    CLOCK_SENDS,
    COUNTER,
    COUNTING,
    ENABLED,
    OF_PORT,
    PORTS,
    SLIPS,
    TIMER,
    network,
    send_request,
    trace_file,
    value_of,
)

import flitlab as fl
from flitlab.sconnect import Fabric

# Operations and registers.


@pytest.mark.parametrize(
    "way, tic",
    [({}, 0), ({"hops": [0]}, 1), ({"hops": [0, 0]}, 2), ({"address": 2}, 2), ({"address": 1, "hops": [0]}, 2)],
)
def test_tables_are_read_and_written(way, tic):
    net = network()
    for node in range(3):
        entry = Fabric(net).read_register(tic, f"table.{node}")
        assert send_request(net, "read_table", node, **way).value == entry != 0
    others = {t: Fabric(net).registers(t) for t in range(3) if t != tic}
    # Both virtual channels of the ports towards TICs: TIC 0 has port 0, TIC 2 port 1. An entry with these options
    # cannot also name the host's port.
    there = {0: 0x003, 1: 0x00F, 2: 0x00C}[tic]
    assert send_request(net, "write_table", 1, 0xFFFFFF00, **way).value == 0x100  # the host's port 4
    assert send_request(net, "write_table", 1, 0xFFFFFFFF, **way).value == there
    assert Fabric(net).read_register(tic, "table.1") == there
    assert {t: Fabric(net).read_register(t, "table.1") for t in others} == {t: others[t]["table.1"] for t in others}


def test_tables_have_an_entry_for_each_node():
    net = network()
    before = Fabric(net).registers(0)
    # The reply carries the value that the entry has after the write.
    assert send_request(net, "write_table", 3, 5, cycles=2).value == 0
    assert send_request(net, "read_table", 3, cycles=2).value == 0
    assert send_request(net, "write_table", 0xFFFF, 5, cycles=2).value == 0
    after = Fabric(net).registers(0)
    assert {k: v for k, v in after.items() if k[:5] == "table"} == {k: v for k, v in before.items() if k[:5] == "table"}


def test_tables_hold_only_what_a_tic_has(tmp_path):
    """A table entry cannot have an option for virtual channel 1 of a host's port, which would duplicate a message, or
    for a port without a wire, which would hold the message."""
    net = network((2,), **trace_file(tmp_path, [(10 + i, 0, 1, 1) for i in range(20)]))
    for option in (1 << 9, 1 << 10, 1 << 4, 1 << 2, 1 << 12):
        assert send_request(net, "write_table", 1, option | 1 << 8, terminal=1, cycles=2).value == 1 << 8
    net.step(100).check()
    assert net.totals["packets_delivered"] == 20
    for option in (1 << 9, 1 << 10, 1 << 4, 1 << 12, 1 << 40):
        with pytest.raises(fl.ConfigError, match=r"table\.0 = \d+: this TIC has the options 259 "):
            Fabric(net).write_register(1, "table.0", option)
    for option in (3, 256):
        assert Fabric(net).write_register(1, "table.0", option).read_register(1, "table.0") == option
    with pytest.raises(fl.ConfigError, match=r"table\.0 = 259: an entry names serial ports .* not both"):
        Fabric(net).write_register(1, "table.0", 259)
    mixed = network((2,), routing__entries="mixed")
    assert Fabric(mixed).write_register(1, "table.0", 259).read_register(1, "table.0") == 259
    assert send_request(mixed, "write_table", 0, 0xFFF, terminal=1, cycles=2).value == 259
    switch = tmp_path / "graph.csv"
    switch.write_text("switch,s,2\nnode,a\nnode,b,2\nchannel,s,a\nchannel,s,b\n")
    net = network(topology__kind="graph", topology__file=str(switch))
    links = net.links()
    for terminal, tic, hops in ((0, 2, []), (1, 3, []), (1, 4, [5])):
        there = sum(3 << 2 * p for t, p, _, _ in links if t == tic and p < 4)
        there = there or sum(1 << 2 * p for t, p, _, _ in links if t == tic)
        assert send_request(net, "write_table", 0, 0xFFF, terminal=terminal, hops=hops).value == there


def test_a_tic_reports_its_ports():
    net = network()
    assert value_of(net, PORTS) == 0b000001 | 1 << 8 + 4
    assert value_of(net, PORTS, hops=[0]) == 0b000011 | 1 << 8 + 4
    assert value_of(net, PORTS, address=2) == 0b000010 | 1 << 8 + 4
    assert value_of(net, CAME_BY) == 4
    assert value_of(net, CAME_BY, hops=[0]) == 1
    assert value_of(net, CAME_BY, hops=[0, 1]) == 0  # the message went to the neighbour and back
    assert value_of(net, CAME_BY, address=2, terminal=0) == 1
    assert value_of(net, ADDRESS, hops=[0, 0]) == 2
    assert send_request(net, "write_register", ADDRESS, 77, hops=[0, 0]).value == 77
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
    beside = value_of(net, PORTS, terminal=1, hops=[5])  # the node's second TIC has a parallel port and no host
    assert beside == 1 << 5
    assert value_of(net, ADDRESS, terminal=1, hops=[5]) == 1
    first = next(q for t, p, f, q in net.links() if t == 3)
    assert value_of(net, CAME_BY, hops=[0]) == first
    assert value_of(net, ADDRESS, hops=[0]) == 0xFFFF
    # Both parallel ports, which join the switch's TICs in a ring.
    assert value_of(net, PORTS, hops=[0]) & 0b110000 == 0b110000
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
                # The TIC executes its host's message at once, and that cycle has ended when the test reads the
                # register.
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
        send_request(net, "write_register", number, 1, cycles=2)
    assert {k: v for k, v in Fabric(net).registers(0).items() if k != "timer" and k != "carried.4"} == {
        k: v for k, v in before.items() if k != "timer" and k != "carried.4"
    }


def test_clocks_are_watched_and_switched_off():
    net = network((3,), clock__emulated=True, clock__spread=40)
    net.step(100)
    assert value_of(net, CLOCK, hops=[0]) & 1 == 1
    send_request(net, "write_register", CLOCK, 0, hops=[0])
    send_request(net, "write_register", CLOCK_SENDS, 0b0010, hops=[0])
    assert Fabric(net).read_register(1, "clock_on") == 0 and Fabric(net).read_register(0, "clock_on") == 1
    assert Fabric(net).read_register(1, "clock_sends") == 0b0010
    assert value_of(net, CLOCK_SENDS, hops=[0]) == 0b0010
    # The TIC's phase-locked loop is open, so the TIC runs at its constant free-running frequency.
    assert value_of(net, CLOCK_RATE, hops=[0]) == Fabric(net).read_register(1, "clock_rate") & 0xFFFFFFFF
    assert value_of(net, SLIPS, hops=[0]) == Fabric(net).read_register(1, "slips")


# Paths and times.


@pytest.mark.parametrize("number, value, there", [
    (ADDRESS, 70000, 4464), (ENABLED, 255, 63), (TIMER, 0x12345, 0x2345), (COUNTING, 31, 31), (COUNTING, 32, 32),
    (COUNTING, 1000, 32), (COUNTER, 0xFFFFFFFF, 0xFFFFFFFF), (PORTS, 5, 1 << 8 + 4 | 3), (CAME_BY, 5, 1),
    (16, 5, 0), (15, 5, 0), (CLOCK, 1, 0),
])  # fmt: skip
def test_replies_to_writing_bear_what_is_there_now(number, value, there):
    net = network()
    assert send_request(net, "write_register", number, value, hops=[0], cycles=20).value == there
    if number == COUNTING:
        assert Fabric(net).read_register(1, "counting") == there


def test_replies_to_writing_bear_what_clocks_hold():
    net = network(clock__emulated=True)
    for number, value, there in ((CLOCK, 0b110, 0), (CLOCK, 0b111, 1), (CLOCK_SENDS, 0xFF, 15)):
        assert send_request(net, "write_register", number, value, cycles=20).value == there


def test_sixteen_hops_out_and_back():
    net = network((17,))
    Fabric(net).send_control(0, "read_register", CAME_BY, hops=[0] * 16, tag=9)
    net.step(81)
    assert Fabric(net).take_replies(0) == []
    # The request takes 3 cycles for each of its 16 hops. The reply leaves in cycle 49 and takes 2 cycles for each hop
    # back.
    [reply] = Fabric(net.step(1)).take_replies(0)
    assert (reply.tag, reply.number, reply.value, reply.stamp) == (9, CAME_BY, 1, 3 * 16)


def test_a_message_may_go_around_a_square():
    net = network((2, 2))
    assert net.links()[:2] == [(0, 0, 1, 0), (0, 2, 2, 2)]
    reply = send_request(net, "read_register", ADDRESS, hops=[0, 2] * 8)  # four times round the square
    assert reply.value == 0
    # A hop that arrives by port 0 and leaves by port 2 takes 2 cycles, the others take 3.
    assert reply.stamp == 8 * 3 + 8 * 2


def test_stamps_of_neighbours_differ_by_the_delay_between_them():
    forward, back = network((3,)), network((3,))
    assert send_request(forward, "read_register", hops=[0]).stamp == 3
    at = forward.cycle
    assert send_request(forward, "read_register", hops=[0, 0]).stamp == at + 3 + (1 + 2)
    assert send_request(back, "read_register", terminal=2, hops=[1]).stamp == 3
    at = back.cycle
    assert send_request(back, "read_register", terminal=2, hops=[1, 1]).stamp == at + 3 + 2


def test_timers_are_compared_over_a_channel():
    """Both ends of a channel read the other's timer at the same time: half of the difference is the offset."""
    net = network()
    send_request(net, "write_register", TIMER, 5000, hops=[0])
    here, there = [], []
    for terminal, hops, stamps in ((0, [0], here), (1, [1], there)):
        for way in ([], hops):
            sent = net.cycle
            reply = send_request(net, "read_register", TIMER, terminal=terminal, hops=way, cycles=20)
            stamps.append(reply.stamp - sent)
    offset = ((here[1] - here[0]) - (there[1] - there[0])) / 2
    assert offset == Fabric(net).read_register(1, "timer") - Fabric(net).read_register(0, "timer") > 4000
    # A message takes 3 cycles: 1 to leave the TIC and 2 on the channel.
    assert ((here[1] - here[0]) + (there[1] - there[0])) / 2 == 3


def test_a_timer_is_read_written_and_wraps():
    net = network()
    net.step(100)
    assert value_of(net, TIMER, cycles=2) == 100
    reply = send_request(net, "write_register", TIMER, 0xFFFC, cycles=2)  # in cycle 102
    assert reply.stamp == 0xFFFC
    assert [send_request(net, "read_register", TIMER, cycles=2).value for _ in range(3)] == [0xFFFE, 0, 2]
    assert send_request(net, "read_register", CAME_BY, cycles=2).stamp == 4
    assert send_request(net, "add_to_timer", value=0xFFFF, cycles=2).value == 5  # 6 - 1
    assert value_of(net, TIMER, cycles=2) == 7
    assert value_of(net, TIMER, hops=[0]) != 3


def test_two_nodes_add_to_a_timer_at_once():
    net = network()
    Fabric(net).send_control(0, "add_to_timer", value=1000, hops=[0])
    Fabric(net).send_control(2, "add_to_timer", value=200, hops=[1])
    net.step(20)
    # Both messages arrive in cycle 3. The message from TIC 2, by port 0, is handled first, the one from TIC 0, by port
    # 1, second.
    assert [r.value for r in Fabric(net).take_replies(2)] == [3 + 200]
    assert [r.value for r in Fabric(net).take_replies(0)] == [3 + 200 + 1000]
    assert Fabric(net).read_register(1, "timer") == 20 + 1200


def test_tables_route_a_reply_to_the_requesting_port():
    """Each of node 0's two TICs has a host port; a reply routed by tables reaches the second TIC first."""
    net = network((2, 2, 2), topology__node="dual", topology__host_ports=2)
    assert send_request(net, "read_register", ADDRESS, address=4).value == 4
    assert Fabric(net).take_replies(1) == []
    assert send_request(net, "read_register", ADDRESS, address=4, terminal=1).value == 4
    assert Fabric(net).take_replies(0) == []
