"""Storage of a sweep's results: points.jsonl in its folder, or a temporary file without a folder.

Memory holds only the offsets of the results in the file."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import warnings
import zlib
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from flitlab import _core
from flitlab.curve_rows import is_result
from flitlab.executors import digest_of
from flitlab.journal import entry_of, line_of, write_anew
from flitlab.result import Result
from flitlab.rows import Rows
from flitlab.under_way import writing

IN_MEMORY = 4 << 20  # largest temporary file that stays in memory, bytes; larger ones are written to the disk


class InFolder:
    """Lines of points.jsonl, addressed by their byte offset in the file."""

    def __init__(self, path: Path):
        self.path = path

    def add(self, key: str, result: dict[str, Any]) -> int:
        """Appends a line, waits until it is on the disk, and returns its offset."""
        with writing(self.path.parent), self.path.open("ab") as file:
            line = line_of(key, result).encode()
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
            return file.tell() - len(line)

    def get(self, line_offset: int) -> dict[str, Any]:
        try:
            with self.path.open("rb") as file:
                file.seek(line_offset)
                return json.loads(file.readline())["result"]
        except (OSError, ValueError, LookupError, TypeError):
            raise self.changed() from None

    def changed(self) -> _core.ConfigError:
        return _core.ConfigError(f"{self.path} was moved or changed after the sweep read it, so results cannot be read "
                                 "from it. Read the folder anew with Curve.read.")


class InTemporary:
    """A temporary file with compressed results. It is deleted with the last curve that reads it. The first result
    serves as the dictionary of the compression, because results of a sweep share most of their text."""

    def __init__(self) -> None:
        # The file is closed when this object is deleted.
        self._file = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115
        self._first = b""

    def add(self, _: str, result: dict[str, Any]) -> int:
        text = json.dumps(result).encode()
        self._first = self._first or text
        packer = zlib.compressobj(zdict=self._first)
        packed = packer.compress(text) + packer.flush()
        try:
            line_offset = self._file.seek(0, os.SEEK_END)
            self._file.write(len(packed).to_bytes(4, "little") + packed)
        except OSError as error:
            raise _core.ConfigError(f"the temporary file of the sweep, in {tempfile.gettempdir()}, cannot be written: "
                                    f"{error.strerror or error}. Give the sweep a folder (out), or set TMPDIR."
                                    ) from None
        return line_offset

    def get(self, line_offset: int) -> dict[str, Any]:
        self._file.seek(line_offset)
        size = int.from_bytes(self._file.read(4), "little")
        return json.loads(zlib.decompressobj(zdict=self._first).decompress(self._file.read(size)))

    def __getstate__(self) -> tuple[bytes, bytes]:
        self._file.seek(0)
        return self._first, self._file.read()

    def __setstate__(self, state: tuple[bytes, bytes]) -> None:
        self.__init__()  # type: ignore[misc]
        self._first = state[0]
        self._file.write(state[1])


class Results(Sequence[Result]):
    """The whole result of each row of a curve, read from its file on access."""

    def __init__(self, kept: InFolder | InTemporary, line_offsets: array[int], rows: Rows):
        self._kept, self._offsets, self._rows = kept, line_offsets, rows

    def __len__(self) -> int:
        return len(self._offsets)

    def __getitem__(self, index: Any) -> Any:
        """Returns a result, or for a slice a list of results."""
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        result = self._kept.get(self._offsets[index])
        if isinstance(self._kept, InFolder) and result["state_hash"] != self._rows[index]["state_hash"]:
            raise self._kept.changed()
        return Result(result)

    def __repr__(self) -> str:
        return f"<{len(self)} results>"


class Finished:
    """Finished points of a sweep, with their results in points.jsonl or a temporary file. A line that is truncated by a
    crash, damaged or of another schema is ignored with a warning, and its point runs again.

    Memory holds, for each point, the digest of its key and the offset of its result."""

    def __init__(self, path: Path | None, resume: bool):
        self._offsets: dict[bytes, int] = {}
        self.kept = InFolder(path) if path else InTemporary()
        self.path = path
        if path is None:
            return
        whole = self._read(path) if resume and path.exists() else True
        if not whole:
            old = path.with_suffix(".old")
            old.unlink(missing_ok=True)
            shutil.copyfile(path, old)
            warnings.warn(f"The unchanged {path} is kept as {old}.", stacklevel=3)
        self._write_anew(path)

    def __contains__(self, digest: bytes) -> bool:
        return digest in self._offsets

    def result(self, digest: bytes) -> dict[str, Any]:
        return self.kept.get(self._offsets[digest])

    def results(self, digests: Sequence[bytes], rows: Rows) -> Results:
        return Results(self.kept, array("q", (self._offsets[digest] for digest in digests)), rows)

    def add(self, digest: bytes, key: str, result: dict[str, Any]) -> None:
        self._offsets[digest] = self.kept.add(key, result)

    def _read(self, path: Path) -> bool:
        """Stores the offsets of sound lines. Returns whether all lines are sound, except for a truncated last one."""
        whole = True
        for number, (line_offset, line) in enumerate(lines_of(path), 1):
            if line == "\n":
                continue
            if entry := entry_of(line, is_result):
                self._offsets[digest_of(entry[0])] = line_offset  # if a point has several lines, the last one counts
                continue
            cut = not line.endswith("\n")
            what = "is truncated" if cut else "is damaged, or from another version of flitlab"
            whole = whole and cut
            warnings.warn(f"{path}:{number} {what}; its point runs again.", stacklevel=4)
        return whole

    def _write_anew(self, path: Path) -> None:
        """Rewrites the file with the last sound line of each point, and stores their new offsets."""
        line_offsets: dict[int, int] = {}  # old offset -> new offset

        def sound() -> Iterator[str]:
            wanted, written = set(self._offsets.values()), 0
            for line_offset, line in lines_of(path) if wanted else ():
                if line_offset in wanted:
                    line_offsets[line_offset] = written
                    written += len(line.encode())
                    yield line

        write_anew(path, sound())
        self._offsets = {digest: line_offsets[line_offset] for digest, line_offset in self._offsets.items()}


def lines_of(path: Path) -> Iterator[tuple[int, str]]:
    """Yields the offset and text of each line of a file."""
    line_offset = 0
    with path.open("rb") as file:
        for line in file:
            yield line_offset, line.decode(errors="replace")
            line_offset += len(line)
