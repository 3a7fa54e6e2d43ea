"""Finds the claims in a notebook's text: sentences with a number or a comparison.

A claim needs an assertion in the code next to it, whose message quotes words of the claim:

    text: The scan finds the four stuck wires.
    code: assert len(rows) == 4, "the four stuck wires"

Three kinds of sentences need no assertion: questions; statements of a source, if the sentence cites a section or names
the paper or the manual; and settings, if the code that follows contains each number of the sentence outside of
statements that draw. tests/notebooks/explained.txt lists the beginnings of other sentences that define or explain
something and claim no result.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

WORDS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
         "eleven": 11, "twelve": 12, "sixteen": 16, "twenty": 20, "hundred": 100, "twice": 2, "half": 2, "halves": 2,
         "third": 3, "thirds": 3, "quarter": 4, "quarters": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8,
         "tenth": 10}
NUMBER = re.compile(rf"\d+(?:\.\d+)?|\b(?:{'|'.join(WORDS)})\b", re.IGNORECASE)
COMPARISON = re.compile(
    r"\b(?:more|fewer|less|most|closer|faster|slower|sooner|longer|shorter|higher|lower|larger|smaller|better|"
    r"worse|narrower|wider|highest|lowest|never|hardly|nearly|almost|full|fills?|empty|rises?|falls?|grows?|"
    r"settles?|one \w+ in \w+)\b", re.IGNORECASE)
SOURCE = re.compile(r"\b(?:papers?|manual|designers|published)\b|\((?:METRO|S-Connect|Figure|\*[A-Z])[^)]*\)")
DRAWING = {"fig", "figs", "plt", "axes", "axis", "keys", "handles"}
EXPLAINED = tuple((Path(__file__).parents[1] / "notebooks" / "explained.txt").read_text(encoding="utf-8").splitlines())


def sentences(text: str) -> Iterator[str]:
    """Yields the sentences of a markdown cell before its questions, without headings, code and formulas."""
    text = re.split(r"^(?:## Questions|\*\*Questions\*\*)", text, flags=re.MULTILINE)[0]
    text = re.sub(r"\$[^$]*\$|`[^`]*`", "…", text)
    for paragraph in re.split(r"\n\s*\n|\n(?=- |\d\. |#)", text):
        if not paragraph.startswith("#"):
            plain = " ".join(re.sub(r"^(?:- |\d\. )", "", paragraph.strip()).split())
            yield from re.split(r"(?<=[.?!:])\)? (?=[*(A-Z\d])", plain)


def is_question(sentence: str) -> bool:
    return sentence.endswith("?") or sentence.startswith(("*Predict:*", "Prerequisite"))


def numbers_set(code: str) -> set[float]:
    """Returns the numbers in statements that do not draw, including numbers in strings."""
    found: set[float] = set()
    for statement in ast.parse(code).body:
        nodes = list(ast.walk(statement))
        draws = any(isinstance(n, ast.Name) and n.id in DRAWING for n in nodes)
        if draws and not isinstance(statement, ast.FunctionDef):
            continue
        for node in nodes:
            if isinstance(node, ast.Constant) and not isinstance(node.value, bool):
                if isinstance(node.value, int | float):
                    found.add(node.value)
                elif isinstance(node.value, str):
                    found |= {float(n) for n in re.findall(r"\d+(?:\.\d+)?", node.value)}
    return found


def is_set(sentence: str, numbers: set[float]) -> bool:
    """Returns whether the code contains every number of a sentence. 0 and 1 are ignored, because they often only
    enumerate."""
    for word in NUMBER.findall(sentence):
        value = WORDS.get(word.lower())
        choices = {value, 1 / value} if value else {float(word), float(word) / 100}
        if not choices & (numbers | {0, 1}):
            return False
    return True


def assertions(code: str) -> Iterator[ast.Assert]:
    yield from (node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Assert))


def quotes(code: str) -> list[str]:
    """Returns the messages of a cell's assertions, if they are string constants."""
    return [a.msg.value for a in assertions(code) if isinstance(a.msg, ast.Constant) and isinstance(a.msg.value, str)]


def claims_without_assertion(cells: list[Any]) -> list[str]:
    """Returns a notebook's claims that no code beside them asserts."""
    found = []
    for place, cell in enumerate(cells):
        if cell.cell_type != "markdown":
            continue
        code = beside(cells, place)
        quoted, numbers = quotes(code), numbers_set(beside(cells, place, before=False))
        for sentence in sentences(cell.source):
            compares, counts = COMPARISON.search(sentence), NUMBER.search(sentence)
            if not (compares or counts) or is_question(sentence) or SOURCE.search(sentence):
                continue
            if any(quote in sentence for quote in quoted) or sentence.startswith(EXPLAINED):
                continue
            if compares or not is_set(sentence, numbers):
                found.append(sentence)
    return found


def beside(cells: list[Any], place: int, before: bool = True) -> str:
    """Returns the code between the text before a cell and the text after it; before=False: only the code that
    follows."""
    first = last = place
    while before and first > 0 and cells[first - 1].cell_type == "code":
        first -= 1
    while last + 1 < len(cells) and cells[last + 1].cell_type == "code":
        last += 1
    return "\n".join(c.source for c in cells[first : last + 1] if c.cell_type == "code")


def assertions_without_claim(cells: list[Any]) -> list[str]:
    """Returns a notebook's assertions whose message quotes no text beside them."""
    texts = {place: " ".join(cell.source.split()) for place, cell in enumerate(cells) if cell.cell_type == "markdown"}
    found = []
    for place, cell in enumerate(cells):
        if cell.cell_type != "code":
            continue
        around = [texts[p] for p in (max((p for p in texts if p < place), default=None),
                                     min((p for p in texts if p > place), default=None)) if p is not None]
        for assertion in assertions(cell.source):
            message = assertion.msg.value if isinstance(assertion.msg, ast.Constant) else None
            if not isinstance(message, str) or not any(message in text for text in around):
                found.append(ast.unparse(assertion))
    return found
