"""Reading of TOML files, with the standard library's tomllib where it exists."""

import codecs
from pathlib import Path
from typing import Any

from flitlab._core import ConfigError

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    import tomli as tomllib

__all__ = ["parse_toml", "read_text", "read_toml"]


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


def read_toml(path: Path, called: str) -> dict[str, Any]:
    """Returns the tables of a TOML file. Raises ConfigError, which names the file as ``called``."""
    return parse_toml(read_text(path, called), called)


def parse_toml(text: str, called: str) -> dict[str, Any]:
    """Returns the tables of a TOML text. Raises ConfigError, which names its file as ``called``."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{called} is not valid TOML: {error}.") from None
