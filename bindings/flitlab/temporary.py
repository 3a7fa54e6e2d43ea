"""Temporary files: traces, faults and other input files of experiments that exist as long as the process."""

from __future__ import annotations

import csv
import functools
import itertools
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

_numbers = itertools.count(1)


@functools.cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="flitlab-")  # Python removes it at the process's end


def temporary_path(ending: str) -> str:
    """Returns the path of a new file, which is removed at the process's end if it exists then."""
    return str(Path(_folder().name) / f"{next(_numbers)}{ending}")


def temporary_csv(rows: Iterable[Sequence[Any]]) -> str:
    """Writes rows into a new CSV file, which is removed at the process's end, and returns its path.

    >>> Path(temporary_csv([(10, 3, 17, 20)])).read_text(encoding="utf-8")
    '10,3,17,20\\n'
    """
    path = Path(temporary_path(".csv"))
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
    return str(path)
