"""Blue Gene/L's torus from the command line."""

import json


def test_the_earlier_bubble_rule_exits_3_with_its_cycle(cli, tmp_path):
    """The fragmented ring of tests/kernels/routers/bgl_bubble_test.cpp, where it is explained."""
    lines = ["0,6,1,1", "0,5,1,1", "0,5,1,8", "0,5,0,1"] + 6 * ["0,0,1,8"]
    for n in range(4):
        lines += [f"{400 + 300 * n},{4 - n},{6 - n},{chunks}" for chunks in (8, 1)]
    lines += 2 * ["1500,0,2,8"]
    (tmp_path / "ring.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "ring.toml").write_text("""
router.kind = "bgl"
topology.shape = [7]
router.escape_flits = 16
router.arbitration_gap = true
routing.dynamic = 0.0
injection.fifos = 1
traffic.mode = "trace"
traffic.trace_file = "ring.csv"
""")
    done = cli("run", "ring.toml", "--set", "router.bubble_rule=actual_size")
    assert done.returncode == 3
    assert "7 of them wait for one another in a cycle" in done.stderr and "Traceback" not in done.stderr
    assert "node 0 (0) receiver -x VC 2 waits for" in done.stderr
    done = cli("run", "ring.toml", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["packets"]["delivered"] == len(lines)
