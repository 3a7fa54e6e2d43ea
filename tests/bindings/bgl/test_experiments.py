"""The published experiments of Blue Gene/L at tiny sizes: their rows, and properties that hold at any size."""

import math

import pytest

import flitlab as fl
from flitlab import courses, reproduction
from flitlab.bgl import published
from flitlab.bgl.published import alltoall, arbitration, blocking, escape, software, studies, torus

TINY = {
    "bgl.packet": alltoall.packet,
    "bgl.alltoall-512": lambda: alltoall.alltoall_512((4, 4, 4), few=2, long=4),
    "bgl.alltoall-32k": lambda: alltoall.alltoall_32k(((2, 2, 2), (4, 4, 4)), windows=6, wholes=((4, 4, 4),)),
    "bgl.alltoall-asymmetric": lambda: alltoall.alltoall_asymmetric(((4, 2, 2), (8, 4, 4)), rounds=3),
    "bgl.hotspot": lambda: blocking.hotspot((6, 6, 6), packets=(4, 8)),
    "bgl.verification": lambda: blocking.verification({(4, 4, 1): (20, 19, 0)}, rounds=8),
    "bgl.bubble-deadlock": lambda: blocking.bubble_deadlock(3, [("packets", 5, 400_000, True),
                                                               ("charged", 8, 400_000, True)]),
    "bgl.response": lambda: studies.figure_2(((2, 2, 2), (4, 4, 4)), uses=(0.85,)),
    "bgl.hotregion": lambda: studies.figure_3((4, 4, 4), 1000, 30),
    "bgl.arbitration": lambda: arbitration.figures_4_5(((2, 2, 2), (4, 4, 4)), (4, 4, 4), 1000, 30),
    "bgl.escape": lambda: escape.figures_7_to_9((4, 4, 4), 16, 5000, 40, orders=("dimension", "direction")),
}


@pytest.fixture(scope="module")
def rows():
    """Rows of an experiment, run once."""
    done = {}

    def of(name):
        if name not in done:
            done[name] = TINY[name]()
        return done[name]

    return of


def measured(rows, quantity):
    (line,) = (r for r in rows if r["quantity"] == quantity)
    return line["measured"]


@pytest.mark.parametrize("name", TINY)
def test_rows_are_whole(rows, name):
    lines = rows(name)
    assert {r["experiment"] for r in lines} == {name}
    assert len({(r["quantity"], r["setting"]) for r in lines}) == len(lines)  # no duplicates
    assert all(r["source"].startswith(torus.PAPER) and r["setting"] and math.isfinite(r["measured"]) for r in lines)
    assert all((r["verdict"] == "context") == (r["published"] is None) for r in lines)
    assert any(r["published"] is not None for r in lines)
    assert all(r["why"] or r["reading"] for r in lines if r["verdict"] == "out")  # each row that is out is explained


def test_all_experiments_are_here():
    known = {name for name in reproduction.experiments() if name.startswith("bgl.")}
    assert set(TINY) <= known


def test_a_link_is_taken_for_32_n_and_14(rows):
    lines = rows("bgl.packet")
    assert [r["measured"] for r in lines[:8]] == [32 * n + 14 for n in range(1, 9)]
    assert {r["verdict"] for r in lines} == {"holds"} and len(lines) == 11
    (full,) = (r for r in lines if r["printed"])
    assert full["published"] == 270 and full["reading"].endswith("holds by construction: the four terms are settings "
                                                                 "of the link")


def test_a_node_has_the_papers_arbiters(rows):
    assert [r["measured"] for r in rows("bgl.packet") if r["quantity"].startswith("arbiters")] == [38, 44]


def test_an_all_to_all_comes_near_its_peak(rows):
    peaks = [r["measured"] for r in rows("bgl.alltoall-512")]
    assert all(30 < p <= 100 for p in peaks)
    assert peaks[0] < peaks[1]  # software overhead lowers the peak
    assert peaks[4] > peaks[3]  # the longer message reaches a higher fraction of peak
    assert peaks[8] < peaks[9]


def test_dynamic_routing_uses_more_of_the_links(rows):
    lines = rows("bgl.alltoall-32k")
    assert next(r["measured"] for r in lines if r["quantity"] == "dynamic over deterministic routing") > 1.1
    assert measured(lines, "link utilisation in the middle, two dynamic VCs") > 90
    assert measured(lines, "packets that use the escape VC") < 5


def test_asymmetric_machines_lose_and_pacing_helps(rows):
    lines = rows("bgl.alltoall-asymmetric")
    judged, smaller = (r for r in lines if r["quantity"] == "of peak, simulated")
    simulated = judged["measured"]
    assert (judged["kind"], smaller["kind"]) == ("published", "context") and "by size: 4x2x2 " in judged["reading"]
    (paced,) = (r["measured"] for r in lines if "a chunk in" in r["quantity"])
    assert simulated < 80 and simulated + 5 < paced
    assert {r["verdict"] for r in lines if r["setting"].startswith("64x32x32")} == {"holds"}


def test_bounds_of_machines():
    assert torus.most_link_use(torus.machine((64, 32, 32))) == pytest.approx(200 / 3)
    assert torus.most_link_use(torus.machine((8, 8, 8))) == pytest.approx(100)
    assert torus.most_link_use(torus.machine((8, 8, 8), traffic__packet_flits=1)) == pytest.approx(100)
    # 512 packets of 32 bytes cross each link, 46 cycles each; with rings of 32, 8192 full packets cross it.
    assert torus.all_to_all((8, 8, 8), 1)[1] == pytest.approx(512 * 46)
    assert torus.all_to_all((8, 8, 8), 8, rounds=2, in_a_row=5)[1] == pytest.approx(10 * 512 * 270)
    assert torus.all_to_all((32, 16, 16))[1] == pytest.approx(4 * 8192 * 270)


@pytest.mark.parametrize(("shape", "extent", "links"), [
    ((8, 8, 8), (1, 1, 1), 6), ((8, 8, 8), (2, 2, 2), 24), ((8, 8, 8), (4, 4, 4), 96), ((16, 16, 16), (8, 8, 8), 384),
    ((8, 8, 1), (4, 4, 1), 16), ((8, 4), (2, 4), 8), ((2, 2), (1, 1), 4)])
def test_links_into_a_region(shape, extent, links):
    assert len(torus.links_into(shape, extent)) == links


def test_links_into_a_region_are_those_of_the_wiring():
    network = fl.Network(torus.machine((4, 3, 2)))
    inside = {0, 1, 4, 5}  # x and y below 2, z = 0
    assert torus.links_into((4, 3, 2), (2, 2, 1)) == {
        (node, port) for node, port, _ in network.channels()
        if node not in inside and network.router(node).ports[port].peer in inside}


def test_a_hot_spot_is_bound_by_its_links(rows):
    peaks = {r["quantity"]: r["measured"] for r in rows("bgl.hotspot")}
    tried = {quantity for quantity in peaks if quantity.endswith(tuple(blocking.TRIED))}
    assert len(peaks) == 6 + 2 * len(blocking.TRIED) and len(tried) == 2 * len(blocking.TRIED)
    assert all((20 if quantity in tried else 60) < p <= 100 for quantity, p in peaks.items())


@pytest.mark.parametrize("acks", ["packets", "charged"])
def test_links_into_a_hot_spot_are_busy_all_the_time_and_never_more(acks):
    """Without software times, only its two links limit a single receiver in a ring. They carry equal load if the number
    of nodes is odd. If the bound counted 270 cycles for packets that take 262, the result would be 103 % of peak."""
    e = torus.machine((7,), traffic__mode="batch", traffic__pattern="all_to_region", traffic__hot_shape=[1],
                      traffic__rounds=100, router__acks=acks)
    assert 99.5 < torus.follow_batches({"hot spot": blocking.into_region(e, 100)})["hot spot"] <= 100


def test_the_gap_fills_buffers(rows):
    lines = rows("bgl.verification")
    fuller = [r["measured"] for r in lines if r["quantity"].startswith("chunks")]
    assert len(fuller) == 5 and min(fuller) > 1.1
    assert [r["kind"] for r in lines if r["quantity"].startswith("chunks")][:3] == ["published", "context", "published"]
    below, _, above, *_ = (r["kind"] for r in lines if r["quantity"] == "link utilisation with it, over without")
    assert (below, above) == ("check", "published")


def test_only_the_earlier_bubble_rule_deadlocks(rows):
    loaded, not_loaded, charged, not_charged, by_hand, not_by_hand = rows("bgl.bubble-deadlock")
    assert by_hand["measured"] == 1 and loaded["measured"] >= 1 and charged["measured"] >= 1
    assert not_by_hand["measured"] == not_loaded["measured"] == not_charged["measured"] == 0
    assert "[7, 7, 7, 7, 7, 7, 7]; deadlock" in by_hand["reading"]
    assert "wait for one another in a cycle" in loaded["reading"]
    assert "charged" not in loaded["setting"] and "charged" in charged["setting"]


def test_figure_2_orderings(rows):
    lines = rows("bgl.response")
    assert next(r["measured"] for r in lines if r["quantity"] == "deterministic over dynamic with 1 VC") > 1
    assert measured(lines, "response time, 4 VCs, 4 paths") < measured(lines, "response time, 2 VCs, 2 paths") \
        < measured(lines, "response time, 2 VCs, 1 path") < measured(lines, "response time, 1 VC, 1 path")


def test_hot_regions_fill_the_links_into_them(rows):
    lines = rows("bgl.hotregion")
    # A packet's link time is counted at its start, so up to 270 of the 10000 cycles may lie outside the window.
    assert all(80 < r["measured"] < 102.7 for r in lines if r["quantity"].startswith("links"))
    assert all(measured(lines, f"level, {size} over 2 KB") > 0.8 for size in ("1 KB", "512 B"))


def test_escape_vcs(rows):
    lines = rows("bgl.escape")
    kinds = [f"{kind}, {order} order" for kind in ("dateline", "bubble") for order in ("dimension", "direction")]
    assert all(0.1 < measured(lines, f"throughput at its least after the peak, {kind}")
               / measured(lines, f"throughput at its peak, {kind}") <= 1 for kind in kinds)
    assert all(0 < measured(lines, f"hops on escape VCs, {kind}") < 60 for kind in kinds)
    assert all(r["measured"] > 0 for r in lines if r["quantity"].startswith("unblocking") and "mean" in r["quantity"])
    judged = [r["quantity"] for r in lines if r["kind"] == "published" and r["quantity"].startswith("unblocking")]
    assert judged == [f"unblocking {reading}, and throughput, dateline pair" for reading in escape.READINGS]
    assert "peaks and troughs, thousandths of a chunk per cycle and node: " in lines[0]["reading"]
    on_vcs = [measured(lines, f"hops on VC {vc}, mean, dateline, dimension order")
              for vc in ("0 (dynamic)", "1 (dynamic)", "2 (escape, before the dateline)", "3 (escape, after it)")]
    assert all(v > 0 for v in on_vcs) and sum(on_vcs[2:]) < sum(on_vcs[:2])


def test_unblocking_is_counted_from_sample_to_sample():
    samples = [{"cycle": 100 * n, "unblocking": n * n, "token_messages": 2 * n * n, "flit_moves": 800 * n}
               for n in (1, 2, 3)]
    assert escape.unblocking(samples) == {
        "of token messages to blocked receivers": [0.5, 0.5], "per cycle": [0.03, 0.05],
        "of all token messages": [0.03, 0.05]}


@pytest.mark.parametrize(("values", "count"), [
    ([1, 2, 3, 3, 3], 0), ([1, 3, 2, 2, 2], 1), ([3, 2, 1], 1), ([3, 2, 3, 2], 2), ([10, 9, 10, 9], 0),
    ([10, 8, 9, 8, 7], 1), ([10, 8, 9.3, 7.8], 2)])
def test_falls(values, count):
    assert escape.falls(values) == count


def test_turning_points():
    assert escape.turns([1, 4, 3.9, 2, 2.1, 3, 1]) == [4, 2, 3, 1]
    assert escape.turns([1, 2, 3]) == [3]


def test_decline():
    values = [1, 4, 4, 4, 4, 2, 2, 2, 2, 2, 2, 2]
    assert studies.level(values) == 2 and studies.half_way(values) == 3
    assert studies.decline(values, 3) == 7  # the first window whose three-sample mean falls to 8 / 3
    assert studies.decline(values, 1) == 13  # throughput never falls below 1: one more than the number of windows


CONFIGS = sorted(p.stem for p in (reproduction.Path(__file__).resolve().parents[3] / "configs").glob("bgl-*.toml"))


def test_there_is_a_config_for_every_figure():
    assert {f"bgl-figure{n}" for n in range(2, 12)} <= set(CONFIGS)
    assert {"bgl-midplane", "bgl-16x16x16", "bgl-32x32x32", "bgl-64x32x32"} <= set(CONFIGS)


def test_the_config_of_figure_10_is_a_round_trip(config):
    assert fl.run(fl.load(config("bgl-figure10"))).model.program_cycles == software.round_trip(1, 240, (2, 2, 2))


@pytest.mark.parametrize(("name", "experiment"), [
    ("bgl-figure2", lambda: studies.response((32, 32, 32), 0.8, 2, 2, **studies.RANDOM).experiment),
    ("bgl-figure3", lambda: studies.hot_region((16, 16, 16), 64, **studies.RANDOM)),
    ("bgl-figure4", lambda: studies.response((32, 32, 32), 0.95, 2, 2, **studies.RANDOM).experiment),
    ("bgl-figure5", lambda: studies.hot_region((16, 16, 16), 64, **arbitration.POLICIES["SLQ"])),
    ("bgl-figure6", lambda: torus.all_to_all((32, 32, 32), **torus.SIMULATOR)[0].experiment),
    ("bgl-figure7", lambda: studies.hot_region((16, 16, 16), 64, router__escape="dateline", **studies.RANDOM)),
    ("bgl-figure8", lambda: studies.hot_region((16, 16, 16), 64, router__escape="dateline", **studies.RANDOM)),
    ("bgl-figure9", lambda: studies.hot_region((16, 16, 16), 64, router__count_unblocking=True,
                                               **studies.RANDOM)),
    ("bgl-figure11", lambda: torus.all_to_all((8, 8, 8), in_a_row=10)[0].experiment),
])
def test_configs_are_those_of_the_experiments(config, name, experiment):
    """The comparison omits `run` parameters, and rounds loads to the digits that a configuration file has."""
    def network(e):
        return {k: round(v, 6) if k == "traffic.load" else v for k, v in e.flat().items() if not k.startswith("run.")}

    other_side = network(experiment())
    if name == "bgl-figure2":  # the file sweeps the load
        other_side["traffic.load"] = 0.006
    assert network(fl.load(config(name))) == other_side


def test_full_size_reports_its_time_and_keeps_finished_parts(tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(courses, "PROBE_SECONDS", 0.05)
    name = "bgl.alltoall-32k"
    entry = (*published.EXPERIMENTS[name][:2], lambda keep: alltoall.alltoall_32k(((4, 4, 2),), 4, keep, ((2, 2, 2),)))
    monkeypatch.setitem(published.EXPERIMENTS, name, entry)
    first = fl.reproduce(name, full=True, keep=tmp_path)
    message_text = capfd.readouterr().err
    assert "3 runs of 32 nodes" in message_text and "on " in message_text and " s " in message_text
    assert sorted(p.name for p in (tmp_path / name).iterdir()) == [
        "4x4x2, deterministic.json", "4x4x2, one dynamic VC.json", "4x4x2, two dynamic VCs.json", "whole"]
    assert fl.reproduce(name, full=True, keep=tmp_path) == first
    assert capfd.readouterr().err == ""
    assert {r["setting"] for r in first} == {"4x4x2, cycles 20000 to 40000", "2x2x2, a packet to each"}


def test_reproduce_prints_time_and_totals(cli):
    done = cli("reproduce", "bgl.packet")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[-1] == "11 holds" and lines[-2].split()[0] == "bgl.packet" and lines[-2].endswith(" s")
