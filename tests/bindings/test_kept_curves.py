"""Curves that are kept and read again: folders, CSV, Parquet, xarray, and their display in a notebook."""

import csv
import json
import re

import numpy as np
import pytest

import flitlab as fl


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Returns a sweep's folder and its curve: two lines, one of which saturates, two seeds."""
    path = tmp_path_factory.mktemp("sweep") / "mesh"
    experiment = fl.Experiment.from_dict({"topology.kind": "mesh", "topology.shape": [4, 4],
                                          "run.warmup_cycles": 500, "run.measure_cycles": 2000}, name="small mesh")
    over = {"router.vcs": [1, 4], "traffic.load": [0.1, 0.9]}
    return path, fl.sweep(experiment, over, seeds=2, out=path, progress=False)


def alike(one, other):
    assert one.csv_text() == other.csv_text()
    assert (one.keys, one.mode, one.kind) == (other.keys, other.mode, other.kind)
    assert repr(one) == repr(other) and one.saturation_by_group == other.saturation_by_group


def test_a_folder_is_read_as_it_was(folder):
    path, curve = folder
    again = fl.Curve.read(path)
    alike(again, curve)
    assert again.name == "mesh"  # the folder's name, which distinguishes sweeps of one configuration
    assert list(again.configs) == list(curve.configs)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_file_has_the_whole_configuration(folder, tmp_path, ending):
    _, curve = folder
    file = tmp_path / f"kept.{ending}"
    getattr(curve, f"to_{ending}")(file)
    again = fl.Curve.read(file)
    alike(again, curve)
    assert again.csv_text(configuration=True) == curve.csv_text(configuration=True)
    # The experiment of each row can be rebuilt from the file alone.
    row, config = again.rows[2], again.configs[2]
    varied = {key: row[key] for key in (*again.keys, "run.seed")}
    settings = {path: json.loads(value) if str(value).startswith("[") else value
                for path, value in (config | varied).items()}
    assert fl.run(settings).state_hash == row["state_hash"]


def test_columns_of_the_configuration_are_behind_the_results(folder, tmp_path):
    _, curve = folder
    curve.to_csv(tmp_path / "whole.csv")
    head, *rows = list(csv.reader((tmp_path / "whole.csv").open()))
    short = curve.csv_text().splitlines()[0].split(",")
    assert head[: len(short)] == short
    assert "router.vcs" not in head[len(short):] and head.count("router.vcs") == 1
    assert set(head) >= set(fl.load("vc-mesh-8x8").flat()) and len(head) == len(set(head))
    at = head.index("router.buffer_flits")
    assert {row[at] for row in rows} == {"8"}


def test_configurations_that_differ_beyond_the_keys(tmp_path):
    """Hypercubes have no shape, so some rows have an empty cell in that column."""
    experiment = {"run.warmup_cycles": 500, "run.measure_cycles": 500, "router.vcs": 4, "traffic.load": 0.1}
    curve = fl.sweep(experiment, {"topology.kind": ["mesh", "hypercube"], "run.measure_cycles": [500, "auto"]},
                     progress=False)
    for ending in ("csv", "parquet"):
        file = tmp_path / f"kept.{ending}"
        getattr(curve, f"to_{ending}")(file)
        again = fl.Curve.read(file)
        assert ["topology.shape" in c for c in again.configs] == [True, True, False, False]
        assert ["topology.dimensions" in c for c in again.configs] == [False, False, True, True]
        assert [str(row["run.measure_cycles"]) for row in again.rows] == ["500", "auto"] * 2


def test_hashes_that_look_like_numbers_stay_text(folder, tmp_path):
    _, curve = folder
    rows = [row | {"state_hash": "1234567890123e45"} for row in curve.rows]
    kept = fl.Curve(curve.keys, rows, "c", curve.mode, curve.kind, curve.configs)
    kept.to_csv(tmp_path / "c.csv")
    assert fl.Curve.read(tmp_path / "c.csv").rows[0]["state_hash"] == "1234567890123e45"


def test_a_folder_without_a_curve_is_an_error(tmp_path):
    (tmp_path / "table.csv").write_text("a,b\n1,2\n")
    (tmp_path / "half").mkdir()
    (tmp_path / "half" / "points.jsonl").write_text("")
    (tmp_path / "broken.parquet").write_text("PAR")
    for name, word in (("table.csv", "no column offered"), ("half", "its sweep is unfinished"), ("", "no curve.csv"),
                       ("nowhere.csv", "No such file"), ("broken.parquet", "cannot be read")):
        with pytest.raises(fl.ConfigError, match=word):
            fl.Curve.read(tmp_path / name)


@pytest.mark.parametrize(("column", "cell", "message_text"), [
    ("accepted", "abc", "accepted = 'abc', but it must be a number"),
    ("accepted", "", "accepted = None, but it must be a number"),
    ("saturated", "maybe", "saturated = 'maybe', but it must be True or False"),
    ("warmup_steady", "1", "warmup_steady = 1, but it must be True or False"),
    ("latency_mean", "12.x", "latency_mean = '12.x', but it must be a number"),
    ("cycles", "True", "cycles = True, but it must be a number"),
    ("traffic.load", "O.1", "traffic.load = 'O.1', but it must be a number"),
    ("run.seed", "", "run.seed = None, but it must be a number"),
    ("state_hash", "", "state_hash = '', but it must be 16 hexadecimal digits"),
    ("state_hash", "12ab", "state_hash = '12ab', but it must be 16 hexadecimal digits"),
])
def test_a_damaged_row_is_reported_by_file_and_line(folder, tmp_path, column, cell, message_text):
    lines = [line.split(",") for line in folder[1].csv_text().splitlines()]
    lines[3][lines[0].index(column)] = cell
    (tmp_path / "c.csv").write_text("\n".join(map(",".join, lines)) + "\n")
    with pytest.raises(fl.ConfigError, match=re.escape(f"c.csv:4 is damaged: {message_text}.")):
        fl.Curve.read(tmp_path / "c.csv")


@pytest.mark.parametrize(("damage", "message_text"), [
    (lambda text: text[: text.index(",", len(text) // 2)], r"c\.csv:\d+ is damaged: the number of cells is not"),
    (lambda text: text.replace("\n", ",7\n").replace(",7\n", "\n", 1),
     r"c\.csv:2 is damaged: the number of cells is not"),
    (lambda text: text.splitlines()[0] + "\n", r"c\.csv has the header of a sweep's table but no rows"),
    (lambda text: "", r"c\.csv is not the table of a sweep: it has no column offered"),
    (lambda text: text.replace("run.seed", "seed", 1), r"it has no column run\.seed"),
    (lambda text: text.replace("offered,accepted", "accepted,offered", 1), "columns must be in the order"),
])
def test_a_damaged_table_is_reported(folder, tmp_path, damage, message_text):
    (tmp_path / "c.csv").write_text(damage(folder[1].csv_text()))
    with pytest.raises(fl.ConfigError, match=message_text):
        fl.Curve.read(tmp_path / "c.csv")


def test_a_damaged_parquet_file_is_reported_by_row(folder, tmp_path):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    file = tmp_path / "c.parquet"

    def write(table):
        parquet.write_table(table, file)
        return file

    folder[1].to_parquet(file)
    table = parquet.read_table(file)
    words = arrow.array(["0.1", *["x"] * (table.num_rows - 1)])
    at = table.column_names.index("accepted")
    with pytest.raises(fl.ConfigError, match=r"c\.parquet, row 1, is damaged: accepted = '0\.1', but it must be a"):
        fl.Curve.read(write(table.set_column(at, "accepted", words)))
    with pytest.raises(fl.ConfigError, match=r"c\.parquet has the header of a sweep's table but no rows"):
        fl.Curve.read(write(table.slice(0, 0)))
    again = fl.Curve.read(write(table.replace_schema_metadata({"flitlab": "{"})))  # the metadata is optional
    assert again.csv_text() == folder[1].csv_text() and again.keys == folder[1].keys


def test_rows_without_a_load_are_no_damage(tmp_path):
    """A batch has no load, so some rows have an empty cell in a column of the configuration."""
    experiment = {"topology.shape": [4, 4], "run.warmup_cycles": 500, "run.measure_cycles": 500}
    curve = fl.sweep(experiment, {"traffic.mode": ["open", "batch"]}, progress=False)
    curve.to_csv(tmp_path / "c.csv")
    alike(fl.Curve.read(tmp_path / "c.csv"), curve)


@pytest.mark.parametrize("write", [fl.Curve.to_csv, fl.Curve.to_parquet, fl.Curve.save_plot])
def test_files_that_cannot_be_written_are_named(folder, tmp_path, write):
    path = tmp_path / "no" / "c.png"
    with pytest.raises(fl.ConfigError, match=re.escape(f"{path} cannot be written: No such file or directory.")):
        write(folder[1], path)


def test_missing_packages_are_named(folder, tmp_path, monkeypatch):
    import sys

    for name in ("pyarrow", "xarray"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(fl.ConfigError, match=r"to_parquet needs pyarrow: pip install 'flitlab\[results\]'"):
        folder[1].to_parquet(tmp_path / "c.parquet")
    with pytest.raises(fl.ConfigError, match=r"to_xarray needs xarray"):
        folder[1].to_xarray()


def test_xarray_has_the_axes_of_the_sweep(folder):
    _, curve = folder
    data = curve.to_xarray()
    assert dict(data.sizes) == {"router.vcs": 2, "traffic.load": 2, "run.seed": 2}
    for row in curve.rows:
        cell = data.sel({"router.vcs": row["router.vcs"], "traffic.load": row["traffic.load"],
                         "run.seed": row["run.seed"]})
        assert float(cell.accepted) == row["accepted"] and str(cell.state_hash.item()) == row["state_hash"]
        assert np.isnan(cell.latency_mean) if row["saturated"] else float(cell.latency_mean) == row["latency_mean"]
    assert data.latency_mean.attrs["units"] == "cycles" and data.accepted.attrs["units"] == "flits/cycle/terminal"
    assert data["traffic.load"].attrs["units"] == "flits/cycle/terminal"
    assert data.attrs["topology.shape"] == "[4, 4]" and "router.vcs" not in data.attrs


def test_a_notebook_shows_little(folder):
    _, curve = folder
    shown = curve._repr_html_()
    text = re.sub(r"<[^>]*>", " ", shown)
    assert "small mesh" in text and "8 runs" in text and shown.count("<tr>") == 9
    assert shown.count("<th") == 8  # columns: vcs, load, seed, accepted, latency, +-, p99, notes
    assert "vcs 1: saturated from traffic.load = 0.9" in text and "channel_use_max" not in text
    long = fl.Curve(curve.keys, curve.rows * 10, "<b>", curve.mode, curve.kind)._repr_html_()
    assert long.count("<tr>") == 22 and "..." in long and "80 runs" in long and "&lt;b&gt;" in long
