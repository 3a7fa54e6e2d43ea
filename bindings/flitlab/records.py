"""What the records say of a router kind: its parameters and totals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flitlab import _core
from flitlab.arguments import did_you_mean


def model_of(kind: str) -> dict:
    """The record of a router kind. Raises ConfigError if there is none, as a file of another version may have it."""
    models = {m["kind"]: m for m in _core.models()}
    if kind not in models:
        raise _core.ConfigError(f"router.kind = {kind!r}: there is none of that name; there are {', '.join(models)}."
                                f"{did_you_mean(kind, models)}")
    return models[kind]


def common_parameters() -> list[dict]:
    """Parameters that are not one model's own."""
    own = {(p["path"], str(p["default"]), p["help"]) for model in _core.models() for p in model["parameters"]}
    return [p for p in _core.parameters() if (p["path"], str(p["default"]), p["help"]) not in own]


def parameters_of(kind: str) -> dict[str, dict]:
    """Records by path, as they are for networks of this kind. Several models have a parameter of the same path."""
    return {p["path"]: p for p in [*common_parameters(), *model_of(kind)["parameters"]]}


def totals_of(kind: str) -> list[dict]:
    """What networks of this kind count, common totals first."""
    return [*_core.common_totals(), *model_of(kind)["totals"]]


def with_unit(record: dict) -> str:
    """The help of a parameter or total, and its unit."""
    return f"{record['help']} ({record['unit']})" if record["unit"] else record["help"]


def applies(record: dict, values: Mapping[str, Any]) -> bool:
    """Whether the conditions of a parameter hold, such as ``topology.kind=mesh|torus&traffic.mode!=trace``."""
    for condition in filter(None, record["only_if"].split("&")):
        key, _, words = condition.partition("=")
        value = str(values.get(key.removesuffix("!"), ""))
        if (value.lower() in words.split("|")) == key.endswith("!"):
            return False
    return True
