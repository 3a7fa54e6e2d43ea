"""The contents of the page that `make page` builds, and its message without Emscripten."""

import os
import re
import subprocess
import sys
from collections import Counter

import wasm_page

import flitlab as fl
from flitlab import links

BUILDER = wasm_page.builder()


def test_without_emscripten_the_message_names_the_package(tmp_path):
    done = subprocess.run([sys.executable, wasm_page.ROOT / "bindings/page/build.py", tmp_path / "page.html"],
                          capture_output=True, text=True, env={**os.environ, "PATH": str(tmp_path)})
    assert done.returncode == 1
    assert "emcmake is not on PATH" in done.stderr and "apt-get install emscripten" in done.stderr
    assert not (tmp_path / "page.html").exists()


def test_shipped_configurations_that_a_browser_can_take_are_there():
    found = wasm_page.configurations()
    assert next(iter(found)) == "vc-mesh-8x8"
    for name in fl.configs():
        exp = fl.load(name)
        if exp.core.terminals() > 4 * BUILDER.MOST_ROUTERS:
            assert name not in found
            continue
        if name not in found:
            assert (exp.derived()["routers"] > BUILDER.MOST_ROUTERS or exp.flat().get("traffic.trace_file")
                    or fl.shipped.needs_python(name))
            continue
        c = found[name]
        texts = {path: text.encode() for path, text in c["texts"].items()}
        assert fl._core.Experiment(c["config"], ".", texts).flat() == exp.flat()
        assert c["about"] == dict(fl.shipped.listing())[name]


def test_one_rule_says_which_configurations_the_page_has(monkeypatch):
    """The builder and links (flitlab.links) take it from the scope."""
    assert BUILDER.MOST_ROUTERS == fl._core.Recorder.MOST_DRAWN
    import scope  # as the builder imports it, without the compiled package

    monkeypatch.setattr(scope, "is_in_page", lambda given, most: given["router.kind"] == "t3e")
    monkeypatch.setattr(links, "is_in_page", scope.is_in_page)
    names = set(wasm_page.configurations())
    assert "t3e-16" in names and "vc-mesh-8x8" not in names
    assert names == {name for name in fl.configs() if links.in_page(name)}


def test_files_that_a_configuration_names_are_texts():
    texts = {name: c["texts"] for name, c in wasm_page.configurations().items() if c["texts"]}
    assert texts.keys() == {"bgl-figure10", "metro-wiring", "vc-dgx-h100", "vc-rail-cluster"}
    assert texts["metro-wiring"]["topology.file"] == (wasm_page.ROOT / "configs/metro-wiring.csv").read_text()


def test_the_files_of_a_module_have_different_names():
    """The files are joined to one module, in which a name that two files declare is a syntax error."""
    scope, _ = BUILDER.scope_texts()
    for parts in ([scope, *map(BUILDER.script, BUILDER.PAGE)], list(map(BUILDER.script, BUILDER.WORKER))):
        names = re.findall(r"^(?:async )?(?:function|class|const|let) +(\w+)", "\n".join(parts), re.MULTILINE)
        assert len(names) > 20
        assert [name for name, count in Counter(names).items() if count > 1] == []
