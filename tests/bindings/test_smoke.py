"""Each command of flitlab runs once, on a small network, and prints its result. `make check` runs these tests; other
files test a command's details."""

import re
import subprocess
import sys

import pytest

SHORT = ["vc-mesh-8x8", "--set", "run.warmup_cycles=500", "--set", "run.measure_cycles=500"]
SWEEP = ["sweep", *SHORT, "--over", "traffic.load=0.1,0.2", "--out", "curve"]
# Command -> (calls of flitlab, pattern). The last call is the tested one; the pattern must match one whole line of its
# output.
SMOKE = {
    "run": ([["run", *SHORT]], r".*latency.*"),
    "sweep": ([SWEEP], r"curve/curve\.csv, curve/curve\.png, curve/experiment\.toml written in .* s"),
    "plot": ([SWEEP, ["plot", "curve", "--out", "curves.svg"]], r"curves\.svg written"),
    "report": ([SWEEP, ["report", "curve"]],
               r"curve/report\.html written: points: 2, runs: 2, scopes: 2, heat maps: 2 .*"),
    "reproduce": ([["reproduce", "t3e.table2"]], r"\d+ holds.*"),
    "import": ([["import", "mesh.cfg", "-o", "mesh.toml"], ["inspect", "mesh.toml"]], r"routers +16"),
    "inspect": ([["inspect", "vc-mesh-8x8"]], r"routers +64"),
    "trace": ([["trace", "vc-mesh-8x8", "--cycles", "0:20", "--format", "jsonl", "--out", "events.jsonl"]],
              r"[1-9]\d* events written to events\.jsonl"),
    "bench": ([["bench", "vc-mesh-8x8", "--cycles", "50"]],
              r"vc-mesh-8x8 +load 0\.05 +cpu x1: [\d.]+ (thousand|million|billion) router-cycles/s"),
    "configs": ([["configs"]], r"vc-mesh-8x8 +8x8 mesh.*"),
    "notebooks": ([["notebooks", "copies"]], r"    jupyter lab copies/00_quickstart\.ipynb"),
    "reference": ([["reference"]], r"# Reference"),
    "doctor": ([["doctor"]], r"cpu +available, .*"),
}


def test_every_command_has_a_smoke_test(cli):
    """The help lists a command by its name after four spaces; longer texts continue further to the right."""
    commands = re.findall(r"^ {4}(\w+)(?= |$)", cli("--help").stdout, re.MULTILINE)
    assert sorted(commands) == sorted(SMOKE)


@pytest.mark.parametrize("command", SMOKE)
def test_a_command_prints_its_result(command, cli, tmp_path):
    (tmp_path / "mesh.cfg").write_text("topology = mesh; k = 4; routing_function = dor;\n")  # of BookSim
    calls, line = SMOKE[command]
    for call in calls:
        done = cli(*call)
        assert done.returncode == 0, done.stderr
    assert [text for text in done.stdout.splitlines() if re.fullmatch(line, text)], done.stdout


def test_flitlab_booksim_is_installed():
    done = subprocess.run([f"{sys.prefix}/bin/flitlab-booksim"], capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr.startswith("Usage: flitlab-booksim"), done.stderr


def test_the_installed_program_is_the_module(cli):
    program = subprocess.run([f"{sys.prefix}/bin/flitlab", "--version"], capture_output=True, text=True)
    assert program.returncode == 0, program.stderr
    assert program.stdout == cli("--version").stdout
