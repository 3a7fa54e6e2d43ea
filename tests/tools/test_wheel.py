"""The wheel that `make test` has built, installed as a user does: without a compiler or sources, in an empty folder."""

import os
import subprocess
import sys
import venv
from pathlib import Path

import install
import pytest

WHEELS = sorted((Path(__file__).resolve().parents[2] / "build" / "wheel").glob("flitlab-*.whl"))


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Returns a function that runs commands in a fresh environment with the wheel, with an empty PATH."""
    if not WHEELS:
        pytest.skip("tests/tools/install.py has built no wheel")
    folder = tmp_path_factory.mktemp("wheel")
    venv.create(folder / "venv", with_pip=True)

    def call(name, *arguments):
        return subprocess.run([folder / "venv" / "bin" / name, *map(str, arguments)], cwd=folder, text=True,
                              capture_output=True, env={"PATH": "/nowhere", "HOME": str(folder)})

    # The test measures processor time, so that a slow network or a busy machine does not matter.
    before = os.times()
    done = call("python", "-m", "pip", "install", "--disable-pip-version-check", WHEELS[0])
    assert done.returncode == 0, done.stderr
    after = os.times()
    taken = after.children_user + after.children_system - before.children_user - before.children_system
    assert taken < 60, f"installing took {taken:.0f} s"
    return call


def test_it_is_small():
    if not WHEELS:
        pytest.skip("tests/tools/install.py has built no wheel")
    assert WHEELS[0].stat().st_size < 15e6


def test_a_first_curve_needs_no_compiler(installed):
    done = installed("flitlab", "sweep", "vc-mesh-8x8", "--over", "traffic.load=0.1,0.2", "--out", "curve")
    assert done.returncode == 0 and "curve/curve.png" in done.stdout, done.stderr


def test_the_line_of_the_readme_installs_its_extra():
    """Dependencies are not installed, because that needs a network. The requirement in the README's command was once
    wrong."""
    if not WHEELS:
        pytest.skip("tests/tools/install.py has built no wheel")
    line = 'install --no-deps --dry-run "$(echo {}/flitlab-*.whl)[notebook]"'
    readme = (WHEELS[0].parents[2] / "README.md").read_text(encoding="utf-8")
    assert line.replace(" --no-deps --dry-run", "").format("build/wheel") in readme
    done = subprocess.run(["sh", "-c", f"{sys.executable} -m pip --disable-pip-version-check "
                                       + line.format(WHEELS[0].parent)], text=True, capture_output=True)
    assert done.returncode == 0, done.stderr


def test_it_brings_the_notebooks(installed):
    done = installed("flitlab", "notebooks", "taken")
    assert done.returncode == 0, done.stderr
    listed = installed("python", "-c", "import glob; print(len(glob.glob('taken/*.ipynb')))").stdout
    assert int(listed) >= 9 and f"{int(listed)} notebooks are in taken" in done.stdout
    again = installed("flitlab", "notebooks", "taken")
    assert again.returncode == 2 and "taken/00_quickstart.ipynb already exists" in again.stderr


def test_its_results_are_those_of_the_package_that_is_tested(installed):
    import flitlab as fl

    code = "import flitlab as fl; n = fl.Network('vc-torus-8x8'); n.step(500); print(fl.__file__, n.state_hash)"
    file, found = installed("python", "-c", code).stdout.split()
    assert sys.prefix not in file
    network = fl.Network("vc-torus-8x8")
    network.step(500)
    assert found == network.state_hash


def test_a_wheel_is_used_again_until_a_source_changes(tmp_path, monkeypatch):
    for name in ("CMakeLists.txt", "kernels/common/a.hpp", "bindings/flitlab/a.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    monkeypatch.setattr(install, "WHEELS", tmp_path / "wheels")
    (tmp_path / "wheels").mkdir()
    (tmp_path / "wheels" / "flitlab-1-any.whl").write_text("")
    stamp = install.built_from(tmp_path)
    assert install.wheel_of(stamp) is None  # its inputs are not recorded
    (tmp_path / "wheels" / "built_from").write_text(stamp)
    assert install.wheel_of(install.built_from(tmp_path)).endswith("flitlab-1-any.whl")
    (tmp_path / "docs.md").write_text("no part of it")
    assert install.wheel_of(install.built_from(tmp_path))
    for name in ("kernels/common/a.hpp", "bindings/flitlab/a.py"):
        (tmp_path / name).write_text("changed")
        assert install.wheel_of(install.built_from(tmp_path)) is None
        (tmp_path / name).write_text(name)
    (tmp_path / "kernels/common/b.hpp").write_text("new")
    assert install.wheel_of(install.built_from(tmp_path)) is None
    (tmp_path / "kernels/common/b.hpp").unlink()
    monkeypatch.setenv("CMAKE_ARGS", "-DFLITLAB_CUDA=OFF")
    assert install.wheel_of(install.built_from(tmp_path)) is None


def test_the_old_wheel_stays_until_there_is_a_new_one(tmp_path, monkeypatch):
    wheels = tmp_path / "build" / "wheel"
    monkeypatch.setattr(install, "WHEELS", wheels)

    def build(folder):
        folder.mkdir(parents=True)
        (folder / "flitlab-2-any.whl").write_text("new")
        assert not wheels.exists() or install.wheel_of("old")

    def fail(folder):
        (folder / "part").mkdir(parents=True)
        raise SystemExit("make: pip wheel failed")

    assert install.build_wheel("old", build) == install.wheel_of("old") == str(wheels / "flitlab-2-any.whl")
    with pytest.raises(SystemExit):
        install.build_wheel("new", fail)
    assert install.wheel_of("old") and install.wheel_of("new") is None
    install.build_wheel("new", build)
    assert install.wheel_of("new") and install.wheel_of("old") is None
