"""`flitlab reproduce NAME... --update FILE`: replaces experiments in a page that `--markdown` printed."""

from __future__ import annotations

import re
from itertools import pairwise

from flitlab._core import ConfigError

OUT, UNREAD, JUDGED = "## Rows that are out", "## Papers read only as abstracts", "## Every judged row"


def parts_of(page: str, name: str) -> tuple[str, dict[str, str], list[str], dict[str, str]]:
    """Returns the parts of a page: its introduction, the lines of the table of experiments, the lines of the list of
    failed rows, and the sections of the experiments. name: of the file, for errors."""
    found = re.fullmatch(rf"(.*?\n)(\| experiment .*?)\n\n{OUT}\n(.*?)\n{UNREAD}\n.*?\n{JUDGED}\n(.*)", page, re.S)
    if found is None:
        raise ConfigError(f"{name}: not a page of flitlab reproduce --markdown, or of another version; print it anew.")
    intro, table, out, sections = found.groups()
    return (intro, {line.split("|")[1].strip(): line for line in table.splitlines()}, out.splitlines(),
            dict(re.findall(r"^### (.*)\n((?:(?!### ).*\n?)*)", sections, re.M)))


def merged(old: str, new: str, order: list[str], name: str) -> str:
    """Returns the page `old` in which the experiments of the page `new` replace experiments of the same name. order:
    names of all experiments, in the order of the page; the result has no others."""
    intro, old_table, old_out, old_sections = parts_of(old, name)
    _, table, new_out, sections = parts_of(new, name)
    again = [experiment for experiment in sections if experiment in order]
    day = re.search(r"made this page on (\S+)\.", new)[1]
    # The time of the whole page is unknown once some of its experiments are replaced.
    intro = re.sub(r"\nRun again on .*\n| It took [^.]*\.", "", intro).rstrip()
    intro = f"{intro}\n\nRun again on {day}: {', '.join(again)}."
    table, sections = old_table | table, old_sections | sections
    names = [experiment for experiment in order if experiment in sections]
    lines = [table["experiment"], next(line for line in table.values() if set(line) <= set("|-:")),
             *(table[experiment] for experiment in names)]
    numbers = [[int(c or 0) for c in map(str.strip, line.split("|")[2:-1])] for line in lines[2:]]
    *sums, seconds = map(sum, zip(*numbers, strict=True))
    sums = [*(n or "" for n in sums), seconds]
    lines.append(f"| all | {' | '.join(map(str, sums))} |")
    failed = failed_rows(old_out, new_out, again, names)
    unread = re.search(rf"{UNREAD}\n.*?(?=\n{JUDGED})", old, re.S)[0]
    body = "\n".join(f"### {experiment}\n{sections[experiment].rstrip()}\n" for experiment in names)
    return "\n".join([intro, "", *lines, "", OUT, "", *failed, "", unread.rstrip(), "", JUDGED, "", body])


def failed_rows(old: list[str], new: list[str], again: list[str], names: list[str]) -> list[str]:
    """Returns the lines of the table of failed rows, and of the paragraphs on them."""
    def experiment(line: str) -> str:
        return line.split("|")[1].strip() if line.startswith("|") else line.removeprefix("**").split(": ")[0]

    kept = [line for line in old if experiment(line) in names and experiment(line) not in again]
    kept += [line for line in new if experiment(line) in again]
    kept.sort(key=lambda line: names.index(experiment(line)))  # stable: rows of an experiment keep their order
    if not kept:
        return ["No row is out or broken."]
    heads = next([a, b] for lines in (new, old) for a, b in pairwise(lines) if b and set(b) <= set("|-:"))
    rows = [line for line in kept if line.startswith("|")]
    return heads + rows + [text for line in kept if line.startswith("**") for text in ("", line)]
