"""Configurations of other simulators, which flitlab does not read: what they are, and what to do instead."""

from __future__ import annotations

import re

from flitlab.vocabulary import KEYS, key_of

_STATEMENT = re.compile(r"^\s*(\w+)\s*=\s*[^;=]+;", re.MULTILINE)  # of BookSim
_LINE = re.compile(r"^\s*(\w+)\s*=", re.MULTILINE)  # of GPGPU-Sim's and ONNXim's files for BookSim, with or without ;
_INSTEAD = "flitlab reads TOML: begin with a file of `flitlab configs vc-mesh-8x8`"


def about_text(called: str, ending: str, text: str) -> str:
    """What a text that is no TOML is, as a message; "" if that is unknown. ``ending``: of the file's name."""
    if words := _words_of_booksim(text, _LINE if ending.lower() == ".icnt" else _STATEMENT):
        theirs = {found[0]: word for word in reversed(words) if (found := key_of(word))}
        first = sorted(theirs.items(), key=lambda item: words.index(item[1]))[:4]
        named = ", ".join(f"{word} is {path}" for path, word in first)
        return f"{called} is a configuration of BookSim. {_INSTEAD}, where {named}."
    if re.search(r"^\s*Configuration\s*\{", text, re.MULTILINE):
        return f"{called} is a configuration of CAMINOS. {_INSTEAD}."
    if text.lstrip().startswith("{"):
        return f"{called} is JSON, as SuperSim's configurations are. {_INSTEAD}."
    if ending.lower() in (".yaml", ".yml"):
        return f"{called} is YAML, as Noxim's configurations are. {_INSTEAD}."
    return ""


def _words_of_booksim(text: str, statement: re.Pattern) -> list[str]:
    """The parameters that statements set, if BookSim has one of them at least."""
    words = statement.findall(re.sub(r"//.*", "", text))
    return words if set(words) & set(KEYS["BookSim"]) else []
