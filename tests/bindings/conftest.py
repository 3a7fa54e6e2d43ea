import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from browser_pages import browser, page

import flitlab as fl
from flitlab import clusters

__all__ = ["browser", "page"]  # fixtures; all tests share one browser

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def small():
    """A 4x4 torus whose run takes a fraction of a second."""
    return fl.Experiment.from_dict(
        {"topology.shape": [4, 4], "traffic.load": 0.2, "run.warmup_cycles": 500, "run.measure_cycles": 2000},
        name="small",
    )


@pytest.fixture
def cli(tmp_path):
    """Runs the command line in a separate process: cli("run", ...) -> CompletedProcess."""

    def call(*args, **kwargs):
        return subprocess.run([sys.executable, "-m", "flitlab", *map(str, args)], capture_output=True, text=True,
                              cwd=tmp_path, timeout=1800, **kwargs)

    return call


@pytest.fixture
def config():
    return lambda name: ROOT / "configs" / f"{name}.toml"


@pytest.fixture
def cluster_file(tmp_path):
    def write(text):
        (tmp_path / "cluster.toml").write_text(text)
        return tmp_path / "cluster.toml"

    return write


@pytest.fixture
def slurm():
    """dask_jobqueue's class, imported as a user's sweep imports it."""
    if find_spec("dask_jobqueue") is None:
        pytest.skip("dask_jobqueue is not installed")
    return clusters.imported("dask_jobqueue", "SLURMCluster")


@pytest.fixture(scope="session")
def installed(tmp_path_factory):
    """Returns the folder of an installation of the C library. .ci/run installs toml++ and sets FLITLAB_C=required,
    so that a library that was not built fails the tests."""
    build = ROOT / "build" / "tests"
    if not list(build.glob("libflitlab.so")):
        assert os.environ.get("FLITLAB_C") != "required", "build/tests has no C library"
        pytest.skip("the C library is not built: toml++ is missing (apt-get install libtomlplusplus-dev)")
    prefix = tmp_path_factory.mktemp("installed")
    subprocess.run(["cmake", "--install", build, "--component", "c", "--prefix", prefix], check=True,
                   capture_output=True)
    return prefix
