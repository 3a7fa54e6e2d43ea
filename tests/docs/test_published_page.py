"""docs/published.md, made by `flitlab reproduce --markdown`, has every current experiment."""

import re
from pathlib import Path

import pytest

from flitlab.reproduction import ROW_VERDICTS, experiments

TEXT = (Path(__file__).resolve().parents[2] / "docs/published.md").read_text(encoding="utf-8")
HEADS, *LINES = [[c.strip() for c in line.strip("|").split("|")]
                 for line in re.search(r"^\| experiment .*\n(?:\|.*\n)+", TEXT, re.M)[0].splitlines()]
COUNTS = {name: dict(zip(HEADS[1:], (int(n or 0) for n in numbers), strict=True)) for name, *numbers in LINES[1:]}
AGAIN = "docs/published.md is out of date: generate it with `flitlab reproduce --markdown`"


def test_it_lists_the_experiments():
    assert [*COUNTS] == [*experiments(), "all"], AGAIN
    assert re.findall(r"^### (.*)", TEXT, re.M) == [*experiments()], AGAIN


@pytest.mark.parametrize("verdict", ROW_VERDICTS)
def test_the_counts_add_up(verdict):
    assert sum(counts[verdict] for name, counts in COUNTS.items() if name != "all") == COUNTS["all"][verdict]


def test_what_is_judged_is_shown():
    for name, section in re.findall(r"^### (.*)\n((?:(?!### ).*\n)*)", TEXT, re.M):
        for verdict in ("match", "better", "out", "holds", "broken"):
            assert len(re.findall(rf"\| {verdict} \|$", section, re.M)) == COUNTS[name][verdict], (name, verdict)


def test_what_is_out_is_listed_with_a_reason():
    out = TEXT[TEXT.index("## Rows that are out"):TEXT.index("## Every judged row")]
    rows = [[c.strip() for c in line.strip("|").split(" | ")] for line in out.splitlines() if line.startswith("| ")]
    failed = [(name.strip(), setting, quantity) for name, _, setting, quantity, *_ in rows[1:]]
    assert len(failed) == COUNTS["all"]["out"] + COUNTS["all"]["broken"]
    reasons = dict(re.findall(r"^\*\*(.*)\.\*\* (.*)$", out, re.M))
    for name, setting, quantity in failed:
        assert any(title.startswith(f"{name}: ") and f"{setting}, {quantity}" in title and reason
                   for title, reason in reasons.items()), (name, setting, quantity)
