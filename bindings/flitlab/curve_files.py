"""Reading and writing curves: CSV and Parquet files, folders of sweeps, xarray datasets."""

from __future__ import annotations

import csv
import itertools
import json
import os
import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from flitlab._core import VERDICTS, ConfigError, __version__
from flitlab.arguments import check_path, is_number, shown, writing
from flitlab.curve_rows import RESULT_COLUMNS, SharedConfigs, is_result
from flitlab.journal import entry_of
from flitlab.kept import InFolder, Results, lines_of
from flitlab.records import parameters_of, result_columns
from flitlab.rows import Rows
from flitlab.sweep_file import Plan, read_plan

if TYPE_CHECKING:
    from flitlab.curve import Curve
    from flitlab.result import Result

_RECORDS = {column: result_columns()[name] for column, name in RESULT_COLUMNS.items()}
UNITS = {column: record["unit"] for column, record in _RECORDS.items() if record["unit"]}
_TRUTHS = {column for column, record in _RECORDS.items() if record["type"] == "bool"}
_NUMBERS = {column for column, record in _RECORDS.items() if record["type"].startswith(("int", "float"))}
# Columns that are None unless the verdict is "steady".
_OPTIONAL = {column for column in _NUMBERS if "None" in _RECORDS[column]["type"]}


class Table(NamedTuple):
    """The contents of a file or a sweep's folder, from which ``Curve.read`` makes a curve."""

    keys: list[str]
    rows: Rows
    name: str
    configs: Sequence[dict[str, Any]]
    results: Sequence[Result] | None = None  # None: they are not stored
    plan: Plan | None = None  # arguments of the sweep, if its folder has them


def read(path: str | os.PathLike) -> Table:
    """Reads a sweep's folder, or a file of ``Curve.to_csv`` or ``Curve.to_parquet``. Raises ConfigError."""
    check_path(f"Curve.read({shown(path)})", path, "a sweep's folder, or a CSV or Parquet file")
    path = Path(path)
    if path.is_dir():
        return _read_folder(path)
    if path.suffix == ".parquet":
        return _read_parquet(path)
    return _read_csv(path, path.stem)


def _read_folder(folder: Path) -> Table:
    if not (folder / "curve.csv").exists():
        found = (folder / "points.jsonl").exists()
        raise ConfigError(f"{folder} has no curve.csv" + (
            ": its sweep is unfinished; continue it with resume." if found else ", so it is not the folder of a "
                                                                                "sweep."))
    table = _read_csv(folder / "curve.csv", folder.resolve().name)._replace(plan=read_plan(folder))
    journal, shared = folder.resolve() / "points.jsonl", SharedConfigs()
    by_hash: dict[str, list[tuple[int, list[str], dict[str, Any]]]] = {}
    for offset, line in lines_of(journal) if journal.exists() else ():
        if (entry := entry_of(line, is_result)) and isinstance(config := entry[1].get("config"), dict):
            varied = [str(config.get(key)) for key in table.keys]
            fixed = shared({path: value for path, value in config.items() if path not in (*table.keys, "run.seed")})
            by_hash.setdefault(entry[1]["state_hash"], []).append((offset, varied, fixed))
    if all(state in by_hash for (state,) in table.rows.pick("state_hash")):
        found = [_fitting(row, table.keys, by_hash[row["state_hash"]]) for row in table.rows]
        offsets = array("q", (offset for offset, _, _ in found))
        return table._replace(configs=[fixed for _, _, fixed in found],
                              results=Results(InFolder(journal), offsets, table.rows))
    return table


def _fitting(row: dict[str, Any], keys: list[str],
             candidates: list[tuple[int, list[str], dict[str, Any]]]) -> tuple[int, list[str], dict[str, Any]]:
    """Returns the candidate that belongs to a row of the table: the one that agrees with the row in most of the varied
    parameters. Candidates: (offset in the journal, values of the varied parameters, other parameters), all with the
    row's state hash."""
    return min(candidates, key=lambda c: sum(have != str(row[key]) for key, have in zip(keys, c[1], strict=True)))


def _read_csv(path: Path, name: str) -> Table:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:  # Excel writes a byte-order mark
            lines = csv.DictReader(file, strict=True)
            columns = list(lines.fieldnames or ())
            _check_columns(path, columns)
            return _table(path, columns, _csv_rows(path, lines, len(columns)), name, _keys_of(columns))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = error.strerror if isinstance(error, OSError) else f"it is not a CSV file ({error})"
        raise ConfigError(f"{path} cannot be read: {reason}.") from None


def _csv_rows(path: Path, lines: csv.DictReader, columns: int) -> Iterator[dict[str, Any]]:
    for line in lines:
        where = f"{path}:{lines.line_num}"
        if None in line or None in line.values():  # None as key: too many cells; as value: missing cells
            raise ConfigError(f"{where} is damaged: the number of cells is not {columns}, the number of columns.")
        row = {name: text if name == "state_hash" else _value(text) for name, text in line.items()}
        _check_row(where, row)
        yield row


def _check_columns(path: Path, columns: list[str]) -> None:
    wanted = ["run.seed", *RESULT_COLUMNS]
    if missing := [name for name in [*RESULT_COLUMNS, "run.seed"] if name not in columns]:
        raise ConfigError(f"{path} is not the table of a sweep: it has no column {missing[0]}.")
    if [name for name in columns if name in wanted] != wanted:
        raise ConfigError(f"{path} is not the table of a sweep: its columns must be in the order "
                          f"{', '.join(wanted)}.")


def _check_row(where: str, row: dict[str, Any]) -> None:
    """Raises ConfigError for cells of the wrong type, which would otherwise cause errors in later computations."""
    numbers = _NUMBERS | ({"traffic.load", "run.seed"} & set(_varied_columns(list(row))))
    for name, value in row.items():
        if name in _TRUTHS and not isinstance(value, bool):
            must = "True or False"
        elif name in numbers and not is_number(value) and not (value is None and name in _OPTIONAL):
            must = "a number"
        elif name == "verdict" and value not in VERDICTS:
            must = f"one of {', '.join(VERDICTS)}"
        elif name == "state_hash" and not (isinstance(value, str) and re.fullmatch("[0-9a-f]{16}", value)):
            must = "16 hexadecimal digits"
        else:
            continue
        raise ConfigError(f"{where} is damaged: {name} = {shown(value)}, but it must be {must}.")


def _varied_columns(columns: list[str]) -> list[str]:
    """Returns the varied keys and run.seed: the columns before the first result."""
    return columns[: columns.index(next(iter(RESULT_COLUMNS)))]


def _keys_of(columns: list[str]) -> list[str]:
    return [key for key in _varied_columns(columns) if key != "run.seed"] or ["run.seed"]


def _table(path: Path, columns: list[str], lines: Iterable[dict[str, Any]], name: str, keys: list[str]) -> Table:
    """Returns a table of rows. Columns after the results, except model.*, belong to the configuration."""
    of_config = {c for c in columns[columns.index(next(reversed(RESULT_COLUMNS))) + 1 :] if not c.startswith("model.")}
    rows, configs, shared = Rows(), [], SharedConfigs()
    for row in lines:
        rows.append({c: value for c, value in row.items()
                     if c not in of_config and not (c.startswith("model.") and value is None)})
        if of_config:
            configs.append(shared({c: row[c] for c in columns if c in of_config and row[c] is not None}))
    if not rows:
        raise ConfigError(f"{path} has the header of a sweep's table but no rows.")
    return Table(keys, rows, name, configs)


def _value(text: str) -> Any:
    """Returns the value that a cell was written from: None, a bool, a number or text."""
    if text in ("", "True", "False"):
        return {"True": True, "False": False}.get(text)
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def _optional(name: str, what: str) -> Any:
    """Returns an optional package. Raises ConfigError, with the command to install it, if it is missing."""
    from importlib import import_module

    try:
        return import_module(name)
    except ModuleNotFoundError:
        raise ConfigError(f"{what} needs {name.partition('.')[0]}: pip install 'flitlab[results]'.") from None


def write_parquet(curve: Curve, path: str | os.PathLike) -> None:
    """Implements ``Curve.to_parquet``."""
    arrow, parquet = _optional("pyarrow", "to_parquet"), _optional("pyarrow.parquet", "to_parquet")
    columns = {}
    for name in curve.table_columns(configuration=True):
        cells = curve.cells(name)
        kinds = {type(c) for c in cells if c is not None}
        if len(kinds - {int, float}) + bool(kinds & {int, float}) > 1:
            cells = [None if c is None else str(c) for c in cells]  # numbers mixed with strings such as "auto"
        elif float in kinds:
            cells = [None if c is None else float(c) for c in cells]
        columns[name] = cells
    about = {"version": __version__, "keys": curve.keys, "name": curve.name}
    table = arrow.table(columns).replace_schema_metadata({"flitlab": json.dumps(about)})
    with writing("to_parquet", path):
        parquet.write_table(table, os.fspath(path))


def _read_parquet(path: Path) -> Table:
    arrow, parquet = _optional("pyarrow", f"reading {path}"), _optional("pyarrow.parquet", f"reading {path}")
    try:
        table = parquet.read_table(path)
    except (OSError, arrow.ArrowException) as error:
        raise ConfigError(f"{path} cannot be read: {str(error).splitlines()[0]}") from None
    columns = table.column_names
    _check_columns(path, columns)
    about = _about(table.schema.metadata or {})
    keys = [key for key in about.get("keys", ()) if key in columns]
    return _table(path, columns, _parquet_rows(path, table), about.get("name", path.stem), keys or _keys_of(columns))


def _parquet_rows(path: Path, table: Any) -> Iterator[dict[str, Any]]:
    batches = (batch.to_pylist() for batch in table.to_batches(max_chunksize=1000))
    for number, row in enumerate(itertools.chain.from_iterable(batches), 1):
        _check_row(f"{path}, row {number},", row)
        yield row


def _about(metadata: dict[bytes, bytes]) -> dict[str, Any]:
    """Returns the metadata that ``write_parquet`` stores; {} for a table of another program."""
    try:
        about = json.loads(metadata.get(b"flitlab", b"{}"))
    except ValueError:
        return {}
    return about if isinstance(about, dict) else {}


def dataset(curve: Curve) -> Any:
    """Implements ``Curve.to_xarray``."""
    _optional("xarray", "to_xarray")
    where = list(dict.fromkeys([*curve.keys, "run.seed"]))
    frame = curve.frame.drop_duplicates(where).set_index(where)
    data = frame.to_xarray()
    units = {path: record["unit"] for path, record in parameters_of(curve.kind).items()} if curve.kind else {}
    for name in data.variables:
        if unit := {**units, **UNITS}.get(str(name)):
            data[name].attrs["units"] = unit
    first = dict(curve.configs[0]) if curve.configs else {}
    distinct = list({id(c): c for c in curve.configs}.values())
    data.attrs = {"name": curve.name, "flitlab": __version__} | {
        path: str(value) for path, value in first.items() if all(c.get(path) == value for c in distinct)}
    return data
