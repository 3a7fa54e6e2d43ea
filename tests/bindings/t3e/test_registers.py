"""The T3E's registers as software sees them, and their effect on the hardware."""

import pytest

import flitlab as fl
from flitlab.t3e import Machine, Tag


@pytest.fixture
def machine(tmp_path):
    """Makes a machine whose PEs send the listed packets, as a traced network: machine(shape, packets, **settings)."""

    def make(shape, packets, **settings):
        trace = tmp_path / "trace.csv"
        trace.write_text("".join(f"{cycle},{src},{dst},{flits}\n" for cycle, src, dst, flits in packets))
        flat = {"router.kind": "t3e", "topology.shape": shape, "traffic.mode": "trace",
                "traffic.trace_file": str(trace)} | {k.replace("__", "."): v for k, v in settings.items()}
        return fl.Network(fl.Experiment.from_dict(flat), trace=True)

    return make


def way(network):
    """Returns the nodes that the only packet left through a network port, and the nodes where it was delivered."""
    events = network.events()
    nodes = [e["index"] for e in events if e["kind"] == "switch_granted" and e["out_port"] < 6 and "head" in e["flit"]]
    return nodes, [e["index"] for e in events if e["kind"] == "delivered"]


def node(shape, x, y, z):
    return x + shape[0] * (y + shape[1] * z)


def test_numbers_and_datelines_are_loaded(machine):
    shape = (8, 4, 3)
    net = machine(list(shape), [])
    for x, y, z in [(0, 0, 0), (7, 3, 2), (3, 1, 2)]:
        n = node(shape, x, y, z)
        assert Machine(net).read_register(n, "R_PWHO") == x | y << 8 | z << 16
        assert Machine(net).read_register(n, "R_LWHO") == Machine(net).read_register(n, "L_WHOAMI") == n
        for direction, at_dateline in enumerate([x == 0, y == 0, z == 0, x == 7, y == 3, z == 2]):
            assert Machine(net).read_register(n, f"R_VCSEL{direction}") >> 32 == at_dateline
    assert Machine(net).read_register(5, "R_LUT_OVERRIDE") == 0  # mode 0
    # Machines of more than 544 PEs use mode 1.
    assert Machine(machine([8, 12, 8], [])).read_register(5, "R_LUT_OVERRIDE") >> 32 == 1


def test_open_links_are_no_adapt(machine):
    net = machine([2, 2, 1], [])
    assert [Machine(net).read_register(0, f"R_CHAN{i}") for i in range(8)] == [0, 0, 4, 0, 4, 4, 0, 0]
    assert [Machine(net).read_register(2, f"R_CHAN{i}") for i in range(8)] == [0, 4, 4, 0, 0, 4, 0, 0]


def test_tables_of_the_manual(machine):
    """Table 13: the tags in node 000100 of a 2 x 4 x 2 machine for every PE; half-way routes take +."""
    shape = (2, 4, 2)
    net = machine(list(shape), [], routing__half_way="plus", routing__adaptive=False)
    for x, y, z in [(x, y, z) for z in range(2) for y in range(4) for x in range(2)]:
        tag = Tag.of(Machine(net).read_register(node(shape, 0, 1, 0), f"R_NET_LUT{node(shape, x, y, z)}"))
        assert tag == Tag(x, y, z, "+-+" if y == 0 else "+++", initial_hop=3, final_hop=False, adapt=False)
        assert Tag.of(int(tag)) == tag


def test_a_rewritten_tag_reverses_the_direction(machine):
    shape = [8, 4, 2]
    net = machine(shape, [(10, 0, 2, 1)])
    Machine(net).write_register(0, "R_NET_LUT2", int(Tag(2, 0, 0, "-++", adapt=False)))
    net.step(200)
    assert way(net) == ([0, 7, 6, 5, 4, 3], [2])


def test_mode_3_overrides_the_table(machine):
    net = machine([4, 4, 2], [(10, 0, 1, 1)])
    Machine(net).write_register(0, "R_LUT_OVERRIDE", int(Tag(2, 1, 0)) | 3 << 32)
    net.step(200)
    assert way(net)[1] == [node((4, 4), 2, 1, 0)]


@pytest.mark.parametrize(("no_fast", "latency"), [(False, 10 + 3 + 3 + 10), (True, 10 + 6 + 3 + 10)])
def test_no_fast_closes_the_short_circuit(machine, no_fast, latency):
    net = machine([8, 4, 2], [(0, 0, 3, 1)])
    if no_fast:
        Machine(net).write_register(1, "R_CHAN0", 8)
    net.step(200)
    assert net.totals["latency_sum"] == latency


@pytest.mark.parametrize(("channel", "latency"), [(0, 10 + 6 + 3 * 3 + 10), (3, 10 + 4 * 3 + 10)])
def test_no_fast_is_of_the_channel_not_of_the_port(machine, channel, latency):
    """With the R_ORIENT bit of X inverted, + leads from node 0 downwards, by 7, 6, 5 and 4 to 3, through the former -
    port. The packet still leaves node 7 by channel +X (R_CHAN0)."""
    net = machine([8, 4, 2], [(400, 0, 3, 1)])
    Machine(net).write_register(0, "R_ORIENT", Machine(net).read_register(0, "R_ORIENT") ^ 1)
    Machine(net).write_register(7, f"R_CHAN{channel}", 8)
    net.step(600)
    assert way(net) == ([0, 7, 6, 5, 4], [3])
    assert net.totals["latency_sum"] == latency


def test_registers_belong_to_the_state(machine, tmp_path):
    net, other = machine([2, 4, 2], []), machine([2, 4, 2], [])
    before = net.state_hash
    Machine(net).write_register(3, "R_SW", 0x123456789ABCDEF0)
    assert net.state_hash != before
    net.save(tmp_path / "state")
    assert Machine(other.load(tmp_path / "state")).read_register(3, "R_SW") == 0x123456789ABCDEF0


@pytest.mark.parametrize(("name", "value", "parts"), [
    ("R_PWHO", 8, ["R_PWHO = 0x8", "0xf1f07"]), ("R_CHAN6", 4, ["R_CHAN6 = 0x4", "0x3"]),
    ("R_CHAN8", 0, ['register "R_CHAN8" does not exist', "R_CHAN7"]),
    ("R_NET_LUT544", 0, ['register "R_NET_LUT544" does not exist']),
    ("R_SW", -1, ["R_SW = -1", "64 bits"]),
])
def test_bad_registers_are_named(machine, name, value, parts):
    net = machine([2, 4, 2], [])
    with pytest.raises(fl.ConfigError) as error:
        Machine(net).write_register(0, name, value)
    assert all(part in str(error.value) for part in parts)


def test_logical_numbers_must_fit_the_tables(machine):
    with pytest.raises(fl.ConfigError, match="544 does not fit mode 0 of node 0, whose tables end at 543"):
        Machine(machine([2, 4, 2], [])).write_register(5, "R_LWHO", 544)
    with pytest.raises(fl.ConfigError, match="logical number 767 does not fit mode 0 of node 3"):
        Machine(machine([8, 12, 8], [])).write_register(3, "R_LUT_OVERRIDE", 0)


def test_an_open_link_loses_packets(machine):
    """Mode 3 sends a packet to a missing plane: it is dropped and counted, and blocks no others."""
    net = machine([4, 4, 1], [(0, 0, 1, 2)])
    Machine(net).write_register(0, "R_LUT_OVERRIDE", int(Tag(0, 0, 1, adapt=False)) | 3 << 32)
    net.step(300)
    assert net.totals["packets_delivered"] == 0 and net.totals["packets_dropped"] == 1


def test_other_routers_have_none(small, machine):
    with pytest.raises(fl.ConfigError, match=r'router\.kind = "vc" is no T3E: set it to "t3e"'):
        Machine(fl.Network(small))
    with pytest.raises(fl.ConfigError, match="router 99 does not exist"):
        Machine(machine([2, 4, 2], [])).read_register(99, "R_PWHO")
