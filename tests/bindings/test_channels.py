"""Flits that channels carried in a run, compared with the network stepped by hand, and the drawing of the table."""

import sys

import matplotlib
import numpy as np
import pytest

import flitlab as fl
from flitlab import channels as drawing
from flitlab.layouts import graph_positions

matplotlib.use("Agg")
WARM, WINDOW = 500, 2000


def experiment(kind="vc", **settings):
    given = {"router.kind": kind, "run.warmup_cycles": WARM, "run.measure_cycles": WINDOW}
    return fl.Experiment.from_dict(given | {k.replace("__", "."): v for k, v in settings.items()})


KINDS = {
    "mesh": experiment(topology__kind="mesh", topology__shape=[4, 3], traffic__load=0.2),
    "bless": experiment("bless", topology__kind="mesh", topology__shape=[4, 4], traffic__load=0.1),
    "sconnect": experiment("sconnect", topology__kind="mesh", topology__shape=[4, 4], traffic__load=0.1),
    "t3e": experiment("t3e", topology__shape=[4, 2, 2], traffic__load=0.1),
    "metro": experiment("metro", topology__radix=[4, 4], traffic__load=0.1),
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_table_is_what_was_carried_in_the_window(kind):
    e = KINDS[kind]
    result = fl.run(e, threads=1)
    net = fl.Network(e).step(result.warmup_cycles)
    before = [flits for *_, flits in net.channels()]
    after = net.step(result.measured_cycles).channels()
    table = result.channels.frame
    assert list(table.columns) == ["router", "port", "to_router", "to_port", "flits", "use"]
    assert list(table["flits"]) == [flits - old for (*_, flits), old in zip(after, before, strict=True)]
    assert sum(table["flits"]) > 0
    assert [tuple(row) for row in table.iloc[:, :4].to_numpy()] == net.links()
    assert list(table["use"]) == [flits / result.measured_cycles for flits in table["flits"]]
    assert table["use"].max() == pytest.approx(result.channel_utilization.max)
    assert table["use"].mean() == pytest.approx(result.channel_utilization.mean)
    assert len(result.channels) == len(table)


def test_a_run_resumed_from_a_checkpoint_has_them_too(tmp_path):
    e = KINDS["mesh"]
    kept = fl.run(e, checkpoint=tmp_path / "c", every=1e-9)
    assert list(kept.channels.frame["flits"]) == list(fl.run(e).channels.frame["flits"])


def test_they_are_not_in_the_json_that_people_keep():
    result = fl.run(KINDS["mesh"])
    assert "channel_flits" not in result.to_dict() and result.to_dict()["channels"] == len(result.channels) == 34
    with pytest.raises(fl.ConfigError, match=r"only the result of fl\.run"):
        _ = fl.Result(result.to_dict()).channels


def test_they_say_which_are_busiest():
    channels = fl.run(KINDS["mesh"]).channels
    busiest = channels.frame.sort_values("use").iloc[-1]
    lines = repr(channels).splitlines()
    assert lines[0].startswith("34 channels") and len(lines) == 12
    assert lines[2].split()[:2] == [str(int(busiest.router)), str(int(busiest.port))]
    assert channels._repr_html_().count("<tr") == 11


def arrows(axes):
    (quiver,) = [c for c in axes.collections if hasattr(c, "U")]
    return quiver


def test_the_drawing_of_a_mesh_has_each_channel_in_its_place():
    result = fl.run(KINDS["mesh"])
    (axes,) = result.channels.plot()
    quiver, table = arrows(axes), result.channels.frame
    assert list(quiver.get_array()) == list(table["use"])
    for (x, y), u, v, a, b in zip(quiver.get_offsets(), quiver.U, quiver.V, table["router"], table["to_router"],
                                  strict=True):
        start, end = (np.array([r % 4, r // 4]) for r in (a, b))
        assert np.linalg.norm([x, y] - start) < 0.2 and np.linalg.norm([x + u, y + v] - end) < 0.2
    # The channel in the opposite direction is drawn on the other side of the line between the routers.
    ahead, back = (table[(table.router == a) & (table.to_router == b)].index[0] for a, b in ((0, 1), (1, 0)))
    assert quiver.get_offsets()[ahead][1] < 0 < quiver.get_offsets()[back][1]
    assert axes.get_xlabel() == "x (router)" and axes.get_ylabel() == "y (router)"
    bar = axes.figure.axes[-1]
    assert "flits/cycle" in bar.get_ylabel() and quiver.get_clim() == (0, table["use"].max())


def test_channels_around_are_stubs_that_leave_the_picture():
    torus = experiment(topology__shape=[4, 4])
    (axes,) = fl.run(torus).channels.plot()
    quiver = arrows(axes)
    links = fl.Network(torus).links()
    around = next(i for i, (a, _, b, _) in enumerate(links) if (a, b) == (3, 0))
    assert quiver.U[around] > 0 and np.hypot(quiver.U[around], quiver.V[around]) < 0.5
    inside = next(i for i, (a, _, b, _) in enumerate(links) if (a, b) == (0, 1))
    assert quiver.U[inside] > 0.6


def test_planes_of_three_dimensions_do_not_touch():
    places = drawing._grid([4, 3, 5])
    apart = np.abs(places[:, None] - places[None]).max(axis=2) + 9 * np.eye(60)
    assert apart.min() >= 1
    planes = places.reshape(5, 12, 2)
    for plane in planes:
        assert (plane - plane[0] == planes[0] - planes[0][0]).all()
    (named,) = fl.run(experiment("t3e", topology__shape=[4, 2, 2], traffic__load=0.1)).channels.plot()
    assert [t.get_text() for t in named.texts] == ["z = 0", "z = 1"]


def test_a_graph_is_drawn_by_distance():
    """A path is drawn as a straight line with even steps, a ring of six as a hexagon."""
    line = np.array(graph_positions(6, [(a, a + 1) for a in range(5)])[0])
    steps = np.linalg.norm(np.diff(line, axis=0), axis=1)
    assert steps == pytest.approx(np.ones(5), abs=0.05) and np.linalg.norm(line[5] - line[0]) > 4.8
    ring = np.array(graph_positions(6, [(a, (a + 1) % 6) for a in range(6)])[0])
    assert np.linalg.norm(ring - ring.mean(axis=0), axis=1) == pytest.approx(np.ones(6), abs=0.05)


@pytest.mark.parametrize("channels", [[(a, a + 1) for a in range(0, 40, 2)], [(a, (a + 1) % 400) for a in range(400)]])
def test_graphs_in_parts_and_large_ones_are_drawn_by_springs(channels):
    routers = max(map(max, channels)) + 1
    places = np.array(graph_positions(routers, channels)[0])
    steps = np.linalg.norm(places[[a for a, _ in channels]] - places[[b for _, b in channels]], axis=1)
    assert steps.mean() == pytest.approx(1) and len(np.unique(places, axis=0)) == routers


def test_without_networkx_a_graph_is_a_circle(monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    places, layout = graph_positions(8, [(0, 1)])
    assert "a circle" in layout and places[0] == (0.0, 8 / (2 * np.pi))


def test_without_scipy_springs_draw_graphs_that_need_none_and_large_ones_are_circles(monkeypatch):
    pytest.importorskip("networkx")
    monkeypatch.setitem(sys.modules, "scipy", None)
    small, large = ([(a, (a + 1) % n) for a in range(n)] for n in (6, 600))
    places, layout = graph_positions(6, small)
    assert layout == "a graph, by networkx" and len(np.unique(places, axis=0)) == 6
    assert "a circle" in graph_positions(600, large)[1]


@pytest.mark.parametrize(("routers", "steps"), [(512, 100), (513, 30)])
def test_many_routers_take_fewer_steps(routers, steps, monkeypatch):
    networkx, taken = pytest.importorskip("networkx"), []

    def springs(graph, *, iterations, **_):
        taken.append(iterations)
        return networkx.circular_layout(graph)

    monkeypatch.setattr(networkx, "spring_layout", springs)
    graph_positions(routers, [(0, 1)])
    assert taken == [steps]


def test_too_many_are_not_drawn(monkeypatch):
    monkeypatch.setattr(drawing, "MOST_DRAWN", 33)
    with pytest.raises(fl.ConfigError, match=r"34 channels; 1 to 33 can be drawn"):
        fl.run(KINDS["mesh"]).channels.plot()
