"""The program flitlab-booksim: BookSim 2's command line, its output and its exit codes, with flitlab's network.

Exit codes: 255: a stable simulation, or a configuration that BookSim rejects, too; 0: an unstable simulation, or no
configuration; 2: a configuration that flitlab cannot express; 3: a failed run (deadlock); 130: interrupted.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from pathlib import Path

import numpy as np

from flitlab._core import ConfigError, RunError
from flitlab.booksim import rapidchiplet
from flitlab.booksim.batch import Batches, BatchSimulation
from flitlab.booksim.defaults import DEFAULTS, RAPIDCHIPLET
from flitlab.booksim.generation import Process, Rejected, Sizes, injection, pattern
from flitlab.booksim.heading import heading
from flitlab.booksim.message_types import MessageTypes, message_types
from flitlab.booksim.networks import routing_differences, terminals
from flitlab.booksim.phases import Rules, Simulation
from flitlab.booksim.report import Overall
from flitlab.booksim.samples import shown
from flitlab.booksim.settings import Settings
from flitlab.booksim.sources import ClassOfPackets, Sources
from flitlab.booksim.statements import Value, read
from flitlab.booksim.stats_file import writer
from flitlab.booksim.stepwise import StepwiseSources
from flitlab.booksim.trace import TraceSimulation
from flitlab.booksim.traffic import sizes
from flitlab.booksim.translation import hardware, not_pipelined, refuse_unused
from flitlab.experiment import Experiment
from flitlab.toml import read_text

PARAMETERS = {**DEFAULTS, **RAPIDCHIPLET}
_LARGEST_BUFFER = 255
_CREDIT_CYCLES = 2  # without credit_delay, from the arrival of a flit until its credit is back
_BOOKSIMS_ERROR = 255
_STABLE = 255
_UNSTABLE = 0


def _print(lines: list[str]) -> None:
    print("\n".join(lines), flush=True)


def main(argv: list[str] | None = None) -> int:
    """Runs the program; returns its exit code."""
    arguments = sys.argv[1:] if argv is None else argv
    try:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_: print(f"flitlab-booksim: warning: {message}", file=sys.stderr)
            return _run(arguments)
    except Rejected as error:
        return _failed(error, _BOOKSIMS_ERROR)
    except ConfigError as error:
        return _failed(error, 2)
    except RunError as error:
        return _failed(error, 3)
    except MemoryError:
        return _failed("not enough memory for this configuration.", 2)
    except KeyboardInterrupt:
        return _failed("interrupted.", 130)
    except BrokenPipeError:
        # The interpreter flushes the buffer at exit. Without this step it would report the error again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _failed(message: object, status: int) -> int:
    sys.stdout.flush()
    print(f"flitlab-booksim: {message}", file=sys.stderr)
    return status


def _run(arguments: list[str]) -> int:
    statements, file = _statements(arguments)
    if file is None:
        print("Usage: flitlab-booksim configfile... [param=value...]", file=sys.stderr)
        return 0
    settings = Settings(statements, file, PARAMETERS)
    if settings.value("mode"):  # RapidChiplet gives up a design at the first text on stderr
        warnings.simplefilter("ignore")
    try:
        return _STABLE if _simulate(settings, file) else _UNSTABLE
    except RunError:
        if settings.value("mode") != "traffic":
            raise
        # The packets of a routing table can deadlock. BookSim's latency then rises past its limit.
        _print(["Simulation unstable, ending ..."])
        return _UNSTABLE


def _statements(arguments: list[str]) -> tuple[list[tuple[str, Value]], str | None]:
    """Reads the files and statements of a command line, and prints them as BookSim does. Returns all statements, and
    the last file's name."""
    statements: list[tuple[str, Value]] = []
    file = None
    for argument in arguments:
        try:
            if "=" in argument:
                _print([f"OVERRIDE Parameter: {argument}"])
                statements += read(f"{argument};", argument, PARAMETERS)
            elif not argument.startswith("-"):
                text = read_text(Path(argument), argument)
                statements += read(text, argument, PARAMETERS)
                # BookSim prints the last character of a file twice.
                print(f"BEGIN Configuration File: {argument}\n{text}{text[-1:]}", end="")
                _print([f"END Configuration File: {argument}"])
                file = argument
        except ConfigError as error:
            raise Rejected(str(error)) from None
    return statements, file


def _simulate(settings: Settings, file: str) -> bool:
    """Runs ``sim_count`` simulations and prints their results. Returns whether they were stable."""
    seed = _seed(settings)
    number = settings.whole("classes", 1)
    types = message_types(settings, number)
    experiment = network_of(settings, file, seed)
    nodes = int(experiment.derived()["terminals"])
    places = terminals(settings, np.arange(nodes))
    rng = np.random.default_rng(seed)
    trace = rapidchiplet.trace(settings, nodes, Path(file).parent)
    classes = classes_of(settings, nodes, number, rng)
    rules, batches = _rules(settings, number), _batches(settings, types)
    simulations = settings.whole("sim_count", 1)
    with_csv = bool(settings["print_csv_results"])
    refuse_unused(settings, file)
    lines = heading(settings, file, Path(file).parent)
    if settings["seed"] == "time":
        lines.append(f"SEED: seed={seed}")
    if lines:
        _print(lines)
    overall = [Overall() for _ in classes]
    write = writer(settings, _print)
    batch_times = np.zeros(3)
    started = time.monotonic()
    stable = True
    for _ in range(simulations):
        sources = (Sources(experiment, classes, places, rng, patient=batches is None and not rules.by_latency)
                   if types.stepping is None else StepwiseSources(experiment, classes, places, rng, types.stepping))
        simulation: Simulation
        if trace is not None:
            simulation = TraceSimulation(sources, rules, _print, write, trace)
        elif batches is not None:
            simulation = BatchSimulation(sources, rules, _print, write, batches)
        else:
            simulation = Simulation(sources, rules, _print, write)
        if not simulation.single():
            _print(["Simulation unstable, ending ..."])
            stable = False
            break
        simulation.finish()
        simulation.add_to(overall)
        if isinstance(simulation, BatchSimulation):
            batch_times += [simulation.durations.minimum, simulation.durations.average, simulation.durations.maximum]
    if stable:
        _print(["====== Overall Traffic Statistics ======"])
        for kind, (total, measured) in enumerate(zip(overall, rules.measured, strict=True)):
            if measured:
                _print(total.lines(kind))
                if isinstance(simulation, TraceSimulation):
                    _print([f"Total cycles until trace completion = {simulation.runtime}"])
        values = overall[0].values()
        if batches is not None:
            times = (batch_times / simulations).tolist()
            values += times
            # BookSim has one label for the minimum, the mean and the maximum.
            _print([f"Overall min batch duration = {shown(value)} ({simulations} samples)" for value in times])
        if with_csv:
            _print([_csv_line(kind, classes[0], types.with_replies[0], values) for kind in range(number)])
    _print([f"Total run time {shown(time.monotonic() - started)}"])
    return stable


def _csv_line(kind: int, first: ClassOfPackets, with_replies: bool, values: list[float]) -> str:
    """BookSim prints the values of the first class for every class."""
    return f"results:{kind}," + ",".join([first.name, str(int(with_replies)), *map(shown, [first.rate, *values])])


def network_of(settings: Settings, file: str, seed: int = 0) -> Experiment:
    """Returns the network, with packets that this program creates."""
    path = Path(file)
    values, texts = hardware(settings, file, path.parent)
    # flitlab accepts larger buffers only if it knows that packets are long, and a program may offer short ones.
    if values["router.buffer_flits"] > _LARGEST_BUFFER:
        warnings.warn(f"buffers of {values['router.buffer_flits']} flits are simulated as {_LARGEST_BUFFER}.",
                      stacklevel=2)
        values["router.buffer_flits"] = _LARGEST_BUFFER
    for stage, cycles in not_pipelined(settings).items():
        warnings.warn(f"{stage} of {cycles} cycles: flits wait for one another in this stage of BookSim, and flitlab "
                      "has a pipeline.", stacklevel=2)
    for difference in routing_differences(settings, values):
        warnings.warn(f"{difference}.", stacklevel=2)
    types = message_types(settings, settings.whole("classes", 1))
    values |= {"traffic.mode": "host", "run.seed": seed} | types.values
    rapidchiplet.check(settings, file)
    try:
        experiment = Experiment(values, str(path.parent), path.stem, texts)
        return rapidchiplet.with_table(experiment, settings, file, path.parent)
    except ConfigError as error:
        raise ConfigError(f"{file}, translated from BookSim's parameters: {error}") from None


def _seed(settings: Settings) -> int:
    given = settings["seed"]
    if given == "time":
        return time.time_ns() % 2**31
    return given % 2**32 if isinstance(given, int) else settings.whole("seed")


def classes_of(settings: Settings, nodes: int, number: int, rng: np.random.Generator) -> list[ClassOfPackets]:
    """Returns how the nodes create the packets of each class. Raises ConfigError."""
    types = message_types(settings, number)
    texts = {name: settings.of_classes(name, number) for name in ("traffic", "injection_process")}
    made = []
    for kind, rate in enumerate(settings.numbers("injection_rate", number)):
        lengths, weights = zip(*sizes(settings, kind, number), strict=True)
        of_class = Sizes(np.array(lengths), np.array(weights, float))
        if settings["injection_rate_uses_flits"]:
            rate /= types.mean_flits(kind, of_class.mean)
        process: Process
        name, process_name = texts["traffic"][kind], texts["injection_process"][kind]
        if name == process_name == "custom":
            process, drawn = rapidchiplet.traffic(settings, nodes, rate, Path(settings.called).parent)
        else:
            process = injection(process_name, settings, nodes, rate, rng)
            drawn = pattern(name, settings, nodes, rng)
        made.append(ClassOfPackets(name, rate, process, drawn, of_class))
    return made


def _batches(settings: Settings, types: MessageTypes) -> Batches | None:
    packets, batches, outstanding = (settings.whole(name, least) for name, least in
                                     (("batch_size", 1), ("batch_count", 1), ("max_outstanding_requests", -999999999)))
    if settings["sim_type"] != "batch":
        return None
    if len(types.with_replies) > 1 or types.stepping is not None:
        raise ConfigError(f"{settings.called}: sim_type = batch is not translated with several classes, "
                          "use_read_write, subnets or include_queuing = 0.")
    return Batches(packets, batches, outstanding)


def _rules(settings: Settings, number: int) -> Rules:
    kind = str(settings["sim_type"])
    if kind not in ("latency", "throughput", "batch"):
        raise Rejected(f"{settings.called}: sim_type = {kind} is not one of BookSim 2's: latency, throughput, batch.")
    settings.use("burst_alpha", "burst_beta", "burst_r1")

    def limits(name: str) -> list[float]:
        return [float(text) for text in settings.of_classes(name, number)]

    return Rules(settings.whole("sample_period", 1), settings.whole("max_samples"),
                 settings.whole("warmup_periods", -999999999), kind == "latency",
                 _CREDIT_CYCLES + settings.whole("credit_delay"), bool(settings["stats_out"]),
                 not rapidchiplet.starts_measured(settings),
                 [text != "0" for text in settings.of_classes("measure_stats", number)], limits("latency_thres"),
                 limits("warmup_thres"), limits("acc_warmup_thres"), limits("stopping_thres"),
                 limits("acc_stopping_thres"))


if __name__ == "__main__":
    sys.exit(main())
