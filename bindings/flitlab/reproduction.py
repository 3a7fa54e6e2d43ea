"""Published experiments: named, run on demand, compared with their source."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import import_module

from flitlab._core import ConfigError

MACHINES = ["t3e", "t3e_manual", "t3e_faults"]  # modules of flitlab.published


def row(experiment: str, quantity: str, source: str, setting: str, published: float | None, measured: float,
        unit: str, tolerance: float, lower_is_better: bool = False, higher_is_better: bool = False,
        reading: str = "") -> dict:
    """One comparison. tolerance: absolute, in the unit. verdict: match, better or out; skipped if the source gives
    nothing to compare with (published None; the reading says so)."""
    difference = measured - (published or 0)
    if published is None:
        verdict = "skipped"
    elif abs(difference) <= tolerance * (1 + 1e-9):  # 0.0625 is 0.063 in three decimals
        verdict = "match"
    else:
        verdict = "better" if (lower_is_better and difference < 0) or (higher_is_better and difference > 0) else "out"
    return {
        "experiment": experiment, "quantity": quantity, "source": source, "setting": setting, "published": published,
        "measured": measured, "unit": unit, "tolerance": tolerance, "verdict": verdict, "reading": reading,
    }


def experiments() -> dict[str, tuple[str, Callable[[], list[dict]]]]:
    """Every published experiment: name -> (one line of help, function returning rows)."""
    return {name: entry for machine in MACHINES
            for name, entry in import_module(f"flitlab.published.{machine}").EXPERIMENTS.items()}


def reproduce(*names: str) -> list[dict]:
    """Runs the experiments whose names start with any of ``names`` (all without) and returns their rows.

    Row keys: experiment, quantity, source, setting, published, measured, unit, tolerance, verdict, reading.
    """
    known = experiments()
    for name in names:
        if not any(e.startswith(name) for e in known):
            raise ConfigError(f"reproduce {name}: there is no such experiment; known: {', '.join(known)}.")
    return [line for e, (_, run) in known.items() if not names or any(e.startswith(n) for n in names) for line in run()]


def published(line: dict) -> str:
    return "" if line["published"] is None else f"published {line['published']:g}, "


def main(names: list[str], list_only: bool, as_json: bool) -> int:
    if list_only:
        for name, (text, _) in experiments().items():
            print(f"{name:<28} {text}")
        return 0
    rows = reproduce(*names)
    if as_json:
        print(json.dumps(rows))
    else:
        readings: dict[str, None] = {}  # of the present experiment, in the order in which they come up
        for number, line in enumerate(rows):
            print(f"{line['verdict']:<8} {line['experiment']:<16} {line['setting']:<22} {line['quantity']:<42} "
                  f"{published(line)}measured {line['measured']:.4g} {line['unit']}".rstrip())
            if line["reading"]:
                readings[line["reading"]] = None
            if number + 1 == len(rows) or rows[number + 1]["experiment"] != line["experiment"]:
                for reading in readings:
                    print(f"         {line['experiment']:<16} read as: {reading}")
                readings = {}
        verdicts = [line["verdict"] for line in rows]
        print(", ".join(f"{verdicts.count(v)} {v}" for v in ("match", "better", "out", "skipped") if v in verdicts))
    return 1 if any(line["verdict"] == "out" for line in rows) else 0
