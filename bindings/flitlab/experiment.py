"""Experiments: configurations from TOML files and dictionaries, checked and resolved."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, KeysView, Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from flitlab import _core, compiled, shipped, workloads
from flitlab._core import ConfigError
from flitlab.arguments import check_path, did_you_mean, shown, writing
from flitlab.booksim import ENDING, translate, translate_interface
from flitlab.compiled import GRAPH, MATRIX, TABLE, VALUES, Graph, Pattern, Routes
from flitlab.foreign_files import about_text, is_booksim
from flitlab.programs import Program, program_text
from flitlab.records import applies, parameters_of
from flitlab.settings import flatten, plain
from flitlab.toml import parse_toml, read_text
from flitlab.trace_files import TRACE, trace_contents, trace_text
from flitlab.vocabulary import about_key, check_names

_PROGRAM = "traffic.program_file"
# Parameters that are valid for one graph only.
_OF_ONE_GRAPH = ("routing.algorithm", TABLE, "routing.tables", "routing.file", "topology.terminal_routers",
                 "topology.places", "topology.failed_links", "topology.failed_routers", "topology.random_failures",
                 "topology.failure_seed")


@cache
def file_paths() -> set[str]:
    """Returns the dotted paths of the parameters that name files."""
    return {p["path"] for p in _core.parameters() if p["type"] == "string"}


@cache
def parameter_paths() -> set[str]:
    """Returns the dotted paths of the parameters of all models."""
    return {p["path"] for p in _core.parameters()}


class Experiment:
    """A checked configuration. It is immutable; :meth:`set` returns a new one.

    ``traffic.program_file`` names a file of calls or a program in TOML, or is a :class:`flitlab.Program`.
    :meth:`with_pattern`, :meth:`with_routes` and :meth:`with_topology` accept traffic, routes and graphs from Python.
    """

    def __init__(self, given: Mapping[str, Any], base_dir: str = ".", name: str = "experiment",
                 texts: Mapping[str, bytes] | None = None):
        _check_given("Experiment", given)
        for key in given:
            check_is_path(key)
        if base_dir != "":  # os.path.dirname returns "" for the current folder
            check_path(f"base_dir = {shown(base_dir)}", base_dir, "a folder")
        self._given = {path: plain(value) for path, value in given.items()}
        # Contents of files that exist in memory only, by the parameter that names the file.
        self._texts = dict(texts or {})
        self.base_dir = os.path.abspath(base_dir)
        self.name = name
        self.core = self._resolved()

    def _resolved(self) -> _core.Experiment:
        check_names(self._given, parameter_paths())
        program = self._given.get(_PROGRAM)
        converted = self._converted(program) if isinstance(program, str) and _PROGRAM not in self._texts else None
        if converted is not None:
            return _core.Experiment(self._given, self.base_dir, self._texts | {_PROGRAM: converted.text()})
        if program is None or (isinstance(program, str) and not program.endswith(".toml")):
            trace = None if TRACE in self._texts else trace_contents(self._given.get(TRACE), self.base_dir)
            return _core.Experiment(self._given, self.base_dir, self._texts | ({} if trace is None else {TRACE: trace}))
        given = {**self._given, _PROGRAM: getattr(program, "name", program)}
        terminals = _core.Experiment(given, self.base_dir, self._texts).terminals()
        program_calls = {_PROGRAM: program_text(program, self.base_dir, terminals)}
        return _core.Experiment(given, self.base_dir, self._texts | program_calls)

    def _converted(self, program: str) -> Program | None:
        """Returns a program in the format of another tool; None if it is not in one."""
        return workloads.converted(Path(self.base_dir, program), self._given.get("run.cycle_ns", 1),
                                   self._given.get("topology.shape"))

    @classmethod
    def from_dict(cls, tree: Mapping[str, Any], base_dir: str = ".", name: str = "experiment") -> Experiment:
        """Makes an experiment from a nested or dotted dictionary: ``{"router": {"vcs": 4}}`` or ``{"router.vcs": 4}``.

        base_dir: folder of relative file names. Raises ConfigError."""
        _check_given("Experiment.from_dict", tree)
        return cls(flatten(tree), base_dir, name)

    def set(self, key: str | Mapping[str, Any], value: Any = None) -> Experiment:
        """Returns a copy with one dotted path changed, or with all paths of a mapping changed.

        The value None removes a path from the configuration, so that its default holds. Relative file names refer to
        the current directory. Raises ConfigError for unknown paths and invalid values.

        >>> import flitlab as fl
        >>> fl.load("vc-mesh-8x8").set({"traffic.load": None, "traffic.mode": "batch"})["traffic.mode"]
        'batch'
        """
        changes = flatten(key) if isinstance(key, Mapping) else {key: plain(value)}
        for path, new in changes.items():
            if new is None:
                check_key(path)
            elif path in file_paths() and isinstance(new, str) and new:
                changes[path] = os.path.abspath(new)
        texts = {path: text for path, text in self._texts.items() if path not in changes}
        given = {path: new for path, new in {**self._given, **changes}.items() if new is not None}
        changes = {path: new for path, new in changes.items() if new is not None}
        if texts and changes.keys() <= parameter_paths():  # drop compiled files whose parameters no longer apply
            values = {**self.flat(), **changes}
            records = parameters_of(values["router.kind"])
            texts = {path: text for path, text in texts.items() if path in records and applies(records[path], values)}
            gone = self._texts.keys() - texts.keys() - changes.keys()
            if MATRIX in gone:
                gone |= {VALUES} - changes.keys()
            given = {path: value for path, value in given.items() if path not in gone}
        return Experiment(given, self.base_dir, self.name, texts)

    def with_pattern(self, pattern: Pattern | Any, values: str | None = None) -> Experiment:
        """Returns a copy with destinations given by a function, which is compiled once to a traffic matrix.

        ``pattern(source, terminals)`` returns a terminal; a dictionary terminal -> weight; a weight for every terminal;
        or None if the source sends nothing. Instead of a function, pattern may be a dictionary of such values by
        source, or weights [source][destination] as an array, a DataFrame or a sparse matrix.

        ``values="rates"``: weights are loads in flits/cycle. Each source offers the sum of its weights, and
        ``traffic.load`` is removed. ``values="weights"``: every source offers ``traffic.load``, divided among
        destinations in proportion to the weights. Default: ``traffic.matrix_values`` if it was set, else weights.

        >>> import flitlab as fl
        >>> exp = fl.load("vc-mesh-8x8").with_pattern(lambda source, terminals: (source + 3) % terminals)
        >>> exp["traffic.pattern"]
        'matrix'

        Raises ConfigError for an invalid destination or weight, or if the router model does not accept the matrix.
        """
        # The core returns 0 if the number depends on a file; then the derived numbers have it.
        terminals = self.core.terminals() or int(self.derived()["terminals"])
        text = compiled.matrix_text(pattern, terminals)
        changes = {"traffic.pattern": "matrix", MATRIX: compiled.name_of(pattern, "pattern")}
        if values is not None:
            changes[VALUES] = values
        return self._compiled(changes, {MATRIX: text})

    def with_topology(self, graph: Graph) -> Experiment:
        """Returns a copy with the routers and channels of a networkx graph, compiled once to a list of edges.

        Each edge is a channel in both directions. If the nodes are 0, 1, ..., they keep their numbers; otherwise the
        order of ``graph.nodes`` numbers the routers, so ``list(graph)[5]`` is router 5. The order of ``graph.edges``
        numbers the ports. Parameters of the old topology and its routes that do not apply to graphs are removed.

        The attributes ``delay`` (cycles) and ``width`` (flits/cycle, a ratio of integers up to 64, at most 1) of an
        edge set the delay and the width of its channels. Without them, a channel has the delay
        ``topology.channel_delay`` and the width ``topology.channel_width``.

        The attribute ``terminals`` of nodes is their number of terminals (``topology.concentration``): equal for all
        nodes that have any; nodes without it then have none (``topology.terminal_routers``) and get the last numbers.
        The attribute ``pos``, a pair (x, y) for every node, places them in drawings (``topology.places``).

        Raises ConfigError if the graph is directed or not connected, or if the router model accepts no graphs.
        """
        self._needs(GRAPH, "with_topology", "does not accept a graph")
        text, parameters = compiled.graph_text(graph)
        known = parameters_of(self["router.kind"])
        if missing := [path for path in parameters if path not in known]:
            raise ConfigError(f'with_topology: nodes have attributes for {", ".join(missing)}, which router.kind = '
                              f'"{self["router.kind"]}" does not have.')
        changes = {"topology.kind": "graph", GRAPH: compiled.name_of(graph, "graph"), **parameters}
        return self._compiled(changes, {GRAPH: text}, _OF_ONE_GRAPH)

    def with_trace(self, packets: Any, order: str = "auto") -> Experiment:
        """Returns a copy whose traffic is a trace given in Python.

        packets: a DataFrame or pyarrow.Table with the columns cycle, source, destination, flits and perhaps needs (a
        number or a list: rows whose packets must have arrived first, counted from 0), or rows of these numbers, for
        example an array [packet][5]; a negative number in needs means none. Rows must be ordered by cycle. order:
        ``traffic.trace_order``. Raises ConfigError.

        >>> import flitlab as fl
        >>> exp = fl.load("vc-mesh-8x8").with_trace([(0, 0, 63, 4), (10, 63, 0, 8, 0)])
        >>> fl.run(exp, progress=False).model["trace_cycles"] > 10
        True
        """
        replay = self.with_traffic({"traffic.mode": "trace", TRACE: "packets", "traffic.trace_order": order})
        return replay._compiled({TRACE: "packets"}, {TRACE: trace_text(packets)})

    def with_host_traffic(self) -> Experiment:
        """Returns a copy whose packets come from the program that steps the network (:meth:`flitlab.Network.inject`):
        ``traffic.mode = "host"``, without parameters of other traffic."""
        return self.with_traffic({"traffic.mode": "host"})

    def with_traffic(self, changes: Mapping[str, Any]) -> Experiment:
        """Returns a copy with other traffic: ``changes`` has ``traffic.mode`` and further keys, as for :meth:`set`.
        Parameters of traffic that do not apply to the new mode are left out."""
        records, flat = parameters_of(self["router.kind"]), self.flat()
        changes = {path: os.path.abspath(value) if path in file_paths() and isinstance(value, str) else value
                   for path, value in flatten(changes).items()}
        values = {path: value for path, value in flat.items() if not path.startswith("traffic.")} | changes
        # Parameters of traffic may depend on others that also apply.
        while more := {path: value for path, value in flat.items()
                       if path not in values and applies(records[path], values)}:
            values |= more
        return self._compiled(changes, {}, [path for path in self._given if path not in values], check=False)

    def with_routes(self, routes: Routes) -> Experiment:
        """Returns a copy with routes given by a function, which is compiled once to a routing table.

        ``routes(router, destination)`` returns the next router on the path to a destination router, or a pair of the
        next router and the layer of virtual channels for packets injected at ``router``. Packets use all channels to
        the next router. Without layers, flitlab assigns them so that routing is deadlock-free. With the layer None in
        all pairs, all packets share all virtual channels, and may deadlock. If the function returns
        a list or set of next routers, routing is adaptive (``minimal_adaptive`` with these ports): packets choose by
        free virtual channels and credits, and escape by up*/down* routes on the first virtual channel.

        Destinations are routers with terminals. Any other network, and one with failures, becomes a graph with the
        same router numbers; coordinate-based patterns then need :meth:`with_pattern`.

        Raises ConfigError if a next router is not a neighbour, packets never arrive, or routes can deadlock.
        """
        self._needs(TABLE, "with_routes", "does not accept a routing table")
        failures = ("topology.failed_links", "topology.failed_routers", "topology.random_failures")
        if self["topology.kind"] != "graph" or any(map(self.flat().get, failures)):
            return self._graph_of_channels().with_routes(routes)
        text = self._texts.get(GRAPH)
        if text is None:
            self.core.files_hash()  # raises ConfigError if there is no such file
            text = Path(self.base_dir, self[GRAPH]).read_bytes()
        destinations = int(self.derived()["terminals"]) // self["topology.concentration"]
        table = compiled.table_text(routes, compiled.ports_of(text), destinations)
        algorithm = "minimal_adaptive" if compiled.adapts(routes) else "table"
        changes = {"routing.algorithm": algorithm, TABLE: compiled.name_of(routes, "routes")}
        return self._compiled(changes, {TABLE: table})

    def program_text(self) -> tuple[bytes, str]:
        """Returns the program of ``traffic.program_file`` as a file of calls (docs/programs.md), and its name. Raises
        ConfigError if there is no program."""
        program = self._given.get(_PROGRAM) if self["traffic.mode"] == "program" else None
        if program is None:
            raise ConfigError('program_text(): the experiment has no program; set traffic.mode = "program" and '
                              "traffic.program_file.")
        text = self._texts.get(_PROGRAM)
        if not text and isinstance(program, str) and (converted := self._converted(program)):
            text = converted.text()
        text = text or program_text(program, self.base_dir, self.core.terminals())
        return text or Path(self.base_dir, program).read_bytes(), str(getattr(program, "name", program))

    def _needs(self, path: str, method: str, lack: str) -> None:
        kind, able = self["router.kind"], [k for k in compiled.kinds_on_graphs() if path in parameters_of(k)]
        if kind not in able:
            raise ConfigError(f'{method}: router.kind = "{kind}" {lack}. Kinds that accept one: {", ".join(able)}.')

    def _graph_of_channels(self) -> Experiment:
        kind, concentration, derived = self["topology.kind"], self["topology.concentration"], self.derived()
        changes = {"topology.kind": "graph", GRAPH: kind, "topology.concentration": concentration}
        if derived["terminals"] != derived["routers"] * concentration:
            changes["topology.terminal_routers"] = int(derived["terminals"]) // concentration
        lists = [key for key in ("topology.channel_delay", "topology.channel_width")
                 if isinstance(self._given.get(key), list)]  # links_text() writes these to the edges
        return self._compiled(changes, {GRAPH: compiled.links_text(self.core)}, (*_OF_ONE_GRAPH, *lists), check=False)

    def _compiled(self, changes: dict[str, Any], texts: dict[str, bytes], without: Iterable[str] = (),
                  check: bool = True) -> Experiment:
        """Returns a copy with changes and texts, without the keys in ``without`` and without keys that no longer apply.
        check: also build the plan, which raises ConfigError for a file that does not fit the network."""
        records, values = parameters_of(self["router.kind"]), {**self.flat(), **changes}
        given = {path: value for path, value in self._given.items()
                 if path not in without and applies(records[path], values)}
        kept = {path: text for path, text in self._texts.items() if path in given}
        made = Experiment({**given, **changes}, self.base_dir, self.name, kept | texts)
        if check:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a run repeats these warnings
                made.core.derived()
        return made

    def __getitem__(self, path: str) -> Any:
        values = self.flat()
        if path not in values:
            if path in parameter_paths():
                raise KeyError(f"{path} does not apply to this configuration.")
            if of_it := [known for known in values if known.startswith(f"{path}.")]:
                raise KeyError(f"{path} is not a parameter; its {len(of_it)} parameters are {', '.join(of_it)}.")
            about = about_key(path)
            raise KeyError(f"there is no {path}.{' ' + about if about else did_you_mean(path, values)}")
        return values[path]

    def __contains__(self, path: object) -> bool:
        """Returns whether a dotted path applies to this configuration."""
        return path in self.keys()

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self.keys())

    def keys(self) -> KeysView[str]:
        """Returns the dotted paths that apply to this configuration; ``dict(exp)`` equals ``exp.flat()``."""
        return self.flat().keys()

    def flat(self) -> dict[str, Any]:
        """Returns every resolved parameter by its dotted path."""
        return self.core.flat()

    def derived(self) -> dict[str, float]:
        """Returns derived numbers, such as routers, channels, bisection, bytes of state, zero-load latency (cycles)."""
        return self.core.derived()

    def forms(self) -> dict[str, str]:
        """Returns the form of the state on each engine (keys ``cpu`` and ``gpu``): ``lanes`` or ``scalar``.

        Lanes are the fast form. ``scalar`` is followed by the parameter that excludes lanes, if there is one.
        """
        return self.core.forms()

    def to_toml(self) -> str:
        """Returns the resolved configuration as TOML text. File names are absolute, so the text is valid in any folder.

        Raises ConfigError if traffic, routes, a graph or a program are in memory; :meth:`save` writes these too.
        """
        if not isinstance(self._given.get(_PROGRAM, ""), str):
            raise ConfigError(f"{_PROGRAM} is a program in memory, which TOML text cannot refer to: save it with "
                              "Program.save(path), and set the key to that path.")
        for path in self._texts:
            raise ConfigError(f"{path} is in memory, which TOML text cannot refer to: save everything with "
                              "Experiment.save(path).")
        return self._toml({})

    def save(self, path: str | os.PathLike) -> None:
        """Writes the resolved configuration to a TOML file, and files in memory to CSV files in the same folder, such
        as ``mine.toml`` and ``mine-matrix.csv``. Raises ConfigError if they cannot be written."""
        with writing("Experiment.save", path, "a TOML file"):
            self._save(Path(path))

    def _save(self, path: Path) -> None:
        texts = {key: text for key, text in self._texts.items() if key in self.flat()}
        program = self._given.get(_PROGRAM, "")
        if not isinstance(program, str):
            texts[_PROGRAM] = program.text()
        names = {key: f"{path.stem}-{compiled.FILE_NAMES[key]}.csv" for key in texts}
        for key, name in names.items():
            path.with_name(name).write_bytes(texts[key])
        path.write_text(self._toml(names), encoding="utf-8")

    def _toml(self, names: Mapping[str, str]) -> str:
        """Returns TOML text. ``names``: dotted path -> name of a file in the folder of the configuration."""
        lines: list[str] = []
        section = None
        for path, value in self.flat().items():
            if path in names:
                value = names[path]
            elif path.endswith("file") and value:
                value = os.path.join(self.base_dir, value)
            table, _, key = path.partition(".")
            if table != section:
                lines += ([""] if lines else []) + [f"[{table}]"]
                section = table
            lines.append(f"{key} = {_toml(value)}")
        return "\n".join(lines) + "\n"

    def __getstate__(self):
        return {"given": self._given, "base_dir": self.base_dir, "name": self.name, "texts": self._texts}

    def __setstate__(self, state):
        self.__init__(state["given"], state["base_dir"], state["name"], state["texts"])

    def __repr__(self) -> str:
        flat = self.flat()
        shape = "x".join(str(k) for k in flat["topology.shape"]) if "topology.shape" in flat else ""
        mode = flat["traffic.mode"]
        file = {"trace": "traffic.trace_file", "program": _PROGRAM}.get(mode)
        traffic = flat.get("traffic.class_pattern") or flat.get(file or "traffic.pattern", "")
        if mode != "open":
            traffic = f"{mode} {traffic}".rstrip()
        load = f" at {flat['traffic.load']}" if "traffic.load" in flat else ""
        kind = flat.get("topology.kind", "")
        network = f"{shape} {kind}".strip() + f", {flat['router.kind']} router"
        algorithm = flat.get("routing.algorithm")
        return f"<Experiment {self.name}: {network}, {algorithm + ', ' if algorithm else ''}{traffic}{load}>"


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, (list, tuple)):
        if len(value) == 1 and isinstance(value[0], (list, tuple)):
            return str(value[0][0])  # all packets have the same length
        return "[" + ", ".join(_toml(v) for v in value) + "]"
    return repr(value)


def check_is_path(key: Any) -> None:
    if not isinstance(key, str):
        raise ConfigError(f'unknown key {shown(key)}: a key is a dotted path, a string such as "traffic.load".')


def check_key(key: Any) -> None:
    """Raises ConfigError for a key that no model has, so that it cannot be removed."""
    check_is_path(key)
    if key not in parameter_paths():
        about = about_key(key)
        raise ConfigError(f"unknown key {key}.{' ' + about if about else did_you_mean(key, sorted(parameter_paths()))}")


def _check_given(call: str, given: Any) -> None:
    if not isinstance(given, Mapping):
        instead = f"fl.load({given!r})" if isinstance(given, (str, os.PathLike)) else "fl.load"
        raise ConfigError(f"{call}({shown(given)}): it needs a dictionary of dotted paths and values; to read a file, "
                          f"or a configuration included with flitlab, use {instead}.")


def load(path: str | os.PathLike) -> Experiment:
    """Reads a configuration: a TOML file, the name of one included with flitlab (:func:`flitlab.configs`), or a file of
    BookSim 2, which is translated (docs/booksim.md). Raises ConfigError with the file and line of the error."""
    check_path(f"load({shown(path)})", path, "a file, or the name of a configuration included with flitlab")
    path = Path(path)
    if not path.exists():
        known = shipped.path_of(path.name) if len(path.parts) == 1 else None
        if known is None:
            raise ConfigError(f"{path} cannot be read: there is no such file, and flitlab includes no configuration of "
                              f"that name.{did_you_mean(path.stem, shipped.configs())} `flitlab configs` lists them.")
        path = known
    text = read_text(path, str(path))
    try:
        tree = parse_toml(text, str(path))
    except ConfigError as error:
        if is_booksim(path.suffix, text):
            return load_booksim(path, text)
        raise ConfigError(about_text(str(path), path.suffix, text) or str(error)) from None
    return Experiment.from_dict(tree, str(path.parent), path.stem)


def load_booksim(path: str | os.PathLike, text: str | None = None, changes: Iterable[str] = ()) -> Experiment:
    """Translates a configuration of BookSim 2. ``text``: that of the file, if it has been read. ``changes``: further
    statements, such as ``"injection_rate=0.2"``. Raises ConfigError."""
    return translated_booksim(path, text, changes)[0]


def translated_booksim(path: str | os.PathLike, text: str | None = None,
                       changes: Iterable[str] = ()) -> tuple[Experiment, list[str]]:
    """Returns the experiment of :func:`load_booksim`, and a sentence for each parameter of the configuration that has
    no exact equal in flitlab."""
    path = Path(path)
    by = translate_interface if path.suffix.lower() == ENDING else translate
    found = by(read_text(path, str(path)) if text is None else text, str(path), path.parent, changes)
    try:
        return Experiment(found.values, str(path.parent), path.stem, found.texts), found.notes
    except ConfigError as error:
        raise ConfigError(f"{path}, translated from BookSim's parameters: {error}") from None


Given: TypeAlias = "Experiment | str | os.PathLike | Mapping[str, Any]"


def experiment_of(given: Given) -> Experiment:
    """Returns an Experiment as given, or makes one from a file, the name of a shipped configuration, or a dictionary.
    Raises ConfigError for other types."""
    if isinstance(given, Experiment):
        return given
    if isinstance(given, Mapping):
        return Experiment.from_dict(given)
    if isinstance(given, (str, os.PathLike)):
        return load(given)
    raise ConfigError(f"an experiment cannot be made of a {type(given).__name__}: give an Experiment, a file, the name "
                      "of a shipped configuration, or a dictionary.")
