"""Chapters as their files have them, and the lines of Python that make a figure. Needs no compiled package."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

WIDEST = 100  # characters of a line
DEFAULTS = {"panel": "latency", "unit": "", "within": 0.05}  # of a figure's keys


def read_chapters(folder: Path, parse: Callable[[str], dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the chapters of a folder in their order: name, title, about, figures, as docs/book/README.md describes
    them. In texts, only empty lines remain as line breaks. parse: reads TOML."""
    found = []
    for path in sorted(folder.glob("[0-9]*.toml")):
        tables = _joined(parse(path.read_text(encoding="utf-8")))
        found.append({"name": path.stem.partition("-")[2], "title": tables["title"], "about": tables["about"],
                      "figures": [{**DEFAULTS, **figure} for figure in tables["figure"]]})
    return found


def read_terms(folder: Path, parse: Callable[[str], dict[str, str]]) -> dict[str, str]:
    """Returns the terms of the textbook with their meanings, in alphabetical order. parse: reads TOML."""
    terms = parse((folder / "terms.toml").read_text(encoding="utf-8"))
    return dict(sorted(terms.items(), key=lambda term: term[0].lower()))


def _joined(value: Any) -> Any:
    """Returns a value whose texts have no line breaks, except for one empty line between paragraphs."""
    if isinstance(value, str):
        return "\n\n".join(" ".join(part.split()) for part in value.strip().split("\n\n"))
    if isinstance(value, dict):
        return {key: _joined(part) for key, part in value.items()}
    return [_joined(part) for part in value] if isinstance(value, list) else value


def python_text(figure: Mapping[str, Any]) -> str:
    """Returns the lines of Python that make a figure, with the import."""
    return "\n".join(["import flitlab as fl", "", *python_lines(figure)])


def changes_of(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Returns changes to an experiment. TOML has no null: in the files, an empty text restores a parameter's
    default."""
    return {path: None if value == "" else value for path, value in changes.items()}


def python_lines(figure: Mapping[str, Any]) -> list[str]:
    """Returns the statements that make a figure, given as in its chapter's file: the experiment, the view of its
    network, and its curves. A statement may extend over several lines."""
    changes = _dict(figure.get("set", {}), len('exp = fl.load("").set()') + len(figure["network"]))
    made = f'exp = fl.load("{figure["network"]}")' + (f".set({changes})" if figure.get("set") else "")
    step = f".step({figure['cycle']})" if figure.get("cycle") else ""
    return [made, f"fl.Network(exp){step}.view()", _plot(figure)]


def _plot(figure: Mapping[str, Any]) -> str:
    loads, curves = list(figure["loads"]), figure.get("curves") or {"": {}}
    panel = "" if figure["panel"] == DEFAULTS["panel"] else f'"{figure["panel"]}"'
    paths = {path for changes in curves.values() for path in changes}
    if len(curves) == 1 and not paths:
        return _sweep("exp", {}, loads) + f".plot({panel and 'panels=' + panel})"
    if len(paths) == 1 and all(changes for changes in curves.values()):
        (path,) = paths
        values = [changes[path] for changes in curves.values()]
        if all(isinstance(value, (str, int, float)) for value in values):
            return _sweep("exp", {path: values}, loads) + f".plot({panel and 'panels=' + panel})"
    shown = ",\n          ".join(f"{_text(label)}: {_dict(changes, len(label) + 16)}"
                              for label, changes in curves.items())
    more = f", {panel}" if panel else ""
    return (f"curves = {{{shown}}}\n"
            f"fl.plot([{_sweep('exp.set(c)', {}, loads)} for c in curves.values()]{more}, labels=list(curves))")


def _sweep(experiment: str, over: Mapping[str, Any], loads: list[float]) -> str:
    return f"fl.sweep({experiment}, {_dict({**over, 'traffic.load': loads}, 30)})"


def _dict(values: Mapping[str, Any], taken: int) -> str:
    """Returns a dictionary as text; its items are on lines of their own if it does not fit behind ``taken``
    characters."""
    items = [f"{_text(path)}: {_text(value)}" for path, value in changes_of(values).items()]
    line = "{" + ", ".join(items) + "}"
    return line if taken + len(line) <= WIDEST else "{\n    " + ",\n    ".join(items) + "}"


def _text(value: Any) -> str:
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_text, value)) + "]"
    return repr(value)
