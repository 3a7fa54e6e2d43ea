"""The HTML of a report."""

from __future__ import annotations

import html
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flitlab._core import ConfigError, __version__
from flitlab.over_seeds import mean_and_half
from flitlab.records import parameters_of
from flitlab.scope import module_text, style_text

if TYPE_CHECKING:
    from flitlab.curve import Curve
    from flitlab.experiment import Experiment
    from flitlab.reports.runs import Point, Recording, Repeated
    from flitlab.sweep_file import Plan

LOAD, CYCLES = "flits/cycle/terminal", "cycles"
NO_VALUE = "-"
FEW = 2  # state hashes that are shown at once; more can be unfolded

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{style}
</style>
</head>
<body>
{body}
<noscript>Scopes need JavaScript, and JavaScript is switched off.</noscript>
{recordings}
<script type="module">
{module}
</script>
</body>
</html>
"""


@dataclass(frozen=True)
class Contents:
    """The contents of a report. maps: a repeated run and its drawing (SVG), or a sentence why it has none."""

    curve: Curve
    experiment: Experiment
    plan: Plan
    missing: str
    points: Sequence[Point]
    drawing: str
    maps: Sequence[tuple[Repeated, str]]
    recordings: Mapping[int, Recording]


def page_text(contents: Contents) -> str:
    title = f"flitlab: {contents.curve.name or contents.experiment.name}"
    body = "\n".join(_body(contents))
    recordings = "\n".join(f'<script type="text/plain" id="recording-{i}">{recording.text}</script>'
                           for i, recording in sorted(contents.recordings.items()))
    return PAGE.format(title=_text(title), style=f"{_file('report.css')}\n{style_text()}", body=body,
                       recordings=recordings, module=f"{module_text()}\n{_file('report.js')}")


@cache
def _file(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


def _body(contents: Contents) -> Iterator[str]:
    curve, runs = contents.curve, len(contents.curve.rows)
    yield f"<h1>{_text(curve.name or contents.experiment.name)}</h1>"
    yield (f'<p class="about">A sweep of flitlab: {_count(len(contents.points), "point")}, {_count(runs, "run")}. '
           f"{_text(_about(contents))}.</p>")
    if contents.missing:
        yield f'<p class="missing">{_text(contents.missing)}</p>'
    yield "<h2>Configuration</h2>"
    yield from _configuration(contents)
    yield "<h2>Curves</h2>"
    yield from (f"<p>{_text(line)}.</p>" for line in curve.summary())
    yield (f"<figure>{contents.drawing}<figcaption>Means over the seeds of each point. Bands are 95 % confidence "
           "intervals: over the seeds (Student's t), or, with one seed, that of the run's mean latency."
           "</figcaption></figure>")
    yield "<h2>Points</h2>"
    yield ("<p>Latency is the mean over the seeds ± half of its 95 % confidence interval. A saturated point has no "
           'steady latency.<span class="only-screen"> A button opens the router scope, which replays the first cycles '
           "of the measurement window of the point's first run.</span></p>")
    yield from _scope_note(contents)
    yield _table([("", "text", ""), *_key_heads(contents), ("offered", "", LOAD), ("accepted", "", LOAD),
                  ("mean latency", "", CYCLES), ("p99 latency", "", CYCLES), ("saturated", "", "runs"),
                  ("seeds", "", ""), ("state hashes", "text", "")], _point_lines(contents))
    yield '<section id="scope-place" aria-live="polite"></section>'
    yield "<h2>Spread over seeds</h2>"
    yield "<p>Lowest and highest values of the runs of each point. The deviation is the sample standard deviation.</p>"
    yield _table([*_key_heads(contents), ("seeds", "", ""), ("mean latency", "", f"lowest, {CYCLES}"),
                  ("", "", "highest"), ("deviation", "", CYCLES), ("half-width", "", "of the mean"),
                  ("accepted", "", f"lowest, {LOAD}"), ("", "", "highest"), ("p99 latency", "", f"lowest, {CYCLES}"),
                  ("", "", "highest")], _spread_lines(contents))
    yield f"<details><summary>All {runs} runs</summary>"
    yield _table([*_key_heads(contents), ("seed", "", ""), ("offered", "", LOAD), ("accepted", "", LOAD),
                  ("mean latency", "", CYCLES), ("±", "", "of the run"), ("p99 latency", "", CYCLES),
                  ("verdict", "text", ""), ("state hash", "text", "")], _run_lines(contents))
    yield "</details>"
    yield "<h2>Channel use</h2>"
    yield from _maps(contents)


def _about(contents: Contents) -> str:
    """Returns a description of the experiment, without the load if the sweep varies it."""
    about = repr(contents.experiment)[1:-1].partition(": ")[2]
    return about.rpartition(" at ")[0] if "traffic.load" in contents.curve.keys else about


def _scope_note(contents: Contents) -> Iterator[str]:
    if 0 < len(contents.recordings) < len(contents.points):
        yield (f'<p class="only-screen">{len(contents.recordings)} of {len(contents.points)} points have a scope, so '
               "that the file stays small.</p>")


def _key_heads(contents: Contents) -> list[tuple[str, str, str]]:
    records = parameters_of(contents.curve.kind) if contents.curve.kind else {}
    return [(key, "", records.get(key, {}).get("unit", "")) for key in contents.points[0].values]


def _point_lines(contents: Contents) -> Iterator[list[str]]:
    for number, point in enumerate(contents.points):
        runs = [contents.curve.rows[i] for i in point.rows]
        own = runs[0]["latency_ci95"]
        yield [_button(contents, number), *map(_text, point.values.values()), _mean(runs, "offered", 4),
               _mean(runs, "accepted", 4), _mean(runs, "latency_mean", 2, own), _mean(runs, "latency_p99", 1),
               _saturated(runs), str(len(runs)), _hashes([run["state_hash"] for run in runs])]


def _button(contents: Contents, number: int) -> str:
    recording = contents.recordings.get(number)
    if recording is None:
        return ""
    first, last = recording.cycles
    title = f"{contents.points[number].name()}: seed {recording.seed}, cycles {first} to {last}"
    return (f'<button data-recording="recording-{number}" data-title="{_text(title)}" aria-expanded="false" '
            f'aria-label="{_text(f"scope of {contents.points[number].name()}")}">scope</button>')


def _mean(runs: Sequence[Mapping[str, Any]], column: str, digits: int, own: float | None = None) -> str:
    mean, half = mean_and_half([run[column] for run in runs], own)
    if mean != mean:
        return NO_VALUE
    return f"{mean:.{digits}f}" + (f" ± {half:.{digits}f}" if half == half else "")


def _saturated(runs: Sequence[Mapping[str, Any]]) -> str:
    verdicts = [run["verdict"] for run in runs]
    if count := verdicts.count("saturated"):
        return f"{count} of {len(runs)}"
    if "too_short" in verdicts:
        return "not known: window too short"
    return "no; not drained" if "not_drained" in verdicts else "no"


def _hashes(hashes: Sequence[str]) -> str:
    shown = '<span class="hash">' + "<br>".join(map(_text, hashes)) + "</span>"
    return shown if len(hashes) <= FEW else f"<details><summary>{len(hashes)} hashes</summary>{shown}</details>"


def _spread_lines(contents: Contents) -> Iterator[list[str]]:
    for point in contents.points:
        runs = [contents.curve.rows[i] for i in point.rows]
        latencies = [run["latency_mean"] for run in runs]
        known = None not in latencies and len(runs) > 1
        mean, half = mean_and_half(latencies)
        yield [*map(_text, point.values.values()), str(len(runs)), *_ends(latencies, 2),
               f"{statistics.stdev(latencies):.2f}" if known else NO_VALUE,
               f"{100 * half / mean:.2f} %" if known and mean else NO_VALUE,
               *_ends([run["accepted"] for run in runs], 4), *_ends([run["latency_p99"] for run in runs], 1)]


def _ends(values: Sequence[float | None], digits: int) -> list[str]:
    known = [value for value in values if value is not None]
    return [f"{end(known):.{digits}f}" if known else NO_VALUE for end in (min, max)]


def _run_lines(contents: Contents) -> Iterator[list[str]]:
    for point in contents.points:
        for run in (contents.curve.rows[i] for i in point.rows):
            yield [*map(_text, point.values.values()), str(run["run.seed"]), _number(run["offered"], 4),
                   _number(run["accepted"], 4), _number(run["latency_mean"], 2), _number(run["latency_ci95"], 2),
                   _number(run["latency_p99"], 1), _text(run["verdict"].replace("_", " ")),
                   f'<span class="hash">{_text(run["state_hash"])}</span>']


def _maps(contents: Contents) -> Iterator[str]:
    if not contents.maps:
        yield "<p>There is no heat map, because no point is unsaturated.</p>"
        return
    same = sum(one.kept_hash == one.state_hash for one, _ in contents.maps)
    yield (f"<p>A low, a middle and the highest unsaturated point. The report has repeated the first run of each; "
           f"{same} of {len(contents.maps)} state hashes are equal to the kept ones.</p>")
    yield '<div class="maps">'
    for one, drawing in contents.maps:
        where = f"{_text(one.point.name())}, seed {one.seed}"
        equal = (f'State hash <code>{one.state_hash}</code>, equal to the kept one.' if one.kept_hash == one.state_hash
                 else f'<span class="differs">The repeated run differs: state hash <code>{one.state_hash}</code>, kept '
                      f"<code>{one.kept_hash}</code>. Probably another version of flitlab made the sweep.</span>")
        shown = drawing if drawing.startswith("<svg") else f"<p>{_text(drawing)}</p>"
        yield f"<figure>{shown}<figcaption>{where}. {equal}</figcaption></figure>"
    yield "</div>"


def _configuration(contents: Contents) -> Iterator[str]:
    plan, curve = contents.plan, contents.curve
    ran = f"; flitlab {plan.version} ran the sweep" if plan.version else ""
    yield f"<p>flitlab {__version__} made this report{ran}. Seeds: {_text(_seeds(curve, plan))}</p>"
    yield "<p>Parameters that the sweep varies, and parameters that differ from their defaults:</p>"
    flat, records = contents.experiment.flat(), parameters_of(contents.experiment["router.kind"])
    varied = [(path, ", ".join(map(_value, dict.fromkeys(value for (value,) in curve.rows.pick(path)))), "varied")
              for path in curve.keys]
    fixed = [(path, _value(value), _value(records[path]["default"])) for path, value in flat.items()
             if path not in (*curve.keys, "run.seed") and value != records[path]["default"]]
    yield _table([("parameter", "text", ""), ("value", "text", ""), ("default", "text", ""), ("unit", "", "")],
                 ([f"<code>{path}</code>", _text(value), _text(default), _text(records.get(path, {}).get("unit", ""))]
                  for path, value, default in [*varied, *fixed]))
    yield "<p>To repeat the sweep, in its folder:</p>"
    yield f"<pre>{_text(plan.command('experiment.toml', 'again'))}</pre>"
    try:
        toml = contents.experiment.to_toml()
    except ConfigError as error:
        toml = f"# {error}"
    yield f"<details><summary>experiment.toml, with every parameter</summary><pre>{_text(toml)}</pre></details>"


def _seeds(curve: Curve, plan: Plan) -> str:
    seeds = sorted({seed for (seed,) in curve.rows.pick("run.seed")})
    consecutive = len(seeds) > 2 and seeds[-1] - seeds[0] == len(seeds) - 1
    listed = f"{seeds[0]} to {seeds[-1]}" if consecutive else ", ".join(map(str, seeds))
    if plan.until is None:
        return f"{listed}."
    return (f"{listed}; points got seeds until half of the interval was at most {100 * plan.until:g} % of the mean "
            f"latency, or {plan.most_seeds} seeds were used.")


def _table(heads: Sequence[tuple[str, str, str]], lines: Iterable[Sequence[str]]) -> str:
    """Returns a table. heads: name, class and unit of each column; lines: cells in HTML."""
    head = "".join(f'<th class="{kind}">{_text(name)}{f"<small>{_text(unit)}</small>" if unit else ""}</th>'
                   for name, kind, unit in heads)
    rows = "\n".join("<tr>" + "".join(f'<td class="{kind}">{cell}</td>' for cell, (_, kind, _) in
                                      zip(line, heads, strict=True)) + "</tr>" for line in lines)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>\n{rows}\n</tbody></table></div>'


def _value(value: Any) -> str:
    return value if isinstance(value, str) else repr(value)


def _number(value: float | None, digits: int) -> str:
    return NO_VALUE if value is None else f"{value:.{digits}f}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _text(value: Any) -> str:
    return html.escape(str(value))
