"""Reports of sweeps: ``flitlab report`` and :func:`flitlab.report`."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any, NamedTuple

from flitlab._core import ConfigError
from flitlab.arguments import shown, writing
from flitlab.curve import Curve
from flitlab.reports.figures import curve_svg, heat_map_svg
from flitlab.reports.page import Contents, page_text
from flitlab.reports.runs import BYTES, Repeated, chosen_for_heat_maps, points_of, recordings, repeated
from flitlab.sweep_file import plan_of_rows
from flitlab.sweep_folder import Kept, read_sweep

NAME = "report.html"


class Written(NamedTuple):
    """What a report contains. missing: a sentence on missing runs of an unfinished sweep, else ""."""

    path: Path
    points: int
    runs: int
    heat_maps: int
    differing: int  # repeated runs whose state hash differs from the kept one
    scopes: int
    missing: str


def report(sweep: Curve | str | os.PathLike, path: str | os.PathLike | None = None, progress: bool = True) -> Path:
    """Writes a report of a sweep as one HTML file, which needs no network, and returns its path.

    The report has curves, a table of points, the spread over seeds, heat maps of the channel use at a low, a middle and
    the highest unsaturated point, and a router scope for each point. For heat maps and scopes it repeats the first run
    of these points, or its first cycles. It compares the state hashes of repeated runs with the kept ones, and warns if
    they differ.

    sweep: a sweep's folder, or the curve that :func:`flitlab.sweep` has returned. The sweep may be unfinished.
    path: the file; default: report.html in the sweep's folder. progress: a bar on stderr. Raises ConfigError.
    """
    written = write_report(sweep, path, progress)
    if written.missing:
        warnings.warn(written.missing, stacklevel=2)
    return written.path


def write_report(sweep: Any, path: Any, progress: bool) -> Written:
    """Implements :func:`report`."""
    curve, missing = _kept(sweep)
    file = _file(curve, path)
    if not file.parent.is_dir():  # reported before the work
        raise ConfigError(f"{file} cannot be written: there is no folder {file.parent}.")
    contents = _contents(curve, missing, progress)
    with writing("report", file, "an HTML file"):
        file.write_text(page_text(contents), encoding="utf-8")
    differing = [one for one, _ in contents.maps if one.kept_hash != one.state_hash]
    if differing:
        warnings.warn(f"{file}: {len(differing)} of {len(contents.maps)} repeated runs have another state hash than "
                      "the kept ones. Probably another version of flitlab made the sweep.", stacklevel=3)
    return Written(file, len(contents.points), len(curve.rows), len(contents.maps), len(differing),
                   len(contents.recordings), missing)


def _kept(sweep: Any) -> Kept:
    if not isinstance(sweep, Curve):
        return read_sweep(sweep)
    if sweep.experiment is None and sweep.plan is not None and sweep.plan.folder is not None:
        return read_sweep(sweep.plan.folder)  # of Curve.read
    if sweep.experiment is None:
        raise ConfigError("report: this curve is a table without results and configuration; give the sweep's folder.")
    return Kept(sweep, "")


def _file(curve: Curve, path: Any) -> Path:
    if path is not None:
        with writing("report", path, "an HTML file"):
            return Path(path)
    folder = curve.plan and curve.plan.folder
    if folder is None:
        raise ConfigError(f"report(path={shown(path)}): the sweep has no folder (out), so the report needs a path, "
                          'such as "report.html".')
    return folder / NAME


def _contents(curve: Curve, missing: str, progress: bool) -> Contents:
    from tqdm.auto import tqdm

    experiment = curve.experiment
    plan = curve.plan or plan_of_rows(curve.keys, (result.config for result in curve.results))
    points = points_of(curve)
    chosen = chosen_for_heat_maps(curve, points)
    with tqdm(total=len(chosen) + len(points), delay=1, disable=not progress, unit="run") as bar:
        maps, recorded = [], {}
        for number, point in enumerate(chosen):
            again = repeated(curve, experiment, point)
            maps.append((again, _drawing(again, f"map{number}")))
            bar.update()
        room = BYTES - sum(len(drawing) for _, drawing in maps)
        for number, recording in recordings(curve, experiment, points, room):
            recorded[number] = recording
            bar.update()
    return Contents(curve, experiment, plan, missing, points, curve_svg(curve), maps, recorded)


def _drawing(again: Repeated, name: str) -> str:
    try:
        return heat_map_svg(again.channels, name)
    except ConfigError as error:  # no channels, or too many
        return str(error)
