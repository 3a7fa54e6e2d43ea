"""Writes bindings/flitlab/columns.py: the columns of results, events and inspected items as declarations for type
checkers and editors. The core declares the columns (FLITLAB_COLUMNS) and describes them (_core.tables()).

    .venv/bin/python tests/tools/typed_columns.py

tests/docs/test_columns.py compares the file with the core.
"""

import textwrap
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from flitlab import _core

FILE = Path(__file__).resolve().parents[2] / "bindings/flitlab/columns.py"
HEAD = '''"""Columns of results, events and inspected items, with their types.

tests/tools/typed_columns.py writes this file from the core's tables; do not edit it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypedDict, overload

from flitlab.nested import Model, Record

if TYPE_CHECKING:
    from typing import NotRequired  # Python 3.11

    from flitlab.channels import Channels'''
# Columns of a result that have parts -> class of the parts.
PARTS = {"latency_cycles": "Latency", "network_latency_cycles": "Latency", "packets": "Packets",
         "window_packets": "WindowPackets", "channel_utilization": "Use", "model": "Model"}
# Tables of inspected items -> class of their rows.
ITEMS = {"virtual channel": "VirtualChannelColumns", "port": "PortColumns", "terminal": "TerminalColumns"}
WIDTH = 120


def type_of(column: dict) -> str:
    return PARTS.get(column["name"], "dict[str, Any]") if column["type"] == "dict" else column["type"]


def meaning(column: dict) -> str:
    return f"{column['unit']}: {column['meaning']}" if column["unit"] else column["meaning"]


def members(columns: list[dict]) -> Iterator[str]:
    """Yields the members of a class, each below a comment with its unit and meaning."""
    for column in columns:
        yield from textwrap.wrap(meaning(column), WIDTH, initial_indent="    # ", subsequent_indent="    # ")
        yield f"    {column['name']}: {type_of(column)}"


def parts(columns: list[dict]) -> Iterator[str]:
    """Yields the classes of the columns that have parts."""
    for name, group in groupby((c for c in columns if "columns" in c), key=type_of):
        first = next(group)
        yield f'\n\nclass {name}(Record):\n    """{first["meaning"][0].upper()}{first["meaning"][1:]}."""\n'
        yield from members(first["columns"])


def overloads(columns: list[dict]) -> Iterator[str]:
    """Yields overloads of ``__getitem__``: the types of result["accepted"] and of nested names."""
    typed = [(column["name"], type_of(column)) for column in columns]
    typed += [(f"{c['name']}.{part['name']}", part["type"]) for c in columns for part in c.get("columns", ())]
    types = dict.fromkeys(t for _, t in typed)
    for result in types:
        names = ", ".join(f'"{name}"' for name, t in typed if t == result)
        yield "    @overload"
        line = f"    def __getitem__(self, name: Literal[{names}]) -> {result}: ..."
        if len(line) <= WIDTH:
            yield line
            continue
        yield "    def __getitem__(self, name: Literal["
        yield from textwrap.wrap(names, WIDTH, initial_indent=" " * 8, subsequent_indent=" " * 8)
        yield f"    ]) -> {result}: ..."
    yield """    @overload
    def __getitem__(self, name: Literal["channels"]) -> Channels: ...
    @overload
    def __getitem__(self, name: str) -> Any: ...
    def __getitem__(self, name: str) -> Any:
        return super().__getitem__(name)"""


def text() -> str:
    """Returns the text of the file."""
    tables = _core.tables()
    # Result.channels is a property that has the number and more.
    result = [column for column in tables["result"] if column["name"] != "channels"]
    names = textwrap.wrap(", ".join(f'"{c}": {t}' for c, t in PARTS.items()), WIDTH - 14, subsequent_indent=" " * 14)
    event = [column | {"type": "NotRequired[int]"} if column["type"] == "int | None" else column
             for column in tables["event"]]
    lines = [HEAD, *parts(result),
             '\n\nclass ResultColumns(Record):\n    """Values of a result."""\n',
             "    _parts = {" + "\n".join(names) + "}\n", *members(result), "", *overloads(result),
             '\n\nclass Event(TypedDict):\n    """An event of a traced network."""\n', *members(event)]
    for table, name in ITEMS.items():
        lines += [f'\n\n@dataclass(frozen=True)\nclass {name}:\n    """State of a {table}."""\n',
                  *members(tables[table])]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    FILE.write_text(text())
