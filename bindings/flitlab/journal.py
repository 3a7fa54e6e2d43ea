"""Journal lines for finished work of sweeps and long experiments, which survive a crash.

Each line has a checksum, so that work whose line was damaged or edited is repeated."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

SCHEMA = 1


def line_of(key: str, result: Any) -> str:
    """Returns a line {"schema", "key", "result", "crc32"} of JSON. The checksum covers the line without "crc32"."""
    entry = {"schema": SCHEMA, "key": key, "result": result}
    return json.dumps(entry | {"crc32": zlib.crc32(json.dumps(entry).encode())}) + "\n"


def entry_of(line: str, is_sound: Callable[[Any], bool]) -> tuple[str, Any] | None:
    """Returns key and result of a line; None if the line is damaged, has another schema, or ``is_sound(result)`` is
    false."""
    try:
        entry = json.loads(line)
        key, result = entry["key"], entry["result"]
        return (key, result) if isinstance(key, str) and line == line_of(key, result) and is_sound(result) else None
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None


def write_anew(path: Path, lines: Iterable[str]) -> None:
    """Writes a new file and renames it over the old one, so that a crash in between loses nothing."""
    fresh = path.with_suffix(".new")
    fresh.unlink(missing_ok=True)  # left by a crash, or a link, whose target must not be overwritten
    with fresh.open("w", encoding="utf-8") as file:
        file.writelines(lines)
        file.flush()
        os.fsync(file.fileno())
    os.replace(fresh, path)
