"""Destinations of a T3E's ports, and R_ORIENT: a second implementation of cables, orientation and special packets in
the manual's terms (HMM-146-0, Figures 4 to 6, Tables 1 to 3), compared with the emulated machine."""

import random

import pytest
from t3e_machines import AC20, build

import flitlab as fl
from flitlab import t3e
from flitlab.t3e.boot import boot

SHAPES = [{"topology.shape": shape} for shape in ([2, 2, 2], [4, 4, 3], [2, 4, 5], [8, 2, 4])] + [AC20]
WIRINGS = [{"topology.plus_ports": plus, "topology.wiring_z": z}
           for plus in ([0, 1, 0], [1, 0, 1]) for z in ("through", "alternating")]


class Cables:
    """A machine as the cables between ports. A port is (coordinates of its node, dimension, 0 or 1); the dictionary
    maps a port to the port at the far end."""

    def __init__(self, e):
        self.nodes = {pe.position: pe.node for pe in t3e.machine(e).pes}
        self.far = {}
        plus_ports, alternating = e["topology.plus_ports"], e["topology.wiring_z"] == "alternating"

        def plus(coordinates, dim):
            turned = dim == 2 and alternating and coordinates[2] % 2
            return 1 - plus_ports[dim] if turned else plus_ports[dim]

        for dim in range(3):
            lines = {}
            for coordinates in self.nodes:
                lines.setdefault(coordinates[:dim] + coordinates[dim + 1:], []).append(coordinates)
            for line in map(sorted, lines.values()):
                joined = list(zip(line, line[1:] + line[:1], strict=True))
                if len(line) == 1 or (dim == 1 and len(line) == 2):  # open
                    joined.pop()
                for low, high in joined:
                    ends = (low, dim, plus(low, dim)), (high, dim, 1 - plus(high, dim))
                    self.far |= {ends[0]: ends[1], ends[1]: ends[0]}

    def orient(self, start, value, inverts):
        """Returns R_ORIENT of all nodes after a write to one node."""
        orient, waiting = {start: value}, [start]
        while waiting:
            coordinates = waiting.pop(0)
            for dim, port in [(dim, port) for dim in range(3) for port in (0, 1)]:
                if (coordinates, dim, port) not in self.far:
                    continue
                other, _, other_port = self.far[coordinates, dim, port]
                if other not in orient:
                    orient[other] = orient[coordinates] ^ (1 << dim if inverts and port == other_port else 0)
                    waiting.append(other)
        return orient

    def follow(self, coordinates, deltas, orient):
        """Returns where a special packet ends; None if an open port loses it (Tables 1 to 3: the bit is the + port)."""
        for leg, delta in enumerate(deltas):
            for _ in range(abs(delta)):
                plus = orient[coordinates] >> leg % 3 & 1
                end = self.far.get((coordinates, leg % 3, plus if delta > 0 else 1 - plus))
                if end is None:
                    return None
                coordinates = end[0]
        return coordinates


def machine(*changes, **settings):
    flat = {key.replace("__", "."): value for key, value in settings.items()}
    for change in changes:
        flat |= change
    return build({"special.enabled": True, "traffic.load": 0.0} | flat)


def orientation(network):
    """Returns R_ORIENT of all nodes, read with an SGET from each PE to its own node."""
    software = t3e.Machine(network)
    nodes = range(int(network.experiment.derived()["routers"]))
    for node in nodes:
        software.special_put(node, (0,) * 6, "R_SGET_RTRN", 0)
        software.special_get(node, (0,) * 6, "R_ORIENT")
    software.special_answers()
    network.step(40)
    answers = {a.node: a.value for a in software.special_answers()}
    assert answers == {node: software.read_register(node, "R_ORIENT") for node in nodes}
    return answers


def check_packets(network, cables, orient, random, count):
    software = t3e.Machine(network)
    for number in range(1, count + 1):
        start = random.choice(list(cables.nodes))
        deltas = [random.randint(-3, 3) for _ in range(6)]
        lost = network.totals["special_lost"]
        software.special_put(cables.nodes[start], deltas, "R_SW", number)
        network.step(20 + 3 * sum(map(abs, deltas)))
        end = cables.follow(start, deltas, orient)
        assert network.totals["special_lost"] - lost == (end is None)
        if end is not None:
            assert software.read_register(cables.nodes[end], "R_SW") == number, (start, deltas)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("wiring", WIRINGS, ids=str)
def test_special_packets_follow_the_cables(shape, wiring):
    """Checks special packets first at power-on, when R_ORIENT is 0 in all nodes, although some wirings give + and -
    opposite meanings on different boards. Then it checks them after a write of R_ORIENT to any node, by its PE or by
    the host, with and without inversion of the value between boards."""
    rng = random.Random(str((shape, wiring)))
    for inverts in (True, False):
        e = machine(shape, wiring, boot__state="cold", router__orient_inverts=inverts)
        cables, network = Cables(e), fl.Network(e)
        assert orientation(network) == dict.fromkeys(cables.nodes.values(), 0)
        check_packets(network, cables, dict.fromkeys(cables.nodes, 0), rng, 4)
        for by_pe in (True, False):
            value, coordinates = rng.randrange(8), rng.choice(list(cables.nodes))
            if by_pe:
                t3e.Machine(network).special_put(cables.nodes[coordinates], (0,) * 6, "R_ORIENT", value)
                network.step(100)
            else:
                t3e.Machine(network).write_register(cables.nodes[coordinates], "R_ORIENT", value)
            orient = cables.orient(coordinates, value, inverts)
            assert orientation(network) == {cables.nodes[p]: v for p, v in orient.items()}
            check_packets(network, cables, orient, rng, 6)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("wiring", WIRINGS, ids=str)
def test_a_loaded_machine_agrees_with_its_cables(shape, wiring):
    """The registers that the plan loads equal the result of a write to one node, + leads to the next higher coordinate,
    and the port names of inspections agree with the cables."""
    e = machine(shape, wiring)
    cables, network = Cables(e), fl.Network(e)
    loaded = orientation(network)
    for coordinates in random.Random(1).choices(list(cables.nodes), k=3):
        wanted = cables.orient(coordinates, loaded[cables.nodes[coordinates]], True)
        assert loaded == {cables.nodes[p]: v for p, v in wanted.items()}
    for coordinates, node in cables.nodes.items():
        named = {}
        for port in network.router(node).ports[:6]:
            hardware, direction = port.name.split()
            assert (int(hardware[1]) == loaded[node] >> "xyz".index(direction[1]) & 1) == (direction[0] == "+")
            named["XYZ".index(hardware[0]), int(hardware[1])] = port.peer
        for (dim, port), peer in named.items():
            end = cables.far.get((coordinates, dim, port))
            assert peer == (cables.nodes[end[0]] if end else None)


SYSTEMS = [
    {"topology.shape": [4, 4, 3], "barrier.units": 2, "traffic.packet_flits": [[2, 0.5], [10, 0.5]]},
    {"topology.shape": [2, 4, 4], "traffic.mode": "request_reply", "io.nodes": [0, 9], "special.enabled": True},
    {"topology.shape": [4, 4, 4], "faults.nodes": [21], "topology.spares": [3], "faults.cycle": 300,
     "faults.reroute_delay": 100, "faults.links": [0, 2]},
    AC20 | {"topology.partitions": [0, 9, 12, 7], "barrier.units": 2},
    {"topology.shape": [4, 4, 3], "routing.lut_mode": "1", "faults.links": [5, 2, 9, 5], "barrier.units": 1},
]


@pytest.mark.filterwarnings("ignore:faults")
@pytest.mark.parametrize("system", SYSTEMS, ids=str)
def test_wiring_changes_nothing_but_names(system):
    """With the orientation that the plan loads, + and - keep their meaning: all latencies and all state are
    unchanged."""
    def after(wiring):
        network = fl.Network(build(system | wiring)).step(1500)
        network.check()
        return network.totals, network.state_hash

    first, *others = map(after, WIRINGS)
    assert first[0]["packets_delivered"] > 300
    assert all(other == first for other in others)


@pytest.mark.parametrize("wiring", WIRINGS, ids=str)
@pytest.mark.parametrize("shape", [
    {"topology.shape": [4, 4, 3]}, {"topology.shape": [2, 2, 4]}, AC20,
    {"topology.shape": [4, 4, 4], "faults.links": [8, 5, 3, 2], "faults.nodes": [21]},
], ids=str)
def test_boot_of_every_wiring(shape, wiring):
    e = machine(shape, wiring, boot__state="cold", traffic__start=10**6)
    network, loaded = fl.Network(e), fl.Network(e.set("boot.state", "loaded"))
    dead = shape.get("faults.nodes", [])
    found = boot(network)
    assert (list(found.shape), len(found.dead_nodes)) == (shape["topology.shape"], len(dead))
    for node in set(range(int(e.derived()["routers"]))) - set(dead):
        loaded_by_boot, other = (t3e.Machine(n).registers(node) for n in (network, loaded))
        assert {k: v for k, v in loaded_by_boot.items() if k not in ("R_SW", "R_SGET_RTRN")} == {
            k: v for k, v in other.items() if k not in ("R_SW", "R_SGET_RTRN")}


@pytest.mark.parametrize("shape", [{"topology.shape": [4, 4, 3]}, AC20], ids=str)
def test_boot_from_a_board_of_opposite_orientation(shape):
    """A PE in plane 1 boots with Z0 as its + port, which is correct only for boards in plane 0. The result is a machine
    numbered downwards in Z, in which all packets arrive."""
    e = machine(shape, topology__wiring_z="alternating", boot__state="cold", traffic__load=0.2, traffic__start=400_000)
    network, plane = fl.Network(e), e["topology.shape"][0] * e["topology.shape"][1]
    found = boot(network, node=plane)
    assert list(found.shape) == e["topology.shape"] and not found.broken_links
    read = t3e.Machine(network).read_register
    assert [read(n * plane, "R_PWHO") >> 16 for n in range(3)] == [1, 0, 2]
    assert [read(n * plane, "R_ORIENT") for n in range(3)] == [6, 2, 6]
    network.step(401_000 - network.cycle)
    network.check()
    assert network.totals["packets_delivered"] > 400 and network.totals["packets_dropped"] == 0


def test_boot_may_take_another_orientation():
    """With PLUS_Y = 0, a machine with the manual's wiring is numbered in the opposite direction along Y: router 10 is
    at -Y."""
    e = machine(topology__shape=[2, 4, 2], boot__state="cold", traffic__start=10**6)
    network = fl.Network(e)
    boot(network, orientation=0)
    software = t3e.Machine(network)
    assert [software.read_register(node, "R_PWHO") for node in (0, 1, 2, 6)] == [0, 0x1, 0x300, 0x100]
    assert set(orientation(network).values()) == {0}
    with pytest.raises(fl.ConfigError, match="R_ORIENT = 0x8 sets bits"):
        boot(fl.Network(e), orientation=8)


@pytest.mark.parametrize(("inverts", "shape"), [(True, (2, 2, 4)), (False, (2, 2, 1))])
def test_boot_loses_boards_where_hardware_does_not_invert(inverts, shape):
    """Without inversion, +Z leads from board 0 to board 1, and -Z leads from board 1 to board 2. So no reply returns,
    as if the link were open."""
    e = machine(topology__shape=[2, 2, 4], topology__wiring_z="alternating", boot__state="cold",
                traffic__start=10**6, router__orient_inverts=inverts)
    assert boot(fl.Network(e)).shape == shape


def test_data_packets_are_misrouted_without_inversion(tmp_path):
    """PE 0 of four boards writes the current value of its node's R_ORIENT. With inversion nothing changes. Without it
    boards 1 and 3 exchange + and -, and a packet for board 2 travels between boards 0 and 1 without end."""
    trace = tmp_path / "trace.csv"
    trace.write_text("100,0,8,2\n")
    delivered = []
    for inverts in (True, False):
        e = fl.Experiment.from_dict({
            "router.kind": "t3e", "topology.shape": [2, 2, 4], "topology.wiring_z": "alternating",
            "special.enabled": True, "router.orient_inverts": inverts, "routing.adaptive": False,
            "routing.half_way": "plus", "traffic.mode": "trace", "traffic.trace_file": str(trace)})
        network = fl.Network(e, trace=True)
        t3e.Machine(network).special_put(0, (0,) * 6, "R_ORIENT", 2)
        network.step(400)
        delivered.append(network.totals["packets_delivered"])
        visited = {event["index"] for event in network.events() if event["kind"] == "switch_granted"}
        assert visited == ({0, 4, 8} if inverts else {0, 4})
    assert delivered == [1, 0]


def test_an_orientation_does_not_cross_broken_links():
    """Node 5 is dead, so neither a write by a PE nor one by the host sets its R_ORIENT."""
    e = machine(topology__shape=[4, 4, 2], topology__wiring_z="alternating", faults__nodes=[5])
    for by_pe in (True, False):
        network = fl.Network(e)
        software = t3e.Machine(network)
        if by_pe:
            software.special_put(0, (0,) * 6, "R_ORIENT", 1)
            network.step(60)
        else:
            software.write_register(0, "R_ORIENT", 1)
        read = [software.read_register(node, "R_ORIENT") for node in range(32)]
        assert read == [2 if node == 5 else 1 if node < 16 else 5 for node in range(32)]


def test_a_turned_alternating_machine_is_its_mirror_image():
    """Writing the complement of the wiring's orientation to one node exchanges + and - of all dimensions in all
    nodes."""
    e = machine(topology__shape=[4, 4, 3], topology__wiring_z="alternating")
    cables, network = Cables(e), fl.Network(e)
    software, before = t3e.Machine(network), orientation(network)
    software.write_register(7, "R_ORIENT", before[7] ^ 7)
    assert orientation(network) == {node: value ^ 7 for node, value in before.items()}
    software.special_put(0, (1, 1, 1, 0, 0, 0), "R_SW", 1)
    network.step(60)
    assert software.read_register(cables.nodes[3, 3, 2], "R_SW") == 1
    assert network.router(0).ports[1].name == "Y1 -y"
