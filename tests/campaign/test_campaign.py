"""A small part of the campaign, with the same seeds every time; and that it would see what falls."""

import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def run(*arguments, env=None):
    return subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True, timeout=900, env=env)


def test_nothing_falls(tmp_path):
    done = run(HERE / "campaign.py", "--cases", 96, "--seed", 0, "--out", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    outcomes = json.loads((tmp_path / "report.json").read_text())["outcomes"]
    ran = {k.split()[1]: n for k, n in outcomes.items() if k.startswith("networks") and k.endswith(" ran")}
    assert len(ran) == 8 and sum(ran.values()) > 60, outcomes


BROKEN = """
import sys, runpy
sys.argv = ["worker.py", "networks", {folder!r}, "0", "8"]
sys.path.insert(0, {here!r})
import flitlab as fl
{broken}
runpy.run_path({here!r} + "/worker.py", run_name="__main__")
"""


def outcomes(tmp_path, broken):
    code = BROKEN.format(here=str(HERE), folder=str(tmp_path), broken=broken)
    done = run("-c", code)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


def test_what_falls_is_seen(tmp_path):
    """Broken on purpose: state that differs with the threads, a total that is wrong, a message in several lines."""
    _, sound = outcomes(tmp_path, "")
    assert [line["outcome"] for line in sound if "done" in line] == ["ran", "ran"]
    for broken in ("n = fl.Network\nfl.Network.state_hash = property(lambda s: s._core.state_hash + str(id(s)))",
                   "t = fl.Network.totals\nfl.Network.totals = property(lambda s: t.fget(s) | {'packets_injected': 0})",
                   "fl.Network.check = lambda s: (_ for _ in ()).throw(fl.RunError('flits are not conserved'))"):
        _, lines = outcomes(tmp_path, broken)
        assert "finding" in [line.get("outcome") for line in lines], broken


def test_a_process_that_dies_is_a_finding_of_its_case(tmp_path):
    sys.path.insert(0, str(HERE))
    try:
        import campaign
    finally:
        sys.path.remove(str(HERE))
    (tmp_path / "c.json").write_text(json.dumps({"router.kind": "vc"}))
    lines = campaign.work("one", [tmp_path / "c.json"], 0.01)
    assert lines[-1]["outcome"] == "finding" and "took longer" in lines[-1]["what"]
    lines = campaign.work("one", [tmp_path / "missing.json"], 60)
    assert lines[-1]["outcome"] == "finding"
