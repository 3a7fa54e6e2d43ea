"""The shipped examples in formats of other tools (configs/workloads)."""

from __future__ import annotations

import runpy
from collections import Counter
from pathlib import Path

import pytest

import flitlab as fl
from flitlab import shipped
from flitlab.links import in_page

FOLDER = shipped.folder() / shipped.WORKLOADS
SCRIPT = runpy.run_path(str(Path(__file__).parents[1] / "tools" / "workload_examples.py"))
NAMES = sorted(path.stem for path in FOLDER.glob("*.toml"))


def test_the_examples_are_what_their_script_writes():
    files = {path.name: path.read_text() for path in FOLDER.iterdir() if path.suffix != ".toml"}
    assert files == SCRIPT["main"]()


@pytest.mark.parametrize("name", NAMES)
def test_they_run_by_name_and_stay_out_of_the_page(name, tmp_path, monkeypatch, cli):
    monkeypatch.chdir(tmp_path)
    done = cli("run", name)
    assert done.returncode == 0 and "program cycles" in done.stdout, done.stderr
    assert name in fl.configs() and fl.load(name).name == name and shipped.needs_python(name) and not in_page(name)
    assert cli("configs", name).stdout == (FOLDER / f"{name}.toml").read_text()


def test_names_are_unique():
    assert NAMES == ["vc-chakra", "vc-goal"]
    assert not [name for name, count in Counter(fl.configs()).items() if count > 1]
    assert not shipped.needs_python("vc-mesh-8x8") and not shipped.needs_python("none")


def test_the_training_step_overlaps_its_sums():
    """Only the slowest rank's load (3 us) and the computations (8, 16 and 1 us) follow one another, and the sum of the
    layer that is ready last."""
    network = {"topology.kind": "torus", "topology.shape": [4, 2], "router.vcs": 4}
    last = fl.collective("allreduce", 65536, "ring", network, traffic={"traffic.flit_bytes": 64}, progress=False)
    assert fl.run("vc-chakra", progress=False).model["program_cycles"] == 28_000 + last.cycles
