"""flitlab-booksim beside BookSim 2 on random files (tests/support/booksim_files.py), for compare_booksim.py --random.

Each file is run as it is, and with other loads: nearly none, where latencies of pairs of nodes must be equal; half of
the accepted load at saturation, where the mean packet latencies must be; and past saturation, where the accepted rates
must be. Means of a few seeds agree if their 95 % confidence intervals overlap or if they differ by at most 3 % (rates:
5 %). Means that do not agree are computed again with other and more seeds before they count as a difference. Its cause
is then searched for: the parameter without which they agree.
"""

import contextlib
import io
import math
import re
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import scipy.stats

from flitlab.booksim import program

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from booksim_files import LINKS, RandomFile, random_file

CONFIG = "c"
SEEDS, MORE_SEEDS = 5, 15
LATENCY_LIMIT, RATE_LIMIT = 0.03, 0.05
FRACTIONS = (0.5, 0.25, 0.12, 0.06, 0.03)  # of the load that is accepted at saturation
SHOWN_AFTER = 40  # files
TIMEOUT = 15  # seconds, for BookSim
ZERO_TRIES = 5
QUIET_CYCLES = 60  # between packets, without load; channels of the dragonfly are so much longer:
DRAGONFLY = 6
# Without these, nothing decides when a simulation ends but the number of sample periods.
FIXED = ["stopping_thres={-1.0}", "acc_stopping_thres={-1.0}", "sim_count=1", "print_csv_results=0"]
MIDDLE = ["sim_type=latency", "sample_period=1000", "warmup_periods=1", "max_samples=6", *FIXED]
SATURATED = ["sim_type=throughput", "sample_period=600", "warmup_periods=2", "max_samples=6",
             "injection_process=bernoulli", "latency_thres={-1.0}", *FIXED]
ZERO = ["sim_type=latency", "warmup_periods=1", "max_samples=6", "injection_process=bernoulli",
        "latency_thres={-1.0}", "pair_stats=1", "stats_out=out.m", *FIXED]
# What docs/booksim.md names as differences: the parameter of a file, and the statement without it.
WITHOUT = {
    "routing_delay": "1", "st_final_delay": "1", "st_prepare_delay": "0", "vc_alloc_delay": "1", "sw_alloc_delay": "1",
    "credit_delay": "1",
    "routing_function": {"mesh": "dor", "torus": "dim_order", "fattree": "nca"}, "priority": "none",
    "sw_allocator": "islip", "speculative": "0", "wait_for_tail_credit": "0", "internal_speedup": "1.0",
    "num_vcs": {"dragonflynew": "2"}, "classes": "1",
}


@dataclass
class Outcome:
    status: int | str
    out: str
    errors: str

    @property
    def stable(self) -> bool:
        return "Overall Traffic Statistics" in self.out

    def means(self, name: str) -> list[float]:
        """Returns a statistic's mean for each class of packets."""
        return [float(value) for value in re.findall(rf"^{name} average = (\S+) \(", self.out, re.MULTILINE)]

    def reason(self) -> str:
        """Returns why the program failed, without the numbers of this file."""
        found = re.search(r"(\w+\.cpp:\d+): .*Assertion `(.*)' failed", self.errors)
        if found:
            return f"assertion {found[1]}: {found[2]}"
        if self.status == "timeout":
            return "does not end"
        text = self.errors.removeprefix("flitlab-booksim: ").removeprefix(f"{CONFIG}: ")
        return text.split(" is not ")[0].strip()[:100] or f"exit status {self.status}"


@dataclass
class Totals:
    """Counts for the summary. ``size``: the quotient of each comparison of means, less 1."""

    results: dict[str, Counter] = field(default_factory=lambda: {
        name: Counter() for name in ("files", "as it is", "zero load", "middle", "saturated", "batch")})
    sizes: dict[str, list[float]] = field(default_factory=lambda: {"middle": [], "saturated": [], "batch": []})

    def show(self) -> None:
        for name, counts in self.results.items():
            for what, number in counts.most_common():
                print(f"| {name} | {what} | {number} |")
        for name, values in self.sizes.items():
            if values:
                ordered = sorted(map(abs, values))
                print(f"| {name} | median and largest difference, mean of differences "
                      f"| {statistics.median(ordered):.2%}, {ordered[-1]:.1%}, {statistics.mean(values):+.2%} |")


class File:
    """A file in a folder, with both programs."""

    def __init__(self, binary: str, made: RandomFile, folder: Path):
        self.binary, self.made, self.folder = str(Path(binary).resolve()), made, folder
        (folder / CONFIG).write_text(made.text())
        (folder / LINKS).write_text(made.links)

    def theirs(self, arguments: Iterable[str]) -> Outcome:
        try:
            done = subprocess.run([self.binary, CONFIG, *arguments], cwd=self.folder, capture_output=True, text=True,
                                  timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            return Outcome("timeout", "", "")
        return Outcome(done.returncode, done.stdout, done.stderr)

    def ours(self, arguments: Iterable[str]) -> Outcome:
        """Runs the program in this process, which takes less time than starting it."""
        out, errors = io.StringIO(), io.StringIO()
        with contextlib.chdir(self.folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
            status = program.main([CONFIG, *arguments])
        return Outcome(status, out.getvalue(), errors.getvalue())

    def loads(self, load: float, classes: int | None = None) -> list[str]:
        """Returns statements for a load in flits per cycle and node, of which each class has an equal part."""
        number = classes or self.made.classes
        return ["injection_rate_uses_flits=1", f"injection_rate={{{','.join([f'{load / number:.6g}'] * number)}}}"]


def agree(ours: list[float], theirs: list[float], limit: float) -> bool:
    """Returns whether means over seeds agree."""
    difference = abs(statistics.mean(ours) - statistics.mean(theirs))
    half = 0.0
    for values in (ours, theirs):
        if len(values) > 1:
            half += float(scipy.stats.t.ppf(0.975, len(values) - 1)) * statistics.stdev(values) / math.sqrt(len(values))
    return difference <= max(limit * statistics.mean(theirs), half)


@dataclass
class Means:
    """The means of each class of packets over seeds, in both programs, or why there are none."""

    ours: list[list[float]]
    theirs: list[list[float]]
    failed: str = ""

    def agree(self, limit: float) -> bool:
        return not self.failed and all(agree(*pair, limit) for pair in zip(self.ours, self.theirs, strict=True))

    def differences(self) -> list[float]:
        return [statistics.mean(a) / statistics.mean(b) - 1 if statistics.mean(b) else 0.0
                for a, b in zip(self.ours, self.theirs, strict=True)]

    def __str__(self) -> str:
        if self.failed:
            return self.failed
        return ", ".join(f"BookSim {statistics.mean(b):.4g}, flitlab {statistics.mean(a):.4g} "
                         f"({statistics.mean(a) / statistics.mean(b) - 1:+.1%})"
                         for a, b in zip(self.ours, self.theirs, strict=True) if statistics.mean(b))


def means(file: File, arguments: list[str], seeds: Iterable[int], of: Callable[[Outcome], list[float]]) -> Means:
    """Returns the means of both programs with these arguments."""
    found: tuple[list[list[float]], list[list[float]]] = ([], [])
    for seed in seeds:
        for run, values in zip((file.theirs, file.ours), reversed(found), strict=True):
            outcome = run([*arguments, f"seed={seed}", f"perm_seed={seed}"])
            if not outcome.stable:
                name = "BookSim" if run == file.theirs else "flitlab"
                return Means([], [], f"{name}: {'unstable' if outcome.status == 0 else outcome.reason()}")
            values.append(of(outcome))
    return Means(*([list(of_class) for of_class in zip(*values, strict=True)] for values in found))


def latency(outcome: Outcome) -> list[float]:
    return outcome.means("Packet latency")


def accepted(outcome: Outcome) -> list[float]:
    return [sum(outcome.means("Accepted flit rate"))]


def batch_time(outcome: Outcome) -> list[float]:
    return [float(re.findall(r"^Overall min batch duration = (\S+)", outcome.out, re.MULTILINE)[1])]


class Comparison:
    """The comparison of one file."""

    def __init__(self, file: File, totals: Totals):
        self.file, self.totals = file, totals
        self.name = f"seed {file.made.seed}"
        self.saturation = 0.0

    def count(self, part: str, what: str, detail: str = "") -> None:
        self.totals.results[part][what] += 1
        if detail:
            print(f"{self.name}: {part}: {what}: {detail}", flush=True)

    def run(self) -> None:
        theirs, ours = self.file.theirs([]), self.file.ours([])
        if ours.status == 2:
            return self.count("files", f"refused: {ours.reason()}")
        if theirs.status not in (0, 255):
            return self.count("files", f"BookSim fails: {theirs.reason()}")
        if ours.status not in (0, 255):
            return self.count("files", f"flitlab fails: {ours.reason()}", str(ours.status))
        if not theirs.out.count("Class 0:") + theirs.out.count("Sending batch"):
            same = ours.status == 255 and not ours.stable
            return self.count("files", "rejected by both" if same else "rejected by BookSim only")
        self.count("files", "compared")
        self.as_it_is(theirs, ours)
        self.zero_load()
        self.saturated()
        self.middle()
        if self.file.made.values.get("sim_type") == "batch":
            self.judged("batch", ["sim_count=1"], batch_time, LATENCY_LIMIT)
        return None

    def as_it_is(self, theirs: Outcome, ours: Outcome) -> None:
        heads = [outcome.out[:outcome.out.find("Class 0:")] for outcome in (theirs, ours)]
        if self.file.made.values.get("sim_type") != "batch" and heads[0] != heads[1]:
            return self.count("as it is", "other lines before the first period",
                              repr([line for line in heads[0].splitlines() if line not in heads[1]][:3]))
        if theirs.stable != ours.stable:
            for seed in range(SEEDS):  # stable or not by chance, near saturation
                both = [run([f"seed={seed}"]).stable for run in (self.file.theirs, self.file.ours)]
                if both[0] == ours.stable or both[1] == theirs.stable:
                    return self.count("as it is", "stable by chance")
            return self.count("as it is", f"{'stable' if theirs.stable else 'unstable'} in BookSim only", "all seeds")
        return self.count("as it is", "equal")

    def zero_load(self) -> None:
        """Compares the latencies of pairs of nodes, or the frequent latencies if they depend on random routes."""
        differing = self.unequal([])
        if isinstance(differing, str):
            return self.count("zero load", f"fails: {differing}")
        if not differing:
            return self.count("zero load", "equal")
        cause = next((name for name, change in self.changes().items() if self.unequal(change) == []), "")
        return self.count("zero load", f"differ, and equal without {cause}" if cause else "differ",
                          f"{len(differing)} pairs: {'; '.join(differing[:3])}")

    def unequal(self, change: list[str]) -> list[str] | str:
        """Returns the pairs with other latencies in the two programs, or why there are no latencies."""
        made, values = self.file.made, self.file.made.values
        sizes = str(values["packet_size"])
        lengths = [int(first or second) for first, second in
                   re.findall(r"\{(\d+)[\d,]*\}|(\d+)", sizes[1:-1] if sizes.startswith("{") else sizes)]
        buffer = int(values.get("vc_buf_size", 0)) or int(values["buf_size"]) // int(values["num_vcs"])
        slow = DRAGONFLY if values["topology"] == "dragonflynew" else min(1 + max(lengths) // buffer // 2, 4)
        rate = 1 / (QUIET_CYCLES * slow * made.nodes * made.classes)
        arguments = [*ZERO, f"sample_period={2500 * slow}", f"packet_size={{{','.join(map(str, lengths))}}}",
                     "packet_size_rate={1}", "injection_rate_uses_flits=0",
                     f"injection_rate={{{','.join([f'{rate:.6g}'] * made.classes)}}}", *change]
        random_routes = values["routing_function"] == "valiant"
        least: list[dict[tuple[int, int], float]] = [{}, {}]
        seen: list[Counter[tuple[int, int]]] = [Counter(), Counter()]
        differing: list[tuple[int, int]] = []
        for seed in range(1, ZERO_TRIES + 1):
            for known, times, run in zip(least, seen, (self.file.theirs, self.file.ours), strict=True):
                outcome = run([*arguments, f"seed={seed}"])
                if not outcome.stable:
                    return outcome.reason()
                text = (self.file.folder / "out.m").read_text()
                for key, value in (_frequent(text) if random_routes else _pairs(text)):
                    known[key] = min(value, known.get(key, math.inf))
                    times[key] += 1
            if random_routes:  # latencies that one program has often, and the other never
                differing = [key for key in sorted(least[0].keys() ^ least[1].keys())
                             if max(times[key] for times in seen) == seed]
            else:
                common = sorted(least[0].keys() & least[1].keys())
                differing = [key for key in common if least[0][key] != least[1][key]]
                if len(common) < 3 and seed < 3:
                    continue
            if not differing:
                return []
        if not random_routes:  # packets of rare pairs may always have met others
            differing = [key for key in differing if min(times[key] for times in seen) > 1]
        return [f"{key}: {least[0].get(key)} and {least[1].get(key)}" for key in differing]

    def saturated(self) -> None:
        load = self.file.loads(0.95)
        found = self.judged("saturated", [*SATURATED, *load], accepted, RATE_LIMIT)
        if not found.failed:
            self.saturation = statistics.mean(found.theirs[0])

    def middle(self) -> None:
        if not self.saturation:
            return self.count("middle", "not run")
        for fraction in FRACTIONS:
            load = self.file.loads(fraction * self.saturation)
            if self.file.theirs([*MIDDLE, *load, "seed=1"]).stable:
                found = means(self.file, [*MIDDLE, *load], range(1, SEEDS + 1), latency)
                if not found.failed.endswith("unstable"):
                    self.judged("middle", [*MIDDLE, *load], latency, LATENCY_LIMIT, found)
                    return None
        return self.count("middle", "unstable")

    def judged(self, part: str, arguments: list[str], of: Callable[[Outcome], list[float]], limit: float,
               found: Means | None = None) -> Means:
        """Compares means, again with more seeds if they differ, and looks for the cause of a difference."""
        found = found or means(self.file, arguments, range(1, SEEDS + 1), of)
        if found.failed:
            self.count(part, f"fails: {found.failed}", " ".join(arguments))
            return found
        if not found.agree(limit):
            again = means(self.file, arguments, range(SEEDS + 1, SEEDS + 1 + MORE_SEEDS), of)
            found = found if again.failed else again
        if found.agree(limit):
            self.count(part, "agree")
        else:
            changes = self.changes()
            trials = [*changes.items(), ("these together", [word for words in changes.values() for word in words])]
            cause = next((name for name, words in trials
                          if words and self.without(arguments, words, of).agree(limit)), "")
            self.count(part, f"differ, and agree without {cause}" if cause else "differ",
                       f"{found} {' '.join(arguments)}")
        self.totals.sizes[part] += found.differences()
        return found

    def without(self, arguments: list[str], change: list[str], of: Callable[[Outcome], list[float]]) -> Means:
        if "classes=1" in change:  # with the load of all classes
            rates = re.findall(r"injection_rate=\{(.*)\}", " ".join(arguments))[-1:]
            change = change + [f"injection_rate={{{sum(map(float, of_all.split(','))):.6g}}}" for of_all in rates]
        return means(self.file, [*arguments, *change], range(1, SEEDS + 1), of)

    def changes(self) -> dict[str, list[str]]:
        """Returns parameters of the file that can be the cause of a difference, and statements without them."""
        found, values = {}, self.file.made.values
        for name, common in WITHOUT.items():
            word = common.get(str(values["topology"]), "") if isinstance(common, dict) else common
            # Up to a delay of 1 cycle, BookSim's route computation is a pipeline, too.
            if word and str(values.get(name, word)) not in (word, "0" if name == "routing_delay" else word):
                found[name] = [f"{name}={word}"]
        return found


def _pairs(text: str) -> list[tuple[tuple[int, int], float]]:
    """Returns (class, pair of nodes) and the latency of pairs all of whose packets had the same one."""
    found = []
    for number, row in re.findall(r"^pair_plat\((\d+),:\) = \[ (.*)\];$", text, re.MULTILINE):
        for pair, word in enumerate(row.split()):
            if "nan" not in word and float(word) == int(float(word)):
                found.append(((int(number), pair), float(word)))
    return found


def _frequent(text: str) -> list[tuple[tuple[int, int], float]]:
    """Returns (class, latency) of latencies that at least 8 % of the packets have."""
    found = []
    for number, row in re.findall(r"^plat_hist\((\d+),:\) = \[ (.*)\];$", text, re.MULTILINE):
        counts = [int(word) for word in row.split()]
        found += [((int(number), cycles), 0.0) for cycles, count in enumerate(counts) if count > 0.08 * sum(counts)]
    return found


def compare(binary: str, number: int, first: int) -> None:
    totals = Totals()
    for seed in range(first, first + number):
        with tempfile.TemporaryDirectory() as folder:
            Comparison(File(binary, random_file(seed), Path(folder)), totals).run()
        if (seed - first) % SHOWN_AFTER == SHOWN_AFTER - 1:
            totals.show()
    print("\n| comparison | result | files |\n|---|---|---|")
    totals.show()
