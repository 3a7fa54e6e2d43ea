"""docs/reference.md agrees with the records."""

import re
from itertools import pairwise
from pathlib import Path

from flitlab import _core
from flitlab.experiment import Experiment
from flitlab.network import Network
from flitlab.reference import page

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reference.md"


def test_the_page_is_fresh():
    assert PAGE.read_text() == page(), "generate it: flitlab reference > docs/reference.md"


def test_every_record_is_explained():
    for model in _core.models():
        for record in [*model["parameters"], *model["totals"]]:
            assert record["help"].endswith("."), record
        for total in model["totals"]:
            assert total["unit"], total


def test_every_parameter_and_total_is_there():
    text = page()
    for record in _core.parameters():
        assert f"`{record['path']}`" in text
    for total in [*_core.common_totals(), *(t for m in _core.models() for t in m["totals"])]:
        assert f"`{total['name']}`" in text


def test_no_section_is_empty():
    """Each heading has content: the page's example networks have all registers and fields of their models."""
    lines = [line for line in PAGE.read_text().splitlines() if line]
    for line, following in pairwise(lines):
        if line.startswith("### "):
            assert following.startswith(("|", "`")), line


def test_every_operation_is_there():
    """Operations of every model's console, by name."""
    text = PAGE.read_text()
    for model in _core.models():
        section = text.split(f"## `{model['kind']}`: ")[1].split("\n## ")[0]
        network = Network(Experiment.from_dict({"router.kind": model["kind"]}))
        for operation in network.console.operations():
            assert f"| `{operation.name}` |" in section, (model["kind"], operation.name)


def entries(text, start):
    """Returns the parts of each entry in a list of (type, name, count, unit, meaning[, name in the layout])."""
    depth, quoted, parts, found = 0, False, [""], []
    for i in range(start, len(text)):
        c = text[i]
        quoted ^= c == '"' and text[i - 1] != "\\"
        depth += 0 if quoted else (c in "([{") - (c in ")]}")
        if depth == 0 and not quoted and c == ")":
            return found
        if depth == 2 and c == "(" and not quoted and not parts[-1].strip():
            parts = [""]
        elif depth == 1 and c == ")" and not quoted:
            found.append([part.strip() for part in parts])
            parts = [""]
        elif depth == 2 and c == "," and not quoted:
            parts.append("")
        elif depth >= 2:
            parts[-1] += c
    raise AssertionError("a list does not end")


def test_every_field_of_a_state_is_there():
    """Fields as declared in the sources, independent of the page's example networks."""
    text, seen = PAGE.read_text(), 0
    for path in [*ROOT.glob("kernels/routers/*/state.hpp"), *ROOT.glob("kernels/traffic/*.hpp")]:
        source = re.sub(r"//[^\n]*", "", path.read_text())
        for found in re.finditer(r"\bFLITLAB_FIELDS(?=\(\w+,)", source):
            for entry in entries(source, found.end()):
                if len(entry) >= 5:  # the entry is a field; a group of fields has its own list
                    name = entry[5].strip('"') if len(entry) > 5 else entry[1]
                    assert re.search(rf"^\| `{name}` \|", text, re.M), (path.name, name)
                    seen += 1
    assert seen > 70
