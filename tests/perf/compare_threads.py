"""One and two threads, alternately, on a large network: the speed-up of two.

    python tests/perf/compare_threads.py [CONFIG]
"""

import statistics
import sys
import time

import flitlab as fl


def main() -> None:
    config = sys.argv[1] if len(sys.argv) > 1 else "configs/vc-torus-32x32x32.toml"
    experiment = fl.load(config).set("traffic.load", 0.1)
    routers = int(experiment.derived()["routers"])
    networks = {threads: fl.Network(experiment, threads=threads, backend="cpu").step(60) for threads in (1, 2)}
    seconds: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(12):
        for threads, network in networks.items():
            started = time.perf_counter()
            network.step(30)
            seconds[threads].append(time.perf_counter() - started)
    for threads, times in seconds.items():
        print(f"{threads} threads: {routers * 30 / min(times) / 1e6:.2f} million router-cycles/s at best")
    ratios = sorted(one / two for one, two in zip(seconds[1], seconds[2], strict=True))
    print(f"ratio per pair: {ratios[0]:.2f} to {ratios[-1]:.2f}, median {statistics.median(ratios):.2f}")


if __name__ == "__main__":
    main()
