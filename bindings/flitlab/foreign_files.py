"""Recognition of other simulators' configuration files. flitlab reads BookSim's; for the others, messages say what to
use instead."""

from __future__ import annotations

import re

from flitlab.booksim import ENDING
from flitlab.vocabulary import KEYS

_STATEMENT = re.compile(r"^\s*(\w+)\s*=\s*[^;=]+;", re.MULTILINE)  # a statement of a BookSim file
_LINE = re.compile(r"^\s*(\w+)\s*=", re.MULTILINE)  # BookSim files of GPGPU-Sim and ONNXim, with or without ;
_INSTEAD = "flitlab reads TOML; start from the output of `flitlab configs vc-mesh-8x8`"


def about_text(called: str, ending: str, text: str) -> str:
    """Returns a message that names the format of a text that is not TOML; "" if it is unknown. ``ending``: the file
    name's suffix."""
    if re.search(r"^\s*Configuration\s*\{", text, re.MULTILINE):
        return f"{called} is a configuration of CAMINOS. {_INSTEAD}."
    if text.lstrip().startswith("{"):
        return f"{called} is JSON, as SuperSim's configurations are. {_INSTEAD}."
    if ending.lower() in (".yaml", ".yml"):
        return f"{called} is YAML, as Noxim's configurations are. {_INSTEAD}."
    return ""


def is_booksim(ending: str, text: str) -> bool:
    """Returns whether a text is in the language of BookSim 2 or of a simulator that contains BookSim, and sets at least
    one of BookSim's parameters."""
    statement = _LINE if ending.lower() == ENDING else _STATEMENT
    return not set(statement.findall(re.sub(r"//.*", "", text))).isdisjoint(KEYS["BookSim"])
