"""Access to the configurations and notebooks included with flitlab."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import takewhile
from pathlib import Path

from flitlab._core import ConfigError
from flitlab.arguments import writing

# Folder in configs of the configurations that need Python, because their programs are in formats of other tools (GOAL,
# Chakra). What reads configurations without Python, such as the web page, reads the files in configs only.
WORKLOADS = "workloads"


def folder(kind: str = "configs") -> Path:
    """Returns the folder "configs", "notebooks" or "book" (the textbook): in the package, or in a source tree at its
    top or in docs."""
    installed = Path(__file__).parent / kind
    top = Path(__file__).resolve().parents[2]
    return installed if installed.is_dir() else (top / "docs" / kind if kind == "book" else top / kind)


def copy_notebooks(to: Path, more: Mapping[str, str] | None = None) -> list[Path]:
    """Writes the notebooks into a folder, which is made if necessary, and returns their paths. more: further notebooks,
    texts by file name. Raises ConfigError, and writes nothing, if one of the files exists."""
    texts = {file.name: file.read_text(encoding="utf-8") for file in sorted(folder("notebooks").glob("*.ipynb"))}
    texts |= more or {}
    for name in texts:
        if (to / name).exists():
            raise ConfigError(f"{to / name} already exists: move it, or choose another folder, as in "
                              "`flitlab notebooks my-notebooks`.")
    with writing("notebooks", to, "a folder"):
        to.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (to / name).write_text(text, encoding="utf-8")
    return [to / name for name in texts]


def configs() -> list[str]:
    """Returns the names of the configurations included with flitlab, for example for ``fl.run("vc-torus-8x8")``."""
    return [path.stem for path in _files()]


def path_of(name: str) -> Path | None:
    """Returns the file of a configuration by its name, with or without folder and suffix; None without such a file."""
    stem = Path(name).name.removesuffix(".toml")
    return next((path for path in _files() if path.stem == stem), None)


def needs_python(name: str) -> bool:
    """Returns whether there is a configuration of this name that only Python can read."""
    path = path_of(name)
    return path is not None and path.parent != folder()


def listing() -> list[tuple[str, str]]:
    """Returns (name, first sentence of the comment at the beginning of the file) for each configuration."""
    return [(path.stem, _first_sentence(path.read_text(encoding="utf-8"))) for path in _files()]


def _files() -> list[Path]:
    return sorted([*folder().glob("*.toml"), *(folder() / WORKLOADS).glob("*.toml")], key=lambda path: path.stem)


def _first_sentence(text: str) -> str:
    comment = " ".join(line[1:].strip() for line in takewhile(lambda line: line.startswith("#"), text.splitlines()))
    return comment.partition(". ")[0].removesuffix(".") + "."
