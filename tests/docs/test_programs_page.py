"""The examples of docs/programs.md are valid programs, and its table of calls agrees with the code."""

import re
import textwrap
from pathlib import Path

import pytest

import flitlab as fl
from flitlab import _core
from flitlab.placements import PLACEMENTS
from flitlab.program_times import KINDS
from flitlab.programs import CALLS
from flitlab.schedules import ALGORITHMS

TEXT = (Path(__file__).resolve().parents[2] / "docs/programs.md").read_text(encoding="utf-8")


def test_the_file_of_calls():
    found = re.findall(r"((?:^    .+\n)+)", TEXT.replace("```", "``` ").split("```")[0], re.M)
    assert len(found) == 2  # the first one of the page, and ranks of a terminal
    for block in found:
        lines = "".join(line.strip() + "\n" for line in block.splitlines())
        assert len(_core.program_calls(lines.encode(), "example", 3)) == 3


def test_the_python_examples(tmp_path, monkeypatch, capsys):
    """The page shows what its program prints, and the picture that it draws."""
    monkeypatch.chdir(tmp_path)
    names = {}
    for code in re.findall(r"```python\n(.*?)```", TEXT, re.S):
        exec(compile(code, "programs.md", "exec"), names)
    assert (tmp_path / "halo.csv").exists() and (tmp_path / "halo.pftrace").exists()
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == 3 and "".join(f"    {line}\n" for line in printed) in TEXT
    assert (tmp_path / "timeline.png").stat().st_size > 10_000


def test_the_table_of_kinds():
    (table,) = re.findall(r"\| kind \| the rank \|\n\|---\|---\|\n((?:\|.*\n)+)", TEXT)
    assert tuple(re.findall(r"^\| `(\w+)`", table, re.M)) == KINDS


def test_the_toml_example(tmp_path):
    (text,) = re.findall(r"```toml\n(.*?)```", TEXT, re.S)
    (tmp_path / "example.toml").write_text(text)
    program = fl.Program.from_toml(tmp_path / "example.toml")
    assert program.ranks == 64
    program.calls()


def blocks(heading):
    """The indented blocks of a section."""
    section = TEXT.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return [textwrap.dedent(block) for block in re.findall(r"\n\n((?:(?:    .+)?\n)+)", section) if block.strip()]


def test_the_example_of_several_jobs(capsys):
    code, printed = blocks("Several jobs on one network")
    exec(compile(code, "programs.md", "exec"), names := {"fl": fl})
    assert capsys.readouterr().out.split() == printed.split()
    grouped = fl.jobs(names["programs"], {"topology.kind": "dragonfly"}, "group", progress=False).frame
    assert list(grouped["slowdown"]) == [1, 1] and grouped["cycles_alone"][0] > 2862


def test_the_table_of_placements():
    assert set(re.findall(r'^\| `"(\w+)"` \|', TEXT, re.M)) == set(PLACEMENTS)


def test_the_example_of_training_steps():
    (code,) = blocks("Training steps of transformers")
    exec(compile(code, "programs.md", "exec"), names := {"fl": fl})
    assert names["program"].ranks == 32
    tags = {line.split(",")[4] for line in names["program"].text().decode().splitlines() if ",isend," in line}
    assert tags == set(re.findall(r"^\| (\d) \|", TEXT, re.M)) == set("12345")


@pytest.mark.parametrize("call", CALLS)
def test_the_table_of_calls(call):
    (row,) = re.findall(rf"^\| `{call}` \|(.*?)\|", TEXT.split("## Calls")[1].split("###")[0], re.M)
    arguments, required = CALLS[call]
    assert [part for part in row.strip().split(", ") if part] == [
        name if i < required else f"[{name}]" for i, name in enumerate(arguments)]


def test_the_table_of_algorithms():
    rows = re.findall(r"^\| (\w+) \| (?:the|all).*?\| (.*?) \|$", TEXT, re.M)
    assert {operation: re.findall(r"`(\w+)`", names) for operation, names in rows} == {
        operation: list(known) for operation, known in ALGORITHMS.items()}
