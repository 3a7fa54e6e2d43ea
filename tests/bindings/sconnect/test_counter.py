"""The event counter of an S-Connect TIC (S-Connect, 3.4)."""

import pytest
from control_messages import (
    CAME_BACK,
    COUNTER,
    COUNTING,
    DAMAGED,
    EVERY_CYCLE,
    HELD_UP,
    RECEIVED,
    REFUSED,
    SENT,
    network,
    send_request,
    value_of,
)

from flitlab.sconnect import Fabric

# The counter.


def busy(event, trace=False):
    """The TIC in the middle of a square, with all ports in use; its counter counts from cycle 3 on."""
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
    assert value_of(net, COUNTING, hops=[0]) == 32  # this selection counts no event
    send_request(net, "write_register", COUNTING, EVERY_CYCLE, hops=[0])
    Fabric(net).send_control(0, "write_register", COUNTER, 0xFFFFFFFF, hops=[0])
    net.step(4)
    assert Fabric(net).read_register(1, "counter") == 0xFFFFFFFF  # written in cycle 3, after that cycle was counted
    net.step(10)
    assert Fabric(net).read_register(1, "counter") == 9
    Fabric(net).take_replies(0)
    send_request(net, "write_register", COUNTING, 5 * 0 + SENT, hops=[0])
    send_request(net, "write_register", COUNTER, 0, hops=[0])
    for _ in range(7):
        send_request(net, "read_register", hops=[0, 0])
    # Seven messages cross the channel at port 0, and the counter counts them.
    assert value_of(net, COUNTER, hops=[0]) == 7
