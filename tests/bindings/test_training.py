"""Programs of transformer training steps: messages and times by hand, totals by formula, and the pipeline's bubble."""

from collections import Counter, defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import flitlab as fl
from flitlab import training

SMALL = {"layers": 2, "hidden": 8, "sequence": 4, "flops_per_cycle": 1}


def messages(program):
    """[rank][tag]: (peer, bytes) of each message that it sends."""
    found = [defaultdict(list) for _ in range(program.ranks)]
    for line in program.text().decode().splitlines():
        rank, call, *fields = line.split(",")
        if call == "isend":
            peer, size, tag = map(int, fields[:3])
            found[int(rank)][tag].append((peer, size))
    return [dict(sent) for sent in found]


def computed(program, rank=0):
    return [amount for call, _, amount, _ in program.calls()[rank] if call == "compute"]


def cycles(program, ranks=16):
    traffic = {"traffic.mode": "program", "traffic.program_file": program}
    switch = fl.Experiment.from_dict({"router.kind": "switch", "topology.ports": ranks})
    return fl.run(switch.with_traffic(traffic), progress=False).model["program_cycles"]


def test_one_rank_only_computes():
    """b s h = 2 * 4 * 8 = 64 values. Attention: 8 * 64 * 8 + 4 * 64 * 4 = 5120 FLOPs; MLP: 16 * 64 * 8 = 8192."""
    program = fl.transformer(**SMALL, micro_batch=2, micro_batches=2)
    assert messages(program) == [{}]
    assert computed(program) == 2 * ([5120, 8192] * 2 + [2 * 8192, 2 * 5120] * 2)
    per_layer = 24 * 64 * 8 + 4 * 64 * 4
    assert sum(computed(program)) == 2 * 2 * 3 * per_layer == cycles(program)
    assert computed(fl.transformer(**SMALL, tensor=2))[:2] == [5120 // 4, 8192 // 4]


def test_tensor_parallelism_sends_four_allreduces_in_a_layer():
    """b s h = 32 values of 2 bytes. In a ring of two, a rank sends half of them twice in each allreduce."""
    sent = messages(fl.transformer(**SMALL, tensor=2, micro_batches=3))
    assert sent == [{training.TENSOR: [(1, 32)] * (2 * 4 * 2 * 3)}, {training.TENSOR: [(0, 32)] * (2 * 4 * 2 * 3)}]
    assert len(messages(fl.transformer(**SMALL, tensor=4))[0][training.TENSOR]) == 6 * 4 * 2
    doubling = messages(fl.transformer(**SMALL, tensor=4, allreduce="recursive_doubling"))
    assert doubling[0] == {training.TENSOR: [(1, 64), (2, 64)] * (4 * 2)}


def test_a_vocabulary_adds_three_allreduces_and_the_output_layer():
    """After the embedding and for the input of the output layer, 32 values; for the loss, one of each of 4 tokens."""
    program = fl.transformer(**SMALL, tensor=2, vocabulary=100)
    assert Counter(messages(program)[0][training.TENSOR]) == {(1, 32): 2 * (4 * 2 + 2), (1, 4): 2}
    assert messages(program)[0][training.TENSOR][:2] == [(1, 32)] * 2
    logits = 2 * 32 * 100 // 2
    assert computed(program)[4:6] == [logits, 2 * logits]
    shared = messages(fl.transformer(**SMALL, tensor=2, pipeline=2, vocabulary=101))
    assert [sent.get(training.EMBEDDING) for sent in shared] == [[(r ^ 2, 51 * 8)] * 2 for r in range(4)]


def test_pipeline_stages_send_activations_forward_and_gradients_back():
    sent = messages(fl.transformer(**SMALL | {"layers": 4}, pipeline=4, micro_batches=5))
    assert sent == [{3: [(1, 64)] * 5}, {3: sent[1][3]}, {3: sent[2][3]}, {3: [(2, 64)] * 5}]
    # Stage 1 of 4 sends two activations before its first gradient, and then one of each in turn.
    assert sent[1][3] == [(2, 64)] * 2 + [(2, 64), (0, 64)] * 3 + [(0, 64)] * 2
    assert sent[2][3] == [(3, 64)] + [(3, 64), (1, 64)] * 4 + [(1, 64)]
    tensor = messages(fl.transformer(**SMALL, pipeline=2, tensor=2))
    assert [sent[training.PIPELINE] for sent in tensor] == [[(r ^ 2, 64)] for r in range(4)]


def test_gradients_of_all_parameters_are_added():
    """A layer has 12 h^2 + 13 h = 872 parameters. Of two tensor-parallel ranks each has (768 + 56) / 2 + 48 = 460."""
    sent = messages(fl.transformer(**SMALL, data=2))
    assert sent == [{training.DATA: [(1, 872 * 2)] * 2}, {training.DATA: [(0, 872 * 2)] * 2}]
    divided = messages(fl.transformer(**SMALL, data=2, tensor=2, gradients="reduce_scatter"))
    assert [rank[training.DATA] for rank in divided] == [[(rank ^ 2, 460 * 2)] * 2 for rank in range(4)]
    embedded = messages(fl.transformer(**SMALL, data=2, pipeline=2, vocabulary=100))
    first, last = 872 + 100 * 8 + 4 * 8, 872 + 100 * 8
    assert [rank[training.DATA] for rank in embedded] == [[(r ^ 1, first if r < 2 else last)] * 2 for r in range(4)]


def test_experts_exchange_their_tokens():
    """Layer 1 of 0 and 1 has 4 experts, two on each of two ranks: top_k b s h = 3 * 32 values, half of them for the
    other rank, in two all-to-alls forward and two backward."""
    program = fl.transformer(**SMALL, data=4, expert=2, experts=4, top_k=3)
    sent = messages(program)
    for rank in range(4):
        assert sent[rank][training.EXPERT] == [(rank ^ 1, 3 * 32 * 2 // 2)] * 4
    # Attention has 4 h^2 + 8 h = 320 parameters with layer norms, an MLP 8 h^2 + 5 h = 552, a gate 4 h = 32. All four
    # ranks add 320 + 552 + 320 + 32 parameters, and two ranks the 2 * 552 of their experts.
    dense = 320 + 552 + 320 + 32
    assert sent[0][training.DATA] == [(1, dense * 2 // 4)] * 6 + [(2, 2 * 552)] * 2
    assert computed(program)[:4] == [8 * 32 * 8 + 4 * 32 * 4, 16 * 32 * 8, 8 * 32 * 8 + 4 * 32 * 4, 3 * 16 * 32 * 8]
    every = messages(fl.transformer(**SMALL, data=2, expert=2, experts=2, top_k=1, expert_every=1))
    assert every[0][training.EXPERT] == [(1, 32)] * 8
    local = messages(fl.transformer(**SMALL, data=2, experts=2))
    assert training.EXPERT not in local[0]
    assert local[0][training.DATA] == [(1, 320 + 552 + 320 + 16)] * 2 + [(1, 2 * 552)] * 2


def test_ranks_have_megatrons_order():
    """Two tensor-parallel neighbours, three data-parallel ones, two stages."""
    sent = messages(fl.transformer(**SMALL, tensor=2, data=3, pipeline=2))
    assert {tag: {peer for peer, _ in found} for tag, found in sent[3].items()} == {
        training.TENSOR: {2}, training.DATA: {5}, training.PIPELINE: {9}}


def test_scale_and_steps():
    one = messages(fl.transformer(**SMALL, tensor=2, data=2))
    assert messages(fl.transformer(**SMALL, tensor=2, data=2, scale=0.5)) == [
        {tag: [(peer, size // 2) for peer, size in found] for tag, found in sent.items()} for sent in one]
    assert messages(fl.transformer(**SMALL, tensor=2, data=2, steps=3)) == [
        {tag: found * 3 for tag, found in sent.items()} for sent in one]
    assert computed(fl.transformer(**SMALL, scale=0.25)) == [n // 4 for n in computed(fl.transformer(**SMALL))]
    adding = fl.transformer(**SMALL, data=2, combine=0.5)
    assert computed(adding)[-1] == 872


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_total_bytes(data):
    """Sums over all ranks. A ring of n ranks sends 2 (n - 1) times the size of its buffer in all, and an all-to-all
    n - 1 times what a rank has."""
    def draw(*among):
        return data.draw(st.sampled_from(among))

    t, e, dd, p = draw(1, 2, 3), draw(1, 2, 3), draw(1, 2), draw(1, 2, 4)
    d, layers, h, s = e * dd, p * draw(1, 2, 3), t * draw(1, 5, 8), draw(1, 3, 16)
    b, m, width, v = draw(1, 2), draw(1, 2, 5), draw(1, 2, 4), draw(0, 7, 50)
    experts = e * draw(1, 2) if e > 1 or draw(True, False) else 0
    every = draw(*range(1, layers + 1))
    k = draw(1, max(1, experts))
    split = draw("allreduce", "reduce_scatter")
    program = fl.transformer(
        layers=layers, hidden=h, sequence=s, micro_batch=b, micro_batches=m, tensor=t, data=d, pipeline=p, expert=e,
        experts=experts, top_k=k, expert_every=every, vocabulary=v, value_bytes=width, flops_per_cycle=100,
        gradients=split)
    total = Counter()
    for rank in messages(program):
        total.update({tag: sum(size for _, size in sent) for tag, sent in rank.items()})
    activation = b * s * h * width
    with_experts = len(range(every - 1, layers, every)) if experts else 0
    allreduces = 4 * layers + (2 if v else 0)
    embedding = -(-v // t) * h
    attention, mlp = 4 * h * h + 3 * h + t * 5 * h, 8 * h * h + 4 * h + t * h  # of all ranks of a tensor group
    dense = layers * attention + (layers - with_experts) * mlp + with_experts * t * experts * h
    dense += t * ((s * h if v else 0) + embedding * (2 if p > 1 else 1))
    assert total == Counter({tag: size for tag, size in {
        training.TENSOR: 2 * (t - 1) * d * m * (allreduces * activation + (b * s * width if v else 0)),
        training.EXPERT: 4 * (e - 1) * with_experts * m * t * dd * k * activation,
        training.PIPELINE: 2 * (p - 1) * m * t * d * activation,
        training.DATA: 2 * width * ((d - 1) * dense + (dd - 1) * with_experts * experts * mlp),
        training.EMBEDDING: 2 * t * d * embedding * width if p > 1 else 0,
    }.items() if size})


@pytest.mark.parametrize("stages, micro_batches", [(2, 1), (2, 4), (4, 4), (4, 12), (8, 8), (4, 2)])
def test_the_bubble_of_the_pipeline(stages, micro_batches):
    """If messages take no time, a step takes (p - 1) / m longer than without a pipeline (Narayanan et al. 2021)."""
    program = fl.transformer(layers=stages, hidden=4, sequence=4, pipeline=stages, micro_batches=micro_batches,
                             flops_per_cycle=0.1)
    ideal = micro_batches * sum(computed(fl.transformer(layers=1, hidden=4, sequence=4, flops_per_cycle=0.1)))
    bubble = cycles(program) / ideal - 1
    assert bubble == pytest.approx((stages - 1) / micro_batches, abs=0.01)


def divisions(ranks):
    return [(t, d, ranks // t // d) for t in range(1, ranks + 1) if ranks % t == 0
            for d in range(1, ranks // t + 1) if ranks // t % d == 0]


@pytest.mark.parametrize("ranks", range(2, 17))
def test_programs_are_valid_on_any_number_of_ranks(ranks):
    for t, d, p in divisions(ranks):
        for expert in {1, d}:
            program = fl.transformer(layers=2 * p, hidden=2 * t, sequence=4, tensor=t, data=d, pipeline=p,
                                     expert=expert, experts=d, top_k=1, vocabulary=30, micro_batches=3, steps=2,
                                     flops_per_cycle=10, gradients="reduce_scatter" if expert == 1 else "allreduce")
            assert len(program.calls()) == ranks


def test_a_step_runs_beside_another_one():
    program = fl.transformer(**SMALL | {"hidden": 128, "flops_per_cycle": 1e5}, tensor=2, data=2, pipeline=2, expert=2,
                             experts=2)
    apart, mixed = (fl.jobs([program, program], {"topology.shape": [4, 4]}, placement, progress=False).frame["slowdown"]
                    for placement in ("linear", [range(0, 16, 2), range(1, 16, 2)]))
    assert (apart == 1).all() and (mixed > 1).all()


@pytest.mark.parametrize("changes, message", [
    ({"layers": 0}, "layers = 0: it must be a whole number, at least 1"),
    ({"hidden": 1.5}, r"hidden = 1\.5: it must be a whole number, at least 1"),
    ({"experts": -1}, "experts = -1: it must be a whole number, at least 0"),
    ({"steps": 0}, "steps = 0: it must be a whole number, at least 1"),
    ({"flops_per_cycle": 0}, "flops_per_cycle = 0: it must be a number above 0"),
    ({"scale": "1"}, "scale = '1': it must be a number above 0"),
    ({"combine": -1}, "combine = -1: it must be a number, 0 or more"),
    ({"pipeline": 3}, "layers = 2: it must be a multiple of pipeline = 3"),
    ({"tensor": 3}, "hidden = 8: it must be a multiple of tensor = 3"),
    ({"data": 3, "expert": 2}, "data = 3: it must be a multiple of expert = 2"),
    ({"data": 2, "expert": 2}, "expert = 2: the model has no experts to share. Set experts, a multiple of 2"),
    ({"data": 2, "expert": 2, "experts": 3}, "experts = 3: it must be a multiple of expert = 2"),
    ({"experts": 2, "top_k": 3}, "top_k = 3: it must be at most experts = 2"),
    ({"experts": 2, "expert_every": 3}, "expert_every = 3: no layer has experts; it must be at most layers = 2"),
    ({"gradients": "alreduce"}, "gradients = 'alreduce': it must be allreduce or reduce_scatter. Did you mean allr"),
    ({"allreduce": "rign"}, "allreduce = 'rign': for allreduce it must be one of ring, .* Did you mean ring"),
    ({"data": 3, "gradients": "reduce_scatter", "reduce_scatter": "recursive_halving"}, "does not fit 3 ranks"),
    ({"flops_per_cycle": 1e-6}, "flops_per_cycle = 1e-06: a part of a layer takes 2560000000 cycles, and at most"),
])
def test_wrong_numbers_have_a_message(changes, message):
    with pytest.raises(fl.ConfigError, match=message):
        fl.transformer(**SMALL | changes)


def test_repeated_calls_share_their_lines():
    """Programs of many micro-batches are made and kept once, not once for each micro-batch."""
    lines = [fl.transformer(**SMALL, tensor=4, micro_batches=many)._lines[0] for many in (1, 50)]
    assert len(lines[1]) > 40 * len(lines[0])
    sums = [len({id(line) for line in own if ",compute," not in line}) for own in lines]
    assert sums[0] == sums[1]
