"""The Cray T3E: its operations, routing tags, machine report, and virtual-channel tables of one direction of a ring.

Source: Scott and Thorson, "The Cray T3E Network: Adaptive Routing in a High Performance 3D Torus", sections 3.2, 4, 11.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from flitlab import _core
from flitlab.console import call_tool
from flitlab.experiment import Experiment
from flitlab.t3e.console import Answer as Answer
from flitlab.t3e.console import BarrierRegister as BarrierRegister
from flitlab.t3e.console import Machine as Machine

CLOCK_MHZ = 75.0  # router clock; section 1
LINK_MB_PER_S = 600.0  # bandwidth of a link: one 64-bit word per clock
# PEs -> nodes in X, Y, Z. Section 1 gives the largest two; the sides of the smaller ones are within a factor of two.
SHAPES = {
    8: (2, 2, 2), 16: (2, 4, 2), 32: (4, 4, 2), 64: (4, 4, 4), 128: (8, 4, 4), 256: (8, 8, 4), 512: (8, 8, 8),
    1024: (8, 16, 8), 2048: (8, 32, 8),
}


@dataclass(frozen=True)
class Operation:
    """A remote reference: header flits and 64-bit data words of its request and response; each word is one flit."""

    request_header: int
    request_words: int
    response_header: int
    response_words: int

    @property
    def request_flits(self) -> int:
        return self.request_header + self.request_words

    @property
    def response_flits(self) -> int:
        return self.response_header + self.response_words

    @property
    def payload_words(self) -> int:
        return max(self.request_words, self.response_words)

    def settings(self) -> dict:
        """Returns the keys that make every PE issue this operation, for ``experiment.set(operation.settings())``."""
        return {"traffic.mode": "request_reply", "traffic.packet_flits": self.request_flits,
                "traffic.reply_flits": self.response_flits}


# Section 11: two header flits, except one for the response of a single-word Get and three for the request of a
# single-word Put. A single-word operation carries one word of data, a vector operation eight.
OPERATIONS = {
    "get": Operation(2, 0, 1, 1),
    "vector get": Operation(2, 0, 2, 8),
    "put": Operation(3, 1, 2, 0),
    "vector put": Operation(2, 8, 2, 0),
    # Section 1 names these without lengths: a message is read as a vector Put, an atomic operation as a Put with a
    # one-word answer.
    "message": Operation(2, 8, 2, 0),
    "atomic": Operation(3, 1, 1, 1),
}


@dataclass(frozen=True)
class Tag:
    """A routing tag, the contents of an R_NET_LUT register (manual HMM-146-0, R_NET_LUT Format). The bit positions
    are flitlab's: X_ADR 2:0, X_SGN 3, Y_ADR 8:4, Y_SGN 9, Z_ADR 13:10, Z_SGN 14, INITIAL_HOP 16:15, FINAL_HOP 17,
    ADAPT 18."""

    x: int
    y: int
    z: int
    signs: str = "+++"  # signs of X, Y and Z
    initial_hop: int = 3  # 0, 1, 2: +X, +Y, +Z; 3: no initial hop
    final_hop: bool = False
    adapt: bool = True

    def __int__(self) -> int:
        sign = [int(s == "-") for s in self.signs]
        return (self.x | sign[0] << 3 | self.y << 4 | sign[1] << 9 | self.z << 10 | sign[2] << 14
                | self.initial_hop << 15 | int(self.final_hop) << 17 | int(self.adapt) << 18)

    @classmethod
    def of(cls, bits: int) -> Tag:
        signs = "".join("-" if bits >> place & 1 else "+" for place in (3, 9, 14))
        return cls(bits & 7, bits >> 4 & 31, bits >> 10 & 15, signs, bits >> 15 & 3, bool(bits >> 17 & 1),
                   bool(bits >> 18 & 1))


@dataclass(frozen=True)
class Pe:
    """A processing element and its three numbers (manual HMM-146-0, Node and PE Numbers)."""

    node: int
    physical: int  # R_PWHO
    logical: int  # R_LWHO, after spares have taken over the numbers of broken nodes
    partition: int | None  # None: idle, spare or broken
    virtual: int | None
    in_service: bool

    @property
    def position(self) -> tuple[int, int, int]:
        return self.physical & 7, self.physical >> 8 & 31, self.physical >> 16 & 15


@dataclass(frozen=True)
class MachineReport:
    """The machine that an experiment describes, with its faults, and the paths of packets between all pairs of PEs in
    service."""

    pes: tuple[Pe, ...]
    pairs: int
    adaptive_pairs: int  # number of pairs of PEs whose packets may take adaptive channels
    hopping_pairs: int  # number of pairs of PEs whose packets make an initial or a final hop
    # Pairs of nodes whose packets are lost at a dateline, because they arrive there on virtual-channel set 1.
    stopped: tuple[tuple[int, int], ...]
    separated: tuple[tuple[int, int], ...]  # pairs of nodes that are not connected
    circle: str  # a cycle of virtual channels that can wait for one another; "" if the tables are free of deadlock


def machine(experiment: Experiment) -> MachineReport:
    """Builds the tables of an experiment with ``router.kind = "t3e"`` and checks them. Also describes a machine that a
    run would reject because its tables lose packets or can deadlock. ConfigError if the parameters are invalid."""
    if experiment["router.kind"] != "t3e":
        raise _core.ConfigError(f'router.kind = "{experiment["router.kind"]}" is no T3E: set it to "t3e".')
    d = call_tool("t3e", "machine", experiment)
    pes = tuple(Pe(**pe) for pe in d.pop("nodes"))
    return MachineReport(pes, d["pairs"], d["adaptive_pairs"], d["hopping_pairs"],
                         tuple(map(tuple, d["stopped"])), tuple(map(tuple, d["separated"])), d["circle"])


@dataclass(frozen=True)
class VcTable:
    """Table of the virtual channel (0 or 1) on which packets enter one direction of a ring:
    ``bits[source][destination]``, or ``bits[source][destination % 8]`` if the table is limited to 8 entries. Packets
    that pass through the dateline must start on 0, so the entries that they use must be 0.

    odd: if true, half-way routes (half of the ring long, so that both directions are shortest) from odd sources take
    this direction, and the dateline is at the last node. Otherwise half-way routes from even sources take it, and the
    dateline is at node 0."""

    bits: tuple[tuple[int, ...], ...]
    odd: bool = False

    @property
    def ring(self) -> int:
        return len(self.bits)

    def balance(self, subring: int | None = None) -> tuple[float, float]:
        """Returns the imbalance (average and maximum over links): |routes on VC 0 - routes on VC 1| of a link, divided
        by the number of routes on the busiest link. Every node sends one packet to every other node of its subring
        (default: the ring)."""
        return tuple(call_tool("t3e", "vc_balance", table=self.bits, half_way=1 + self.odd, last=bool(self.odd),
                               subring=subring or self.ring))

    def __repr__(self) -> str:
        rows = "\n".join(f"  {s:>3}  " + "".join(map(str, row)) for s, row in enumerate(self.bits))
        return f"VC table of a ring of {self.ring}, one row per source:\n{rows}"


def _table(bits, odd: bool = False) -> VcTable:
    return VcTable(tuple(tuple(row) for row in bits), odd)


def time_of_crossing(ring: int, limited: bool = True) -> VcTable:
    """Returns the table with which all packets start on VC 0. ring: nodes, a power of two from 4 to 256; limited: 8
    entries per source."""
    return _table(call_tool("t3e", "time_of_crossing", ring=ring, limited=bool(limited)))


def optimise(
    ring: int,
    limited: bool = True,
    goals: Mapping[int, tuple[float, float]] | None = None,
    seed: int = 1,
    restarts: int = 100,
    steps: int = 200_000,
) -> VcTable:
    """Searches for a table by simulated annealing over uniform traffic in a ring and its subrings of power-of-two size.

    goals: subring size -> wanted (average, maximum) balance; (0, 0) for sizes that are missing. The search restarts,
    with more weight on missed goals, until all goals are met or ``restarts`` are used up.
    """
    wanted = [(subring, *goal) for subring, goal in sorted((goals or {}).items())]
    return _table(call_tool("t3e", "optimise_vcs", ring=ring, limited=bool(limited), goals=wanted, seed=seed,
                            restarts=restarts, steps=steps))


def machine_table(ring: int, limited: bool = True, odd: bool = False) -> VcTable:
    """Returns the table with which emulated machines are loaded (routing.vc_select "optimised", or "full" if not
    limited) for the + directions; a - direction has the mirror image. ring: 4, 8, 16 or 32 nodes; odd: see VcTable,
    true in X and Y beyond 544 PEs (routing table mode 1)."""
    return _table(call_tool("t3e", "machine_vcs", ring=ring, limited=bool(limited), half_way=1 + odd,
                            last=bool(odd)), odd)
