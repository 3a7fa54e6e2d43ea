"""A recording of a network, cycle by cycle, which the scope replays.

It has constant data, ``meta``, and ``frames`` with the changes from cycle to cycle. A running view sends it as JSON.
Pages and notebooks have it packed. js/recording.js describes both forms.
"""

from __future__ import annotations

import base64
import gzip
import json
import math
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from flitlab import _core
from flitlab._core import ConfigError
from flitlab.scope.places import planes_of, positions_of

if TYPE_CHECKING:
    from flitlab.network import Network

FORMAT = 2
MOST_DRAWN = _core.Recorder.MOST_DRAWN  # drawn routers; of a larger network, a region is drawn
# Kept frames; fewer with more than KEPT routers, so that a page stays below about 3 MB.
WINDOW = _core.Recorder.WINDOW
KEPT = 200
MOST_FRAMES = 2**32 - 1


class Recorder:
    """Steps a traced network and keeps the last ``window`` frames.

    routers: routers to draw; the others run without being recorded.
    """

    def __init__(self, network: Network, window: int | None = None, routers: Iterable[int] | None = None):
        self.network = network
        self.routers, self._note = _region(network, routers)
        window = window or WINDOW * KEPT // max(KEPT, len(self.routers))
        self._core = _core.Recorder(network._core, self.routers, window)
        self._fast: Network | None = None  # copy of the network that runs without tracing, for skip()
        self._meta = self._constant_data(window)

    def restart(self) -> None:
        """Begins a new recording at the network's current cycle."""
        self._core.restart()

    def in_step(self) -> bool:
        """Returns whether the network is at the cycle of the last frame; False if another caller has stepped it."""
        return self._core.in_step()

    def step(self, cycles: int) -> str:
        """Advances by ``cycles``. Returns a list of the new frames, in JSON."""
        if not self.in_step():
            self.restart()
        return self._core.steps(cycles)

    def skip(self, cycles: int, seconds: float = math.inf) -> None:
        """Advances with the fast engine, without frames, and begins a new recording at the cycle reached. seconds:
        approximate limit of the time; the advance stops early when it is reached."""
        if self._fast is None:
            self._fast = type(self.network)(self.network.experiment)
        self._fast.go_on_from(self.network)
        started, piece = time.monotonic(), 50
        while cycles > 0 and (taken := time.monotonic() - started) < seconds:
            piece = max(1, int(min(2 * piece, cycles, piece * seconds / max(taken, 1e-3))))
            self._fast.step(piece)
            cycles -= piece
        self.network.go_on_from(self._fast)
        self.restart()
        self._core.look_for_deadlock()

    @property
    def kept(self) -> int:
        """Number of kept frames."""
        return self._core.kept

    @property
    def last(self) -> int:
        """Cycle of the last frame."""
        return self._core.last

    @property
    def inspected(self) -> set[int]:
        """Routers whose whole state is recorded, too."""
        return self._core.inspected

    @inspected.setter
    def inspected(self, routers: set[int]) -> None:
        self._core.inspected = routers

    def inspection(self, router: int) -> str:
        """Returns, as a JSON object, the present state of a router, and the names and notes of its ports and VCs in the
        machine's terms."""
        return self._core.inspection(router)

    def state(self) -> dict[str, Any]:
        """Returns the names of the pipeline stages by number, and the description of a deadlock with its cycle."""
        return {name: getattr(self._core, name) for name in ("stages", "deadlock", "deadlocked")}

    def recording(self, most: int = MOST_FRAMES) -> str:
        """Returns the last ``most`` of the kept frames with their ``meta``, in JSON."""
        return self._with_meta(self._core.frames(most))

    def packed(self, most: int = MOST_FRAMES) -> str:
        """Returns the last ``most`` of the kept frames with their ``meta``, packed as text: gzip in base64."""
        frames, tables = self._core.packed(most)
        text = self._with_meta(frames) + "\n"
        return base64.b64encode(gzip.compress(text.encode() + tables, 6, mtime=0)).decode()

    def _with_meta(self, frames: str) -> str:
        meta = json.dumps({**self._meta, **self.state()})
        return f'{{"format":{FORMAT},"meta":{meta},"frames":{frames}}}'

    def _constant_data(self, window: int) -> dict[str, Any]:
        net, flat = self.network, self.network.experiment.flat()
        found = json.loads(self._core.network())
        place = {r: i for i, r in enumerate(self.routers)}
        places, layout = positions_of(found["names"], flat.get("topology.kind", ""),
                                      [(place[a], p, place[b], q) for a, p, b, q in zip(
                                          *(found["links"][end] for end in ("router", "port", "to_router", "to_port")),
                                          strict=True)],
                                      flat.get("topology.shape", ()), flat.get("topology.chip_shape", ()))
        return {
            **found, "name": net.experiment.name, "kind": flat["router.kind"], "about": repr(net.experiment)[1:-1],
            "seed": flat["run.seed"], "note": self._note, "window": window, "layout": layout,
            "x": [p[0] for p in places], "y": [p[1] for p in places],
            "planes": planes_of(found["names"], flat.get("topology.kind", "")), "settings": settings_of(net)}


def _region(network: Network, chosen: Iterable[int] | None) -> tuple[list[int], str]:
    """Returns the routers to draw, and a note for the user if some routers are not drawn."""
    count = int(network.experiment.derived()["routers"])
    if chosen is not None:
        routers = sorted(set(chosen))
        if not routers or routers[0] < 0 or routers[-1] >= count or len(routers) > MOST_DRAWN:
            raise ConfigError(f"routers: view() draws 1 to {MOST_DRAWN} routers, with numbers from 0 to {count - 1}.")
    else:
        routers = list(range(min(count, MOST_DRAWN)))
    if len(routers) == count:
        return routers, ""
    which = f"{routers[0]} to {routers[-1]}" if routers[-1] - routers[0] + 1 == len(routers) else "as selected"
    return routers, (f"{len(routers)} of {count} routers are drawn ({which}); the others run but are not shown. "
                     f"view(routers=...) selects a region of up to {MOST_DRAWN}.")


def settings_of(network: Network) -> dict[str, Any]:
    """Returns load, pattern and routing, if the configuration has them: value, choices that this network can have, and
    help text by path."""
    flat = network.experiment.flat()

    def can_have(path: str, choice: str) -> bool:
        try:
            network.experiment.set(path, choice)
        except ConfigError:
            return False
        return True

    found = {}
    records = _core.parameters()
    for path in ("traffic.load", "traffic.pattern", "routing.algorithm"):
        if path == "traffic.pattern" and flat.get("traffic.class_pattern"):
            continue  # classes of packets have patterns of their own
        record = next((r for r in records if r["path"] == path), None)
        if path in flat and record:
            found[path] = {"value": flat[path], "help": record["help"],
                           "choices": [choice for choice in record["choices"] if can_have(path, choice)]}
    return found
