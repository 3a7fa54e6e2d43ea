"""Files: none is long, no two are equal apart from names, and every C++ test is built."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LONGEST = 500  # lines
SUFFIXES = {".cpp", ".hpp", ".cu", ".cuh", ".py"}
# C++ files below tests without GoogleTest tests: they belong to separate programs and libraries.
NO_TESTS = {"tests/mutation/listener.cpp", "tests/fuzz/inputs.cpp", "tests/fuzz/fuzz.cpp", "tests/perf/step_bench.cpp",
            "tests/perf/gpu_report.cpp", "tests/perf/rtl/mesh.cpp",
            "tests/cuda_on_host/memory.cpp", "tests/cuda_on_host/scheduler.cpp",
            "tests/cuda_on_host/device.cpp", "tests/cuda_on_host/divergence.cpp",
            "tests/cuda_on_host/volatiles.cpp", "tests/cuda_on_host/calls.cpp", "tests/hashes/hashes.cpp",
            "tests/bindings/adapters/hosts/onnxim.cpp", "tests/bindings/adapters/hosts/astra.cpp",
            "tests/bindings/adapters/hosts/gpgpusim.cpp"}
WORD = re.compile(r"[A-Za-z_]\w*|\S")


def files() -> list[Path]:
    return [path for top in ("kernels", "host", "bindings", "tests") for path in sorted((ROOT / top).rglob("*"))
            if path.suffix in SUFFIXES]


def test_no_file_is_long():
    long = {str(path.relative_to(ROOT)): lines for path in files()
            if (lines := path.read_text(encoding="utf-8").count("\n")) > LONGEST}
    assert not long


def shape_of(text: str, models: list[str]) -> str:
    """Returns a text without comments and without names of models in any spelling, so that copies made for different
    models become equal."""
    text = re.sub(r"//[^\n]*", "", text)
    for model in models:
        text = re.sub(model, "MODEL", text, flags=re.I)
    return " ".join(WORD.findall(text))


def test_no_two_files_differ_in_names_alone():
    models = [folder.name for folder in (ROOT / "kernels/routers").iterdir() if folder.is_dir()]
    alike = defaultdict(list)
    for path in files():
        text = path.read_text(encoding="utf-8")
        if text.count("\n") > 15:  # shorter files, such as an engine's two-line unit, may be equal
            alike[path.suffix, shape_of(text, models)].append(str(path.relative_to(ROOT)))
    assert [paths for paths in alike.values() if len(paths) > 1] == []


def test_shapes_ignore_names():
    ours, other_side = "int t3e_port = T3ePlan{4};  // ours", "int bgl_port = BglPlan{4};"
    assert shape_of(ours, ["t3e", "bgl"]) == shape_of(other_side, ["t3e", "bgl"])
    assert shape_of(ours, ["t3e", "bgl"]) != shape_of(other_side.replace("4", "5"), ["t3e", "bgl"])


def test_every_test_is_built():
    """The build collects *_test.cpp; a test in a file with another name would never run."""
    lost = [str(path.relative_to(ROOT)) for path in sorted((ROOT / "tests").rglob("*.cpp"))
            if not path.name.endswith("_test.cpp")]
    assert set(lost) == NO_TESTS


def test_every_python_test_is_collected():
    lost = [path.name for path in (ROOT / "tests").rglob("*.py")
            if not path.name.startswith("test_") and re.search(r"^def test_", path.read_text(encoding="utf-8"), re.M)]
    assert lost == []
