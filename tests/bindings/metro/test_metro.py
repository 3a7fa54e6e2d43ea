"""METRO: configurations, published experiments, words on wires, scan, the command line."""

import json
import math
import re
from itertools import pairwise
from pathlib import Path

import pytest

import flitlab as fl
from flitlab import metro, reproduction
from flitlab.metro.published import networks as published
from flitlab.metro.published import paper

CONFIGS = Path(__file__).parents[3] / "configs"
EXPERIMENTS = sorted(name for name in reproduction.experiments() if name.startswith("metro."))


@pytest.fixture(scope="module")
def rows():
    """Returns the rows of an experiment, which runs once; the faults experiment uses a subset of its settings."""
    done = {}

    def of(name):
        if name not in done:
            small = name == "metro.faults"
            done[name] = paper.faults((0.0, 0.05, 0.1), 2) if small else reproduction.experiments()[name][1]()
        return done[name]

    return of


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_rows_are_whole_and_in_tolerance(rows, name):
    lines = rows(name)
    assert {r["experiment"] for r in lines} == {name}
    assert len({(r["quantity"], r["setting"]) for r in lines}) == len(lines)  # no duplicates
    assert all(r["source"].startswith(published.PAPER) and r["setting"] and math.isfinite(r["measured"]) for r in lines)
    assert all((r["verdict"] == "context") == (r["published"] is None) for r in lines)
    assert not {"out", "broken"} & {r["verdict"] for r in lines}


def test_in_use_matters(rows):
    """With the IN-USE check no reply of the faulty cascaded router breaks off; without the check some replies do."""
    lost = {r["setting"]: r["measured"] for r in rows("metro.cascade") if "broke off" in r["quantity"]}
    assert lost["sound"] == lost["a faulty slice"] == 0 < lost["a faulty slice, no IN-USE check"]


def test_all_experiments_are_there():
    names = "cascade compare faults figure1 figure3 headers reclamation single_router table3 unloaded"
    assert [f"metro.{name}" for name in names.split()] == EXPERIMENTS


def test_a_wrong_clock_would_show(rows):
    """The values for Table 3 are measured, not copied: one more pipeline stage changes them."""
    orbit = published.TABLE3[0]
    slower = published.Instance("slower", 25, 10, 50, 1250, pipeline=2)
    words = 8 * published.BYTES // orbit.bits
    assert published.alone(orbit.experiment, words).delivered * 25 == 1250
    assert published.alone(slower.experiment, words).delivered * 25 == 1250 + 4 * 25


def test_figure3_rises_smoothly(rows):
    """Latency starts at 28 clocks and rises monotonically, by less than 20 % per step."""
    latency = [r["measured"] for r in rows("metro.figure3") if r["quantity"].startswith("latency at 0")]
    assert latency[0] == pytest.approx(28, abs=0.2)
    assert all(a < b < 1.2 * a for a, b in pairwise(latency))


def test_faults_degrade_without_a_cliff(rows):
    for what in ("routers", "links"):
        through = [r["measured"] for r in rows("metro.faults")
                   if r["quantity"] == "throughput" and r["setting"].endswith(f"% of {what} dead")]
        assert through[0] == max(through) and all(b > 0.7 * a for a, b in pairwise(through))


@pytest.fixture
def one_message(tmp_path):
    """A network in which endpoint 3 sends to endpoint 17; its first word is on the wire in cycle 1."""
    (tmp_path / "one.csv").write_text("0,3,17,20\n", encoding="utf-8")
    return fl.Network(fl.Experiment.from_dict(published.NETWORK3 | {
        "traffic.mode": "trace", "traffic.trace_file": str(tmp_path / "one.csv")}))


def test_words_can_be_read_on_their_wires(one_message):
    net = one_message.step(1)
    (router,) = (r for r in range(48) if any(word for word in metro.words(net, r).values()))
    (port,) = (p for p, word in metro.words(net, router).items() if word)
    assert metro.words(net, router)[port].startswith("DATA ")
    net.step(21)
    assert metro.words(net, router)[port] == "TURN"
    net.step(1)
    assert metro.Scan(net).read_register(router, f"sent.{port}") >> 16 == metro.KINDS.index("STATUS")


def test_ports_are_switched_while_traffic_flows():
    e = published.figure3_network(traffic__load=0.2)
    net = fl.Network(e).step(1000)
    for out in range(2):
        metro.Scan(net).write_register(0, f"on.b{out}", 0)
    before = dict(((r, p), n) for r, p, n in net.channels())
    net.step(3000).check()
    moved = {key: n - before[key] for key, n in ((((r, p)), n) for r, p, n in net.channels())}
    assert net.router(0).ports[8].vcs[0].stage == "off"
    assert max(moved[0, 8], moved[0, 9]) <= 40 < min(moved[0, port] for port in range(10, 16))
    metro.Scan(net).write_register(0, "on.b0", 1)
    net.step(2000).check()
    assert next(n for r, p, n in net.channels() if (r, p) == (0, 8)) > before[0, 8] + moved[0, 8] + 100


@pytest.mark.parametrize("name, value, message", [
    ("on.b0", 2, "it is 0 or 1"), ("word.f0", 1, "can be read only"), ("dilation", 3, "power of two"),
    ("dilation", 4, "up to 2"),
    ("on.b99", 0, r"does not exist in this router; it has .*on\.b0 to 7"), ("turn_delay.f0", 99, "0 to 15"),
    ("drive.b0", 1 << 20, "a word is a kind"),
])
def test_registers_refuse(one_message, name, value, message):
    with pytest.raises(fl.ConfigError, match=message):
        metro.Scan(one_message).write_register(0, name, value)


def test_scan_needs_one_test_access_port(tmp_path):
    (tmp_path / "taps.csv").write_text("0,tap,0.0,1\n5,tap,0.0,0\n", encoding="utf-8")
    e = published.figure3_network(faults__file=str(tmp_path / "taps.csv"), router__scan_paths=2)
    net = fl.Network(e).step(2)
    metro.Scan(net).write_register(0, "fast.f0", 0)
    assert metro.Scan(net).read_register(0, "fast.f0") == 0
    net.step(10)
    with pytest.raises(fl.ConfigError, match=r"of router 0\.0 cannot be reached"):
        metro.Scan(net).write_register(0, "fast.f0", 1)
    with pytest.raises(fl.ConfigError, match="cannot be reached"):
        metro.Scan(net).read_register(0, "captured.f0")
    assert "captured.f0" not in metro.Scan(net).registers(0)
    assert metro.Scan(net).read_register(0, "state.f0") in range(7)
    metro.Scan(net).write_register(1, "fast.f0", 0)


def test_a_wrong_turn_delay_loses_words(one_message):
    """A router whose turn_delay register is larger than the delay of its wire drops words of its neighbour."""
    for router in range(16):
        for port in range(8):
            metro.Scan(one_message).write_register(router, f"turn_delay.b{port}", 3)
    one_message.step(200)
    assert one_message.totals["packets_delivered"] == 0 and one_message.totals["attempts"] > 2


def test_run_and_trace_on_the_command_line(cli, tmp_path):
    (tmp_path / "m.toml").write_text('router.kind = "metro"\ntraffic.load = 0.2\nrun.measure_cycles = 2000\n')
    done = cli("run", "m.toml", "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    packets = result["packets"]
    assert packets["created"] == sum(packets[k] for k in ("delivered", "dropped", "in_flight", "queued"))
    assert result["model"]["attempts"] >= packets["delivered"]
    done = cli("trace", "m.toml", "--cycles", "0:200", "--format", "jsonl", "--out", "t.jsonl")
    assert done.returncode == 0, done.stderr
    kinds = {json.loads(line)["kind"] for line in (tmp_path / "t.jsonl").read_text().splitlines()}
    assert {"created", "injected", "delivered", "connection", "word"} <= kinds
    done = cli("trace", "m.toml", "--cycles", "50:120", "--format", "vcd", "--out", "t.vcd", "--routers", "0,3")
    assert done.returncode == 0, done.stderr
    vcd = (tmp_path / "t.vcd").read_text()
    assert "$scope module router_3 $end" in vcd and "word_f0" in vcd and "\n#120\n" in vcd
    assert vcd.count("\nb1") > 50  # words
    dumped = vcd.index("$end\n", vcd.index("$dumpvars"))
    first = vcd[dumped:vcd.index("#51", dumped)]  # the first cycle gives each port a value
    assert first.count("\nb") == len(re.findall(r"\$var wire (?:3|19) ", vcd))
    done = cli("trace", "m.toml", "--cycles", "50:250", "--format", "perfetto", "--out", "t.json")
    assert done.returncode == 0, done.stderr
    spans = [e for e in json.loads((tmp_path / "t.json").read_text())["traceEvents"] if e["ph"] == "X"]
    assert {"forward", "reverse"} <= {s["name"] for s in spans} and all(s["dur"] > 0 for s in spans)
    assert all((s["args"]["backward_port"] is None) == (s["name"] not in ("forward", "reverse")) for s in spans)
    done = cli("run", "m.toml", "--set", "router.width=1")
    assert done.returncode == 2 and "router.width = 1 bits cannot name" in done.stderr
