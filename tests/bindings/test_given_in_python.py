"""Traffic, routes and graphs from Python functions: equal to the file in every use of the experiment, and checked."""

import pickle
import random
from concurrent.futures import ProcessPoolExecutor
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import flitlab as fl
from flitlab import sweeps

RING = 6
CLOCKWISE_PORT = [0, 1, 1, 1, 1, 0]  # edges of the cycle in networkx' order: 0-1, 0-5, 1-2, 2-3, 3-4, 4-5
GRAPHS = ["vc", "adaptive", "sconnect"]  # kinds that take any graph


def short(kind="vc", **settings):
    given = {"router.kind": kind, "run.warmup_cycles": 500, "run.measure_cycles": 2000}
    return fl.Experiment.from_dict(given | {k.replace("__", "."): v for k, v in settings.items()})


@pytest.fixture
def mesh():
    return short(topology__kind="mesh", topology__shape=[4, 4], traffic__load=0.2)


@pytest.fixture
def ring():
    """Returns a graph of six routers in a ring. The order of the edges determines which channels are ports 0 and 1 of a
    router."""
    return short(traffic__load=0.1).with_topology(nx.cycle_graph(RING))


def half_way(source, terminals):
    return (source + terminals // 2) % terminals


def mixed(source, terminals):
    """Returns destinations in each possible form."""
    if source == 0:
        return None
    if source == 1:
        return np.eye(terminals)[3] * 2.5
    return {0: 1, terminals - 1: 0.5} if source % 2 else np.int64(0)


MIXED = "".join(["0,0,0\n", "1,3,2.5\n", *(f"{s},0,1\n" + f"{s},15,0.5\n" * (s % 2) for s in range(2, 16))])


HALF_WAY = "".join(f"{s},{(s + 8) % 16},1\n" for s in range(16))


def clockwise(router, destination):
    return (router + 1) % RING


def hash_of(experiment):
    return fl.run(experiment, threads=1).state_hash


def same(one, other):
    return hash_of(one) == hash_of(other) and one.core.files_hash() != 0


def write(path, text):
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize(("pattern", "lines"), [
    (half_way, HALF_WAY),
    (mixed, MIXED),
    (1 - np.eye(16), "".join(f"{s},{d},1\n" for s in range(16) for d in range(16) if s != d)),
    (pd.DataFrame(np.roll(np.eye(16), 8, axis=1), columns=list("abcdefghijklmnop")), HALF_WAY),
    (sparse.csr_array(np.roll(np.eye(16), 8, axis=1)), HALF_WAY),
    ({s: (s + 8) % 16 for s in range(16)}, HALF_WAY),
    ({np.int64(s): {(s + 8) % 16: 1} for s in range(16)}, HALF_WAY),
    ([(s + 8) % 16 for s in range(16)], HALF_WAY),
    ({3: 5}, "".join(f"{s},{s},0\n" if s != 3 else "3,5,1\n" for s in range(16))),
], ids=["one", "mixed", "array", "frame", "sparse", "dictionary", "weights", "list", "some"])
def test_a_pattern_is_its_matrix(mesh, tmp_path, pattern, lines):
    file = mesh.set({"traffic.pattern": "matrix", "traffic.matrix_file": write(tmp_path / "m.csv", lines)})
    assert same(mesh.with_pattern(pattern), file)
    assert hash_of(file) != hash_of(mesh)


def test_terminals_of_a_graph_are_counted(ring):
    two = ring.set("topology.concentration", 2)
    asked = []
    two.with_pattern(lambda source, terminals: asked.append((source, terminals)) or (source + 1) % terminals)
    assert asked == [(s, 12) for s in range(12)]


def test_a_pattern_goes_when_another_is_chosen(mesh):
    given = mesh.with_pattern(half_way)
    assert hash_of(given.set("traffic.pattern", "uniform")) == hash_of(mesh)
    curve = fl.sweep(given, {"traffic.pattern": ["matrix", "uniform"]}, progress=False)
    assert [row["hops_mean"] for row in curve.rows] == [fl.run(e).hops_mean for e in (given, mesh)]
    with pytest.raises(fl.ConfigError, match=r"traffic\.lod"):
        given.set("traffic.lod", 0.2)


def test_a_pattern_replaces_another(mesh):
    hot = mesh.set({"traffic.pattern": "hot_spot", "traffic.hot_terminals": [5], "traffic.hot_fraction": 0.5})
    assert same(hot.with_pattern(half_way), mesh.with_pattern(half_way))
    assert same(mesh.with_pattern(mixed).with_pattern(half_way), mesh.with_pattern(half_way))


def test_a_pattern_that_fits_some_shapes_is_refused_before_any_point_runs(mesh, tmp_path, monkeypatch):
    file = mesh.set({"traffic.pattern": "matrix", "traffic.matrix_file": write(tmp_path / "m.csv", HALF_WAY)})
    monkeypatch.setattr("flitlab.sweeps.run_job", lambda *_: pytest.fail("a point was run"))
    over = {"topology.shape": [[4, 4], [2, 8], [4, 8]], "traffic.load": [0.1, 0.2]}
    for experiment in (mesh.with_pattern(half_way), file):
        with pytest.raises(fl.ConfigError, match=r"^at topology\.shape = \[4, 8\], traffic\.load = 0\.1: traffic\.m"
                                                 r"atrix_file: .*terminal 16 has no line"):
            fl.sweep(experiment, over, seeds=2, out=tmp_path / "out", progress=False)
    assert not (tmp_path / "out").exists()
    with pytest.raises(fl.ConfigError, match=r"^at topology\.kind = ring: topology\.shape = \[4, 4\]"):
        fl.sweep(mesh, {"topology.kind": ["mesh", "ring"]}, progress=False)
    with pytest.raises(fl.ConfigError, match=r"^traffic\.load = 2 is out of range"):  # the message names the value
        fl.sweep(mesh, {"topology.shape": [[4, 4], [8, 8]], "traffic.load": [0.1, 2]}, progress=False)


def test_networks_that_take_long_to_plan_are_checked_for_some_seconds(mesh, monkeypatch):
    planned, clock = [], iter(range(0, 100, 2))
    monkeypatch.setattr(sweeps, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    points = sweeps._Points(mesh, [{"topology.shape": [2, n]} for n in (2, 3, 4, 5)])
    monkeypatch.setattr(sweeps._Points, "__getitem__", lambda _, i: planned.append(i) or mesh)
    points.check_networks()
    assert planned == [0, 1]
    assert sweeps._Points(mesh, [{"traffic.load": load} for load in (0.1, 0.2)]).check_networks() is None
    assert planned == [0, 1]  # a single network is checked by the first job


@pytest.mark.parametrize("kind", GRAPHS)
def test_a_graph_is_its_list_of_edges(tmp_path, kind):
    graph = nx.petersen_graph()
    edges = write(tmp_path / "g.csv", "".join(f"{a},{b}\n" for a, b in graph.edges))
    load = 0.02
    file = short(kind, topology__kind="graph", topology__file=edges, traffic__load=load)
    old = {"topology.kind": "mesh", "topology.shape": [3, 3]}
    assert same(short(kind, traffic__load=load).set(old).with_topology(graph), file)


def test_edges_have_delays_and_widths(ring, tmp_path):
    graph = nx.cycle_graph(RING)
    graph.edges[0, 1]["delay"] = 9
    graph.edges[2, 3].update(delay=np.int64(2), width=np.float64(0.5))
    graph.edges[4, 5]["width"] = 1 / 3
    columns = {(0, 1): ",9", (2, 3): ",2,0.5", (4, 5): ",0,0.3333333333333333"}
    edges = write(tmp_path / "g.csv", "".join(f"{a},{b}{columns.get((a, b), '')}\n" for a, b in graph.edges))
    assert same(ring.with_topology(graph), ring.set({"topology.file": edges}))
    assert not same(ring.with_topology(graph), ring)
    for name, value, words in [("delay", 0, "must be more than 0"), ("delay", "far", "must be a number"),
                               ("delay", 5000, "from 1 to 4096 cycles"), ("width", 2, "at most 1 flit/cycle")]:
        graph.edges[0, 1][name] = value
        refused(lambda: ring.with_topology(graph), words)
        graph.edges[0, 1].pop(name)


def test_a_mesh_with_routes_keeps_delays_and_widths(mesh):
    """As graphs, meshes have the same channels, so packets take as long as before."""
    def xy(router, destination):
        (x, y), (to_x, to_y) = (router % 4, router // 4), (destination % 4, destination // 4)
        return router + (1 if to_x > x else -1) if x != to_x else router + (4 if to_y > y else -4)

    own = mesh.set({"topology.channel_delay": [2, 9], "topology.channel_width": [1, 0.5], "router.buffer_flits": 32})
    ours = own.with_routes(xy)
    assert ours.derived()["zero_load_latency_cycles"] == pytest.approx(own.derived()["zero_load_latency_cycles"])
    assert ours.derived()["zero_load_latency_cycles"] > 10 + mesh.derived()["zero_load_latency_cycles"]


@pytest.mark.parametrize("seed", range(20))
def test_the_zero_load_latency_of_any_channels_is_exact(seed):
    """One packet alone in the network takes exactly the derived time."""
    draw = random.Random(seed)
    widths = [1, 0.5, 1 / 3, 2 / 3, 0.75, 0.2, 0.625]
    shape = [draw.randint(2, 5), draw.randint(2, 5)]
    source, destination = draw.sample(range(shape[0] * shape[1]), 2)
    lone = fl.Experiment({
        "topology.kind": draw.choice(["mesh", "torus"]), "topology.shape": shape, "router.buffer_flits": 64,
        "topology.channel_delay": [draw.randint(1, 9), draw.randint(1, 9)],
        "topology.channel_width": [draw.choice(widths), draw.choice(widths)],
        "router.routing_delay": draw.randint(0, 3), "router.vc_allocation_delay": draw.randint(0, 3),
        "routing.algorithm": draw.choice(["dimension_order", "minimal_adaptive"]),
        "traffic.mode": "batch", "traffic.batch_packets": 1, "traffic.packet_flits": draw.randint(1, 12),
    }).with_pattern(lambda terminal, _: destination if terminal == source else None)
    assert fl.run(lone).latency_cycles.mean == lone.derived()["zero_load_latency_cycles"]


def test_nodes_may_have_any_names(ring):
    named = nx.Graph()
    named.add_nodes_from("abcdef")
    named.add_edges_from(("abcdef"[a], "abcdef"[b]) for a, b in nx.cycle_graph(RING).edges)
    assert same(ring.with_topology(named), ring)
    shuffled = nx.Graph()
    shuffled.add_nodes_from([3, 1, 0, 5, 4, 2])  # integer nodes keep their numbers in any order
    shuffled.add_edges_from(nx.cycle_graph(RING).edges)
    links = fl.Network(ring.with_topology(shuffled)).links()
    assert {(a, b) for a, _, b, _ in links if a < b} == set(nx.cycle_graph(RING).edges)


def test_parallel_edges_are_parallel_channels(ring):
    graph = nx.MultiGraph([(0, 1), (0, 1), (1, 2)])
    assert ring.with_topology(graph).derived()["channels"] == 6
    assert [line[1] for line in sorted(fl.Network(ring.with_topology(graph)).links())] == [0, 1, 0, 1, 2, 0]


def test_routes_are_their_table(ring, tmp_path):
    lines = "".join(f"{r},{d},{CLOCKWISE_PORT[r]}\n" for r in range(RING) for d in range(RING) if r != d)
    file = ring.set("routing.table_file", write(tmp_path / "t.csv", lines))
    assert same(ring.with_routes(clockwise), file)
    assert hash_of(file) != hash_of(ring)
    # All packets go clockwise, so the mean distance is the mean of 0 to 5 hops.
    longer = ring.with_routes(clockwise).set("run.measure_cycles", 20000)
    assert fl.run(longer).hops_mean == pytest.approx(2.5, abs=0.05)


def test_layers_may_be_given(ring, tmp_path):
    """Packets take the shorter direction; packets between 5 and 0, in both directions, take layer 1."""
    def right(router, destination):
        return (destination - router) % RING <= RING // 2

    def crosses(router, destination):
        return int((destination < router) == right(router, destination))

    def layered(router, destination):
        return (router + (1 if right(router, destination) else -1)) % RING, crosses(router, destination)

    lines = "".join(f"{r},{d},{CLOCKWISE_PORT[r] if right(r, d) else 1 - CLOCKWISE_PORT[r]},{crosses(r, d)}\n"
                    for r in range(RING) for d in range(RING) if r != d)
    assert same(ring.with_routes(layered), ring.set("routing.table_file", write(tmp_path / "t.csv", lines)))
    with pytest.raises(fl.ConfigError, match="layer 0 can deadlock"):
        ring.with_routes(lambda router, destination: (clockwise(router, destination), 0))


def test_routes_may_share_all_virtual_channels(ring):
    """Packets that go around the ring need several layers. Without layers they deadlock at a high load."""
    assert ring.with_routes(clockwise).derived()["vc_layers"] > 1
    shared = ring.with_routes(lambda router, destination: (clockwise(router, destination), None))
    assert shared.derived()["vc_layers"] == 1
    assert fl.run(shared.set("traffic.load", 0.01)).hops_mean == pytest.approx(3, rel=0.2)
    with pytest.raises(fl.RunError, match="deadlock"):
        fl.run(shared.set("traffic.load", 1.0))
    with pytest.raises(fl.ConfigError, match="25 of 30 lines have the layer -1"):
        ring.with_routes(lambda router, destination: (clockwise(router, destination), None if router else 0))


def test_a_mesh_takes_routes_by_its_numbers(mesh):
    """Routes go along x first, as in dimension-order routing, so in an empty network packets take as long as with
    dimension order."""
    def xy(router, destination):
        (x, y), (to_x, to_y) = (router % 4, router // 4), (destination % 4, destination // 4)
        return router + (1 if to_x > x else -1) if x != to_x else router + (4 if to_y > y else -4)

    ours = mesh.with_routes(xy)
    assert ours["topology.kind"] == "graph"
    for name in ("routers", "channels", "hops_mean", "zero_load_latency_cycles"):
        assert ours.derived()[name] == mesh.derived()[name]
    assert fl.run(ours).latency_cycles.mean == pytest.approx(fl.run(mesh).latency_cycles.mean, rel=0.03)


def test_a_torus_keeps_the_channels_around():
    """Routes go along x first, in the shorter direction. In a dimension of two routers, two channels join them in each
    direction."""
    torus = short(topology__shape=[5, 2], traffic__load=0.1)

    def shortest(router, destination):
        x, y, to = router % 5, router // 5, destination % 5
        if x != to:
            return y * 5 + (x + (1 if (to - x) % 5 <= 2 else -1)) % 5
        return (1 - y) * 5 + x

    ours = torus.with_routes(shortest)
    assert sorted((a, b) for a, _, b, _ in fl.Network(ours).links()) == sorted(
        (a, b) for a, _, b, _ in fl.Network(torus).links())
    assert ours.derived()["hops_mean"] == torus.derived()["hops_mean"]


def test_a_file_replaces_a_function(mesh, tmp_path):
    name = write(tmp_path / "m.csv", MIXED)
    assert same(mesh.with_pattern(half_way).set("traffic.matrix_file", name), mesh.with_pattern(mixed))


def test_it_goes_to_other_processes(mesh, ring):
    over = {"traffic.load": [0.05, 0.1]}
    for experiment in (mesh.with_pattern(half_way), ring.with_routes(clockwise)):
        assert hash_of(pickle.loads(pickle.dumps(experiment))) == hash_of(experiment)
        with ProcessPoolExecutor(1) as pool:
            there = fl.sweep(experiment, over, executor=pool, progress=False)
        assert there.csv_text() == fl.sweep(experiment, over, progress=False).csv_text()


def test_it_is_saved_and_belongs_to_a_point_of_a_sweep(ring, tmp_path):
    experiment = ring.with_routes(clockwise).with_pattern(half_way)
    over = {"traffic.load": [0.05, 0.1]}
    curve = fl.sweep(experiment, over, out=tmp_path / "out", progress=False)
    assert {p.name for p in (tmp_path / "out").glob("experiment*")} == {
        "experiment.toml", "experiment-graph.csv", "experiment-routes.csv", "experiment-matrix.csv"}
    again = fl.load(tmp_path / "out" / "experiment.toml")
    assert hash_of(again) == hash_of(experiment)
    assert fl.sweep(again, over, progress=False).csv_text() == curve.csv_text()
    with pytest.raises(fl.ConfigError, match=r"topology.file is in memory.*Experiment\.save"):
        experiment.to_toml()
    # A different function of the same name makes a different point of the sweep, which runs again.
    def half_way_back(source, terminals):
        return (source - 1) % terminals

    half_way_back.__name__ = "half_way"
    other = fl.sweep(experiment.with_pattern(half_way_back), over, out=tmp_path / "out", resume=True, progress=False)
    assert other.csv_text() != curve.csv_text()


def test_a_program_in_memory_is_saved_too(tmp_path):
    program = fl.Program(16)
    for rank in program:
        rank.barrier()
    experiment = fl.Experiment.from_dict({"router.kind": "bgl", "topology.shape": [4, 2, 2],
                                          "traffic.mode": "program", "traffic.program_file": program})
    experiment.save(tmp_path / "p.toml")
    assert (tmp_path / "p-program.csv").read_bytes() == program.text()
    assert fl.load(tmp_path / "p.toml")["traffic.program_file"] == "p-program.csv"


def refused(make, *words):
    with pytest.raises(fl.ConfigError) as error:
        make()
    for word in words:
        assert word in str(error.value), str(error.value)


@pytest.mark.parametrize(("pattern", "words"), [
    (lambda s, n: n, ["with_pattern: pattern(0, 16) sends to 16", "0 to 15"]),
    (lambda s, n: {s: -1}, ["sends to 0 with weight -1", "not negative"]),
    (lambda s, n: {s: float("nan")}, ["weight nan"]),
    (lambda s, n: {s: "much"}, ["weight 'much'"]),
    (lambda s, n: 1.5, ["pattern(0, 16) is 1.5: it must be a terminal, a dictionary"]),
    (lambda s, n: True, ["is True"]),
    (lambda s, n: [1, 2], ["is [1, 2]", "each of the 16 terminals"]),
    (lambda s, n: "abcdefghijklmnop", ["is 'abc"]),
    (np.ones((3, 3)), ["3 rows of weights for 16 terminals"]),
    ([], ["0 rows", "Give a function"]),
    (7, ["with_pattern(7): it must be a function of source"]),
    (np.array(3), ["with_pattern(array(3)): it must be a function of source"]),
    ("transpose", ["with_pattern('transpose'): it must be", "Patterns by name are set as traffic.pattern."]),
    ({16: 3}, ["16 is not a source", "numbered 0 to 15"]),
    ({"a": 3}, ["'a' is not a source"]),
    (lambda s, n: {3: 10**400}, ["with weight 1000"]),
])
def test_patterns_are_checked(mesh, pattern, words):
    refused(lambda: mesh.with_pattern(pattern), *words)


def test_a_pattern_that_the_router_rejects_fails_at_once():
    refused(lambda: fl.load("t3e-16").with_pattern(lambda s, n: s), "terminal 0 sends to itself")
    refused(lambda: short(traffic__mode="trace", traffic__trace_file="x").with_pattern(half_way), "traffic.pattern",
            "traffic.mode")


@pytest.mark.parametrize(("routes", "words"), [
    (lambda r, d: r, ["routes(1, 0) is 1: it must be a neighbour of router 1 (0, 2)"]),
    (lambda r, d: 0.5, ["is 0.5"]),
    (lambda r, d: ((r + 1) % RING, -1), ["layer of virtual channels, which is 0 or more"]),
    (lambda r, d: (r + 1) % RING if r else ((r + 1) % RING, 0), ["a layer for every pair of routers, or no layers"]),
    (lambda r, d: r + 1 if r < 3 else r - 1, ["routes sends packets from router 1 to 0 around a loop",
                                              "2 -> 3 -> 2"]),
    (lambda r, d: ((r + 1) % RING, 7), ["layer 7 needs more than the 4 virtual channels"]),
])
def test_routes_are_checked(ring, routes, words):
    refused(lambda: ring.with_routes(routes), *words)


def test_graphs_are_checked(mesh):
    two = nx.Graph([("a", "b"), ("c", "d")])
    refused(lambda: mesh.with_topology(two), "node 'c' cannot be reached from node 'a'", "connected")
    two = nx.path_graph(3)
    two.add_node("x")
    refused(lambda: mesh.with_topology(two), "node 'x' has no edge")
    refused(lambda: mesh.with_topology(nx.Graph([(0, 1), (1, 1)])), "node 1 is joined to itself")
    refused(lambda: mesh.with_topology(nx.DiGraph([(0, 1)])), "directed", "to_undirected()")
    refused(lambda: mesh.with_topology(nx.empty_graph(1)), "1 nodes")
    refused(lambda: mesh.with_topology(nx.star_graph(64)), "router 0 has 64 channels", "at most 63")
    matrix = mesh.set("router.arbiter", "matrix")
    refused(lambda: matrix.with_topology(nx.star_graph(40)), 'router.arbiter = "matrix"', "up to 32 ports", "41")
    refused(lambda: mesh.set("traffic.pattern", "tornado").with_topology(nx.path_graph(4)), "needs coordinates")


def test_a_kind_that_takes_no_graph_names_those_that_do():
    for name in ("bless-mesh-8x8", "t3e-16"):
        exp = fl.load(name)
        kind = exp["router.kind"]
        able = ", ".join(sorted(GRAPHS, key="vc sconnect adaptive".index))
        refused(lambda exp=exp: exp.with_topology(nx.path_graph(4)),
                f'with_topology: router.kind = "{kind}" does not accept a graph. Kinds that accept one: {able}.')
        refused(lambda exp=exp: exp.with_routes(clockwise), f'with_routes: router.kind = "{kind}" does not '
                "accept a routing table. Kinds that accept one: vc.")


def test_what_is_no_graph_and_no_function(small):
    for graph in (None, [(0, 1)], nx.Graph):
        with pytest.raises(fl.ConfigError, match=r"with_topology\(.*\): it must be a networkx graph; networkx\.Graph"):
            small.with_topology(graph)
    for routes in (None, {}):
        with pytest.raises(fl.ConfigError, match=r"with_routes\(.*\): it must be a function of a router and a"):
            small.with_routes(routes)
