"""A small part of the campaign, with the same seeds every time; and that it would see what falls."""

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

HERE = Path(__file__).resolve().parent


def run(*arguments, env=None):
    return subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True, timeout=900, env=env)


def test_nothing_falls(tmp_path):
    done = run(HERE / "campaign.py", "--cases", 40, "--seed", 1, "--out", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads((tmp_path / "report.json").read_text())
    outcomes = report["outcomes"]
    assert {"open", "batch", "trace", "request_reply", "matrix", "graph"} <= set(report["modes"])
    assert len(report["relations"]) == 3 and min(report["relations"].values()) > 4, report["relations"]
    ran = {k.split()[1]: n for k, n in outcomes.items() if k.startswith("networks") and k.endswith(" ran")}
    assert len(ran) == 8 and sum(ran.values()) > 25, outcomes


def test_a_short_soak(tmp_path):
    """A part of the billion cycles and of the 100,000 points, each of which says what it did."""
    done = run(HERE / "soak.py", "--cycles", 40000, "--points", 100, "--out", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    parts = {part["part"]: part for part in json.loads((tmp_path / "soak.json").read_text())}
    assert len(parts) == 9 and parts.pop("sweep")["points"] == 100
    assert all(part["cycles"] == 40000 and part["packets"] > 400 for part in parts.values()), parts
    assert all(0.9 < part["created, of what the load asks"] < 1.1 for part in parts.values()), parts


def test_a_few_faults_of_the_machine(tmp_path):
    """A kill, a full disk and short calls."""
    done = run(HERE / "faults.py", "--trials", 3, "--seed", 0, "--out", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert sum(json.loads((tmp_path / "faults.json").read_text())["tried"].values()) == 3


@pytest.mark.parametrize(("status", "output", "errors", "says"), [
    (0, "this", "", ""),
    (0, "that", "", "attempt 0 ended otherwise: that, not this"),
    (-11, "", "", "attempt 0 ended with -11"),
    (1, "", "Traceback (most recent call last)", "attempt 0 ended with 1: Traceback"),
    (2, "", "no room", "no end after 40 attempts; the last said no room"),
])
def test_faults_that_do_harm_are_seen(monkeypatch, status, output, errors, says):
    monkeypatch.syspath_prepend(str(HERE))
    import faults

    work = SimpleNamespace(cycles=1, command=lambda folder, again: [], result=lambda folder, output: output)
    fault = SimpleNamespace(attempt=lambda *rest: (status, output, errors))
    said = faults.trial(work, fault, None, "this", 1.0)
    assert said.startswith(says) and bool(said) == bool(says)


BROKEN = """
import sys, runpy
sys.argv = ["worker.py", "networks", {folder!r}, *{seeds!r}]
sys.path.insert(0, {here!r})
import flitlab as fl
{broken}
runpy.run_path({here!r} + "/worker.py", run_name="__main__")
"""


def outcomes(tmp_path, broken):
    """Three networks of the canonical router, tried with something broken."""
    code = BROKEN.format(here=str(HERE), folder=str(tmp_path), broken=broken, seeds=["0", "8", "24"])
    done = run("-c", code)
    return [line for line in map(json.loads, done.stdout.splitlines()) if "done" in line]


CUDA_COUNTS_MORE = """
import oracles
oracles.CUDA, make, t = True, fl.Network, fl.Network.totals
def network(e, backend="cpu", **settings):
    net = make(e, backend="cpu", **settings)
    net.more = backend == "cuda"
    return net
oracles.fl.Network = network
make.totals = property(lambda s: t.fget(s) | {"flit_moves": t.fget(s)["flit_moves"] + getattr(s, "more", False)})
"""


@pytest.mark.parametrize(("broken", "says"), [
    (CUDA_COUNTS_MORE, "another state with CUDA"),
    ("fl.Network.state_hash = property(lambda s: s._core.state_hash() + str(id(s)))", "another state"),
    ("t = fl.Network.totals\nfl.Network.totals = property(lambda s: t.fget(s) | {'packets_injected': 0})",
     "more packets have arrived than left"),
    ("def check(s): raise fl.RunError('flits are not conserved')\nfl.Network.check = check", "it ended with"),
    ("def check(s): raise fl.RunError('they wait for one another\\nin a cycle')\nfl.Network.check = check",
     "it ended with"),
])
def test_what_falls_is_seen(tmp_path, broken, says):
    assert [line["outcome"] for line in outcomes(tmp_path, "")] == ["ran"] * 3
    found = outcomes(tmp_path, broken)
    assert [line["outcome"] for line in found] == ["finding"] * 3
    assert all(line["what"].startswith(says) for line in found)


def test_relations_that_do_not_hold_are_seen(tmp_path):
    """Results that depend on the place in a job, a batch that delivers more, late packets that are slow."""
    broken = """
import itertools, relations
real, calls = relations.run_job, itertools.count()
def run_job(experiments, *rest):
    results, call = real(experiments, *rest), next(calls)
    for place, result in enumerate(results):
        if {what} == 0: result["state_hash"] += str(place)
        if {what} == 1: result["packets"]["delivered"] += call
        if {what} == 2: result["latency_cycles"]["max"] += call
    return results
relations.run_job = run_job
"""
    for what, says in enumerate(["ends otherwise as replica", "larger a batch ends with", "packets that are alone"]):
        only = f"relations.RELATED, relations.RELATIONS = 1, relations.RELATIONS[{what}:{what} + 1]\n"
        found = outcomes(tmp_path, broken.replace("{what}", str(what)) + only)
        assert any(line["outcome"] == "finding" and says in line["what"] for line in found), found


def test_a_process_that_dies_is_a_finding_of_its_case(tmp_path, monkeypatch):
    """The second of three networks kills its process; the third is tried all the same."""
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
    monkeypatch.setattr(campaign, "shrunk", lambda config, folder: config)
    tried = campaign.Campaign(0, None)
    monkeypatch.setattr(campaign, "CASES", 24)  # of which every eighth is a network of the canonical router
    tried.chunk(0)
    assert [(f["done"], f["config"]["run.seed"]) for f in tried.findings] == [(8, 77)]
    assert "status -6" in tried.findings[0]["what"]
    assert sum(tried.outcomes.values()) == 24
