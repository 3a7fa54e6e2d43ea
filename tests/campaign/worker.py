"""One process of the campaign: tries cases one by one, and prints the outcome of each as a line of JSON. If the process
dies, its parent knows the current case from the last line.

    worker.py networks FOLDER SEED...      random configurations, seed by seed
    worker.py inputs FOLDER SEED...        damaged inputs
    worker.py one FOLDER FILE              the configuration of a finding.json; its files are in the folder

Each case runs in a separate process: the emulated CUDA device reads its seed once, so a repeated case runs its threads
in the same order.
"""

import ctypes
import json
import os
import signal
import sys
import traceback
from collections.abc import Callable
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


def again(found: dict, folder: Path) -> tuple[str, dict, list[str]]:
    """Tries the configuration of a finding again; files that no longer exist at their paths are taken from the
    folder."""
    config = dict(found["smallest"])
    for path, value in config.items():
        copy = folder / Path(value).name if isinstance(value, str) else folder
        if copy.is_file() and not Path(value).exists():
            config[path] = str(copy)
    try:
        e = fl.Experiment.from_dict(config)
    except fl.ConfigError as error:
        oracles.judge_message(config, str(error))
        return "refused", config, []
    outcome = judge(e, folder)
    for draw in [found["done"], *range(8)] if outcome == "ran" else []:
        relations.judge(e, draw, folder)
    return outcome, config, []


def case(what: str, folder: Path, seed: int, found: dict) -> None:
    """Runs one case and prints its outcome."""
    # A thread of the emulated device processes one router or several, in a random order.
    os.environ |= {"CUDA_ON_HOST_THREADS": str(32 << seed % 5), "CUDA_ON_HOST_SEED": str(seed)}
    config: dict = {}
    held: list[str] = []
    try:
        if what == "networks":
            outcome, config, held = network(seed, folder)
        elif what == "inputs":
            outcome = corrupt.judge(seed, folder)
        else:
            outcome, config, held = again(found, folder)
        modes = [config.get(path, "") for path in ("traffic.mode", "traffic.pattern", "topology.kind")]
        line = {"outcome": outcome, "kind": config.get("router.kind", ""), "modes": modes, "relations": held}
    except oracles.Finding as finding:
        text, *of = finding.args
        line = {"outcome": "finding", "what": text, "config": of[0] if of else config}
    except Exception:
        line = {"outcome": "finding", "what": traceback.format_exc(limit=-3), "config": config}
    print(json.dumps({"done": seed} | line), flush=True)


def alone(work: Callable[[], None]) -> None:
    """Runs the work in a child process, and dies by the same signal if the child does."""
    child = os.fork()
    if not child:
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: the child ends with its parent
        try:
            work()
        except BaseException:  # only the parent continues
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status < 0:
        os.kill(os.getpid(), -status)
    elif status:
        sys.exit(status)


def main(what: str, folder: Path, rest: list[str]) -> None:
    found = json.loads(Path(rest[0]).read_text()) if what == "one" else {}
    for seed in [found["done"]] if found else map(int, rest):
        print(json.dumps({"at": seed}), flush=True)
        alone(lambda seed=seed: case(what, folder, seed, found))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3:])
