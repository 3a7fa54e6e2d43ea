"""sweep.json: the arguments of a sweep, in its folder. It lists the sweep's runs, and says whether it has finished."""

from __future__ import annotations

import itertools
import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from flitlab.journal import write_anew
from flitlab.refinement import Adaptive

NAME = "sweep.json"


@dataclass(frozen=True)
class Plan:
    """The arguments of a sweep. over: values by dotted path. seeds: of each point; [] if run.seed is in ``over``."""

    over: dict[str, list[Any] | Adaptive]
    seeds: list[int]
    until: float | None = None
    most_seeds: int = 0
    finished: bool = True
    version: str = ""  # of flitlab; "" if it is unknown
    folder: Path | None = field(default=None, compare=False)

    def settings(self) -> list[dict[str, Any]]:
        """Returns the settings of the runs that are known before the sweep starts. Adaptive loads and ``until`` add
        others."""
        return combinations({key: values.first() if isinstance(values, Adaptive) else values
                             for key, values in self.over.items()}, self.seeds)

    def grows(self) -> bool:
        """Returns whether the sweep may add runs to ``settings``."""
        return self.until is not None or any(isinstance(values, Adaptive) for values in self.over.values())

    def command(self, config: str, out: str) -> str:
        """Returns the command line that repeats the sweep; the call in Python if the seeds are not consecutive, because
        the command line has no list of seeds."""
        first = self.seeds[0] if self.seeds else 0
        if self.seeds != list(range(first, first + len(self.seeds))):
            return self._call(config, out)
        words = ["flitlab", "sweep", config]
        for key, values in self.over.items():
            words += ["--over", f"{key}={_values_text(values)}"]
        words += ["--set", f"run.seed={first}"] if self.seeds else []
        words += ["--seeds", str(len(self.seeds))] if len(self.seeds) > 1 else []
        words += [] if self.until is None else ["--until", f"{self.until:g}", "--most-seeds", str(self.most_seeds)]
        return shlex.join([*words, "--out", out])

    def _call(self, config: str, out: str) -> str:
        over = ", ".join(f"{key!r}: {_code(values)}" for key, values in self.over.items())
        until = "" if self.until is None else f", until={self.until!r}, most_seeds={self.most_seeds}"
        return f"fl.sweep({config!r}, {{{over}}}, seeds={self.seeds}{until}, out={out!r})"


def combinations(values: Mapping[str, Sequence[Any]], seeds: Sequence[int]) -> list[dict[str, Any]]:
    """Returns all combinations of values, each with all seeds."""
    settings = []
    for chosen in itertools.product(*values.values()):
        setting = dict(zip(values, chosen, strict=True))
        settings += [setting | {"run.seed": seed} for seed in seeds] if seeds else [setting]
    return settings


def write_plan(plan: Plan, folder: Path) -> None:
    over = {key: {"adaptive": asdict(values)} if isinstance(values, Adaptive) else values
            for key, values in plan.over.items()}
    about = {"version": plan.version, "finished": plan.finished, "over": over, "seeds": plan.seeds,
             "until": plan.until, "most_seeds": plan.most_seeds}
    write_anew(folder / NAME, [json.dumps(about, indent=1, default=str), "\n"])


def read_plan(folder: Path) -> Plan | None:
    """Returns the plan of a sweep's folder. Returns None if there is none, as in folders of older versions, or if it is
    damaged."""
    try:
        about = json.loads((folder / NAME).read_text(encoding="utf-8"))
        over = {key: Adaptive(**values["adaptive"]) if isinstance(values, dict) else list(values)
                for key, values in about["over"].items()}
        return Plan(over, list(about["seeds"]), about["until"], about["most_seeds"], about["finished"],
                    about["version"], folder)
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None


def plan_of_rows(keys: Iterable[str], configs: Iterable[Mapping[str, Any]], folder: Path | None = None) -> Plan:
    """Returns the plan of a sweep that has none, from the configurations of its runs."""
    listed = list(configs)
    over = {key: list({json.dumps(config[key]): config[key] for config in listed}.values()) for key in keys}
    seeds = [] if "run.seed" in over else list(dict.fromkeys(config["run.seed"] for config in listed))
    return Plan(over, seeds, folder=folder)


def _code(values: Sequence[Any] | Adaptive) -> str:
    if isinstance(values, Adaptive):
        return f"fl.adaptive({values.low:g}, {values.high:g}, {values.tolerance:g})"
    return repr(values)


def _values_text(values: Sequence[Any] | Adaptive) -> str:
    if isinstance(values, Adaptive):
        return f"adaptive:{values.low:g}:{values.high:g}:{values.tolerance:g}"
    return ",".join(value if isinstance(value, str) else json.dumps(value) for value in values)
