"""One process of the campaign: tries cases one by one, and says of each on a line of JSON how it went. Its parent knows
from the last line what a process that dies was at.

    worker.py networks FOLDER SEED...      random configurations, seed by seed
    worker.py inputs FOLDER SEED...        damaged inputs
    worker.py one FOLDER FILE              the configuration in a file of JSON
"""

import json
import os
import sys
import traceback
from pathlib import Path

import corrupt
import oracles
import relations
from generate import MOST_ROUTERS, Generator

import flitlab as fl
from flitlab import _core

KINDS = [m["kind"] for m in _core.models()]


def network(seed: int, folder: Path) -> tuple[str, dict, list[str]]:
    draw = Generator(seed, folder)
    e = draw.experiment(KINDS[seed % len(KINDS)])
    for changed, message in draw.refusals:
        oracles.judge_message(changed, message)
    print(json.dumps({"at": seed, "config": e.flat()}), flush=True)
    try:
        outcome = judge(e, folder)
        held = relations.judge(e, seed, folder) if outcome == "ran" and seed % relations.RELATED == 0 else []
        return outcome, e.flat(), held
    except oracles.Finding as finding:
        raise oracles.Finding(finding.args[0], e.flat()) from None


def judge(e: fl.Experiment, folder: Path) -> str:
    try:
        if int(e.derived()["routers"]) > MOST_ROUTERS:
            return "large"
    except fl.ConfigError as error:
        oracles.judge_message(e.flat(), str(error))
        return "refused"
    return oracles.judge(e, 600, folder)


def main(what: str, folder: Path, rest: list[str]) -> None:
    cases = [None] if what == "one" else [int(seed) for seed in rest]
    for seed in cases:
        print(json.dumps({"at": seed}), flush=True)
        config: dict = {}
        held: list[str] = []
        if seed is not None:  # a thread of the emulated device has one router or several, in an order of its own
            os.environ |= {"CUDA_ON_HOST_THREADS": str(32 << seed % 5), "CUDA_ON_HOST_SEED": str(seed)}
        try:
            if what == "networks":
                outcome, config, held = network(seed, folder)
            elif what == "inputs":
                outcome = corrupt.judge(seed, folder)
            else:
                config = json.loads(Path(rest[0]).read_text())
                e = fl.Experiment.from_dict(config)
                outcome = judge(e, folder)
                for draw in range(8 if outcome == "ran" else 0):
                    relations.judge(e, draw, folder)
            modes = [config.get(path, "") for path in ("traffic.mode", "traffic.pattern", "topology.kind")]
            print(json.dumps({"done": seed, "outcome": outcome, "kind": config.get("router.kind", ""), "modes": modes,
                              "relations": held}), flush=True)
        except oracles.Finding as finding:
            text, *of = finding.args
            print(json.dumps({"done": seed, "outcome": "finding", "what": text, "config": of[0] if of else config}),
                  flush=True)
        except Exception:
            print(json.dumps({"done": seed, "outcome": "finding", "what": traceback.format_exc(limit=-3),
                              "config": config}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3:])
