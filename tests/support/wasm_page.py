"""The page with the core as WebAssembly: its parts as built by `make page`, and the core run by Node."""

import importlib.util
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILT = ROOT / "build" / "page" / "flitlab_page"
SOURCES = ("kernels", "host", "bindings/page")

# One kernel answers the messages in order, as the page's worker does; prints the list of its answers.
KERNEL = """
const core = require(process.argv[2]), fs = require("fs"), messages = JSON.parse(fs.readFileSync(0, "utf8"));
eval(fs.readFileSync(process.argv[4], "utf8") + ";globalThis.Kernel = Kernel;");
core({ wasmBinary: fs.readFileSync(process.argv[3]) }).then((made) => {
  const kernel = new Kernel(made), cycle = () => kernel.answer({ do: "hash" }).cycle;
  const answer = (m) => {
    if (m.do === "point") return kernel.point(m, () => {});
    if (m.do !== "skip") return kernel.answer(m);
    // A skip ends early on a busy machine; the scope asks for the rest, too.
    for (const end = cycle() + m.cycles; ;) {
      const answered = kernel.answer({ ...m, cycles: end - cycle() });
      if (answered.error || cycle() >= end) return answered;
    }
  };
  process.stdout.write(JSON.stringify(messages.map(answer)));
});
"""


def builder():
    """Returns bindings/page/build.py as a module."""
    spec = importlib.util.spec_from_file_location("flitlab_page_build", ROOT / "bindings" / "page" / "build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def needs_core():
    """Skips with a reason unless the core is built as WebAssembly from the current sources. .ci/run builds it with
    Emscripten and sets FLITLAB_PAGE=required, so that a missing build fails."""
    wasm = BUILT.with_suffix(".wasm")
    why = ""
    if not wasm.exists():
        why = "the core is not built as WebAssembly: `make page` does it, with Emscripten (apt-get install emscripten)"
    else:
        newest = max((p for top in SOURCES for p in (ROOT / top).rglob("*") if p.suffix in (".cpp", ".hpp")),
                     key=lambda p: p.stat().st_mtime)
        if newest.stat().st_mtime > wasm.stat().st_mtime:
            why = f"{newest.relative_to(ROOT)} is newer than the core as WebAssembly: run `make page`"
    if why:
        assert os.environ.get("FLITLAB_PAGE") != "required", why
        pytest.skip(why)


def page_text():
    return builder().page(BUILT.with_suffix(".js").read_text(encoding="utf-8"), BUILT.with_suffix(".wasm").read_bytes())


def configurations():
    return {c["name"]: c for c in builder().configurations()}


def answers(messages, folder, mutant=("", "")):
    """Returns the answers of the worker's kernel, in Node. mutant: a change of its JavaScript."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not on PATH (it comes with Emscripten)")
    text = "\n".join(map(builder().script, builder().WORKER))
    assert mutant[0] in text
    (folder / "worker.js").write_text(text.replace(*mutant) if mutant[0] else text, encoding="utf-8")
    (folder / "kernel.js").write_text(KERNEL, encoding="utf-8")
    done = subprocess.run([node, folder / "kernel.js", BUILT.with_suffix(".js"), BUILT.with_suffix(".wasm"),
                           folder / "worker.js"], input=json.dumps(messages), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)
