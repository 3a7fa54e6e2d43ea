"""Cells of the tables in docs/peers.md link to tests and configurations of this repository, or to files of other
repositories at the commits that the page names."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs/peers.md").read_text(encoding="utf-8")
COMMITS = dict(re.findall(r"^\| ([\w ]+) \| \[[\w./-]+\]\((https://github\.com/[\w./-]+)\) \|", TEXT, re.M))
LINK = re.compile(r"\[([^][]+)\]\[([^][]+)\]")  # [text][name]
NO = ("-", "not checked")


def definitions(text: str) -> list[tuple[str, str]]:
    """Returns the names of links and their targets."""
    return re.findall(r"^\[([^][]+)\]: (\S+)$", text, re.M)


def tables(text: str) -> list[list[list[str]]]:
    """Returns the rows of each table of features, as lists of cells; the first row is the heading."""
    found = re.findall(r"^(\| \| flitlab \|.*\n)\|[-|]+\n((?:\|.*\n)+)", text, re.M)
    return [[[cell.strip() for cell in line.strip("|").split("|")] for line in (heading + rows).splitlines()]
            for heading, rows in found]


def base_of(name: str, text: str) -> str:
    """Returns the beginning of the addresses of a simulator's files at its commit."""
    (commit,) = re.findall(rf"^\| {name} \|[^|]*\| `([0-9a-f]{{40}})` \| \d{{4}}-\d\d-\d\d \|$", text, re.M)
    return f"{COMMITS[name]}/blob/{commit}/"


def wrong_cells(text: str) -> list[str]:
    """Returns the cells that have neither a permitted word nor only links to permitted files."""
    targets, wrong = dict(definitions(text)), []
    for heading, *rows in tables(text):
        for row in rows:
            for name, cell in zip(heading[1:], row[1:], strict=False):
                begins = ("../tests/", "../configs/") if name == "flitlab" else (base_of(name, text),)
                links = [targets.get(link, "") for _, link in LINK.findall(cell)]
                if cell in (NO[:1] if name == "flitlab" else NO):
                    continue
                if not links or LINK.sub("", cell).strip(", ") or not all(link.startswith(begins) for link in links):
                    wrong.append(f"{row[0]}, {name}: {cell}")
    return wrong


def test_it_has_tables_of_all_simulators():
    assert len(COMMITS) == 7 and len(tables(TEXT)) == 6
    for heading, *rows in tables(TEXT):
        assert heading == ["", "flitlab", *COMMITS] and rows


def test_rows_have_the_same_number_of_cells():
    assert {len(row) for table in tables(TEXT) for row in table} == {2 + len(COMMITS)}


def test_features_are_named_once():
    features = [row[0] for table in tables(TEXT) for row in table[1:]]
    assert len(set(features)) == len(features)


def test_linked_files_of_this_repository_exist():
    inline = re.findall(r"\]\(([^)#:]+)\)", TEXT)
    for target in [*inline, *(target for _, target in definitions(TEXT) if not target.startswith("https:"))]:
        assert (ROOT / "docs" / target).exists(), target


def test_links_are_defined_once_and_used():
    names = [name for name, _ in definitions(TEXT)]
    assert sorted(names) == sorted({link for _, link in LINK.findall(TEXT)})


def test_cells_link_to_evidence():
    assert wrong_cells(TEXT) == []


@pytest.mark.parametrize(("cell", "other"), [
    ("[yes][f-test_api]", "yes"), ("[yes][f-test_api]", "[yes][nowhere]"), ("[yes][f-test_api]", "[yes][b-kncube]"),
    ("[yes][f-test_api]", "not checked"), ("[yes][b-kncube]", "[yes][n-noc]"), ("[yes][b-kncube]", "[yes][f-test_api]"),
    ("[yes][b-kncube]", "[yes][b-kncube], probably"), ("../tests/bindings/test_api.py", "../bindings/flitlab/api.py"),
    ("/blob/28f43299f1706a3160ffac721ca461d74eb6e618/src/networks/kncube.cpp", "/blob/master/src/networks/kncube.cpp"),
])
def test_cells_without_evidence_are_found(cell, other):
    assert TEXT.count(cell) and wrong_cells(TEXT.replace(cell, other, 1))
