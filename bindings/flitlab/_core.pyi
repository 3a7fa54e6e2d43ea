"""flitlab's compiled core: configuration, runs and the stepped network. The package wraps all of it."""

from collections.abc import Callable, Sequence
from typing import Any

__version__: str

class ConfigError(ValueError):
    """Bad input: one line with the path, the value, what is allowed and the fix."""

class RunError(RuntimeError):
    """A run that failed: deadlock, broken conservation, a device fault."""

class Experiment:
    """A resolved configuration. ``flat``: dotted path -> value; ``base_dir``: where relative file names start."""

    def __init__(self, flat: dict[str, Any], base_dir: str) -> None: ...
    def derived(self) -> dict[str, float]: ...
    def flat(self) -> dict[str, Any]: ...
    def files_hash(self) -> int: ...
    def structure_key(self) -> str: ...

class Network:
    """One network, advanced by hand."""

    def __init__(self, experiment: Experiment, backend: str, threads: int, trace: bool) -> None: ...
    @property
    def cycle(self) -> int: ...
    def events(self) -> list[dict[str, Any]]: ...
    def go_on_from(self, other: Network) -> None: ...
    def load(self, path: str) -> None: ...
    def read_register(self, node: int, name: str) -> int: ...
    def router(self, router: int) -> list[dict[str, Any]]: ...
    def router_name(self, router: int) -> str: ...
    def save(self, path: str) -> None: ...
    def state_hash(self) -> str: ...
    def step(self, cycles: int) -> None: ...
    def terminal(self, terminal: int) -> dict[str, Any]: ...
    def totals(self) -> dict[str, int]: ...
    def write_register(self, node: int, name: str, value: int) -> None: ...

def backends() -> dict[str, dict[str, Any]]:
    """What this build can run on."""

def parameters() -> list[dict[str, Any]]:
    """One record per configuration parameter."""

def t3e_optimise_vcs(
    ring: int, limited: bool, goals: dict[int, tuple[float, float]], seed: int, restarts: int, steps: int
) -> list[list[int]]:
    """A virtual-channel table found by simulated annealing."""

def t3e_machine(experiment: Experiment) -> dict[str, Any]:
    """Nodes of a T3E, and what becomes of packets of all pairs of PEs."""

def t3e_time_of_crossing(ring: int, limited: bool) -> list[list[int]]:
    """The virtual-channel table of zeros."""

def t3e_machine_vcs(ring: int, limited: bool, half_way: int, last: bool) -> list[list[int]]:
    """The virtual-channel table that machines are loaded with."""

def t3e_vc_balance(table: list[list[int]], half_way: int, last: bool, subring: int) -> tuple[float, float]:
    """Average and maximum balance over the links of a ring or its subrings."""

def run(
    experiments: Sequence[Experiment],
    backend: str,
    threads: int,
    progress: Callable[[dict[str, Any]], None] | None,
    checkpoint: str = "",
    every_seconds: float = 60.0,
) -> list[dict[str, Any]]:
    """Runs experiments of one structure as replicas of one job; ``progress`` is called after every epoch. With a
    checkpoint path the job goes on from that file if there is one, and saves itself now and then."""
