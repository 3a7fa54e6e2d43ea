"""What a sweep that is stopped leaves in its folder, besides finished points."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from flitlab import _core
from flitlab.arguments import named, on_command_line
from flitlab.journal import write_anew


@contextmanager
def writing(folder: Path | None) -> Iterator[None]:
    """An error of our own files names their folder; those of workers, which may be OSErrors too, do not come here."""
    try:
        yield
    except OSError as error:
        raise _core.ConfigError(f"{named('out', str(folder))} cannot be written: {error.strerror or error}.") from None


class UnderWay:
    """The job that runs now, in the folder of its sweep: which points it has, and a checkpoint of all of them. Replicas
    of a job advance together, so that when a sweep is stopped most of its work is in points that have not ended."""

    def __init__(self, folder: Path):
        self._points, self.checkpoint = folder / "job.json", folder / "job.checkpoint"

    def read(self) -> list[bytes]:
        """Digests of the points of a job that was stopped; of none, an empty list."""
        try:
            return [bytes.fromhex(digest) for digest in json.loads(self._points.read_text(encoding="utf-8"))]
        except (OSError, ValueError, TypeError):
            return []

    def begin(self, digests: list[bytes]) -> None:
        if self.read() != digests:
            with writing(self._points.parent):
                self.checkpoint.unlink(missing_ok=True)
                write_anew(self._points, [json.dumps([digest.hex() for digest in digests])])

    def end(self) -> None:
        self.checkpoint.unlink(missing_ok=True)
        self._points.unlink(missing_ok=True)


def kept_in(folder: Path) -> str:
    """What a sweep that was stopped has left."""
    try:
        with (folder / "points.jsonl").open(encoding="utf-8") as file:
            finished = sum(1 for _ in file)
    except OSError:
        return ""
    under_way = ", and what was under way as far as it has come" if (folder / "job.checkpoint").exists() else ""
    return (f"finished points: {finished}, in {folder}{under_way}; go on with "
            + ("--resume" if on_command_line.get() else "resume=True"))
