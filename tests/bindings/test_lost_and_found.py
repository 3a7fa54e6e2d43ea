"""Damaged files, links in place of files, and outputs that cannot be written: no result is lost, no damaged result is
accepted, and one line reports the problem."""

import json
import os
import random
import signal
import subprocess
import sys

import pytest
from interrupted import interrupted

import flitlab as fl
from flitlab.journal import line_of

OVER = {"traffic.load": [0.05, 0.1, 0.15, 0.2]}


@pytest.fixture(scope="module")
def journal(tmp_path_factory):
    """Returns a sweep's experiment, its file of points, and the resulting table."""
    folder = tmp_path_factory.mktemp("whole")
    e = fl.Experiment.from_dict({"topology.shape": [4, 4], "run.warmup_cycles": 100, "run.measure_cycles": 200,
                                 "run.epoch_cycles": 100})
    fl.sweep(e, OVER, out=folder, progress=False)
    return e, (folder / "points.jsonl").read_bytes(), (folder / "curve.csv").read_bytes()


def resumed(e, folder, points):
    """Resumes a sweep from a file of points; returns the table and the warnings."""
    folder.mkdir(exist_ok=True)
    (folder / "points.jsonl").write_bytes(points)
    with pytest.warns(UserWarning) as warned:
        fl.sweep(e, OVER, out=folder, resume=True, progress=False)
    return (folder / "curve.csv").read_bytes(), [str(w.message) for w in warned]


@pytest.fixture
def stopped(tmp_path):
    """Returns a sweep that was stopped before any point ended, and the complete one."""
    e = fl.load("vc-torus-8x8").set({"run.warmup_cycles": 500, "run.measure_cycles": 2_000_000})
    over = {"traffic.load": [0.05, 0.1]}
    words = ["--over", "traffic.load=0.05,0.1", "--set", "run.warmup_cycles=500", "--set", "run.measure_cycles=2000000"]
    done = interrupted(["sweep", "vc-torus-8x8", *words, "--out", "part"], tmp_path, signal.SIGINT,
                       condition="progress['cycle'] > 10000")
    assert done.returncode == 130, done.stderr
    assert "Finished points: 0, in part, and the progress of unfinished points" in done.stderr, done.stderr
    short = e.set("run.measure_cycles", 20_000)
    return e, short, over, tmp_path / "part"


def test_points_under_way_are_kept_when_a_sweep_is_stopped(stopped, monkeypatch):
    e, _, over, folder = stopped
    assert (folder / "points.jsonl").read_bytes() == b"" and (folder / "job.checkpoint").exists()
    first = []

    def stop_soon(progress):
        first.append(progress["cycle"])
        raise KeyboardInterrupt

    from flitlab import runner

    real = runner._core.run
    monkeypatch.setattr(runner._core, "run", lambda experiments, backend, threads, report, *rest, **named: real(
        experiments, backend, threads, stop_soon, *rest, **named))
    with pytest.raises(KeyboardInterrupt, match="progress of unfinished points; continue with resume=True"):
        fl.sweep(e, over, out=folder, resume=True, progress=False)
    assert first[0] > 5000  # the run resumed in the middle, not at cycle 0


def test_a_sweep_that_was_stopped_ends_as_another(tmp_path, monkeypatch):
    """When the sweep is stopped, some points have ended and others have not. A resumed sweep continues the interrupted
    job from its saved state and gives the table of an undisturbed sweep."""
    e = fl.Experiment.from_dict({"topology.shape": [4, 4], "run.precision": 0.002})
    over = {"traffic.load": [0.02, 0.2, 0.9]}
    whole = fl.sweep(e, over, out=tmp_path / "whole", progress=False)
    from flitlab import sweeps

    real = sweeps.run_job

    journal, when = tmp_path / "part" / "points.jsonl", []

    def stopped(experiments, backend, threads, finished, checkpoint, advanced, stop):
        def look(cycle):
            if not when and journal.read_text():
                when.append(cycle)
                os.kill(os.getpid(), signal.SIGINT)

        return real(experiments, backend, threads, finished, checkpoint, look, stop)

    monkeypatch.setattr(sweeps, "run_job", stopped)
    with pytest.raises(KeyboardInterrupt, match=r"finished points: [12], in"):
        fl.sweep(e, over, out=tmp_path / "part", progress=False)
    assert len(json.loads((tmp_path / "part" / "job.json").read_text())) == 3
    cycles = []

    def going_on(experiments, backend, threads, finished, checkpoint, advanced, stop):
        return real(experiments, backend, threads, finished, checkpoint, cycles.append, stop)

    monkeypatch.setattr(sweeps, "run_job", going_on)
    again = fl.sweep(e, over, out=tmp_path / "part", resume=True, progress=False)
    assert again.csv_text() == whole.csv_text() and cycles[0] > when[0]
    assert journal.read_text().count("\n") == 3
    assert not list((tmp_path / "part").glob("job.*"))


def test_a_damaged_job_runs_again(tmp_path):
    e = fl.Experiment.from_dict({"topology.shape": [4, 4], "run.warmup_cycles": 100, "run.measure_cycles": 200})
    whole = fl.sweep(e, OVER, out=tmp_path, progress=False)
    (tmp_path / "points.jsonl").write_text("")
    from flitlab.executors import digest_of, key_of

    points = [e.set("traffic.load", load) for load in OVER["traffic.load"]]
    (tmp_path / "job.json").write_text(json.dumps([digest_of(key_of(p)).hex() for p in points]) + "\n")
    (tmp_path / "job.checkpoint").write_text("no checkpoint")
    with pytest.warns(UserWarning, match="is not a flitlab checkpoint"):
        assert fl.sweep(e, OVER, out=tmp_path, resume=True, progress=False).csv_text() == whole.csv_text()


@pytest.mark.parametrize("seed", range(20))
def test_a_damaged_journal_gives_the_same_table(journal, tmp_path, seed):
    """In the damaged file, characters are changed, deleted, doubled or swapped."""
    e, whole, table = journal
    choose = random.Random(seed)
    at, size = choose.randrange(len(whole) - 20), choose.randrange(1, 20)
    part = whole[at:at + size]
    damaged = whole[:at] + choose.choice([
        bytes(b ^ (1 << choose.randrange(7)) for b in part), b"", part * 2, bytes(choose.randbytes(size)),
        whole[(other := choose.randrange(len(whole) - 20)):other + size], b"[" * 3000]) + whole[at + size:]
    if damaged == whole:
        return
    found, warnings = resumed(e, tmp_path, damaged)
    assert found == table
    assert any("points.jsonl:" in w and "runs again" in w for w in warnings)


def test_complete_but_false_results_are_rejected(journal, tmp_path):
    e, whole, table = journal
    for change in (lambda r: r.update(accepted=0.5), lambda r: r.pop("hops_mean"), lambda r: r.update(accepted="x")):
        entry = json.loads(whole.split(b"\n")[1])
        change(entry["result"])
        lines = whole.split(b"\n")
        lines[1] = json.dumps(entry).encode()
        found, warnings = resumed(e, tmp_path, b"\n".join(lines))
        assert found == table
        assert "points.jsonl:2 is damaged" in warnings[0]


@pytest.mark.parametrize("change", [
    lambda key, r: (key, {k: v for k, v in r.items() if k != "hops_mean"}), lambda key, r: (key, r | {"accepted": "x"}),
    lambda key, r: (key, [1]), lambda key, r: (5, r), lambda key, r: (key, r | {"latency_cycles": 3}),
    lambda key, r: (key, r | {"state_hash": 3}), lambda key, r: (key, r | {"model": []}),
])
def test_invalid_results_with_a_valid_checksum_are_rejected(journal, tmp_path, change):
    e, whole, table = journal
    lines = whole.decode().splitlines(keepends=True)
    entry = json.loads(lines[1])
    lines[1] = line_of(*change(entry["key"], entry["result"]))
    found, warnings = resumed(e, tmp_path, "".join(lines).encode())
    assert found == table
    assert "points.jsonl:2 is damaged" in warnings[0]


def test_a_journal_of_another_schema_runs_again(journal, tmp_path):
    e, whole, table = journal
    old = b"".join(json.dumps({"key": (x := json.loads(line))["key"], "result": x["result"]}).encode() + b"\n"
                   for line in whole.splitlines())
    found, warnings = resumed(e, tmp_path, old)
    assert found == table and len(warnings) == 5 and "another version" in warnings[0]
    assert "is kept as" in warnings[4] and (tmp_path / "points.old").read_bytes() == old


def test_links_in_place_of_our_own_files_are_not_followed(journal, tmp_path):
    e, whole, _table = journal
    precious = tmp_path / "precious"
    precious.write_text("keep me")
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "points.new").symlink_to(precious)
    resumed(e, folder, whole[:-30])
    (tmp_path / "c.partial").symlink_to(precious)
    net = fl.Network(e).step(100)
    net.save(tmp_path / "c")
    assert precious.read_text() == "keep me"
    assert fl.Network(e).load(tmp_path / "c").cycle == 100


def run_with(stdout, config, tmp_path, *more):
    command = [sys.executable, "-m", "flitlab", *map(str, more)]
    return subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, text=True, cwd=tmp_path, timeout=1800)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_result_that_cannot_be_written_is_not_lost(config, tmp_path):
    run = ["run", config("vc-mesh-8x8"), "--json", "--set", "run.warmup_cycles=500", "--set", "run.measure_cycles=1000",
           "--checkpoint", "c"]
    with open("/dev/full", "w") as full:
        done = run_with(full, config, tmp_path, *run)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("flitlab: the standard output cannot be written: No space left")
    assert "Traceback" not in done.stderr and "Exception ignored" not in done.stderr
    assert "The run so far is saved in c" in done.stderr
    assert (tmp_path / "c").exists()
    again = run_with(subprocess.PIPE, config, tmp_path, *run)
    whole = run_with(subprocess.PIPE, config, tmp_path, *run[:-2])
    assert json.loads(again.stdout)["state_hash"] == json.loads(whole.stdout)["state_hash"]
    assert not (tmp_path / "c").exists()


@pytest.mark.parametrize("command", [["inspect"], ["run"], ["sweep", "--over", "traffic.load=0.1"]])
def test_a_closed_pipe_is_one_line(config, tmp_path, command):
    small = ["--set", "run.warmup_cycles=500", "--set", "run.measure_cycles=1000"]
    reader, writer = os.pipe()
    os.close(reader)
    done = run_with(writer, config, tmp_path, command[0], config("vc-mesh-8x8"), *small, *command[1:])
    os.close(writer)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == "flitlab: the standard output cannot be written: Broken pipe."
    assert "Traceback" not in done.stderr and "Exception ignored" not in done.stderr


def test_what_follows_a_checkpoint_is_refused(tmp_path):
    e = fl.Experiment.from_dict({"topology.shape": [4, 4]})
    fl.Network(e).step(50).save(tmp_path / "c")
    with (tmp_path / "c").open("ab") as file:
        file.write(b"\0")
    with pytest.raises(fl.ConfigError, match="data follow its end"):
        fl.Network(e).load(tmp_path / "c")
