"""What a cell's output holds beside the widget: the recording as a page of its own, so that a notebook that is saved
keeps a replay, whatever its front end saves of widgets. Where the widget runs it hides this (scope.js,
``hide_replay``)."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from flitlab.scope.page import page_text
from flitlab.scope.recorder import packed

if TYPE_CHECKING:
    from flitlab.scope.recorder import Recorder

MOST_BYTES = 4_000_000  # of a packed recording in an output, so that a notebook stays handy
OUTPUT = """<div data-flitlab-replay="{name}" class="flitlab-replay-{name}">
<p>{about}, cycles {first} to {last}. If none follows, this notebook is not trusted yet, or is shown where scripts do
not run.</p>
<iframe title="replay" style="width: 100%; height: 780px; border: 0" loading="lazy" srcdoc="{page}"></iframe>
</div>"""


def fitting(recorder: Recorder, whole: str) -> tuple[str, int]:
    """As many of the last frames as an output may hold, packed, and how many these are. whole: all that are kept."""
    frames, text = recorder.kept, whole
    while len(text) > MOST_BYTES and frames > 1:
        frames = max(1, min(frames - 1, int(0.9 * frames * MOST_BYTES / len(text))))
        text = packed(recorder.recording(frames))
    return text, frames


def output_of(recorder: Recorder, whole: str, name: str) -> dict[str, Any]:
    """The output by kinds of text; ``name`` is the view's. whole: all that is kept, packed."""
    text, frames = fitting(recorder, whole)
    experiment, last = recorder.network.experiment, recorder.last
    first, about = last - frames + 1, f"A replay of {experiment.name}"
    page = html.escape(page_text(experiment.name, text))
    return {"text/plain": f"{about}, cycles {first} to {last}",
            "text/html": OUTPUT.format(name=name, about=html.escape(about), first=first, last=last, page=page)}
