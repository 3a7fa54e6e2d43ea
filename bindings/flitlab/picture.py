"""Picture: the result of every plot() method, the axes of a figure."""

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

    ``figure`` is the matplotlib figure, ``savefig(path)`` writes it to a file. ``other.plot(picture)`` adds another
    curve.
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
        """Writes the figure to a PNG, SVG or PDF file, chosen by the ending. Files contain no date, so equal pictures
        give equal files. options: passed to matplotlib's Figure.savefig. Raises ConfigError."""
        ending = picture_ending("savefig", path)
        no_date = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(ending)
        resolution = {} if self.figure.get_figwidth() < NARROW else {"dpi": 130}
        import matplotlib

        # Draw long lines in pieces, because a line of 20,000 points needs 130 MB otherwise.
        with writing("savefig", path), matplotlib.rc_context({"agg.path.chunksize": 1000}):
            self.figure.savefig(path, **({"metadata": no_date} | resolution | options))

    def __reduce__(self) -> Any:
        return Picture, (tuple(self), self.panels)

    def __repr__(self) -> str:
        return f"<Picture: {', '.join(self.panels)}>"


def picture_ending(call: str, path: Any) -> str:
    """Returns the format of a picture's file. Raises ConfigError for a format that matplotlib cannot write."""
    from matplotlib.backend_bases import FigureCanvasBase

    check_path(f"{call}({shown(path)})", path, "a picture: .png, .svg or .pdf")
    ending = Path(path).suffix.removeprefix(".").lower()
    if ending not in FigureCanvasBase.get_supported_filetypes():
        raise ConfigError(f"{path}: a picture's file ends in .png, .svg or .pdf.")
    return ending


def one_axes(call: str, axes: Any) -> Any:
    """Returns the axes for a single panel, given as matplotlib axes or a Picture of one panel. Raises ConfigError."""
    given = list(axes) if isinstance(axes, Iterable) else [axes]
    if len(given) != 1 or not hasattr(given[0], "fill_between"):
        raise ConfigError(f"{call}(axes={shown(axes)}): it must be axes, such as matplotlib.pyplot.subplots()[1].")
    return given[0]
