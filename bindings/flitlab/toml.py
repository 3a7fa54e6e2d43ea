"""Reading of TOML files, with the standard library's tomllib where it exists."""

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
    """Returns the text of a UTF-8 file without a byte-order mark. Raises ConfigError, which names the file as
    ``called``."""
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
    """Returns the tables of a TOML file. Raises ConfigError, which names the file as ``called``. ``about(text)``:
    message for a text that is not TOML; "" for the parser's message."""
    text = read_text(path, called)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(about(text) or f"{called} is not valid TOML: {error}.") from None
