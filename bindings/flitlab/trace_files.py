"""Packets of a trace that the core does not read itself: compressed files and Parquet files are expanded once, to a
temporary file, and rows in Python become the text of a CSV file."""

from __future__ import annotations

import bz2
import functools
import gzip
import importlib
import mmap
import os
import re
import shutil
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, BinaryIO

from flitlab._core import ConfigError
from flitlab.arguments import shown, whole
from flitlab.settings import plain
from flitlab.temporary import temporary_path

TRACE = "traffic.trace_file"
COLUMNS = ("cycle", "source", "destination", "flits")
_CLASS = re.compile(r"c\d+")
_PARQUET = "Parquet"
_FORMATS = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\x28\xb5\x2f\xfd": "zstd", b"PAR1": _PARQUET}


def trace_contents(name: Any, base_dir: str) -> mmap.mmap | bytes | None:
    """Returns what a compressed file or a Parquet file contains, as the core reads it; None if the core reads the file
    itself, or reports that it cannot. Raises ConfigError if the file is damaged."""
    if not isinstance(name, str) or not name:
        return None
    path = os.path.join(base_dir, name)
    try:
        with open(path, "rb") as file:
            first = file.read(4)
            status = os.fstat(file.fileno())
    except OSError:
        return None
    form = _form_of(first)
    return _expanded(path, form, status.st_mtime_ns, status.st_size) if form else None


@functools.lru_cache(maxsize=4)
def _expanded(path: str, form: str, _date: int, _size: int) -> mmap.mmap | bytes:
    to = temporary_path(".trace")
    try:
        with open(to, "wb") as file:
            if form == _PARQUET:
                for line in _lines_of_parquet(path):
                    file.write(line.encode())
            else:
                with _open_compressed(path, form) as compressed:
                    shutil.copyfileobj(compressed, file, 1 << 20)
            file.flush()
            _check_expanded(path, form, to)
    except (EOFError, OSError, ValueError, zlib.error) as error:
        raise ConfigError(f"{TRACE}: {path} cannot be expanded ({form}): {str(error).rstrip('.')}. The file is damaged "
                          f"or incomplete, or there is no room in {os.path.dirname(to)}.") from None
    with open(to, "rb") as file:
        if not os.fstat(file.fileno()).st_size:
            return b""
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _form_of(first: bytes) -> str | None:
    return next((form for mark, form in _FORMATS.items() if first.startswith(mark)), None)


def _check_expanded(path: str, form: str, to: str) -> None:
    with open(to, "rb") as file:
        inner = _form_of(file.read(4))
    if inner:
        raise ConfigError(f"{TRACE}: {path} ({form}) contains a file that is {inner} itself. A trace may be compressed "
                          "once, and Parquet files are read as they are. Expand this file once.")


def _open_compressed(path: str, form: str) -> BinaryIO:
    if form == "gzip":
        return gzip.open(path)  # type: ignore[return-value]
    if form == "bzip2":
        return bz2.open(path)  # type: ignore[return-value]
    return _pyarrow("", path).CompressedInputStream(_pyarrow("", path).OSFile(path), "zstd")


def _pyarrow(part: str, path: str) -> Any:
    try:
        return importlib.import_module("pyarrow" + part)
    except ImportError:
        raise ConfigError(f"{TRACE}: reading {path} needs pyarrow: pip install pyarrow.") from None


def _lines_of_parquet(path: str) -> Iterator[str]:
    table = _pyarrow(".parquet", path).ParquetFile(path)
    names = table.schema_arrow.names
    _check_columns(names, f"{TRACE}: {path}")
    columns = _columns(names)
    for batch in table.iter_batches(columns=columns):
        rows = zip(*(_column(name, batch.column(name).to_pylist()) for name in columns), strict=True)
        yield from _lines(rows, f"{TRACE}: {path}")


def _columns(names: Iterable[str]) -> list[str]:
    """Returns the columns of a table that a trace has, in the order of a row."""
    return [*COLUMNS, *(name for name in ("class", "needs") if name in names)]


def _column(name: str, values: Iterable[Any]) -> Iterable[Any]:
    """Returns the values of a column as rows have them: a class as "c1"."""
    return (f"c{value}" for value in values) if name == "class" else values


def _check_columns(names: Iterable[str], where: str) -> None:
    if missing := [name for name in COLUMNS if name not in names]:
        raise ConfigError(f"{where} has no column {', '.join(missing)}. A trace has the columns {', '.join(COLUMNS)} "
                          "and, if packets have classes or depend on others, class (a number) and needs: a list of "
                          "earlier rows, counted from 0.")


def trace_text(rows: Any) -> bytes:
    """Returns the text of a trace given in Python: a DataFrame or an Arrow table with the columns cycle, source,
    destination, flits and perhaps class and needs, or rows (cycle, source, destination, flits, needs...), for example
    an array. In a row, "c1" before needs is a class. A negative number or None in needs means no packet. Raises
    ConfigError."""
    if hasattr(rows, "columns"):
        schema = getattr(rows, "schema", None)  # pyarrow: columns are the values, the schema has their names
        names = schema.names if hasattr(rows, "to_pylist") and hasattr(schema, "names") else rows.columns
        _check_columns(names, "with_trace: the table")
        columns = {name: rows[name] for name in _columns(names)}
        rows = zip(*(_column(name, column.to_pylist() if hasattr(column, "to_pylist") else column)
                     for name, column in columns.items()), strict=True)
    if isinstance(rows, (str, bytes, Mapping)) or not hasattr(rows, "__iter__") or getattr(rows, "ndim", 2) != 2:
        raise ConfigError(f"with_trace({shown(rows)}): it must be a table with the columns {', '.join(COLUMNS)} and "
                          f"perhaps class and needs, or rows of these numbers. A file is set as {TRACE}.")
    return "".join(_lines(rows, "with_trace")).encode()


def _lines(rows: Iterable[Any], where: str) -> Iterator[str]:
    for number, row in enumerate(rows):
        try:
            fixed, of_class, rest = list(row[:4]), [], row[4:]
            if len(rest) and _CLASS.fullmatch(str(plain(rest[0]))):
                of_class, rest = [str(plain(rest[0]))], rest[1:]
            needs = [n for part in rest for n in _needs(part)]
        except (TypeError, IndexError, KeyError):
            fixed, of_class, needs = [], [], []
        values = [whole(value) for value in (*fixed, *needs)]
        if len(fixed) < 4 or None in values or min(values[:4]) < 0:  # type: ignore[type-var]
            raise ConfigError(f"{where}: row {number} is {shown(tuple(row) if hasattr(row, '__iter__') else row)}: it "
                              f"must be {', '.join(COLUMNS)} and the rows that it needs, whole numbers from 0.")
        texts = [str(value) for value in values if value >= 0]  # type: ignore[operator]
        yield ",".join([*texts[:4], *of_class, *texts[4:]]) + "\n"


def _needs(part: Any) -> list[Any]:
    """Returns the numbers in one value of the column needs: a number or a list; None and NaN mean none."""
    part = plain(part)
    if isinstance(part, list):
        return [n for one in part for n in _needs(one)]
    if part is None or str(part) in ("nan", "<NA>"):
        return []
    return [int(part) if isinstance(part, float) and part.is_integer() else part]  # NaN makes a column of floats

