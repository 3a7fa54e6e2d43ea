"""Curves in files and in other libraries' tables: CSV, Parquet, folders of sweeps, xarray."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from flitlab._core import ConfigError, __version__
from flitlab.curve import COLUMNS, Curve, is_result
from flitlab.journal import entry_of
from flitlab.records import parameters_of

UNITS = {name: "flits/cycle/terminal" for name in ("offered", "accepted")} | {
    name: "cycles" for name in COLUMNS if "latency" in name or name == "cycles"} | {
    "hops_mean": "hops", "channel_use_mean": "flits/cycle", "channel_use_max": "flits/cycle",
    "packets_delivered": "packets"}


def read(path: Path) -> Curve:
    """``Curve.read``."""
    if path.is_dir():
        return _read_folder(path)
    if path.suffix == ".parquet":
        return _read_parquet(path)
    return _read_csv(path, path.stem)


def _read_folder(folder: Path) -> Curve:
    if not (folder / "curve.csv").exists():
        found = (folder / "points.jsonl").exists()
        raise ConfigError(f"{folder} has no curve.csv" + (
            ": its sweep has not come to an end; go on with resume." if found else ", as the folder of a sweep has."))
    curve = _read_csv(folder / "curve.csv", folder.resolve().name)
    by_hash: dict[str, list[dict[str, Any]]] = {}
    journal = folder / "points.jsonl"
    for line in journal.open(encoding="utf-8", errors="replace") if journal.exists() else ():
        if entry := entry_of(line, is_result):
            by_hash.setdefault(entry[1]["state_hash"], []).append(entry[1]["config"])
    if all(row["state_hash"] in by_hash for row in curve.rows):
        configs = [_config_of(row, curve.keys, by_hash[row["state_hash"]]) for row in curve.rows]
        curve = Curve.of_rows(curve.keys, curve.rows, curve.name, configs)
    return curve


def _config_of(row: dict[str, Any], keys: list[str], candidates: list[dict[str, Any]]) -> dict[str, Any]:
    """What was not varied, of the candidate that fits the row best."""
    config = min(candidates, key=lambda c: sum(str(c.get(key)) != str(row[key]) for key in keys))
    return {path: value for path, value in config.items() if path not in row}


def _read_csv(path: Path, name: str) -> Curve:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            lines = list(csv.DictReader(file, strict=True))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = error.strerror if isinstance(error, OSError) else f"it is not a CSV file ({error})"
        raise ConfigError(f"{path} cannot be read: {reason}.") from None
    columns = list(lines[0]) if lines else []
    _check_columns(path, columns)
    rows = [{name: text if name == "state_hash" else _value(text or "") for name, text in line.items() if name}
            for line in lines]
    return _curve(columns, rows, name, _keys_of(columns))


def _check_columns(path: Path, columns: list[str]) -> None:
    if missing := [name for name in COLUMNS if name not in columns]:
        raise ConfigError(f"{path} is not the table of a sweep: it has no column {missing[0]}.")


def _keys_of(columns: list[str]) -> list[str]:
    """What was varied is before the first result."""
    before = columns[: columns.index("offered")]
    return [key for key in before if key != "run.seed"] or before


def _curve(columns: Iterable[str], rows: list[dict[str, Any]], name: str, keys: list[str]) -> Curve:
    """Of a table's rows, in which a column behind the results is of the configuration."""
    columns = list(columns)
    of_config = [c for c in columns[columns.index(COLUMNS[-1]) + 1 :] if not c.startswith("model.")]
    results = [c for c in columns if c not in of_config]
    configs = [{c: row[c] for c in of_config if row[c] is not None} for row in rows] if of_config else []
    kept = [{c: row[c] for c in results if not (c.startswith("model.") and row[c] is None)} for row in rows]
    return Curve.of_rows(keys, kept, name, configs)


def _value(text: str) -> Any:
    """A cell of a table as it was: None, a truth value, a number or text."""
    if text in ("", "True", "False"):
        return {"True": True, "False": False}.get(text)
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def _wanted(name: str, what: str) -> Any:
    """An optional package. Raises ConfigError with how to install it."""
    from importlib import import_module

    try:
        return import_module(name)
    except ModuleNotFoundError:
        raise ConfigError(f"{what} needs {name.partition('.')[0]}: pip install 'flitlab[results]'.") from None


def write_parquet(curve: Curve, path: str | os.PathLike) -> None:
    """``Curve.to_parquet``."""
    arrow, parquet = _wanted("pyarrow", "to_parquet"), _wanted("pyarrow.parquet", "to_parquet")
    rows = curve.table_rows(configuration=True)
    columns = {}
    for name in dict.fromkeys(name for row in rows for name in row):
        cells = [row.get(name) for row in rows]
        kinds = {type(c) for c in cells if c is not None}
        if len(kinds - {int, float}) + bool(kinds & {int, float}) > 1:
            cells = [None if c is None else str(c) for c in cells]  # a number, and "auto"
        elif float in kinds:
            cells = [None if c is None else float(c) for c in cells]
        columns[name] = cells
    about = {"version": __version__, "keys": curve.keys, "name": curve.name}
    table = arrow.table(columns).replace_schema_metadata({"flitlab": json.dumps(about)})
    parquet.write_table(table, os.fspath(path))


def _read_parquet(path: Path) -> Curve:
    arrow, parquet = _wanted("pyarrow", f"reading {path}"), _wanted("pyarrow.parquet", f"reading {path}")
    try:
        table = parquet.read_table(path)
    except (OSError, arrow.ArrowException) as error:
        raise ConfigError(f"{path} cannot be read: {str(error).splitlines()[0]}") from None
    about = json.loads((table.schema.metadata or {}).get(b"flitlab", b"{}"))
    _check_columns(path, table.column_names)
    return _curve(table.column_names, table.to_pylist(), about.get("name", path.stem),
                  about.get("keys") or _keys_of(table.column_names))


def dataset(curve: Curve) -> Any:
    """``Curve.to_xarray``."""
    _wanted("xarray", "to_xarray")
    where = list(dict.fromkeys([*curve.keys, "run.seed"]))
    frame = curve.frame.drop_duplicates(where).set_index(where)
    data = frame.to_xarray()
    units = {path: record["unit"] for path, record in parameters_of(curve.kind).items()} if curve.kind else {}
    for name in data.variables:
        if unit := {**units, **UNITS}.get(str(name)):
            data[name].attrs["units"] = unit
    first = dict(curve.configs[0]) if curve.configs else {}
    data.attrs = {"name": curve.name, "flitlab": __version__} | {
        path: str(value) for path, value in first.items() if all(c.get(path) == value for c in curve.configs)}
    return data
