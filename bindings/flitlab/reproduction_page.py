"""The page of `flitlab reproduce --markdown`: how it was made, a table of all experiments, the rows outside their
tolerance, and every judged row."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from itertools import groupby

from flitlab.reproduction import FAILED, ROW_VERDICTS, counts

Done = dict[str, tuple[list[dict], "float | None"]]  # experiment -> rows and seconds; None: unknown

JUDGED = ["kind", "setting", "quantity", "published", "measured", "unit", "tolerance", "verdict"]


def grouped(rows: list[dict], seconds: dict[str, float] | None = None) -> Done:
    """Groups the rows of `flitlab reproduce --json` by experiment and adds the known seconds."""
    return {name: (list(lines), (seconds or {}).get(name))
            for name, lines in groupby(rows, key=lambda line: line["experiment"])}


def cell(value: object) -> str:
    """Returns a value as text for a cell of a Markdown table."""
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, (int, float)) else str(value).replace("|", "\\|").replace("\n", " ")


def table(heads: list[str], lines: list[list[object]], numbers: set[str]) -> Iterator[str]:
    yield "| " + " | ".join(heads) + " |"
    yield "|" + "|".join("---:" if head in numbers else "---" for head in heads) + "|"
    for line in lines:
        yield "| " + " | ".join(map(cell, line)) + " |"


def with_ideal(line: dict) -> str:
    """Returns the measured value of a row and, of a throughput, the ideal one: "0.443 (ideal 0.5)"."""
    ideal = line.get("ideal")
    return f"{line['measured']:.4g}" + ("" if ideal is None else f" (ideal {ideal:.4g})")


def judged(line: dict) -> list[object]:
    return [with_ideal(line) if head == "measured" else line[head] for head in JUDGED]


def duration(seconds: float) -> str:
    return f"{seconds:.0f} seconds" if seconds < 120 else f"{seconds / 60:.0f} minutes"


def summary(done: Done) -> Iterator[str]:
    everything = [line for rows, _ in done.values() for line in rows]
    known = [s for _, s in done.values() if s is not None]
    lines: list[list[object]] = []
    for name, (rows, seconds) in [*done.items(), ("all", (everything, sum(known) if known else None))]:
        verdicts = [n or "" for n in counts(rows).values()]
        lines.append([name, *verdicts, "" if seconds is None else f"{seconds:.0f}"])
    yield from table(["experiment", *ROW_VERDICTS, "seconds"], lines, {*ROW_VERDICTS, "seconds"})


def out(done: Done) -> Iterator[str]:
    """Yields a table of the rows that failed, and a paragraph on each of them. Rows that share a reason and differ only
    in quantity or setting have one paragraph."""
    lines = [line for rows, _ in done.values() for line in rows if line["verdict"] in FAILED]
    if not lines:
        yield "No row is out or broken."
        return
    heads = ["experiment", "kind", "setting", "quantity", "published", "measured", "unit"]
    yield from table(heads, [[with_ideal(line) if h == "measured" else line[h] for h in heads] for line in lines],
                     {"published", "measured"})
    paragraphs: dict[tuple[str, str], list[str]] = {}
    for line in lines:
        key = line["experiment"], line["why"] or line["reading"]
        paragraphs.setdefault(key, []).append(f"{line['setting']}, {line['quantity']}")
    for (experiment, text), names in paragraphs.items():
        yield from ("", f"**{experiment}: {'; '.join(names)}.** {text}")


def unread(done: Done) -> Iterator[str]:
    """Yields a list of the papers of which sources have the abstract only."""
    sources = [part for rows, _ in done.values() for line in rows for part in line["source"].split("; ")]
    papers = sorted({part.removesuffix(", abstract") for part in sources if part.endswith(", abstract")})
    if not papers:
        yield "None."
        return
    yield ("Published rows of these papers rest on what the abstract says. What other sources say of them is a check, "
           "if it can be calculated, or context. Of every paper that a row cites, at least the abstract was read.")
    yield ""
    yield from (f"- {paper}: abstract" for paper in papers)


def cited(sources: list[str]) -> str:
    """Returns sources as one text; their common beginning, such as the title of a paper, appears once."""
    parts = [source.split(", ") for source in sources]
    same = next((n for n, heads in enumerate(zip(*parts, strict=False)) if len(set(heads)) > 1), 0)
    return ", ".join([*parts[0][:same], "; ".join(", ".join(part[same:]) for part in parts)])


def section(name: str, rows: list[dict]) -> Iterator[str]:
    """Yields the section of an experiment: its sources, its judged rows, and their readings."""
    yield from ("", f"### {name}", "")
    judged_rows = [line for line in rows if line["kind"] != "context"]
    sources = list(dict.fromkeys(line["source"] for line in judged_rows or rows))
    context = len(rows) - len(judged_rows)
    values = "value" if context == 1 else "values"
    sentence = (f" Context only, without a published value: {context} more {values}." if judged_rows else
                f" Context only, without a published value: {context} {values}.")
    yield f"Source: {cited(sources)}." + (sentence if context else "")
    if judged_rows:
        yield ""
        yield from table(JUDGED, [judged(line) for line in judged_rows], {"published", "measured", "tolerance"})
    readings = dict.fromkeys(line["reading"] for line in judged_rows if line["reading"])
    if readings:
        yield from ("", "Readings:", "")
        yield from (f"- {reading}" for reading in readings)


def page(done: Done, command: str, version: str, full: bool = False, made: str | None = None,
         took: float | None = None) -> Iterator[str]:
    """Yields the lines of the page. command: the command line; made: the day, such as 2026-01-31 (default: today);
    took: seconds of the whole command, which is less than the sum of the experiments' seconds if several ran at a
    time."""
    known = [s for _, s in done.values() if s is not None]
    took = took or sum(known)
    elapsed = f" It took {duration(took)}." if took else ""
    sizes = "in the papers' sizes" if full else "in their default sizes"
    yield from (
        "# Published experiments", "",
        f"`{command}` of flitlab {version} made this page on {made or date.today().isoformat()}. The experiments ran "
        f"{sizes}.{elapsed} A row is of one of three kinds. *published*: a number or a relation that the "
        "source prints, with the value that flitlab measures, which could contradict it; *match*: within the "
        "tolerance of the row, *better*: outside it, on the better side, *out*: outside it. *check*: a value that must "
        "result by construction (a count, a formula, another implementation, an input, the goal of a search); it "
        "*holds* or is *broken*. *context*: a measured value for which the source prints none; these are only "
        "counted.", "")
    yield from summary(done)
    yield from ("", "## Rows that are out", "")
    yield from out(done)
    yield from ("", "## Papers read only as abstracts", "")
    yield from unread(done)
    yield from ("", "## Every judged row")
    for name, (rows, _) in done.items():
        yield from section(name, rows)
