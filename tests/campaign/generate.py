"""Random configurations of any model, derived from the parameter records, so that a new parameter is included
automatically. A configuration starts from the defaults and changes one parameter at a time; changes that flitlab
rejects are undone, and their messages are checked."""

import math
import random
from pathlib import Path

import flitlab as fl
from flitlab.records import parameters_of

MOST_ROUTERS = 200
# Limits of parameters that make a network large or slow to build; all others may take any value that their record
# allows.
SMALL = {"topology.shape": 6, "topology.radix": 4, "topology.dimensions": 6, "topology.nodes": 60, "topology.ports": 24,
         "topology.concentration": 6, "topology.inner_nodes": 20, "topology.levels": 3, "traffic.batch_packets": 40,
         "traffic.rounds": 2, "traffic.in_a_row": 4, "traffic.send_overhead": 2000, "traffic.recv_overhead": 2000,
         "run.epoch_cycles": 500}
LEFT_ALONE = {"router.kind", "run.measure_cycles", "run.warmup_cycles", "run.drain_cycles", "run.precision",
              "run.longest_window", "run.longest_warmup"}


class Generator:
    """Draws configurations from one seed. Files that parameters name are written to `folder`."""

    def __init__(self, seed: int, folder: Path):
        self.seed = seed
        self.choose = random.Random(seed)
        self.folder = folder
        self.refusals: list[tuple[dict, str]] = []

    def experiment(self, kind: str, steps: int = 12) -> fl.Experiment:
        """Returns a valid configuration of a kind. `refusals` lists the rejected changes and their messages."""
        self.refusals = []
        records = parameters_of(kind)
        paths = [p for p in records if p not in LEFT_ALONE]
        # First draw the choices on which other parameters depend.
        named = {key for r in records.values() for clause in r["only_if"].split("&")
                 for key in clause.partition("=")[0].rstrip("!").split("|")}
        deciders = sorted(named & {p for p in paths if records[p]["type"] == "choice"})
        flat = {"router.kind": kind}
        if kind in ("t3e", "bgl"):  # their defaults are machines of 512 nodes
            flat["topology.shape"] = self.choose.choice([[4, 2, 2], [4, 4, 2], [2, 4, 3], [4, 4, 4]])
        found = fl.Experiment.from_dict(flat)
        for step in range(self.choose.randint(1, steps)):
            # Usually change a parameter that applies to this configuration, sometimes any parameter.
            there = [p for p in paths if p in found.flat()] if self.choose.random() < 0.8 else paths
            path = self.choose.choice(deciders if self.choose.random() < 0.3 else there)
            if step == 0 and self.choose.random() < 0.5:  # most parameters depend on it
                path = "traffic.mode"
            value = self.value(records[path], found)
            changed = flat | {path: value} | self.needed_files(path, value, records, found)
            try:
                found, flat = fl.Experiment.from_dict(changed), changed
            except fl.ConfigError as error:
                self.refusals.append((changed, str(error)))
        return found

    def value(self, record: dict, found: fl.Experiment):
        draw, kind = self.choose, record["type"]
        if kind == "choice":
            return draw.choice(record["choices"])
        if kind == "list of choices":
            return ",".join(draw.choice(record["choices"]) for _ in range(draw.choice([0, 1, 2, 2, 3])))
        if kind == "bool":
            return draw.random() < 0.5
        if kind == "float":
            return self.real(record["min"], record["max"])
        if kind == "string":
            return str(self.file(record["path"], found))
        if kind == "int list":
            return [self.whole(record) for _ in range(draw.choice([0, 1, 2, 2, 3, 3, 4]))]
        if kind == "int or int list":
            return draw.choice([self.whole(record), [self.whole(record) for _ in range(draw.choice([1, 2, 2, 3]))]])
        if kind == "float or float list":
            widths = [draw.choice([1.0, 0.5, 2 / 3, 0.25, self.real(record["min"], record["max"])]) for _ in range(2)]
            return draw.choice([widths[0], widths])
        if kind == "lengths":
            return draw.choice([self.length(), [[self.length(), self.real(0, 1)] for _ in range(draw.randint(1, 3))]])
        if kind == "int or auto" and draw.random() < 0.3:
            return "auto"
        return self.whole(record)

    def needed_files(self, path: str, value, records: dict, found: fl.Experiment) -> dict:
        """Returns settings for the files that a choice requires; without these files flitlab rejects most of such
        choices."""
        def names(clause: str) -> bool:
            keys, _, values = clause.partition("=")
            words = value.split(",") if isinstance(value, str) else [value]
            return path in keys.split("|") and any(word in values.split("|") for word in words)

        return {p: str(self.file(p, found)) for p, r in records.items()
                if r["type"] == "string" and any(map(names, r["only_if"].split("&")))}

    def length(self) -> int:
        return self.choose.choice([1, 1, 2, 4, 5, 8, 10, 32])

    def whole(self, record: dict) -> int:
        low, high = int(record["min"]), int(min(record["max"], SMALL.get(record["path"], record["max"])))
        if record["path"].startswith("topology.") and record["path"] not in SMALL:
            high = min(high, low + 40)
        choice = self.choose.random()
        if choice < 0.15:
            return low
        if choice < 0.2:
            return high
        if choice < 0.23:
            return self.choose.choice([low - 1, int(record["max"]) + 1])
        return min(high, low + int(math.exp(self.choose.uniform(0, math.log(high - low + 2)))) - 1)

    def real(self, low: float, high: float) -> float:
        choice = self.choose.random()
        if choice < 0.1:
            return low
        if choice < 0.2:
            return high
        if choice < 0.22:
            return self.choose.choice([low - 1e-9, high + 1, math.nan, math.inf])
        if choice < 0.5 and high > 1e-6:
            return min(high, max(low, math.exp(self.choose.uniform(math.log(1e-6), math.log(high)))))
        return self.choose.uniform(low, high)

    def file(self, path: str, found: fl.Experiment) -> Path:
        """Writes a file for a parameter: valid content for forms with a case below, random numbers for others."""
        file = self.folder / (path.replace(".", "_") + ".csv")
        try:
            terminals = int(found.derived()["terminals"])
        except fl.ConfigError:  # the plan's own check reports this later
            terminals = 16
        below, line = self.choose.randrange, self.choose.random
        if path == "routing.table_file":  # each router's first port, on any network
            text = "".join(f"{r},{d},0\n" for r in range(terminals) for d in range(terminals) if r != d)
        elif path == "traffic.trace_file":
            text, cycle = "", 0
            for n in range(below(200)):
                cycle += below(30)
                needs = f",{below(n)}" if n and line() < 0.1 else ""
                source = below(terminals)
                other = (source + 1 + below(max(1, terminals - 1))) % terminals
                text += f"{cycle},{source},{other},{self.length()}{needs}\n"
        elif path == "traffic.matrix_file":
            text = "".join(f"{s},{below(terminals)},{round(line(), 3)}\n" for s in range(terminals))
        elif path == "topology.file":
            n = 2 + below(20)
            text = "".join(f"{i},{below(i)}\n" for i in range(1, n))
            text += "".join(f"{a},{b}\n" for a, b in ((below(n), below(n)) for _ in range(below(10))) if a != b)
        elif path == "traffic.program_file":
            calls = ["barrier", f"allreduce,{below(500)}", f"alltoall,{1 + below(300)}", f"compute,{below(500)}"]
            made = [self.choose.choice(calls) for _ in range(1 + below(4))]
            text = "".join(f"{rank},{call}\n" for rank in range(terminals) for call in made)
        else:
            text = "".join(f"{below(8)},{below(8)},{below(8)}\n" for _ in range(below(6)))
        file.write_text(text)
        return file
