"""Picture of connections of METRO word by word: a row for each direction of a wire, a column for each clock."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
from matplotlib.patches import Patch, Rectangle

from flitlab.metro import Attempt
from flitlab.metro.single_messages import path_names
from flitlab.network import Network

COLOURS = {"header": "#fdae6b", "data": "#deebf7", "TURN": "#bcbddc", "STATUS": "#a1d99b", "blocked": "#fc9272",
           "answer": "#238b45", "DROP": "#bdbdbd", "BCB": "#cb181d"}
LEGEND = {"header": "header", "data": "data and check", "TURN": "TURN", "STATUS": "router's STATUS: port, checksum",
          "blocked": "STATUS: blocked", "answer": "answer and check", "DROP": "DROP", "BCB": "backward control bit"}
PARTS = ("header", COLOURS["header"]), ("body", COLOURS["data"]), ("TURN", COLOURS["TURN"]), \
    ("on to the\ndestination", "#dadaeb"), ("and back", COLOURS["answer"])
# Figure 3: three stages, and two bits of the header in each stage
WIRES = "source - stage 0", "stage 0 - stage 1", "stage 1 - stage 2", "stage 2 - destination"
STAGES, BITS = 3, 2
PITCH = 2.3  # distance between two wires, in rows


class Cell(NamedTuple):
    """A word in the picture."""

    cycle: int
    wire: int
    back: bool  # the word travels toward the source
    kind: str  # key of COLOURS
    text: str


def _header_words(width: int, wire: int) -> int:
    """Returns the number of header words that are left on a wire. Each stage uses two bits, a router removes a word
    whose bits are used, and the last router removes the rest."""
    return math.ceil(STAGES * BITS / width) - BITS * wire // width if wire < STAGES else 0


def _cells(attempt: Attempt) -> Iterator[Cell]:
    """Yields the words of an attempt. Data are in hexadecimal. STATUS alternates between a port (b and its number; dir
    and a direction for a blocked connection) and a checksum."""
    seen: dict[tuple, int] = {}
    for r in attempt.words:
        place = seen[r.wire, r.back, r.kind] = seen.get((r.wire, r.back, r.kind), -1) + 1
        kind, text = r.kind, r.kind
        if r.kind == "DATA":
            kind = "answer" if r.back else "header" if place < _header_words(attempt.width, r.wire) else "data"
            first = "ACK" if attempt.outcome == "acknowledged" else "NAK"
            text = first if r.back and place == 0 else f"{r.payload:x}"
        elif r.kind in ("STATUS", "BLOCKED"):
            kind = "STATUS" if r.kind == "STATUS" else "blocked"
            text = f"{r.payload:x}" if place % 2 else f"b{r.payload}" if r.kind == "STATUS" else f"dir {r.payload}"
        yield Cell(r.cycle, r.wire, r.back, kind, text)


def _draw_panel(axis: Any, attempts: Sequence[Attempt], labels: Sequence[str], last: int) -> set[str]:
    """Draws attempts on axes that end with clock ``last``. Returns the kinds of words that occur."""
    start, kinds = attempts[0].cycle, set[str]()
    for attempt, label in zip(attempts, labels, strict=True):
        axis.text(attempt.cycle - start - 0.5, -1, label, fontsize=8.5, va="bottom", weight="bold")
        for cycle, wire, back, kind, text in _cells(attempt):
            kinds.add(kind)
            y = PITCH * wire + back
            axis.add_patch(Rectangle((cycle - start - 0.5, y - 0.5), 1, 1, fc=COLOURS[kind], ec="white", lw=0.6))
            axis.text(cycle - start, y, text, ha="center", va="center", fontsize=min(6.5, 265 / (last + 1)),
                      color="white" if kind in ("answer", "BCB") else "black")
    for wire, name in enumerate(WIRES):
        axis.text(-2.1, PITCH * wire + 0.5, name, ha="right", va="center", fontsize=9)
        for row, way in enumerate(("to", "back")):
            axis.text(-0.8, PITCH * wire + row, way, ha="right", va="center", fontsize=7, color="grey")
        axis.axhline(PITCH * wire + 1.65, color="lightgrey", lw=0.5)
    axis.set(xlim=(-0.6, last + 0.6), xticks=range(0, last + 1, 2))
    axis.set(ylim=(8.5, -2.2 if any(labels) else -0.7), yticks=[])
    axis.spines[["left", "right", "top"]].set_visible(False)
    return kinds


def _draw_parts(axis: Any, clocks: Sequence[int]) -> None:
    """Draws a bar above the wires that divides the time to the acknowledgment into PARTS."""
    left = 0
    for (name, colour), length in zip(PARTS, clocks, strict=True):
        axis.add_patch(Rectangle((left - 0.5, -1.6), length, 0.45, fc=colour, ec="black", lw=0.6))
        axis.text(left - 0.5 if left == 0 else left - 0.5 + length / 2, -1.8, f"{name}: {length}", fontsize=7,
                  va="bottom", ha="left" if left == 0 else "center")
        left += length
    axis.text(left, -1.38, f"= {left} clocks", fontsize=9, va="center")
    axis.set(ylim=(8.5, -3))


def draw_words(panels: Mapping[str, Sequence[Attempt]] | Attempt, net: Network | None = None,
               parts: Sequence[int] | None = None) -> None:
    """Draws every word of a message's attempts in the network of METRO, Figure 3. A row is a direction of a wire, a
    column is a clock, and a cell is the word that arrives at the wire's end in that clock.

    panels: a single attempt, or attempts by the title of their panel; panels are drawn below each other, each with its
    first attempt at clock 0. net: the network of the attempts; with it, labels list the routers of each attempt. parts:
    clocks of header, body, TURN, way to the destination and way back, which are drawn above the wires."""
    named = {"": [panels]} if isinstance(panels, Attempt) else panels
    figure, axes = plt.subplots(len(named), 1, figsize=(13, 0.8 + 3.4 * len(named)), layout="constrained", sharex=True,
                                squeeze=False)
    last = max(r.cycle - attempts[0].cycle for attempts in named.values() for a in attempts for r in a.words)
    kinds = set[str]()
    for axis, (title, attempts) in zip(axes.flat, named.items(), strict=True):
        routers = [f"routers {', '.join(path_names(net, a))}; " if net else "" for a in attempts]
        labels = [f"attempt {n}: {way}{a.outcome}" for n, (way, a) in enumerate(zip(routers, attempts, strict=True), 1)]
        kinds |= _draw_panel(axis, attempts, labels if title else [""], last)
        axis.set_title(title, loc="left")
        axis.tick_params(labelbottom=True)
    if parts:
        _draw_parts(axes[0, 0], parts)
    axes[-1, 0].set_xlabel("clocks since the first word is on the source's wire")
    handles = [Patch(fc=COLOURS[kind], ec="grey", label=LEGEND[kind]) for kind in COLOURS if kind in kinds]
    columns = len(handles) if len(handles) < 8 else 4
    figure.legend(handles=handles, loc="outside lower center", ncols=columns, fontsize=8)
