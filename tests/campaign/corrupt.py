"""Damaged inputs of every form that flitlab reads: bytes changed, deleted, doubled or exchanged. flitlab must read the
input or reject it in one line."""

import random
import warnings
from pathlib import Path

from oracles import CODE, ENDS, Finding, judge_message

import flitlab as fl

CONFIGS = Path(__file__).resolve().parents[2] / "configs"
WORDS = [b"nan", b"inf", b"-1", b"0", b"1e999", b"99999999999999999999", b"4294967296", b"\x00", b"\xff", b"\"", b"[",
         b"[[", b"{", b"=", b",", b",,", b"\n", b"\r\n", b"#", b"true", b"\xe2\x80\xa8", b"1" * 400]


def damaged(whole: bytes, choose: random.Random) -> bytes:
    for _ in range(choose.choice([1, 1, 1, 1, 3])):
        at, size = choose.randrange(len(whole) + 1), choose.randrange(1, 12)
        change = choose.randrange(8)
        if change > 5:  # replace a digit, after which the file often stays valid
            at = choose.choice([i for i, b in enumerate(whole) if 48 <= b < 58] or [0])
            size, new = 1, b"%d" % choose.randrange(10)
        elif change == 0:
            new = bytes(b ^ (1 << choose.randrange(8)) for b in whole[at:at + size])
        elif change == 1:
            new = b""
        elif change == 2:
            new = whole[at:at + size] * choose.choice([2, 50])
        elif change == 3:
            new = choose.choice(WORDS)
        elif change == 4:
            other = choose.randrange(len(whole) + 1)
            new = whole[other:other + size]
        else:
            return whole[:at]
        whole = whole[:at] + new + whole[at + size:]
    return whole


def inputs(choose: random.Random) -> tuple[str, bytes, dict]:
    """Returns the name of the file to write, its contents, and the configuration that names it as "{}"."""
    below = choose.randrange
    form = choose.choice(["toml", "trace", "matrix", "graph", "program", "table"])
    if form == "toml":
        return "c.toml", choose.choice(sorted(CONFIGS.glob("*.toml"))).read_bytes(), {}
    if form == "trace":
        lines = [f"{7 * n},{below(16)},{below(16)},{1 + below(8)}" + (f",{below(n)}" if n and n % 5 == 0 else "")
                 for n in range(30)]
        return "t.csv", "\n".join(lines).encode() + b"\n", {
            "topology.shape": [4, 4], "traffic.mode": "trace", "traffic.trace_file": "{}"}
    if form == "matrix":
        return "m.csv", "".join(f"{s},{below(9)},{below(4)}\n" for s in range(9)).encode(), {
            "topology.shape": [3, 3], "traffic.pattern": "matrix", "traffic.matrix_file": "{}"}
    if form == "graph":
        text = "# edges\n" + "".join(f"{i},{below(i)}\n" for i in range(1, 12))
        kind = choose.choice(["vc", "sconnect", "adaptive"])
        return "g.csv", text.encode(), {"router.kind": kind, "topology.kind": "graph", "topology.file": "{}"}
    if form == "program":
        text = "ranks,8\ngroup,1,0,1,2\n" + "".join(
            f"{r},compute,50\n{r},isend,{(r + 1) % 8},100,0,{r}\n{r},recv,{(r - 1) % 8},100\n{r},waitall\n{r},barrier\n"
            for r in range(8))
        return "p.csv", text.encode(), {"router.kind": "bgl", "topology.shape": [4, 2], "traffic.mode": "program",
                                        "traffic.program_file": "{}"}
    return "r.csv", "".join(f"{r},{d},{int(d > r)}\n" for r in range(4) for d in range(4) if r != d).encode(), {
        "topology.kind": "ring", "topology.shape": [4], "routing.algorithm": "table", "routing.vc_assignment": "any",
        "routing.table_file": "{}"}


def judge(seed: int, folder: Path) -> str:
    """Tries one damaged input. Returns "read" or "refused"."""
    choose = random.Random(seed)
    name, whole, flat = inputs(choose)
    file = folder / name
    file.write_bytes(damaged(whole, choose))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if flat:
                e = fl.Experiment.from_dict({k: str(file) if v == "{}" else v for k, v in flat.items()})
            else:
                e = fl.load(file)
            if int(e.derived()["routers"]) > 600:
                return "read"
            fl.Network(e, backend="cpu", threads=1).step(200).check()
    except fl.ConfigError as error:
        judge_message(flat | {str(file): ""}, str(error))
        return "refused"
    except fl.RunError as error:
        if CODE.search(str(error)) or not ENDS.search(str(error)):
            raise Finding(f"it ended with: {error}") from error
    return "read"
