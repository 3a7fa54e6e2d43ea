"""Recordings as one HTML file that replays them without Python, a server or the web."""

from __future__ import annotations

import html
import os

from flitlab.arguments import writing
from flitlab.scope import module_text, style_text

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ margin: 0; background: Canvas; color: CanvasText; }}
main {{ display: flex; flex-wrap: wrap; }}
main > div {{ flex: 1 1 600px; min-width: 0; --scope-page: calc(100vh - 12px); }}
{style}
</style>
</head>
<body>
<main>{places}</main>
<noscript>This page needs JavaScript to replay its recording, and JavaScript is switched off.</noscript>
{recordings}
<script type="module">
{module}
const places = document.querySelectorAll("main > div"), clock = places.length > 1 ? "page" : null;
document.querySelectorAll(".recording").forEach((text, i) => show_page(places[i], text.textContent, clock));
</script>
</body>
</html>
"""


def page_text(name: str, *packed_recordings: str) -> str:
    """Returns a page with one scope for each recording; several scopes share their clock."""
    scripts = (f'<script type="text/plain" class="recording">{text}</script>' for text in packed_recordings)
    return PAGE.format(title=html.escape(f"flitlab: {name}"), style=style_text(), module=module_text(),
                       places="<div></div>" * len(packed_recordings), recordings="\n".join(scripts))


def write_page(name: str, path: str | os.PathLike, *packed_recordings: str) -> None:
    """Writes recordings as a page. Raises ConfigError if the file cannot be written."""
    text = page_text(name, *packed_recordings)
    with writing("save", path, "an HTML file"), open(path, "w", encoding="utf-8") as file:
        file.write(text)
