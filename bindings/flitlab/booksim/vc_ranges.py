"""Ranges of virtual channels of BookSim's types of packets."""

from __future__ import annotations

from typing import Any

from flitlab._core import ConfigError
from flitlab.booksim.settings import Settings
from flitlab.compiled import TABLE

TYPES = ("read_request", "write_request", "read_reply", "write_reply")
# The parameters of these ranges.
TYPE_RANGES = [f"{name}_{end}_vc" for name in TYPES for end in ("begin", "end")]
# The parameters that have an effect only with use_read_write.
OF_REPLIES = ["write_fraction", *TYPE_RANGES, *(f"{name}_size" for name in TYPES)]


def vcs_of_type(settings: Settings, name: str, vcs: int) -> tuple[int, int]:
    """Returns the first and the last virtual channel of a type. BookSim takes half of them for a negative number."""
    half, last = (0, vcs // 2 - 1) if name.endswith("request") else (vcs // 2, vcs - 1)
    given = [settings.whole(f"{name}_{end}_vc", -999999999) for end in ("begin", "end")]
    first, end = (default if number < 0 else number for number, default in zip(given, (half, last), strict=True))
    if not first <= end < vcs:
        raise ConfigError(f"{settings.called}: {name}_begin_vc = {first}, {name}_end_vc = {end} are wrong: give two "
                          f"numbers from 0 to num_vcs - 1 = {vcs - 1}, the smaller one first. BookSim's defaults are "
                          "for 16 virtual channels.")
    return first, end


def range_parameters(ranges: list[tuple[int, int]]) -> dict[str, Any]:
    """Returns flitlab's parameters that give each class of packets a range."""
    return {"traffic.class_vcs": "ranges", "traffic.class_first_vc": [first for first, _ in ranges],
            "traffic.class_last_vc": [last for _, last in ranges]}


def classes_of_types(settings: Settings, network: dict[str, Any]) -> dict[str, Any]:
    """Returns parameters that make a class of packets of each type, for packets from a simulator. Nothing if all types
    have all virtual channels. ``network``: flitlab's parameters. Raises ConfigError."""
    vcs = settings.whole("num_vcs", 1)
    by_default = not any(settings.differs(name) for name in TYPE_RANGES)
    settings.use(*TYPE_RANGES)
    # The routes of a dragonfly in BookSim do not look at types. The default ranges are made for 16 virtual channels.
    if settings["topology"] == "dragonflynew" or (by_default and vcs < 16):
        return {}
    ranges = [vcs_of_type(settings, name, vcs) for name in TYPES]
    if not _has_one_class_of_routes(network):
        ranges = _joined(ranges)
    return {} if set(ranges) == {(0, vcs - 1)} else {"traffic.classes": len(TYPES)} | range_parameters(ranges)


def _has_one_class_of_routes(network: dict[str, Any]) -> bool:
    """Returns whether routes surely do not divide the virtual channels. ``network``: flitlab's parameters."""
    kind = network["topology.kind"]
    return kind == "fat_tree" or TABLE in network or (kind == "mesh" and
                                                      network["routing.algorithm"] == "dimension_order")


def _joined(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Joins ranges that overlap. Routes that divide each range against deadlock need ranges that are equal or have
    nothing in common."""
    for first, last in ranges:
        over = [r for r in ranges if r[0] <= last and first <= r[1]]
        both = min(r[0] for r in over), max(r[1] for r in over)
        ranges = [both if r in over else r for r in ranges]
    return ranges
