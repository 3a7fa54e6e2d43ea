"""Sweeps as they are in their folders, finished or not."""

from __future__ import annotations

import json
import os
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
from flitlab.sweep_file import read_plan


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
    experiment = load(folder / "experiment.toml")
    return _unfinished(folder, experiment)


def _unfinished(folder: Path, experiment: Experiment) -> Kept:
    plan = read_plan(folder)
    assert plan is not None
    journal, found = folder / "points.jsonl", {}
    for offset, line in lines_of(journal) if journal.exists() else ():
        if (entry := entry_of(line, is_result)) and isinstance(config := entry[1].get("config"), dict):
            found[_identity(config)] = offset
    settings = plan.settings()
    places = [found.get(_identity(experiment.set(setting).flat())) for setting in settings]
    present = [i for i, place in enumerate(places) if place is not None]
    more = "at least " if plan.grows() else ""
    left = len(settings) - len(present)
    points = len({json.dumps({k: v for k, v in settings[i].items() if k != "run.seed"}, default=str)
                  for i in range(len(settings)) if places[i] is None})
    how = "continue it with --resume (in Python resume=True)"
    if not present:
        raise ConfigError(f"{folder}: the sweep is unfinished, and none of its {len(settings)} runs has finished; {how}.")
    kept = InFolder(journal)
    curve = Curve.from_results(list(plan.over), [settings[i] for i in present],
                               (kept.get(places[i]) for i in present), folder.resolve().name)
    curve.results = Results(kept, _offsets(places, present), curve.rows)
    curve.experiment, curve.plan = experiment, plan
    return Kept(curve, f"The sweep is unfinished: {more}{left} of {len(settings)} runs are missing, at "
                       f"{points} {'point' if points == 1 else 'points'}; {how}.")


def _offsets(places: list[int | None], present: list[int]) -> Any:
    from array import array

    return array("q", (place for i in present if (place := places[i]) is not None))


def _identity(config: Mapping[str, Any]) -> str:
    """Returns a configuration as text. File names are left out, because they depend on the folder."""
    return json.dumps({path: value for path, value in config.items() if path not in file_paths()}, sort_keys=True)
