"""Two builds of flitlab_bench, run alternately: the speed ratio of the second to the first, benchmark by benchmark. The
median is over pairs of consecutive runs, so that drifts of the machine's speed do not matter.

    cmake --build build/tests --target flitlab_bench        here, and in a checkout of another commit
    python tests/perf/compare_builds.py OTHER/flitlab_bench build/tests/flitlab_bench --only bgl
"""

import argparse
import json
import statistics
import subprocess

COUNTER = "router_cycles/s"


def rates(program: str, only: str, seconds: float) -> dict[str, float]:
    """Returns router-cycles per second, by benchmark."""
    printed = subprocess.run([program, "--benchmark_format=json", f"--benchmark_min_time={seconds}",
                              f"--benchmark_filter={only}"], capture_output=True, text=True, check=True).stdout
    return {b["name"]: b[COUNTER] for b in json.loads(printed)["benchmarks"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("first")
    parser.add_argument("second")
    parser.add_argument("--only", default=".", help="a regular expression of names")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.15, help="minimum time of each benchmark")
    args = parser.parse_args()
    programs = (args.first, args.second)
    runs: tuple[list[dict[str, float]], list[dict[str, float]]] = ([], [])
    for k in range(args.rounds):
        for which in (0, 1) if k % 2 == 0 else (1, 0):  # alternate the order
            runs[which].append(rates(programs[which], args.only, args.seconds))
    print("| benchmark | first, router-cycles/s | second | median of pairs | best by best |\n|---|---|---|---|---|")
    for name in [name for name in runs[0][0] if name in runs[1][0]]:
        first, second = ([run[name] for run in of] for of in runs)
        pairs = statistics.median(b / a for a, b in zip(first, second, strict=True))
        print(f"| {name.split('/')[-1]} | {max(first):.3g} | {max(second):.3g} | {pairs:.2f} "
              f"| {max(second) / max(first):.2f} |", flush=True)


if __name__ == "__main__":
    main()
