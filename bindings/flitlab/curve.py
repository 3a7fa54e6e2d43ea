"""The table of a sweep."""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path
from typing import Any

COLUMNS = [
    "offered", "accepted", "saturated", "latency_mean", "latency_ci95", "latency_p50", "latency_p95",
    "latency_p99", "latency_max", "network_latency_mean", "hops_mean", "channel_use_mean", "channel_use_max",
    "packets_delivered", "warmup_steady", "window_capped", "cycles", "state_hash",
]


def _row(setting: dict[str, Any], result: dict[str, Any]) -> dict[str, Any]:
    latency, packets = result["latency_cycles"], result["packets"]
    values = [
        result["offered"], result["accepted"], result["saturated"], latency["mean"], latency["ci95"],
        latency["p50"], latency["p95"], latency["p99"], latency["max"], result["network_latency_cycles"]["mean"],
        result["hops_mean"], result["channel_utilization"]["mean"], result["channel_utilization"]["max"],
        packets["delivered"], result["warmup_steady"], result["window_capped"], result["cycles"],
        result["state_hash"],
    ]
    row = {k: str(v) if isinstance(v, (list, tuple)) else v for k, v in setting.items()}
    special = {f"model.{k}": v for k, v in sorted(result["model"].items())}
    return row | dict(zip(COLUMNS, values, strict=True)) | special


def is_result(result: Any) -> bool:
    """Whether a result has all that a row says, and numbers where numbers are. Raises KeyError or TypeError if it has
    not."""
    row = _row({}, result)
    return (isinstance(row.pop("state_hash"), str)
            and all(value is None or isinstance(value, (int, float)) for value in row.values()))


class Curve:
    """Rows of a sweep in the order asked for; ``.frame`` is a pandas DataFrame, one row per point and seed.

    Columns: the keys that were varied, run.seed, those of ``COLUMNS``, and ``model.*``, what is special to the router
    or the traffic. ``mode`` is the traffic.mode of its runs, "mixed" if they differ: loads of closed loops count
    replies too. ``kind`` is their router.kind, "" if they differ.
    """

    def __init__(self, keys: list[str], rows: list[dict[str, Any]], name: str = "", mode: str = "open",
                 kind: str = ""):
        self.keys = keys
        self.rows = rows
        self.name = name
        self.mode = mode
        self.kind = kind
        self._frame = None

    @classmethod
    def from_results(cls, keys, settings, results, experiment) -> Curve:
        """``results`` may be made one by one: what is not in a row is not kept."""
        modes, kinds, rows = set(), set(), []
        for setting, result in zip(settings, results, strict=True):
            modes.add(result["config"]["traffic.mode"])
            kinds.add(result["config"]["router.kind"])
            rows.append(_row(setting, result))
        return cls(list(keys), rows, experiment.name, modes.pop() if len(modes) == 1 else "mixed",
                   kinds.pop() if len(kinds) == 1 else "")

    @property
    def axis(self) -> str:
        """The key on the horizontal axis of the picture: the load if it was varied, else the first key."""
        return "traffic.load" if "traffic.load" in self.keys else self.keys[0]

    def groups(self) -> dict[str, list[dict[str, Any]]]:
        """Label -> rows, for each setting of the keys other than the one on the axis; one group is labelled ""."""
        others = [k for k in self.keys if k != self.axis]
        groups: dict[str, list[dict[str, Any]]] = {}
        for row in self.rows:
            groups.setdefault(", ".join(f"{k.split('.')[-1]} {row[k]}" for k in others), []).append(row)
        return groups

    @property
    def frame(self):
        """pandas.DataFrame; latencies are NaN where the point is saturated."""
        if self._frame is None:
            import pandas as pd

            self._frame = pd.DataFrame(self.rows)
            for column in COLUMNS:
                if column.startswith("latency") or column in ("network_latency_mean", "hops_mean"):
                    self._frame[column] = self._frame[column].astype(float)
        return self._frame

    @property
    def saturation(self) -> float | None:
        """Lowest load at which any point saturated, None if none did. Of a product of keys see also
        ``saturation_by_group``."""
        return _saturation(self.rows)

    @property
    def saturation_by_group(self) -> dict[str, float | None]:
        """Lowest load at which any seed saturated, per line of the picture (by its label), None where none did."""
        return {label: _saturation(rows) for label, rows in self.groups().items()}

    @property
    def throughput(self) -> float:
        """Highest accepted load of any point, flits/cycle/terminal."""
        return _throughput(self.rows)

    def summary(self) -> list[str]:
        """One line per line of a picture over the load; of a single one only if it saturates."""
        groups = self.groups() if self.axis == "traffic.load" else {}
        lines = []
        for label, rows in groups.items():
            load = _saturation(rows)
            if load is None and len(groups) == 1:
                continue
            said = "not saturated" if load is None else f"saturated from traffic.load = {load}"
            lines.append(f"{label + ': ' if label else ''}{said}; highest throughput {_throughput(rows):.4f} "
                         "flits/cycle/terminal")
        return lines

    def csv_text(self) -> str:
        text = io.StringIO()
        names = list(dict.fromkeys(name for row in self.rows for name in row))  # rows may differ in model.* columns
        writer = csv.DictWriter(text, fieldnames=names, restval="", lineterminator="\n")
        writer.writeheader()
        for row in self.rows:
            writer.writerow({k: "" if v is None else repr(v) if isinstance(v, float) else v for k, v in row.items()})
        return text.getvalue()

    def to_csv(self, path: str | os.PathLike) -> None:
        Path(path).write_text(self.csv_text(), encoding="utf-8")

    def plot(self, axes=None, label: str | None = None):
        """Latency and accepted load against offered load; returns the two axes."""
        from flitlab.plot import plot_curve

        return plot_curve(self, axes, label)

    def save_plot(self, path: str | os.PathLike) -> None:
        from flitlab.plot import save_curve

        save_curve(self, path)

    def table(self) -> str:
        """The main columns as text."""
        seeds = {r["run.seed"] for r in self.rows}
        keys = [*self.keys, *(["run.seed"] if len(seeds) > 1 and "run.seed" not in self.keys else [])]
        head = [*keys, "accepted", "latency", "+-", "p99", ""]
        lines = [head]
        for r in self.rows:
            notes = (["saturated"] * r["saturated"] + ["warm-up not steady"] * (not r["warmup_steady"])
                     + ["window capped"] * r["window_capped"])
            lines.append([
                *(str(r[k]) for k in keys), f"{r['accepted']:.4f}", _number(r["latency_mean"]),
                _number(r["latency_ci95"]), _number(r["latency_p99"]), ", ".join(notes),
            ])
        widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
        padded = [[cell.rjust(w) for cell, w in zip(line, widths, strict=True)] for line in lines]
        return "\n".join("  ".join(line).rstrip() for line in padded)

    def __repr__(self) -> str:
        return self.table()

    def _repr_html_(self) -> str:
        return self.frame._repr_html_()


def _saturation(rows: list[dict[str, Any]]) -> float | None:
    return min((r["traffic.load"] for r in rows if r["saturated"] and "traffic.load" in r), default=None)


def _throughput(rows: list[dict[str, Any]]) -> float:
    return max(r["accepted"] for r in rows)


def _number(x: float | None) -> str:
    return "-" if x is None else f"{x:.2f}"
