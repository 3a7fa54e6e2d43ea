"""Results of BookSim that RapidChiplet's authors published, read from the lines of the figure in their repository
(`plots/extended_evaluation.pdf`), to all digits that the file has."""

import collections
import re
import zlib
from pathlib import Path

FIGURE = Path("plots", "extended_evaluation.pdf")
# Order of the figure's columns, of the lines in each, and of the points of each line.
PATTERNS = ("random_uniform", "transpose", "permutation", "hotspot")
TOPOLOGIES = ("mesh", "torus", "folded_torus", "sid_mesh")
SCALES = tuple(f"{side}x{side}" for side in range(3, 11))
# Row of the figure, and the distance of its grid lines in the axis' unit.
ROWS = {"latency": (1, 25), "throughput": (3, 10000), "seconds": (7, 100)}
LINK_BITS = 1929  # each link's bits per cycle: the throughput's unit is bits per cycle of all nodes
NODES = 8  # of a chiplet
_SHAPE = re.compile(r"q ([\d.]+) ([\d.]+) [\d.]+ [\d.]+ re\s+W n(.*?)\n[SQ]\n", re.DOTALL)  # corner of a plot, a path
_POINT = re.compile(r"([\d.-]+) ([\d.-]+) [ml]\b")


def published(checkout: Path) -> dict[str, dict]:
    """Returns for each design (topology-scale-pattern) the latency at the lowest load, the throughput as a rate, and
    the seconds that the stable runs took the authors."""
    data = (checkout / FIGURE).read_bytes()
    streams = [_inflated(data[at.end():]) for at in re.finditer(rb"stream\r?\n", data)]
    paths = collections.defaultdict(list)
    for x, y, path in _SHAPE.findall(max(streams, key=len)):
        paths[float(y), float(x)].append([(float(a), float(b)) for a, b in _POINT.findall(path)])
    lowest = sorted({y for y, _ in paths}, reverse=True)
    leftmost = sorted({x for _, x in paths})
    found = collections.defaultdict(dict)
    for measure, (row, unit) in ROWS.items():
        for pattern, x in zip(PATTERNS, leftmost, strict=True):
            bottom = lowest[row]
            shapes = paths[bottom, x]
            level = {shape[0][1] for shape in shapes if len(shape) == 2 and shape[0][1] == shape[1][1]}
            grid = sorted(level | {bottom})
            lines = [shape for shape in shapes if len(shape) == len(SCALES)]
            for topology, line in zip(TOPOLOGIES, lines, strict=True):
                for scale, (_, y) in zip(SCALES, line, strict=True):
                    value = (y - bottom) / (grid[-1] - grid[-2]) * unit
                    if measure == "throughput":
                        value = round(value / LINK_BITS / NODES / int(scale.split("x")[0]) ** 2, 3)
                    found[f"{topology}-{scale}-{pattern}"][measure] = value
    return dict(found)


def _inflated(data: bytes) -> str:
    try:
        return zlib.decompressobj().decompress(data).decode("latin1")
    except zlib.error:
        return ""
