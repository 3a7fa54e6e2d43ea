"""Files of an interrupted sweep besides its finished points: the running jobs and their checkpoints."""

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
    """Turns operating system errors of a sweep's own files into ConfigErrors that name its folder. Code inside must not
    run workers, because their errors may be OSErrors, too."""
    try:
        yield
    except OSError as error:
        raise _core.ConfigError(f"{named('out', str(folder))} cannot be written: {error.strerror or error}.") from None


class RunningJob:
    """A running job of a sweep, saved in the sweep's folder: the list of its points and a checkpoint of all of them.

    Replicas of a job advance together, so an interrupted sweep has most of its work in unfinished points. number:
    distinguishes the jobs of a sweep."""

    def __init__(self, folder: Path, number: int = 0):
        name = f"job-{number}" if number else "job"
        self.number, self._points, self.checkpoint = number, folder / f"{name}.json", folder / f"{name}.checkpoint"

    @classmethod
    def interrupted(cls, folder: Path) -> list[RunningJob]:
        """Returns the jobs of an interrupted sweep."""
        names = (path.stem.partition("-") for path in folder.glob("job*.json"))
        return [cls(folder, int(number or 0)) for word, _, number in sorted(names)
                if word == "job" and (number or "0").isdecimal()]

    def read(self) -> list[bytes]:
        """Returns the digests of the points of the job; [] without such a job."""
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


def saved_progress(folder: Path) -> str:
    """Returns a phrase on the saved progress of an interrupted sweep."""
    try:
        with (folder / "points.jsonl").open(encoding="utf-8") as file:
            finished = sum(1 for _ in file)
    except OSError:
        return ""
    under_way = ", and the progress of unfinished points" if any(folder.glob("job*.checkpoint")) else ""
    return (f"finished points: {finished}, in {folder}{under_way}; continue with "
            + ("--resume" if on_command_line.get() else "resume=True"))
