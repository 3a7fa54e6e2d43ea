"""Tables and routes of the T3E's hardware manual, HMM-146-0, read and measured in an emulated 16-PE machine."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterable
from itertools import product
from pathlib import Path

from flitlab import t3e
from flitlab.experiment import Experiment
from flitlab.network import Network
from flitlab.reproduction import row
from flitlab.settings import dotted
from flitlab.t3e.published.wiring import wiring

MANUAL = "HMM-146-0"
SHAPE = [2, 4, 2]  # X, Y, Z
AC20 = {"topology__shape": [2, 4, 3], "topology__partial_planes": [2, 0, 2, 0, 2], "topology__logical_format": []}
FORMAT1, FORMAT2, FORMAT3 = [9, 16, 8, 0], [16, 9, 8, 0], [9, 8, 16, 0]  # bits of R_PWHO, highest first

# L_WHOAMI in the order of the rows: R_PWHO 000000, 000001, 000100, ..., X fastest.
TABLE6 = {
    "format 1": [0x0, 0x1, 0x2, 0x3, 0x8, 0x9, 0xA, 0xB, 0x4, 0x5, 0x6, 0x7, 0xC, 0xD, 0xE, 0xF],
    "format 2": [0x0, 0x1, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x8, 0x9, 0xA, 0xB, 0xC, 0xD, 0xE, 0xF],
    "format 3": [0x0, 0x1, 0x4, 0x5, 0x8, 0x9, 0xC, 0xD, 0x2, 0x3, 0x6, 0x7, 0xA, 0xB, 0xE, 0xF],
    "random format": [0x6, 0xC, 0x7, 0x5, 0x2, 0xD, 0x8, 0x1, 0xB, 0x3, 0xE, 0x0, 0xF, 0x4, 0xA, 0x9],
}
# Logical PE: (partition, virtual PE number).
TABLE7 = dict.fromkeys(range(16)) | {n: (0, n) for n in range(4)} | {n: (1, n - 4) for n in range(4, 10)} | {
    n: (2, n - 13) for n in range(13, 16)}
# Tables of R_NET_LUT in node 000100 (R_PWHO): X, Y and Z addresses of the tags. The direction in Y is - for Y = 0; all
# other directions are +.
TABLE13 = [(x, y, z) for y_high, z, y_low, x in product((0, 2), (0, 1), (0, 1), (0, 1)) for y in [y_high + y_low]]
TABLE14 = [(0, 0, 0), (0, 0, 1), (0, 2, 0), (0, 2, 1)]  # also Table 15: X and Y without their lowest bits


def _machine(**settings) -> Experiment:
    flat = dotted(settings)
    return Experiment.from_dict({"router.kind": "t3e", "topology.shape": SHAPE, "topology.logical_format": FORMAT1,
                                 "routing.half_way": "plus", "traffic.self": False} | flat)


def _differing(table: str, what: str, entries: Iterable, measured: Iterable, reading: str = "") -> dict:
    pairs = list(zip(entries, measured, strict=True))
    return row("t3e.manual", f"{what}: entries that differ", f"{MANUAL}, {table}", f"{len(pairs)} entries", 0,
               sum(a != b for a, b in pairs), "", 0, reading=reading)


def numbers() -> list[dict]:
    """Checks Table 6, read from L_WHOAMI of every node, and Table 7, from the partitions of the machine."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "random.csv"
        places = [(x, y, z) for z, y, x in product(range(2), range(4), range(2))]
        path.write_text("".join(f"{x},{y},{z},{n}\n"
                                for (x, y, z), n in zip(places, TABLE6["random format"], strict=True)))
        for name, changes in {
            "format 1": {"topology.logical_format": FORMAT1}, "format 2": {"topology.logical_format": FORMAT2},
            "format 3": {"topology.logical_format": FORMAT3},
            "random format": {"topology.logical_format": [], "topology.logical_file": str(path)},
        }.items():
            network = Network(_machine().set(changes))
            software = t3e.Machine(network)
            read = {software.read_register(n, "R_PWHO"): software.read_register(n, "L_WHOAMI") for n in range(16)}
            rows.append(_differing("Table 6", f"logical numbers, {name}", TABLE6[name], [read[p] for p in sorted(read)],
                                   "Figure 15 is lost; its formats follow from the table's rows"))
    pes = {pe.logical: pe for pe in t3e.machine(_machine(topology__partitions=[0, 3, 4, 5, 13, 2])).pes}
    assigned = [None if pes[n].partition is None else (pes[n].partition, pes[n].virtual) for n in range(16)]
    rows.append(_differing("Table 7", "partitions and virtual numbers", [TABLE7[n] for n in range(16)], assigned))
    return rows


def lookup_tables() -> list[dict]:
    """Checks Tables 13 to 15, read from R_NET_LUT of node 000100, and Table 11, by the register that changes a path."""
    def expected(address: tuple[int, int, int]) -> t3e.Tag:
        return t3e.Tag(*address, "+-+" if address[1] == 0 else "+++", adapt=False)

    rows = []
    reading = "the bit positions are flitlab's because Table 12 is lost; half-way routes go +, as in the tables"
    for table, mode, wanted in (("Table 13", 0, TABLE13), ("Table 14", 1, TABLE14), ("Table 15", 2, TABLE14)):
        # In mode 2 PE 1 is the Y neighbour: bit 0 of the logical number is Y's.
        bits = {0: FORMAT1, 1: FORMAT1, 2: [9, 16, 0, 8]}[mode]
        network = Network(_machine(routing__lut_mode=str(mode), routing__adaptive=False, topology__logical_format=bits))
        read = [t3e.Tag.of(t3e.Machine(network).read_register(2, f"R_NET_LUT{n}")) for n in range(len(wanted))]
        rows.append(_differing(table, f"R_NET_LUT in mode {mode}", map(expected, wanted), read, reading))
    for mode in (0, 1, 2):
        used = []
        network = Network(_machine(routing__lut_mode=str(mode), topology__logical_format=[]))
        pes = t3e.machine(network.experiment).pes
        for pe in pes:
            used.append(_register_used(mode, pe))
        wanted = [pe.logical if mode == 0 else pe.logical >> 2 for pe in pes]
        rows.append(_differing("Table 11", f"registers that PEs are looked up in, mode {mode}", wanted, used))
    return rows


def _register_used(mode: int, pe: t3e.Pe) -> int:
    """Returns the R_NET_LUT register that a packet to `pe` uses: the one register that diverts the packet when its
    entry is set to another node. Returns -1 if not exactly one register does."""
    source = 0 if pe.node else 1
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.csv"
        trace.write_text(f"0,{source},{pe.node},1\n")
        experiment = _machine(routing__lut_mode=str(mode), topology__logical_format=[], traffic__mode="trace",
                              traffic__trace_file=str(trace))
        found = []
        for register in range(16 if mode == 0 else 4):
            network = Network(experiment, trace=True)
            software = t3e.Machine(network)
            tag = t3e.Tag.of(software.read_register(source, f"R_NET_LUT{register}"))
            software.write_register(source, f"R_NET_LUT{register}", int(t3e.Tag(tag.x, tag.y, 1 - tag.z)))
            network.step(100)
            if not any(e["kind"] == "delivered" and e["index"] == pe.node for e in network.events()):
                found.append(register)
    return found[0] if len(found) == 1 else -1


def _path(src: int, dst: int, **settings) -> list[int]:
    """Returns R_PWHO of the routers at which a packet arrives, in order. src, dst: logical numbers."""
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.csv"
        experiment = _machine(traffic__mode="trace", traffic__trace_file=str(trace), **settings)
        trace.write_text("0,0,1,1\n")
        node = {pe.logical: pe.node for pe in t3e.machine(experiment).pes}
        trace.write_text(f"0,{node[src]},{node[dst]},1\n")
        network = Network(experiment, trace=True).step(200)
        physical = {pe.node: pe.physical for pe in t3e.machine(experiment).pes}
    arrivals = [e for e in network.events() if e["kind"] == "arrived" and e["item"] == "router"]
    return [physical[e["index"]] for e in sorted(arrivals, key=lambda e: e["cycle"])]


def routes() -> list[dict]:
    """Checks Figures 46 to 49: a packet's path through the emulated routers, from its events."""
    rows = []
    for figure, mode, pe, numbering in (("Figure 46", "0", 2, FORMAT1), ("Figure 47", "1", 2, FORMAT1),
                                        ("Figure 48", "2", 1, [9, 16, 0, 8])):
        way = _path(pe, 4, routing__lut_mode=mode, routing__adaptive=False, topology__logical_format=numbering)
        rows.append(_differing(figure, f"PE {pe} to 4, mode {mode}: nodes on the way", [0x000100, 0x010100, 0x010000],
                               way, "the figure is lost; direction order takes +Z before -Y"))
    wanted = [0x000100, 0x000101, 0x000201, 0x000301, 0x010301]
    rows.append(_differing("Figure 49", "PE 2 to F without adaptivity: nodes on the way", wanted,
                           _path(2, 0xF, routing__adaptive=False)))
    way = _path(2, 0xF)
    rows.append(row("t3e.manual", "PE 2 to F, adaptive: hops", f"{MANUAL}, Figure 49", "16 PEs", 4, len(way) - 1,
                    "hops", 0, reading="one of twelve shortest paths; the list's Z_SGN = 1 contradicts its + and is "
                    "read as 0"))
    rows.append(row("t3e.manual", "PE 2 to F, adaptive: ends at 010301", f"{MANUAL}, Figure 49", "16 PEs", 0x010301,
                    way[-1], "", 0))
    return rows


def _special_path(network: Network) -> list[int]:
    """Returns the physical numbers of the nodes that a special packet reaches, hop by hop."""
    ends = [network.router(e["index"]).ports[e["out_port"]].peer for e in network.events() if e["kind"] == "special"]
    return [t3e.Machine(network).read_register(node, "R_PWHO") for node in ends]


def special_rows() -> list[dict]:
    """Checks special routing: the path of Figure 45, and the collision of two packets at one port."""
    source = f"{MANUAL}, Special Routing Path, Figure 45"
    setting = "20 PEs, (0,+2,+1) (+1,-1,+1)"
    reading = "the figure is lost; the path follows from the deltas and their order, from node 000000"
    wanted = [0x000100, 0x000200, 0x010200, 0x010201, 0x010101, 0x020101]
    network = Network(_machine(special__enabled=True, traffic__load=0.0, **AC20), trace=True)
    t3e.Machine(network).special_put(0, (0, 2, 1, 1, -1, 1), "R_SW", 45)
    network.step(60)
    way = _special_path(network)
    end = way[-1]
    rows = [row("t3e.manual", "special route, hops", source, setting, 6, len(way), "hops", 0, reading=reading),
            row("t3e.manual", "special route, hops to other nodes than the figure's", source, setting, 0,
                sum(a != b for a, b in zip(way, wanted, strict=True)), "hops", 0, reading=reading)]
    rows += [row("t3e.manual", f"special route, net {axis}", source, setting, net, end >> 8 * dim & 0xFF, "nodes", 0,
                 reading=reading)
             for dim, (axis, net) in enumerate((("X", 1), ("Y", 1), ("Z", 2)))]

    source = f"{MANUAL}, Special Routing"
    for what, clocks, wanted in (("in the same clock", 3, 1), ("a clock apart", 4, 2)):
        network = Network(_machine(special__enabled=True, traffic__load=0.0, topology__shape=[4, 4, 2],
                                   topology__logical_format=[]))
        software = t3e.Machine(network)
        software.special_put(0, (2, 0, 0, 0, 0, 0), "R_SW", 1)  # at node 1 three clocks after its PE's packet
        network.step(clocks)
        software.special_put(1, (1, 1, 0, 0, 0, 0), "R_SW", 1)
        network.step(60)
        arrived = sum(software.read_register(node, "R_SW") for node in (2, 6))
        rows.append(row("t3e.manual", f"special packets left of two at a port {what}", source, "4x4x2", wanted, arrived,
                        "packets", 0, check=clocks == 4, reading="the one from the lowest input port survives"))
    return rows


def datelines() -> list[dict]:
    """Counts the packets lost because software's SELECT bits put them on set 1 before they pass a dateline."""
    ring, dateline = 8, 4  # nodes of a ring in Y; datelines of +Y are at nodes 0 to 3 of the first row in X
    x = 4
    # Packets whose path in Y passes through the dateline node.
    passing = [(x * a, x * b) for a, b in ((6, 1), (7, 1), (7, 2))]
    # Packets that end at the dateline, begin there, or do not reach it.
    ending = [(x * 5, 0), (0, x * 3), (x, x * 4 + 1)]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        registers, trace = Path(folder) / "written.csv", Path(folder) / "trace.csv"
        registers.write_text("".join(f"{n},R_VCSEL1,{0xFF | (1 << 32 if n < dateline else 0):#x}\n"
                                     for n in range(x * ring)))
        for what, pairs, wanted in (("through the dateline on set 1, lost", passing, len(passing)),
                                    ("to the dateline, from it, or elsewhere, lost", ending, 0)):
            trace.write_text("".join(f"{50 * n},{src},{dst},1\n" for n, (src, dst) in enumerate(pairs)))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about lost packets, which are counted here
                network = Network(Experiment.from_dict({
                    "router.kind": "t3e", "topology.shape": [x, ring, 1], "registers.file": str(registers),
                    "routing.adaptive": False, "traffic.mode": "trace", "traffic.trace_file": str(trace)})).step(400)
            rows.append(row("t3e.manual", f"packets {what}", f"{MANUAL}, Datelines", f"{len(pairs)} packets", wanted,
                            network.totals["packets_dropped"], "packets", 0,
                            reading="SELECT = FF for +Y in every node of rings of eight"))
    return rows


def manual() -> list[dict]:
    return numbers() + lookup_tables() + routes() + special_rows() + datelines() + wiring()


EXPERIMENTS = {"t3e.manual": ("numbers, wiring, routing tables and routes of the hardware manual", manual)}
