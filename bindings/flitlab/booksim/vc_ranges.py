"""Ranges of virtual channels of BookSim's types of packets."""

from __future__ import annotations

from typing import Any

from flitlab._core import ConfigError
from flitlab.booksim.defaults import DEFAULTS
from flitlab.booksim.settings import Settings

TYPES = ("read_request", "write_request", "read_reply", "write_reply")


def vcs_of_type(settings: Settings, name: str, vcs: int) -> tuple[int, int]:
    """Returns the first and the last virtual channel of a type. BookSim takes half of them for a negative number."""
    half, last = (0, vcs // 2 - 1) if name.endswith("request") else (vcs // 2, vcs - 1)
    given = [settings.whole(f"{name}_{end}_vc", -999999999) for end in ("begin", "end")]
    first, end = (default if number < 0 else number for number, default in zip(given, (half, last), strict=True))
    if not first <= end < vcs:
        raise ConfigError(f"{settings.called}: {name}_begin_vc = {first}, {name}_end_vc = {end} are wrong: give two "
                          f"numbers from 0 to num_vcs - 1 = {vcs - 1}, the smaller one first.")
    return first, end


def values_of(ranges: list[tuple[int, int]]) -> dict[str, Any]:
    """Returns flitlab's parameters that give each class of packets a range."""
    return {"traffic.class_vcs": "ranges", "traffic.class_first_vc": [first for first, _ in ranges],
            "traffic.class_last_vc": [last for _, last in ranges]}


def classes_of_types(settings: Settings, network: dict[str, Any]) -> dict[str, Any]:
    """Returns parameters that make a class of packets of each type, for packets from a simulator. Nothing if all types
    have all virtual channels. ``network``: flitlab's parameters. Raises ConfigError."""
    vcs = settings.whole("num_vcs", 1)
    names = [f"{name}_{end}_vc" for name in TYPES for end in ("begin", "end")]
    by_default = all(settings.value(name) in DEFAULTS[name] for name in names)
    settings.use(*names)
    # The routes of a dragonfly in BookSim do not look at types. The default ranges are made for 16 virtual channels.
    if settings["topology"] == "dragonflynew" or (by_default and vcs < 16):
        return {}
    ranges = [vcs_of_type(settings, name, vcs) for name in TYPES]
    if network["topology.kind"] != "mesh" or network["routing.algorithm"] != "dimension_order":
        ranges = _joined(ranges)
    return {} if set(ranges) == {(0, vcs - 1)} else {"traffic.classes": len(TYPES)} | values_of(ranges)


def _joined(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Joins ranges that overlap. Routes that divide each range against deadlock need ranges that are equal or have
    nothing in common."""
    for first, last in ranges:
        over = [r for r in ranges if r[0] <= last and first <= r[1]]
        both = min(r[0] for r in over), max(r[1] for r in over)
        ranges = [both if r in over else r for r in ranges]
    return ranges
