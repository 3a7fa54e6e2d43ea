"""Several jobs on one network: the time of each program beside the others, and alone at the same place."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from flitlab._core import ConfigError, RunError
from flitlab.arguments import Backend, shown
from flitlab.experiment import Experiment, Given, experiment_of
from flitlab.network import Network
from flitlab.placements import PLACEMENTS, places_of
from flitlab.programs import Program

if TYPE_CHECKING:
    import pandas as pd

    from flitlab.picture import Picture

_FIRST_STEP = 1000  # cycles; later steps are a part of the cycles so far
_PART = 8


class Jobs:
    """Times of jobs that share a network: one row for each job.

    ``frame`` has the columns job, ranks, placement, ``cycles_alone`` and ``cycles_together`` (cycle in which the last
    rank of the job ended, without and with the other jobs), and ``slowdown``, together / alone. ``places``: name of a
    job -> its terminals, in the order of its ranks."""

    def __init__(self, rows: list[dict[str, Any]], places: dict[str, list[int]]):
        self._rows, self.places = rows, places

    @property
    def frame(self) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame(self._rows)

    def plot(self, axes: Any = None) -> Picture:
        """Draws two bars for each job, its time alone and together, with the slowdown above them."""
        import matplotlib.pyplot as plt

        from flitlab.picture import Picture, one_axes

        axes = plt.subplots(layout="constrained")[1] if axes is None else one_axes("jobs.plot", axes)
        frame = self.frame
        for side, (column, label) in enumerate((("cycles_alone", "alone"), ("cycles_together", "together"))):
            bars = axes.bar([i + 0.4 * (side - 0.5) for i in range(len(frame))], frame[column], 0.38, label=label)
        axes.bar_label(bars, [f"x {slowdown:.2f}" for slowdown in frame["slowdown"]])
        axes.set(xlabel="job", ylabel="time (cycles)", xticks=range(len(frame)), xticklabels=frame["job"])
        axes.margins(y=0.1)
        axes.legend()
        return Picture([axes], ["jobs"])

    def __repr__(self) -> str:
        return self.frame.to_string(index=False)

    def _repr_html_(self) -> str:
        return self.frame.to_html(index=False)


def jobs(programs: Sequence[Program | str | os.PathLike] | Mapping[str, Program | str | os.PathLike],
         network: Given = "vc-mesh-8x8", placement: Any = "linear", *, seed: int = 0,
         group_terminals: int | None = None, traffic: Mapping[str, Any] | None = None, backend: Backend = "cpu",
         threads: int = 1, progress: bool = True) -> Jobs:
    """Measures how much jobs on one network slow each other down. Runs all programs at the same time, and then each one
    alone on the same terminals. All programs begin in cycle 0.

    programs: a list, or a dictionary of names; each is a Program, or the name of a file of calls or of a program in
    TOML. network: an experiment; its traffic is replaced. placement: which terminals run the ranks.

    - "linear": the terminals 0, 1, 2 and so on, one job after the other;
    - "random": terminals drawn with ``seed``;
    - "group": each job begins in a group of terminals that no other job uses, and fills one group after the other. A
      group of a dragonfly or megafly is the network's; elsewhere it is the terminals of a router. ``group_terminals``
      gives another size;
    - "random_group": the same, with groups drawn with ``seed``;
    - a list of terminals for each job, in a list or a dictionary, in the order of the job's ranks;
    - the name of a CSV file of lines ``job,rank,terminal``; job is a name or a number from 0.

    traffic: sizes of packets and overheads of processors, for example ``{"traffic.flit_bytes": 64}``. threads: CPU
    threads, 0 for one per core. Raises ConfigError, and RunError if the network cannot deliver the messages.

    >>> import flitlab as fl
    >>> def ring(me):
    ...     me.isend((me.rank + 1) % me.size, 4800)
    ...     me.recv((me.rank - 1) % me.size)
    >>> found = fl.jobs({"a": fl.Program.spmd(ring, 8), "b": fl.Program.spmd(ring, 8)}, {"topology.shape": [4, 4]})
    >>> found.places["b"]
    [8, 9, 10, 11, 12, 13, 14, 15]
    >>> list(found.frame["slowdown"])
    [1.0, 1.0]
    """
    base = experiment_of(network)
    terminals = int(base.derived()["terminals"])
    named = _named(programs, terminals)
    places = places_of(placement, {job: program.ranks for job, program in named.items()}, base, seed, group_terminals)
    changes = {"traffic.mode": "program", **(traffic or {})}
    for program in named.values():  # the message about a wrong call then has the line in the job's own program
        base.with_traffic({**changes, "traffic.program_file": program}).core.check_network()

    def ends(of: Sequence[str]) -> list[int]:
        program = Program.together([named[job] for job in of], [places[job] for job in of], terminals, " + ".join(of))
        experiment = base.with_traffic({**changes, "traffic.program_file": program})
        found = _ends(experiment, backend, threads, progress, program.name)
        return [max(found[terminal] for terminal in places[job]) for job in of]

    kind = placement if isinstance(placement, str) and placement in PLACEMENTS else "given"
    rows = []
    for (job, program), together in zip(named.items(), ends(list(named)), strict=True):
        alone = ends([job])[0]
        rows.append({"job": job, "ranks": program.ranks, "placement": kind, "cycles_alone": alone,
                     "cycles_together": together, "slowdown": together / alone if alone else 1.0})
    return Jobs(rows, places)


def _named(programs: Any, terminals: int) -> dict[str, Program]:
    """Returns programs by name. Programs of a list have their own names, with a number where two are equal."""
    if not isinstance(programs, (Mapping, Sequence)) or isinstance(programs, str) or not programs:
        raise ConfigError(f"jobs({shown(programs)}): give a list of programs, or a dictionary of names and programs.")
    listed = programs.items() if isinstance(programs, Mapping) else [("", program) for program in programs]
    named: dict[str, Program] = {}
    for name, program in listed:
        if isinstance(program, (str, os.PathLike)):
            program = Program.from_file(program, terminals)
        if not isinstance(program, Program) or not isinstance(name, str):
            raise ConfigError(f"jobs: {shown(name or program)} is not a program: give a Program, or the name of a file "
                              "of calls or of a program in TOML. Names of jobs are strings.")
        name, number = name or program.name, 2
        while name in named:
            name, number = f"{program.name} {number}", number + 1
        named[name] = program
    return named


def _ends(experiment: Experiment, backend: Backend, threads: int, progress: bool, name: str) -> list[int]:
    """Returns the cycle in which the program of each terminal ends."""
    from tqdm.auto import tqdm

    net = Network(experiment, backend, threads)
    with tqdm(unit="cycle", unit_scale=True, delay=1, desc=name, disable=not progress) as bar:
        while True:
            ends = net.program_ends
            finished = [end for end in ends if end is not None]
            if len(finished) == len(ends):
                return finished
            before = net.cycle
            net.step(max(_FIRST_STEP, before // _PART)).check()
            if net.cycle == before:
                raise RunError(f"jobs: {name} has not ended by cycle {before}, where emulated time ends.")
            bar.update(net.cycle - before)
