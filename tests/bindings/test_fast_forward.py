"""Exact fast-forward: runs that skip what repeats itself equal runs that step every cycle."""


import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import flitlab as fl
from flitlab.operations import Schedule
from flitlab.schedules import Shape

NETWORKS = {
    "torus": {"topology.kind": "torus", "topology.shape": [5, 3]},
    "even torus": {"topology.kind": "torus", "topology.shape": [4, 4]},
    "mesh": {"topology.kind": "mesh", "topology.shape": [4, 3]},
    "ring": {"topology.kind": "ring", "topology.shape": [7]},
    "concentrated": {"topology.kind": "mesh", "topology.shape": [3, 2], "topology.concentration": 2},
    "dragonfly": {"topology.kind": "dragonfly"},
    "fat tree": {"topology.kind": "fat_tree"},
}
OPTIONS = [
    {},
    {"router.vcs": 4, "router.buffer_flits": 16, "topology.channel_delay": 5},
    {"router.flow_control": "virtual_cut_through", "router.buffer_flits": 12},
    {"router.arbiter": "matrix", "router.switch_allocator": "islip"},
    {"router.vc_allocator": "separable_output_first", "router.speculative": True},
    {"router.hold_switch_for_packet": True, "router.arbiter": "fixed_priority"},
    {"router.input_speedup": 2, "router.output_speedup": 2},
    {"router.arbiter": "round_robin_by_two", "router.vc_arbiter_by_port": True, "router.vc_needs_credit": True,
     "router.early_vc_credits": True},
    {"router.routing_delay": 2, "router.vc_allocation_delay": 2, "traffic.send_overhead": 40,
     "traffic.recv_overhead": 25},
]


def network(name: str, **more):
    return {**NETWORKS[name], "traffic.mode": "program", **more}


def runs(config, program):
    """Results of a run that may skip and of one that must not."""
    both = []
    for skips in (True, False):
        exp = fl.Experiment({"run.fast_forward": skips, **config, "traffic.program_file": program})
        both.append(fl.run(exp, progress=False))
    return both


def seen(result):
    """All that a result says about the network."""
    rates = ("config", "wall_seconds", "router_cycles_per_second", "stepped_cycles", "stepped_because")
    values = {name: value for name, value in result.to_dict().items() if name not in rates}
    return values, result.channels.frame.to_dict()


def check(config, program):
    fast, stepped = runs(config, program)
    assert seen(fast) == seen(stepped)
    assert stepped.stepped_cycles == stepped.cycles
    return fast


def loop(ranks, bodies):
    """A program of repeated steps. bodies: (repeats, bytes, distance - 1, cycles of computing, what else)."""
    def main(me):
        for repeats, size, far, cycles, more in bodies:
            distance = 1 + far % (me.size - 1)
            for _ in range(repeats):
                if more == "irecv":
                    held = me.irecv((me.rank - distance) % me.size, size)
                me.isend((me.rank + distance) % me.size, size)
                me.compute(cycles * (1 + me.rank % 2))
                if more == "irecv":
                    me.wait(held)
                else:
                    me.recv((me.rank - distance) % me.size, size)
                if more == "allreduce":
                    me.allreduce(8)
    return fl.Program.spmd(main, ranks)


bodies = st.lists(
    st.tuples(st.integers(1, 30), st.sampled_from([1, 240, 2400, 24000, 60000]), st.integers(0, 5),
              st.sampled_from([0, 0, 100, 3000]), st.sampled_from(["", "irecv", "allreduce"])),
    min_size=1, max_size=3)


@given(st.sampled_from(list(NETWORKS)), st.sampled_from(OPTIONS), st.integers(2, 7), bodies)
@settings(max_examples=60, deadline=None)
def test_equals_a_stepped_run(name, options, ranks, steps):
    check(network(name, **options), loop(ranks, steps))


@pytest.mark.parametrize("name", ["torus", "mesh", "fat tree"])
@pytest.mark.parametrize("algorithm", ["ring", "tree", "halving_doubling"])
def test_collectives_equal_stepped_runs(name, algorithm):
    schedule = Schedule("allreduce", algorithm, Shape(12, 8, (12,)), 12 * 48000)
    check(network(name), schedule.program())


def test_a_long_message_is_skipped():
    """40,000 packets of 8 flits: the same packet again and again."""
    def main(me):
        if me.rank == 0:
            me.send(1, 240 * 40_000)
        else:
            me.recv(0)
    fast = check(network("ring"), fl.Program.spmd(main, 2))
    assert fast.cycles > 320_000
    assert fast.stepped_cycles < 2000


def test_repeated_steps_are_skipped():
    """1000 steps of a few packets: no message is long, so only whole steps can be skipped."""
    fast = check(network("torus"), loop(15, [(1000, 2400, 0, 100, "")]))
    assert fast.stepped_cycles < fast.cycles / 10


def test_computing_is_skipped():
    def main(me):
        for cycles in (70_000, 90_001):
            me.compute(cycles + me.rank)
            me.barrier()
    fast = check(network("mesh"), fl.Program.spmd(main, 12))
    assert fast.stepped_cycles < 5000


def test_several_ranks_of_a_terminal():
    def main(me):
        for _ in range(40):
            me.isend((me.rank + 1) % me.size, 24_000)
            me.recv((me.rank - 1) % me.size)
    program = fl.Program.spmd(main, 8)
    together = fl.Program.together([program, program], [list(range(8)), list(range(8, 16))], 16)
    for rank in range(16):
        together.place(rank, rank % 8)
    fast = check(network("torus"), together)
    assert fast.stepped_cycles < fast.cycles / 2


@given(st.lists(st.integers(1, 40_000), min_size=1, max_size=6))
@settings(max_examples=10, deadline=None)
def test_every_state_on_the_way_is_the_same(steps):
    """A network that is stepped by any number of cycles is in the state of one that never skips."""
    program = loop(12, [(3, 60000, 0, 3000, "irecv"), (20, 2400, 1, 10, "")])
    nets = [fl.Network(fl.Experiment({**network("mesh"), "traffic.program_file": program, "run.fast_forward": skips}))
            for skips in (True, False)]
    for cycles in steps:
        for net in nets:
            net.step(cycles)
        assert nets[0].state_hash == nets[1].state_hash
        assert nets[0].totals == nets[1].totals
    for net in nets:
        net.check()


@pytest.mark.parametrize(("more", "why"), [
    ({"router.arbiter": "oldest_first"}, "router.arbiter"),
    ({"router.arbiter": "random"}, "router.arbiter"),
    ({"router.switch_allocator": "wavefront"}, "wavefront"),
    ({"routing.algorithm": "valiant"}, "routing.algorithm"),
    ({"run.fast_forward": False}, "run.fast_forward"),
])
def test_networks_that_draw_are_stepped(more, why):
    fast = check(network("mesh", **more), loop(12, [(10, 24000, 0, 0, "")]))
    assert fast.stepped_cycles == fast.cycles
    assert why in fast.stepped_because


def test_packets_that_draw_a_direction_are_stepped():
    """Half-way around an even ring, packets draw their direction, so no two periods are alike."""
    def main(me):
        me.isend((me.rank + 2) % 4, 24_000 * 50)
        me.recv((me.rank - 2) % 4)
    even = {**NETWORKS["ring"], "topology.shape": [4], "traffic.mode": "program"}
    fast = check(even, fl.Program.spmd(main, 4))
    assert fast.stepped_cycles == fast.cycles
