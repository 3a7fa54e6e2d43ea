"""Rows of a curve: the columns that the result of a run has in a sweep's table."""

from __future__ import annotations

import json
from typing import Any

from flitlab._core import VERDICTS

# Columns of a curve -> names of the values in a result.
RESULT_COLUMNS = {
    "offered": "offered", "accepted": "accepted", "verdict": "verdict", "saturated": "saturated",
    **{f"latency_{part}": f"latency_cycles.{part}" for part in ("mean", "ci95", "p50", "p95", "p99", "max")},
    "network_latency_mean": "network_latency_cycles.mean", "hops_mean": "hops_mean",
    "channel_use_mean": "channel_utilization.mean", "channel_use_max": "channel_utilization.max",
    "packets_delivered": "packets.delivered", "warmup_steady": "warmup_steady", "window_capped": "window_capped",
    "cycles": "cycles", "state_hash": "state_hash",
}


def row_of(setting: dict[str, Any], result: dict[str, Any]) -> dict[str, Any]:
    """Returns the row of a result: the varied parameters, ``RESULT_COLUMNS``, and the model's own values."""
    def value(head: str, _: str = "", part: str = "") -> Any:
        return result[head][part] if part else result[head]

    row = {k: str(v) if isinstance(v, (list, tuple)) else v for k, v in setting.items()}
    special = {f"model.{k}": v for k, v in sorted(result["model"].items())}
    return row | {column: value(*name.partition(".")) for column, name in RESULT_COLUMNS.items()} | special


def is_result(result: Any) -> bool:
    """Returns whether the values of a row have the right types. Raises KeyError or TypeError if a value is missing."""
    row = row_of({}, result)
    return (isinstance(row.pop("state_hash"), str) and row.pop("verdict") in VERDICTS
            and all(value is None or isinstance(value, (int, float)) for value in row.values()))


class SharedConfigs:
    """Maps dictionaries of equal contents to the same object, so that rows share it."""

    def __init__(self) -> None:
        self._known: dict[str, dict[str, Any]] = {}

    def __call__(self, config: dict[str, Any]) -> dict[str, Any]:
        return self._known.setdefault(json.dumps(config, sort_keys=True, default=str), config)
