"""Estimators of the confidence interval of a mean latency, compared on recorded series of epochs.

    python tests/perf/interval_estimators.py [--seeds N]

Each estimator ends a window on each series like an automatic window: when the half width is 1 % of the mean, checked
after a number of epochs and then after each increase by a quarter. Prints the share of half widths within a factor of
two of the honest one (1.96 standard deviations of the mean of windows of that length), the share of intervals that
contain the mean, and the mean length of the windows in cycles. Needs scipy.
"""

import argparse
from collections.abc import Callable

import numpy as np
from scipy.stats import t as student

import flitlab as fl

EPOCH, WARMUP, STEADY, LONGEST, PRECISION = 100, 20, 10, 200, 0.01  # cycles; the others in epochs
POINTS = [("mesh", [8, 8], 0.05), ("mesh", [8, 8], 0.3), ("torus", [8, 8], 0.4), ("torus", [8, 8, 8], 0.1)]


def record(kind: str, shape: list[int], load: float, seeds: int) -> np.ndarray:
    """Returns [seed][epoch][2]: packets delivered in an epoch, and the sum of their latencies."""
    epochs = WARMUP + (LONGEST if len(shape) == 2 else 40)
    series = np.zeros((seeds, epochs, 2))
    for seed in range(seeds):
        net = fl.Network(fl.Experiment.from_dict({"topology.kind": kind, "topology.shape": shape, "traffic.load": load,
                                                  "run.seed": seed + 1}))
        before = np.zeros(2)
        for epoch in range(epochs):
            totals = net.step(EPOCH).totals
            now = np.array([totals["packets_delivered"], totals["latency_sum"]])
            series[seed, epoch], before = now - before, now
    return series


# Estimators. Argument x[epoch]: latency sum of the epoch minus (mean latency times packets of the epoch). Result:
# (variance of the mean of x, times the number of epochs; degrees of freedom).

def covariances(x: np.ndarray, most: int) -> np.ndarray:
    return np.array([x[: len(x) - lag] @ x[lag:] / len(x) for lag in range(most + 1)])


def batch_means(batches: int) -> Callable:
    def estimate(x: np.ndarray) -> tuple[float, float]:
        each = max(1, len(x) // batches)
        sums = x[len(x) % each :].reshape(-1, each).sum(axis=1)
        return sums.var(ddof=1) / each, len(sums) - 1
    return estimate


def overlapping_batch_means(x: np.ndarray) -> tuple[float, float]:
    """Meketon and Schmeiser, Proc. Winter Simulation Conference 1984; batch size is the square root of n."""
    n, each = len(x), round(len(x) ** 0.5)
    total = np.concatenate([[0], np.cumsum(x)])
    return np.mean((total[each:] - total[:-each]) ** 2) / each * n / (n - each), 1.5 * (n / each - 1)


def initial_monotone_sequence(x: np.ndarray) -> tuple[float, float]:
    """Geyer, Statistical Science 7(4), 1992."""
    n, g = len(x), covariances(x, len(x) // 2)
    total, last, least = -g[0], 0, np.inf
    for lag in range(0, len(g) - 1, 2):
        least = min(least, g[lag] + g[lag + 1])
        if least <= 0:
            break
        total, last = total + 2 * least, lag + 1
    used = 2 * last + 1
    return max(total, 0.2 * g[0]) * (n / (n - used) if n > used else 2), max(1, n / used - 1)


def spectral(x: np.ndarray) -> tuple[float, float]:
    """Heidelberger and Welch, CACM 24(4), 1981: a line through the logarithm of at most 25 averaged pairs."""
    n = len(x)
    periodogram = (np.abs(np.fft.rfft(x)) ** 2 / n)[1 : (n - 1) // 2 + 1]
    pairs = min(25, len(periodogram) // 2)
    height = np.log((periodogram[: 2 * pairs : 2] + periodogram[1 : 2 * pairs : 2]) / 2) + 0.27
    place = np.vander((4 * np.arange(1, pairs + 1) - 1) / (2 * n), 2, increasing=True)
    spread = np.linalg.inv(place.T @ place)
    error = 0.645 * spread[0, 0]
    return np.exp(-error / 2) * np.exp((spread @ place.T @ height)[0]), max(1, 2 / (np.exp(error) - 1))


def autoregressive(x: np.ndarray) -> tuple[float, float]:
    """flitlab's estimator: Fishman, Management Science 18(1), 1971, of first order on at most a hundred batches."""
    each = -(-len(x) // 100)
    sums = x[len(x) % each :].reshape(-1, each).sum(axis=1)
    n, squares = len(sums), sums @ sums
    r = np.clip(sums[1:] @ sums[:-1] / squares + 1 / n, 0, 0.9)
    return squares / (n - 1) * (1 + r) / (1 - r) / each, n - 1


def from_ten_or_twenty(x: np.ndarray) -> tuple[float, float]:
    """flitlab's former estimator: the wider of two intervals, each from batches with their lag-1 correlation."""
    found = []
    for batches in (10, 20):
        each = max(1, len(x) // batches)
        sums = x[len(x) % each :].reshape(-1, each).sum(axis=1)
        n, sums = len(sums), sums - sums.mean()
        r = np.clip(sums[1:] @ sums[:-1] / (sums @ sums) + 1 / n, 0, 0.9)
        independent = max(2, n * (1 - r) / (1 + r))
        found.append((sums @ sums / (n - 1) / each * n / independent, max(1, int(independent) - 1)))
    return max(found, key=lambda f: student.ppf(0.975, f[1]) * f[0] ** 0.5)


ESTIMATORS = {  # name -> (estimator, epochs of the warm-up that it uses, epochs before the first check)
    "ten or twenty batches, lag-1 correction (before)": (from_ten_or_twenty, 0, 10),
    "ten batches, taken as independent": (batch_means(10), 0, 10),
    "overlapping batch means": (overlapping_batch_means, 0, 10),
    "initial monotone sequence": (initial_monotone_sequence, 0, 10),
    "spectral": (spectral, 0, 10),
    "autoregressive, the window alone": (autoregressive, 0, 10),
    "autoregressive, with the warm-up's steady part": (autoregressive, STEADY, 10),
    "the same, first check after sixteen epochs (flitlab's)": (autoregressive, STEADY, 16),
}


def judge(series: np.ndarray, estimator: Callable, before: int, first: int) -> tuple[float, float, float]:
    steady = series[:, WARMUP:]
    mean, count = steady[..., 1].sum() / steady[..., 0].sum(), steady[..., 0].mean()
    whole = (steady[..., 1] - mean * steady[..., 0])[:, : steady.shape[1] // 20 * 20]
    # Scaled by the square root of the number of epochs n.
    honest = 1.96 * (whole.reshape(len(series), -1, 20).sum(axis=2) / (20 * count)).std() * 20**0.5
    near = held = cycles = 0.0
    for counts, sums in series.transpose(0, 2, 1):
        epochs = first
        while True:
            window = slice(WARMUP, WARMUP + epochs)
            seen_counts, seen_sums = counts[WARMUP - before : window.stop], sums[WARMUP - before : window.stop]
            variance, degrees = estimator(seen_sums - seen_sums.sum() / seen_counts.sum() * seen_counts)
            packets = counts[window].sum()
            found = sums[window].sum() / packets
            half = student.ppf(0.975, degrees) * (variance * epochs) ** 0.5 / packets
            if half <= PRECISION * found or window.stop + epochs // 4 > len(counts):
                break
            epochs += max(1, epochs // 4)
        near += 0.5 < half / honest * epochs**0.5 < 2
        held += abs(found - mean) <= half
        cycles += epochs * EPOCH
    return near / len(series), held / len(series), cycles / len(series)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=300)
    seeds = parser.parse_args().seeds
    recorded = [record(*point, seeds) for point in POINTS]
    names = [f"{'x'.join(map(str, shape))} {kind}, {load}" for kind, shape, load in POINTS]
    print("| estimator | " + " | ".join(names) + " |\n|---|" + "---|" * len(names))
    for name, (estimator, before, first) in ESTIMATORS.items():
        cells = [judge(series, estimator, before, first) for series in recorded]
        row = " | ".join(f"{near:.1%}, {held:.1%}, {cycles:.0f}" for near, held, cycles in cells)
        print(f"| {name} | {row} |")


if __name__ == "__main__":
    main()
