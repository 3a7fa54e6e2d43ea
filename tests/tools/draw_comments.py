"""Draws comments at random, for readers who judge whether a newcomer understands them.

    python tests/tools/draw_comments.py --seed 7 > sample.md

Prints ``--comments`` comments from each of ``--files`` C++, CUDA, Python and JavaScript files, numbered, each with the
code around it. Equal seeds give equal samples of equal trees.
"""

import argparse
import pathlib
import random
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMENT = re.compile(
    r'(?P<lines>(?:^[ \t]*//[^\n]*\n)+)|(?P<block>/\*.*?\*/)|(?P<text>"""(?s:.*?)""")'
    r"|(?P<hash>(?:^[ \t]*#[ :][^\n]*\n)+)"
    r"|(?P<end>[^\n]*\S[^\n]*?(?:///<|  #|  //)[^\n]*\n)",
    re.M,
)
BEFORE, AFTER = 2, 5  # lines of context


def comments(path: pathlib.Path) -> list[tuple[int, str]]:
    """Returns the line and the text of each comment of a file, with the lines around it."""
    text = path.read_text()
    lines = text.split("\n")
    found = []
    for match in COMMENT.finditer(text):
        if len(match.group().split()) < 4 or "// namespace" in match.group():
            continue
        if match.group("hash") and path.suffix != ".py":
            continue
        first = text.count("\n", 0, match.start())
        last = text.count("\n", 0, match.end()) + (not match.group().endswith("\n"))
        found.append((first + 1, "\n".join(lines[max(first - BEFORE, 0) : last + AFTER]).rstrip()))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--files", type=int, default=60)
    parser.add_argument("--comments", type=int, default=6, help="of each file")
    options = parser.parse_args()
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    sources = [path for path in tracked if pathlib.Path(path).suffix in (".cpp", ".hpp", ".cu", ".cuh", ".py", ".js")]
    draw = random.Random(options.seed)
    draw.shuffle(sources)
    number = files = 0
    for source in sources:
        found = comments(ROOT / source)
        if len(found) < options.comments:
            continue
        print(f"\n## {source}")
        for line, text in sorted(draw.sample(found, options.comments)):
            number += 1
            print(f"\n### {number} (line {line})\n```\n{text}\n```")
        files += 1
        if files == options.files:
            break


if __name__ == "__main__":
    main()
