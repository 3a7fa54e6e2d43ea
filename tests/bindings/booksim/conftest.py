"""What the tests of the program flitlab-booksim share."""

import re
from pathlib import Path

import pytest

from flitlab.booksim import program


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Runs the program in a folder with the files ``c`` and ``links``; returns its exit code, output and errors."""
    monkeypatch.chdir(tmp_path)
    Path("c").write_text("k = 4;\n")
    Path("links").write_text("router 0 node 0 router 1 2\nrouter 1 node 1 router 0 2 router 2\nrouter 2 node 2\n")

    def call(*arguments):
        status = program.main(list(arguments))
        return status, *capsys.readouterr()

    return call


def values(out):
    """Returns the mean of each statistic in the last block."""
    overall = out[out.rfind("====== Traffic class 0"):]
    return {name: float(value) for name, value in re.findall(r"^(\w[\w ]+) average = (\S+) \(", overall, re.MULTILINE)}
