"""Figures of a report as SVG that is part of the page. Lines and text have the page's colour, so that they are legible
in light and in dark mode."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Any

from flitlab.plots import plot_curves

if TYPE_CHECKING:
    from flitlab.channels import Channels
    from flitlab.curve import Curve
    from flitlab.picture import Picture

MOST_ARROWS = 1000  # largest number of channels drawn as shapes; more are drawn as pixels, which need less space
# Text stays text; equal figures give equal files; legends have no background.
STYLE: dict[str, Any] = {"svg.fonttype": "none", "svg.hashsalt": "flitlab", "legend.framealpha": 0, "figure.dpi": 100,
                         "font.family": "sans-serif", "font.sans-serif": ["Arial", "Helvetica", "DejaVu Sans"]}


def curve_svg(curve: Curve) -> str:
    """Returns the drawing of :meth:`flitlab.Curve.plot`."""
    return _drawn("curve", lambda: plot_curves([curve]))


def heat_map_svg(channels: Channels, name: str) -> str:
    """Returns the drawing of ``result.channels.plot()``. name: unique in the page. Raises ConfigError if the network
    has too many channels, or none."""
    def draw() -> Picture:
        picture = channels.plot()
        for drawn in picture[0].collections if len(channels) > MOST_ARROWS else ():
            drawn.set_rasterized(True)
        return picture

    return _drawn(name, draw)


def _drawn(name: str, draw: Any) -> str:
    import matplotlib
    import matplotlib.pyplot as plt

    backend = matplotlib.get_backend()
    matplotlib.use("Agg", force=False)
    text = io.StringIO()
    before = set(plt.get_fignums())
    try:
        with matplotlib.rc_context(STYLE):
            draw().figure.savefig(text, format="svg", transparent=True, dpi=100, metadata={"Date": None})
    finally:
        for number in set(plt.get_fignums()) - before:
            plt.close(number)
        matplotlib.use(backend, force=False)
    return _for_page(text.getvalue(), name)


def _for_page(svg: str, name: str) -> str:
    """Returns the <svg> element of a file, with identifiers that are unique in the page, and the page's colour in place
    of black."""
    svg = svg[svg.index("<svg"):]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.S)
    svg = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{name}-", svg)
    svg = re.sub(r"(?<=: )(?:#000000|black)\b", "currentColor", svg)
    return svg.replace("<svg ", '<svg role="img" ', 1)
