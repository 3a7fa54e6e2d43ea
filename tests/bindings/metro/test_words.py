"""A source's connections, followed word by word."""

import pytest

import flitlab as fl
from flitlab import metro
from flitlab.metro.published import networks as published


def network(tmp_path, lines, **settings):
    """Returns a network that sends the messages in ``lines``: (cycle, source, destination, words)."""
    trace = tmp_path / "trace.csv"
    trace.write_text("".join(",".join(map(str, line)) + "\n" for line in lines))
    mode = {"traffic.mode": "trace", "traffic.trace_file": str(trace)}
    return fl.Network(fl.Experiment.from_dict(published.NETWORK3 | mode | published.dotted(settings)))


def read(attempt, wire, back, kind):
    return [r.cycle - attempt.cycle for r in attempt.words if (r.wire, r.back, r.kind) == (wire, back, kind)]


def test_a_message_alone(tmp_path):
    net = network(tmp_path, [(10, 3, 17, 20)])
    (attempt,) = metro.attempts(net, 3, 60)
    assert attempt.cycle == 11 and attempt.outcome == "acknowledged" and net.totals["packets_delivered"] == 1
    assert [net.router(hop.router).name.split(".")[0] for hop in attempt.hops] == ["0", "1", "2"]
    # The words are the header, 20 data words and TURN, on each wire one clock later than on the wire before. The last
    # router consumes the header.
    for wire in range(4):
        assert read(attempt, wire, False, "TURN") == [21 + wire]
        assert len(read(attempt, wire, False, "DATA")) == (21 if wire < 3 else 20)
        assert read(attempt, wire, True, "DATA") == [*range(28 - wire, 33 - wire)]  # the reply and a 32-bit checksum
        assert read(attempt, wire, True, "DROP") == [33 - wire]
    assert len(attempt.heard()) == 3 * 2 + 1 + 4 + 1
    assert [port for port, _ in attempt.reported()] == [hop.backward for hop in attempt.hops]


def test_a_source_without_messages_has_no_attempts(tmp_path):
    net = network(tmp_path, [(10, 3, 17, 20)])
    assert metro.attempts(net, 4, 60) == [] and net.cycle == 60


@pytest.mark.parametrize(("fast", "outcome"), [(True, "dropped"), (False, "blocked")])
def test_a_blocked_message_tries_again(tmp_path, fast, outcome):
    lines = [(0, 4, 17, 40), (0, 5, 17, 40), (8, 3, 17, 8)]  # two messages keep both links of endpoint 17 busy
    net = network(tmp_path, lines, router__fast_reclaim=fast, router__width=8)
    tries = metro.attempts(net, 3, 200)
    assert len(tries) > 1 and [a.outcome for a in tries] == [outcome] * (len(tries) - 1) + ["acknowledged"]
    assert sum(net.totals[f"blocked_stage_{s}"] for s in range(3)) >= len(tries) - 1
    first = tries[0]
    stage = len(first.hops) - 1
    assert first.hops[stage].backward is None and not read(first, stage + 1, False, "DATA")
    # The message reaches the blocked router `stage` clocks after the first router; the backward control bit takes as
    # many clocks back to the source.
    if fast:
        assert read(first, 0, True, "BCB") == [2 * stage + 1]
        assert read(first, stage, False, "DROP") == [stage + 2]  # each router releases the connection at once
    else:
        assert len(read(first, 0, True, "BLOCKED")) == 2 and len(first.reported()) == stage


@pytest.mark.parametrize("settings", [
    {"router__pipeline_stages": 2, "topology__wire_delay": 3}, {"router__header_words": 2, "topology__wire_delay": 1},
    {"router__cascade": 2, "router__width": 4}, {"router__fast_reclaim": False}, {"topology__dilation": [2, 2, 2]},
    {"endpoint__closed_by": "source"}])
def test_under_load_outcomes_are_those_that_sources_count(settings):
    net = fl.Network(published.figure3_network(traffic__load=0.3, **settings))
    before = net.terminal(3).sent
    tries = [a for a in metro.attempts(net, 3, 3000, member=settings.get("router__cascade", 1) - 1)]
    over = tries[:-1]
    acknowledged = [a for a in over if a.outcome == "acknowledged"]
    assert {a.outcome for a in over} <= {"acknowledged", "dropped", "blocked"} and len(acknowledged) > 10
    assert abs(len(acknowledged) - (net.terminal(3).sent - before)) <= 2
    assert all([p for p, _ in a.reported()] == [hop.backward for hop in a.hops] for a in acknowledged)
    assert all(len(a.hops) == 3 and a.hops[-1].backward is not None for a in acknowledged)
    assert all(a.hops[-1].backward is None for a in over if a.outcome != "acknowledged")


@pytest.mark.parametrize("closed_by", ["source", "destination"])
def test_every_wire_is_closed_even_if_the_next_attempt_begins_at_once(closed_by):
    settings = {"endpoint__closed_by": closed_by, "endpoint__retry": "immediate", "traffic__load": 0.9}
    net = fl.Network(published.figure3_network(**settings))
    over = metro.attempts(net, 3, 1500)[:-2]
    assert {a.outcome for a in over} == {"acknowledged", "dropped"}
    for a in over:
        last = len(a.hops) - 1 if a.outcome == "dropped" else 3
        for wire in range(last + 1):
            assert any(r.wire == wire and r.kind == "DROP" for r in a.words)
            cycles = [(r.cycle, r.back) for r in a.words if r.wire == wire]
            assert len(set(cycles)) == len(cycles)


def test_a_port_that_leads_nowhere_and_how_routers_print(tmp_path):
    faults = tmp_path / "faults.csv"
    faults.write_text("".join(f"0,misallocate,0.{r},1\n" for r in range(16)))
    net = fl.Network(published.figure3_network(faults__file=str(faults), traffic__load=0.4))
    assert {a.outcome for a in metro.attempts(net, 3, 500)[:-1]} <= {"lost", "refused", "dropped"}
    assert "<forward to port" in "".join(repr(net.router(r)) for r in range(16))


def test_a_dead_router_is_silent(tmp_path):
    net = network(tmp_path, [(10, 3, 17, 20)])
    way = metro.attempts(net, 3, 60)[0].hops
    faults = tmp_path / "faults.csv"
    faults.write_text(f"0,dead,{net.router(way[1].router).name}\n")
    net = network(tmp_path, [(10, 3, 17, 20)], faults__file=str(faults))
    tries = metro.attempts(net, 3, 300)
    assert tries[0].outcome == "lost" and tries[0].hops[1].router == way[1].router and len(tries[0].reported()) == 1
    assert tries[-1].outcome == "acknowledged"
    assert net.totals["lost_stage_1"] == sum(a.outcome == "lost" for a in tries)


def test_wires_of_different_lengths(config):
    net = fl.Network(fl.load(config("metro-wiring")))
    tries = metro.attempts(net, 1, 2000)[:-1]
    acknowledged = [a for a in tries if a.outcome == "acknowledged"]
    assert {net.router(a.hops[0].router).name for a in acknowledged} == {"A", "B"}
    assert {read(a, 0, True, "DATA")[0] for a in acknowledged} == {2 + 20 + 1 + 4, 2 + 20 + 1 + 4 + 2}


def test_far_ports_are_the_other_end():
    net = fl.Network(published.figure3_network())
    wiring = metro.Wiring(net)
    first = net.router(0)
    inputs = wiring.inputs[0]
    for backward, port in enumerate(first.ports[inputs:]):
        ((router, forward),) = metro.far_ports(net, 0, backward)
        assert port.peer == router and net.router(router).ports[forward].peer == 0
    last = next(r for r, name in enumerate(wiring.names) if name.startswith("2."))
    assert metro.far_ports(net, last, 0) == []
    with pytest.raises(fl.ConfigError, match="backward ports 0 to 7"):
        metro.far_ports(net, 0, 8)


def test_what_does_not_exist_is_refused():
    net = fl.Network(published.figure3_network())
    with pytest.raises(fl.ConfigError, match="endpoint 64"):
        metro.attempts(net, 64, 1)
    with pytest.raises(fl.ConfigError, match="cascaded router 1"):
        metro.attempts(net, 0, 1, member=1)


@pytest.mark.parametrize("settings", [
    {"router__pipeline_stages": 2}, {"topology__wire_delay": 3},
    {"router__pipeline_stages": 2, "topology__wire_delay": 3},
    {"router__header_words": 1, "topology__wire_delay": 3, "router__fast_reclaim": False}])
@pytest.mark.parametrize("closed_by", ["source", "destination"])
def test_words_of_the_connection_before_are_left_out(settings, closed_by):
    """An attempt that begins right after another one uses wires that still carry words of the previous connection; they
    are not counted as its words."""
    busy = {"endpoint__closed_by": closed_by, "endpoint__retry": "immediate", "traffic__load": 0.9}
    net = fl.Network(published.figure3_network(**busy, **settings))
    over = metro.attempts(net, 3, 800)[:-1]
    assert len(over) > 10
    for a in over:
        for wire in {r.wire for r in a.words}:
            there = [r for r in a.words if r.wire == wire and not r.back]
            assert there[0].kind == "DATA" and "DROP" not in {r.kind for r in there[:-1]}
            assert all(r.cycle > there[0].cycle for r in a.words if r.wire == wire and r.back)
