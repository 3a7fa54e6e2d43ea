"""A small part of the campaign with fixed seeds, and tests that it detects failures."""

import functools
import itertools
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest

import flitlab as fl

HERE = Path(__file__).resolve().parent


def run(*arguments, env=None):
    return subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True, timeout=3600, env=env)


def test_a_short_campaign_has_no_findings(tmp_path):
    done = run(HERE / "campaign.py", "--cases", 40, "--seed", 5, "--out", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads((tmp_path / "report.json").read_text())
    outcomes = report["outcomes"]
    assert {"open", "batch", "trace", "request_reply", "matrix", "graph"} <= set(report["modes"])
    assert len(report["relations"]) == 5 and min(report["relations"].values()) > 2, report["relations"]
    ran = {k.split()[1]: n for k, n in outcomes.items() if k.startswith("networks") and k.endswith(" ran")}
    assert len(ran) == 8 and sum(ran.values()) > 25, outcomes


def test_a_short_soak(tmp_path):
    """Parts of the billion cycles and of the 100,000 points; each reports its work."""
    done = run(HERE / "soak.py", "--cycles", 40000, "--points", 100, "--out", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    parts = {part["part"]: part for part in json.loads((tmp_path / "soak.json").read_text())}
    assert len(parts) == 9 and parts.pop("sweep")["points"] == 100
    assert all(part["cycles"] == 40000 and part["packets"] > 400 for part in parts.values()), parts
    assert all(0.9 < part["created, of what the load asks"] < 1.1 for part in parts.values()), parts


def test_a_few_faults_of_the_machine(tmp_path):
    """Covers each fault and each kind of command."""
    done = run(HERE / "faults.py", "--trials", 5, "--seed", 0, "--out", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    tried = [name.split() for name in json.loads((tmp_path / "faults.json").read_text())["tried"]]
    assert len({fault for _, fault in tried}) == 5 and len({work for work, _ in tried}) == 4


@pytest.mark.parametrize(("status", "output", "errors", "expected_text"), [
    (0, "this", "", ""),
    (0, "that", "", "attempt 0 ended with that instead of this"),
    (-11, "", "", "attempt 0 ended with -11"),
    (1, "", "Traceback (most recent call last)", "attempt 0 ended with 1: Traceback"),
    (2, "", "flitlab: no room", "not finished after 40 attempts; last error: flitlab: no room"),
    (2, "", "no room", "attempt 0 ended with 2 without a clear message: no room"),
])
def test_faults_that_do_harm_are_seen(monkeypatch, status, output, errors, expected_text):
    monkeypatch.syspath_prepend(str(HERE))
    import faults

    work = SimpleNamespace(cycles=1, traffic="", command=lambda folder, again: [], result=lambda folder, output: output)
    fault = SimpleNamespace(attempt=lambda *rest: (status, output, errors))
    message_text = faults.trial(work, fault, None, "this", 1.0)
    assert message_text.startswith(expected_text) and bool(message_text) == bool(expected_text)


def test_faults_are_injected(monkeypatch, tmp_path):
    """A folder is read-only, even for root; a program that writes to it is detected. Clocks jump in both directions."""
    monkeypatch.syspath_prepend(str(HERE))
    import faults

    fault, folder = faults.ReadOnly(), tmp_path / "folder"
    folder.mkdir()
    for shell, harm in (("echo x > f", False), ("chmod 755 .; echo x > f", True)):
        fault.attempts = 1
        if harm:
            with pytest.raises(AssertionError, match="read-only was written"):
                fault.attempt(["sh", "-c", shell], folder, None, 1.0)
        else:
            assert fault.attempt(["sh", "-c", shell], folder, None, 1.0)[0] != 0 and not list(folder.iterdir())
    code = "import time\nfor f in time.time, time.monotonic:\n for _ in range(99): print(f())"
    times = [float(x) for x in faults.JumpingClocks().attempt([sys.executable, "-c", code], folder, random.Random(1),
                                                              1.0)[1].split()]
    for first, most in ((0, 86400), (99, 2)):
        steps = [b - a for a, b in itertools.pairwise(times[first:first + 99])]
        assert -2 * most - 1 < min(steps) < -most / 2 and most / 2 < max(steps) < 2 * most + 1


BROKEN = """
import sys, runpy
sys.argv = ["worker.py", "networks", {folder!r}, *{seeds!r}]
sys.path.insert(0, {here!r})
import flitlab as fl
{broken}
runpy.run_path({here!r} + "/worker.py", run_name="__main__")
"""


@functools.cache
def seeds_that_run():
    """Returns three seeds with which the campaign draws canonical-router networks that run, in lanes on a CPU, and that
    deliver packets. One is a torus with open traffic. Which these are changes with every new parameter."""
    def delivers(e):
        net = fl.Network(e)
        net.step(200)
        return net.totals["packets_delivered"] > 0
    with tempfile.TemporaryDirectory() as folder:
        done = run(HERE / "worker.py", "networks", folder, *range(0, 200, 8))
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        configs = {str(line["at"]): line["config"] for line in lines if "config" in line}
        ran = [str(line["done"]) for line in lines if line.get("outcome") == "ran"]
        # Later networks have overwritten the files of earlier ones.
        networks = {seed: fl.Experiment.from_dict(configs[seed]) for seed in ran if folder not in str(configs[seed])}
        found = [seed for seed, e in networks.items() if e.forms()["cpu"] == "lanes" and delivers(e)]
        torus = next(seed for seed in found if networks[seed]["topology.kind"] == "torus"
                     and networks[seed]["traffic.mode"] == "open")
        return [torus, *(seed for seed in found if seed != torus)][:3]


def outcomes(tmp_path, broken):
    """Returns the outcomes of three canonical-router networks with one thing broken."""
    code = BROKEN.format(here=str(HERE), folder=str(tmp_path), broken=broken, seeds=seeds_that_run())
    done = run("-c", code)
    return [line for line in map(json.loads, done.stdout.splitlines()) if "done" in line]


CUDA_COUNTS_MORE = """
import oracles
oracles.cuda, make, t = lambda: True, fl.Network, fl.Network.totals
def network(e, backend="cpu", **settings):
    net = make(e, backend="cpu", **settings)
    net.more = backend == "cuda"
    return net
oracles.fl.Network = network
make.totals = property(lambda s: t.fget(s) | {"flit_moves": t.fget(s)["flit_moves"] + getattr(s, "more", False)})
"""


LANES_COUNT_MORE = """
import os, oracles
make, t = fl.Network, fl.Network.totals
def network(e, **settings):
    net = make(e, **settings)
    net.more = fl._core.backends()["cpu"]["lanes"] == {width}
    return net
oracles.fl.Network = network
make.totals = property(lambda s: t.fget(s) | {{"flit_moves": t.fget(s)["flit_moves"] + getattr(s, "more", False)}})
"""


LANES_LOSE = """
import os
step = fl.Network.step
def busy(net, cycles=1):
    before, net.cycles = getattr(net, "cycles", 0), getattr(net, "cycles", 0) + cycles
    net.in_lanes = getattr(net, "in_lanes", False) or before >= 64
    return step(net, cycles)
fl.Network.step, t = busy, fl.Network.totals
def totals(net):
    more = net.in_lanes and os.environ.get("FLITLAB_LANES") == "64"
    return t.fget(net) | {"flit_moves": t.fget(net)["flit_moves"] + more}
fl.Network.totals = property(totals)
"""


@pytest.mark.parametrize(("broken", "expected_text"), [
    (LANES_LOSE, "another state with lanes of 64 bytes"),
    (LANES_COUNT_MORE.format(width=0), "another state with lanes of 0 bytes"),
    (LANES_COUNT_MORE.format(width=16), "another state with lanes of 16 bytes"),
    (CUDA_COUNTS_MORE, "another state with CUDA"),
    ("fl.Network.state_hash = property(lambda s: s._core.state_hash() + str(id(s)))", "another state"),
    ("t = fl.Network.totals\nfl.Network.totals = property(lambda s: t.fget(s) | {'packets_injected': 0})",
     "more packets have arrived than were injected"),
    ("def check(s): raise fl.RunError('flits are not conserved')\nfl.Network.check = check", "it ended with"),
    ("def check(s): raise fl.RunError('they wait for one another\\nin a cycle')\nfl.Network.check = check",
     "it ended with"),
])
def test_failures_are_detected(tmp_path, broken, expected_text):
    assert [line["outcome"] for line in outcomes(tmp_path, "")] == ["ran"] * 3
    found = outcomes(tmp_path, broken)
    assert [line["outcome"] for line in found] == ["finding"] * 3
    assert all(line["what"].startswith(expected_text) for line in found)


def test_relations_that_do_not_hold_are_seen(tmp_path):
    """Results that depend on the position in a job, a batch that delivers more, packets that are slower at other times,
    at other positions, or always."""
    broken = """
import itertools, relations
real, calls = relations.run_job, itertools.count()
def run_job(experiments, *rest):
    results, call = real(experiments, *rest), next(calls)
    for place, result in enumerate(results):
        if {what} == 0: result["state_hash"] += str(place)
        if {what} == 1: result["packets"]["delivered"] += call
        if {what} in (2, 3): result["latency_cycles"]["max"] += call
        if {what} == 4: result["latency_cycles"]["mean"] += 1
    return results
relations.run_job = run_job
"""
    expected = ["ends differently as replica", "larger a batch ends with", "at other times", "further round the torus",
                "predicted"]
    for what, expected_text in enumerate(expected):
        only = f"relations.RELATED, relations.RELATIONS = 1, relations.RELATIONS[{what}:{what} + 1]\n"
        found = outcomes(tmp_path, broken.replace("{what}", str(what)) + only)
        assert any(line["outcome"] == "finding" and expected_text in line["what"] for line in found), found


STALL = "no packet has arrived for 20000 cycles (since cycle 7), and 3 are under way."
DEFECT = "flits are not conserved (replica 0, cycle 9): 4 should be, 5 are. This is a defect of flitlab."


@pytest.mark.parametrize(("relation", "message", "at", "settings", "expected_text"), [
    ("order_of_replicas", DEFECT, [0, 1], {}, "it ended with: flits are not conserved"),
    ("order_of_replicas", STALL, [1], {}, "replicas finish in one order but not in another"),
    ("order_of_replicas", STALL, [0, 1], {}, ""),
    ("buffers_lose_nothing", DEFECT, [1], {}, "it ended with: flits are not conserved"),
    ("buffers_lose_nothing", "deadlock (replica 0): 2 wait for one another in a cycle:\n a", [1], {}, "it ended with"),
    ("buffers_lose_nothing", STALL, [1], {}, "with router.buffer_flits larger a batch does not end"),
    ("buffers_lose_nothing", STALL, [0], {}, ""),
    ("buffers_lose_nothing", STALL, [1], {"routing.vc_assignment": "any"}, ""),
    ("time_does_not_matter", DEFECT, [0], {}, "it ended with: flits are not conserved"),
    ("time_does_not_matter", STALL, [1], {}, "isolated packets arrive, but not at other times"),
])
def test_runs_that_fail_are_seen_by_relations(monkeypatch, tmp_path, relation, message, at, settings, expected_text):
    """The calls numbered `at` in a relation end with a message. A deadlock is allowed where it is possible; "" means
    that the relation does not apply."""
    monkeypatch.syspath_prepend(str(HERE))
    import oracles
    import relations

    import flitlab as fl

    calls = itertools.count()

    def run_job(experiments, *rest):
        if next(calls) in at:
            raise fl.RunError(message)
        return real(experiments, *rest)

    real = relations.run_job
    monkeypatch.setattr(relations, "run_job", run_job)
    e = fl.Experiment.from_dict({"router.kind": "vc", "topology.shape": [4, 2]} | settings)
    tried = functools.partial(getattr(relations, relation), e, random.Random(1), tmp_path)
    if expected_text:
        with pytest.raises(oracles.Finding, match=expected_text):
            tried()
    else:
        assert not tried()


def test_a_case_is_tried_again_as_it_was(tmp_path):
    """The thread order, seed and files come from the finding; each case has its own thread order."""
    (tmp_path / "t.csv").write_text("0,0,1,1\n")
    finding = {"done": 13, "smallest": {"router.kind": "vc", "topology.shape": [2, 2], "traffic.mode": "trace",
                                        "traffic.trace_file": "/gone/t.csv"}}
    (tmp_path / "finding.json").write_text(json.dumps(finding))
    code = BROKEN.format(here=str(HERE), folder=str(tmp_path), broken=(
        "import os, relations\nsys.argv[1:] = sys.argv[3:]\nrelations.judge = lambda e, draw, folder: print(draw)\n"
        "os.register_at_fork(after_in_child=lambda: print('a process'))\n"
        "import oracles\nreal = oracles.judge\ndef judge(*rest):\n"
        "    print(os.environ['CUDA_ON_HOST_SEED'], os.environ['CUDA_ON_HOST_THREADS'])\n    return real(*rest)\n"
        "oracles.judge = judge"), seeds=["one", str(tmp_path), str(tmp_path / "finding.json")])
    done = run("-c", code)
    first, process, order, *draws, last = done.stdout.splitlines()
    assert (process, order, draws) == ("a process", f"13 {32 << 3}", ["13", *"01234567"]), done.stderr
    assert json.loads(first) == {"at": 13} and json.loads(last)["outcome"] == "ran"


TRACEBACK = """Traceback (most recent call last):
  File "/somewhere/{file}.py", line {line}, in judge
    found = it.end
{error}: 'x' is not there
"""


@pytest.mark.parametrize(("a", "b", "alike"), [
    ("another state with CUDA: 12ab and 0f3c; {'flit_moves': (3, 4)}", "another state with CUDA: 77 and 9c; {}", True),
    ("another state with CUDA: 12ab and 0f3c; {}", "another state on two threads: 12ab and 0f3c; {}", False),
    ("it ended with: flits are not conserved (cycle 3)", "it ended with: flits are not conserved (cycle 12)", True),
    ("it ended with: flits are not conserved (cycle 3)", "it ended with: packets are not conserved (cycle 3)", False),
    (TRACEBACK.format(file="a", line=3, error="KeyError"), TRACEBACK.format(file="a", line=3, error="KeyError"), True),
    (TRACEBACK.format(file="a", line=3, error="KeyError"), TRACEBACK.format(file="a", line=4, error="KeyError"), False),
    (TRACEBACK.format(file="a", line=3, error="KeyError"), TRACEBACK.format(file="b", line=3, error="KeyError"), False),
    (TRACEBACK.format(file="a", line=3, error="KeyError"), TRACEBACK.format(file="a", line=3, error="OSError"), False),
    ("the process ended with status -6: ", "the process ended with status -11: ", False),
])
def test_a_smallest_configuration_fails_in_the_same_way(monkeypatch, tmp_path, a, b, alike):
    """Without one setting the configuration fails differently, or in the same way with other numbers."""
    monkeypatch.syspath_prepend(str(HERE))
    import campaign

    monkeypatch.setattr(campaign, "fails", lambda config, seed, folder: a if "run.seed" in config else b)
    config = {"router.kind": "vc", "run.seed": 3}
    smallest = campaign.shrunk({"config": config, "done": 1, "what": a}, tmp_path)
    assert smallest == ({"router.kind": "vc"} if alike else config)


def test_a_process_that_dies_is_a_finding_of_its_case(tmp_path, monkeypatch):
    """The second of three networks kills its process; the third is still tried."""
    monkeypatch.syspath_prepend(str(HERE))
    import campaign

    real = campaign.work

    def work(what, folder, arguments, seconds):
        if what == "one":
            return real(what, folder, arguments, seconds)
        code = BROKEN.format(here=str(HERE), folder=str(folder), seeds=[str(seed) for seed in arguments], broken=(
            "import os\nlive = fl.Network.step\n"
            "def step(s, n=1):\n    return os.abort() if s.experiment['run.seed'] == 77 else live(s, n)\n"
            "fl.Network.step = step\nimport generate\nmake = generate.Generator.experiment\n"
            "def experiment(g, kind, steps=12):\n    e = make(g, kind, steps)\n"
            "    return e.set('run.seed', 77) if g.seed == 8 else e\n"
            "generate.Generator.experiment = experiment"))
        monkeypatch.setattr(campaign, "HERE", tmp_path)
        (tmp_path / "worker.py").write_text(code)
        return real(what, folder, arguments, seconds)

    monkeypatch.setattr(campaign, "work", work)
    monkeypatch.setattr(campaign, "shrunk", lambda finding, folder: finding["config"])
    tried = campaign.Campaign(0, None)
    monkeypatch.setattr(campaign, "CASES", 24)  # of every eight cases, one is a network of canonical routers
    tried.chunk(0)
    assert [(f["done"], f["config"]["run.seed"]) for f in tried.findings] == [(8, 77)]
    assert "status -6" in tried.findings[0]["what"]
    assert sum(tried.outcomes.values()) == 24
