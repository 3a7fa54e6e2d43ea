"""S-Connect's control messages (S-Connect, 3.4): functions for tests, and the timing from which the tests' values are
derived by hand.

Timing on a line of nodes: TIC n's port 0 leads to port 1 of TIC n + 1, a channel takes 2 routing cycles, hosts are at
port 4. A host's message of cycle 0 leaves in cycle 1; a request to its own TIC is answered in cycle 1. A message that
arrives by port 1 leaves by port 0 in the next cycle, because that transmitter's turn has passed. A message that arrives
by port 0 leaves by port 1 at once.
"""

import flitlab as fl
from flitlab.sconnect import Fabric

PORTS, CAME_BY, ADDRESS, ENABLED, TIMER, COUNTING, COUNTER, CLOCK, CLOCK_RATE, CLOCK_SENDS, SLIPS = range(11)


OF_PORT = {"damaged": 0, "refused": 1, "failed": 2, "lost": 3, "carried": 4}


SENT, RECEIVED, DAMAGED, REFUSED, CAME_BACK = range(5)


HELD_UP, EVERY_CYCLE = 30, 31


ALL_ON = 0b111111


def network(shape=(3,), trace=False, **settings):
    given = {key.replace("__", "."): value for key, value in settings.items()}
    # All nodes have equal phases, so that cycles can be counted by hand.
    base = {"router.kind": "sconnect", "topology.shape": list(shape), "topology.phases": "equal",
            "topology.channel_delay": 12}
    if "topology.kind" in given:
        del base["topology.shape"]
    if "traffic.mode" not in given and "traffic.load" not in given:
        base["traffic.load"] = 0
    return fl.Network(fl.Experiment.from_dict(base | given), trace=trace)


def trace_file(tmp_path, lines):
    path = tmp_path / "trace.csv"
    path.write_text("".join(f"{cycle},{src},{dst},{flits}\n" for cycle, src, dst, flits in lines))
    return {"traffic__mode": "trace", "traffic__trace_file": str(path)}


def send_request(net, operation, number=0, value=0, terminal=0, cycles=200, **way):
    """Sends one request. Returns its reply, or None if none arrived."""
    Fabric(net).send_control(terminal, operation, number, value, **way)
    net.step(cycles)
    replies = Fabric(net).take_replies(terminal)
    assert len(replies) <= 1
    return replies[0] if replies else None


def value_of(net, number, **way):
    return send_request(net, "read_register", number, **way).value
