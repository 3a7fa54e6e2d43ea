"""Writes the tables of rates in docs/gpu.md from docs/gpu_h200.json, or compares two reports of tests/gpu/run.sh.

    python tests/tools/gpu_page.py
    python tests/tools/gpu_page.py --compare OLD.json NEW.json
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = DOCS / "gpu.md"
REPORT = DOCS / "gpu_h200.json"
BEGIN = "<!-- {}: written by tests/tools/gpu_page.py -->\n"
END = "<!-- end of {} -->\n"
# Models in the order of the page, with their names there.
MODELS = {"vc": "canonical, lane state", "vc-scalar": "canonical, scalar state", "t3e": "T3E", "bgl": "Blue Gene/L",
          "metro": "METRO", "sconnect": "S-Connect", "adaptive": "adaptive", "bless": "bufferless", "switch": "switch"}
SIZES = ("one", "thousand", "large")


def millions(rate: float) -> str:
    """Returns a rate per second in millions, with three digits."""
    return f"{float(f'{rate / 1e6:.3g}'):,g}"


def ratio(rows: list[dict]) -> str:
    """Returns the lowest and the highest ratio of the GPU's rate to the CPU's, with two digits."""
    ratios = [row["cuda"] / row["cpu"] for row in rows]
    low, high = (f"{float(f'{x:.2g}'):g}" for x in (min(ratios), max(ratios)))
    return low if low == high else f"{low} to {high}"


def is_measured(row: dict) -> bool:
    """Returns whether a row has the rates of a network on both engines."""
    return {"routers", "cuda", "cpu"} <= row.keys()


def rates(rows: list[dict], engine: str) -> str:
    return " / ".join(millions(row[engine]) for row in rows)


def models_table(report: dict) -> list[str]:
    """Returns the table of all models: a line per model and size of the job, with rates by load."""
    lines = ["| model | networks | GPU, at 0.05 / 0.2 / 0.5 | CPU, at 0.05 / 0.2 / 0.5 | GPU : CPU |",
             "|---|---|---|---|---|"]
    for model, name in MODELS.items():
        for size in SIZES:
            prefix = f"model/{model}/{size}/"
            rows = sorted((row for row in report["rates"] if row["name"].startswith(prefix) and is_measured(row)),
                          key=lambda row: row["load"])
            if not rows:
                continue
            unit = "64 ports" if model == "switch" else f"{rows[0]['routers']:,} routers"
            # A small network is not divided among cores.
            cpu = rates(rows, "cpu") + (" (1 core)" if size == "one" else "")
            count = 1000 if size == "thousand" else "one"
            lines.append(f"| {name} | {count} of {unit} | {rates(rows, 'cuda')} | {cpu} | {ratio(rows)} |")
    return lines


def networks_table(report: dict) -> list[str]:
    """Returns the table of the other networks: a line per row of the report."""
    lines = ["| row of the report | routers | networks | GPU | CPU | GPU : CPU |", "|---|---|---|---|---|---|"]
    for row in report["rates"]:
        if "model" not in row and {"routers", "cuda"} <= row.keys():
            cells = (rates([row], "cpu"), ratio([row])) if is_measured(row) else ("-", "-")
            lines.append(f"| {row['name']} | {row['routers']:,} | {row['replicas']} | {rates([row], 'cuda')} "
                         f"| {' | '.join(cells)} |")
    return lines


TABLES: dict[str, Callable[[dict], list[str]]] = {"rates of models": models_table,
                                                  "rates of other networks": networks_table}


def page(text: str, report: dict) -> str:
    """Returns the page's text with its tables made from a report."""
    for name, table in TABLES.items():
        before, begin, rest = text.partition(BEGIN.format(name))
        _, end, after = rest.partition(END.format(name))
        if not begin or not end:
            raise ValueError(f"{PAGE.name}: the lines around the {name} are missing: {BEGIN.format(name)}")
        text = f"{before}{begin}\n" + "\n".join(table(report)) + f"\n\n{end}{after}"
    return text


def comparison(old: dict, new: dict) -> list[str]:
    """Returns a line for each row that both reports have: the new rates divided by the old ones."""
    known = {row["name"]: row for row in old["rates"]}
    lines = [f"{'row':40}   GPU   CPU  (rate of {new['commit']} / rate of {old['commit']})"]
    for row in new["rates"]:
        before = known.get(row["name"], {})
        cells = [f"{row[engine] / before[engine]:5.2f}" if engine in row and engine in before else "    -"
                 for engine in ("cuda", "cpu")]
        if before:
            lines.append(f"{row['name']:40} {cells[0]} {cells[1]}")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compare", nargs=2, metavar=("OLD", "NEW"), type=Path)
    args = parser.parse_args()
    if args.compare:
        print(*comparison(*(json.loads(path.read_text(encoding="utf-8")) for path in args.compare)), sep="\n")
    else:
        report = json.loads(REPORT.read_text(encoding="utf-8"))
        PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), report), encoding="utf-8")


if __name__ == "__main__":
    main()
