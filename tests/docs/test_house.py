"""Rules for includes and imports: each machine has one folder per source tree, above shared code that names no machine.

The machines are the folders of kernels/routers, so a new one is covered. RULES, ORDER and BASE define all rules. The
rest reads the sources, and is itself tested on artificial trees. test_script_order.py has the rule for JavaScript.
"""

from __future__ import annotations

import ast
import io
import os
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Rule:
    """Files whose path begins with ``files`` must not include or import paths that begin with ``never``. Both are
    regular expressions; ``{any}`` is any model. If ``files`` contains ``{one}``, the rule applies to each model in
    turn."""

    name: str
    files: str
    never: str


RULES = [
    Rule("kernels include no host", "kernels/", "(host|bindings)/"),
    Rule("shared kernels include no router", "kernels/(common|engines|traffic)/", "kernels/routers/"),
    # One machine's code may use another's only if that is the canonical router.
    Rule("routers include no other but vc", "kernels/routers/{one}/", "kernels/routers/(?!({one}|vc)/)"),
    Rule("the host includes no bindings", "host/", "bindings/"),
    Rule("the shared host includes no router", "host/(config|topology|routing|programs|plan|repetition|run)/",
         "(host|kernels)/routers/"),
    Rule("the host's routers include no other but vc", "host/routers/{one}/", "(host|kernels)/routers/(?!({one}|vc)/)"),
    Rule("only the registry names all routers", r"host/routers/(?!registry\.cpp$)[^/]+$",
         "(host|kernels)/routers/{any}/"),
    Rule("the extension module includes no router", "bindings/(pybind|page|frames|c)/", "(host|kernels)/routers/"),
    Rule("shared Python imports no machine", "bindings/flitlab/((scope|reports|textbook)/)?[^/]+$",
         "bindings/flitlab/{any}(/|$)"),
    Rule("a machine's Python imports no other", "bindings/flitlab/{one}/", "bindings/flitlab/(?!{one}(/|$)){any}(/|$)"),
]

# The folders of shared C++ code. A file includes files of its own folder and of earlier ones.
ORDER = ["kernels/common", "kernels/engines", "kernels/traffic", "host/config", "host/topology", "host/routing",
         "host/programs", "host/plan", "host/repetition", "host/run", "bindings/frames", "bindings/pybind",
         "bindings/page", "bindings/c"]

# Shared code: no file, identifier or string (on which code could branch) is named after a machine.
BASE = (r"kernels/(common|engines|traffic)/|host/(config|topology|routing|programs|plan|run)/"
        r"|host/routers/(?!registry\.cpp$)[^/]+$|bindings/(pybind|page|frames|c)/|bindings/flitlab/((scope|reports|textbook)/)?[^/]+$")
# Models whose names are also terms of the field: virtual channel, adaptive routing, crossbar switch.
WORDS = {"vc", "adaptive", "switch"}

CPP = {".cpp", ".hpp", ".cu", ".cuh"}
TOKENS = re.compile(
    r"//[^\n]*|/\*.*?\*/"  # comments
    r'|R"(?P<end>[^(\s]*)\(.*?\)(?P=end)"|"(?P<text>(?:\\.|[^"\\\n])*)"'
    r"|(?<!\w)'(?:\\.|[^'\\\n])*'"  # a character literal, but not the separator in 1'000
    r"|(?P<name>[A-Za-z_]\w*)", re.S)


@dataclass(frozen=True)
class Source:
    """A file: its includes or imports, as (line, path, not for types only); its names and strings, as (line, text)."""

    path: str
    uses: list[tuple[int, str, bool]]
    names: list[tuple[int, str]]
    texts: list[tuple[int, str]]


def read_cpp(root: Path, path: str) -> Source:
    text = (root / path).read_text(encoding="utf-8")
    uses, names, texts = [], [], []
    for token in TOKENS.finditer(text):
        line = text.count("\n", 0, token.start()) + 1
        if token["name"]:
            spelled = token["name"] + "::" * text.startswith("::", token.end())
            names.append((line, spelled))
        elif token["text"] is not None:
            before = text[text.rfind("\n", 0, token.start()) + 1:token.start()]
            if re.fullmatch(r"\s*#\s*include\s*", before):
                beside = os.path.normpath(os.path.join(os.path.dirname(path), token["text"]))
                uses.append((line, beside if (root / beside).exists() else os.path.normpath(token["text"]), True))
            else:
                texts.append((line, token["text"]))
    for found in re.finditer(r"^[ \t]*#[ \t]*include[ \t]*<([^>\n]+)>", text, re.M):
        uses.append((text.count("\n", 0, found.start()) + 1, os.path.normpath(found[1]), True))
    return Source(path, uses, names, texts)


def imported(root: Path, path: str, node: ast.Import | ast.ImportFrom) -> list[str]:
    """Returns the paths below bindings/ of the modules that a statement names; for other packages the path does not
    exist."""
    if isinstance(node, ast.Import):
        return ["bindings/" + alias.name.replace(".", "/") for alias in node.names]
    start = "bindings"
    if node.level:
        start = "/".join(path.split("/")[:-node.level])
    start += "/" + node.module.replace(".", "/") if node.module else ""
    inside = [f"{start}/{alias.name}" for alias in node.names]
    return [one if (root / one).is_dir() or (root / f"{one}.py").exists() else start for one in inside]


def read_python(root: Path, path: str) -> Source:
    text = (root / path).read_text(encoding="utf-8")
    tree = ast.parse(text)
    for_types = {inner for outer in ast.walk(tree)
                 if isinstance(outer, ast.If) and ast.unparse(outer.test) == "TYPE_CHECKING"
                 for inner in ast.walk(outer)}
    uses = [(node.lineno, target, node not in for_types) for node in ast.walk(tree)
            if isinstance(node, (ast.Import, ast.ImportFrom)) for target in imported(root, path, node)]
    names = [(token.start[0], token.string) for token in tokenize.generate_tokens(io.StringIO(text).readline)
             if token.type == tokenize.NAME]
    texts = [(node.lineno, node.value) for node in ast.walk(tree)
             if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return Source(path, uses, names, texts)


def sources(root: Path) -> list[Source]:
    found = []
    for top in ("kernels", "host", "bindings/pybind", "bindings/page", "bindings/frames", "bindings/c",
                "bindings/flitlab"):
        for file in sorted((root / top).rglob("*")):
            path = file.relative_to(root).as_posix()
            if file.suffix in CPP:
                found.append(read_cpp(root, path))
            elif file.suffix == ".py":
                found.append(read_python(root, path))
    return found


def models(root: Path) -> list[str]:
    return sorted(folder.name for folder in (root / "kernels/routers").iterdir() if folder.is_dir())


def broken(rule: Rule, root: Path, read: list[Source]) -> Iterator[str]:
    """Yields violations of a rule, as file:line and the used path."""
    known = models(root)
    for one in known if "{one}" in rule.files else [""]:
        files, never = (re.compile(text.replace("{one}", one).replace("{any}", f"({'|'.join(known)})"))
                        for text in (rule.files, rule.never))
        for source in read:
            if files.match(source.path):
                yield from (f"{source.path}:{line}: {used}" for line, used, _ in source.uses if never.match(used))


def against_order(read: list[Source]) -> Iterator[str]:
    """Yields includes of a later folder of ORDER, as file:line and the included path."""
    place = {folder: i for i, folder in enumerate(ORDER)}
    for source in read:
        own = place.get(os.path.dirname(source.path), len(ORDER))
        yield from (f"{source.path}:{line}: {used}" for line, used, _ in source.uses
                    if place.get(os.path.dirname(used), 0) > own)


def called_after(name: str, machine: str) -> bool:
    """Returns whether an identifier contains a machine's name as a part: kMetroSent, bgl_plan; but not disconnect."""
    for found in re.finditer(machine, name, re.I):
        before, word, after = name[:found.start()][-1:], found[0], name[found.end():][:1]
        if (not before.isalpha() or (before.islower() and word[0].isupper())) and not after.islower():
            return True
    return False


def named(root: Path, read: list[Source]) -> Iterator[str]:
    """Yields files, names and strings of shared code that are named after a machine."""
    machines = [name for name in models(root) if name not in WORDS]
    for source in read:
        if not re.match(BASE, source.path):
            continue
        if any(called_after(Path(source.path).stem, machine) for machine in machines):
            yield f"{source.path}:1: the file's name"
        yield from (f"{source.path}:{line}: {name}" for line, name in source.names
                    if any(called_after(name, machine) for machine in machines) or name[:-2] in WORDS)
        yield from (f'{source.path}:{line}: "{text}"' for line, text in source.texts
                    if " " not in text and any(called_after(text, machine) for machine in machines))


# Names of machines as they are written in text. Only citations may contain them.
WRITTEN = re.compile(r"\bT3E\b|Blue Gene|\bMETRO\b|S-Connect|\bCray\b")


def written(root: Path, read: list[Source]) -> Iterator[str]:
    """Yields strings of shared code that mention a machine, except citations."""
    for source in read:
        if re.match(BASE, source.path):
            lines = (root / source.path).read_text(encoding="utf-8").splitlines()
            yield from (f'{source.path}:{line}: "{text}"' for line, text in source.texts
                        if WRITTEN.search(text) and "cite" not in lines[line - 1])


def cmake_names(root: Path) -> Iterator[str]:
    """Yields lines of CMake files that name a model, except in that model's folder."""
    folders = ("kernels", "host", "bindings", "tests")
    for file in [root / "CMakeLists.txt", *(file for top in folders for file in sorted((root / top).rglob("*.cmake")))]:
        path = file.relative_to(root).as_posix()
        others = [model for model in models(root) if not path.startswith(f"kernels/routers/{model}/")]
        yield from (f"{path}:{i}: {line}" for i, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
                    if any(called_after(line, model) for model in others))


def circle(root: Path, read: list[Source]) -> str:
    """Returns a cycle of Python modules that import each other, also inside functions; "" if no such cycle exists.
    Imports under TYPE_CHECKING do not count, nor the names that flitlab/__init__.py imports on first use."""
    files = {source.path: source for source in read if source.path.endswith(".py")}

    def file_of(module: str) -> str:
        return next((path for path in (f"{module}.py", f"{module}/__init__.py") if path in files), "")

    lines = {(path, file_of(used)): line for path, source in files.items()
             for line, used, loads in reversed(source.uses) if loads and file_of(used)}
    graph: dict[str, set[str]] = {path: set() for path in files}
    for user, used in lines:
        graph[user].add(used)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:  # the next module in the list imports this one
        way = list(reversed(error.args[1]))
        return " -> ".join(f"{user}:{lines[user, used]}" for user, used in pairwise(way))
    return ""


def expect_none(found: Iterator[str]) -> None:
    lines = list(found)
    if lines:
        pytest.fail("\n".join(lines), pytrace=False)


@pytest.fixture(scope="module")
def all_sources() -> list[Source]:
    return sources(ROOT)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_no_file_breaks_a_rule(rule, all_sources):
    expect_none(broken(rule, ROOT, all_sources))


def test_shared_folders_have_an_order(all_sources):
    folders = {os.path.dirname(source.path) for source in all_sources if Path(source.path).suffix in CPP}
    assert folders - set(ORDER) == {folder for folder in folders if re.match("(kernels|host)/routers", folder)}
    expect_none(against_order(all_sources))


def test_shared_code_is_not_named_after_a_machine(all_sources):
    expect_none(named(ROOT, all_sources))


def test_shared_code_mentions_no_machine(all_sources):
    expect_none(written(ROOT, all_sources))


def test_the_base_may_cite_a_machine_and_not_explain_one(tmp_path):
    read = made_up(tmp_path, {"host/run/a.cpp": 'f("x (Blue Gene/L)");\ng{.cite = "S-Connect, 2.1"};\n',
                              "host/routers/alpha/a.cpp": 'f("the Cray T3E");\n'})
    assert list(written(tmp_path, read)) == ['host/run/a.cpp:1: "x (Blue Gene/L)"']


def test_no_file_of_the_engines_is_named_after_a_router():
    stems = {part for file in (ROOT / "kernels/engines").iterdir() for part in file.stem.split("_")}
    assert not stems & set(models(ROOT))


def test_cmake_names_no_model():
    expect_none(cmake_names(ROOT))


def test_python_modules_import_one_way(all_sources):
    assert circle(ROOT, all_sources) == ""


def test_all_source_trees_have_the_same_models():
    known = models(ROOT)
    assert known == sorted(folder.name for folder in (ROOT / "host/routers").iterdir() if folder.is_dir())
    registry = (ROOT / "host/routers/registry.cpp").read_text(encoding="utf-8")
    assert known == sorted(re.findall(r"\bMODEL\((\w+)\)", registry.replace("FLITLAB_MODELS(MODEL)", "")))
    others = {"booksim", "classics", "reports", "scope", "textbook", "workloads"}
    packages = {file.parent.name for file in (ROOT / "bindings/flitlab").glob("*/__init__.py")} - others
    assert packages and packages <= set(known)


# Tests of the checker.


def made_up(root: Path, files: dict[str, str]) -> list[Source]:
    """Makes a tree with the models vc, alpha and beta, and these files by path."""
    for model in ("vc", "alpha", "beta"):
        (root / "kernels/routers" / model).mkdir(parents=True)
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return sources(root)


def of(name: str) -> Rule:
    return next(rule for rule in RULES if rule.name == name)


@pytest.mark.parametrize(("rule", "path", "right", "wrong"), [
    ("kernels include no host", "kernels/routers/alpha/a.hpp", "kernels/common/types.hpp", "host/plan/plan.hpp"),
    ("shared kernels include no router", "kernels/traffic/a.hpp", "kernels/common/types.hpp",
     "kernels/routers/vc/a.hpp"),
    ("routers include no other but vc", "kernels/routers/alpha/a.cu", "kernels/routers/vc/a.hpp",
     "kernels/routers/beta/b.hpp"),
    ("the host includes no bindings", "host/plan/a.hpp", "kernels/common/a.hpp", "bindings/pybind/convert.hpp"),
    ("the shared host includes no router", "host/run/a.cpp", "host/plan/plan.hpp", "host/routers/vc/plan.hpp"),
    ("the shared host includes no router", "host/plan/a.cpp", "host/plan/plan.hpp", "kernels/routers/beta/state.hpp"),
    ("the host's routers include no other but vc", "host/routers/beta/a.cpp", "host/routers/vc/a.hpp",
     "kernels/routers/alpha/state.hpp"),
    ("only the registry names all routers", "host/routers/list.cpp", "host/plan/plan.hpp", "host/routers/vc/plan.hpp"),
    ("the extension module includes no router", "bindings/pybind/a.cpp", "host/run/run.hpp",
     "host/routers/alpha/plan.hpp"),
])
def test_an_include_that_breaks_a_rule_is_found(tmp_path, rule, path, right, wrong):
    text = f'#pragma once\n// #include "{wrong}"\n#include "{right}"\n/*\n#include "{wrong}"\n*/ #  include "{wrong}"\n'
    assert list(broken(of(rule), tmp_path, made_up(tmp_path, {path: text}))) == []
    text += f'  #  include "{wrong}"  // wrong\n# include <{wrong}>\n'
    (tmp_path / path).write_text(text, encoding="utf-8")
    assert list(broken(of(rule), tmp_path, sources(tmp_path))) == [f"{path}:7: {wrong}", f"{path}:8: {wrong}"]


def test_an_include_of_a_file_beside_is_known_by_its_path(tmp_path):
    read = made_up(tmp_path, {"kernels/routers/alpha/a.hpp": '#include "../beta/b.hpp"\n#include "b.hpp"\n',
                              "kernels/routers/beta/b.hpp": "", "kernels/routers/alpha/b.hpp": ""})
    rule = of("routers include no other but vc")
    assert list(broken(rule, tmp_path, read)) == ["kernels/routers/alpha/a.hpp:1: kernels/routers/beta/b.hpp"]


@pytest.mark.parametrize(("path", "wrong"), [
    ("bindings/flitlab/tracing.py", "from flitlab.alpha import trace"),
    ("bindings/flitlab/tracing.py", "from flitlab import alpha"),
    ("bindings/flitlab/tracing.py", "def late():\n    import flitlab.alpha.trace as trace"),
    ("bindings/flitlab/tracing.py", "from .alpha.trace import Watch"),
    ("bindings/flitlab/beta/trace.py", "from flitlab.alpha.trace import Watch"),
    ("bindings/flitlab/beta/trace.py", "from ..alpha import trace"),
])
def test_an_import_that_breaks_a_rule_is_found(tmp_path, path, wrong):
    right = "from flitlab.runner import run\nfrom flitlab.alphabet import a\nimport numpy.alpha\n"
    right += "from flitlab.beta import tools\n" if "beta" in path else ""
    files = {"bindings/flitlab/alpha/__init__.py": "", "bindings/flitlab/alpha/trace.py": "class Watch: ...\n",
             "bindings/flitlab/beta/__init__.py": "", path: f"{right}{wrong}\n"}
    read = made_up(tmp_path, files)
    found = [line for rule in RULES for line in broken(rule, tmp_path, read)]
    line = (right + wrong).count("\n") + 1
    assert len(found) == 1 and found[0].startswith(f"{path}:{line}: bindings/flitlab/alpha")


def test_names_of_the_base_are_looked_at_in_parts(tmp_path):
    code = """enum E { kAlphaSent, kSent };  // alpha
int alphabet, thealpha; const char* s = "of an alpha"; char c = '"', d = 'x';
int f(alpha::State&);
if (kind == "alpha") g(1'000, ALPHA_BITS, 2'000);
int at_alpha; kVc0; adaptive;
get("alpha.nodes", "alphabet"); vc::State s; vc = 1;
"""
    python = 'kind == "beta"\n"""beta is a machine"""\n_core.beta_tables()  # beta\n'
    read = made_up(tmp_path, {
        "host/run/a.cpp": code, "kernels/routers/alpha/a.cpp": code, "host/plan/beta_plan.hpp": "",
        "bindings/flitlab/run.py": python, "bindings/flitlab/beta/run.py": python})
    assert sorted(named(tmp_path, read)) == sorted([
        "host/plan/beta_plan.hpp:1: the file's name", "host/run/a.cpp:1: kAlphaSent", "host/run/a.cpp:3: alpha::",
        'host/run/a.cpp:4: "alpha"', "host/run/a.cpp:4: ALPHA_BITS", "host/run/a.cpp:5: at_alpha",
        'host/run/a.cpp:6: "alpha.nodes"', "host/run/a.cpp:6: vc::",
        'bindings/flitlab/run.py:1: "beta"', "bindings/flitlab/run.py:3: beta_tables"])


def test_an_include_of_a_later_folder_is_found(tmp_path):
    read = made_up(tmp_path, {
        "kernels/common/a.hpp": '#include "kernels/common/b.hpp"\n\n#include "kernels/engines/c.hpp"\n',
        "kernels/traffic/a.hpp": '#include "kernels/engines/c.hpp"\n', "kernels/engines/c.hpp": "",
        "host/topology/a.cpp": '#include "host/config/a.hpp"\n#include "kernels/traffic/a.hpp"\n',
        "host/config/a.cpp": '#include "host/config/a.hpp"\n#include "host/topology/a.hpp"\n',
        "host/routers/vc/a.cpp": '#include "host/run/a.hpp"\n', "bindings/pybind/a.cpp": '#include "host/run/a.hpp"\n',
        "bindings/frames/a.cpp": '#include "bindings/pybind/a.hpp"\n'})
    assert sorted(against_order(read)) == [
        "bindings/frames/a.cpp:1: bindings/pybind/a.hpp", "host/config/a.cpp:2: host/topology/a.hpp",
        "kernels/common/a.hpp:3: kernels/engines/c.hpp"]


def test_a_model_in_a_cmake_file_is_found(tmp_path):
    cmake = "find_program(nvcc)\n# alphabet\nadd(alpha_lanes kernels/routers/vc/unit.cpp)\nset(USE_BETA ON)\n"
    made_up(tmp_path, {"CMakeLists.txt": cmake, "kernels/routers/alpha/build.cmake": cmake.replace("vc", "alpha"),
                       "tests/emulated/build.cmake": "kernels/routers/*/cpu.cpp\n"})
    assert list(cmake_names(tmp_path)) == [
        "CMakeLists.txt:3: add(alpha_lanes kernels/routers/vc/unit.cpp)", "CMakeLists.txt:4: set(USE_BETA ON)",
        "kernels/routers/alpha/build.cmake:4: set(USE_BETA ON)"]


@pytest.mark.parametrize("imports", ["from flitlab.two import os\n", "def late():\n    from flitlab import two\n",
                                     "class A:\n    async def late(self):\n        import flitlab.two\n"])
def test_a_circle_of_imports_is_found(tmp_path, imports):
    one, two = "bindings/flitlab/one.py", "bindings/flitlab/two/__init__.py"
    types = "if TYPE_CHECKING:\n    from flitlab import two\n"
    read = made_up(tmp_path, {one: types, two: "import os\nfrom flitlab.one import late\n"})
    assert circle(tmp_path, read) == ""
    (tmp_path / one).write_text(types + imports, encoding="utf-8")
    line = (types + imports).count("\n")
    assert circle(tmp_path, sources(tmp_path)) in (f"{one}:{line} -> {two}:2", f"{two}:2 -> {one}:{line}")
