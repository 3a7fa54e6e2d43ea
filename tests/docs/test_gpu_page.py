"""The rates in docs/gpu.md equal the rates in docs/gpu_h200.json, and its commands are understood."""

import json
import re
import shlex
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "gpu.md").read_text(encoding="utf-8")
REPORT = json.loads((DOCS / "gpu_h200.json").read_text(encoding="utf-8"))
MODELS = {"canonical, lane state": "vc", "canonical, scalar state": "vc, one by one", "T3E": "t3e",
          "Blue Gene/L": "bgl", "METRO": "metro", "S-Connect": "sconnect", "adaptive": "adaptive",
          "bufferless": "bless", "switch": "switch"}
ROW = re.compile(r"^\| ([^|]+) \| (one|1000) of ([\d,]+) \w+ \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", re.M)


def millions(rate: float) -> str:
    """Returns a rate per second in millions, with three digits."""
    return f"{float(f'{rate / 1e6:.3g}'):,g}"


def ratio(low: float, high: float) -> str:
    low_text, high_text = (f"{float(f'{x:.2g}'):g}" for x in (low, high))
    return low_text if low_text == high_text else f"{low_text} to {high_text}"


def measured(model: str, routers: int, replicas: int) -> tuple[str, str, str]:
    """Returns the cells of a row: rates of the GPU and of the CPU by load, and their ratio."""
    rates = [r for r in REPORT["rates"] if (r["model"], r["routers"], r["replicas"]) == (model, routers, replicas)]
    gpu, cpu = [r["cuda"] for r in rates], [r["cpu"] for r in rates]
    ratios = sorted(g / c for g, c in zip(gpu, cpu, strict=True))
    one_core = " (1 core)" if replicas == 1 and routers <= 64 else ""  # a small network is not divided among cores
    return " / ".join(map(millions, gpu)), " / ".join(map(millions, cpu)) + one_core, ratio(ratios[0], ratios[-1])


def test_rates_are_those_of_the_report():
    rows = {(MODELS[name], 1 if name == "switch" else int(size.replace(",", "")), 1 if many == "one" else 1000): cells
            for name, many, size, *cells in ROW.findall(PAGE)}
    assert set(rows) == {(r["model"], r["routers"], r["replicas"]) for r in REPORT["rates"]}
    for job, cells in rows.items():
        assert tuple(cells) == measured(*job), job
    assert REPORT["date"] in PAGE and REPORT["device"] in PAGE


@pytest.mark.parametrize("line", re.findall(r"^    (flitlab .*)", PAGE, re.M))
def test_commands_are_understood(line):
    from flitlab.cli import _parser

    assert _parser().parse_args(shlex.split(line, comments=True)[1:]).command == line.split()[1]
