"""Claims in the notebooks' text: assertions in the code beside them check the numbers and comparisons;
test_notebooks.py runs the assertions."""

from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell
from notebook_claims import EXPLAINED, assertions_without_claim, claims_without_assertion, sentences

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("*.ipynb"))


def cells_of(path):
    return nbformat.read(path, as_version=4).cells


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_every_claim_is_asserted(path):
    assert not claims_without_assertion(cells_of(path)), "tests/support/notebook_claims.py has the rule"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_every_assertion_quotes_the_text_beside_it(path):
    assert not assertions_without_claim(cells_of(path))


def test_every_explanation_is_in_a_notebook():
    texts = [sentence for path in NOTEBOOKS for cell in cells_of(path) if cell.cell_type == "markdown"
             for sentence in sentences(cell.source)]
    assert [line for line in EXPLAINED if not any(text.startswith(line) for text in texts)] == []


WRONG = {  # claims that once contradicted the outputs, and the code beside them
    "four stuck wires": ("Bit 3 of four wires that leave router 1.5 is now stuck at one from clock 2000 on.",
                         'wires = [f"2000,stuck1,1.5.{port},3" for port in ("2.0", "2.1", "3.0", "3.1")]'),
    "one head in seven": ("In 4 x 4 x 4 that holds for one head in seven, in 8 x 4 x 4 for nearly three quarters.",
                          "rounds = {(4, 4, 4): 10, (8, 4, 4): 3}"),
    "closer to its limit": ("The larger one gets closer to what all its channels could carry.", "sides = 8, 16"),
    "a full router": ("Choose a full router, (3,3) say, and step cycle by cycle.", "net.step(560)"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_claim_that_nothing_asserts_is_found(name):
    text, code = WRONG[name]
    assert claims_without_assertion([new_markdown_cell(text), new_code_cell(code)]) == [text]
    quote = " ".join(text.split()[:3])
    cells = [new_markdown_cell(text), new_code_cell(f'{code}\nassert True, "{quote}"')]
    assert not claims_without_assertion(cells) and not assertions_without_claim(cells)


def test_settings_questions_and_sources_need_no_assertion():
    text = "A mesh of 8 x 8 nodes. How many are full? The routers are faster (METRO, 3)."
    assert not claims_without_assertion([new_markdown_cell(text), new_code_cell("shape = [8, 8]")])


def test_an_assertion_that_quotes_nothing_is_found():
    cells = [new_markdown_cell("Five wires."), new_code_cell('assert n == 4, "four wires"\nassert n')]
    assert assertions_without_claim(cells) == ["assert n == 4, 'four wires'", "assert n"]
