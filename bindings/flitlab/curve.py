"""Curve: the table of results of a sweep."""

from __future__ import annotations

import csv
import html
import io
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from flitlab._core import ConfigError, Experiment
from flitlab.arguments import did_you_mean, is_number, shown, writing
from flitlab.curve_rows import RESULT_COLUMNS, SharedConfigs, row_of
from flitlab.experiment import file_paths
from flitlab.ideal import ideal_throughput
from flitlab.over_seeds import by_point, mean_and_half
from flitlab.result import precision_reached
from flitlab.rows import Rows

if TYPE_CHECKING:
    import pandas as pd

    from flitlab.picture import Picture
    from flitlab.result import Result
    from flitlab.sweep_file import Plan

_NOTES = {"saturated": "saturated", "too_short": "too few epochs to judge saturation", "not_drained": "not drained"}


class Curve:
    """Rows of a sweep, one for each point (combination of the varied parameters) and seed, in the order in which the
    sweep lists them. ``.frame`` is a pandas DataFrame.

    Columns: the varied keys, run.seed, ``flitlab.curve_rows.RESULT_COLUMNS``, and ``model.*`` for values that only this
    router or traffic has. :class:`flitlab.result.Latency` describes the accuracy of percentiles.

    ``rows``: a list-like of dictionaries. ``results``: the whole result of each row. ``configs``: for each row, the
    parameters that were not varied; empty if they are unknown. ``mode``: traffic.mode of the runs, "mixed" if they
    differ; loads of closed loops include replies. ``kind``: router.kind of the runs, "" if they differ.
    """

    def __init__(self, keys: list[str], rows: Iterable[Mapping[str, Any]], name: str = "", mode: str = "open",
                 kind: str = "", configs: Sequence[dict[str, Any]] = ()):
        self.keys = keys
        self.rows = Rows.of(rows)
        self.name = name
        self.mode = mode
        self.kind = kind
        self.configs = configs
        self.experiment: Any = None  # of the sweep, before its settings
        self.plan: Plan | None = None  # arguments of the sweep; None if they are unknown
        self._results: Sequence[Result] | None = None
        self._frame: pd.DataFrame | None = None

    @classmethod
    def from_results(cls, keys: Iterable[str], settings: Iterable[Mapping[str, Any]],
                     results: Iterable[dict[str, Any]], name: str = "") -> Curve:
        """Makes a curve of settings and results. ``results`` may be a generator: the curve keeps only the values in the
        columns."""
        rows, configs, shared = Rows(), [], SharedConfigs()
        for setting, result in zip(settings, results, strict=True):
            rows.append(row_of(dict(setting), result))
            configs.append(shared({path: value for path, value in result["config"].items() if path not in setting}))
        return cls.of_rows(list(keys), rows, name, configs)

    @classmethod
    def of_rows(cls, keys: list[str], rows: Rows, name: str, configs: Sequence[dict[str, Any]]) -> Curve:
        """Makes a curve whose mode and kind are taken from the rows and configurations."""
        return cls(keys, rows, name, _only(configs, rows, "traffic.mode", "mixed" if configs else "open"),
                   _only(configs, rows, "router.kind", ""), configs)

    @classmethod
    def read(cls, path: str | os.PathLike) -> Curve:
        """Reads a curve from a sweep's folder, or from a file of :meth:`to_csv` or :meth:`to_parquet`.

        A CSV file does not record whether run.seed was a varied key, so seeds are read as repeats of a point. Raises
        ConfigError if the file or folder has no curve.
        """
        from flitlab.curve_files import read

        table = read(path)
        curve = cls.of_rows(table.keys, table.rows, table.name, table.configs)
        curve._results, curve.plan = table.results, table.plan
        return curve

    @property
    def axis(self) -> str:
        """The key on the horizontal axis of the picture: traffic.load if it was varied, else the first key."""
        return "traffic.load" if "traffic.load" in self.keys else self.keys[0]

    @property
    def results(self) -> Sequence[Result]:
        """The whole result of each row, such as ``curve.results[0].config``. Each access reads it from the sweep's
        folder or temporary file. Raises ConfigError for a curve that was read from a table only."""
        if self._results is None:
            raise ConfigError("curve.results: this curve is a table without results. They are in points.jsonl of the "
                              "sweep's folder; read the folder with fl.Curve.read.")
        return self._results

    @results.setter
    def results(self, results: Sequence[Result]) -> None:
        self._results = results

    def groups(self) -> dict[str, Rows]:
        """Returns label -> rows, one entry for each combination of values of the varied keys except ``axis``; if
        ``axis`` is the only key, the label is ""."""
        others = [k for k in self.keys if k != self.axis]
        groups: dict[str, list[int]] = {}
        for i, values in enumerate(self.rows.pick(*others)):
            label = ", ".join(f"{k.split('.')[-1]} {v}" for k, v in zip(others, values, strict=True))
            groups.setdefault(label, []).append(i)
        return {label: self.rows.take(places) for label, places in groups.items()}

    @property
    def frame(self) -> pd.DataFrame:
        """pandas.DataFrame; latencies are NaN where the run is saturated."""
        if self._frame is None:
            import pandas as pd

            self._frame = pd.DataFrame({name: self.rows.column(name) for name in self.rows.names})
            for column in RESULT_COLUMNS:
                if column.startswith("latency") or column in ("network_latency_mean", "hops_mean"):
                    self._frame[column] = self._frame[column].astype(float)
        return self._frame

    @property
    def saturation(self) -> float | None:
        """Lowest load (flits/cycle/terminal) at which any run saturated; None if no run did. If several keys were
        varied, see also ``saturation_by_group``."""
        return _saturation(self.rows)

    @property
    def saturation_by_group(self) -> dict[str, float | None]:
        """Label of each line of the picture -> lowest load at which any seed saturated, or None if no run did."""
        return {label: _saturation(rows) for label, rows in self.groups().items()}

    @property
    def saturation_bound_by_group(self) -> dict[str, float | None]:
        """Label of each line of the picture -> ``saturation_load_bound`` of its first run (``Experiment.derived``,
        flits/cycle/terminal): load at which the busiest channel is full. None if flitlab cannot compute it, for example
        if the curve was read from a file and its network or traffic is in another file."""
        return {label: self._bound(rows) for label, rows in self.groups().items()}

    def _bound(self, rows: Rows) -> float | None:
        first = dict(zip(self.keys, next(rows.pick(*self.keys)), strict=True))
        try:
            if self.experiment is not None:
                return ideal_throughput(self.experiment.set(first))
            elif not self.configs or any(self.configs[0].get(path) for path in file_paths()):
                return None  # files may have changed
            else:
                place = next(i for i, row in enumerate(self.rows.pick(*self.keys)) if row == tuple(first.values()))
                return ideal_throughput(Experiment(self.configs[place] | first, "", {}))
        except ConfigError:
            return None

    @property
    def throughput(self) -> float:
        """Highest accepted load of any run, flits/cycle/terminal."""
        return _throughput(self.rows)

    def summary(self) -> list[str]:
        """Returns a sentence on saturation for each line of a picture over the load. A single line has a sentence only
        if it saturates."""
        groups = self.groups() if self.axis == "traffic.load" else {}
        lines = []
        for label, rows in groups.items():
            load = _saturation(rows)
            if load is None and len(groups) == 1:
                continue
            said = "not saturated" if load is None else f"saturated from traffic.load = {load}"
            bound = self._bound(rows)
            full = "" if bound is None else f"; the busiest channel is full at {bound:.4g}"
            lines.append(f"{label + ': ' if label else ''}{said}; highest throughput {_throughput(rows):.4f} "
                         f"flits/cycle/terminal{full}")
        return lines

    def table_rows(self, configuration: bool = False) -> Iterator[dict[str, Any]]:
        """Yields the rows with a cell for every column; with ``configuration``, also for the parameters that were not
        varied."""
        columns = dict.fromkeys(self.table_columns(configuration))
        for i, row in enumerate(self.rows):
            config = self.configs[i] if configuration and self.configs else {}
            yield {**columns, **row, **{p: _cell(v) for p, v in config.items()}}

    def table_columns(self, configuration: bool = False) -> list[str]:
        """Returns the columns of :meth:`table_rows`. Rows may differ in model.* columns and in parameters."""
        names = dict.fromkeys(self.rows.names)
        for config in {id(c): c for c in self.configs}.values() if configuration else ():
            names.update(dict.fromkeys(config))
        return list(names)

    def cells(self, name: str) -> list[Any]:
        """Returns a column of :meth:`table_rows` with ``configuration``."""
        if name in self.rows.names:
            return [value for (value,) in self.rows.pick(name)]
        return [_cell(config.get(name)) for config in self.configs]

    def csv_text(self, configuration: bool = False) -> str:
        """Returns the table as CSV text, with columns for the whole configuration if ``configuration``."""
        text = io.StringIO()
        self._write_csv(text, configuration)
        return text.getvalue()

    def _write_csv(self, file: TextIO, configuration: bool) -> None:
        writer = csv.DictWriter(file, self.table_columns(configuration), lineterminator="\n")
        writer.writeheader()
        for row in self.table_rows(configuration):
            writer.writerow({k: "" if v is None else repr(v) if isinstance(v, float) else v for k, v in row.items()})

    def to_csv(self, path: str | os.PathLike, configuration: bool = True) -> None:
        """Writes the table as CSV. With ``configuration``, columns for the parameters that were not varied follow the
        others. Raises ConfigError if the file cannot be written."""
        with writing("to_csv", path), Path(path).open("w", encoding="utf-8", newline="") as file:
            self._write_csv(file, configuration)

    def to_parquet(self, path: str | os.PathLike) -> None:
        """As :meth:`to_csv`, in the Parquet format, which keeps types. Needs pyarrow
        (``pip install 'flitlab[results]'``). Raises ConfigError without it, or if the file cannot be written."""
        from flitlab.curve_files import write_parquet

        write_parquet(self, path)

    def to_xarray(self) -> Any:
        """Returns an xarray.Dataset over the keys and run.seed, with units and configuration in the attributes. Points
        that were not run are NaN. Needs xarray (``pip install 'flitlab[results]'``); raises ConfigError without it."""
        from flitlab.curve_files import dataset

        return dataset(self)

    def plot(self, axes: Any = None, label: str | None = None, panels: str | Sequence[str] | None = None,
             width: str | float | None = None) -> Picture:
        """Draws latency and accepted load against offered load, or other panels of :func:`flitlab.plot`.

        Returns a :class:`flitlab.picture.Picture`, to which other curves can be added:
        ``left, right = picture = curve.plot()``, ``other.plot(picture)``."""
        from flitlab.plots import plot_curve

        return plot_curve(self, axes, label, panels, width)

    def save_plot(self, path: str | os.PathLike) -> None:
        """Draws the curve into a PNG, SVG or PDF file, chosen by the ending. Use :class:`flitlab.style` for a paper."""
        from flitlab.plots import save_curve

        save_curve(self, path)

    def _values_of(self, path: str) -> Iterator[Any]:
        """Returns an iterator over the value of a parameter in each row; None where it is unknown."""
        if path in self.rows.names:
            return (value for (value,) in self.rows.pick(path))
        return (config.get(path) for config in self.configs or [{}] * len(self.rows))

    def _cells(self) -> list[list[str]]:
        """Returns the main columns as text [line][column], with the header first."""
        seeds = {seed for (seed,) in self.rows.pick("run.seed")}
        keys = [*self.keys, *(["run.seed"] if len(seeds) > 1 and "run.seed" not in self.keys else [])]
        lines = [[*keys, "accepted", "latency", "+-", "p99", ""]]
        requested = self._values_of("run.precision")
        for r, precision in zip(self.rows, requested, strict=True):
            notes = [_NOTES[r["verdict"]]] if r["verdict"] in _NOTES else []
            notes += ["warm-up not steady"] * (not r["warmup_steady"])
            if r["window_capped"] and r["verdict"] == "steady":
                notes.append(precision_reached(r["latency_mean"], r["latency_ci95"], precision))
            lines.append([*(str(r[k]) for k in keys), f"{r['accepted']:.4f}", _number(r["latency_mean"]),
                          _number(r["latency_ci95"]), _number(r["latency_p99"]), ", ".join(notes)])
        return lines

    def table(self, *columns: str) -> pd.DataFrame:
        """Returns a pandas.DataFrame with one row per point: the mean over its seeds for each column, and in a column
        with the suffix ``_ci95`` half of the 95 % confidence interval of that mean.

        columns: numeric columns of ``.frame``; default: accepted load, mean latency, 99th percentile of latency, hops.
        Column ``seeds`` is the number of seeds, ``saturated`` the number of saturated runs among them; values that a
        saturated run does not have make the mean NaN. The interval uses Student's t over the seeds. With one seed, mean
        latency has the interval of its run, and the other columns have NaN. Raises ConfigError for other columns.
        """
        import pandas as pd

        keys = [key for key in self.keys if key != "run.seed"]
        for name in columns:
            if not isinstance(name, str) or not self._is_number(name):
                numbers = [c for c in self.rows.names if self._is_number(c)]
                raise ConfigError(f"table({shown(name)}): the curve has no such column of numbers. Numeric "
                                  f"columns are {', '.join(numbers)}.{did_you_mean(name, numbers)}")
        wanted = columns or ("accepted", "latency_mean", "latency_p99", "hops_mean")
        picked = self.rows.pick(*keys, "saturated", "latency_ci95", *wanted)
        lines = []
        for point, seeds in by_point(picked, len(keys)):
            saturated, own, *cells = zip(*seeds, strict=True)
            line = dict(zip(keys, point, strict=True)) | {"seeds": len(seeds), "saturated": sum(saturated)}
            for name, values in zip(wanted, cells, strict=True):
                line[name], line[f"{name}_ci95"] = mean_and_half(values, own[0] if name == "latency_mean" else None)
            lines.append(line)
        return pd.DataFrame(lines)

    def _is_number(self, name: str) -> bool:
        return (name in self.rows.names and name not in (*self.keys, "run.seed", "state_hash")
                and all(value is None or is_number(value) for (value,) in self.rows.pick(name)))

    def __repr__(self) -> str:
        """Returns the main columns, one line per run."""
        lines = self._cells()
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        padded = [[cell.rjust(w) for cell, w in zip(line, widths, strict=True)] for line in lines]
        return "\n".join("  ".join(line).rstrip() for line in padded)

    def _repr_html_(self) -> str:
        """Returns the main columns, at most ``SHOWN`` rows, and the summary."""
        head, *lines = self._cells()
        if left_out := max(0, len(lines) - SHOWN):
            lines[SHOWN // 2 : SHOWN // 2 + left_out] = [["..."] * len(head)]
        title = (f"<b>{html.escape(self.name or 'curve')}</b>: {len(self.rows)} runs; latency in cycles, accepted load "
                 "in flits/cycle/terminal; all columns in <code>.frame</code>")
        said = "".join(f"<br>{html.escape(line)}" for line in self.summary())
        return f"<p>{title}{said}</p><table>{_html('th', head)}{''.join(_html('td', line) for line in lines)}</table>"


def plot(curves: Curve | Sequence[Curve], panels: str | Sequence[str] | None = None,
         width: str | float | None = None, labels: Sequence[str] | None = None) -> Picture:
    """Draws one or several curves in one figure and returns the :class:`flitlab.picture.Picture`.

    panels: one or a list of latency, accepted, percentiles, network_latency, hops, channel_use, finish (batches and
    traces only). Default: latency, and accepted or finish. width: "single" or "double" for one or two columns of a
    paper (3.5 and 7.16 inches), or inches; the legend is then above the panels, which have no titles. Default: the
    style's width. labels: names for the curves instead of their own. Raises ConfigError for an unknown panel or width,
    and for curves over different keys.
    """
    from flitlab.plots import plot_curves

    listed = [curves] if isinstance(curves, Curve) else curves
    if isinstance(listed, str) or not isinstance(listed, Iterable) or not (
            listed := list(listed)) or not all(isinstance(c, Curve) for c in listed):
        raise ConfigError(f"plot({shown(curves)}): it must be a curve, or a list of curves, as fl.sweep and "
                          "fl.Curve.read return them.")
    if labels is not None and (isinstance(labels, str) or len(labels) != len(listed)):
        raise ConfigError(f"labels = {shown(labels)}: it must be a list of {len(listed)} names, one for each curve.")
    return plot_curves(listed, panels, width, labels)


SHOWN = 20  # rows


def _html(tag: str, cells: Iterable[str]) -> str:
    return "<tr>" + "".join(f'<{tag} style="text-align:right">{html.escape(c)}</{tag}>' for c in cells) + "</tr>"


def _cell(value: Any) -> Any:
    return str(value) if isinstance(value, (list, tuple)) else value


def _only(configs: Iterable[Mapping[str, Any]], rows: Rows, path: str, otherwise: str) -> str:
    """Returns the value that a parameter has in all runs; ``otherwise`` if they differ."""
    values = {c[path] for c in {id(c): c for c in configs}.values() if path in c}
    values |= {value for (value,) in rows.pick(path)} if path in rows.names else set()
    return values.pop() if len(values) == 1 else otherwise


def _saturation(rows: Rows) -> float | None:
    picked = rows.pick("traffic.load", "saturated")
    return min((load for load, saturated in picked if saturated and load is not None), default=None)


def _throughput(rows: Rows) -> float:
    return max(accepted for (accepted,) in rows.pick("accepted"))


def _number(x: float | None) -> str:
    return "-" if x is None else f"{x:.2f}"
