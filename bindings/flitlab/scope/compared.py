"""Several scopes with one clock: they show the same cycle, side by side."""

from __future__ import annotations

import os
import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING

from flitlab._core import ConfigError
from flitlab.arguments import check_path, shown
from flitlab.scope.page import write_page
from flitlab.scope.recorded import FIRST_RECORDED, Recorded

if TYPE_CHECKING:
    from typing import Self  # Python 3.11


class Comparison:
    """Views with one clock, which :func:`compare` returns."""

    def __init__(self, *views: Recorded):
        self.views, clock = views, uuid.uuid4().hex
        for view in views:
            view.clock = clock

    def step(self, cycles: int = 1) -> Self:
        """Advances all networks by ``cycles`` and records them. Raises ConfigError as :meth:`View.step` does."""
        for view in self.views:
            view.step(cycles)
        return self

    def save(self, path: str | os.PathLike) -> None:
        """Writes the recordings as one HTML file in which the scopes replay side by side. If a view has not recorded
        anything, all networks first advance by 100 cycles. Raises ConfigError if the networks are at different cycles,
        or the file cannot be written."""
        check_path(f"save({shown(path)})", path, "an HTML file")
        check_cycles("save", self.views)
        if any(view.is_empty for view in self.views):
            self.step(FIRST_RECORDED)
        names = dict.fromkeys(view.network.experiment.name for view in self.views)
        write_page(" and ".join(names), path, *(view.packed() for view in self.views))

    def _ipython_display_(self) -> None:
        from IPython.display import display

        check_cycles("compare", self.views)
        if any(view.is_empty for view in self.views):
            self.step(FIRST_RECORDED)
        for view in self.views:
            display(view)


def compare(*views: Recorded) -> Comparison:
    """Shows views with one clock: playing, stepping and seeking in one of them does the same in all, so that two
    networks can be watched in the same cycle.

    ``fl.compare(a.view(), b.view())`` as the last expression of a cell shows them; ``save`` writes them as one page.
    Raises ConfigError if there are fewer than two views, or if their networks are at different cycles."""
    wrong = next((view for view in views if not isinstance(view, Recorded)), None)
    if len(views) < 2 or wrong is not None:
        given = f"compare(... {shown(wrong)} ...)" if wrong is not None else f"compare() of {len(views)} views"
        raise ConfigError(f"{given}: it needs two or more views, as net.view() returns them.")
    if len(set(map(id, views))) < len(views):
        raise ConfigError("compare(): a view is given twice; call net.view() for each.")
    check_cycles("compare", views)
    return Comparison(*views)


def check_cycles(caller: str, views: Sequence[Recorded]) -> None:
    """Raises ConfigError if networks are at different cycles."""
    cycles = [view.cycle for view in views]
    if len(set(cycles)) > 1:
        raise ConfigError(f"{caller}(): the networks are at cycles {', '.join(map(str, cycles))}; step them to the "
                          "same cycle first.")
