"""A newcomer's first inputs: files as editors write them, numbers as people type them, removed keys, seeds,
notebooks."""

import json
from pathlib import Path

import numpy as np
import pytest

import flitlab as fl
from flitlab.settings import parse_value
from flitlab.sweeps import parse_over
from flitlab.textbook.notebooks import notebook_texts

ROOT = Path(__file__).resolve().parents[2]
FAST = {"run.warmup_cycles": 200, "run.measure_cycles": 400, "run.epoch_cycles": 100}


# Files of other simulators, and text encodings of editors.


FOREIGN = {
    "config.yaml": ("topology: MESH\nmesh_dim_x: 4\n", "is YAML, as Noxim's configurations are. flitlab reads TOML"),
    "config.json": ('{"network": {"topology": "torus"}}', "is JSON, as SuperSim's configurations are"),
    "main.cfg": ("Configuration\n{\n\trandom_seed: 42,\n}\n", "is a configuration of CAMINOS."),
    "bad.toml": ("topology = mesh\n", "is not valid TOML: Invalid value (at line 1, column 12)."),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_a_file_of_another_simulator_is_named(cli, tmp_path, name):
    text, expected_text = FOREIGN[name]
    (tmp_path / name).write_text(text)
    done = cli("run", name)
    assert done.returncode == 2 and done.stderr.startswith(f"flitlab: {name} {expected_text}"), done.stderr
    assert done.stderr.count("\n") == 1


def test_words_that_are_no_text_have_no_neighbour():
    with pytest.raises(fl.ConfigError, match=r"no such file, .*`flitlab configs` lists them"):
        fl.load("\udcff\udcfe")


def test_a_byte_order_mark_is_no_part_of_a_file(tmp_path):
    text = '[topology]\nkind = "graph"\nfile = "ring.csv"\n[routing]\nalgorithm = "table"\n'
    (tmp_path / "marked.toml").write_text(text, encoding="utf-8-sig")
    (tmp_path / "ring.csv").write_text("0,1\n1,2\n2,0\n", encoding="utf-8-sig")
    assert fl.load(tmp_path / "marked.toml").derived()["routers"] == 3
    for name, expected_text in (("marked.toml", "marked.toml cannot be read"),
                                ("ring.csv", "topology.file: .*ring.csv cannot")):
        before = (tmp_path / name).read_bytes()
        (tmp_path / name).write_text("x", encoding="utf-16")
        with pytest.raises(fl.ConfigError,
                           match=f"{expected_text}.*: it begins with the byte-order mark of UTF-16. Save it as"):
            fl.load(tmp_path / "marked.toml").derived()
        (tmp_path / name).write_bytes(before)
    program = 'ranks = 2\n[[step]]\ncall = "barrier"\n'
    (tmp_path / "p.toml").write_text(program, encoding="utf-8-sig")
    assert fl.Experiment({"traffic.mode": "program", "traffic.program_file": str(tmp_path / "p.toml"),
                          "router.kind": "bgl", "topology.shape": [2, 2, 2]})


# Values as they are typed on the command line.


@pytest.mark.parametrize(("typed", "value"), [
    (".2", 0.2), ("5.", 5.0), ("-.5", -0.5), ("+.5", 0.5), (".5e-3", 0.0005), ("007", 7), ("0.30", 0.3),
    ("True", True), ("FALSE", False), ("[.2, 1.]", [0.2, 1.0]), ("[[1,.5],[5,.5]]", [[1, 0.5], [5, 0.5]]), ("0x10", 16),
    ("1_000", 1000),
    ('".2"', ".2"), ("mesh", "mesh"), ("a.b", "a.b"), ("v1.5.2", "v1.5.2"), ("./x.csv", "./x.csv"), ("..", ".."),
    ("0,2", "0,2"), ("[4, 4", "[4, 4"), ("", ""), ("5.csv", "5.csv"), ("0x", "0x"), (".", "."),
])
def test_values_of_the_command_line_may_be_typed_carelessly(typed, value):
    found = parse_value(typed)
    assert found == value and type(found) is type(value)


def test_a_number_without_a_digit_before_its_point(cli):
    done = cli("run", "vc-mesh-8x8", "--set", "traffic.load=.2", *(f"--set={k}={v}" for k, v in FAST.items()), "--json")
    assert done.returncode == 0 and '"traffic.load": 0.2' in done.stdout, done.stderr
    assert fl.load("vc-mesh-8x8").set("traffic.load", parse_value(".2")) and parse_over("traffic.load=.1,.2")[1] == [
        0.1, 0.2]


# Removed keys, and files in the current directory.


def test_any_configuration_becomes_a_batch_or_a_trace(cli, tmp_path):
    (tmp_path / "packets.csv").write_text("0,0,1,4\n5,2,3,4")  # without a newline at its end
    batch = ("--unset", "traffic.load", "--set", "traffic.mode=batch", "--set", "traffic.batch_packets=2")
    done = cli("run", "vc-mesh-8x8", *batch, "--json")
    assert done.returncode == 0 and '"delivered": 128' in done.stdout, done.stderr
    trace = ("--unset=traffic.load", "--unset=traffic.pattern", "--unset=traffic.packet_flits",
             "--set=traffic.mode=trace", "--set=traffic.trace_file=packets.csv")
    done = cli("run", "vc-mesh-8x8", *trace, "--json")
    assert done.returncode == 0 and '"delivered": 2' in done.stdout, done.stderr
    for command in (("inspect", "vc-mesh-8x8"), ("sweep", "vc-mesh-8x8", "--over", "router.vcs=2,4"),
                    ("trace", "vc-mesh-8x8", "--cycles", "0:20", "--format", "jsonl", "--out", "events.jsonl")):
        done = cli(*command, *trace)
        assert done.returncode == 0, done.stderr
    created = [json.loads(line) for line in (tmp_path / "events.jsonl").read_text().splitlines()]
    assert [e["dst"] for e in created if e["kind"] == "created"] == [1, 3]
    done = cli("bench", "vc-mesh-8x8", "--unset", "traffic.load", "--cycles", "10", "--json")
    assert done.returncode == 0 and '"load"' in done.stdout, done.stderr


@pytest.mark.parametrize(("options", "expected_text"), [
    (("--unset", "traffic.laod"), "unknown key traffic.laod. Did you mean traffic.load?"),
    (("--unset", "num_vcs"), "unknown key num_vcs. It is BookSim's name for router.vcs."),
    (("--unset", "traffic.load", "--set", "traffic.load=0.1"), "--unset traffic.load: --set gives it a value"),
    (("--set", "traffic.mode=batch", "--set", "traffic.load=0.1"), "Remove it (--unset traffic.load) or change"),
    (("--set", "traffic.mode=trace", "--unset", "traffic.load", "--unset", "traffic.pattern", "--unset",
      "traffic.packet_flits", "--unset", "traffic.trace_file"), "traffic.trace_file"),
])
def test_keys_that_cannot_be_removed_give_one_line(cli, options, expected_text):
    done = cli("run", "vc-mesh-8x8", *options)
    assert done.returncode == 2 and expected_text in done.stderr and done.stderr.count("\n") == 1, done.stderr


def test_none_removes_a_key():
    exp = fl.load("vc-mesh-8x8")
    assert exp.set("router.vcs", 2).set("router.vcs", None)["router.vcs"] == fl.Experiment({})["router.vcs"]
    batch = exp.set({"traffic.load": None, "traffic.mode": "batch"})
    assert "traffic.load" not in batch and "traffic.load" in exp
    assert exp.set("traffic.window", None).flat() == exp.flat()  # it was not set
    with pytest.raises(fl.ConfigError, match=r"unknown key traffic\.laod\. Did you mean traffic\.load\?"):
        exp.set("traffic.laod", None)
    pattern = exp.with_pattern(lambda source, terminals: source ^ 1)
    assert pattern.set({"traffic.pattern": None, "traffic.matrix_file": None})["traffic.pattern"] == "uniform"


def test_relative_files_of_set_start_in_the_current_directory(tmp_path, monkeypatch, cli):
    """The configuration lies in another folder, and both folders have a file of that name."""
    folder = tmp_path / "configs"
    folder.mkdir()
    (folder / "x.toml").write_text('[topology]\nkind = "graph"\nfile = "g.csv"\n[routing]\nalgorithm = "table"\n')
    (folder / "g.csv").write_text("0,1\n1,2\n2,0\n")
    (tmp_path / "g.csv").write_text("0,1\n1,2\n2,3\n3,0\n")
    monkeypatch.chdir(tmp_path)
    exp = fl.load("configs/x.toml")
    assert exp.derived()["routers"] == 3 and exp.set("topology.file", "g.csv").derived()["routers"] == 4
    assert exp.set("topology.file", Path("g.csv")).derived()["routers"] == 4
    moved = exp.set("topology.file", "g.csv")
    monkeypatch.chdir(folder)
    assert moved.derived()["routers"] == 4
    done = cli("inspect", "configs/x.toml", "--set", "topology.file=g.csv", "--json")
    assert json.loads(done.stdout)["derived"]["routers"] == 4
    done = cli("inspect", "configs/x.toml", "--set", "topology.file=missing.csv")
    assert done.returncode == 2 and str(tmp_path / "missing.csv") in done.stderr


# Numbers of NumPy, and seeds.


def test_numbers_of_numpy_may_lie_in_lists(small):
    assert small.set("topology.shape", [np.int64(4), 4])["topology.shape"] == [4, 4]
    assert small.set("topology.shape", (np.int32(4), np.uint8(2)))["topology.shape"] == [4, 2]
    lengths = small.set("traffic.packet_flits", [[np.int64(1), np.float32(0.5)], (5, np.float64(0.5))])
    assert lengths.flat() == small.set("traffic.packet_flits", [[1, 0.5], [5, 0.5]]).flat()
    assert fl.Experiment({"topology.shape": [np.int64(4), 4]})["topology.shape"] == [4, 4]
    over = {"topology.shape": [[np.int64(4), 4], (2, np.int64(2))]}
    assert len(fl.sweep(small.set(FAST), over, progress=False).frame) == 2


def test_a_run_takes_a_seed(small):
    fast = small.set(FAST)
    assert fl.run(fast, seed=3).state_hash == fl.run(fast.set("run.seed", 3)).state_hash != fl.run(fast).state_hash
    assert fl.run(fast, seed=np.int64(3)).seed == 3
    with pytest.raises(fl.ConfigError, match=r"run\.seed = -1 is out of range"):
        fl.run(fast, seed=-1)


def test_a_sweep_takes_a_list_of_seeds(small):
    fast, over = small.set(FAST), {"traffic.load": [0.1]}
    both = fl.sweep(fast, over, seeds=[1, 2], progress=False)
    assert both.csv_text() == fl.sweep(fast, over, seeds=2, progress=False).csv_text()
    assert list(fl.sweep(fast, over, seeds=np.array([7, 3]), progress=False).frame["run.seed"]) == [7, 3]
    for wrong in ([], [1, 1], [1.5], "12", {1: 2}):
        with pytest.raises(fl.ConfigError, match=r"seeds = .*: it must be a whole number, or a list of different"):
            fl.sweep(fast, over, seeds=wrong)
    with pytest.raises(fl.ConfigError, match="both choose seeds"):
        fl.sweep(fast, {"run.seed": [1, 2]}, seeds=[3])


# Notebooks and pages.


def test_notebooks_are_copied_out_of_the_package(cli, tmp_path):
    done = cli("notebooks", "mine")
    assert done.returncode == 0 and "jupyter lab mine/00_quickstart.ipynb" in done.stdout, done.stderr
    names = sorted(path.name for path in (tmp_path / "mine").iterdir())
    assert names == sorted([*(path.name for path in (ROOT / "notebooks").glob("*.ipynb")), *notebook_texts()])
    (tmp_path / "mine" / names[1]).write_text("my work")
    done = cli("notebooks", "mine")
    assert done.returncode == 2 and "already exists: move it, or choose another folder" in done.stderr
    assert (tmp_path / "mine" / names[1]).read_text() == "my work"
    (tmp_path / "file").write_text("")
    assert "cannot be written" in cli("notebooks", "file").stderr
