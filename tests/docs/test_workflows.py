"""GitHub's workflows and forms are valid by the schemas of check-jsonschema."""

import subprocess
import sys
from pathlib import Path

import pytest

GITHUB = Path(__file__).resolve().parents[2] / ".github"


def check(schema, path):
    return subprocess.run([sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, path],
                          capture_output=True, text=True)


@pytest.mark.parametrize("path", sorted(GITHUB.glob("workflows/*.yml")), ids=lambda path: path.name)
def test_a_workflow_is_one(path):
    done = check("vendor.github-workflows", path)
    assert done.returncode == 0, done.stdout


def test_a_step_that_does_nothing_is_found(tmp_path):
    (tmp_path / "bad.yml").write_text("on: push\njobs: {one: {runs-on: ubuntu-24.04, steps: [{ran: ls}]}}\n")
    assert check("vendor.github-workflows", tmp_path / "bad.yml").returncode
