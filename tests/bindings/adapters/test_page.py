"""The programs of docs/embedding.md compile, and they print the cycles that are derived here."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from .conftest import HOSTS
from .test_dpi import verilate

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs/embedding.md").read_text(encoding="utf-8")
MESH = '[topology]\nkind = "mesh"\nshape = [4, 4]\n'
ICNT = "[config]\nuse_map = 0\nflit_size = 32\nsubnets = {}\n"
CMAKE = f"""
cmake_minimum_required(VERSION 3.22)
project(page LANGUAGES C CXX)
find_package(flitlab 0.1 REQUIRED)
add_subdirectory({ROOT}/bindings/adapters adapters)
include_directories({HOSTS})
add_executable(c program.c)
target_link_libraries(c PRIVATE flitlab::flitlab)
foreach(name booksim2 astra intersim2)
  add_executable(${{name}} ${{name}}.cpp)
  target_link_libraries(${{name}} PRIVATE flitlab::${{name}})
endforeach()
"""


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.S)


@pytest.fixture(scope="session")
def programs(installed, tmp_path_factory):
    """Returns a folder with the compiled programs and the files that they open."""
    folder = tmp_path_factory.mktemp("page")
    (folder / "program.c").write_text(*blocks("c"))
    for text in blocks("cpp"):
        (name,) = re.findall(r"#include <(booksim2|astra|intersim2)/", text)
        (folder / f"{name}.cpp").write_text(text)
    (folder / "CMakeLists.txt").write_text(CMAKE)
    for name, subnets in ("mesh", 1), ("gpu", 2):
        (folder / f"{name}.toml").write_text(MESH)
        (folder / f"{name}.icnt").write_text(ICNT.format(subnets))
    subprocess.run(["cmake", "-S", folder, "-B", folder, f"-DCMAKE_PREFIX_PATH={installed}"], check=True)
    subprocess.run(["cmake", "--build", folder, "--parallel", "2"], check=True)
    return folder


def output_of(programs, name):
    done = subprocess.run([programs / name], cwd=programs, capture_output=True, text=True, check=True, timeout=300)
    return done.stdout.splitlines()


def test_the_c_program(programs):
    lines = output_of(programs, "c")
    assert len(lines) == 15 and f"`{lines[0]}`" in PAGE
    assert lines[0] == "packet 1 arrives in cycle 21"  # 10 + 5 H + L + 5 with H = 1 channel, L = 1 flit


def test_onnxim(programs):
    # H = 2, L = 2: 17 + 1 cycles. The second packet follows the two flits. Popped after the run() of that cycle.
    assert output_of(programs, "booksim2")[:2] == ["first in cycle 19", "second in cycle 21"]


def test_astra_sim(programs):
    # A megabyte is 32768 flits: 5 H + L + 5 = 32783 cycles and one, of 0.5 ns.
    assert output_of(programs, "astra") == ["rank 5 at 100 ns", "rank 0 at 16392 ns", "rank 5 at 16392 ns"]


def test_gpgpu_sim(programs):
    # From terminal 3 to 12: H = 6, L = 1, 36 + 1 cycles. Popped after cycle 37, the reply of 5 flits takes 40 + 1 from
    # cycle 38 on, and is popped after cycle 79.
    assert output_of(programs, "intersim2")[0] == "reply in cycle 80"


def test_systemverilog(programs, installed, tmp_path):
    if not shutil.which("verilator"):
        pytest.skip("verilator is not installed (apt-get install verilator)")
    (tmp_path / "bench.sv").write_text(*blocks("systemverilog"))
    verilate(installed, tmp_path / "bench.sv", tmp_path)
    done = subprocess.run([tmp_path / "Vbench"], cwd=programs, capture_output=True, text=True, check=True, timeout=300)
    assert "packet 77 from terminal 0 arrives in cycle 17" in done.stdout


def test_the_python_program(capsys):
    exec(compile(*blocks("python"), "docs/embedding.md", "exec"), {})
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == 15 and printed[0] == "packet 1 arrives in cycle 21"
