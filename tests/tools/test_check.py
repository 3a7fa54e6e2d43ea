"""`make check` and `make lint`: existing tests, and an installation again after a change."""

import subprocess
import sys

import install
import pytest
import run_all


def test_its_tests_exist():
    assert [path for path in run_all.CHECK if not (run_all.ROOT / path).exists()] == []


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 has no tomllib")
def test_packages_are_those_of_pyproject():
    import tomllib

    project = tomllib.loads((install.ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert install.listed("lint") == project["project"]["optional-dependencies"]["lint"]
    assert install.listed("test") == project["project"]["optional-dependencies"]["test"]
    assert install.listed("requires") == project["build-system"]["requires"]


def test_the_package_is_installed_again_after_a_change(tmp_path, monkeypatch):
    monkeypatch.setattr(install, "INSTALLED", tmp_path / "installed")
    monkeypatch.setattr(install, "BUILD", tmp_path)
    assert not install.is_installed("old")
    (tmp_path / "installed").write_text("old")
    # The package counts as not installed as long as the C++ tests have no configured build.
    assert not install.is_installed("old")
    (tmp_path / "CMakeCache.txt").write_text("")
    assert install.is_installed("old") and not install.is_installed("new")


def test_an_unknown_mode_prints_the_help():
    done = subprocess.run([sys.executable, run_all.__file__, "chekc"], capture_output=True, text=True)
    assert done.returncode == 1 and "run_all.py check" in done.stderr
