"""SystemVerilog: a test bench for Verilator injects and takes packets with functions and with signals. They arrive as
the C library delivers them, and wrong calls give a status and a message."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from .conftest import HOSTS, MESH

ADAPTERS = Path(__file__).resolve().parents[3] / "bindings" / "adapters"


def verilate(installed, bench, build):
    """Compiles a test bench to `build`/Vbench."""
    library = next(installed.rglob("libflitlab.so")).parent
    subprocess.run(["verilator", "--binary", "--timing", "-Wall", "-Wno-DECLFILENAME", "-Wno-UNUSEDSIGNAL", "-Mdir",
                    build, "--top-module", "bench", "-CFLAGS", f"-I{ADAPTERS} -I{installed / 'include'}",
                    "-LDFLAGS", f"-L{library} -lflitlab -Wl,-rpath,{library}", ADAPTERS / "dpi" / "flitlab_pkg.sv",
                    ADAPTERS / "dpi" / "flitlab_network.sv", bench, ADAPTERS / "dpi" / "flitlab_dpi.cpp"], check=True)


@pytest.fixture(scope="session")
def bench(installed, tmp_path_factory):
    if not shutil.which("verilator"):
        assert os.environ.get("FLITLAB_VERILATOR") != "required", "verilator is not installed"
        pytest.skip("verilator is not installed (apt-get install verilator)")
    build = tmp_path_factory.mktemp("bench")
    verilate(installed, HOSTS / "bench.sv", build)
    return build / "Vbench"


@pytest.fixture
def simulate(bench, tmp_path):
    """Returns a function that simulates packets (cycle, source, destination, flits) and returns the printed lines."""

    def call(mode, packets=(), text=MESH, ready=0):
        (tmp_path / "net.toml").write_text(text)
        (tmp_path / "packets.txt").write_text("".join(f"{' '.join(map(str, packet))} {tag}\n"
                                                      for tag, packet in enumerate(packets)))
        done = subprocess.run([bench, f"+mode={mode}", f"+ready={ready}"], cwd=tmp_path, capture_output=True, text=True,
                              timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
        return [line for line in done.stdout.splitlines() if "$finish" not in line]

    return call


def numbers(lines, word):
    """Returns the numbers of the lines that begin with a word, ordered by tag."""
    return sorted(tuple(map(int, line.split()[1:])) for line in lines if line.startswith(word))


LONE = [(0, 0, 2, 2), (100, 0, 15, 3), (200, 5, 5, 1)]
# 5 H + L + 5 cycles with H = 2, 6, 0 channels.
ARRIVED = [(0, 0, 2, 2, 17), (1, 0, 15, 3, 138), (2, 5, 5, 1, 206)]  # tag, source, destination, flits, cycle


def test_a_lone_packet_takes_the_zero_load_latency(simulate):
    assert [tuple(map(int, line.split())) for line in simulate("functions", LONE)] == ARRIVED
    lines = simulate("module", LONE)
    assert numbers(lines, "in") == [(0, 0), (1, 100), (2, 200)] and numbers(lines, "out") == ARRIVED


def test_packets_arrive_as_without_the_adapter(simulate, direct, random_packets):
    packets = [(cycle, source, destination, size) for cycle, source, destination, size in random_packets(500, 800, 6)]
    lines = ["out " + line for line in simulate("functions", packets)]
    assert [cycle for *_, cycle in numbers(lines, "out")] == direct(packets)


def test_a_source_is_ready_while_it_has_room(simulate):
    # Two packets of 4 flits fit. A head leaves in cycles 0, 4, 8, ...; the source accepts one packet per edge. Packet 0
    # leaves at once, so packets 1 and 2 are accepted at the next edges; then one after each head.
    lines = simulate("module", [(0, 0, 1, 4)] * 6)
    assert [edge for _, edge in numbers(lines, "in")] == [0, 1, 2, 5, 9, 13]
    # 5 H + L + 5 = 14 cycles for the first one; then one every 4 cycles.
    assert [edge for *_, edge in numbers(lines, "out")] == [14, 18, 22, 26, 30, 34]


def test_a_destination_that_is_not_ready_loses_nothing(simulate):
    packets = [(0, source, 3, 1) for source in range(16) for _ in range(4)]
    lines = simulate("module", packets, ready=200)
    # From edge 200 on, one packet per edge; the first has been valid since before.
    assert sorted(edge for *_, edge in numbers(lines, "out")) == list(range(199, 199 + 64))
    assert [tag for tag, *_ in numbers(lines, "out")] == list(range(64))


def test_wrong_calls_give_a_status_and_a_message(simulate):
    said = dict(line.split(": ", 1) for line in simulate("errors", text=MESH + "source_packets = 2\n"))
    assert said == {
        "open": "2 flitlab: no/such.toml cannot be read: No such file or directory.",
        "null": "2 flitlab: the network is not open.",
        "source": "2 flitlab: packet 0 (16 to 0, 1 flits): terminal 16 does not exist: terminals are numbered 0 to 15.",
        "length": "2 flitlab: packet 0 (0 to 1, 0 flits): a packet must have 1 to 4095 flits.",
        "offer": "0 ", "second": "0 ",
        "third": "1 flitlab: the queue of source 0 is full.",
        "waiting": "0 ", "packets": "2",
        "waiting nowhere": "2 flitlab: terminal 16 does not exist: terminals are numbered 0 to 15.",
        "take nowhere": "2 flitlab: terminal 16 does not exist.",
        "take nothing": "0 ", "found": "0", "step": "0 ", "check": "0 ", "take": "0 ",
        "arrived": "1 5 0 3 13 of 100",  # 5 H + L + 5 = 13
        "too far": said["too far"],
        "closed": "2 flitlab: the network is not open.",
        "terminals": "0"}
    assert said["too far"].startswith("2 flitlab: flitlab_advance: cycle ")


@pytest.mark.parametrize(("text", "message"), [
    (MESH.replace("[4, 4]", "[4, 5]"), "net.toml has 20 terminals, and TERMINALS = 16"),
    (MESH.replace("mesh", "mash"), 'topology.kind = "mash" is not known'),
])
def test_the_module_ends_the_simulation_with_a_message(bench, tmp_path, text, message):
    (tmp_path / "net.toml").write_text(text)
    done = subprocess.run([bench, "+mode=module"], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode and message in done.stdout + done.stderr
