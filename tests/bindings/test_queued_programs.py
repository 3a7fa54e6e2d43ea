"""Programs on models without software of their own: cycles by hand, and random programs against a naive execution,
which injects every packet from Python."""

import random

import pytest
from random_programs import NETWORKS, experiment, random_calls

import flitlab as fl


def packets_of(size: int, flit: int, payload: int = 240, header: int = 16) -> list[int]:
    """Flits of the packets of a message."""
    parts = [payload] * (size // payload) + ([size % payload] if size % payload or not size else [])
    return [-(-(part + header) // flit) for part in parts]


class NaiveRank:
    """One rank as a coroutine that yields as long as it must wait."""

    def __init__(self, run, rank, calls):
        self.run, self.rank = run, rank
        self.messages = []  # [first cycle of its packets, destination, flits of the packets that are left, tag]
        self.arrived = {}  # (source, tag) -> cycles of the last packets of messages
        self.end = None
        self.work = self.make_calls(calls)

    def until(self, cycle):
        while self.run.now < cycle:
            yield

    def send(self, peer, size, tag, blocks):
        message = [self.run.now + self.run.send_overhead, peer, packets_of(size, self.run.flit), tag]
        self.messages.append(message)
        yield from self.until(message[0])
        while blocks and message[2]:
            yield
        return message

    def receive(self, peer, tag):
        while not (self.arrived.get((peer, tag)) and self.arrived[peer, tag][0] < self.run.now):
            yield
        self.arrived[peer, tag].pop(0)
        yield from self.until(self.run.now + self.run.recv_overhead)

    def make_calls(self, calls):
        handles = {}
        for call, *arguments in calls:
            if call == "compute":
                yield from self.until(self.run.now + arguments[0])
            elif call == "send":
                yield from self.send(*arguments, blocks=True)
            elif call == "isend":
                *message, handle = arguments
                handles[handle] = yield from self.send(*message, blocks=False)
            elif call == "recv":
                yield from self.receive(*arguments)
            elif call == "irecv":
                *message, handle = arguments
                handles[handle] = tuple(message)
            elif isinstance(handles[arguments[0]], tuple):
                yield from self.receive(*handles[arguments[0]])
            else:
                while handles[arguments[0]][2]:
                    yield
        while any(message[2] for message in self.messages):
            yield
        self.end = self.run.now


class NaiveRun:
    """Steps a network cycle by cycle. The program's packets are injected from here."""

    def __init__(self, network):
        self.now, self.flit = 0, network.get("traffic.flit_bytes", 32)
        experiment = fl.Experiment.from_dict({**network, "traffic.mode": "host"})
        self.network = fl.Network(experiment)
        self.terminals = int(experiment.derived()["terminals"])
        self.left = {}  # number of a message -> its packets that have not arrived
        self.numbers = []  # number of a message -> (source, tag)

    def ends(self, calls, send_overhead, recv_overhead):
        """Returns the cycle in which each rank's program ends."""
        self.send_overhead, self.recv_overhead = send_overhead, recv_overhead
        self.ranks = [NaiveRank(self, rank, own) for rank, own in enumerate(calls)]
        while any(rank.end is None for rank in self.ranks):
            for rank in self.ranks:
                next(rank.work, None)
                self.pass_packet(rank)
            self.network.step(1)
            for packet in self.network.arrivals():
                message = int(packet["tag"])
                self.left[message] -= 1
                if not self.left[message]:
                    self.ranks[packet["destination"]].arrived.setdefault(self.numbers[message], []).append(
                        packet["cycle"])
            self.now += 1
        return [rank.end for rank in self.ranks]

    def pass_packet(self, rank):
        message = next((m for m in rank.messages if m[2]), None)
        if not message or self.now < message[0] or self.network.waiting(rank.rank) >= 2:
            return
        if len(message) == 4:
            self.left[len(self.numbers)] = len(message[2])
            message.append(len(self.numbers))
            self.numbers.append((rank.rank, message[3]))
        self.network.inject(rank.rank, message[1], message[2].pop(0), tag=message[4])


def test_a_message_is_received_in_the_cycle_after_it_arrives(tmp_path):
    """The only packet is created in cycle 0. The answer is created in the cycle after it arrives."""
    e = experiment(NETWORKS["vc"], [[("send", 4, 1, 0), ("recv", 4, 1)], [], [], [],
                                    [("recv", 0, 0), ("send", 0, 1, 1)]], tmp_path / "p.csv")
    network = fl.Network(e)
    network.step(200)
    alone = fl.Network(fl.Experiment.from_dict({**NETWORKS["vc"], "traffic.mode": "host"}))
    alone.inject(0, 4, 1)
    alone.step(100)
    arrival = int(alone.arrivals()["cycle"][0])
    ends = network.program_ends
    assert ends[0] == 2 * (arrival + 1)
    assert ends[4] == arrival + 2  # its packet has left the program in the cycle before
    assert ends[1] == 0


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("seed", range(4))
def test_random_programs_end_as_in_a_naive_execution(name, seed, tmp_path):
    draw = random.Random(f"{name} {seed}")
    run = NaiveRun(NETWORKS[name])
    calls = random_calls(draw, min(run.terminals, 8), 30)
    send_overhead, recv_overhead = draw.choice([0, 0, 7]), draw.choice([0, 0, 5])
    network = fl.Network(experiment(NETWORKS[name], calls, tmp_path / "p.csv", **{
        "traffic.send_overhead": send_overhead, "traffic.recv_overhead": recv_overhead}))
    expected = run.ends(calls, send_overhead, recv_overhead)
    network.step(max(expected) + 1)
    assert network.program_ends[:len(calls)] == expected


def test_a_run_ends_with_its_program():
    """Recursive doubling among 16 ranks: 4 messages of 42 packets from each rank, and 4 times 50 cycles to combine."""
    program = fl.Program.spmd(lambda me: me.allreduce(10_000, cycles=50), 16)
    result = fl.run({"topology.kind": "torus", "topology.shape": [4, 4], "traffic.mode": "program",
                     "traffic.program_file": program})
    assert result.packets["delivered"] == 16 * 4 * 42
    # the flits of 4 messages, one after the other: 41 packets of 8 flits, and one with 160 + 16 bytes
    assert result.model["program_cycles"] > 4 * (41 * 8 + 6 + 50)


@pytest.mark.parametrize("network, message", [
    ({"router.kind": "sconnect", "topology.host_ports": 2, "traffic.flit_bytes": 256},
     "cannot tell which message is complete"),
    ({"router.kind": "sconnect"}, r"flit_bytes = 32 with 240 \+ 16 bytes .* packets of up to 8 flits.* of 1 flit"),
    ({"router.kind": "adaptive"}, r"flit_bytes = 32 with 240 \+ 16 bytes .* Raise traffic.flit_bytes"),
    ({"router.kind": "t3e", "traffic.flit_bytes": 8}, r"at most 10 flits, and traffic.flit_bytes = 8 .* allows 32"),
])
def test_networks_that_cannot_carry_the_packets_say_so(network, message, tmp_path):
    with pytest.raises(fl.ConfigError, match=message):
        fl.Network(experiment(network, [[("send", 1, 1, 0)], [("recv", 0, 0)]], tmp_path / "p.csv"))
