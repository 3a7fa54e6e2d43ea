"""Conversion of keys and values that users write in Python and on the command line."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

from flitlab._core import ConfigError
from flitlab.toml import tomllib


def flatten(tree: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Returns nested tables with dotted paths: ``{"a": {"b": 1}}`` becomes ``{"a.b": 1}``."""
    flat: dict[str, Any] = {}
    for key, value in tree.items():
        path = f"{prefix}{key}"
        if isinstance(value, Mapping):
            flat.update(flatten(value, path + "."))
        else:
            flat[path] = plain(value)
    return flat


def plain(value: Any) -> Any:
    """Returns NumPy scalars and arrays as Python numbers and lists, also inside lists; a Path as a string."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return os.fspath(value) if isinstance(value, os.PathLike) else value


def parse_value(text: str) -> Any:
    """Returns a value of the command line, written as in a TOML file. Numbers such as .2, 5. or 007 and bools such as
    True are accepted as well. Any other text is a string."""
    for written in (text, _as_toml(text)):
        try:
            return tomllib.loads(f"x = {written}")["x"]
        except tomllib.TOMLDecodeError:
            continue
    return text


# A number that is not valid TOML: 5. or .5, also with an exponent, or 007.
_CARELESS = re.compile(r"(?<![\w.])(?:(?:(?P<before>\d+)\.(?P<after>\d*)|\.(?P<only>\d+))(?=[eE][+-]?\d+\b|[^\w.]|$)"
                       r"|0+(?P<whole>\d+)(?![\w.]))")


def _as_toml(text: str) -> str:
    """Returns a text with its numbers and bools in TOML's notation; a text with quotes is not changed."""
    if '"' in text or "'" in text:
        return text
    if text.lower() in ("true", "false", "nan", "inf", "-inf"):
        return text.lower()
    return _CARELESS.sub(lambda m: m["whole"] or f"{int(m['before'] or 0)}.{m['after'] or m['only'] or 0}", text)


def parse_setting(setting: str) -> tuple[str, Any]:
    """Parses ``KEY=VALUE`` of the command line. Raises ConfigError if there is no ``=``."""
    key, equals, text = setting.partition("=")
    if not equals or not key.strip():
        raise ConfigError(f"--set {setting}: it must be KEY=VALUE, for example traffic.load=0.3.")
    return key.strip(), parse_value(text.strip())


def settings_of(set_: Iterable[str], unset: Iterable[str]) -> dict[str, Any]:
    """Returns the changes of ``--set KEY=VALUE`` and ``--unset KEY``: dotted path -> value, None to remove the key.
    Raises ConfigError."""
    settings = dict(parse_setting(setting) for setting in set_)
    for key in map(str.strip, unset):
        if key in settings:
            raise ConfigError(f"--unset {key}: --set gives it a value; use only one of the two.")
        settings[key] = None
    return settings


def dotted(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Returns settings by dotted path; in keyword arguments, ``__`` stands for the dot.

    >>> dotted({"traffic__load": 0.1})
    {'traffic.load': 0.1}
    """
    return {key.replace("__", "."): value for key, value in settings.items()}
