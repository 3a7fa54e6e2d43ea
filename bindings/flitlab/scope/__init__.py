"""The router scope: an animated drawing of a network, cycle by cycle, in which routers and packets can be clicked.

``recorder`` records the frames of a network, ``places`` computes the positions of its routers, ``widget`` is the view
in a notebook (anywidget), ``page`` writes a file that replays a recording without Python. The display is in ``js``,
plain JavaScript that widget and page share: its files are joined to one ES module, in the order of ``MODULES``,
and each refers only to earlier ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from math import prod
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
MODULES = ("state", "recording", "arbitration", "journey", "blocked", "circuits", "holders", "wires", "titles",
           "zoom", "hits", "network", "router", "plots", "legend", "packet", "controls", "scope", "entry")


def is_in_page(given: Mapping[str, Any], most_drawn: int) -> bool:
    """Returns whether the web page includes a shipped configuration: the scope draws all of its routers (larger
    networks are too slow in a browser), and its files are text. given: parameters by dotted path; most_drawn: routers
    that the scope draws."""
    return (prod(given.get("topology.shape", [1])) <= most_drawn
            and not str(given.get("traffic.trace_file", "")).endswith(".tra"))


@cache
def module_text() -> str:
    """Returns the ES module, which exports render (for anywidget) and show_page."""
    return "\n".join((FOLDER / "js" / f"{name}.js").read_text(encoding="utf-8") for name in MODULES)


@cache
def style_text() -> str:
    return (FOLDER / "scope.css").read_text(encoding="utf-8")
