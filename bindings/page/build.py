"""Builds the web page: the core as WebAssembly, the scope, and the shipped configurations, in one HTML file.

`make page` calls it. It needs Emscripten (on Debian: apt-get install emscripten) and no Python package.
"""

import base64
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from itertools import takewhile
from pathlib import Path

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    from pip._vendor import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent
BUILD = ROOT / "build" / "page"
sys.path.insert(0, str(ROOT / "bindings" / "flitlab"))  # scope and textbook, which need no compiled package
# Routers that the scope draws; larger configurations are not in the page.
MOST_ROUTERS = int(re.search(r"kMostDrawn = (\d+)", (ROOT / "bindings/frames/recorder.hpp").read_text())[1])
FIRST = "vc-mesh-8x8"  # configuration that the page shows first
# JavaScript files of worker and page.
WORKER = ("places", "meta", "worker")
PAGE = ("toml", "link", "conversation", "kept", "chart", "downloads", "curve", "sliders", "book", "start")


def flatten(tree: dict, prefix: str = "") -> dict:
    flat = {}
    for key, value in tree.items():
        flat |= flatten(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return flat


def configurations() -> list[dict]:
    """Returns the page's configurations: name, description, values by dotted path, texts of the files they name."""
    from scope import is_in_page

    found = []
    for path in sorted((ROOT / "configs").glob("*.toml")):
        text = path.read_text(encoding="utf-8")
        flat = flatten(tomllib.loads(text))
        if not is_in_page(flat, MOST_ROUTERS):
            continue
        comment = " ".join(line[1:].strip() for line in takewhile(lambda line: line.startswith("#"), text.splitlines()))
        files = [key for key, value in flat.items() if key.endswith("file") and value]
        texts = {key: (path.parent / flat[key]).read_text(encoding="utf-8") for key in files}
        found.append({"name": path.stem, "about": comment.partition(". ")[0].removesuffix(".") + ".", "config": flat,
                      "texts": texts})
    return sorted(found, key=lambda c: (c["name"] != FIRST, c["name"]))


def scope_texts() -> tuple[str, str]:
    """Returns the scope's module and style sheet; these do not need the compiled package."""
    from scope import module_text, style_text

    return module_text(), style_text()


def book() -> dict:
    """Returns the textbook (docs/book): chapters, and terms with their meanings. Each figure also has ``python``, its
    lines of Python."""
    from textbook.source import python_text, read_chapters, read_terms

    chapters = read_chapters(ROOT / "docs" / "book", tomllib.loads)
    for chapter in chapters:
        for figure in chapter["figures"]:
            figure["python"] = python_text(figure)
    return {"chapters": chapters, "terms": read_terms(ROOT / "docs" / "book", tomllib.loads)}


def script(name: str) -> str:
    return (HERE / "js" / f"{name}.js").read_text(encoding="utf-8")


def inline(text: str) -> str:
    """Returns a text escaped for a script element."""
    return text.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def page(core: str, wasm: bytes) -> str:
    module, style = scope_texts()
    parts = {
        "scope_css": style, "page_css": (HERE / "page.css").read_text(encoding="utf-8"),
        "configs": inline(json.dumps(configurations(), separators=(",", ":"))),
        "book": inline(json.dumps(book(), separators=(",", ":"))),
        "wasm": base64.b64encode(gzip.compress(wasm, 9, mtime=0)).decode(), "core": inline(core),
        "worker": inline("\n".join(map(script, WORKER))), "module": inline("\n".join([module, *map(script, PAGE)])),
    }
    text = (HERE / "page.html").read_text(encoding="utf-8")
    for name, part in parts.items():
        text = text.replace(f"@{name}@", part)
    return text


def compile_core() -> None:
    missing = next((tool for tool in ("emcmake", "cmake", "ninja") if shutil.which(tool) is None), None)
    if missing:
        sys.exit(f"make page: {missing} is not on PATH. On Debian: apt-get install emscripten cmake ninja-build.")
    # Debian's Emscripten needs the JavaScript parser of Debian's Node, also if another Node is on PATH.
    environment = {"NODE_PATH": "/usr/share/nodejs", **os.environ}
    for command in (["emcmake", "cmake", "-G", "Ninja", "-S", ROOT, "-B", BUILD, "-DFLITLAB_CUDA=OFF"],
                    ["ninja", "-C", BUILD, *sys.argv[2:]]):
        done = subprocess.run(list(map(str, command)), env=environment, text=True, capture_output=True)
        if done.returncode:
            sys.exit(f"make page: {command[0]} failed.\n{done.stdout[-4000:]}{done.stderr[-4000:]}")


if __name__ == "__main__":
    compile_core()
    out = Path(sys.argv[1])
    out.parent.mkdir(parents=True, exist_ok=True)
    built = BUILD / "flitlab_page"
    out.write_text(page(built.with_suffix(".js").read_text(encoding="utf-8"), built.with_suffix(".wasm").read_bytes()),
                   encoding="utf-8")
    print(f"{out}: {out.stat().st_size / 1e6:.1f} MB")
