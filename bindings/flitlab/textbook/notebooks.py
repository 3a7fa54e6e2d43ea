"""The textbook as notebooks: a chapter is one notebook, written from the chapter's file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from flitlab.textbook.figures import Chapter, Figure, chapters
from flitlab.textbook.source import python_lines


def notebook_texts() -> dict[str, str]:
    """Returns the chapters as notebooks (JSON) by file name."""
    return {f"book_{number}_{chapter.name}.ipynb": json.dumps(notebook_of(chapter), indent=1)
            for number, chapter in enumerate(chapters(), 1)}


def notebook_of(chapter: Chapter) -> dict[str, Any]:
    """Returns a chapter as a notebook: for each figure its question, network, curves, notice and exercise."""
    cells = [_markdown(f"# {chapter.title}\n\n{chapter.about}\n\nPrerequisite: notebook 00. Answer each question "
                       "before you play the network."),
             _code("import flitlab as fl\nfrom flitlab import textbook")]
    for figure in chapter.figures:
        cells += _cells(figure)
    return {"cells": [{"id": f"cell-{i}", **cell} for i, cell in enumerate(cells)],
            "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
                         "language_info": {"name": "python"}},
            "nbformat": 4, "nbformat_minor": 5}


def _cells(figure: Figure) -> Iterator[dict[str, Any]]:
    made, view, curves = python_lines(figure.values())
    yield _markdown(f"## {figure.title}\n\n**Question.** {figure.question}")
    yield _code(f"{made}\n{view}")
    yield _code(f"{curves};")
    yield _markdown(f"<details><summary>What to notice</summary>\n\n{figure.notice}\n\n</details>\n\n"
                    f"**Exercise.** {figure.exercise} Source: {figure.source}.")
    unit = f", in {figure.unit}" if figure.unit else ""
    yield _code(f'answer = 1  # yours{unit}\nprint(textbook.figure("{figure.name}").check(answer))')


def _markdown(text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": text.splitlines(keepends=True)}


def _code(text: str) -> dict[str, Any]:
    return {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": [],
            "source": text.splitlines(keepends=True)}
