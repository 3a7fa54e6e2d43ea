"""Sweeps as they are in their folders, finished or not."""

from __future__ import annotations

import json
import os
from array import array
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from flitlab._core import ConfigError
from flitlab.arguments import check_path, shown
from flitlab.curve import Curve
from flitlab.curve_rows import is_result
from flitlab.experiment import Experiment, file_paths, load
from flitlab.journal import entry_of
from flitlab.kept import InFolder, Results, lines_of
from flitlab.more_seeds import in_point_order
from flitlab.refinement import Adaptive, in_order
from flitlab.sweep_file import Plan, read_plan


class Kept(NamedTuple):
    """A sweep in its folder. missing: a sentence on the runs of an unfinished sweep that are missing; "" if the sweep
    has finished."""

    curve: Curve
    missing: str


def read_sweep(path: str | os.PathLike) -> Kept:
    """Reads the folder of a sweep. The curve of an unfinished sweep has the finished runs.

    Raises ConfigError if the folder is not that of a sweep, or if none of the sweep's runs has finished."""
    check_path(f"report({shown(path)})", path, "a sweep's folder")
    folder = Path(path)
    if not folder.is_dir():
        raise ConfigError(f"{folder} is not a folder: give the folder that `flitlab sweep --out` has written.")
    plan = read_plan(folder)
    if plan is None or plan.finished:
        curve = Curve.read(folder)
        curve.experiment = load(folder / "experiment.toml")
        return Kept(curve, "")
    return _unfinished(folder, plan)


def _unfinished(folder: Path, plan: Plan) -> Kept:
    experiment, keys = load(folder / "experiment.toml"), list(plan.over)
    planned = {_identity(experiment.set(setting).flat()): setting for setting in plan.settings()}
    settings: dict[str, dict[str, Any]] = {}  # of the finished runs, by their identity
    offsets: dict[str, int] = {}
    journal = folder / "points.jsonl"
    for offset, line in lines_of(journal) if journal.exists() else ():
        if (entry := entry_of(line, is_result)) and isinstance(config := entry[1].get("config"), dict):
            identity = _identity(config)
            setting = planned.get(identity) or (_added(experiment, keys, config, identity) if plan.grows() else None)
            if setting is not None:
                settings[identity], offsets[identity] = setting, offset
    how = "continue it with --resume (in Python resume=True)"
    if not settings:
        raise ConfigError(f"{folder}: the sweep is unfinished, and none of its {len(planned)} runs has finished; "
                          f"{how}.")
    found = list(settings.values())
    adaptive = any(isinstance(values, Adaptive) for values in plan.over.values())
    order = in_order(found, keys) if adaptive else in_point_order(found)
    places = [list(offsets.values())[i] for i in order]
    results = InFolder(journal)
    curve = Curve.from_results(keys, [found[i] for i in order], map(results.get, places), folder.resolve().name)
    curve.results = Results(results, array("q", places), curve.rows)
    curve.experiment, curve.plan = experiment, plan
    missing = [setting for identity, setting in planned.items() if identity not in settings]
    return Kept(curve, f"The sweep is unfinished: {_missing(missing, len(planned), plan.grows())}; {how}.")


def _added(experiment: Experiment, keys: list[str], config: Mapping[str, Any],
           identity: str) -> dict[str, Any] | None:
    """Returns the setting of a run that the sweep has added to its plan, such as one with a further seed. Returns None
    for a run of another sweep."""
    try:
        setting = {key: config[key] for key in (*keys, "run.seed")}
        return setting if _identity(experiment.set(setting).flat()) == identity else None
    except (ConfigError, LookupError):
        return None


def _missing(missing: list[dict[str, Any]], planned: int, grows: bool) -> str:
    points = len({json.dumps({key: value for key, value in setting.items() if key != "run.seed"}, default=str)
                  for setting in missing})
    if not missing:
        return f"the {planned} runs with which it starts have finished, and others may be missing"
    return (f"{'at least ' if grows else ''}{len(missing)} of {planned} runs are missing, at "
            f"{points} {'point' if points == 1 else 'points'}")


def _identity(config: Mapping[str, Any]) -> str:
    """Returns a configuration as text. File names are left out, because they depend on the folder."""
    return json.dumps({path: value for path, value in config.items() if path not in file_paths()}, sort_keys=True)
