"""The C library: an external program that links only to the installed package agrees with Python, and bad input gives
codes and messages."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import flitlab as fl

EXTERNAL = Path(__file__).with_name("external")
STRICT = ["-std=c11", "-Wall", "-Wextra", "-pedantic", "-Werror"]
MODELS = ("vc", "t3e", "bgl", "metro", "sconnect", "adaptive", "bless", "switch")


def library_folder(prefix: Path) -> Path:
    return next(prefix.rglob("libflitlab.so")).parent


@pytest.fixture(scope="session")
def host(installed, tmp_path_factory):
    """Returns a function that runs the external program with arguments and a standard input, and returns its output."""
    build = tmp_path_factory.mktemp("external")
    subprocess.run(["cmake", "-S", EXTERNAL, "-B", build, f"-DCMAKE_PREFIX_PATH={installed}",
                    f"-DCMAKE_C_FLAGS={' '.join(STRICT)}", "-DCMAKE_BUILD_TYPE=Release"], check=True)
    subprocess.run(["cmake", "--build", build], check=True)

    (build / "loop").symlink_to("loop")

    def run(*arguments, given=""):
        done = subprocess.run([build / "host", *map(str, arguments)], input=given, text=True, capture_output=True,
                              cwd=build)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    return run


def packets_of(exp):
    """Returns random packets for a network by rising cycle: cycle, source, destination, flits."""
    random = np.random.default_rng(4)
    terminals = int(exp.derived()["terminals"])
    n = 500
    cycle = np.sort(random.integers(0, 900, n))
    source = random.integers(0, terminals, n)
    flits = {"vc": random.integers(1, 6, n), "metro": np.full(n, 4)}.get(exp["router.kind"], np.ones(n, int))
    return cycle, source, (source + random.integers(1, terminals, n)) % terminals, flits


CLASSES = {"traffic.classes": 2, "traffic.class_vcs": "ranges", "traffic.class_first_vc": [0, 1],
           "traffic.class_last_vc": [2, 3], "traffic.class_priority": [0, 1], "topology.kind": "mesh"}


@pytest.mark.parametrize("settings", [*({"router.kind": kind} for kind in MODELS), CLASSES],
                         ids=[*MODELS, "classes"])
@pytest.mark.parametrize("checkpoint", [False, True])
def test_external_program_agrees_with_python(host, tmp_path, settings, checkpoint):
    exp = fl.Experiment.from_dict(settings).with_host_traffic()
    assert settings.items() <= exp.flat().items()
    file = tmp_path / "network.toml"
    file.write_text(exp.to_toml())
    cycle, source, destination, flits = packets_of(exp)
    classes = exp.flat().get("traffic.classes", 1)
    given = "\n".join(f"{c} {s} {d} {f} {2**63 + i} {i % classes}"
                      for i, (c, s, d, f) in enumerate(zip(cycle, source, destination, flits, strict=True)))
    more = [tmp_path / "checkpoint"] if checkpoint else []
    *lines, last = host("run", file, 4000, *more, given=given)
    net = fl.Network(exp)
    for c, s, d, f, i in zip(cycle, source, destination, flits, range(len(cycle)), strict=True):
        net.step(int(c) - net.cycle)
        assert net.inject(s, d, f, tag=2**63 + i, traffic_class=i % classes) == 1
    net.step(4000 - net.cycle)
    arrivals = net.arrivals()
    assert len(arrivals) == len(cycle)
    names = ["tag", "source", "destination", "flits", "hops", "created", "injected", "cycle"]
    assert lines == [" ".join(str(a[name]) for name in names) for a in arrivals]
    totals = net.totals
    assert last == (f"{totals['packets_delivered']} of {totals['packets_created']} packets, latencies "
                    f"{totals['latency_sum']}, state {net.state_hash} at cycle 4000")


def test_pkg_config_finds_the_library(installed, tmp_path):
    if not shutil.which("pkg-config"):
        pytest.skip("pkg-config is not installed")
    folder = library_folder(installed)
    environment = os.environ | {"PKG_CONFIG_PATH": str(folder / "pkgconfig")}
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "flitlab"], env=environment, check=True, text=True,
                           capture_output=True).stdout.split()
    program = tmp_path / "host"
    subprocess.run(["cc", *STRICT, EXTERNAL / "host.c", "-o", program, *flags, "-pthread"], check=True)
    done = subprocess.run([program, "threads"], env=environment | {"LD_LIBRARY_PATH": str(folder)}, check=True,
                          text=True, capture_output=True)
    assert len(done.stdout.splitlines()) == 8


def test_networks_in_threads_do_not_disturb_one_another(host):
    pairs = [line.split() for line in host("threads")]
    assert all(alone == together for alone, together in pairs)
    assert len({alone for alone, _ in pairs}) == 4  # four seeds, twice each


def test_bad_input_gives_codes_and_messages(host):
    said = {}
    for line in host("errors"):
        call, _, answer = line.partition(": ")
        said.setdefault(call, []).append(answer.strip())
    codes = {call: int(answers[0].split()[0]) for call, answers in said.items() if answers[0][:1].isdigit()}
    fine = {"create", "offer(nothing)", "waiting", "waiting_of_class", "take(room 0)", "advance", "total", "take",
            "advance_to_arrival", "create(classes)", "offer(class 1)"}
    assert {call for call, code in codes.items() if code == 0} == fine
    assert codes["offer(four)"] == 1  # the third packet found a full source
    wrong = {call for call, code in codes.items() if code == 2}
    assert wrong == codes.keys() - fine - {"offer(four)"}
    assert all(said[call][0].endswith((".", "?")) for call in wrong), said
    for call, words in {"create(bad TOML)": "line 1, column 5", "create(unknown key)": "did you mean router.vcs?",
                        "create(unknown traffic)": "did you mean traffic.source_packets?",
                        "open(no file)": "no/such.toml cannot be read: No such file", "open(folder)": "Is a directory",
                        "open(loop)": "loop cannot be read", "advance(too far)": "end of emulated time, 2000000000",
                        "offer(no terminal)": "terminal 16 does not exist", "advance(NULL)": "the network is NULL",
                        "offer(too long)": "1 to 4095 flits", "advance(back)": "the next cycle is 500",
                        "total(unknown)": "did you mean packets_delivered?"}.items():
        assert words in said[call][0]
    text = "\n".join(host("errors"))
    for words in ("no network", "accepted 0\n", "accepted 2\n", "waiting 2\n", "taken 1: tag 5, 4 flits",
                  "taken 1: tag 6, 4 flits", "arrivals 1 at cycle 500", "of class 1: waiting 1",
                  "nothing on its way: status 0, 0 arrivals at cycle 500"):  # 100 bytes are 4 flits of 32
        assert words in text


# What programs compiled with version 1 of the interface rely on. A change of these lines needs a new FLITLAB_ABI.
ABI_1 = {f"flitlab_{name}" for name in (
    "abi", "advance", "advance_to_arrival", "check", "create", "cycle", "describe", "destroy", "error", "load", "offer",
    "open", "read_statistics", "save", "state_hash", "take", "total", "version", "waiting",
    "waiting_of_class")}
LAYOUT_1 = {
    "flitlab_packet": (40, {"source": 0, "destination": 4, "flits": 8, "bytes": 12, "traffic_class": 16, "reserved": 20,
                            "tag": 24, "cycle": 32}),
    "flitlab_arrival": (48, {"tag": 0, "cycle": 8, "created": 16, "injected": 24, "source": 32, "destination": 36,
                             "flits": 40, "hops": 44}),
    "flitlab_description": (24, {"terminals": 0, "routers": 4, "shortest_packet": 8, "longest_packet": 12,
                                 "flit_bytes": 16, "source_packets": 20}),
    "flitlab_statistics": (80, {"packets_created": 0, "packets_injected": 8, "packets_delivered": 16,
                                "packets_dropped": 24, "flits_created": 32, "flits_injected": 40, "flits_delivered": 48,
                                "flits_dropped": 56, "latency_sum": 64, "network_latency_sum": 72})}


def test_the_binary_interface_is_that_of_version_1(installed, tmp_path):
    header = next(installed.rglob("flitlab.h")).read_text()
    assert "#define FLITLAB_ABI 1\n" in header
    exported = subprocess.run(["nm", "-D", "--defined-only", library_folder(installed) / "libflitlab.so"], check=True,
                              text=True, capture_output=True).stdout
    found = {line.split()[-1].split("@")[0] for line in exported.splitlines()}
    assert found - {"FLITLAB_1"} == ABI_1
    assert set(re.findall(r"\b(flitlab_\w+)\(", header)) == ABI_1
    checks = [f'_Static_assert(sizeof({struct}) == {size}, "{struct}");'
              for struct, (size, _) in LAYOUT_1.items()]
    checks += [f'_Static_assert(offsetof({struct}, {name}) == {place}, "{struct}.{name}");'
               for struct, (_, places) in LAYOUT_1.items() for name, place in places.items()]
    source = tmp_path / "layout.c"
    source.write_text("#include <flitlab.h>\n" + "\n".join(checks) + "\n")
    subprocess.run(["cc", *STRICT, "-c", f"-I{next(installed.rglob('flitlab.h')).parent}", source, "-o",
                    tmp_path / "layout.o"], check=True)
    subprocess.run(["c++", "-std=c++11", "-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only", "-x", "c++",
                    next(installed.rglob("flitlab.h"))], check=True)
