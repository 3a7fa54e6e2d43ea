"""Algorithms of collective operations: for each rank, the steps in which it sends and receives blocks of a buffer.

The buffer of an operation has ``blocks`` blocks. In a step a rank sends blocks to one rank and receives blocks from
another one, or does one of the two. It continues when the blocks have been received. ``combine`` says whether they are
added to the rank's own blocks (reductions) or replace them.

Sources: Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations in MPICH" (2005); Bruck et
al., "Efficient Algorithms for All-to-All Communications" (1997); Sanders, Speck and Traeff, "Two-Tree Algorithms for
Full Bandwidth Broadcast, Reduction and Scan" (2009).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

Blocks = Sequence[int]
Transfer = tuple[int, Blocks]  # the other rank, and the blocks


class Step(NamedTuple):
    send: Transfer | None = None
    receive: Transfer | None = None
    combine: bool = False


class Shape(NamedTuple):
    """What an algorithm is made for."""

    ranks: int
    segments: int  # parts in which trees and chains pass on a buffer
    dimensions: tuple[int, ...]  # numbers of ranks in each dimension; the first one varies fastest


class Algorithm(NamedTuple):
    blocks: Callable[[Shape], int]  # blocks of the buffer
    steps: Callable[[Shape, int], Iterator[Step]]  # of a rank
    why_not: Callable[[Shape], str] = lambda _: ""  # why it cannot run on this number of ranks; "": it can


def _power_of_two(n: int) -> int:
    """Returns the largest power of two that is not larger than n."""
    return 1 << (n.bit_length() - 1)


def _needs_power_of_two(shape: Shape) -> str:
    return "" if shape.ranks == _power_of_two(shape.ranks) else "it needs a power of two of ranks"


def _ranks(shape: Shape) -> int:
    return shape.ranks


def _one(_: Shape) -> int:
    return 1


# Rings. `line` lists the ranks of a ring, and `me` is a position in it.

def _ring_scatter(line: Sequence[int], me: int, part: Callable[[int], Blocks]) -> Iterator[Step]:
    """Reduce-scatter: part(me) is complete afterwards."""
    n = len(line)
    for s in range(1, n):
        yield Step((line[(me + 1) % n], part((me - s) % n)), (line[me - 1], part((me - s - 1) % n)), True)


def _ring_gather(line: Sequence[int], me: int, part: Callable[[int], Blocks]) -> Iterator[Step]:
    """Allgather: begins with part(me)."""
    n = len(line)
    for s in range(n - 1):
        yield Step((line[(me + 1) % n], part((me - s) % n)), (line[me - 1], part((me - s - 1) % n)))


def _block(i: int) -> Blocks:
    return (i,)


def _ring_reduce_scatter(shape: Shape, me: int) -> Iterator[Step]:
    return _ring_scatter(range(shape.ranks), me, _block)


def _ring_allgather(shape: Shape, me: int) -> Iterator[Step]:
    return _ring_gather(range(shape.ranks), me, _block)


def _ring_allreduce(shape: Shape, me: int) -> Iterator[Step]:
    yield from _ring_reduce_scatter(shape, me)
    yield from _ring_allgather(shape, me)


def _by_dimension(shape: Shape, me: int) -> Iterator[Step]:
    """Rings along one dimension after the other. Each reduce-scatter divides the part that the one before has left."""
    left: Blocks = range(shape.ranks)
    gathers = []
    stride = 1
    for radix in shape.dimensions:
        position = me // stride % radix
        line = [me + (i - position) * stride for i in range(radix)]
        size = len(left) // radix

        def part(i: int, left: Blocks = left, size: int = size) -> Blocks:
            return left[i * size:(i + 1) * size]

        yield from _ring_scatter(line, position, part)
        gathers.append((line, position, part))
        left = part(position)
        stride *= radix
    for line, position, part in reversed(gathers):
        yield from _ring_gather(line, position, part)


# Recursive halving and doubling among the largest power of two of ranks; the others give their blocks to a neighbour
# before, and get the result afterwards.

def _folded(shape: Shape, me: int, blocks: int, work: Callable[[int, int, Callable[[int], int]], Iterator[Step]]
            ) -> Iterator[Step]:
    """`work(members, my number among them, rank of a number)`."""
    members = _power_of_two(shape.ranks)
    pairs = shape.ranks - members
    everything = range(blocks)

    def rank_of(number: int) -> int:
        return 2 * number + 1 if number < pairs else number + pairs

    if me < 2 * pairs and me % 2 == 0:
        yield Step(send=(me + 1, everything))
        yield Step(receive=(me + 1, everything))
        return
    if me < 2 * pairs:
        yield Step(receive=(me - 1, everything), combine=True)
    yield from work(members, me // 2 if me < 2 * pairs else me - pairs, rank_of)
    if me < 2 * pairs:
        yield Step(send=(me - 1, everything))


def _recursive_doubling(shape: Shape, me: int) -> Iterator[Step]:
    def work(members, number, rank_of):
        distance = 1
        while distance < members:
            other = rank_of(number ^ distance)
            yield Step((other, _block(0)), (other, _block(0)), True)
            distance *= 2

    return _folded(shape, me, 1, work)


def _halve(members: int, number: int, rank_of: Callable[[int], int]) -> Iterator[Step]:
    """Reduce-scatter: block `number` is complete afterwards."""
    first, distance = 0, members // 2
    while distance:
        low, high = range(first, first + distance), range(first + distance, first + 2 * distance)
        mine, others = (high, low) if number & distance else (low, high)
        other = rank_of(number ^ distance)
        yield Step((other, others), (other, mine), True)
        first = mine[0]
        distance //= 2


def _double(members: int, number: int, rank_of: Callable[[int], int]) -> Iterator[Step]:
    """Allgather: begins with block `number`."""
    distance = 1
    while distance < members:
        first = number // distance * distance
        theirs = first ^ distance
        other = rank_of(number ^ distance)
        yield Step((other, range(first, first + distance)), (other, range(theirs, theirs + distance)))
        distance *= 2


def _halving_doubling(shape: Shape, me: int) -> Iterator[Step]:
    def work(members, number, rank_of):
        yield from _halve(members, number, rank_of)
        yield from _double(members, number, rank_of)

    return _folded(shape, me, _power_of_two(shape.ranks), work)


def _recursive_halving(shape: Shape, me: int) -> Iterator[Step]:
    return _halve(shape.ranks, me, lambda number: number)


def _recursive_doubling_allgather(shape: Shape, me: int) -> Iterator[Step]:
    return _double(shape.ranks, me, lambda number: number)


# Trees and chains.

def _binomial(n: int, me: int) -> tuple[int | None, list[int]]:
    """Returns the parent and the children of a rank in a binomial tree with root 0, the largest subtree first."""
    span = me & -me if me else 1 << (n - 1).bit_length()
    children = []
    while span > 1:
        span //= 2
        if me + span < n:
            children.append(me + span)
    return (me & (me - 1) if me else None), children


def _up(me: tuple[int | None, list[int]], blocks: Blocks) -> Iterator[Step]:
    parent, children = me
    for child in reversed(children):
        yield Step(receive=(child, blocks), combine=True)
    if parent is not None:
        yield Step(send=(parent, blocks))


def _down(me: tuple[int | None, list[int]], blocks: Blocks) -> Iterator[Step]:
    parent, children = me
    if parent is not None:
        yield Step(receive=(parent, blocks))
    for child in children:
        yield Step(send=(child, blocks))


def _tree_reduce(shape: Shape, me: int) -> Iterator[Step]:
    return _up(_binomial(shape.ranks, me), _block(0))


def _tree_broadcast(shape: Shape, me: int) -> Iterator[Step]:
    return _down(_binomial(shape.ranks, me), _block(0))


def _tree_allreduce(shape: Shape, me: int) -> Iterator[Step]:
    yield from _tree_reduce(shape, me)
    yield from _tree_broadcast(shape, me)


class _Node(NamedTuple):
    place: tuple[int | None, list[int]]  # parent and children
    height: int  # longest way down to a leaf
    depth: int  # way up to the root


def _in_order(n: int) -> list[_Node]:
    """Returns the nodes of a binary tree whose leaves have even numbers."""
    nodes: dict[int, _Node] = {}

    def build(first: int, end: int, parent: int | None, depth: int) -> list[int]:
        size = end - first
        if not size:
            return []
        perfect = _power_of_two(size + 1)
        root = first + (perfect // 2 if size == perfect - 1 else perfect) - 1
        children = build(first, root, root, depth + 1) + build(root + 1, end, root, depth + 1)
        height = 1 + max((nodes[child].height for child in children), default=-1)
        nodes[root] = _Node((parent, children), height, depth)
        return [root]

    build(0, n, None, 0)
    return [nodes[i] for i in range(n)]


def _double_tree(shape: Shape, me: int) -> Iterator[Step]:
    """Two binary trees, each for half of the buffer. A leaf of one tree is an inner node of the other. Segments flow up
    one tree level in each turn, and down again, so that a rank only waits for what was sent in an earlier turn."""
    n = shape.ranks
    tree = _in_order(n)

    def other(i: int) -> int:  # the second tree is the mirror image of the first, or is shifted by one rank
        return n - 1 - i if n % 2 == 0 else (i + 1) % n

    second = tree[n - 1 - me if n % 2 == 0 else (me - 1) % n]
    parent, children = second.place
    mirrored = (None if parent is None else other(parent), [other(child) for child in children])
    places = [tree[me], second._replace(place=mirrored)]
    top = max(node.height for node in tree)
    for turn in range(shape.segments + top + max(node.depth for node in tree) + 1):
        for half, node in enumerate(places):
            if 0 <= (i := turn - node.height) < shape.segments:
                yield from _up(node.place, _block(half * shape.segments + i))
        for half, node in enumerate(places):
            if 0 <= (i := turn - top - node.depth) < shape.segments:
                yield from _down(node.place, _block(half * shape.segments + i))


def _chain(shape: Shape, me: int) -> Iterator[Step]:
    for i in range(shape.segments):
        if me:
            yield Step(receive=(me - 1, _block(i)))
        if me + 1 < shape.ranks:
            yield Step(send=(me + 1, _block(i)))


def _scatter_allgather(shape: Shape, me: int) -> Iterator[Step]:
    """Broadcast: a binomial tree gives each rank one block, and a ring collects them."""
    parent, children = _binomial(shape.ranks, me)

    def blocks(of: int) -> Blocks:
        return range(of, min(shape.ranks, of + ((of & -of) if of else shape.ranks)))

    if parent is not None:
        yield Step(receive=(parent, blocks(me)))
    for child in children:
        yield Step(send=(child, blocks(child)))
    yield from _ring_allgather(shape, me)


# Exchanges. Block (source * ranks + destination) of an all-to-all goes from source to destination.

def _pairwise(shape: Shape, me: int) -> Iterator[Step]:
    n = shape.ranks
    for s in range(1, n):
        to, source = (me + s) % n, (me - s) % n
        yield Step((to, _block(me * n + to)), (source, _block(source * n + me)))


def _bruck_alltoall(shape: Shape, me: int) -> Iterator[Step]:
    """In the step of distance d a block moves on by d ranks if its way, destination minus source, has bit d."""
    n, distance = shape.ranks, 1

    def held(rank: int, distance: int) -> Blocks:
        """Blocks that a rank sends on: their ways have this bit, and they have moved by the lower bits."""
        ways = [way for way in range(n) if way & distance]
        sources = [(rank - way % distance) % n for way in ways]
        return [source * n + (source + way) % n for source, way in zip(sources, ways, strict=True)]

    while distance < n:
        source = (me - distance) % n
        yield Step(((me + distance) % n, held(me, distance)), (source, held(source, distance)))
        distance *= 2


def _bruck_allgather(shape: Shape, me: int) -> Iterator[Step]:
    n, distance = shape.ranks, 1
    while distance < n:
        count = min(distance, n - distance)
        to, source = (me - distance) % n, (me + distance) % n
        yield Step((to, [(me + i) % n for i in range(count)]), (source, [(source + i) % n for i in range(count)]))
        distance *= 2


def _pairwise_reduce_scatter(shape: Shape, me: int) -> Iterator[Step]:
    n = shape.ranks
    for s in range(1, n):
        to = (me + s) % n
        yield Step((to, _block(to)), ((me - s) % n, _block(me)), True)


def _trees(shape: Shape) -> int:
    return 2 * shape.segments


def _segments(shape: Shape) -> int:
    return shape.segments


def _pairs(shape: Shape) -> int:
    return shape.ranks ** 2


ALGORITHMS: dict[str, dict[str, Algorithm]] = {
    "allreduce": {
        "ring": Algorithm(_ranks, _ring_allreduce),
        "recursive_doubling": Algorithm(_one, _recursive_doubling),
        "halving_doubling": Algorithm(lambda shape: _power_of_two(shape.ranks), _halving_doubling),
        "tree": Algorithm(_one, _tree_allreduce),
        "double_tree": Algorithm(_trees, _double_tree),
        "by_dimension": Algorithm(_ranks, _by_dimension),
    },
    "allgather": {
        "ring": Algorithm(_ranks, _ring_allgather),
        "recursive_doubling": Algorithm(_ranks, _recursive_doubling_allgather, _needs_power_of_two),
        "bruck": Algorithm(_ranks, _bruck_allgather),
    },
    "reduce_scatter": {
        "ring": Algorithm(_ranks, _ring_reduce_scatter),
        "recursive_halving": Algorithm(_ranks, _recursive_halving, _needs_power_of_two),
        "pairwise": Algorithm(_ranks, _pairwise_reduce_scatter),
    },
    "alltoall": {
        "pairwise": Algorithm(_pairs, _pairwise),
        "bruck": Algorithm(_pairs, _bruck_alltoall),
    },
    "broadcast": {
        "tree": Algorithm(_one, _tree_broadcast),
        "chain": Algorithm(_segments, _chain),
        "scatter_allgather": Algorithm(_ranks, _scatter_allgather),
    },
    "reduce": {"tree": Algorithm(_one, _tree_reduce)},
}
