"""TOML, of the standard library where it has it, and how a file of it is read."""

import codecs
from collections.abc import Callable
from pathlib import Path
from typing import Any

from flitlab._core import ConfigError

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    import tomli as tomllib

__all__ = ["read_text", "read_toml", "tomllib"]


def read_text(path: Path, called: str) -> str:
    """The text of a file in UTF-8, without the byte-order mark that some editors put before it. Raises ConfigError,
    which names the file as ``called``."""
    try:
        data = path.read_bytes()
        if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise ConfigError(f"{called} cannot be read: it begins with the byte-order mark of UTF-16. Save it as "
                              "UTF-8.")
        return data.decode("utf-8-sig")
    except OSError as error:
        raise ConfigError(f"{called} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{called} cannot be read: it is not UTF-8 text.") from None


def read_toml(path: Path, called: str, about: Callable[[str], str] = lambda _: "") -> dict[str, Any]:
    """The tables of a TOML file. Raises ConfigError, which names the file as ``called``. ``about(text)``: the message
    about a text that is no TOML; "": that of the reader."""
    text = read_text(path, called)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(about(text) or f"{called} is not valid TOML: {error}.") from None
