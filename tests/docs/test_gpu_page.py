"""The tables in docs/gpu.md have the rates in docs/gpu_h200.json, and the page's commands are understood."""

import importlib.util
import json
import re
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "gpu.md").read_text(encoding="utf-8")
REPORT = json.loads((ROOT / "docs" / "gpu_h200.json").read_text(encoding="utf-8"))
SPEC = importlib.util.spec_from_file_location("gpu_page", ROOT / "tests/tools/gpu_page.py")
TOOL = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(TOOL)


def test_tables_are_generated():
    assert TOOL.page(PAGE, REPORT) == PAGE, "generate them: python tests/tools/gpu_page.py"
    assert REPORT["date"] in PAGE and REPORT["device"] in PAGE


def test_every_row_is_on_the_page():
    names = [row["name"] for row in REPORT["rates"]]
    assert len(names) == len(set(names))
    networks = {name.rpartition("/")[0] for name in names if name.startswith("model/")}
    others = [name for name in names if not name.startswith("model/")]
    lines = [line for line in PAGE.splitlines() if line.startswith("| ") and " / " in line and " of " in line]
    assert len(lines) == len(networks)
    assert all(f"| {name} |" in PAGE for name in others)


def row(name: str, cuda: float, cpu: float) -> dict:
    _, model, size, load = name.split("/")
    return {"name": name, "model": model, "load": float(load), "routers": 64,
            "replicas": 1000 if size == "thousand" else 1, "cuda": cuda, "cpu": cpu}


def test_cells_are_medians_in_millions_and_their_ratios():
    report = {"rates": [row("model/bgl/one/0.5", 1.5e6, 3e6), row("model/bgl/one/0.05", 1.2345e6, 20e6),
                        row("model/bgl/thousand/0.2", 4567.8e6, 100e6),
                        {"name": "runs/structures", "cuda": 1, "cpu": 1},
                        {"name": "lanes/islip/large/0.2", "routers": 16384, "replicas": 1, "cuda": 1e9, "cpu": 1e8},
                        {"name": "scale/million/0.05", "routers": 1000000, "replicas": 1, "cuda": 1.43e9},
                        {"name": "model/t3e/one/0.2", "error": "no memory"}]}
    assert TOOL.models_table(report)[2:] == [
        "| Blue Gene/L | one of 64 routers | 1.23 / 1.5 | 20 / 3 (1 core) | 0.062 to 0.5 |",
        "| Blue Gene/L | 1000 of 64 routers | 4,570 | 100 | 46 |"]
    assert TOOL.networks_table(report)[2:] == [
        "| lanes/islip/large/0.2 | 16,384 | 1 | 1,000 | 100 | 10 |",
        "| scale/million/0.05 | 1,000,000 | 1 | 1,430 | - | - |"]


def test_reports_are_compared_by_name():
    old = {"commit": "a", "rates": [row("model/bgl/one/0.5", 1e6, 2e6), row("model/vc/one/0.5", 1e6, 2e6)]}
    new = {"commit": "b", "rates": [row("model/vc/one/0.5", 1.5e6, 1e6), row("model/t3e/one/0.5", 1e6, 2e6)]}
    first, *lines = TOOL.comparison(old, new)
    assert "rate of b / rate of a" in first
    assert [line.split() for line in lines] == [["model/vc/one/0.5", "1.50", "0.50"]]


@pytest.mark.parametrize("line", re.findall(r"^    (flitlab .*)", PAGE, re.M))
def test_commands_are_understood(line):
    from flitlab.cli import _parser

    assert _parser().parse_args(shlex.split(line, comments=True)[1:]).command == line.split()[1]
