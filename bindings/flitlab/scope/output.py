"""Output of a notebook cell beside the widget: the recording as a separate page, so that a saved notebook keeps a
replay even if its front end does not save widgets. A running widget hides it (entry.js, ``hide_replay``)."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from flitlab.scope.page import page_text

if TYPE_CHECKING:
    from flitlab.scope.recorder import Recorder

MOST_BYTES = 4_000_000  # largest packed recording in an output, so that notebooks stay small
OUTPUT = """<div data-flitlab-replay="{name}" class="flitlab-replay-{name}">
<p>{about}, cycles {first} to {last}. If no replay appears below, trust this notebook, or open it in a viewer that runs
scripts.</p>
<iframe title="replay" style="width: 100%; height: 780px; border: 0" loading="lazy" srcdoc="{page}"></iframe>
</div>"""


def fitting(recorder: Recorder, whole: str, most: int | None = None) -> tuple[str, int]:
    """Returns the last frames that fit into ``most`` bytes (default: MOST_BYTES), packed, and their number. whole: all
    kept frames, packed."""
    frames, text, most = recorder.kept, whole, most or MOST_BYTES
    while len(text) > most and frames > 1:
        frames = max(1, min(frames - 1, int(0.9 * frames * most / len(text))))
        text = recorder.packed(frames)
    return text, frames


def output_of(recorder: Recorder, whole: str, name: str) -> dict[str, Any]:
    """Returns the cell's output by MIME type. name: the view's ``replay``, by which a running widget finds the output.
    whole: all kept frames, packed."""
    text, frames = fitting(recorder, whole)
    experiment, last = recorder.network.experiment, recorder.last
    first, about = last - frames + 1, f"A replay of {experiment.name}"
    page = html.escape(page_text(experiment.name, text))
    return {"text/plain": f"{about}, cycles {first} to {last}",
            "text/html": OUTPUT.format(name=name, about=html.escape(about), first=first, last=last, page=page)}
