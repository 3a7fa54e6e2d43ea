"""A recording as one HTML file that replays without Python, a server or the web."""

from __future__ import annotations

import html
import os

from flitlab.arguments import writing
from flitlab.scope import module_text, style_text
from flitlab.scope.recorder import packed

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ margin: 0; padding: 8px; background: Canvas; color: CanvasText; }}
{style}
</style>
</head>
<body>
<main id="scope"></main>
<noscript>This page needs JavaScript to replay its recording, and JavaScript is switched off.</noscript>
<script type="text/plain" id="recording">{recording}</script>
<script type="module">
{module}
show_page(document.getElementById("scope"), document.getElementById("recording").textContent);
</script>
</body>
</html>
"""


def page_text(name: str, packed_recording: str) -> str:
    title = html.escape(f"flitlab: {name}")
    return PAGE.format(title=title, style=style_text(), recording=packed_recording, module=module_text())


def write_page(name: str, recording: str, path: str | os.PathLike) -> None:
    """Writes a recording (JSON) as a page. Raises ConfigError if the file cannot be written."""
    text = page_text(name, packed(recording))
    with writing("save", path, "an HTML file"), open(path, "w", encoding="utf-8") as file:
        file.write(text)
