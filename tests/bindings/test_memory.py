"""A run is admitted if its peak memory fits; otherwise the message names one of its own parameters."""

import re
import subprocess
import sys

import pytest

import flitlab as fl

MEGABYTE = 1_000_000
SHORT = {"run.warmup_cycles": 100, "run.measure_cycles": 200, "run.epoch_cycles": 100, "run.drain_cycles": 100}
NETWORKS = {
    "mesh": {"topology.kind": "mesh", "topology.shape": [100, 100]},
    # Uses lane state if the memory suffices for it.
    "busy": {"topology.kind": "torus", "topology.shape": [64, 64], "traffic.load": 0.3},
    "hypercube": {"topology.kind": "hypercube", "topology.dimensions": 12},
    "bless": {"router.kind": "bless", "topology.shape": [160, 160], "router.reassembly_packets": 16},
    "t3e": {"router.kind": "t3e", "topology.shape": [8, 16, 8]},
    "bgl": {"router.kind": "bgl", "topology.shape": [16, 16, 8]},
    "metro": {"router.kind": "metro", "topology.radix": [8, 8, 8, 8], "topology.dilation": [2, 2, 2, 2],
              "traffic.packet_flits": 20, "traffic.load": 0.1},
    "sconnect": {"router.kind": "sconnect", "topology.shape": [32, 32], "traffic.load": 0.02},
    "adaptive": {"router.kind": "adaptive", "topology.shape": [32, 32], "traffic.packet_flits": 1},
}
WORKS = {
    "run": "fl.run(experiment, backend='cpu', threads={threads})",
    "network": "net = fl.Network(experiment, backend='cpu', threads={threads}); net.step(200); net.router(0); "
               "net.step(100); net.check(); net.router(1)",
    "trace": "net = fl.Network(experiment, backend='cpu', threads={threads}, trace=True); net.step(2); net.router(0)",
    "sweep": "fl.sweep(experiment, {{'run.seed': [1, 2, 3]}}, backend='cpu', threads={threads}, progress=False)",
}
SCRIPT = """
import resource, sys, warnings
import flitlab as fl
warnings.simplefilter("ignore")
def status(key):
    return next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith(key))
fl.Network, fl.sweep  # load their modules
small = {{"topology.shape": [4, 4], "run.warmup_cycles": 200, "run.measure_cycles": 200}}
fl.run(fl.Experiment.from_dict(small), backend="cpu", threads={threads})
experiment = fl.Experiment.from_dict({settings!r})
numbers = experiment.derived()
room = {room} or int(1.2 * numbers["state_bytes"] + 3 * numbers.get("table_bytes", 0)) + 2_000_000
open("/proc/self/clear_refs", "w").write("5")  # the peak starts anew
size, memory = status("VmSize"), status("VmRSS")
resource.setrlimit(resource.RLIMIT_AS, (size + room,) * 2)
try:
    {work}
    print("peak", status("VmHWM") - memory, "of", room)
except fl.ConfigError as error:
    print(room, error)
"""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits and peaks of Linux")


def python(settings, work, threads, room=0):
    text = SCRIPT.format(settings=settings, work=WORKS[work].format(threads=threads), threads=threads, room=room)
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.strip()


@pytest.mark.parametrize(("network", "work", "threads"), [
    *((network, "run", 2) for network in NETWORKS), ("mesh", "run", 1), ("bgl", "network", 1), ("mesh", "trace", 1),
    ("t3e", "sweep", 1)])
def test_what_is_just_admitted_fits(network, work, threads):
    settings = SHORT | NETWORKS[network]
    refused = python(settings, work, threads)
    for _ in range(4):  # repeat, because the memory that planning returns to the system depends on the limit
        found = re.match(r"(\d+) (topology\.\w+) = .*: (\d+) MB are needed, and (\d+) MB are free\. ", refused)
        assert found, refused
        room, key, needed, free = int(found[1]), found[2], int(found[3]), int(found[4])
        assert key in fl.Experiment.from_dict(settings)
        admitted = python(settings, work, threads, room + (needed - free + 2) * MEGABYTE)
        if peak := re.match(r"peak (\d+) of (\d+)", admitted):
            break
        refused = admitted
    assert peak, admitted
    assert int(peak[1]) <= int(peak[2])


@pytest.mark.parametrize("settings", [
    {"topology.kind": "hypercube", "topology.dimensions": 20, "router.vcs": 16, "router.buffer_flits": 64},
    {"topology.kind": "mesh", "topology.shape": [4096, 4096]},
], ids=["hypercube", "mesh"])
def test_a_network_that_is_too_large_is_refused_in_one_line(settings):
    with pytest.raises(fl.ConfigError, match=r"^topology\.(dimensions = 20|shape = \[4096, 4096\]): \d+ MB are needed, "
                                             r"and \d+ MB are free\. [^\n]*$"):
        fl.run(fl.Experiment.from_dict(settings), backend="cpu")
