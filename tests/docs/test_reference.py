"""docs/reference.md is what the records say."""

from pathlib import Path

from flitlab import _core
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
