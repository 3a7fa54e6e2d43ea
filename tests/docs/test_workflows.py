"""GitHub's workflows are valid by the schemas of check-jsonschema, and style checks come first. pyproject.toml pins the
only version of each style checker."""

import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
GITHUB = ROOT / ".github"
STYLE = ("ruff", "clang-format")


def check(schema, path):
    return subprocess.run([sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, path],
                          capture_output=True, text=True)


@pytest.mark.parametrize("path", sorted(GITHUB.glob("workflows/*.yml")), ids=lambda path: path.name)
def test_a_workflow_is_one(path):
    done = check("vendor.github-workflows", path)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("path", sorted(GITHUB.glob("actions/*/action.yml")), ids=lambda path: path.parent.name)
def test_an_action_is_one(path):
    done = check("vendor.github-actions", path)
    assert done.returncode == 0, done.stdout


def test_every_job_that_compiles_has_its_own_compiler_cache():
    names = [step["with"]["name"] for name, job in jobs().items() if name != "lint"
             for step in job["steps"] if step.get("uses") == "./.github/actions/compiler-cache"]
    assert len(set(names)) == len(names) == len(jobs()) - 1


def test_a_step_that_does_nothing_is_found(tmp_path):
    (tmp_path / "bad.yml").write_text("on: push\njobs: {one: {runs-on: ubuntu-24.04, steps: [{ran: ls}]}}\n")
    assert check("vendor.github-workflows", tmp_path / "bad.yml").returncode


def jobs() -> dict[str, dict]:
    return yaml.safe_load((GITHUB / "workflows" / "tests.yml").read_text(encoding="utf-8"))["jobs"]


def test_all_jobs_wait_for_lint_alone():
    needs = {name: job.get("needs") for name, job in jobs().items()}
    assert needs.pop("lint") is None
    assert len(needs) > 1 and set(needs.values()) == {"lint"}


def test_lint_compiles_nothing():
    assert [step["run"] for step in jobs()["lint"]["steps"] if "run" in step] == ["make lint"]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    recipe = re.search(r"^lint:\n((?:\t.*\n)+)", makefile, re.MULTILINE)[1]
    assert re.findall(r"tests/tools/(\w+\.py \w+)", recipe) == ["install.py lint", "run_all.py lint"]


@pytest.mark.parametrize("name", STYLE)
def test_a_style_checker_is_pinned_once(name):
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    pins = re.findall(rf'"{name}([^"]*)"', text)
    assert pins == [f"=={version(name)}"]


@pytest.mark.parametrize("name", STYLE)
def test_pre_commit_runs_the_pinned_version(name):
    """A hook from another repository would have its own version."""
    repos = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]
    assert not [repo["repo"] for repo in repos if name in repo["repo"] + repo.get("rev", "")]
    assert [(repo["repo"], hook["language"], hook["entry"].split()[0]) for repo in repos for hook in repo["hooks"]
            if hook["id"] == name] == [("local", "system", f".venv/bin/{name}")]


@pytest.mark.parametrize("name", STYLE)
def test_no_workflow_installs_another_version(name):
    for path in (*GITHUB.glob("workflows/*.yml"), ROOT / ".ci" / "run"):
        assert name not in path.read_text(encoding="utf-8"), path.name
