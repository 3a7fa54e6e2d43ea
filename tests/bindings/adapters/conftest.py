"""The small hosts of the adapters, and packets for them."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

HOSTS = Path(__file__).with_name("hosts")
MESH = '[topology]\nkind = "mesh"\nshape = [4, 4]\n[traffic]\nload = 0.1\nflit_bytes = 64\n'


@pytest.fixture(scope="session")
def hosts(installed, tmp_path_factory):
    """Returns the folder of the compiled hosts."""
    build = tmp_path_factory.mktemp("hosts")
    subprocess.run(["cmake", "-S", HOSTS, "-B", build, f"-DCMAKE_PREFIX_PATH={installed}",
                    "-DCMAKE_BUILD_TYPE=Release"], check=True)
    subprocess.run(["cmake", "--build", build, "--parallel", "2"], check=True)
    return build


@pytest.fixture
def run(hosts, tmp_path):
    """Returns a function that runs a host in an empty folder and returns the lines of its output."""

    def call(name, *arguments, given="", **environment):
        done = subprocess.run([hosts / name, *map(str, arguments)], input=given, text=True, capture_output=True,
                              cwd=tmp_path, env=environment, timeout=300)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    return call


@pytest.fixture
def direct(run, tmp_path):
    """Returns a function that offers packets (cycle, source, destination, flits) to the C library by rising cycle, and
    returns the cycle in which each of them arrives."""

    def call(packets, text=MESH):
        (tmp_path / "direct.toml").write_text(text)
        order = sorted(range(len(packets)), key=lambda i: packets[i][0])  # stable
        given = "\n".join(f"{' '.join(map(str, packets[i]))} {i}" for i in order)
        arrivals = [line.split() for line in run("direct", "run", "direct.toml", 100000, given=given)[:-1]]
        assert len(arrivals) == len(packets)
        return [cycle for _, cycle in sorted((int(fields[0]), int(fields[-1])) for fields in arrivals)]

    return call


@pytest.fixture
def random_packets():
    """Returns a function that makes random packets for 16 nodes: cycle, source, destination, bytes."""

    def make(n, cycles, most_bytes):
        random = np.random.default_rng(7)
        return list(zip(sorted(random.integers(0, cycles, n).tolist()), random.integers(0, 16, n).tolist(),
                        random.integers(0, 16, n).tolist(), random.integers(1, most_bytes + 1, n).tolist(),
                        strict=True))

    return make
