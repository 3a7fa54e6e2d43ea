"""The scope as a widget: JupyterLab, Notebook 7, VS Code, Colab and marimo show it (anywidget).

The front end sends messages, and Python answers with frames. Nothing runs between messages, so the kernel is busy only
while it prepares an answer. The cell's output has the recording, too, and replays without a kernel (output.py);
``recording`` does the same if a notebook is saved with the state of its widgets. Both are copies. Because packing takes
longer than a step, a step only marks them as stale. They are packed at the end of the cell, when the front end sends
"keep" (1.5 seconds after the last change, scope.js), and when ``recording`` is read.
"""

from __future__ import annotations

import json
import sys
import uuid
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import anywidget
import traitlets

from flitlab._core import ConfigError, RunError
from flitlab.scope import module_text, style_text
from flitlab.scope.lone import lone_path
from flitlab.scope.output import output_of
from flitlab.scope.recorded import MOST_AT_ONCE, Recorded
from flitlab.scope.recorder import Recorder

if TYPE_CHECKING:
    from flitlab.network import Network

MOST_SECONDS = 0.5  # longest time without an answer when no frames are recorded; a user can stop the run this soon
SETTINGS = ("traffic.load", "traffic.pattern", "routing.algorithm")


class KeptRecording(traitlets.Unicode):
    """A recording that is packed when it is read, if it is stale."""

    def get(self, view: View, cls: Any = None) -> str | None:
        if view.stale:
            view.keep()
        return super().get(view, cls)


def at_end_of_cell(act: Callable[[], None]) -> None:
    """Calls ``act`` once at the end of the running cell, or of the next one; never without IPython."""
    ipython = sys.modules.get("IPython")
    shell = ipython and ipython.get_ipython()
    if shell is None:
        return

    def act_once(*_: Any) -> None:
        shell.events.unregister("post_run_cell", act_once)
        act()

    shell.events.register("post_run_cell", act_once)


class View(Recorded, anywidget.AnyWidget):
    """View that :meth:`flitlab.Network.view` returns. ``network`` is the network that it shows; a change of load,
    pattern or routing makes a new network with the same seed, in the same cycle."""

    recording = KeptRecording().tag(sync=True)
    clock = traitlets.Unicode().tag(sync=True)  # name that views share if they show the same cycle; "": none
    replay = traitlets.Unicode().tag(sync=True)  # name of the replays in outputs, which the widget hides
    _esm = traitlets.Unicode().tag(sync=True)
    _css = traitlets.Unicode().tag(sync=True)

    def __init__(self, network: Network, window: int | None = None, routers: Iterable[int] | None = None):
        Recorded.__init__(self, network, window, routers)
        self._displayed = False
        self.stale = True  # whether the recording has changed since it was packed
        anywidget.AnyWidget.__init__(self, _esm=module_text(), _css=style_text(), replay=uuid.uuid4().hex)
        self.on_msg(self._answer)

    def keep(self) -> None:
        """Copies the recording into the widget's state and into the outputs of the view, which the notebook saves."""
        if not self.stale:
            return
        self.stale = False
        self.recording = self._recorder.packed()
        if self._displayed:
            self._display_replay(update=True)

    def _follow(self, frames: str | None) -> None:
        if frames is None:
            self._send_recording()
        else:
            self._send_frames(frames)

    def _mark_stale(self) -> None:
        if not self.stale:
            self.stale = True
            at_end_of_cell(self.keep)

    def _ipython_display_(self) -> None:
        """Displays the widget, and a replay that the notebook keeps."""
        from IPython.display import display

        self.record_if_empty()
        self.keep()
        data, metadata = self._repr_mimebundle_()
        display(data, metadata=metadata, raw=True)
        self._displayed = True
        self._display_replay()

    def _display_replay(self, update: bool = False) -> None:
        from IPython.display import display

        content = output_of(self._recorder, self.recording, self.replay)
        display(content, raw=True, display_id=self.replay, update=update)

    # Messages to and from the front end.

    def _send_frames(self, frames: str, more: bool = False) -> None:
        """Sends frames to the front end. more: the request was for more frames than fit in this answer."""
        self._mark_stale()
        state = json.dumps({"more": more, **self._recorder.state()})
        self._send_json(f'{{"frames":{frames},{state[1:]}')

    def _send_recording(self) -> None:
        self._mark_stale()
        self._send_json(f'{{"anew":{self._recorder.recording()}}}')

    def _send_json(self, message: str) -> None:
        """Sends a message as text, because recordings are long and the core has written them as JSON already."""
        self.send({"json": message})

    def _answer(self, _: Any, message: Any, __: Any) -> None:
        try:
            self._execute(message)
        except (ConfigError, RunError) as error:
            self.send({"error": str(error)})

    def _execute(self, message: dict[str, Any]) -> None:
        command, recorder = message.get("do"), self._recorder
        cycles = max(1, int(message.get("cycles", 1)))
        if command == "step":
            if not recorder.in_step():
                recorder.restart()
                self._send_recording()
            self._send_frames(recorder.step(min(cycles, MOST_AT_ONCE)), more=cycles > MOST_AT_ONCE)
        elif command == "skip":
            recorder.skip(cycles, MOST_SECONDS)
            self._send_recording()
        elif command == "inspect":
            recorder.inspected = {int(message["router"])} & set(recorder.routers)
            self._send_json(recorder.inspection(int(message["router"])))
        elif command == "path":
            algorithm, src, dst = str(message["algorithm"]), int(message["src"]), int(message["dst"])
            hops = lone_path(self.network, algorithm, src, dst)
            self.send({"path": {"algorithm": algorithm, "src": src, "dst": dst, "hops": hops}})
        elif command == "set":
            changes = {k: v for k, v in message.get("changes", {}).items() if k in SETTINGS}
            self._new_network(changes)
        elif command == "reset":  # start the same network again at cycle 0
            self.network.go_on_from(type(self.network)(self.network.experiment))
            recorder.restart()
            self._send_recording()
        elif command == "whole":  # the front end has missed frames
            self._send_recording()
        elif command == "keep":
            self.keep()

    def _new_network(self, changes: dict[str, Any]) -> None:
        """Shows the network that has had the changed parameters from cycle 0 on, in the cycle that is reached, or in an
        earlier one if the network takes longer than MOST_SECONDS to get there. A running network cannot change its
        load: the packets in a source queue are not stored, but drawn again from their numbers and the load."""
        new = type(self.network)(self.network.experiment.set(changes), trace=True)
        inspected, cycle = self._recorder.inspected, self.cycle
        self._recorder = Recorder(new, self._window, self._chosen)
        self._recorder.inspected = inspected
        self._recorder.skip(cycle, MOST_SECONDS)
        self._send_recording()
