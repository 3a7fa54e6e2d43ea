"""What every plot() returns: the axes of a figure."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flitlab._core import ConfigError
from flitlab.arguments import check_path, shown, writing
from flitlab.styles import NARROW

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Picture(tuple["Axes", ...]):
    """A tuple of matplotlib axes, one for each panel, in the order of ``panels``: ``left, right = curve.plot()``.

    ``figure`` is the matplotlib figure, ``savefig(path)`` writes it to a file. Another curve can go into the picture:
    ``other.plot(picture)``.
    """

    panels: tuple[str, ...]
    figure: Figure

    def __new__(cls, axes: Iterable[Axes], panels: Sequence[str]) -> Picture:
        picture = super().__new__(cls, axes)
        picture.panels, picture.figure = tuple(panels), picture[0].figure
        return picture

    @property
    def axes(self) -> tuple[Axes, ...]:
        return tuple(self)

    def savefig(self, path: str | os.PathLike, **options: Any) -> None:
        """Writes the figure to a PNG, SVG or PDF file, by its ending; the same picture gives the same file. options:
        of matplotlib's Figure.savefig."""
        ending = picture_ending("savefig", path)
        no_date = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(ending)
        resolution = {} if self.figure.get_figwidth() < NARROW else {"dpi": 130}
        import matplotlib

        # A long line is drawn piece by piece: as a whole, one of 20,000 points takes 130 MB.
        with writing("savefig", path), matplotlib.rc_context({"agg.path.chunksize": 1000}):
            self.figure.savefig(path, **({"metadata": no_date} | resolution | options))

    def __reduce__(self) -> Any:
        return Picture, (tuple(self), self.panels)

    def __repr__(self) -> str:
        return f"<Picture: {', '.join(self.panels)}>"


def picture_ending(call: str, path: Any) -> str:
    """The format of a picture's file. Raises ConfigError for one that matplotlib cannot write."""
    from matplotlib.backend_bases import FigureCanvasBase

    check_path(f"{call}({shown(path)})", path, "a picture: .png, .svg or .pdf")
    ending = Path(path).suffix.removeprefix(".").lower()
    if ending not in FigureCanvasBase.get_supported_filetypes():
        raise ConfigError(f"{path}: a picture's file ends in .png, .svg or .pdf.")
    return ending


def one_axes(call: str, axes: Any) -> Any:
    """The axes to draw a single panel into: the axes of a Picture with one panel, or matplotlib's."""
    given = list(axes) if isinstance(axes, Iterable) else [axes]
    if len(given) != 1 or not hasattr(given[0], "fill_between"):
        raise ConfigError(f"{call}(axes={shown(axes)}): it must be axes, such as matplotlib.pyplot.subplots()[1].")
    return given[0]
