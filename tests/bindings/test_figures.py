"""Pictures of curves: bands over seeds, overlays, and figures that fit a column of a paper."""

import math
import re
import statistics
import subprocess
import sys

import matplotlib
import pytest

import flitlab as fl
from flitlab.plots import points

matplotlib.use("Agg")


def row(load, seed=1, latency=20.0, accepted=None, saturated=False):
    return {"traffic.load": load, "run.seed": seed, "latency_mean": None if saturated else latency, "latency_ci95": 0.5,
            "accepted": load if accepted is None else accepted, "saturated": saturated}


def curve(rows, name="c", keys=("traffic.load",)):
    return fl.Curve(list(keys), rows, name, "open", "vc")


@pytest.fixture(autouse=True)
def closed():
    import matplotlib.pyplot as plt

    before = dict(plt.rcParams)
    yield
    plt.close("all")
    assert dict(plt.rcParams) == before


@pytest.fixture
def folders(tmp_path):
    for name, flits in (("one", 1), ("two", 2)):
        experiment = {"topology.kind": "mesh", "topology.shape": [4, 4], "run.warmup_cycles": 500,
                      "run.measure_cycles": 1000, "traffic.packet_flits": flits}
        fl.sweep(experiment, {"traffic.load": [0.1, 0.9]}, out=tmp_path / name, progress=False)
    return tmp_path


def test_bands_are_over_seeds():
    """Student's t for two degrees of freedom is 4.303."""
    latencies, accepted = [20.0, 22.0, 27.0], [0.2, 0.21, 0.19]
    rows = [row(0.2, s, x, a) for s, (x, a) in enumerate(zip(latencies, accepted, strict=True))]
    (slow,) = points(rows, "traffic.load", "latency_mean", steady=True)
    (fast,) = points(rows, "traffic.load", "accepted")
    assert slow.y == 23 and slow.half == pytest.approx(4.303 * statistics.stdev(latencies) / 3**0.5)
    assert fast.y == pytest.approx(0.2) and fast.half == pytest.approx(4.303 * statistics.stdev(accepted) / 3**0.5)
    (alone,) = points(rows[:1], "traffic.load", "latency_mean")
    assert alone.half == 0.5 and math.isnan(next(points(rows[:1], "traffic.load", "accepted")).half)
    left, right = curve(rows + [row(0.4, s, 30) for s in range(3)]).plot()
    for axis, half in ((left, slow.half), (right, fast.half)):
        (band,) = axis.collections
        ys = [y for x, y in band.get_paths()[0].vertices if x == 0.2]
        assert max(ys) - min(ys) == pytest.approx(2 * half)


def test_numbers_among_words_are_words():
    rows = [{**row(0.1), "run.warmup_cycles": value} for value in ("auto", 500, 1000)]
    left, _ = curve(rows, keys=("run.warmup_cycles",)).plot()
    assert [text.get_text() for text in left.get_xticklabels()] == ["auto", "500", "1000"]


def test_an_overlay_shows_all_of_every_curve():
    low = curve([row(0.1, latency=20), row(0.2, latency=30)], "low")
    high = curve([row(0.1, latency=90), row(0.9, latency=400), row(1.0, accepted=0.95, saturated=True)], "high")
    left, right = fl.plot([low, high], labels=["low", "high"])
    assert left.get_ylim()[0] == right.get_ylim()[0] == 0
    assert left.get_ylim()[1] > 400 and right.get_ylim()[1] > 0.95
    assert [t.get_text() for t in left.get_legend().get_texts()] == ["low", "high"]
    labels = [t.get_text() for t in right.get_legend().get_texts()]
    assert sorted(labels) == ["accepted = offered", "high", "low"]
    with pytest.raises(fl.ConfigError, match=r"over traffic\.load and router\.vcs"):
        fl.plot([low, curve([row(0.1) | {"router.vcs": 2}], keys=["router.vcs"])])


def test_a_paper_gets_a_column():
    lines = [curve([row(0.1), row(0.2, accepted=0.15, saturated=True)], n) for n in ("a", "b")]
    with fl.style("ieee"):
        left, right = fl.plot(lines, labels=["a", "b"])
    figure = left.figure
    figure.canvas.draw()
    assert figure.get_figwidth() == 3.5
    assert left.get_position().y0 > right.get_position().y1  # one above the other
    assert left.get_ylabel() == "packet latency (cycles)"
    assert right.get_xlabel() == "offered load (flits/cycle/terminal)"
    assert not left.get_title() and not right.get_title()
    lines = [line for line in left.lines if not line.get_label().startswith("_")]
    assert len({line.get_marker() for line in lines}) == len({line.get_linestyle() for line in lines}) == 2
    texts = [t for a in (left, right) for t in (a.xaxis.label, a.yaxis.label, *a.get_yticklabels())]
    (legend,) = figure.legends
    assert [t.get_text() for t in legend.get_texts()] == ["a", "b", "accepted = offered", "first saturated load",
                                                          "saturated"]
    assert all(t.get_fontsize() >= 7 for t in [*texts, *legend.get_texts()])
    edge = figure.get_tightbbox()
    assert edge.x0 >= -0.01 and edge.x1 <= 3.51  # inches: nothing hangs out of the column
    assert not legend.get_window_extent().overlaps(left.get_window_extent())


def test_a_style_holds_until_it_ends():
    style = fl.style("ieee")
    try:
        assert matplotlib.rcParams["figure.figsize"] == [3.5, 2.4]
        for size, of in ((8, "font.size"), (7, "xtick.labelsize"), (7, "ytick.labelsize"), (7, "legend.fontsize")):
            assert matplotlib.rcParams[of] == size
        assert "Times of 8 points, ticks and legend of 7" in fl.style.__doc__
    finally:
        style.__exit__()
    assert matplotlib.rcParams["figure.figsize"] != [3.5, 2.4]
    with pytest.raises(fl.ConfigError, match=r"style = 'iee': .* Did you mean ieee"):
        fl.style("iee")


def test_formats(tmp_path):
    c = curve([row(0.1), row(0.2)])
    with fl.style("ieee"):
        for ending, magic in (("svg", b"<?xml"), ("pdf", b"%PDF"), ("png", b"\x89PNG")):
            for again in (1, 2):
                c.save_plot(tmp_path / f"{again}.{ending}")
            assert (tmp_path / f"1.{ending}").read_bytes().startswith(magic)
            assert (tmp_path / f"1.{ending}").read_bytes() == (tmp_path / f"2.{ending}").read_bytes()
    text = (tmp_path / "1.svg").read_text()
    assert "packet latency (cycles)" in re.sub(r"<[^>]*>", "", text)  # text stays text
    assert 'width="252pt"' in text  # 3.5 inches
    assert b"/Type3" not in (tmp_path / "1.pdf").read_bytes().replace(b" ", b"")
    with pytest.raises(fl.ConfigError, match=r"ends in \.png, \.svg or \.pdf"):
        c.save_plot(tmp_path / "c.doc")


def test_the_command_line_overlays_folders(folders):
    def plot(*args):
        return subprocess.run([sys.executable, "-m", "flitlab", "plot", *args], cwd=folders, capture_output=True,
                              text=True)

    done = plot("one", "two", "--style", "ieee", "--out", "both.svg")
    assert (done.returncode, done.stdout, done.stderr) == (0, "both.svg written\n", "")
    assert {"one", "two"} <= set(re.findall(r">([^<>\n]+)</text>", (folders / "both.svg").read_text()))
    assert plot("one").returncode == 0 and (folders / "curves.png").stat().st_size > 10000
    for args, word in ((["three"], "three"), (["one", "--style", "acm"], "there is ieee"),
                       (["one", "two", "--labels", "x"], "1 names are not one for each of 2")):
        done = plot(*args)
        assert done.returncode == 2 and word in done.stderr and done.stderr.count("\n") == 1
