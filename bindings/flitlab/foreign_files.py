"""Recognition of other simulators' configuration files. flitlab reads BookSim's; for the others, messages say what to
use instead."""

from __future__ import annotations

import re

from flitlab.vocabulary import KEYS, key_of

_STATEMENT = re.compile(r"^\s*(\w+)\s*=\s*[^;=]+;", re.MULTILINE)  # a statement of a BookSim file
_LINE = re.compile(r"^\s*(\w+)\s*=", re.MULTILINE)  # BookSim files of GPGPU-Sim and ONNXim, with or without ;
_DIALECT = ".icnt"  # of these two, with parameters of their own
_INSTEAD = "flitlab reads TOML; start from the output of `flitlab configs vc-mesh-8x8`"


def about_text(called: str, ending: str, text: str) -> str:
    """Returns a message that names the format of a text that is not TOML; "" if it is unknown. ``ending``: the file
    name's suffix."""
    if ending.lower() == _DIALECT and (found_names := _booksim_parameters(text, _LINE)):
        booksim_names = {found[0]: word for word in reversed(found_names) if (found := key_of(word))}
        first = sorted(booksim_names.items(), key=lambda item: found_names.index(item[1]))[:4]
        named = ", ".join(f"{word} is {path}" for path, word in first)
        return f"{called} is a configuration of BookSim. {_INSTEAD}, where {named}."
    if re.search(r"^\s*Configuration\s*\{", text, re.MULTILINE):
        return f"{called} is a configuration of CAMINOS. {_INSTEAD}."
    if text.lstrip().startswith("{"):
        return f"{called} is JSON, as SuperSim's configurations are. {_INSTEAD}."
    if ending.lower() in (".yaml", ".yml"):
        return f"{called} is YAML, as Noxim's configurations are. {_INSTEAD}."
    return ""


def is_booksim(ending: str, text: str) -> bool:
    """Returns whether a text is in BookSim 2's language and sets at least one of its parameters."""
    return ending.lower() != _DIALECT and bool(_booksim_parameters(text, _STATEMENT))


def _booksim_parameters(text: str, statement: re.Pattern) -> list[str]:
    """Returns the parameters that statements set, if at least one of them is a BookSim parameter; else []."""
    found_names = statement.findall(re.sub(r"//.*", "", text))
    return found_names if set(found_names) & set(KEYS["BookSim"]) else []
