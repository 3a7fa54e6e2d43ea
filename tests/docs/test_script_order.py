"""The JavaScript files of the router scope and of the web page are joined in an order, and a file refers only to names
of earlier ones. A local variable therefore must not have the name of a later function either."""

from __future__ import annotations

import re
import runpy
from collections.abc import Iterator
from pathlib import Path

import pytest
import wasm_page

SCOPE, PAGE = Path("bindings/flitlab/scope/js"), Path("bindings/page/js")
BUILDER = wasm_page.builder()
MODULES = runpy.run_path(str(wasm_page.ROOT / SCOPE.parent / "__init__.py"))["MODULES"]
JOINED = {"module": [*(SCOPE / f"{name}.js" for name in MODULES), *(PAGE / f"{name}.js" for name in BUILDER.PAGE)],
          "worker": [PAGE / f"{name}.js" for name in BUILDER.WORKER]}

TOKENS = re.compile(
    r"//[^\n]*|/\*.*?\*/"  # comments
    r"|'(?:\\.|[^'\\\n])*'" r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<=[(,=:\[!&|?{};\n])\s*/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\[\n])+/"  # regular expressions
    r"|(?P<mark>[`{}])|(?P<name>(?<![\w$])[A-Za-z_$][\w$]*)", re.S)
TEMPLATE = re.compile(r"(?:\\.|\$(?!\{)|[^\\`$])*(`|\$\{)", re.S)  # text of a template, up to its end or an expression
DECLARED = re.compile(r"^(?:export )?(?:async )?(?:function|class|const|let) (?:(\w+)|\[([\w,\s]+)\])[^;\n]*", re.M)


def declared(text: str) -> set[str]:
    """Returns the names that a file declares at its top level."""
    found: set[str] = set()
    for one in DECLARED.finditer(text):
        found |= set(re.findall(r"\w+", one[1] or one[2]))
        found |= set(re.findall(r", (\w+) = ", one[0])) if one[0].startswith("const") else set()
    return found


def used(text: str) -> Iterator[tuple[int, str]]:
    """Yields line and name of each identifier that is neither a member (after a dot) nor a key (before a colon)."""
    at, opened = 0, []
    while found := TOKENS.search(text, at):
        at, mark = found.end(), found["mark"]
        if found["name"]:
            member = text[:found.start()].endswith(".") and not text[:found.start()].endswith("...")
            if not member and text[at:at + 1] != ":":
                yield text.count("\n", 0, found.start()) + 1, found["name"]
        elif mark == "{":
            opened.append(mark)
        elif mark == "`" or (mark == "}" and opened and opened.pop() == "`"):
            part = TEMPLATE.match(text, at)
            assert part, f"a template without an end in line {text.count(chr(10), 0, at) + 1}"
            at = part.end()
            opened += ["`"] * (part[1] != "`")


def against_order(root: Path, files: list[Path]) -> Iterator[str]:
    """Yields file:line and name where a file refers to a later one."""
    texts = [(root / file).read_text(encoding="utf-8") for file in files]
    of = {name: i for i, text in enumerate(texts) for name in declared(text)}
    for i, (file, text) in enumerate(zip(files, texts, strict=True)):
        yield from (f"{file}:{line}: {name} of {files[of[name]].name}" for line, name in used(text)
                    if of.get(name, -1) > i)


@pytest.mark.parametrize("files", JOINED.values(), ids=JOINED)
def test_a_script_refers_to_earlier_ones_only(files):
    assert list(against_order(wasm_page.ROOT, files)) == []


def test_all_scripts_are_joined():
    assert {path for files in JOINED.values() for path in files} == {
        path.relative_to(wasm_page.ROOT) for folder in (SCOPE, PAGE) for path in (wasm_page.ROOT / folder).iterdir()}


def test_a_reference_to_a_later_script_is_found(tmp_path):
    one = r'''// later(); LATER
const [FIRST, SECOND] = [1, 2], THIRD = "later()";
function first(o, a) {
  o.later = `later ${a ? `${later(o)} later` : "}"} LATER`;
  const f = { later: a ? 1 :LATER }, g = /later\/[/]LATER/.exec('LATER') / 2;
  return [...rest, o?.LATER, FIRST];  /* rest
  LATER */
}
'''
    two = "let rest = [];\nconst LATER = 3;\nasync function later(o) {\n  return SECOND + THIRD + first(o);\n}\n"
    for name, text in (("one.js", one), ("two.js", two)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert list(against_order(tmp_path, [Path("one.js"), Path("two.js")])) == [
        "one.js:4: later of two.js", "one.js:5: LATER of two.js", "one.js:6: rest of two.js"]
    assert list(against_order(tmp_path, [Path("two.js"), Path("one.js")])) == [
        "two.js:4: SECOND of one.js", "two.js:4: THIRD of one.js", "two.js:4: first of one.js"]
