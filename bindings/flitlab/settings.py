"""Keys and values as users write them, in Python and on the command line."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

from flitlab._core import ConfigError
from flitlab.toml import tomllib


def flatten(tree: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested tables to dotted paths: ``{"a": {"b": 1}}`` becomes ``{"a.b": 1}``."""
    flat: dict[str, Any] = {}
    for key, value in tree.items():
        path = f"{prefix}{key}"
        if isinstance(value, Mapping):
            flat.update(flatten(value, path + "."))
        else:
            flat[path] = plain(value)
    return flat


def plain(value: Any) -> Any:
    """NumPy scalars and arrays as Python numbers and lists, in lists too; a Path as a string."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return os.fspath(value) if isinstance(value, os.PathLike) else value


def parse_value(text: str) -> Any:
    """A value of the command line, written as in a TOML file. Numbers may also be written as .2, 5. or 007, and truth
    as True. Any other word is a string."""
    for written in (text, _as_toml(text)):
        try:
            return tomllib.loads(f"x = {written}")["x"]
        except tomllib.TOMLDecodeError:
            continue
    return text


# A number that TOML wants written otherwise: 5. or .5, perhaps with an exponent, or 007.
_CARELESS = re.compile(r"(?<![\w.])(?:(?:(?P<before>\d+)\.(?P<after>\d*)|\.(?P<only>\d+))(?=[eE][+-]?\d+\b|[^\w.]|$)"
                       r"|0+(?P<whole>\d+)(?![\w.]))")


def _as_toml(text: str) -> str:
    """The numbers and truth values of a text without quotes, as TOML has them."""
    if '"' in text or "'" in text:
        return text
    if text.lower() in ("true", "false", "nan", "inf", "-inf"):
        return text.lower()
    return _CARELESS.sub(lambda m: m["whole"] or f"{int(m['before'] or 0)}.{m['after'] or m['only'] or 0}", text)


def parse_setting(setting: str) -> tuple[str, Any]:
    """``KEY=VALUE`` of the command line. Raises ConfigError if there is no ``=``."""
    key, equals, text = setting.partition("=")
    if not equals or not key.strip():
        raise ConfigError(f"--set {setting}: it must be KEY=VALUE, for example traffic.load=0.3.")
    return key.strip(), parse_value(text.strip())


def settings_of(set_: Iterable[str], unset: Iterable[str]) -> dict[str, Any]:
    """What options ``--set KEY=VALUE`` and ``--unset KEY`` change: dotted path -> value, None to remove the key."""
    settings = dict(parse_setting(setting) for setting in set_)
    for key in map(str.strip, unset):
        if key in settings:
            raise ConfigError(f"--unset {key}: --set gives it a value; leave one of the two out.")
        settings[key] = None
    return settings
