"""tests/gpu/run.sh with programs that only pretend to measure: reports of complete, slow, failing and interrupted
runs."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

RUN = Path(__file__).with_name("run.sh")
ROW = '  {"name": "PART/a/0.2", "cuda": 2.5, "cpu": 1, "equal": true}'
REPORT = f"""
printf '[\\n{ROW.replace("PART", "%s")},\\n{ROW.replace("/a/", "/b/").replace("PART", "%s")}' "$1" "$1"
[ "$1" != "$HANGS" ] || {{ printf "$HALF"; echo $$ >> "$STARTED"; exec sleep 1000; }}
printf '\\n]\\n'
[ "$1" != "$FAILS" ]
"""
TESTS = """
case "$*" in
  *list*) echo 'A.'; echo '  Test'; exit;;
esac
[ "$HANGS" != tests ] || { echo $$ >> "$STARTED"; exec sleep 1000; }
[ "$FAILS" != tests ]
"""


@pytest.fixture
def run(tmp_path):
    """Returns a function that starts run.sh with settings, in a process group of its own."""
    programs = {"nvidia-smi": "case $1 in -L) echo 'GPU 0: Pretended';; *) echo Pretended;; esac",
                "flitlab": """echo '[{"runs": 64}]'""", "flitlab_gpu_report": REPORT, "flitlab_tests": TESTS,
                "compute-sanitizer": '[ "$2" != "$FAILS" ]'}
    for name, text in programs.items():
        (tmp_path / name).write_text(f"#!/usr/bin/env bash\n{text}\n")
        (tmp_path / name).chmod(0o755)

    def start(**settings):
        environment = os.environ | {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "BUILD": str(tmp_path),
                                    "COMMIT": "abc", "HANGS": "", "HALF": "", "FAILS": "",
                                    "STARTED": str(tmp_path / "started")}
        return subprocess.Popen([RUN, tmp_path / "report.json"], env=environment | settings, start_new_session=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    return start


def result(process, folder) -> tuple[int, dict]:
    output, _ = process.communicate(timeout=120)
    print(output)
    assert (folder / "report.json.log").exists() and not (folder / "report.json.parts").exists()
    return process.returncode, json.loads((folder / "report.json").read_text())


def names(report) -> list[str]:
    return [row["name"] for row in report["rates"]]


ROWS = [f"{part}/{row}/0.2" for part in ("lanes", "model", "scale", "runs") for row in "ab"]


def test_a_complete_run(run, tmp_path):
    code, report = result(run(), tmp_path)
    assert code == 0 and names(report) == ROWS
    assert {report[key] for key in ("tests", "sanitizer", "states")} == {"passed", "equal"}
    assert report["bench"] == [{"runs": 64}] and set(report["parts"].values()) == {"passed"}
    assert (report["device"], report["commit"]) == ("Pretended", "abc")


@pytest.mark.parametrize("half", ["", ",\n", ',\n  {"name": '])
def test_a_slow_part_does_not_delay_the_others(run, tmp_path, half):
    code, report = result(run(HANGS="model", HALF=half, TIME="10"), tmp_path)
    assert code == 1 and names(report) == ROWS
    assert report["parts"].pop("rates-model").startswith("interrupted after ")
    assert set(report["parts"].values()) == {"passed"}


@pytest.mark.parametrize(("program", "part", "key", "words"), [
    ("lanes", "rates-lanes", "states", "equal"),
    ("tests", "tests-2", "tests", "0 failed, 1 failed, 2 failed, 3 failed"),
    ("racecheck", "sanitizer-racecheck", "sanitizer", "racecheck failed")])
def test_a_part_that_fails(run, tmp_path, program, part, key, words):
    code, report = result(run(FAILS=program), tmp_path)
    assert code == 1 and names(report) == ROWS
    assert report["parts"][part] == "failed" and report[key] == words


def test_states_that_differ(run, tmp_path):
    program = tmp_path / "flitlab_gpu_report"
    program.write_text(program.read_text().replace("true", "false"))
    code, report = result(run(FAILS="scale"), tmp_path)
    assert code == 1 and report["states"] == "different"


def is_running(process: str) -> bool:
    """Returns whether a process exists and has not ended (an ended one without a parent may remain in the table)."""
    try:
        return bool(Path(f"/proc/{process}/cmdline").read_bytes())
    except OSError:
        return False


@pytest.mark.parametrize("hangs", ["model", "tests"])
@pytest.mark.parametrize("group", [False, True])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_an_interrupted_run_keeps_its_rows(run, tmp_path, hangs, group, number):
    process = run(HANGS=hangs, HALF=',\n  {"name": "half')
    while not (tmp_path / "started").exists() or not (tmp_path / "started").read_text():
        assert process.poll() is None
        time.sleep(0.05)
    os.killpg(process.pid, number) if group else process.send_signal(number)
    code, report = result(process, tmp_path)
    assert code == 1 and names(report) == (ROWS[:4] if hangs == "model" else ROWS)
    part = "rates-model" if hangs == "model" else "tests-0"
    assert report["parts"][part] == "interrupted"
    assert report["tests"].startswith("not run" if hangs == "model" else "0 interrupted")
    for program in (tmp_path / "started").read_text().split():
        for _ in range(200):
            if not is_running(program):
                break
            time.sleep(0.05)
        assert not is_running(program)
