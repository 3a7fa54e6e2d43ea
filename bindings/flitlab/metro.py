"""METRO networks from Python: the words on a router's wires, and the wiring as paths between endpoints.

>>> net = fl.Network(fl.load("configs/metro-figure1.toml"))
>>> fl.metro.words(net.step(12), router=0)["f0"]
'DATA 40'
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from flitlab.network import Network

KINDS = ("", "DATA", "DATA-IDLE", "TURN", "DROP", "STATUS", "BLOCKED", "BCB")
STATES = ("idle", "setup", "forward", "reverse", "blocked", "answer", "discard")


def word_text(word: int) -> str:
    """A word as text: its kind, and in hexadecimal what it carries; "" if nobody drives the wire."""
    kind, payload = KINDS[word >> 16 & 7], word & 0xFFFF
    return f"{kind} {payload:x}" if kind in ("DATA", "STATUS", "BLOCKED") else kind


def words(net: Network, router: int) -> dict[str, str]:
    """Words that a router reads in the cycle to come, by port (f0, f1, ..., b0, ...), as texts."""
    registers = net.registers(router)
    return {name[5:]: word_text(value) for name, value in registers.items() if name.startswith("word.")}


@dataclass(frozen=True)
class Path:
    """A way from endpoint to endpoint: link, then router and backward port at each stage."""

    link: int
    hops: tuple[tuple[int, int], ...]  # router, backward port


class Wiring:
    """Who is joined with whom, read from a network without cascading."""

    def __init__(self, net: Network):
        count = int(net.experiment.derived()["routers"])
        self.terminals = int(net.experiment.derived()["terminals"])
        routers = [net.router(r) for r in range(count)]
        self.names = [r.name for r in routers]
        self.dilation = [net.registers(r)["dilation"] for r in range(count)]
        self.inputs = [sum(p.name.startswith("forward") for p in r.ports) for r in routers]
        # Far end of each backward port; routers that each endpoint's links lead to.
        self.peers = [[(p.peer, p.to_terminal) for p in r.ports[i:]] for r, i in zip(routers, self.inputs, strict=True)]
        self.entries: list[list[int]] = [[] for _ in range(self.terminals)]
        for r, i in zip(routers, self.inputs, strict=True):
            for port in r.ports[:i]:
                if port.to_terminal:
                    self.entries[port.peer].append(r.index)

    def paths(self, source: int, destination: int) -> Iterator[Path]:
        """All ways from one endpoint to another: over each link, and over each equivalent port on the way."""
        for link, entry in enumerate(self.entries[source]):
            yield from (Path(link, hops) for hops in self._from(entry, destination, ()))

    def _from(self, router: int, destination: int, hops: tuple) -> Iterator[tuple]:
        if len(hops) > 16:
            return
        for port, (peer, to_terminal) in enumerate(self.peers[router]):
            if peer is None:
                continue
            here = (*hops, (router, port))
            if not to_terminal:
                yield from self._from(peer, destination, here)
            elif peer == destination:
                yield here

    def cut_off(self, dead_router: int | None = None, dead_hop: tuple[int, int] | None = None) -> int:
        """Pairs of endpoints that the loss of a router, or of the link that begins at a backward port, cuts off."""
        return sum(not any(dead_router not in (r for r, _ in path.hops) and dead_hop not in path.hops
                           for path in self.paths(s, d))
                   for s in range(self.terminals) for d in range(self.terminals))
