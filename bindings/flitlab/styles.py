"""Styles and widths of figures for papers."""

from __future__ import annotations

from typing import Any

from flitlab._core import ConfigError
from flitlab.arguments import did_you_mean, is_number, named

# Okabe and Ito's colours, which readers with colour blindness can distinguish; markers and dashes for black and white.
_COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#56B4E9", "#E69F00"]
_MARKERS = ["o", "s", "^", "D", "v", "x", "+"]
_DASHES: list[Any] = ["-", "--", "-.", ":", (0, (3, 1, 1, 1, 1, 1)), (0, (5, 1)), (0, (1, 1))]


def _ieee() -> dict[str, Any]:
    """Returns matplotlib settings for an IEEE column of 3.5 inches: Times of 8 points, ticks and legend of 7, embedded
    fonts, and text in SVG files as text."""
    from cycler import cycler

    cycle = cycler(color=_COLOURS) + cycler(marker=_MARKERS) + cycler(linestyle=_DASHES)
    return {
        "figure.figsize": (3.5, 2.4), "figure.dpi": 150, "savefig.dpi": 600, "savefig.bbox": None,
        "font.family": "serif", "font.serif": ["Times New Roman", "Nimbus Roman", "STIXGeneral", "DejaVu Serif"],
        "mathtext.fontset": "stix", "font.size": 8, "axes.labelsize": 8, "axes.titlesize": 8, "xtick.labelsize": 7,
        "ytick.labelsize": 7, "legend.fontsize": 7, "legend.frameon": True, "legend.handlelength": 2.6,
        "legend.borderpad": 0.3, "legend.labelspacing": 0.25, "legend.framealpha": 0.9, "legend.edgecolor": "none",
        "axes.linewidth": 0.6, "axes.prop_cycle": cycle, "lines.linewidth": 1.0, "lines.markersize": 3.0,
        "grid.linewidth": 0.4, "xtick.direction": "in", "ytick.direction": "in", "xtick.major.width": 0.6,
        "ytick.major.width": 0.6, "pdf.fonttype": 42, "ps.fonttype": 42, "svg.fonttype": "none",
        "svg.hashsalt": "flitlab",
    }


_STYLES = {"ieee": _ieee}
NARROW = 5  # inches: narrower figures have one panel below the other
WIDTHS = {"single": 3.5, "double": 7.16}  # inches: one and two columns of IEEE papers


def inches(width: Any) -> float | None:
    """Returns a figure's width, given as a key of ``WIDTHS`` or in inches; None means the style's. Raises
    ConfigError."""
    if width is None:
        return None
    if isinstance(width, str) and width in WIDTHS:
        return WIDTHS[width]
    if is_number(width) and 1 <= width <= 100:
        return float(width)
    raise ConfigError(f"{named('width', width)}: it must be {' or '.join(map(repr, WIDTHS))}, or 1 to 100 inches."
                      f"{did_you_mean(width, WIDTHS) if isinstance(width, str) else ''}")


class style:
    """``fl.style("ieee")`` makes all later figures fit a column of a two-column paper; ``with fl.style("ieee"):`` only
    figures drawn inside. They are 3.5 inches wide, in Times of 8 points, ticks and legend of 7. Save figures as PDF or
    SVG: ``curve.save_plot("latency.pdf")``.

    Raises ConfigError for an unknown style.
    """

    def __init__(self, name: str):
        if not isinstance(name, str) or name not in _STYLES:
            raise ConfigError(f"{named('style', name)}: there is no such style; styles are {', '.join(_STYLES)}."
                              f"{did_you_mean(name, _STYLES)}")
        import matplotlib as mpl

        self.name = name
        settings = _STYLES[name]()
        self._before = {key: mpl.rcParams[key] for key in settings}
        mpl.rcParams.update(settings)

    def __enter__(self) -> style:
        return self

    def __exit__(self, *_: object) -> None:
        import matplotlib as mpl

        mpl.rcParams.update(self._before)

    def __repr__(self) -> str:
        return f"<style {self.name}>"
