"""Figures of curves: bands over seeds, overlays, and figures that fit a column of a paper."""

import contextlib
import itertools
import math
import pickle
import re
import statistics
import subprocess
import sys

import matplotlib
import pytest

import flitlab as fl
from flitlab.picture import Picture
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
    """Bands show confidence intervals over three seeds (Student's t for two degrees of freedom: 4.303)."""
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
    assert left.get_position().y0 > right.get_position().y1  # one panel is above the other
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
    assert edge.x0 >= -0.01 and edge.x1 <= 3.51  # bounds in inches: the whole figure is inside the column
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
    assert "packet latency (cycles)" in re.sub(r"<[^>]*>", "", text)  # the file has text as text, not as outlines
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
    for args, word in ((["three"], "three"), (["one", "--style", "acm"], "styles are ieee"),
                       (["one", "two", "--labels", "x"], "1 names for 2 curves; give one name for each")):
        done = plot(*args)
        assert done.returncode == 2 and word in done.stderr and done.stderr.count("\n") == 1


def full(load, seed=1, saturated=False):
    return row(load, seed, 20 + load, saturated=saturated) | {
        "latency_p50": None if saturated else 18.0, "latency_p95": None if saturated else 30.0,
        "latency_p99": None if saturated else 40.0, "network_latency_mean": None if saturated else 15.0,
        "hops_mean": 5.25, "channel_use_mean": 0.1, "channel_use_max": 0.3, "warmup_steady": True,
        "window_capped": False}


TWO = [curve([full(0.1), full(0.2), full(0.9, saturated=True)], "a"), curve([full(0.1), full(0.3)], "b")]


@pytest.mark.parametrize(("panels", "labels", "lines"), [
    ("latency", ["packet latency (cycles)"], [1]),
    (["hops"], ["hops"], [1]),
    (("latency", "accepted", "percentiles", "network_latency", "hops", "channel_use"),
     ["packet latency (cycles)", "accepted load\n(flits/cycle/terminal)", "packet latency (cycles)",
      "network latency (cycles)", "hops", "channel use (flits/cycle)"], [1, 1, 3, 1, 1, 2]),
])
@pytest.mark.parametrize(("width", "inches"), [("single", 3.5), ("double", 7.16), (6, 6)])
@pytest.mark.parametrize("style", [None, "ieee"])
def test_curves_are_drawn_in_chosen_panels(panels, labels, lines, width, inches, style):
    with fl.style(style) if style else contextlib.nullcontext():
        picture = fl.plot(TWO, panels=panels, width=width, labels=["x", "y"])
        figure = picture.figure
        figure.canvas.draw()
    assert figure.get_figwidth() == inches
    assert picture.panels == ((panels,) if isinstance(panels, str) else tuple(panels))
    assert [axis.get_ylabel() for axis in picture] == labels and figure.axes == list(picture.axes)
    for axis, wanted in zip(picture, lines, strict=True):
        drawn = [line for line in axis.lines if len(line.get_xdata()) > 1 and line.get_xdata()[0] != line.get_xdata()[1]
                 and line.get_linestyle() != "None" and line.get_label() != "accepted = offered"]
        assert len(drawn) == 2 * wanted and axis.get_xlabel() in ("", "offered load (flits/cycle/terminal)")
        assert len({line.get_color() for line in drawn}) == 2
        assert len({line.get_linestyle() for line in drawn[:wanted]}) == wanted
    (legend,) = figure.legends
    keys = [text.get_text() for text in legend.get_texts()]
    assert keys[:2] == ["x", "y"] and len(set(keys)) == len(keys)
    texts = [t for a in picture for t in (a.xaxis.label, a.yaxis.label, *a.get_xticklabels(), *a.get_yticklabels())]
    assert all(7 <= text.get_fontsize() <= 8 for text in [*texts, *legend.get_texts()])
    edge, window = figure.get_tightbbox(), legend.get_window_extent()
    assert edge.x0 >= -0.01 and edge.x1 <= inches + 0.01 and edge.y0 >= -0.01  # all of it is inside the page
    assert not any(window.overlaps(axis.get_window_extent()) for axis in picture)
    for one, other in itertools.combinations(picture, 2):
        assert not one.get_tightbbox().overlaps(other.get_tightbbox())


def test_all_pictures_are_of_one_kind():
    """Pictures consist of axes, which the caller can take apart and draw into again."""
    result = fl.run({"topology.shape": [4, 4], "run.warmup_cycles": 100, "run.measure_cycles": 200})
    network = fl.Network({"topology.shape": [4, 4]}).step(20)
    left, right = mine = TWO[0].plot()
    pictures = [mine, result.channels.plot(), network.router(3).plot(), fl.plot(TWO)]
    assert {type(picture) for picture in pictures} == {Picture}
    assert [picture.panels for picture in pictures] == [
        ("latency", "accepted"), ("channels",), ("buffers",), ("latency", "accepted")]
    for picture in pictures:
        assert all(axis.figure is picture.figure and hasattr(axis, "fill_between") for axis in picture)
        assert pickle.loads(pickle.dumps(picture)).panels == picture.panels
    assert tuple(TWO[1].plot(mine)) == (left, right) and len(left.get_legend_handles_labels()[1]) == 2
    only = fl.plot(TWO[0], panels="hops")
    assert TWO[1].plot(only).panels == ("hops",) and repr(only) == "<Picture: hops>"
    assert tuple(result.channels.plot(only)) == tuple(only)


def test_a_picture_is_written_the_same_twice(tmp_path):
    picture = fl.plot(TWO, width="single")
    for ending in ("pdf", "svg", "png"):
        for again in (1, 2):
            picture.savefig(tmp_path / f"{again}.{ending}")
        assert (tmp_path / f"1.{ending}").stat().st_size > 5000
    assert (tmp_path / "1.pdf").read_bytes() == (tmp_path / "2.pdf").read_bytes()
    with pytest.raises(fl.ConfigError, match=r"ends in \.png, \.svg or \.pdf"):
        picture.savefig(tmp_path / "c.doc")
    with pytest.raises(fl.ConfigError, match=r"nowhere.* cannot be written"):
        picture.savefig(tmp_path / "nowhere" / "c.png")


@pytest.mark.parametrize(("wrong", "message_text"), [
    ({"panels": "latencies"}, r"panels = 'latencies': 'latencies' is not a panel; panels are latency, accepted, "
                              r"percentiles, network_latency, hops, channel_use, finish\. Did you mean latency\?"),
    ({"panels": ["latency", 3]}, r"panels = \['latency', 3\]: 3 is not a panel; panels are latency, accepted,"),
    ({"panels": []}, r"panels = \[\]: None is not a panel; panels are"),
    ({"panels": 7}, r"panels = 7: 7 is not a panel; panels are"),
    ({"panels": "finish"}, r"only batches and traces have a time to finish, but the runs of a are of other kinds; "
                           "panels are"),
    ({"width": "douple"}, r"width = 'douple': it must be 'single' or 'double', or 1 to 100 inches\. Did you mean doub"),
    ({"width": 0}, r"width = 0: it must be 'single' or 'double', or 1 to 100 inches\."),
    ({"width": True}, r"width = True: it must be"),
    ({"labels": ["x"]}, r"labels = \['x'\]: it must be a list of 2 names, one for each curve"),
    ({"labels": "xy"}, r"labels = 'xy': it must be a list of 2 names"),
    ({"curves": []}, r"plot\(\[\]\): it must be a curve, or a list of curves"),
    ({"curves": "half_way"}, r"plot\('half_way'\): it must be a curve, or a list of curves, as fl\.sweep and"),
    ({"curves": [3]}, r"plot\(\[3\]\): it must be a curve"),
])
def test_what_cannot_be_drawn_is_one_line(wrong, message_text):
    with pytest.raises(fl.ConfigError, match=message_text) as error:
        fl.plot(**{"curves": TWO} | wrong)
    assert "\n" not in str(error.value)


def test_a_long_line_has_no_band(tmp_path):
    """A line of twenty thousand points has no markers and no band, because they would overlap."""
    long = curve([full(i / 20000) for i in range(20000)])
    picture = fl.plot(long, panels="latency")
    assert not picture[0].collections and len(picture[0].lines[0].get_xdata()) == 20000
    assert fl.plot(TWO[0], panels="latency")[0].collections
