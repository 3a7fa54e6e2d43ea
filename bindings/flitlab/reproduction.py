"""Published experiments: named, run on demand, compared with their source."""

from __future__ import annotations

import json
from collections.abc import Callable

from flitlab._core import ConfigError

# name -> (one line of help, function returning rows); the machines register theirs here.
EXPERIMENTS: dict[str, tuple[str, Callable[[], list[dict]]]] = {}


def reproduce(*names: str) -> list[dict]:
    """Runs the experiments whose names start with any of ``names`` (all without) and returns their rows.

    Row keys: experiment, quantity, source, setting, published, measured, unit, tolerance, verdict, reading.
    """
    chosen = [e for e in EXPERIMENTS if not names or any(e.startswith(n) for n in names)]
    for name in names:
        if not any(e.startswith(name) for e in EXPERIMENTS):
            known = ", ".join(EXPERIMENTS) or "none are registered in this version"
            raise ConfigError(f"reproduce {name}: there is no such experiment; known: {known}.")
    return [row for e in chosen for row in EXPERIMENTS[e][1]()]


def main(names: list[str], list_only: bool, as_json: bool) -> int:
    if list_only:
        for name, (text, _) in EXPERIMENTS.items():
            print(f"{name:<28} {text}")
        return 0
    rows = reproduce(*names)
    if as_json:
        print(json.dumps(rows))
    else:
        if not rows:
            print("no published experiments are registered in this version")
        for row in rows:
            print(f"{row['verdict']:<8} {row['experiment']:<24} {row['quantity']}: published {row['published']}, "
                  f"measured {row['measured']} {row['unit']}")
    return 1 if any(row["verdict"] == "out" for row in rows) else 0
