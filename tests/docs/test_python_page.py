"""The code of docs/python.md runs in order, and its figures exist."""

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).resolve().parents[2] / "docs/python.md").read_text(encoding="utf-8")


def test_the_code_runs(tmp_path, monkeypatch):
    import matplotlib
    import matplotlib.pyplot as plt

    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    for number, code in enumerate(re.findall(r"```python\n(.*?)```", PAGE, re.S), 1):
        exec(compile(code, f"docs/python.md, block {number}", "exec"), names)
    plt.close("all")
    kept = {path.name for path in tmp_path.iterdir()}
    assert {"mine.toml", "mine-matrix.csv", "half_way", "half_way.csv", "half_way.parquet", "half_way.pdf",
            "half_way.svg", "channels.png"} <= kept
    assert names["same"].csv_text() == names["curve"].csv_text()
    # Makes the folders that the command-line example names.
    from flitlab.cli import main

    (command,) = re.findall(r"`flitlab (plot [^`]*)`", PAGE)
    assert main(command.split()) == 0 and (tmp_path / "both.pdf").stat().st_size > 5000


def test_the_message_that_it_shows_is_the_one():
    import networkx as nx

    import flitlab as fl

    (shown,) = re.findall(r"^    (with_routes: .*)$", PAGE, re.M)
    ring = fl.Experiment.from_dict({}).with_topology(nx.cycle_graph(6))
    with pytest.raises(fl.ConfigError) as error:
        ring.with_routes(lambda router, destination: router + 1 if router < 3 else router - 1)
    assert str(error.value) == shown
