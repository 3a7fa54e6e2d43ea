"""docs/reference.md is what the records say."""

from itertools import pairwise
from pathlib import Path

from flitlab import _core
from flitlab.experiment import Experiment
from flitlab.network import Network
from flitlab.reference import page

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference.md"


def test_the_page_is_fresh():
    assert PAGE.read_text() == page(), "make it anew: flitlab reference > docs/reference.md"


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
    """Each heading has something below it: the page shows networks that have all of a model's registers and fields."""
    lines = [line for line in PAGE.read_text().splitlines() if line]
    for line, following in pairwise(lines):
        if line.startswith("### "):
            assert following.startswith(("|", "`")), line


def test_every_operation_is_there():
    """Of every model's console, by name."""
    text = PAGE.read_text()
    for model in _core.models():
        section = text.split(f"## `{model['kind']}`: ")[1].split("\n## ")[0]
        network = Network(Experiment.from_dict({"router.kind": model["kind"]}))
        for operation in network.console.operations():
            assert f"| `{operation.name}` |" in section, (model["kind"], operation.name)
