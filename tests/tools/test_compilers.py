"""Another compiler and C++ library than in the other tests: state hashes of small networks equal the record. `make
compilers` runs all compilers, with optimised engines."""

import os

import compilers
import pytest

# Candidates; the first installed one is used. libc++ comes first, because it differs most from GCC's library, with
# which all other tests are built.
WANTED = ("clang++-16-libc++", "clang++-16", "clang++-14")


@pytest.fixture(scope="module")
def other():
    """Returns a compiler whose build has succeeded without warnings."""
    by_name = {compiler.name: compiler for compiler in compilers.COMPILERS}
    reasons = {name: by_name[name].missing() for name in WANTED}
    here = [name for name in WANTED if reasons[name] is None]
    if not here:
        (pytest.fail if os.environ.get("FLITLAB_COMPILERS") == "required" else pytest.skip)(reasons[WANTED[0]])
    compilers.build(by_name[here[0]], quick=True, jobs=1)  # one job, because other tests use the other cores
    return by_name[here[0]]


def test_its_state_hashes_are_those_on_record(other):
    assert "equal the record" in compilers.check(other, quick=True, jobs=1)


@pytest.mark.parametrize("compiler", compilers.COMPILERS, ids=lambda compiler: compiler.name)
def test_ci_runs_all_compilers(compiler):
    workflow = (compilers.ROOT / ".github/workflows/tests.yml").read_text(encoding="utf-8")
    assert f"{{name: {compiler.name}, packages: {compiler.package}}}" in workflow


def test_a_difference_is_found(other, monkeypatch):
    expected = compilers.record(quick=True)
    expected["vc-mesh-8x8"]["100"] = "0" * 16
    monkeypatch.setattr(compilers, "record", lambda quick: expected)
    with pytest.raises(compilers.Failed, match="vc-mesh-8x8: expected"):
        compilers.check(other, quick=True, jobs=1)
