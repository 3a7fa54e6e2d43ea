"""The Python interface: experiments, results, sweeps, curves."""

import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import flitlab as fl
from flitlab.sweeps import parse_over


def test_experiments_are_immutable_and_pickle(small):
    other = small.set("traffic.load", 0.3)
    assert small["traffic.load"] == 0.2 and other["traffic.load"] == 0.3
    assert pickle.loads(pickle.dumps(other)).flat() == other.flat()
    assert "torus" in repr(small)
    with pytest.raises(fl.ConfigError, match="did you mean"):
        small.set("router.vc", 3)


def test_a_resolved_configuration_resolves_to_itself(small, tmp_path):
    (tmp_path / "x.toml").write_text(small.to_toml())
    assert fl.load(tmp_path / "x.toml").flat() == small.flat()


def test_results_read_like_the_json(small):
    result = fl.run(small)
    assert result.latency_cycles.mean > 0
    assert result.packets.created == result.to_dict()["packets"]["created"]
    assert "latency" in repr(result) and "<table>" in result._repr_html_()
    with pytest.raises(AttributeError):
        _ = result.nonsense


def test_a_saturated_point_has_no_latency(small):
    result = fl.run(small.set("traffic.load", 1.0))
    assert result.saturated and result.latency_cycles.mean is None
    assert result.accepted < 0.9


@pytest.mark.parametrize(("text", "values"), [
    ("traffic.load=0.1:0.3:0.1", [0.1, 0.2, 0.3]),
    ("router.vcs=1,2,8", [1, 2, 8]),
    ("traffic.pattern=uniform,tornado", ["uniform", "tornado"]),
    ("topology.shape=[4,4],[8,8]", [[4, 4], [8, 8]]),
    ("traffic.packet_flits=4,[[1,0.5],[5,0.5]]", [4, [[1, 0.5], [5, 0.5]]]),
    ("traffic.packet_flits=[[1,0.5],[5,0.5]], 4", [[[1, 0.5], [5, 0.5]], 4]),
    ('traffic.matrix_file="a,b.csv",c.csv', ["a,b.csv", "c.csv"]),
])
def test_over_is_read_exactly(text, values):
    assert parse_over(text)[1] == values


def test_sweep_points_do_not_depend_on_their_company(small):
    loads = [0.1, 0.2, 0.5]
    together = fl.sweep(small, {"traffic.load": loads}, seeds=2, progress=False)
    assert list(together.frame["traffic.load"]) == [0.1, 0.1, 0.2, 0.2, 0.5, 0.5]
    for row in together.rows:
        alone = fl.run(small.set({"traffic.load": row["traffic.load"], "run.seed": row["run.seed"]}))
        assert alone.state_hash == row["state_hash"]
        assert alone.latency_cycles.mean == row["latency_mean"]


def test_sweep_on_an_executor_gives_the_same_table(small):
    over = {"router.vcs": [2, 4], "traffic.load": [0.1, 0.2]}
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        there = fl.sweep(small, over, executor=pool, progress=False)
    assert there.csv_text() == fl.sweep(small, over, progress=False).csv_text()


def test_curves_have_a_saturation_load_and_a_plot(small, tmp_path):
    import matplotlib

    matplotlib.use("Agg")
    curve = fl.sweep(small, {"traffic.load": [0.1, 0.3, 0.95]}, seeds=2, out=tmp_path, progress=False)
    assert curve.saturation == 0.95
    axes = curve.plot()
    for axis in axes:
        assert "flits/cycle/terminal" in axis.get_xlabel()
    assert "cycles" in axes[0].get_ylabel()
    assert (tmp_path / "curve.png").stat().st_size > 10000
    assert "saturated" in repr(curve)


def test_saturation_by_bisection(small):
    found = fl.find_saturation(small, tolerance=0.1)
    assert 0.4 < found < 1.0
    assert not fl.run(small.set("traffic.load", found)).saturated


def test_a_warm_up_that_ends_at_its_limit_is_reported(small, tmp_path):
    """Three sources share one terminal and offer slightly more than it accepts: latency never settles."""
    rows = ["0,3,1", "1,3,1", *(f"{t},{t},1" for t in range(2, 16))]
    (tmp_path / "matrix.csv").write_text("\n".join(rows))
    growing = small.set({"topology.kind": "mesh", "traffic.pattern": "matrix", "traffic.load": 0.36,
                         "traffic.matrix_file": str(tmp_path / "matrix.csv"), "run.warmup_cycles": "auto",
                         "traffic.injection": "periodic"})
    result = fl.run(growing)
    assert not result.warmup_steady and "WARNING: not steady" in repr(result)
    assert fl.run(small).warmup_steady and "WARNING" not in repr(fl.run(small))
    curve = fl.sweep(growing, {"run.seed": [2]}, progress=False)
    assert "not steady" in repr(curve) and not curve.rows[0]["warmup_steady"]


@st.composite
def configurations(draw):
    kind = draw(st.sampled_from(["torus", "mesh", "ring", "hypercube"]))
    flat = {"topology.kind": kind, "topology.concentration": draw(st.integers(1, 3)),
            "topology.channel_delay": draw(st.integers(1, 4)), "router.vcs": draw(st.integers(4, 8)),
            "router.buffer_flits": draw(st.integers(5, 12)), "router.speculative": draw(st.booleans()),
            "router.arbiter": draw(st.sampled_from(["round_robin", "matrix", "oldest_first", "most_hops_first",
                                                          "random", "fixed_priority"])),
            "router.flow_control": draw(st.sampled_from(["wormhole", "virtual_cut_through", "store_and_forward"])),
            "router.routing_delay": draw(st.integers(0, 2)), "router.credit_delay": draw(st.integers(1, 5)),
            "router.vc_allocation_delay": draw(st.integers(0, 2)),
            "traffic.load": draw(st.floats(0, 1)), "traffic.packet_flits": draw(st.integers(1, 5)),
            "traffic.injection": draw(st.sampled_from(["bernoulli", "periodic"])),
            "run.seed": draw(st.integers(0, 2**40)), "run.warmup_cycles": 500, "run.measure_cycles": 1000,
            "run.drain_cycles": 2000, "run.watchdog_cycles": 1000}
    if flat["router.vc_allocation_delay"] > 1:
        flat["router.speculative"] = False
    for key in ("router.vc_allocator", "router.switch_allocator"):
        flat[key] = draw(st.sampled_from(["separable_input_first", "separable_output_first", "islip", "wavefront"]))
    algorithms = ["dimension_order", "valiant", "minimal_adaptive"]
    if kind == "hypercube":
        flat["topology.dimensions"] = draw(st.integers(1, 4))
    else:
        dims = 1 if kind == "ring" else draw(st.integers(1, 3))
        flat["topology.shape"] = draw(st.lists(st.integers(1, 4), min_size=dims, max_size=dims))
    if kind in ("mesh", "hypercube"):
        algorithms.append("romm")
    flat["routing.algorithm"] = draw(st.sampled_from(algorithms))
    return flat


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(configurations())
def test_any_configuration_conserves_and_is_identical_on_any_number_of_threads(flat):
    """Every epoch audits credits and flits; a deadlock or a lost flit would raise RunError."""
    experiment = fl.Experiment.from_dict(flat)
    one, three = fl.run(experiment, threads=1, backend="cpu"), fl.run(experiment, threads=3, backend="cpu")
    assert one.state_hash == three.state_hash
    p = one.packets
    assert p.created == p.delivered + p.dropped + p.in_flight + p.queued
    assert one.accepted <= 1.0 + 1e-9


def test_a_sweep_over_something_else_has_its_columns_and_axis(config):
    loop = fl.load(config("vc-mesh-8x8")).set({
        "traffic.mode": "request_reply", "traffic.load": 1.0, "traffic.packet_flits": 1,
        "run.warmup_cycles": 500, "run.measure_cycles": 1000})
    curve = fl.sweep(loop, over={"traffic.window": [4, 1], "router.vcs": [2, 4]}, progress=False)
    trips = curve.frame.set_index(["traffic.window", "router.vcs"])["model.round_trip_cycles_mean"]
    assert trips[1, 4] < trips[4, 2]
    assert "model.transactions_per_cycle_per_terminal" in curve.csv_text().splitlines()[0]
    left, right = curve.plot()
    assert left.get_xlabel() == "traffic.window (requests/terminal)"
    # X values are sorted, and each value of router.vcs has a line.
    assert [list(line.get_xdata()) for line in right.get_lines()] == [[1, 4], [1, 4]]


def test_swept_seeds_are_the_seeds_that_run(small):
    curve = fl.sweep(small, {"traffic.load": [0.1], "run.seed": [5, 6]}, progress=False)
    assert [r["run.seed"] for r in curve.rows] == [5, 6]
    for row in curve.rows:
        alone = fl.run(small.set({"traffic.load": 0.1, "run.seed": row["run.seed"]}))
        assert alone.state_hash == row["state_hash"]
    assert repr(curve).splitlines()[0].split().count("run.seed") == 1
    assert curve.csv_text().splitlines()[0].split(",").count("run.seed") == 1
    with pytest.raises(fl.ConfigError, match=r"over run\.seed and seeds both choose seeds; use one"):
        fl.sweep(small, {"run.seed": [5, 6]}, seeds=2, progress=False)


def test_bands_over_seeds_are_student_s():
    from flitlab.over_seeds import student
    from flitlab.plots import points

    exact = {1: 12.706, 2: 4.303, 10: 2.228, 11: 2.201, 15: 2.131, 20: 2.086, 30: 2.042, 120: 1.980}
    for freedom, quantile in exact.items():
        assert student(freedom) == pytest.approx(quantile, abs=0.0025)
    rows = [{"x": 1, "saturated": False, "accepted": 0.1, "latency_mean": m, "latency_ci95": 9.0} for m in (1, 2, 3)]
    ((_, mean, half, *_),) = points(rows, "x", "latency_mean", steady=True)
    assert mean == 2 and half == pytest.approx(4.303 / 3**0.5)


def test_a_closed_loop_over_the_load_has_its_own_labels(small):
    import matplotlib

    matplotlib.use("Agg")
    over = {"traffic.load": [0.05, 0.1]}
    left, right = fl.sweep(small, over, progress=False).plot()
    assert left.get_xlabel().startswith("offered load (")
    assert "accepted = offered" in right.get_legend_handles_labels()[1]
    curve = fl.sweep(small.set("traffic.mode", "request_reply"), over, progress=False)
    assert curve.mode == "request_reply"
    left, right = curve.plot()
    assert left.get_xlabel() == right.get_xlabel() == "request load (flits/cycle/terminal)"
    assert "accepted = offered" not in right.get_legend_handles_labels()[1]
    assert "replies" in right.get_ylabel()
    mixed = fl.sweep(small, {"traffic.mode": ["open", "request_reply"], **over}, progress=False)
    assert mixed.mode == "mixed" and "accepted = offered" not in mixed.plot()[1].get_legend_handles_labels()[1]


def test_batches_and_traces_show_the_time_to_finish(small, tmp_path):
    import matplotlib

    matplotlib.use("Agg")
    batch = fl.Experiment.from_dict({"topology.shape": [4, 4], "traffic.mode": "batch"})
    curve = fl.sweep(batch, {"traffic.batch_packets": [10, 50]}, progress=False)
    right = curve.plot()[1]
    assert right.get_ylabel() == "time to finish (cycles)"
    assert list(right.get_lines()[0].get_ydata()) == [r["model.batch_cycles"] for r in curve.rows]
    (tmp_path / "t.csv").write_text("0,0,5,4\n3,1,7,4\n")
    trace = batch.set({"traffic.mode": "trace", "traffic.trace_file": str(tmp_path / "t.csv")})
    right = fl.sweep(trace, {"router.vcs": [2, 4]}, progress=False).plot()[1]
    assert right.get_ylabel() == "time to finish (cycles)"


def test_each_curve_of_a_product_has_its_saturation(small):
    over = {"traffic.pattern": ["neighbour", "hot_spot"], "traffic.load": [0.1, 0.9]}
    curve = fl.sweep(small, over, progress=False)
    assert curve.saturation_by_group == {"pattern neighbour": None, "pattern hot_spot": 0.9}
    first, second = curve.summary()
    assert first.startswith("pattern neighbour: not saturated; highest throughput 0.8")
    assert second.startswith("pattern hot_spot: saturated from traffic.load = 0.9; ")
    single = fl.sweep(small, {"traffic.load": [0.1, 1.0]}, progress=False)
    assert single.saturation == 1.0 and single.saturation_by_group == {"": 1.0}
    (line,) = single.summary()
    assert line.startswith("saturated from traffic.load = 1.0; ")


@pytest.mark.parametrize("threads", [-1, 1025, 2**40, 2.5, "many"])
def test_impossible_threads_are_refused(small, threads, tmp_path):
    for call in (lambda: fl.run(small, threads=threads), lambda: fl.Network(small, threads=threads),
                 lambda: fl.sweep(small, {"traffic.load": [0.1]}, threads=threads, out=tmp_path / "o")):
        with pytest.raises(fl.ConfigError, match=f"threads = {threads!r}: .* to 1024"):
            call()
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize("values", [0.3, "uniform", [], None])
def test_a_sweep_goes_over_lists(small, values):
    with pytest.raises(fl.ConfigError, match=r"over traffic\.load = .* list of values"):
        fl.sweep(small, {"traffic.load": values}, progress=False)


def test_a_sweep_over_an_array_is_one_over_numbers(small):
    np = pytest.importorskip("numpy")
    over = {"traffic.load": np.array([0.1, 0.2])}
    plain = fl.sweep(small, {"traffic.load": [0.1, 0.2]}, progress=False)
    assert fl.sweep(small, over, progress=False).csv_text() == plain.csv_text()
    values = {"traffic.load": list(over["traffic.load"])}
    assert fl.sweep(small, values, progress=False).csv_text() == plain.csv_text()


def test_resume_runs_points_again_if_a_file_has_changed(tmp_path):
    matrix = tmp_path / "m.csv"

    def write(distance):
        matrix.write_text("".join(f"{s},{(s + distance) % 16},1\n" for s in range(16)))

    exp = fl.Experiment.from_dict({
        "topology.shape": [4, 4], "traffic.pattern": "matrix", "traffic.matrix_file": str(matrix),
        "run.warmup_cycles": 500, "run.measure_cycles": 2000})
    over = {"traffic.load": [0.05]}
    write(1)
    near = fl.sweep(exp, over, out=tmp_path / "o", progress=False).rows[0]["hops_mean"]
    write(10)
    far = fl.sweep(exp, over, out=tmp_path / "o", resume=True, progress=False).rows[0]["hops_mean"]
    assert far > near


def test_inspections_show_the_current_state():
    """The state is copied once for all inspections, and again after any call that may change it."""
    net = fl.Network(fl.Experiment.from_dict({"router.kind": "t3e", "traffic.load": 0.2}))
    saved = net.inspect("router", 0)
    assert net.inspect("router", 0) == saved
    net.console.write_register(0, "R_VCSEL0", 3)
    written = net.inspect("router", 0)
    assert written != saved
    net.step(50)
    assert net.inspect("router", 0) != written
