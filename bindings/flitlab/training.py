"""Programs of transformer training steps, with data, tensor, pipeline and expert parallelism.

b: sequences in a micro-batch; s: sequence length; h: hidden size; t: tensor parallelism; V: vocabulary; k: experts that
work on a token. Sources:

[1] Shoeybi et al., "Megatron-LM: Training Multi-Billion Parameter Language Models Using Model Parallelism" (2019);
[2] Narayanan et al., "Efficient Large-Scale Language Model Training on GPU Clusters Using Megatron-LM" (2021);
[3] Lepikhin et al., "GShard: Scaling Giant Models with Conditional Computation and Automatic Sharding" (2020);
[4] Fedus et al., "Switch Transformers: Scaling to Trillion Parameter Models with Simple and Efficient Sparsity" (2021);
[5] Rajbhandari et al., "ZeRO: Memory Optimizations Toward Training Trillion Parameter Models" (2020).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from flitlab._core import ConfigError
from flitlab.arguments import did_you_mean, is_number, shown, whole
from flitlab.operations import Schedule, check_algorithm
from flitlab.programs import Program, Rank
from flitlab.schedules import Shape

# Tags of messages, by their purpose.
TENSOR, EXPERT, PIPELINE, DATA, EMBEDDING = range(1, 6)
_MOST_CYCLES = 10**9  # of a call of a program
_GRADIENTS = ("allreduce", "reduce_scatter")


@dataclass(frozen=True)
class _Step:
    """The numbers of a training step, and what follows from them."""

    layers: int
    hidden: int
    sequence: int
    flops_per_cycle: float
    micro_batch: int
    micro_batches: int
    data: int
    tensor: int
    pipeline: int
    expert: int
    experts: int
    top_k: int
    expert_every: int
    vocabulary: int
    value_bytes: int
    gradients: str
    algorithms: dict[str, str]  # by operation
    segments: int
    combine: float
    scale: float

    @property
    def tokens(self) -> int:
        """Tokens of a micro-batch."""
        return self.micro_batch * self.sequence

    def size(self, values: int) -> int:
        """Returns the bytes of a message of some values."""
        return max(1, round(values * self.value_bytes * self.scale))

    @property
    def activation(self) -> int:
        """Bytes of the activations of a micro-batch, b s h values."""
        return self.size(self.tokens * self.hidden)

    def has_experts(self, layer: int) -> bool:
        return bool(self.experts) and (layer + 1) % self.expert_every == 0

    def cycles(self, flops: int) -> int:
        """Returns the cycles in which a rank does its part, 1/t, of some FLOPs."""
        found = round(flops / self.tensor / self.flops_per_cycle * self.scale)
        if found > _MOST_CYCLES:
            raise ConfigError(f"flops_per_cycle = {self.flops_per_cycle}: a part of a layer takes {found} cycles, and "
                              f"at most {_MOST_CYCLES} are possible. Raise it, or lower scale.")
        return found

    @property
    def attention_flops(self) -> int:
        """FLOPs of a layer's attention, forward: 8 b s h^2 + 4 b s^2 h ([2], appendix)."""
        return self.tokens * self.hidden * (8 * self.hidden + 4 * self.sequence)

    def mlp_flops(self, layer: int) -> int:
        """Returns the FLOPs of a layer's MLP, forward: 16 b s h^2 ([2], appendix), k times that with experts."""
        return 16 * self.tokens * self.hidden ** 2 * (self.top_k if self.has_experts(layer) else 1)

    @property
    def logit_flops(self) -> int:
        """FLOPs of the output layer, forward: 2 b s h V ([2], appendix)."""
        return 2 * self.tokens * self.hidden * self.vocabulary

    def layers_of(self, stage: int) -> range:
        count = self.layers // self.pipeline
        return range(stage * count, (stage + 1) * count)

    @property
    def mlp_parameters(self) -> int:
        """Parameters of an MLP on a rank. Together, the ranks have 8 h^2 + 5 h, of which h are on every rank."""
        h = self.hidden
        return (8 * h * h + 4 * h) // self.tensor + h

    def parameters(self, stage: int) -> int:
        """Returns the parameters on a rank, without experts. A layer has 12 h^2 + 13 h ([2], equation 2), of which 6 h
        (layer norms and two biases) are on every rank of a tensor-parallel group."""
        h, found = self.hidden, 0
        for layer in self.layers_of(stage):
            found += (4 * h * h + 3 * h) // self.tensor + 5 * h
            found += self.experts * h if self.has_experts(layer) else self.mlp_parameters  # experts: their gate
        if self.vocabulary and stage == 0:
            found += self.sequence * h  # positions
        return found + (self.embedding if stage in (0, self.pipeline - 1) else 0)

    def expert_parameters(self, stage: int) -> int:
        """Returns the parameters of the experts on a rank."""
        count = sum(map(self.has_experts, self.layers_of(stage)))
        return count * (self.experts // self.expert) * self.mlp_parameters

    @property
    def embedding(self) -> int:
        """Parameters of the word embedding on a rank. The first and the last stage share it ([1], section 3)."""
        return -(-self.vocabulary // self.tensor) * self.hidden


@lru_cache(maxsize=1024)
def _schedule(operation: str, algorithm: str, ranks: int, segments: int, size: int) -> Schedule:
    return Schedule(operation, algorithm, Shape(ranks, segments, (ranks,)), size)


class _Worker:
    """Appends the calls of a rank to a program."""

    def __init__(self, step: _Step, me: Rank):
        self.step, self.me = step, me
        self._known: dict[tuple, list[str]] = {}  # (operation, members, size, tag) -> lines of its calls
        rest, t = divmod(me.rank, step.tensor)
        self.stage, d = divmod(rest, step.data)
        first = d // step.expert * step.expert

        def rank(tensor: int, data: int, stage: int = self.stage) -> int:
            return tensor + step.tensor * (data + step.data * stage)

        self.tensor = [rank(i, d) for i in range(step.tensor)]
        self.expert = [rank(t, first + i) for i in range(step.expert)]
        self.data = [rank(t, i) for i in range(step.data)]
        self.same_experts = [rank(t, i) for i in range(d % step.expert, step.data, step.expert)]
        self.before, self.after = me.rank - step.tensor * step.data, me.rank + step.tensor * step.data
        self.is_first, self.is_last = self.stage == 0, self.stage == step.pipeline - 1
        self.ends = [rank(t, d, 0), rank(t, d, step.pipeline - 1)]  # they share the embedding

    def collective(self, operation: str, members: Sequence[int], size: int, tag: int) -> None:
        if len(members) > 1:
            key = operation, tuple(members), size, tag
            if (lines := self._known.get(key)) is None:
                algorithm = self.step.algorithms[operation]
                schedule = _schedule(operation, algorithm, len(members), self.step.segments, size)
                lines = self._known[key] = schedule.lines(self.me, members, self.step.combine, tag)
            self.me._extend(lines)

    def sum_tensor(self, size: int | None = None) -> None:
        self.collective("allreduce", self.tensor, size or self.step.activation, TENSOR)

    def exchange_tokens(self) -> None:
        step = self.step
        self.collective("alltoall", self.expert, step.size(step.top_k * step.tokens * step.hidden), EXPERT)

    def compute(self, flops: int) -> None:
        if cycles := self.step.cycles(flops):
            self.me.compute(cycles)

    def attention(self, times: int) -> None:
        self.compute(times * self.step.attention_flops)
        self.sum_tensor()

    def mlp(self, layer: int, times: int) -> None:
        """Appends an MLP, or experts: tokens go to the ranks of their experts, and come back. The partial results of
        tensor parallelism are added afterwards, once for each token."""
        if self.step.has_experts(layer):
            self.exchange_tokens()
        self.compute(times * self.step.mlp_flops(layer))
        if self.step.has_experts(layer):
            self.exchange_tokens()
        self.sum_tensor()

    def forward(self) -> None:
        step, layers = self.step, self.step.layers_of(self.stage)
        if not self.is_first:
            self.me.recv(self.before, step.activation, PIPELINE)
        elif step.vocabulary:
            self.sum_tensor()
        for layer in layers:
            self.attention(1)
            self.mlp(layer, 1)
        if not self.is_last:
            self.me.isend(self.after, step.activation, PIPELINE)
        elif step.vocabulary:
            self.compute(step.logit_flops)
            self.sum_tensor(step.size(step.tokens))

    def backward(self) -> None:
        step, layers = self.step, self.step.layers_of(self.stage)
        if not self.is_last:
            self.me.recv(self.after, step.activation, PIPELINE)
        elif step.vocabulary:
            self.compute(2 * step.logit_flops)
            self.sum_tensor()
        for layer in reversed(layers):
            self.mlp(layer, 2)
            self.attention(2)
        if not self.is_first:
            self.me.isend(self.before, step.activation, PIPELINE)

    def sum_gradients(self, members: Sequence[int], parameters: int) -> None:
        if not parameters:
            return
        size = self.step.size(parameters)
        self.collective(self.step.gradients, members, size, DATA)
        if self.step.gradients == "reduce_scatter":
            self.collective("allgather", members, size, DATA)  # of the new parameters

    def train(self) -> None:
        """Appends a training step. Stage i of p runs p - 1 - i forward passes before its first backward pass, and then
        one forward and one backward pass in turn."""
        step = self.step
        early = min(step.pipeline - 1 - self.stage, step.micro_batches)
        for _ in range(early):
            self.forward()
        for _ in range(step.micro_batches - early):
            self.forward()
            self.backward()
        for _ in range(early):
            self.backward()
        self.sum_gradients(self.data, step.parameters(self.stage))
        self.sum_gradients(self.same_experts, step.expert_parameters(self.stage))
        if step.vocabulary and step.pipeline > 1 and (self.is_first or self.is_last):
            self.collective("allreduce", self.ends, step.size(step.embedding), EMBEDDING)


def _whole(least: int, **numbers: Any) -> dict[str, int]:
    """Returns the numbers, by name, as Python integers. Raises ConfigError if one of them is not whole, or is less than
    ``least``."""
    found = {}
    for name, value in numbers.items():
        if (number := whole(value)) is None or number < least:
            raise ConfigError(f"{name} = {shown(value)}: it must be a whole number, at least {least}.")
        found[name] = number
    return found


def transformer(*, layers: int, hidden: int, sequence: int, flops_per_cycle: float, micro_batch: int = 1,
                micro_batches: int = 1, data: int = 1, tensor: int = 1, pipeline: int = 1, expert: int = 1,
                experts: int = 0, top_k: int = 2, expert_every: int = 2, vocabulary: int = 0, value_bytes: int = 2,
                gradients: str = "allreduce", allreduce: str = "ring", reduce_scatter: str = "ring",
                allgather: str = "ring", alltoall: str = "pairwise", segments: int = 8, combine: float = 0.0,
                scale: float = 1.0, steps: int = 1) -> Program:
    """Returns the program of training steps of a transformer on ``tensor * data * pipeline`` ranks.

    Rank r has number r % tensor in its tensor-parallel group, r // tensor % data in its data-parallel group, and runs
    pipeline stage r // (tensor * data), as in Megatron-LM. ``expert`` neighbours of a data-parallel group share the
    experts.

    layers, hidden (h), sequence (s, tokens): the model. Its MLPs have 4 h inner values. micro_batch (b): sequences that
    a rank processes at a time. micro_batches (m): micro-batches of a rank in a step. experts: their number in every
    ``expert_every``-th layer; 0: no layer has experts. top_k (k): experts that process a token. vocabulary (V): 0 omits
    the word embedding and the output layer. value_bytes: bytes of an activation, a gradient and a parameter.

    flops_per_cycle: FLOPs of a rank in a cycle of the network. scale: factor of the bytes of all messages and of all
    computing times; with a small one, an example runs in seconds. combine: cycles to add one byte to another. steps:
    training steps.

    The tag of a message is its purpose. A group of one rank needs no messages; in larger ones a rank sends:

    - tensor (tag 1): in each layer two allreduces of b s h values forward and two backward (Shoeybi et al. 2019,
      section 3 and figure 4; Narayanan et al. 2021, section 3.2). With a vocabulary, one more of b s h values after the
      word embedding, one of b s values for the loss, and one of b s h values for the gradient of the output layer's
      input (Shoeybi, section 3);
    - experts (tag 2): in each layer with experts two alltoalls of k b s h values forward and two backward, with tokens
      spread evenly (Lepikhin et al. 2020, GShard, section 3; Fedus et al. 2021, Switch Transformers, section 5). Ranks
      of a tensor-parallel group have all values of their tokens and parts of all experts, so each sends them all;
    - pipeline (tag 3): b s h values to the next stage forward and to the stage before backward, in the order 1F1B
      (Narayanan, section 2.2.1);
    - data (tag 4): after the last backward pass, an allreduce of the gradients of a rank's parameters, with
      ``gradients="reduce_scatter"`` a reduce-scatter of them and an allgather of the new parameters (Rajbhandari et al.
      2020, ZeRO, section 7). A layer has 12 h^2 + 13 h parameters (Narayanan, equation 2), of which 6 h (layer norms
      and two biases) are on every rank of a tensor-parallel group, and the rest is divided. An expert has 8 h^2 + 5 h;
      its gradients are added among the ranks that have the same expert. The first and the last stage have V h
      parameters of the word embedding, and the first one s h of positions;
    - embedding (tag 5): with a vocabulary, the first and the last stage add their gradients of the word embedding,
      because the output layer has the same parameters (Shoeybi, section 3).

    A layer takes 24 b s h^2 + 4 b s^2 h FLOPs forward, of which 16 b s h^2 (with experts k times as many) belong to the
    MLP, and the output layer 2 b s h V; backward it is twice as much (Narayanan, appendix). Communication and
    computation of a rank do not overlap, except for messages to other stages. Gates, layer norms, the optimizer and
    recomputation take no time.

    allreduce, reduce_scatter, allgather, alltoall: algorithms (docs/programs.md); ``segments`` is for trees.
    Raises ConfigError.

    >>> import flitlab as fl
    >>> fl.transformer(layers=4, hidden=64, sequence=32, tensor=2, pipeline=2, micro_batches=4, flops_per_cycle=1e4)
    <Program transformer: 4 ranks, 672 calls>
    """
    numbers = _whole(1, layers=layers, hidden=hidden, sequence=sequence, micro_batch=micro_batch,
                     micro_batches=micro_batches, data=data, tensor=tensor, pipeline=pipeline, expert=expert,
                     top_k=top_k, expert_every=expert_every, value_bytes=value_bytes, segments=segments)
    numbers |= _whole(0, experts=experts, vocabulary=vocabulary)
    steps = _whole(1, steps=steps)["steps"]
    for name, value in (("flops_per_cycle", flops_per_cycle), ("scale", scale)):
        if not is_number(value) or not 0 < value < float("inf"):
            raise ConfigError(f"{name} = {shown(value)}: it must be a number above 0.")
    if not is_number(combine) or not 0 <= combine < float("inf"):
        raise ConfigError(f"combine = {shown(combine)}: it must be a number, 0 or more.")
    for name, by in (("layers", "pipeline"), ("hidden", "tensor"), ("data", "expert"), ("experts", "expert")):
        if numbers[name] % numbers[by]:
            raise ConfigError(f"{name} = {numbers[name]}: it must be a multiple of {by} = {numbers[by]}.")
    if expert > 1 and not experts:
        raise ConfigError(f"expert = {expert}: the model has no experts to share. Set experts, a multiple of {expert}.")
    if experts and top_k > experts:
        raise ConfigError(f"top_k = {top_k}: it must be at most experts = {experts}.")
    if experts and expert_every > layers:
        raise ConfigError(f"expert_every = {expert_every}: no layer has experts; it must be at most layers = {layers}.")
    if gradients not in _GRADIENTS:
        raise ConfigError(f"gradients = {shown(gradients)}: it must be {' or '.join(_GRADIENTS)}."
                          f"{did_you_mean(gradients, _GRADIENTS)}")
    algorithms = {"allreduce": allreduce, "reduce_scatter": reduce_scatter, "allgather": allgather,
                  "alltoall": alltoall}
    for operation, algorithm in algorithms.items():
        check_algorithm(operation, algorithm, operation)
    step = _Step(**numbers, flops_per_cycle=flops_per_cycle, gradients=gradients, algorithms=algorithms,
                 combine=combine, scale=scale)
    program = Program(step.tensor * step.data * step.pipeline, "transformer")
    for me in program:
        worker = _Worker(step, me)
        for _ in range(steps):
            worker.train()
    return program
