"""Access to the configurations and notebooks included with flitlab."""

from __future__ import annotations

import shutil
from itertools import takewhile
from pathlib import Path

from flitlab._core import ConfigError
from flitlab.arguments import writing


def folder(kind: str = "configs") -> Path:
    """Returns the folder "configs" or "notebooks": in the package, or in a source tree at its top."""
    installed = Path(__file__).parent / kind
    return installed if installed.is_dir() else Path(__file__).resolve().parents[2] / kind


def copy_notebooks(to: Path) -> list[Path]:
    """Copies the notebooks into a folder, which is made if necessary, and returns the copies. Raises ConfigError, and
    copies nothing, if one of the files exists."""
    files = sorted(folder("notebooks").glob("*.ipynb"))
    for file in files:
        if (to / file.name).exists():
            raise ConfigError(f"{to / file.name} already exists: move it, or choose another folder, as in "
                              "`flitlab notebooks my-notebooks`.")
    with writing("notebooks", to, "a folder"):
        to.mkdir(parents=True, exist_ok=True)
        return [Path(shutil.copyfile(file, to / file.name)) for file in files]


def configs() -> list[str]:
    """Returns the names of the configurations included with flitlab, for example for ``fl.run("vc-torus-8x8")``."""
    return sorted(path.stem for path in folder().glob("*.toml"))


def path_of(name: str) -> Path | None:
    """Returns the file of a configuration by its name, with or without folder and suffix; None without such a file."""
    path = folder() / f"{Path(name).name.removesuffix('.toml')}.toml"
    return path if path.is_file() else None


def listing() -> list[tuple[str, str]]:
    """Returns (name, first sentence of the comment at the beginning of the file) for each configuration."""
    return [(name, _first_sentence((folder() / f"{name}.toml").read_text(encoding="utf-8"))) for name in configs()]


def _first_sentence(text: str) -> str:
    comment = " ".join(line[1:].strip() for line in takewhile(lambda line: line.startswith("#"), text.splitlines()))
    return comment.partition(". ")[0].removesuffix(".") + "."
