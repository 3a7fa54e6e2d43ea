"""The textbook as pages: a chapter as Markdown for the documentation, and all exercises as HTML for a printer."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterable
from html import escape
from pathlib import Path

from flitlab import shipped
from flitlab.arguments import writing
from flitlab.textbook.figures import Chapter, Figure, chapters
from flitlab.textbook.source import read_terms
from flitlab.toml import parse_toml

PAGE = "../../page.html"  # from a chapter in the documentation's site
HEIGHT = 640  # of a figure in a chapter, pixels
EXERCISES = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>flitlab: exercises</title>
<style>
body {{ font: 11pt/1.4 Georgia, serif; max-width: 45em; margin: 2em auto; padding: 0 1em; }}
h1 {{ font-size: 18pt; }}
h2 {{ font-size: 14pt; }}
article {{ break-inside: avoid; margin: 1em 0 1.6em; }}
article h3 {{ font-size: 11pt; margin: 0; }}
article p {{ margin: 0.2em 0; }}
.line {{ border-bottom: 1px dotted; height: 2.2em; }}
.answers {{ break-before: page; }}
table {{ border-collapse: collapse; }}
td, th {{ text-align: left; vertical-align: top; padding: 2px 10px 2px 0; }}
</style>
</head>
<body>
<h1>Exercises on interconnection networks</h1>
<p>Name: ____________________________________ &nbsp; Date: ______________</p>
<p>Each exercise belongs to a figure, which shows the network in motion: open page.html and choose it under
<i>textbook</i>. The page checks your answer.</p>
{exercises}
<section class="answers">
<h1>Answers, for the teacher</h1>
<table>
<tr><th></th><th>figure</th><th>answer</th><th>derivation</th></tr>
{answers}
</table>
</section>
</body>
</html>
"""


def chapter_page(chapter: Chapter) -> str:
    """Returns a chapter as Markdown, with its figures as frames of the web page."""
    parts = [f"# {chapter.title}", _wrapped(chapter.about), "[Terms](terms.md) that the figures use."]
    for figure in chapter.figures:
        parts += _figure_parts(figure)
    return "\n\n".join(parts) + "\n"


def terms_page() -> str:
    """Returns the textbook's terms as Markdown."""
    terms = read_terms(shipped.folder("book"), lambda text: parse_toml(text, "docs/book/terms.toml"))
    return "# Terms\n\n| term | meaning |\n|---|---|\n" + "".join(f"| {t} | {m} |\n" for t, m in terms.items())


def _figure_parts(figure: Figure) -> Iterable[str]:
    link = f"{PAGE}#figure={figure.name}"
    yield f"## {figure.title}"
    yield _wrapped(f"**Question.** {figure.question}")
    yield (f'<iframe src="{PAGE}?embed#figure={figure.name}" title="{escape(figure.title)}" loading="lazy"\n'
           f'style="width: 100%; height: {HEIGHT}px; border: 1px solid #bbb"></iframe>')
    yield f'<a href="{link}">Open this figure in the page</a>'
    yield from _folded("What to notice", figure.notice)
    yield _wrapped(f"**Exercise.** {figure.exercise}" + (f" (Unit: {figure.unit}.)" if figure.unit else ""))
    yield from _folded("Solution", f"{figure.solution} Answer: {_number(figure.by_hand)}"
                                   f"{' ' if figure.unit else ''}{figure.unit}.")
    yield f"```python\n{figure.python}\n```"
    yield f"Source: {figure.source}."


def _folded(title: str, text: str) -> Iterable[str]:
    yield f"<details><summary>{title}</summary>"
    yield _wrapped(text)
    yield "</details>"


def _wrapped(text: str) -> str:
    return "\n\n".join(textwrap.fill(part, 120, break_long_words=False, break_on_hyphens=False)
                       for part in text.split("\n\n"))


def exercises_page() -> str:
    """Returns all exercises as HTML for a printer: a line for each answer, and the answers on the last sheets."""
    exercises, answers, number = [], [], 0
    for chapter in chapters():
        exercises.append(f"<h2>{escape(chapter.title)}</h2>")
        for figure in chapter.figures:
            number += 1
            unit = f" (Unit: {escape(figure.unit)}.)" if figure.unit else ""
            exercises.append(f"<article><h3>{number}. {escape(figure.title)}</h3>\n"
                             f'<p>{escape(figure.exercise)}{unit}</p>\n<div class="line"></div></article>')
            answers.append(f"<tr><td>{number}</td><td>{escape(figure.title)}</td>"
                           f"<td>{_number(figure.by_hand)} {escape(figure.unit)}</td>"
                           f"<td>{escape(figure.solution)}</td></tr>")
    return EXERCISES.format(exercises="\n".join(exercises), answers="\n".join(answers))


def save_exercises(path: str | os.PathLike) -> None:
    """Writes all exercises of the textbook as an HTML page for a printer, with the answers at the end. Raises
    ConfigError if the file cannot be written."""
    with writing("save_exercises", path):
        Path(path).write_text(exercises_page(), encoding="utf-8")


def _number(x: float) -> str:
    return f"{x:.4g}"
