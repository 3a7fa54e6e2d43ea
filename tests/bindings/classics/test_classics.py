"""Experiments of classic papers: rows, verdicts, and the measures that they use."""

import math

import pytest

import flitlab as fl
from flitlab import reproduction
from flitlab.classics.published import diameter_two, dragonfly, hyperx, measuring, oblivious, switches, turn_models
from flitlab.reproduction import FAILED

FAST = ("karol", "islip", "virtual_channels", "dragonfly", "fat_tree", "slim_fly", "polarfly")
# Published rows that are out, for the reasons in their readings.
KNOWN_OUT = {("classics.oblivious", "average throughput, O1TURN above ROMM")}
# Nothing that the paper's abstract says was compared: sizes are calculated, the rest is from other sources.
NOTHING_PUBLISHED = {"classics.slim_fly"}


@pytest.fixture(scope="module")
def rows():
    """Rows of an experiment, run once."""
    done = {}

    def of(name):
        if name not in done:
            done[name] = reproduction.experiments()[f"classics.{name}"][1]()
        return done[name]

    return of


@pytest.fixture
def no_runs(monkeypatch):
    def refused(*_):
        raise AssertionError("it was run")

    monkeypatch.setattr(fl._core, "run", refused)


@pytest.mark.parametrize("name", FAST)
def test_rows_are_whole_and_no_row_is_out(rows, name):
    lines = rows(name)
    assert {line["experiment"] for line in lines} == {f"classics.{name}"}
    assert len({(line["quantity"], line["setting"]) for line in lines}) == len(lines)  # no duplicates
    assert all(line["source"] and line["reading"] and math.isfinite(line["measured"]) for line in lines)
    assert [line["quantity"] for line in lines if line["verdict"] in FAILED] == []
    assert any(line["kind"] != "context" for line in lines)


@pytest.mark.parametrize("name", (*FAST, "turn_models"))
def test_no_throughput_exceeds_the_ideal_one_beside_it(rows, name):
    lines = [line for line in rows(name) if line["quantity"].startswith(("throughput", "saturation"))
             and line["unit"] in (measuring.FLITS, "of capacity")]
    without = {line["setting"].partition(",")[0] for line in lines if line["ideal"] is None}
    assert without <= {"ideal switch", "output queues"} | {line["setting"].partition(",")[0] for line in lines
                                                           if "virtual output queues" in line["setting"]}
    # Of PolarFly's routers only some send over the busiest channel to the next router; the others go on to send more.
    uneven = {"polarfly": ["next_router, 228 terminals"]}.get(name, [])
    assert [line["setting"] for line in lines
            if line["ideal"] is not None and line["measured"] > 1.002 * line["ideal"]] == uneven  # 0.2 %: chance


def test_published_numbers_need_no_run(no_runs):
    """Every published row has its source, and no judged row is trivial: relations have the bound 1."""
    table = fl.published("classics")
    known = {name for name in reproduction.experiments() if name.startswith("classics.")}
    assert set(table.experiment) == known - NOTHING_PUBLISHED and len(known) == 12
    assert all(part.endswith(", abstract") for source in table.source for part in source.split("; "))
    relations = table[(table.unit == "times") & (table.tolerance == 0)]
    assert len(relations) > 30 and set(relations.published) == {1}
    assert {(row.experiment, row.quantity) for row in table.itertuples()} >= KNOWN_OUT


def measured(lines, quantity, setting):
    (line,) = (line for line in lines if (line["quantity"], line["setting"]) == (quantity, setting))
    return line["measured"]


def test_the_limit_of_input_queues():
    assert switches.exact_limit(2) == pytest.approx(0.75, abs=1e-6)
    assert switches.exact_limit(4) == pytest.approx(0.6553, abs=1e-4)
    assert switches.exact_limit(8) == pytest.approx(0.6184, abs=1e-4)


def test_virtual_output_queues_remove_the_limit(rows):
    voq, shared = "8 x 8, virtual output queues", "router, N = 8, 8 virtual channels for all outputs"
    once, four = "throughput at full load, 1 iteration", "throughput at full load, 4 iterations"
    assert measured(rows("islip"), once, voq) > 1.3 * measured(rows("islip"), once, shared)
    assert measured(rows("islip"), four, shared) > measured(rows("islip"), once, shared) + 0.1


def test_adaptive_routing_is_near_the_better_of_the_others(rows):
    lines = rows("dragonfly")
    for setting, better, worse in (("uniform, p = 2", "minimal", "Valiant"),
                                   ("adversarial, p = 2", "Valiant", "minimal")):
        best, adaptive, poor = (measured(lines, f"throughput, {a}", setting) for a in (better, "UGAL-L", worse))
        assert best > adaptive > 0.75 * best and adaptive > 1.4 * poor


def test_the_bound_of_minimal_routing_holds_for_any_size():
    assert hyperx.flat(5, "minimal", "next_router") == pytest.approx(1 / 5, rel=0.01)
    assert dragonfly.minimal_bound(2) == pytest.approx(1 / 8, rel=0.01)


def test_packets_of_one_flit_make_adaptive_routing_worse(rows):
    (line,) = (line for line in rows("fat_tree") if "packets of a flit" in line["setting"])
    assert line["measured"] < 1


@pytest.mark.parametrize(("topology", "algorithm", "pattern", "limit"), [
    ("mesh", "DOR", "transpose", 1 / 7), ("mesh", "DOR", "bit_complement", 1 / 4), ("torus", "DOR", "tornado", 1 / 3)])
def test_channel_limits_of_permutations_in_dimension_order_are_exact(topology, algorithm, pattern, limit):
    assert oblivious.limit(topology, algorithm, pattern) == pytest.approx(limit, rel=1e-3)


def test_saturation_by_bisection():
    """Dimension order carries transpose up to 1/7, where its busiest channels are full."""
    e = measuring.network(topology__kind="mesh", traffic__pattern="transpose")
    assert 0.12 < measuring.carried(e, 0.4, steps=5) < 0.17


def test_the_worst_case_of_a_slim_fly_shares_channels():
    """Routers are paired two hops apart: no channel joins them, and a third router has channels to both."""
    network = fl.Network(diameter_two.slim("minimal"), threads=1)
    channels = {(router, network.router(router).ports[port].peer) for router, port, _ in network.channels()}
    partner = diameter_two.paths_of_four(network.experiment)
    assert len(partner) == 44 and all(partner[b] == a != b for a, b in partner.items())
    for a, b in partner.items():
        assert (a, b) not in channels
        assert len([c for c in range(50) if (a, c) in channels and (c, b) in channels]) == 1


def test_the_second_transpose_mirrors_at_the_other_diagonal():
    assert [turn_models.second_transpose(source, 64) for source in (0, 7, 8, 56, 63)] == [63, 7, 62, 56, 0]
    assert all(turn_models.second_transpose(turn_models.second_transpose(s, 64), 64) == s for s in range(64))
