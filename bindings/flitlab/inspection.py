"""The state of a router or terminal: a tree of named values with units, and views as ports and virtual channels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from flitlab.columns import PortColumns, TerminalColumns, VirtualChannelColumns
from flitlab.picture import Picture, one_axes

if TYPE_CHECKING:
    import pandas as pd

FIRST_REPLY = 1 << 31  # closed loops: requests of a terminal are numbered from 0, its replies from here


def packet_name(src: int, number: int) -> str:
    """Returns the source terminal and the number there, as ``3#17``, or ``3#r17`` for a reply."""
    return f"{src}#r{number - FIRST_REPLY}" if number >= FIRST_REPLY else f"{src}#{number}"


class Value(NamedTuple):
    """A named value, which may be a list."""

    name: str
    value: Any
    unit: str
    help: str


@dataclass(frozen=True)
class Tree:
    """A router, terminal or other item, or a part of one: values and further parts. ``tree["flits"]`` is a value,
    ``tree.part("input")`` a part."""

    kind: str
    name: str
    values: tuple[Value, ...]
    parts: tuple[Tree, ...]
    help: str = ""

    @classmethod
    def of(cls, node: dict[str, Any]) -> Tree:
        return cls(node["kind"], node["name"], tuple(Value(*v) for v in node["values"]),
                   tuple(map(cls.of, node["parts"])), node["help"])

    def __getitem__(self, name: str) -> Any:
        """Returns a value by its name. Raises KeyError, which lists the names, if there is no such value."""
        for value in self.values:
            if value.name == name:
                return value.value
        raise KeyError(f"{name}: {self.kind} {self.name} has {', '.join(v.name for v in self.values) or 'no values'}")

    def part(self, kind: str, place: int = 0) -> Tree:
        """Returns a part by its kind and its index among the parts of that kind."""
        return [p for p in self.parts if p.kind == kind][place]

    def named(self) -> dict[str, Any]:
        """Returns the values of this part, without further parts, by name."""
        return {v.name: v.value for v in self.values}

    def walk(self, path: str = "") -> Iterator[tuple[str, Value]]:
        """Yields all values in this part and its parts, with paths such as ``port +x/vc 0/flits``."""
        for value in self.values:
            yield path + value.name, value
        places: dict[str, int] = {}
        for p in self.parts:
            place = places[p.kind] = places.get(p.kind, -1) + 1
            yield from p.walk(f"{path}{p.kind} {p.name or place}/")

    def frame(self) -> pd.DataFrame:
        """Returns a table of all values in this part and its parts: path, value, unit, help."""
        import pandas as pd  # here, because it takes longer to load than all other modules of flitlab together

        return pd.DataFrame([(path, v.value, v.unit, v.help) for path, v in self.walk()],
                            columns=["path", "value", "unit", "help"])

    def __repr__(self) -> str:
        lines = [f"{self.kind} {self.name}".rstrip()]
        lines += [f"  {path} = {v.value}{f' {v.unit}' if v.unit else ''}" for path, v in self.walk()]
        return "\n".join(lines)


def named(node: dict[str, Any]) -> dict[str, Any]:
    """Returns the values of a node of the core by name, without making a Tree, which is slow for thousands of
    routers."""
    return {value[0]: value[1] for value in node["values"]}


@dataclass(frozen=True)
class VirtualChannel(VirtualChannelColumns):
    """One virtual channel (VC) of a port: the input VC with its buffer, and the output VC of the same port and VC
    number. ``stage`` is idle, routing, waiting, head or body, or a name of the model. A capacity of 0: no separate
    buffer, or an unlimited one. ``left``: flits of the front packet that have not left; ``src`` and ``id`` are its
    source terminal and its number there. ``owner_port`` and ``owner_vc``: input port and VC whose packet holds the
    output VC."""

    name: str = ""  # name of the VC in the machine's terms; "": the VC has only a number
    note: str = ""  # the machine's remark on its present state

    def __repr__(self) -> str:
        if self.stage == "idle":
            return f"<idle, {self.credits} credits>"
        to = f" to port {self.out_port}" if self.out_port is not None else ""
        vc = f" VC {self.out_vc}" if self.out_vc is not None else ""
        if self.id is None:  # circuit switching buffers no flits, so the packet is unknown
            return f"<{self.stage}{to}>"
        name = packet_name(self.src, self.id)
        return f"<{self.stage} {name}{to}{vc}, {self.flits} flits here, {self.credits} credits>"


@dataclass(frozen=True)
class _Named:
    name: str


@dataclass(frozen=True)
class Port(PortColumns, _Named):
    vcs: tuple[VirtualChannel, ...]
    note: str = ""  # the machine's remark on its present state

    def __repr__(self) -> str:
        where = "not wired" if self.peer is None else f"{'terminal' if self.to_terminal else 'router'} {self.peer}"
        lines = [f"port {self.name} ({where})"]
        lines += [f"  VC {i}: {vc!r}" for i, vc in enumerate(self.vcs) if vc.stage != "idle"]
        return "\n".join(lines)


@dataclass(frozen=True)
class Router:
    index: int
    name: str
    cycle: int
    ports: tuple[Port, ...]
    held: int  # occupied buffer slots, or other storage that fills up in this kind of router
    places: int  # capacity, in the unit of `held`

    @classmethod
    def of(cls, index: int, cycle: int, node: dict[str, Any]) -> Router:
        ports = []
        for part in node["parts"]:
            vcs = tuple([VirtualChannel(**named(vc), name=vc["name"], note=vc["note"]) for vc in part["parts"]])
            ports.append(Port(name=part["name"], vcs=vcs, note=part["note"], **named(part)))
        return cls(index, node["name"], cycle, tuple(ports), **named(node))

    @property
    def fill(self) -> float:
        """Occupied fraction of ``places``, 0 to 1; the router scope colours routers by it."""
        return self.held / self.places if self.places else 0.0

    @property
    def flits(self) -> int:
        """Flits in all input buffers."""
        return sum(vc.flits for port in self.ports for vc in port.vcs)

    def __repr__(self) -> str:
        return "\n".join([f"router {self.name} at cycle {self.cycle}: {self.flits} flits",
                          *(f"  {line}" for port in self.ports for line in repr(port).splitlines())])

    def plot(self, axes=None) -> Picture:
        """Draws the input buffers of all ports and VCs; fuller buffers are darker. Buffers without a capacity of their
        own are drawn relative to the router's fullest buffer. Returns a picture of one panel."""
        import matplotlib.pyplot as plt
        import numpy as np

        vcs = max(len(port.vcs) for port in self.ports)
        if axes is None:
            _, axes = plt.subplots(figsize=(1.2 + 0.5 * vcs, 0.6 + 0.4 * len(self.ports)), layout="constrained")
        axes = one_axes("Router.plot", axes)
        fullest = max(1, *(vc.flits for port in self.ports for vc in port.vcs))
        share = np.full((len(self.ports), vcs), np.nan)  # ports may differ in their number of VCs
        for row, port in enumerate(self.ports):
            for column, vc in enumerate(port.vcs):
                share[row, column] = vc.flits / (vc.capacity or fullest)
                if vc.flits:
                    axes.text(column, row, str(vc.flits), ha="center", va="center",
                              color="white" if share[row, column] > 0.5 else "black")
        axes.imshow(share, cmap="Blues", vmin=0, vmax=1, aspect="auto")
        axes.set(xticks=range(vcs), yticks=range(len(self.ports)), yticklabels=[p.name for p in self.ports],
                 xlabel="virtual channel", ylabel="input port")
        axes.set_title(f"flits in router {self.name}\ncycle {self.cycle}", fontsize=9)
        return Picture([axes], ["buffers"])


@dataclass(frozen=True)
class _Numbered:
    index: int


@dataclass(frozen=True)
class Terminal(TerminalColumns, _Numbered):
    credits: list[int] = field(repr=False)

    @classmethod
    def of(cls, index: int, node: dict[str, Any]) -> Terminal:
        return cls(index=index, **named(node))
