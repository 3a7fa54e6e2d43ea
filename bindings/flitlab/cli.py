"""The command line. Exit codes: 2: bad input (one line on stderr); 3: a failed run (deadlock); 130: interrupted."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import time
import warnings
from pathlib import Path

from flitlab import _core
from flitlab._core import ConfigError, RunError
from flitlab.arguments import check_threads, did_you_mean, on_command_line
from flitlab.cli_words import Parser
from flitlab.more_seeds import MOST_SEEDS


def _experiment(args):
    from flitlab.experiment import load
    from flitlab.settings import settings_of

    experiment = load(args.config)
    settings = settings_of(args.set, args.unset)
    if getattr(args, "seed", None) is not None:
        settings["run.seed"] = args.seed
    return experiment.set(settings) if settings else experiment


def _run(args) -> int:
    from flitlab.runner import run_keeping

    result = run_keeping(_experiment(args), args.backend, args.threads, args.checkpoint, args.every,
                         progress=sys.stderr.isatty())
    print(json.dumps(result.to_dict()) if args.json else repr(result), flush=True)
    if args.checkpoint:
        Path(args.checkpoint).unlink(missing_ok=True)  # removed only after the result has been printed
    return 0


def _executor(file: str | None):
    """Returns a context manager that starts the workers of a cluster file; without a file, one that gives None."""
    from flitlab.clusters import cluster

    return cluster(file) if file is not None else contextlib.nullcontext()


def _sweep(args) -> int:
    from flitlab.sweeps import parse_over, sweep

    started = time.monotonic()
    over: dict = {}
    for text in args.over:
        key, values = parse_over(text)
        if key in over:
            raise ConfigError(f"--over {text}: {key} is given twice; put all its values into one --over.")
        over[key] = values
    with _executor(args.cluster) as executor:
        curve = sweep(_experiment(args), over, args.seeds, args.out, args.resume, args.backend, args.threads, executor,
                      until=args.until, most_seeds=args.most_seeds)
    print(curve)
    for line in curve.summary():
        print(line)
    if args.out:
        print(f"{args.out}/curve.csv, {args.out}/curve.png, {args.out}/experiment.toml written", end=" ")
    print(f"in {time.monotonic() - started:.1f} s")
    return 0


def _plot(args) -> int:
    from flitlab.curve import Curve
    from flitlab.plots import save_curves
    from flitlab.styles import style

    labels = args.labels.split(",") if args.labels else args.dirs
    if len(labels) != len(args.dirs):
        raise ConfigError(f"--labels {args.labels}: {len(labels)} names for {len(args.dirs)} curves; give one name for "
                          "each curve.")
    curves = [Curve.read(folder) for folder in args.dirs]
    with style(args.style) if args.style else contextlib.nullcontext():
        save_curves(curves, args.out, labels)
    print(f"{args.out} written")
    return 0


def _report(args) -> int:
    from flitlab.reports.write import write_report

    written = write_report(args.dir, args.out, progress=True)
    equal = written.heat_maps - written.differing
    print(f"{written.path} written: points: {written.points}, runs: {written.runs}, scopes: {written.scopes}, heat "
          f"maps: {written.heat_maps} (state hashes equal to the kept ones: {equal} of {written.heat_maps})")
    if written.missing:
        print(written.missing)
    return 0


def _reproduce(args) -> int:
    from flitlab.reproduce_command import main

    return main(args.names, args.list, args.json, args.full, args.keep, args.markdown, args.jobs, args.update)


def _import(args) -> int:
    from flitlab.experiment import translated_booksim

    out = Path(args.out)
    if out.exists() and out.samefile(args.file):
        raise ConfigError(f"import: {args.out} is the file to translate; give another name for the result.")
    experiment, notes = translated_booksim(args.file, changes=args.changes)
    experiment.save(out)
    lines = [f"# Translated from {Path(args.file).name}, a configuration of BookSim 2. What differs (docs/booksim.md):",
             *(f"# - {note}" for note in notes)]
    out.write_text("\n".join(lines) + "\n\n" + out.read_text(encoding="utf-8"), encoding="utf-8")
    print(f"{out} written")
    return 0


def _inspect(args) -> int:
    from flitlab.records import parameters_of, totals_of, with_unit

    experiment = _experiment(args)
    flat, derived = experiment.flat(), experiment.derived()
    kind = flat["router.kind"]
    records, totals = parameters_of(kind), totals_of(kind)
    if args.json:
        print(json.dumps({"config": flat, "derived": derived, "forms": experiment.forms(), "totals": totals}))
        return 0
    for path, value in flat.items():
        print(f"{path:<32} {json.dumps(value):<24} {with_unit(records[path])}")
    print("\nDerived numbers:")
    for name, value in derived.items():
        print(f"{name:<32} {value:g}" if isinstance(value, float) else f"{name:<32} {value}")
    print("\nForm of the state on each engine (lanes are fast; in brackets the parameter that excludes them):")
    for engine, form in experiment.forms().items():
        print(f"{engine:<32} {form}")
    print("\nTotals that networks count (net.totals):")
    for total in totals:
        print(f"{total['name']:<32} {with_unit(total)}")
    return 0


def _trace(args) -> int:
    from flitlab.tracing import write_trace

    count = write_trace(_experiment(args), args.cycles, args.format, args.out, args.routers)
    print(f"{count} events written to {args.out}")
    return 0


def _bench(args) -> int:
    from flitlab.bench import main

    return main(args)


def _doctor(args) -> int:
    from flitlab.doctor import report

    if not args.config and (args.set or args.unset):
        raise ConfigError("doctor: --set and --unset change a configuration: name it, as in "
                          "`flitlab doctor vc-mesh-8x8 --set router.vcs=8`.")
    print(report(_experiment(args) if args.config else None))
    return 0


def _configs(args) -> int:
    from flitlab import shipped

    if not args.name:
        for name, text in shipped.listing():
            print(f"{name:<26} {text}")
        return 0
    path = shipped.path_of(args.name)
    if path is None:
        raise ConfigError(f"flitlab includes no configuration {args.name}."
                          f"{did_you_mean(args.name, shipped.configs())} `flitlab configs` lists them.")
    print(path.read_text(encoding="utf-8"), end="")
    return 0


def _notebooks(args) -> int:
    from importlib.util import find_spec

    from flitlab import shipped
    from flitlab.textbook.notebooks import notebook_texts

    files = shipped.copy_notebooks(Path(args.dir), notebook_texts())
    print(f"{len(files)} notebooks are in {args.dir}. Open the first one:\n")
    if find_spec("jupyterlab") is None:
        print("    pip install 'flitlab[notebook]'")
    print(f"    jupyter lab {files[0]}")
    return 0


def _reference(args: argparse.Namespace) -> int:
    from flitlab.reference import page

    print(page(), end="")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="flitlab", description="Lockstep emulation of interconnection networks.")
    parser.add_argument("--version", action="version", version=f"flitlab {_core.__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def changes(sub):
        sub.add_argument("--set", action="append", default=[], metavar="KEY=VALUE",
                         help="change a parameter, e.g. traffic.load=0.3 (repeatable); relative file names refer to "
                              "the current directory")
        sub.add_argument("--unset", action="append", default=[], metavar="KEY",
                         help="remove a parameter from the configuration, e.g. traffic.load for a batch (repeatable)")

    def command(name, function, help_text, config=True, engine=False):
        sub = commands.add_parser(name, help=help_text, description=help_text)
        sub.set_defaults(function=function)
        if config:
            sub.add_argument("config", metavar="CONFIG",
                             help="configuration: a TOML file, the name of one that `flitlab configs` lists, or a file "
                                  "of BookSim 2")
            changes(sub)
        if engine:
            sub.add_argument("--backend", choices=["auto", "cpu", "cuda"], default="auto",
                             help="engine (auto: estimates the faster one from the size of the run)")
            sub.add_argument("--threads", type=int, default=0, metavar="N", help="CPU threads (default: one per core)")
        return sub

    sub = command("run", _run, "Run one experiment: warm-up, measurement, drain.", engine=True)
    sub.add_argument("--seed", type=int, metavar="N", help="seed of all randomness (run.seed)")
    sub.add_argument("--json", action="store_true", help="print one JSON object")
    sub.add_argument("--checkpoint", metavar="FILE",
                     help="continue from FILE if it exists; save the run there regularly and when interrupted")
    sub.add_argument("--every", type=float, default=60.0, metavar="SECONDS",
                     help="seconds between checkpoints (default 60)")

    sub = command("sweep", _sweep, "Run all combinations of parameter values and draw the curves.", engine=True)
    sub.add_argument("--over", action="append", required=True, metavar="KEY=VALUES",
                     help="values START:STOP:STEP or a,b,c of a parameter (repeatable: all combinations); "
                          "traffic.load=adaptive:LOW:HIGH refines loads near saturation")
    sub.add_argument("--seeds", type=int, default=1, metavar="N", help="runs per point, one per seed (default 1)")
    sub.add_argument("--until", type=float, metavar="X",
                     help="add seeds to each point until half of the 95 %% confidence interval of its mean latency "
                          "over the seeds is at most X times the mean; 0.02 for 2 %%")
    sub.add_argument("--most-seeds", type=int, default=MOST_SEEDS, metavar="N",
                     help=f"largest number of seeds that --until may use for a point (default {MOST_SEEDS})")
    sub.add_argument("--out", metavar="DIR",
                     help="folder for curve.csv, curve.png, points.jsonl, experiment.toml, sweep.json")
    sub.add_argument("--resume", action="store_true", help="keep the finished points in --out and run only the others")
    sub.add_argument("--cluster", metavar="FILE",
                     help="run the points on workers described by a TOML file: a Slurm queue, machines reached by SSH "
                          "and others (docs/clusters.md)")

    sub = command("plot", _plot, "Draw the curves of sweeps into one picture.", config=False)
    sub.add_argument("dirs", nargs="+", metavar="DIR", help="folder of a sweep, or a CSV or Parquet file of a curve")
    sub.add_argument("--out", default="curves.png", metavar="FILE",
                     help="the picture: .png, .svg or .pdf (default curves.png)")
    sub.add_argument("--labels", metavar="A,B", help="names in the legend (default: the folders' names)")
    sub.add_argument("--style", metavar="NAME", help="ieee: for a column of a two-column paper")

    sub = command("report", _report, "Write a report of a sweep as one HTML file: curves, tables over seeds, heat "
                  "maps, and a router scope for each point.", config=False)
    sub.add_argument("dir", metavar="DIR", help="folder of a sweep, which may be unfinished")
    sub.add_argument("--out", "-o", metavar="FILE", help="the report (default report.html in DIR)")

    sub = command("reproduce", _reproduce, "Run published experiments and compare with the source.", config=False)
    sub.add_argument("names", nargs="*", metavar="NAME",
                     help="name of an experiment, or the beginning of names, e.g. t3e (default: all)")
    sub.add_argument("--list", action="store_true", help="list the experiments")
    sub.add_argument("--full", action="store_true",
                     help="run at the paper's size where the default is smaller; continue a run when started again")
    sub.add_argument("--keep", metavar="DIR", default="out/reproduce",
                     help="folder for intermediate results of --full (default out/reproduce)")
    sub.add_argument("--jobs", type=int, default=0, metavar="N",
                     help="experiments at a time (default: one per core)")
    form = sub.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print the rows as one JSON list")
    form.add_argument("--markdown", action="store_true", help="print a page of tables (docs/published.md)")
    form.add_argument("--update", metavar="FILE", help="replace the experiments in a page that --markdown printed")

    sub = command("import", _import, "Translate a configuration of BookSim 2 to TOML.", config=False)
    sub.add_argument("file", metavar="FILE", help="configuration of BookSim 2")
    sub.add_argument("changes", nargs="*", metavar="NAME=VALUE", help="further statements, as for BookSim")
    sub.add_argument("--out", "-o", required=True, metavar="FILE", help="output file")

    sub = command("inspect", _inspect, "Show all parameters of a configuration and the numbers derived from them.")
    sub.add_argument("--json", action="store_true", help="print one JSON object")

    sub = command("trace", _trace, "Write the events of a range of cycles to a file.")
    sub.add_argument("--cycles", required=True, metavar="A:B", help="first cycle, and the cycle after the last")
    sub.add_argument("--format", choices=["vcd", "pftrace", "perfetto", "jsonl"], required=True,
                     help="VCD (waveforms), Perfetto as protocol buffers (pftrace, small) or JSON, or JSON lines")
    sub.add_argument("--out", required=True, metavar="FILE", help="output file")
    sub.add_argument("--routers", metavar="LIST", help="routers and their terminals, e.g. 0,5,9-12 (default: all)")

    sub = commands.add_parser("bench", help="Measure router-cycles per second.",
                              description="Measure router-cycles per second.")
    sub.set_defaults(function=_bench)
    sub.add_argument("config", nargs="?", metavar="CONFIG", help="configuration, a TOML file (default: an 8x8x8 torus)")
    changes(sub)
    sub.add_argument("--cycles", type=int, default=0, metavar="N", help="cycles per measurement (default: about 1 s)")
    sub.add_argument("--sweep", type=int, nargs="?", const=64, default=0, metavar="RUNS",
                     help="time a whole sweep of RUNS runs (default 64) from start to results, host work included, at "
                          "loads of 0.25, 0.5 and 0.85 of the load bound, or 0.05, 0.25 and 0.45 if the model has none")
    sub.add_argument("--json", action="store_true", help="print one JSON list")

    sub = command("configs", _configs, "List the configurations that come with flitlab, or print one.", config=False)
    sub.add_argument("name", nargs="?", metavar="NAME", help="print this configuration, for example into a file")
    sub = command("notebooks", _notebooks, "Write the notebooks, and the textbook as notebooks, into a folder.",
                  config=False)
    sub.add_argument("dir", nargs="?", default="notebooks", metavar="DIR", help="the folder (default notebooks)")
    command("reference", _reference, "Print every parameter, total and operation of every model as a Markdown page.",
            config=False)
    sub = command("doctor", _doctor, "Show the version, the backends and the devices; for a configuration also whether "
                  "its network has lanes, the fast form of the state, and otherwise the parameter that excludes them.",
                  config=False)
    sub.add_argument("config", nargs="?", metavar="CONFIG", help="configuration: a TOML file, or the name of one that "
                                                                 "`flitlab configs` lists")
    changes(sub)
    return parser


class OutputError(Exception):
    """The standard output cannot be written."""


class _Output:
    """The standard output. Its errors become OutputError, so that they differ from errors of other files."""

    def __init__(self, stream):
        self._stream = stream

    def write(self, text: str) -> int:
        return self._try("write", text)

    def flush(self) -> None:
        self._try("flush")

    def _try(self, what: str, *arguments):
        if self._stream is None:  # closed before Python started
            raise OutputError("it is closed")
        try:
            return getattr(self._stream, what)(*arguments)
        except (OSError, ValueError) as error:
            # The interpreter flushes the buffer at exit. Without this step it would report the same error a second
            # time.
            with contextlib.suppress(OSError, ValueError, AttributeError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())
            raise OutputError(getattr(error, "strerror", None) or str(error)) from None

    def __getattr__(self, name: str):
        return getattr(self._stream, name)


def main(argv: list[str] | None = None) -> int:
    words = on_command_line.set(True)
    try:
        Parser.words = list(sys.argv[1:] if argv is None else argv)
        args = _parser().parse_args(argv)
        with warnings.catch_warnings(), contextlib.redirect_stdout(_Output(sys.stdout)):
            warnings.showwarning = lambda message, *_: print(f"flitlab: warning: {message}", file=sys.stderr)
            return _guarded(args)
    finally:
        on_command_line.reset(words)


def _guarded(args: argparse.Namespace) -> int:
    """Runs a command; turns exceptions into a message and an exit code, which it returns."""
    try:
        if hasattr(args, "threads"):  # check threads before the command reads or writes any file
            check_threads(args.threads)
        status = args.function(args)
        sys.stdout.flush()
        return status
    except ConfigError as error:
        print(f"flitlab: {error}", file=sys.stderr)
        return 2
    except RunError as error:
        print(f"flitlab: {error}", file=sys.stderr)
        return 3
    except MemoryError:
        print("flitlab: not enough memory for this configuration.", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"flitlab: interrupted.{_saved_progress_of(args)}", file=sys.stderr)
        return 130
    except OutputError as error:
        print(f"flitlab: the standard output cannot be written: {error}.{_saved_progress_of(args)}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"flitlab: {error.filename or 'a file'}: {error.strerror}.{_saved_progress_of(args)}", file=sys.stderr)
        return 2


def _saved_progress_of(args: argparse.Namespace) -> str:
    """Returns a sentence on where an interrupted command has saved its progress; "" if it has not."""
    if args.command == "sweep" and args.out and (Path(args.out) / "points.jsonl").exists():
        from flitlab.under_way import saved_progress

        return f" F{saved_progress(Path(args.out))[1:]}."
    if getattr(args, "full", False):
        return f" The progress is saved in {args.keep}; the same command continues from there."
    if getattr(args, "checkpoint", None) and Path(args.checkpoint).exists():
        return f" The run so far is saved in {args.checkpoint}; the same command continues from there."
    return ""


if __name__ == "__main__":
    sys.exit(main())
