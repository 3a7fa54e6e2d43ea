"""Rows of a curve: the columns that the result of a run has in a sweep's table."""

from __future__ import annotations

import json
from typing import Any

from flitlab._core import VERDICTS

COLUMNS = [
    "offered", "accepted", "verdict", "saturated", "latency_mean", "latency_ci95", "latency_p50", "latency_p95",
    "latency_p99", "latency_max", "network_latency_mean", "hops_mean", "channel_use_mean", "channel_use_max",
    "packets_delivered", "warmup_steady", "window_capped", "cycles", "state_hash",
]


def row_of(setting: dict[str, Any], result: dict[str, Any]) -> dict[str, Any]:
    """Returns the row of a result: the varied parameters, ``COLUMNS``, and the model's own values."""
    latency, packets = result["latency_cycles"], result["packets"]
    values = [
        result["offered"], result["accepted"], result["verdict"], result["saturated"], latency["mean"], latency["ci95"],
        latency["p50"], latency["p95"], latency["p99"], latency["max"], result["network_latency_cycles"]["mean"],
        result["hops_mean"], result["channel_utilization"]["mean"], result["channel_utilization"]["max"],
        packets["delivered"], result["warmup_steady"], result["window_capped"], result["cycles"], result["state_hash"],
    ]
    row = {k: str(v) if isinstance(v, (list, tuple)) else v for k, v in setting.items()}
    special = {f"model.{k}": v for k, v in sorted(result["model"].items())}
    return row | dict(zip(COLUMNS, values, strict=True)) | special


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
