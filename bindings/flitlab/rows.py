"""Rows: the table of a sweep, stored by column with nine bytes per cell. 100,000 rows take about 50 MB."""

from __future__ import annotations

import re
import struct
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

# Kinds of cells. A cell has a kind and eight bytes for its value; the bytes are 0 for the first four kinds, which have
# no value.
_MISSING, _NONE, _FALSE, _TRUE, _INTEGER, _NUMBER, _HASH, _WORD = range(8)
_ZERO = bytes(8)
_Q, _D = struct.Struct("<q"), struct.Struct("<d")
_HEXADECIMAL = re.compile("[0-9a-f]{16}")
_CONSTANTS = {_NONE: None, _FALSE: False, _TRUE: True}


class _Column:
    """The cells of one column. Rows after the last cell have no value."""

    __slots__ = ("bits", "kinds", "word_index", "words")

    def __init__(self) -> None:
        self.kinds = bytearray()  # [row] kind of the cell
        self.bits = bytearray()  # [row][8] bytes of the cell
        self.words: list[Any] = []  # distinct values of the cells of kind _WORD, which store an index in this list
        self.word_index: dict[Any, int] = {}  # type and value -> index in `words`

    def put(self, row: int, value: Any) -> None:
        """Appends the cell of a row; rows between the last cell and this one have no value."""
        skipped = row - len(self.kinds)
        kind, packed = self._packed(value)
        self.kinds += bytes(skipped) + bytes((kind,))
        self.bits += bytes(8 * skipped) + packed

    def _packed(self, value: Any) -> tuple[int, bytes]:
        kind = type(value)
        if kind is float:
            return _NUMBER, _D.pack(value)
        if kind is int and -(2**63) <= value < 2**63:
            return _INTEGER, _Q.pack(value)
        if value is None:
            return _NONE, _ZERO
        if kind is bool:
            return (_TRUE if value else _FALSE), _ZERO
        if kind is str and _HEXADECIMAL.fullmatch(value):
            return _HASH, bytes.fromhex(value)
        try:
            word_number = self.word_index.setdefault((kind, value), len(self.words))
        except TypeError:  # the value is a list, which cannot be a dictionary key
            word_number = len(self.words)
        if word_number == len(self.words):
            self.words.append(value)
        return _WORD, _Q.pack(word_number)

    def kind(self, row: int) -> int:
        return self.kinds[row] if row < len(self.kinds) else _MISSING

    def get(self, row: int, otherwise: Any = None) -> Any:
        """Returns the value of a row, ``otherwise`` if it has no value."""
        kind, at = self.kind(row), 8 * row
        if kind == _NUMBER:
            return _D.unpack_from(self.bits, at)[0]
        if kind == _INTEGER:
            return _Q.unpack_from(self.bits, at)[0]
        if kind == _HASH:
            return self.bits[at : at + 8].hex()
        if kind == _WORD:
            return self.words[_Q.unpack_from(self.bits, at)[0]]
        return _CONSTANTS[kind] if kind else otherwise

    def values(self, rows: np.ndarray, count: int) -> Any:
        """Returns the cells of ``rows`` in the form that pandas makes of dictionaries: an array if all are numbers or
        all are bools, else a list. A missing value is NaN. count: number of rows in the table."""
        kinds = np.zeros(count, dtype=np.uint8)
        kinds[: len(self.kinds)] = self.kinds
        kinds = kinds[rows]
        present = set(np.unique(kinds).tolist())
        bits = np.zeros(count, dtype="<i8")
        bits[: len(self.kinds)] = np.frombuffer(self.bits, dtype="<i8")
        bits = bits[rows]
        if present == {_INTEGER}:
            return bits
        if present <= {_FALSE, _TRUE} and present:
            return kinds == _TRUE
        if present <= {_INTEGER, _NUMBER, _NONE, _MISSING} and present & {_INTEGER, _NUMBER}:
            numbers = np.where(kinds == _INTEGER, bits.astype(float), bits.view("<f8"))
            numbers[kinds < _INTEGER] = np.nan
            return numbers
        return [self.get(int(row), np.nan) for row in rows]


class Rows(Sequence[dict[str, Any]]):
    """Rows of a table, a read-only sequence of dictionaries. Each access makes a new dictionary, so changing it does
    not change the table. Columns are in the order of their first occurrence."""

    def __init__(self, rows: Iterable[Mapping[str, Any]] = ()):
        self._columns: dict[str, _Column] = {}
        self._count = 0  # rows in the columns
        self._chosen: array[int] | None = None  # indices of these rows in the columns; None: all rows
        for row in rows:
            self.append(row)

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, Any]]) -> Rows:
        return rows if isinstance(rows, cls) else cls(rows)

    def append(self, row: Mapping[str, Any]) -> None:
        for name, value in row.items():
            column = self._columns.get(name)
            if column is None:
                column = self._columns[name] = _Column()
            column.put(self._count, value)
        self._count += 1

    def take(self, indices: Iterable[int]) -> Rows:
        """Returns the rows with these indices; they share the cells."""
        some = Rows()
        some._columns, some._count = self._columns, self._count
        some._chosen = array("q", (self._at(i) for i in indices))
        return some

    def _at(self, index: int) -> int:
        return index if self._chosen is None else self._chosen[index]

    def __len__(self) -> int:
        return self._count if self._chosen is None else len(self._chosen)

    def __getitem__(self, index: Any) -> Any:
        """Returns a row, or for a slice a list of rows."""
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        at = self._at(range(len(self))[index])
        return {name: column.get(at) for name, column in self._columns.items() if column.kind(at)}

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (self[i] for i in range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (Rows, list, tuple)):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: Iterable[Mapping[str, Any]]) -> list[Any]:
        return [*self, *other]

    def __radd__(self, other: Iterable[Mapping[str, Any]]) -> list[Any]:
        return [*other, *self]

    def __mul__(self, times: int) -> list[dict[str, Any]]:
        return list(self) * times

    def __repr__(self) -> str:
        return repr(list(self))

    @property
    def names(self) -> list[str]:
        """Names of the columns that at least one row has."""
        rows = range(len(self))
        return [name for name, column in self._columns.items()
                if self._chosen is None or any(column.kind(self._at(i)) for i in rows)]

    def has(self, name: str) -> bool:
        """Returns whether all rows have this column."""
        column = self._columns.get(name)
        return column is not None and all(column.kind(self._at(i)) for i in range(len(self)))

    def pick(self, *names: str) -> Iterator[tuple[Any, ...]]:
        """Yields a tuple of these columns for each row, with None for missing values."""
        columns = [self._columns.get(name) or _Column() for name in names]
        return (tuple(column.get(at) for column in columns) for at in map(self._at, range(len(self))))

    def column(self, name: str) -> Any:
        """Returns a column for a pandas.DataFrame: an array if all cells are numbers or all are bools, else a list."""
        rows = np.arange(self._count) if self._chosen is None else np.array(self._chosen, dtype=np.int64)
        return self._columns[name].values(rows, self._count)
