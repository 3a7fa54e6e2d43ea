"""Short runs of the experiments of the S-Connect paper's Figures 1 to 3, and their configurations."""

import pytest

import flitlab as fl
from flitlab.sconnect.published import comparators as published


def verdicts(rows, quantity):
    return {r["setting"]: r["verdict"] for r in rows if r["quantity"] == quantity and r["published"] is not None}


def test_both_organisations_saturate_alike_and_the_pool_is_faster():
    rows = published.figure1(messages=4000)
    assert set(verdicts(rows, "saturation throughput").values()) == {"match"}
    assert len(verdicts(rows, "saturation throughput")) == 5
    assert verdicts(rows, "loads at which the pool's latency is not below the crossbar's") == {
        "fixed": "holds", "variable": "holds"}  # by construction, see the next test
    held = [r["measured"] for r in rows if "one message at a time" in r["quantity"]]
    assert held == pytest.approx([0.618, 8 / 15], abs=0.01)  # Karol et al.; N / (2 N - 1)


def test_the_pool_takes_one_message_time_less():
    latency = {kind: fl.run(published.switch(router__organisation=kind, traffic__load=0.01,
                                             **published.in_messages(100, 4000))).latency_cycles.mean
               for kind in published.ORGANISATIONS}
    assert latency["crossbar"] - latency["buffer_pool"] == pytest.approx(100, abs=1)
    assert published.switch().derived()["zero_load_latency_cycles"] == 200


def test_limits_of_traffics():
    """Bounds by hand. At load 1 a channel carries half a flit of random traffic per cycle. Under transpose traffic 16
    pairs share one channel: all pairs with equal first bits of one address and equal last bits of the other."""
    assert published.ideal("random") == 1
    assert published.ideal("hot spot") == pytest.approx(1 / (0.99 + 2.56))
    assert published.ideal("FFT") == 1
    assert published.ideal("bit reversal") == published.ideal("transpose") == 1 / 8
    assert published.ideal("transpose", dimension_order=False) == 1
    assert published.ideal("normal") == pytest.approx(1 / sum(1 / k for k in range(1, 9)))


@pytest.mark.parametrize("traffic", published.TRAFFIC)
def test_limits_are_those_of_the_emulated_traffic(traffic):
    """In the emulated network each channel carries the load from which the bound is computed. Lengths have variance 90
    and mean 10, so the flits of n packets have variance 190 n, which is 19 per flit; packets have at most 160 flits."""
    cycles, load = 10000, 0.05
    net = fl.Network(published.network(traffic, traffic__load=load)).step(cycles)
    loads = published.channel_loads(traffic)[0]
    for router, port, flits in net.channels():
        expected = loads[router, port] * load * cycles
        assert abs(flits - expected) <= 6 * (19 * expected) ** 0.5 + 160, (router, port)
    for node in range(published.NODES):
        assert sum(published.destinations(traffic, node).values()) == pytest.approx(1)


def test_cut_through_carries_more_random_traffic():
    window = {"run__warmup_cycles": 2000, "run__measure_cycles": 3000, "run__drain_cycles": 2000}
    wormhole, cut_through = (published.network(flow=flow, **window) for flow in ("wormhole", "cut-through"))
    assert published.is_carried(wormhole, 0.32) and not published.is_carried(wormhole, 0.42)
    assert published.is_carried(cut_through, 0.75)


def test_one_channel_of_a_transposition_is_the_limit_for_both():
    rows = published.figure2(("transpose",), cycles=3000)
    assert verdicts(rows, "wormhole, saturation throughput") == {}  # its limit, below 40 %, allows no comparison
    rows = published.figure3(("transpose",), (), cycles=3000)
    assert verdicts(rows, "cut-through over wormhole") == {"transpose": "out"}


@pytest.mark.parametrize(("name", "make"), [
    ("sconnect-figure1", lambda: published.switch(router__organisation="buffer_pool")),
    ("sconnect-figure2", published.network), ("sconnect-figure3", lambda: published.network(flow="cut-through"))])
def test_configurations(config, name, make):
    def resolved(e):
        return {key: value for key, value in e.flat().items() if not key.startswith("run.") and key != "traffic.load"}

    e = fl.load(config(name))
    assert resolved(e) == resolved(make())
    net = fl.Network(e).step(2000)
    assert net.totals["packets_delivered"] > 50
    net.check()


@pytest.mark.parametrize("form", ["jsonl", "perfetto", "vcd"])
def test_the_switch_can_be_traced(cli, config, tmp_path, form):
    done = cli("trace", config("sconnect-figure1"), "--cycles", "1000:1500", "--format", form, "--out", "events")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "events").stat().st_size > 1000
