"""flitlab_gpu_report on a machine without a GPU: names of rows, selection, and lines of JSON."""

import json
import subprocess
from pathlib import Path

import pytest

BUILD = Path(__file__).resolve().parents[2] / "build/tests"
PROGRAM = BUILD / "flitlab_gpu_report"
# One row of each kind that takes a second or less.
FAST = ["lanes/dragonfly/thousand/0.2", "model/vc/one", "model/switch/one/0.2", "runs/structures"]

pytestmark = pytest.mark.skipif(not (BUILD / "CMakeCache.txt").exists(), reason="no build of `make test` here")


def report(*words, **options):
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=True, **options).stdout


def names(*words) -> list[str]:
    return report("--list", *words).splitlines()


def test_names_are_unique_and_begin_with_their_part():
    all_names = names()
    assert len(all_names) > 100 and len(set(all_names)) == len(all_names)
    parts = list(dict.fromkeys(name.split("/")[0] for name in all_names))
    assert parts == ["lanes", "model", "scale", "runs"]  # the least known first
    run = (Path(__file__).parent / "run.sh").read_text(encoding="utf-8")
    assert all(f" {part}:" in run for part in parts)


def test_measured_rows_still_have_their_names():
    measured = json.loads((Path(__file__).resolve().parents[2] / "docs/gpu_h200.json").read_text(encoding="utf-8"))
    assert {row["name"] for row in measured["rates"]} <= set(names())


def test_words_select_rows():
    assert names("vc/one") == ["model/vc/one/0.2", "model/vc/one/0.05", "model/vc/one/0.5"]
    assert set(names("bgl", "switch/one/0.5")) == {*names("model/bgl"), "model/switch/one/0.5"}
    wrong = subprocess.run([PROGRAM, "vc/on"], capture_output=True, text=True)
    assert wrong.returncode == 2 and "no row has the word vc/on" in wrong.stderr


def test_both_ways_to_synchronise_are_measured():
    flags = names("flags")
    assert len(flags) == 3 and [name.replace("/flags/", "/barrier/") for name in flags] == names("barrier")


def test_rows_are_lines_of_a_json_list():
    text = report("--seconds", "0.001", *FAST)
    rows = json.loads(text)
    assert [row["name"] for row in rows] == names(*FAST)
    for line in text.splitlines()[1:-1]:
        json.loads(line.removesuffix(","))
    for row in rows:
        assert "error" not in row and row["cpu"] > 0
        if "cuda" in row:
            assert row["equal"]
        if "cpu_range" in row:
            assert row["cpu_range"][0] <= row["cpu"] <= row["cpu_range"][1]
    structures = rows[-1]
    assert structures["cpu_structures"] >= 1 and structures["replicas"] == 20
    assert structures["cpu_cycles_of_a_run"] >= 10000


def test_other_kernels_of_lanes_are_measured():
    """Rows of the part "lanes" are about networks that have lane state on a GPU."""
    one_of_each = [name for name in names("lanes") if "/thousand/" in name]
    rows = json.loads(report("--seconds", "0.0001", *one_of_each))
    assert {row["form"] for row in rows} == {"lanes"} and len(rows) == len(one_of_each) >= 8
