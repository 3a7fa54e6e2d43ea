"""A view that records a network cycle by cycle and saves pages. It needs no widget; widget.py adds the live display."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable
from typing import TYPE_CHECKING

from flitlab._core import ConfigError
from flitlab.arguments import check_path, is_whole, shown
from flitlab.links import PAGE, link_of
from flitlab.scope.output import output_of
from flitlab.scope.page import write_page
from flitlab.scope.recorder import Recorder

if TYPE_CHECKING:
    from typing import Self  # Python 3.11

    from flitlab.network import Network

MOST_AT_ONCE = 200  # limit of the frames in one answer to the front end
FIRST_RECORDED = 100  # cycles that are recorded before a view is shown or saved, if there are none yet


class Recorded:
    """View that :meth:`flitlab.Network.view` returns if anywidget is not installed. It records and saves pages; a
    notebook shows a replay.

    window: cycles to keep, 2 to 100000. routers: numbers of the routers to draw. Raises ConfigError if one is wrong."""

    clock = ""  # name that views share if they show the same cycle

    def __init__(self, network: Network, window: int | None = None, routers: Iterable[int] | None = None):
        if window is not None and not (is_whole(window) and 2 <= window <= 100_000):
            raise ConfigError(f"window = {shown(window)}: a recording keeps 2 to 100000 cycles, a whole number.")
        if routers is not None and not (isinstance(routers, Iterable) and all(map(is_whole, routers := list(routers)))):
            raise ConfigError(f"routers = {shown(routers)}: it must be a list of routers' numbers.")
        self._window = window
        self._chosen = None if routers is None else list(routers)
        self._recorder = Recorder(network, window, self._chosen)

    @property
    def network(self) -> Network:
        return self._recorder.network

    @property
    def cycle(self) -> int:
        return self.network.cycle

    def step(self, cycles: int = 1) -> Self:
        """Advances the network by ``cycles`` and records them; the display follows. Raises ConfigError if ``cycles`` is
        not a whole number from 0."""
        if not is_whole(cycles) or cycles < 0:
            raise ConfigError(f"step({shown(cycles)}): the number of cycles must be a whole number from 0.")
        in_step = self._recorder.in_step()
        frames = self._recorder.step(cycles)
        # in_step() is true if no other caller has stepped the network since the last frame
        self._follow(frames if in_step and cycles <= MOST_AT_ONCE else None)
        return self

    def inspect(self, router: int) -> Self:
        """Also records the whole state of a router from now on, so that a saved page shows it. Raises ConfigError if
        the router is not drawn."""
        self.network.router(router)  # raises ConfigError if it does not exist
        if router not in self._recorder.routers:
            raise ConfigError(f"inspect({router}): this router is not drawn; view(routers=...) selects others.")
        self._recorder.inspected |= {router}
        return self

    def save(self, path: str | os.PathLike) -> None:
        """Writes the recording as one HTML file that replays it anywhere. If no cycles have been recorded, it first
        advances the network by 100 cycles and records them. Raises ConfigError if the file cannot be written."""
        check_path(f"save({shown(path)})", path, "an HTML file")
        self.record_if_empty()
        write_page(self.network.experiment.name, path, self.packed())

    @property
    def is_empty(self) -> bool:
        """Whether no cycle has been recorded yet."""
        return self._recorder.kept == 1

    def record_if_empty(self) -> None:
        """Advances the network by 100 cycles and records them, if nothing is recorded yet."""
        if self.is_empty:
            self.step(FIRST_RECORDED)

    def packed(self) -> str:
        """Returns the recording, packed as text."""
        return self._recorder.packed()

    def share(self, router: int | None = None, overlay: str | None = None, page: str = PAGE) -> str:
        """Returns a link that opens the network in the web page, in the cycle that it has reached (:func:`share`).
        router: by default the one whose whole state is recorded, if it is one. Raises ConfigError."""
        if router is None and len(self._recorder.inspected) == 1:
            (router,) = self._recorder.inspected
        return link_of(self.network.experiment, self.network.cycle, self.network.state_hash, router, overlay, page)

    def _follow(self, frames: str | None) -> None:
        """Displays new frames; None: the whole recording."""

    def _ipython_display_(self) -> None:
        from IPython.display import display

        self.record_if_empty()
        print("The live view needs anywidget (pip install 'flitlab[notebook]'); this is a replay.")
        display(output_of(self._recorder, self._recorder.packed(), uuid.uuid4().hex), raw=True)
