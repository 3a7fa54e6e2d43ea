"""The router scope: a network drawn by its topology that moves cycle by cycle, and everything in it can be clicked.

``recorder`` writes down frames of a network, ``places`` says where its routers are drawn, ``widget`` is the view in a
notebook (anywidget), ``page`` a file that replays a recording without Python. What shows them is in ``js``: plain
JavaScript that a widget and a page share; the files are joined to one ES module, in the order of ``MODULES``.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent
MODULES = ("recording", "state", "arbitration", "journey", "network", "router", "packet", "plots", "controls", "scope")


@cache
def module_text() -> str:
    """The ES module: exports render, as anywidget wants it, and show_page."""
    return "\n".join((FOLDER / "js" / f"{name}.js").read_text(encoding="utf-8") for name in MODULES)


@cache
def style_text() -> str:
    return (FOLDER / "scope.css").read_text(encoding="utf-8")
