"""Frames, without a browser: they equal the network's state, even after early frames were discarded. Positions of
routers, and rejected input."""

import base64
import gzip
import json
import sys

import nbformat
import pytest
from nbclient import NotebookClient

import flitlab as fl
from flitlab.scope.places import planes_of, positions_of
from flitlab.scope.recorder import MOST_DRAWN, Recorder


def recorded(view):
    """Returns a view's recording, as the view sends it to its front end."""
    return json.loads(view._recorder.recording())


def replayed(recording):
    """Returns the rows of virtual channels in each frame, from a second decoder of the format."""
    rows = []
    for frame in recording["frames"]:
        rows = [list(r) for r in frame["rows"]] if "rows" in frame else rows
        for i, *values in frame.get("v", []):
            rows[i][3:] = values
        yield frame["c"], [list(r) for r in rows]


def rows_of(network, recording):
    """Returns the rows in the form of ``replayed``, made from net.router(i)."""
    columns, stages = recording["meta"]["columns"], recording["meta"]["stages"]
    for r in range(int(network.experiment.derived()["routers"])):
        for p, port in enumerate(network.router(r).ports):
            for v, vc in enumerate(port.vcs):
                values = [getattr(vc, c) for c in columns]
                yield [r, p, v, stages.index(values[0]), *(-1 if x is None else int(x) for x in values[1:])]


@pytest.mark.parametrize(("name", "seed"), [
    ("vc-mesh-8x8", 1), ("vc-torus-8x8", 2), ("t3e-16", 3), ("bless-mesh-8x8", 1)])
@pytest.mark.parametrize("window", [300, 8])
def test_frames_are_the_networks_states(name, seed, window):
    network = fl.Network(fl.load(name).set("run.seed", seed)).step(100)
    twin = fl.Network(network.experiment).go_on_from(network)
    recorder = Recorder(network.view().network, window)
    recorder.step(20)
    recording = json.loads(recorder.recording())
    states = dict(replayed(recording))
    assert list(states) == list(range(120 - min(window - 1, 20), 121))
    for cycle, rows in states.items():
        twin.step(cycle - twin.cycle)
        assert rows == list(rows_of(twin, recording))


@pytest.mark.parametrize("most", [1, 7, 41, 1000])
def test_the_last_frames_are_those_of_a_recording_that_began_there(most):
    network = fl.Network(fl.load("t3e-16").set("traffic.load", 0.3), trace=True).step(100)
    recorder = Recorder(network)
    recorder.step(40)
    whole, part = (json.loads(recorder.recording(n)) for n in (10**6, most))
    assert list(replayed(part)) == list(replayed(whole))[-most:]
    assert len(part["frames"]) == min(most, 41) and part["meta"] == whole["meta"]


@pytest.mark.parametrize(("name", "routers"), [("vc-mesh-8x8", None), ("vc-torus-8x8", range(10, 20)), ("t3e-16", None),
                                               ("metro-figure3", None), ("sconnect-priority", None)])
def test_frames_have_the_networks_events_and_what_is_inside_a_router(name, routers):
    network = fl.Network(name, trace=True).step(50)
    twin = fl.Network(network.experiment, trace=True).go_on_from(network)
    recording = recorded(network.view(routers=routers).step(30))
    meta, frames = recording["meta"], recording["frames"]
    drawn = set(routers or range(int(network.experiment.derived()["routers"])))
    terminals = {p.peer for r in drawn for p in twin.router(r).ports if p.to_terminal}
    words, columns = meta["event_words"], meta["event_columns"]
    seen = 0
    for frame in frames[1:]:
        expected = [e for e in twin.step(1).events()
                    if not routers or e["index"] in (terminals if e["item"] == "terminal" else drawn)]
        assert frame["c"] == twin.cycle
        assert frame["e"] == [[words[c].index(e[c]) if c in words else e[c] for c in columns if c in e]
                              for e in expected]
        seen += len(expected)
    assert seen > 20


def test_queues_channels_and_loads_add_up():
    network = fl.Network(fl.load("vc-mesh-8x8").set("traffic.load", 0.9), trace=True)
    view = network.view(window=16).step(60)
    recording = recorded(view)
    queued = {}
    for frame in recording["frames"]:
        queued.update(zip(frame["q"][::2], frame["q"][1::2], strict=True))
    assert {t: q for t, q in queued.items() if q} == {
        t: q for t in range(64) if (q := network.terminal(t).queued)} != {}
    view = fl.Network(network.experiment, trace=True).view(window=1000).step(200)
    frames = recorded(view)["frames"]
    carried = {}
    for frame in frames:
        for channel, flits in zip(frame["u"][::2], frame["u"][1::2], strict=True):
            carried[channel] = carried.get(channel, 0) + flits
    assert carried == {i: flits for i, (_, _, flits) in enumerate(view.network.channels()) if flits}
    assert sum(f["t"][1] for f in frames) == view.network.totals["flits_delivered"]
    assert sum(len(f["l"]) for f in frames) == view.network.totals["packets_delivered"]


def test_a_view_does_not_change_the_network():
    exp = fl.load("vc-mesh-8x8")
    network, other = fl.Network(exp).step(50), fl.Network(exp).step(50)
    view = network.view()
    view.step(30)
    network.step(20)  # this call bypasses the view, so the recording restarts at the new cycle
    view.step(5)
    assert network.cycle == view.cycle == 105 and network.state_hash == other.step(55).state_hash
    assert [f["c"] for f in recorded(view)["frames"]] == list(range(100, 106))


def test_a_machine_keeps_its_console_and_its_registers():
    network, other = (fl.Network(fl.load("t3e-16").set("traffic.load", 0.3)).step(100) for _ in range(2))
    machine = fl.t3e.Machine(network)
    for net in (network, other):
        net.console.write_register(node=3, name="R_VCSEL0", value=5)
    network.view().step(50)
    assert network.state_hash == other.step(50).state_hash
    assert machine.read_register(3, "R_VCSEL0") == 5


def test_without_anywidget_it_records_and_saves_pages(monkeypatch, tmp_path, capsys):
    with_widget = fl.Network("vc-mesh-8x8").view().step(20).inspect(3)
    with_widget.save(tmp_path / "with.html")
    monkeypatch.setitem(sys.modules, "anywidget", None)
    monkeypatch.delitem(sys.modules, "flitlab.scope.widget", raising=False)
    view = fl.Network("vc-mesh-8x8").view().step(20).inspect(3)
    assert view.cycle == 20 and not hasattr(view, "recording")
    view.save(tmp_path / "without.html")
    assert (tmp_path / "without.html").read_text() == (tmp_path / "with.html").read_text()
    view._ipython_display_()
    assert "needs anywidget (pip install 'flitlab[notebook]'); this is a replay" in capsys.readouterr().out
    with pytest.raises(fl.ConfigError, match="window = 1: a recording keeps 2 to 100000 cycles"):
        fl.Network("vc-mesh-8x8").view(window=1)


def test_of_a_large_network_a_region_is_drawn():
    network = fl.Network({"topology.kind": "mesh", "topology.shape": [40, 40]}, trace=True)
    meta = recorded(network.view().step(2))["meta"]
    assert meta["window"] == 58 and recorded(network.view(routers=range(200)))["meta"]["window"] == 300
    assert len(meta["routers"]) == MOST_DRAWN and "1024 of 1600 routers are drawn" in meta["note"]
    meta = recorded(network.view(routers=[0, 1, 40, 41]).step(2))["meta"]
    assert meta["routers"] == [0, 1, 40, 41] and meta["names"][2] == "40 (0,1)" and len(meta["links"]["channel"]) == 8
    for wrong in ([], [1600], range(1025)):
        with pytest.raises(fl.ConfigError, match=r"1 to 1024 routers, with numbers from 0 to 1599"):
            network.view(routers=wrong)


@pytest.mark.parametrize(("act", "expected_text"), [
    (lambda v: v.step(-1), r"step\(-1\)"), (lambda v: v.step(1.5), r"step\(1\.5\).*whole"),
    (lambda v: v.inspect(64), "numbered 0 to 63"), (lambda v: v.inspect(-1), "numbered 0 to 63"),
    (lambda v: v.inspect("5"), "router"), (lambda v: v.network.view(routers=[0, 1]).inspect(9), "is not drawn"),
    (lambda v: v.network.view(window=1), "window = 1"), (lambda v: v.network.view(window=2.5), r"window = 2\.5"),
    (lambda v: v.network.view(window="300"), "window = '300'|window = 300"),
    (lambda v: v.network.view(routers=5), "routers = 5"), (lambda v: v.network.view(routers=[1.5]), "routers = "),
])
def test_bad_input_is_refused(act, expected_text):
    view = fl.Network("vc-mesh-8x8", trace=True).view()
    with pytest.raises(fl.ConfigError, match=expected_text):
        act(view)


def test_positions():
    assert positions_of(["0 (0,0)", "1 (1,0)", "2 (0,1)", "3 (1,1)"], "mesh", [])[0] == [(0, 0), (1, 0), (0, 1), (1, 1)]
    ring, layout = positions_of([f"{i} ({i})" for i in range(8)], "ring", [])
    assert layout == "a ring" and all(abs(x * x + y * y - (8 / 6.283185) ** 2) < 1e-3 for x, y in ring)
    assert positions_of([f"{i} ({i})" for i in range(4)], "mesh", [])[0] == [(i, 0) for i in range(4)]
    names = [f"{i} ({i % 2},{i // 2 % 2},{i // 4})" for i in range(8)]
    places, layout = positions_of(names, "torus", [])
    assert "2 planes" in layout and len(set(places)) == 8 and planes_of(names) == [0] * 4 + [1] * 4
    for shape in ([4], [1, 4]):  # shapes of a fabric whose nodes have numbers, not coordinates
        assert positions_of([str(i) for i in range(4)], "mesh", [], shape) == ([(i, 0) for i in range(4)], "a row")
    twos, layout = positions_of(["0a", "0b", "1a", "1b", "2a", "2b"], "mesh", [], [3, 1])
    assert layout == "a row" and twos == [(0, 0), (0.3, -0.3), (1, 0), (1.3, -0.3), (2, 0), (2.3, -0.3)]
    assert positions_of([str(i) for i in range(6)], "mesh", [], [3, 2])[0] == [(i % 3, i // 3) for i in range(6)]
    assert fl.Network("sconnect-protocol").view()._recorder._meta["layout"] == "a row"
    columns, layout = positions_of(["0.0", "0.1", "1.0", "1.1"], "", [])
    assert layout == "2 stages as columns" and columns[0][0] == columns[1][0] < columns[2][0]
    square = [(0, 0, 1, 0), (1, 1, 2, 0), (2, 1, 3, 0), (3, 1, 0, 1)]
    graph, layout = positions_of(["0", "1", "2", "3"], "graph", square)
    assert len(set(graph)) == 4 and "networkx" in layout
    assert positions_of(["0", "1", "2", "3"], "graph", square)[0] == graph


def test_a_notebook_keeps_a_replay():
    code = "import flitlab as fl\nfl.Network('vc-mesh-8x8').view().step(12)"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    NotebookClient(notebook, timeout=1800, kernel_name="python3").execute()
    assert "application/vnd.jupyter.widget-view+json" in notebook.cells[0].outputs[0]["data"]
    states = notebook.metadata["widgets"]["application/vnd.jupyter.widget-state+json"]["state"].values()
    recording = next(s["state"]["recording"] for s in states if "recording" in s["state"])
    first_line, _ = gzip.decompress(base64.b64decode(recording)).split(b"\n", 1)
    assert [f["c"] for f in json.loads(first_line)["frames"]] == list(range(13))


@pytest.mark.parametrize("window", [300, 12])
@pytest.mark.parametrize("name", ["t3e-16", "bgl-midplane", "metro-figure1", "sconnect-priority"])
def test_routers_are_recorded_in_their_machines_terms(name, window):
    """The recording has these texts for all routers of a small network; in a large one, for inspected routers from
    their inspection on."""
    network = fl.Network(name, trace=True)
    twin = fl.Network(name)
    small = int(network.experiment.derived()["routers"]) <= 64
    recording = recorded(network.view(window).inspect(3).step(40))
    assert {"name", "note"}.isdisjoint(recording["meta"]["columns"])
    words, texts = {}, set()
    for frame in recording["frames"]:
        for router, changed in frame.get("w", {}).items():
            words[router] = words.get(router, {}) | changed
        if not small and frame["c"] == 0:
            assert not words
            continue
        assert set(words) == ({str(r) for r in recording["meta"]["routers"]} if small else {"3"})
        twin.step(frame["c"] - twin.cycle)
        for r in words:
            ports = twin.router(int(r)).ports
            assert words[r] == {"port_notes": [port.note for port in ports],
                                "vc_names": [[vc.name for vc in port.vcs] for port in ports],
                                "vc_notes": [[vc.note for vc in port.vcs] for port in ports]}
            texts |= {vc.name for port in ports for vc in port.vcs} | {vc.note for port in ports for vc in port.vcs}
    assert len(texts) > 4


def test_a_deadlock_is_recorded_from_its_first_cycle():
    ring = {"router.vcs": 1, "routing.vc_assignment": "any", "traffic.load": 1, "router.buffer_flits": 2,
            "traffic.packet_flits": 8}
    exp = fl.load("vc-torus-8x8").set(ring)
    meta = recorded(fl.Network(exp).view().step(150))["meta"]
    twin = fl.Network(exp)
    while twin.cycle < meta["deadlocked"] - 1:
        twin.step(1).check()
    with pytest.raises(fl.RunError):
        twin.step(1).check()
    assert 10 < meta["deadlocked"] < 150 and "wait for one another in a cycle" in meta["deadlock"]


def test_a_router_that_is_no_machines_has_only_numbers():
    assert {(vc.name, vc.note) for port in fl.Network("vc-mesh-8x8").router(5).ports for vc in port.vcs} == {("", "")}
