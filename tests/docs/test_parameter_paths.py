"""Parameter paths in messages and help: a path without a record is a misspelling."""

import re
from pathlib import Path

import pytest

from flitlab import _core

ROOT = Path(__file__).resolve().parents[2]
PATHS = {"router.kind", *(p["path"] for p in _core.parameters()),
         *(p["path"] for model in _core.models() for p in model["parameters"])}
SECTIONS = "|".join(sorted({path.partition(".")[0] for path in PATHS}))
STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
# A parameter path in text; not a file name, an attribute or a call.
PATH = re.compile(rf"(?<![\w./])((?:{SECTIONS})\.[a-z][a-z_]*[a-z])\b(?![./(*_])(?<!pp)(?<!py)")


def unknown(text: str) -> list[str]:
    """Returns paths in a source's strings that no parameter has."""
    return [path for string in STRING.finditer(text) for path in PATH.findall(string[1]) if path not in PATHS]


@pytest.mark.parametrize("folder", ["kernels", "host", "bindings"])
def test_paths_in_strings_are_those_of_parameters(folder):
    seen = 0
    for file in sorted((ROOT / folder).rglob("*")):
        # These files name state fields; tests with a network of the model check these names.
        if file.name in ("bounds.cpp", "motion.cpp"):
            continue
        if file.suffix in (".cpp", ".hpp", ".py"):
            text = file.read_text(encoding="utf-8")
            seen += sum(len(PATH.findall(string[1])) for string in STRING.finditer(text))
            assert not unknown(text), file
    assert seen > 50


def test_paths_in_the_docs_are_those_of_parameters():
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "docs/architecture").glob("*.md"),
             *ROOT.glob("kernels/routers/*/README.md")]
    for file in sorted(pages):
        if file.name == "reference.md":  # generated from the records; it also contains state fields
            continue
        quoted = re.findall(r"`([^`\n]*)`", file.read_text(encoding="utf-8"))
        wrong = [path for text in quoted for path in PATH.findall(text) if path not in PATHS]
        assert not wrong, (file, wrong)


def test_a_misspelling_is_found():
    assert unknown('fail("traffic.lod: it must be");') == ["traffic.lod"]
    assert unknown('fail("traffic.load: see kernels/traffic/params.hpp");') == []


def test_one_rule_turns_keyword_arguments_into_paths():
    """Keyword arguments have ``__`` for the dot; flitlab.settings.dotted() is the only place that replaces it."""
    package = ROOT / "bindings" / "flitlab"
    rule = re.compile(r"""replace\(\s*["']__["']""")
    found = [path.relative_to(package).as_posix() for path in package.rglob("*.py")
             if rule.search(path.read_text(encoding="utf-8"))]
    assert found == ["settings.py"]
