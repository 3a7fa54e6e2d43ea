"""State hashes of every shipped configuration after a few epochs. A change without effect on behaviour leaves them
unchanged.

    python tests/hashes/record.py            compares with tests/hashes/expected.json; exit status 1 if any differs
    python tests/hashes/record.py --write    updates that file, after an intended change of state or behaviour
"""

import json
import sys
import warnings
from pathlib import Path

import flitlab as fl

HERE = Path(__file__).resolve().parent
CONFIGS = HERE.parents[1] / "configs"
EXPECTED = HERE / "expected.json"


def epochs(routers: int) -> list[int]:
    """Returns the cycles to compare for a network of this size: a second or two of work."""
    if routers <= 256:
        return [1, 100, 1000, 5000]
    return [1, 100, 1000] if routers <= 4096 else [1, 50, 200]


def hashes_of(path: Path, most: int | None = None) -> dict[str, str]:
    """Returns {cycle: state_hash} of one configuration on one thread, for the first `most` of its epochs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        experiment = fl.load(path)
        network = fl.Network(experiment)
    found = {}
    for cycle in epochs(int(experiment.derived()["routers"]))[:most]:
        network.step(cycle - network.cycle)
        found[str(cycle)] = network.state_hash
    return found


def main(write: bool) -> int:
    found = {path.name: hashes_of(path) for path in sorted(CONFIGS.glob("*.toml"))}
    if write:
        EXPECTED.write_text(json.dumps(found, indent=1) + "\n")
        return 0
    expected = json.loads(EXPECTED.read_text())
    different = [name for name in sorted(found.keys() | expected.keys()) if found.get(name) != expected.get(name)]
    for name in different:
        print(f"{name}: expected {expected.get(name)}, found {found.get(name)}")
    print(f"{len(found)} configurations, {len(different)} different")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main("--write" in sys.argv[1:]))
