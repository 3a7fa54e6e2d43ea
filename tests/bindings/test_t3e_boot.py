"""Software on one PE sets a cold T3E up over the special network: it must find what is there, and load what the plan
loads."""

import pytest

import flitlab as fl
from flitlab.network import Answer
from flitlab.published.t3e_manual import special_rows
from flitlab.t3e import Tag
from flitlab.t3e_boot import Explorer, boot, logical_number, partial_planes

START = 200_000


def cold(shape, **settings):
    flat = {"router.kind": "t3e", "topology.shape": list(shape), "special.enabled": True, "boot.state": "cold"}
    if "traffic__mode" not in settings:
        flat |= {"traffic.start": START, "traffic.load": 0.3}
    return fl.Network(fl.Experiment.from_dict(flat | {k.replace("__", "."): v for k, v in settings.items()}))


def tables(network, nodes):
    """All registers of all nodes but those that only software looks at."""
    return [{k: v for k, v in network.registers(n).items() if k not in ("R_SW", "R_SGET_RTRN")} for n in range(nodes)]


def test_a_cold_machine_knows_nothing():
    net = cold((2, 4, 2))
    assert all(value == 0 for n in range(16) for value in net.registers(n).values())
    assert net.step(300).totals["packets_created"] == 0


@pytest.mark.parametrize(("shape", "settings"), [
    ((2, 2, 1), {}), ((2, 2, 2), {}), ((2, 4, 1), {"routing__half_way": "plus"}), ((4, 4, 3), {}), ((4, 2, 2), {}),
    ((8, 4, 4), {"routing__vc_select": "time_of_crossing", "routing__adaptive": False}),
    ((2, 12, 9), {"special__router_delay": 5}),
    ((8, 12, 6), {}),  # 576 PEs: mode 1
], ids=str)
def test_what_boot_loads_is_what_the_plan_loads(shape, settings):
    net = cold(shape, **settings)
    found = boot(net)
    assert found.shape == shape
    nodes = shape[0] * shape[1] * shape[2]
    assert found.nodes == nodes
    assert 2 * found.links == net.experiment.derived()["channels"]
    loaded = fl.Network(net.experiment.set("boot.state", "loaded"))
    assert tables(net, nodes) == tables(loaded, nodes)


def test_only_open_links_lose_packets():
    """Each is tried with one SPUT and one SGET: 2 x 2 x 1 nodes have three open links each, 2 x 2 x 2 nodes one."""
    assert boot(cold((2, 2, 1))).lost == 2 * 3 * 4
    assert boot(cold((2, 2, 2))).lost == 2 * 1 * 8
    assert boot(cold((4, 4, 2))).lost == 0


def test_clocks_and_packets():
    """2 x 2 x 1 nodes, explored from node 0. A packet takes 7 clocks to its router and 3 a hop, an answer 10 to the PE;
    software waits as long as an answer could take, and 2 clocks and an end's 3 more."""
    net = cold((2, 2, 1))
    found = boot(net)
    named = [0, 1, 1, 2]  # hops to each node as it gets its number
    # It writes a node's number and reads it again. Links tried, and hops there and back: of node 0 +X +Y -X -Y +Z -Z,
    # and so on; known ones are not tried again.
    tried = [(1, 1), (1, 1), (1, 1), (1, 1)] + [(2, 2), (2, 2)] + [(2, 2), (2, 2), (2, 2)] + [(3, 3)]
    tried += [(h + 1, h + 1) for h in named for _ in range(2)]
    loads = 4 * (4 + 6 + 6 + 1 + 1 + 1)  # R_NET_LUT, R_CHAN, R_VCSEL, R_LUT_OVERRIDE, R_LWHO, R_PWHO
    clocks = sum(22 + 3 * 2 * h for h in named) + sum(22 + 3 * (a + b) for a, b in tried) + loads + 22 + 3 * 2
    clocks += 2 * 4 + 22 + 3 * 4  # to read the numbers back
    answers = 4 + len(tried) - 12 + 4
    assert (found.clocks, found.packets) == (clocks, 3 * 4 + 2 * len(tried) + loads + 2 * 4 + answers)


def test_traffic_runs_as_on_a_loaded_machine():
    settings = {"traffic__pattern": "bit_complement", "traffic__packet_flits": [[2, 0.5], [10, 0.5]]}
    net = cold((4, 4, 4), **settings)
    boot(net)
    loaded = fl.Network(net.experiment.set("boot.state", "loaded"))
    counts = [{k: v for k, v in n.step(START + 2000 - n.cycle).totals.items() if "special" not in k}
              for n in (net, loaded)]
    assert counts[0] == counts[1]
    assert counts[0]["packets_delivered"] > 2000


def journeys(tmp_path, shape, pairs, **arguments):
    """Boots a machine, then sends a packet for each pair of nodes; returns the network and who got them."""
    trace = tmp_path / "trace.csv"
    trace.write_text("".join(f"{START + 50 * i},{src},{dst},2\n" for i, (src, dst) in enumerate(pairs)))
    net = cold(shape, traffic__mode="trace", traffic__trace_file=str(trace))
    boot(net, **arguments)
    traced = fl.Network(net.experiment, trace=True)
    traced.go_on_from(net.step(START - net.cycle))
    traced.step(50 * len(pairs) + 100)
    return net, {(e["src"], e["index"]) for e in traced.events() if e["kind"] == "delivered"}


def test_other_formats_of_logical_numbers(tmp_path):
    """Table 6 and Figure 46: in format 1 PE 2 is node 000100, PE 4 010000, PE 8 000200."""
    pairs = [(src, dst) for src in (0, 2, 13) for dst in range(16) if src != dst]
    net, arrived = journeys(tmp_path, (2, 4, 2), pairs, number_format=1)
    assert arrived == set(pairs)
    numbers = {net.read_register(n, "R_PWHO"): net.read_register(n, "R_LWHO") for n in range(16)}
    assert (numbers[0x000100], numbers[0x010000], numbers[0x000200]) == (2, 4, 8)
    assert Tag.of(net.read_register(2, "R_NET_LUT4")) == Tag(0, 0, 1, "+-+")
    assert [logical_number((1, 2, 1), (2, 4, 2), f) for f in (1, 2, 3)] == [0b1101, 0b1101, 0b1011]
    assert [logical_number((0, 2, 1), (2, 4, 2), f) for f in (1, 2, 3)] == [0b1100, 0b1100, 0b1010]
    assert [logical_number((0, 3, 0), (2, 4, 2), f) for f in (1, 2, 3)] == [0b1010, 0b0110, 0b1100]


def test_any_pe_may_do_it(tmp_path):
    """Rings have no first node but the explorer; Y = 2 is no ring."""
    pairs = [(src, dst) for src in (0, 7, 12) for dst in range(16) if src != dst]
    net, arrived = journeys(tmp_path, (4, 2, 2), pairs, node=6)
    assert arrived == set(pairs)
    assert [net.read_register(n, "R_PWHO") for n in (6, 7, 4, 2, 14)] == [0x00100, 0x00101, 0x00102, 0x00000, 0x10100]


class Wires:
    """A special network of any set of nodes, in which packets take no time: what an explorer needs of a Network."""

    experiment = {"special.router_delay": 3, "router.source_delay": 10, "router.destination_delay": 10}

    def __init__(self, places):
        self.registers = {place: {"R_SW": 0, "R_SGET_RTRN": 0} for place in places}
        self.answers = []

    def walk(self, place, deltas):
        """Lines join the nodes that are there, in order; all lines but two nodes of Y, or a single one, are rings."""
        for i, delta in enumerate(deltas):
            line = sorted(p for p in self.registers if all(p[d] == place[d] for d in range(3) if d != i % 3))
            at, ring = line.index(place) + delta, len(line) > 2 or (len(line) == 2 and i % 3 != 1)
            if delta and not ring and not 0 <= at < len(line):
                return None
            place = line[at % len(line)]
        return place

    def special_put(self, node, deltas, name, value):
        if end := self.walk((0, 0, 0), deltas):
            self.registers[end][name] = value

    def special_get(self, node, deltas, name):
        if end := self.walk((0, 0, 0), deltas):
            back = self.registers[end]["R_SGET_RTRN"].to_bytes(6, "little")
            if self.walk(end, [b - 256 * (b > 127) for b in back]) == (0, 0, 0):
                self.answers.append(Answer(7, node, self.registers[end][name], 0))
        return 7

    def special_answers(self):
        answers, self.answers = self.answers, []
        return answers

    def step(self, cycles):
        pass


@pytest.mark.parametrize(("shape", "top"), [
    ((2, 4, 3), {(x, y) for x in range(2) for y in range(2)}),  # the AC machine of 20 PEs of the manual's Figure 45
    ((8, 4, 2), {(x, y) for x in range(2) for y in range(4)}),
    ((4, 4, 4), {(x, y) for x in range(2, 4) for y in range(2, 4)}),
    ((4, 8, 2), {(x, y) for x in range(4) for y in range(8) if (x < 2) != (y < 4)}),
], ids=str)
def test_machines_with_a_partial_plane_are_explored(shape, top):
    places = {(x, y, z) for x in range(shape[0]) for y in range(shape[1]) for z in range(shape[2])
              if z < shape[2] - 1 or (x, y) in top}
    wires = Wires(places)
    explorer = Explorer(wires, 0)
    explorer.explore()
    assert explorer.number() == shape
    assert {n.place for n in explorer.known.values()} == places
    assert all(wires.registers[n.place]["R_SW"] == number for number, n in explorer.known.items())


def test_partial_planes_are_made_of_blocks():
    whole = {(x, y, z) for x in range(8) for y in range(4) for z in range(2)}
    assert partial_planes(whole, (8, 4, 2)) == []
    part = {(x, y, 2) for x, y in [(0, 0), (1, 0), (0, 1), (1, 1), (4, 0), (5, 0), (4, 1), (5, 1), (0, 2), (1, 2),
                                   (0, 3), (1, 3)]}
    assert partial_planes(whole | part, (8, 4, 3)) == [2, 0, 2, 0, 2, 2, 0, 2, 4, 2, 2, 2, 2, 0, 2]


@pytest.fixture
def cut(monkeypatch):
    """Makes a link of rings of four silent: what would cross it is not answered."""

    def cut_link(a, b):
        real = Explorer.ask

        def ask(self, way, way_back, register):
            here = [0, 0, 0]
            for i, delta in [*enumerate(way), *enumerate(way_back)]:
                for _ in range(abs(delta)):
                    last = tuple(here)
                    here[i % 3] = (here[i % 3] + (1 if delta > 0 else -1)) % 4
                    if {last, tuple(here)} == {a, b}:
                        return None
            return real(self, way, way_back, register)

        monkeypatch.setattr(Explorer, "ask", ask)

    return cut_link


def test_a_dead_link_is_not_booted_over(cut):
    cut((0, 2, 0), (0, 3, 0))
    with pytest.raises(fl.RunError, match=r"link -Y of \(0, 3, 0\)"):
        boot(cold((4, 4, 4)))


def test_nodes_must_answer_by_their_way(cut):
    cut((1, 2, 0), (2, 2, 0))
    with pytest.raises(fl.RunError, match=r"node \(2, 2, 0\) hops away does not answer"):
        boot(cold((4, 4, 4)))


def test_special_routing_of_the_manual():
    rows = special_rows()
    assert len(rows) == 7 and {line["verdict"] for line in rows} == {"match"}


def test_boot_says_what_it_needs():
    with pytest.raises(fl.ConfigError, match="must be true"):
        boot(cold((2, 2, 1), special__enabled=False))
    with pytest.raises(fl.ConfigError, match="format 4"):
        boot(cold((2, 2, 1)), number_format=4)
    with pytest.raises(fl.ConfigError, match="tables that are in no register"):
        cold((2, 2, 1), routing__vc_select="full")
    net = cold((2, 2, 1))
    with pytest.raises(fl.ConfigError, match="there are six"):
        net.special_put(0, [1, 2, 3], "R_SW", 0)
    with pytest.raises(fl.ConfigError, match="R_SW = -1"):
        net.special_put(0, [0] * 6, "R_SW", -1)
    with pytest.raises(fl.ConfigError, match="no special network"):
        cold((2, 2, 1), special__enabled=False).special_get(0, [0] * 6, "R_SW")
