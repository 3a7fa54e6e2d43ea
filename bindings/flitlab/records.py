"""Access to the records of router kinds: their parameters and totals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flitlab import _core
from flitlab.arguments import did_you_mean


def model_of(kind: str) -> dict:
    """Returns the record of a router kind. Raises ConfigError for an unknown kind, such as one of another version."""
    models = {m["kind"]: m for m in _core.models()}
    if kind not in models:
        raise _core.ConfigError(f"router.kind = {kind!r}: there is no such kind; kinds are {', '.join(models)}."
                                f"{did_you_mean(kind, models)}")
    return models[kind]


def common_parameters() -> list[dict]:
    """Returns the records of the parameters that are common to all models."""
    own = {(p["path"], str(p["default"]), p["help"]) for model in _core.models() for p in model["parameters"]}
    return [p for p in _core.parameters() if (p["path"], str(p["default"]), p["help"]) not in own]


def parameters_of(kind: str) -> dict[str, dict]:
    """Returns path -> parameter record for a router kind. A path may have different records in different models."""
    return {p["path"]: p for p in [*common_parameters(), *model_of(kind)["parameters"]]}


def totals_of(kind: str) -> list[dict]:
    """Returns the records of the totals of a router kind, common totals first."""
    return [*_core.common_totals(), *model_of(kind)["totals"]]


def result_columns() -> dict[str, dict]:
    """Returns name -> record (unit, meaning, type) of each value of a result; a part has a name such as
    ``latency_cycles.mean``."""
    columns = {}
    for column in _core.tables()["result"]:
        columns[column["name"]] = column
        columns |= {f"{column['name']}.{part['name']}": part for part in column.get("columns", ())}
    return columns


def with_unit(record: dict) -> str:
    """Returns the help of a parameter or total with its unit."""
    return f"{record['help']} ({record['unit']})" if record["unit"] else record["help"]


def applies(record: dict, values: Mapping[str, Any]) -> bool:
    """Returns whether the conditions of a parameter hold, such as ``topology.kind=mesh|torus&traffic.mode!=trace``. A
    condition on several keys, ``a.key|b.list=one``, holds if one of them has the value or contains it; with ``!=``, if
    one of them has another value."""
    for condition in filter(None, record["only_if"].split("&")):
        keys, _, words = condition.partition("=")
        given = [values.get(key, "") for key in keys.removesuffix("!").split("|")]
        present = [word for value in given
                   for word in (f"{value:g}" if isinstance(value, float) else str(value).lower()).split(",")]
        if not any((word in words.split("|")) != keys.endswith("!") for word in present):
            return False
    return True
