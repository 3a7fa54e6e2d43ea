"""The configurations that come with flitlab."""

from __future__ import annotations

from itertools import takewhile
from pathlib import Path


def folder() -> Path:
    """Where they are: in the package, or beside it in a checkout of the sources."""
    installed = Path(__file__).parent / "configs"
    return installed if installed.is_dir() else Path(__file__).resolve().parents[2] / "configs"


def configs() -> list[str]:
    """Names of the configurations that come with flitlab: ``fl.run("vc-torus-8x8")``."""
    return sorted(path.stem for path in folder().glob("*.toml"))


def path_of(name: str) -> Path | None:
    """The file of a configuration, by its name with or without folder and ending; None: there is none."""
    path = folder() / f"{Path(name).name.removesuffix('.toml')}.toml"
    return path if path.is_file() else None


def listing() -> list[tuple[str, str]]:
    """Each name, and the first sentence of what its file says of itself."""
    return [(name, _first_sentence((folder() / f"{name}.toml").read_text(encoding="utf-8"))) for name in configs()]


def _first_sentence(text: str) -> str:
    comment = " ".join(line[1:].strip() for line in takewhile(lambda line: line.startswith("#"), text.splitlines()))
    return comment.partition(". ")[0].removesuffix(".") + "."
