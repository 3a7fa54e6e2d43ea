"""flitlab's compiled core: configuration, runs and the stepped network. The package wraps all of it."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

__version__: str

class ConfigError(ValueError):
    """Bad input: one line with the path, the value, what is allowed and the fix."""

class RunError(RuntimeError):
    """A run that failed: deadlock, broken conservation, a device fault."""

class Experiment:
    """A resolved configuration. ``flat``: dotted path -> value; ``base_dir``: where relative file names start;
    ``texts``: what is in files that are in memory, by the parameter that would name them."""

    def __init__(self, flat: dict[str, Any], base_dir: str, texts: dict[str, bytes] = ...) -> None: ...
    def derived(self) -> dict[str, float]: ...
    def flat(self) -> dict[str, Any]: ...
    def files_hash(self) -> int: ...
    def structure_key(self) -> str: ...
    def terminals(self) -> int: ...

class Network:
    """One network, advanced by hand."""

    def __init__(self, experiment: Experiment, backend: str, threads: int, trace: bool) -> None: ...
    @property
    def cycle(self) -> int: ...
    def barrier_operation(self, pe: int, unit: int, operation: str) -> None: ...
    def barrier_register(self, node: int, unit: int) -> tuple[list[str], list[str], str]: ...
    def barrier_state(self, pe: int, unit: int) -> str: ...
    def channels(self) -> list[tuple[int, int, int]]: ...
    def check(self) -> None: ...
    def events(self) -> list[dict[str, Any]]: ...
    def go_on_from(self, other: Network) -> None: ...
    def links(self) -> list[tuple[int, int, int, int]]: ...
    def load(self, path: str) -> None: ...
    def read_register(self, node: int, name: str) -> int: ...
    def read_registers(self, node: int) -> dict[str, int]: ...
    def router(self, router: int) -> list[dict[str, Any]]: ...
    def router_name(self, router: int) -> str: ...
    def save(self, path: str) -> None: ...
    def send_control(self, terminal: int,
                     requests: list[tuple[str, int, int, int, Sequence[int], int, int]]) -> int: ...
    def set_addresses(self, addresses: Sequence[int]) -> None: ...
    def special_answers(self) -> list[tuple[int, int, int, int]]: ...
    def special_get(self, node: int, deltas: Sequence[int], name: str) -> int: ...
    def special_put(self, node: int, deltas: Sequence[int], name: str, value: int) -> None: ...
    def state_hash(self) -> str: ...
    def step(self, cycles: int) -> None: ...
    def take_replies(self, terminal: int) -> list[tuple[int, int, int, int]]: ...
    def terminal(self, terminal: int) -> dict[str, Any]: ...
    def totals(self) -> dict[str, int]: ...
    def program_ends(self) -> list[int]: ...
    def warnings(self) -> list[str]: ...
    def write_register(self, node: int, name: str, value: int) -> list[str]: ...

def backends() -> dict[str, dict[str, Any]]:
    """What this build can run on."""

def parameters() -> list[dict[str, Any]]:
    """One record per configuration parameter."""

def program_calls(text: bytes, name: str, ranks: int) -> list[list[tuple[str, int, int, int]]]:
    """What every rank of a program does: (call, peer, amount, slot), collectives expanded and sends matched."""

def sconnect_explore(
    delay: int, singles: tuple[int, int], quads: tuple[int, int], hits: tuple[bool, bool], refuses: tuple[bool, bool],
    voids: tuple[bool, bool], switches: bool, endless: bool, defect: str, most_states: int
) -> tuple[int, int, int, bool, str]:
    """Everything that can happen to a channel: states, transitions, depth, complete or not, violation."""

def sconnect_protocol_bits() -> dict[str, int]:
    """What crosses a channel of S-Connect in a slot beside a message: name of each bit -> its value."""

def t3e_optimise_vcs(
    ring: int, limited: bool, goals: dict[int, tuple[float, float]], seed: int, restarts: int, steps: int
) -> list[list[int]]:
    """A virtual-channel table found by simulated annealing."""

def t3e_machine(experiment: Experiment) -> dict[str, Any]:
    """Nodes of a T3E, and what becomes of packets of all pairs of PEs."""

def t3e_wiring(experiment: Experiment) -> list[tuple[int, list[int | None]]]:
    """R_PWHO of every node of a machine without faults, and of its neighbours +X +Y +Z -X -Y -Z, or None."""

def t3e_tables(experiment: Experiment) -> list[tuple[dict[str, int], list[int]]]:
    """What the registers of every node hold at cycle 0: by name, and those of R_NET_LUT that are used."""

def t3e_time_of_crossing(ring: int, limited: bool) -> list[list[int]]:
    """The virtual-channel table of zeros."""

def t3e_machine_vcs(ring: int, limited: bool, half_way: int, last: bool) -> list[list[int]]:
    """The virtual-channel table that machines are loaded with."""

def sconnect_tables(tics: int, links: Sequence[tuple[int, int, int, int]],
                    hosts: Sequence[tuple[int, int, int]]) -> tuple[np.ndarray, bool, float, float]:
    """Entries [tics][nodes], whether they follow a spanning tree, mean hops, and these over the shortest ways'."""

def sconnect_table_fault(tics: int, links: Sequence[tuple[int, int, int, int]],
                         hosts: Sequence[tuple[int, int, int]], entries: np.ndarray) -> str:
    """What is wrong with tables, empty if nothing."""

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
