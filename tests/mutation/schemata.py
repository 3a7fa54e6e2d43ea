"""Places where a source can be mutated, and the source with all chosen mutants compiled in (mutant.hpp)."""

import hashlib
import re
from dataclasses import dataclass, field
from pathlib import Path

# The models' cycle, and the host's measurement and planning. Left out: records, lists of fields, audits (a wrong audit
# is a false alarm), and CUDA code.
SOURCES = ["kernels/routers/*/*.hpp", "kernels/traffic/*.hpp", "kernels/common/bits.hpp",
           "kernels/common/packet_queue.hpp", "kernels/common/histogram.hpp", "host/run/statistics.cpp",
           "host/run/measurement.cpp", "host/run/trace_feed.cpp", "host/run/idle.cpp", "host/topology/patterns.cpp",
           "host/topology/topology.cpp", "host/routing/*.cpp", "host/plan/terminal_plan.cpp"]
LEFT_OUT = re.compile(r"(params|state|total|totals|audit|model|streams|fields)\.hpp$")
OPERATORS = {"<": "Less", "<=": "LessEqual", ">": "Greater", ">=": "GreaterEqual", "==": "Equal",
             "!=": "NotEqual", "+": "Plus", "-": "Minus"}
BINARY = re.compile(r" (<=|>=|==|!=|<|>|\+|-|&&|\|\|) ")
# A whole statement on one line: an assignment to an existing variable, a call, or an increment.
STATEMENT = re.compile(r"^( +)((?:[\w.:\[\]()*]|->)+ (?:=|\+=|-=|\|=|&=|\^=) [^;{}]+|(?:\+\+|--)[\w.\[\]()>-]+|"
                       r"[\w.:>-]+\([^;{}]*\));$")
NO_CODE = re.compile(r"^\s*(#|//|template|using|enum|case |static_assert|requires|return .*requires)|"
                     r"constexpr|requires|operator|static_assert|throw |fail\(|FLITLAB_|check_interrupt|std::move|"
                     # messages, array sizes and enumerators; a prefetch has no effect
                     r"to_string|prefetch|^\s*\w+ \w+\[.*\](,|;| = )|^\s*k[A-Z]\w+( =.*)?,$")
WHOLE = re.compile(r"[;{})]$|^$")  # how the line before a statement ends


@dataclass
class Mutant:
    path: str
    line: int  # from 1
    code: str
    change: str
    at: int  # column; -1: the whole statement
    number: int = 0
    tests: list = field(default_factory=list)

    @property
    def key(self) -> str:
        """An identifier that depends on the code, but not on its line number."""
        return f"{self.path}: {self.code}: {self.change}"


def balanced(text: str) -> bool:
    return text.count("(") == text.count(")") and text.count("[") == text.count("]")


def mutants_of(root: Path, path: str) -> list[Mutant]:
    """Returns all mutants of a file."""
    found = []
    lines = (root / path).read_text().split("\n")
    for n, line in enumerate(lines):
        code = line.split("//")[0].rstrip()
        if NO_CODE.search(code):
            continue
        strings = [m.span() for m in re.finditer(r'"(?:[^"\\]|\\.)*"', code)]
        for m in BINARY.finditer(code):
            if any(a <= m.start() < b for a, b in strings) or not code[:m.start()].strip():
                continue
            becomes = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "+": "-", "-": "+",
                       "&&": "never", "||": "always"}[m[1]]
            nth = len(BINARY.findall(code[:m.start() + 1]))
            found.append(Mutant(path, n + 1, code.strip(), f"{m[1]} ({nth + 1}) is {becomes}", m.start() + 1))
        before = lines[n - 1].split("//")[0].rstrip()
        if STATEMENT.match(code) and WHOLE.search(before) and balanced(code) and not before.endswith("="):
            found.append(Mutant(path, n + 1, code.strip(), "left out", -1))
    return found


def all_mutants(root: Path, sources: list[str]) -> list[Mutant]:
    paths = sorted({str(p.relative_to(root)) for pattern in sources for p in root.glob(pattern)})
    return [m for path in paths if not LEFT_OUT.search(path) for m in mutants_of(root, path)]


def chosen(mutants: list[Mutant], count: int, seed: int) -> list[Mutant]:
    """Returns `count` mutants, selected by a hash of their keys, so that an edit elsewhere does not change the
    choice."""
    order = sorted(mutants, key=lambda m: hashlib.sha256(f"{seed} {m.key}".encode()).digest())
    taken = {}
    for m in order:
        taken.setdefault(m.key, m)  # code that occurs twice in a file counts once
    return list(taken.values())[:count]


def compiled_in(text: str, mutants: list[Mutant]) -> str:
    """Returns a source with its mutants."""
    lines = text.split("\n")
    for m in sorted(mutants, key=lambda m: (m.line, -m.at)):  # from right to left, the whole statement last
        line = lines[m.line - 1]
        if m.at < 0:
            code, _, comment = line.partition(" //")
            code = code.rstrip()
            indent = len(code) - len(code.lstrip())
            lines[m.line - 1] = (f"{code[:indent]}::flitlab_mutant::on({m.number}) ? void() : void({code[indent:-1]});"
                                 f"{' //' + comment if comment else ''}")
            continue
        operator = m.change.split()[0]
        if operator == "&&":
            new = f"&& !::flitlab_mutant::on({m.number}) &&"
        elif operator == "||":
            new = f"|| ::flitlab_mutant::on({m.number}) ||"
        else:
            new = f"{operator} ::flitlab_mutant::{OPERATORS[operator]}<{m.number}>{{}} {operator}"
        lines[m.line - 1] = line[:m.at] + new + line[m.at + len(operator):]
    first = next(i for i, line in enumerate(lines) if line.startswith("#include") or line.startswith("namespace"))
    return "\n".join([*lines[:first], '#include "tests/mutation/mutant.hpp"', *lines[first:]])
