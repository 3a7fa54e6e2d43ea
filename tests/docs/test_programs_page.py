"""The examples of docs/programs.md are valid programs, and its table of calls agrees with the code."""

import re
from pathlib import Path

import pytest

import flitlab as fl
from flitlab import _core
from flitlab.program_times import KINDS
from flitlab.programs import CALLS
from flitlab.schedules import ALGORITHMS

TEXT = (Path(__file__).resolve().parents[2] / "docs/programs.md").read_text(encoding="utf-8")


def test_the_file_of_calls():
    (block,) = re.findall(r"((?:^    .+\n)+)", TEXT.replace("```", "``` ").split("```")[0], re.M)
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
