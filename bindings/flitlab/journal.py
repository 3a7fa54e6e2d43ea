"""Lines that outlive a crash: what sweeps and long experiments have finished, with a checksum, so that what a disk or a
hand has changed is done again and not believed."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

SCHEMA = 1


def line_of(key: str, result: Any) -> str:
    """{"schema", "key", "result", "crc32"} as JSON. The checksum is that of the line without it."""
    entry = {"schema": SCHEMA, "key": key, "result": result}
    return json.dumps(entry | {"crc32": zlib.crc32(json.dumps(entry).encode())}) + "\n"


def entry_of(line: str, is_sound: Callable[[Any], bool]) -> tuple[str, Any] | None:
    """Key and result of a line; None if it is not to be believed: damaged, of another schema, or with a result that is
    none."""
    try:
        entry = json.loads(line)
        key, result = entry["key"], entry["result"]
        return (key, result) if isinstance(key, str) and line == line_of(key, result) and is_sound(result) else None
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None


def write_anew(path: Path, lines: Iterable[str]) -> None:
    """Writes a file beside the old one and moves it into place, so that a kill in between loses nothing."""
    fresh = path.with_suffix(".new")
    fresh.unlink(missing_ok=True)  # of a crash, or somebody's link: what it points to is not ours to write over
    with fresh.open("w", encoding="utf-8") as file:
        file.writelines(lines)
        file.flush()
        os.fsync(file.fileno())
    os.replace(fresh, path)
