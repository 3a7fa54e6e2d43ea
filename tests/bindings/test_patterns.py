"""Every traffic pattern on every model and topology, compared with independent definitions: packets per source and
destination, observed at the terminals."""

import numpy as np
import pytest

import flitlab as fl
from flitlab.records import parameters_of

# Networks: name -> (settings, shape of the grid of routers, terminals per router). Terminals are numbered router by
# router, dimension 0 fastest. A grid of one dimension means that terminals have no coordinates, only numbers.
NETWORKS = {
    "vc mesh": ({"topology.kind": "mesh", "topology.shape": [4, 4]}, [4, 4], 1),
    "vc torus": ({"topology.shape": [4, 2, 4]}, [4, 2, 4], 1),
    "vc oblong": ({"topology.kind": "mesh", "topology.shape": [8, 2]}, [8, 2], 1),
    "vc concentrated": ({"topology.kind": "mesh", "topology.shape": [4, 2], "topology.concentration": 2}, [4, 2], 2),
    "vc hypercube": ({"topology.kind": "hypercube", "topology.dimensions": 4}, [2, 2, 2, 2], 1),
    "vc odd": ({"topology.kind": "mesh", "topology.shape": [3, 5]}, [3, 5], 1),
    "t3e": ({"topology.shape": [4, 4, 2]}, [4, 4, 2], 1),
    "bgl": ({"topology.shape": [4, 2, 2]}, [4, 2, 2], 1),
    "metro": ({"topology.radix": [4, 4]}, [16], 1),
    "sconnect mesh": ({"topology.kind": "mesh", "topology.shape": [4, 4]}, [4, 4], 1),
    "sconnect hypercube": ({"topology.kind": "hypercube", "topology.dimensions": 4}, [2, 2, 2, 2], 1),
    "sconnect dual": ({"topology.kind": "mesh", "topology.shape": [4, 4], "topology.node": "dual"}, [4, 4], 1),
    "sconnect dual line": ({"topology.kind": "mesh", "topology.shape": [8], "topology.node": "dual"}, [8], 1),
    "sconnect random": ({"topology.kind": "random", "topology.nodes": 16}, [16], 1),
    "adaptive": ({"topology.kind": "hypercube", "topology.dimensions": 4}, [2, 2, 2, 2], 1),
    "bless": ({"topology.kind": "mesh", "topology.shape": [4, 4]}, [4, 4], 1),
    "switch": ({"topology.ports": 16}, [16], 1),
}
WORDS = next(p["choices"] for p in [parameters_of("vc")["traffic.pattern"]])
SLOWER = 8  # factor by which Blue Gene/L gets less load and more cycles, because its links are slow
PERMUTATIONS = ["bit_complement", "bit_reverse", "shuffle", "transpose", "tornado", "neighbour", "random_permutation"]


def experiment(network, **settings):
    changes, shape, per_router = NETWORKS[network]
    given = {key.replace("__", "."): value for key, value in settings.items()}
    if network == "bgl" and "traffic.load" in given:
        given["traffic.load"] /= SLOWER
    e = fl.Experiment.from_dict({"router.kind": network.split()[0]} | changes | given)
    return e, shape, per_router, int(np.prod(shape)) * per_router


def state(e, cycles=600):
    return fl.Network(e).step(cycles).state_hash


def journeys(e, terminals, cycles):
    """Returns the packets delivered, as [source, destination]."""
    net = fl.Network(e, trace=True).step(cycles * (SLOWER if e["router.kind"] == "bgl" else 1))
    seen = np.zeros((terminals, terminals), int)
    for event in net.events():
        if event["kind"] == "delivered":
            seen[event["src"], event["index"]] += 1
    return seen


def where(terminal, shape, per_router):
    """Returns the coordinates of a terminal's router, and its index among that router's terminals."""
    at, rest = [], terminal // per_router
    for k in shape:
        at.append(rest % k)
        rest //= k
    return at, terminal % per_router


def number(at, local_index, shape, per_router):
    return sum(x * int(np.prod(shape[:d])) for d, x in enumerate(at)) * per_router + local_index


def partner(pattern, terminal, shape, per_router):
    """Returns the destination by Dally and Towles, Table 3.1, from bits b or coordinates x."""
    count = int(np.prod(shape)) * per_router
    at, local_index = where(terminal, shape, per_router)
    bits = f"{terminal:b}".zfill(count.bit_length() - 1)
    if pattern == "bit_complement":
        return int("".join("10"[int(b)] for b in bits), 2)
    if pattern == "bit_reverse":
        return int(bits[::-1], 2)
    if pattern == "shuffle":
        return int(bits[1:] + bits[0], 2)
    if pattern == "transpose" and len(shape) == 2 and shape[0] == shape[1]:
        return number(at[::-1], local_index, shape, per_router)
    if pattern == "transpose":
        half = len(bits) // 2
        return int(bits[half:] + bits[:half], 2)
    step = {"tornado": lambda k: -(-k // 2) - 1, "neighbour": lambda k: 1}[pattern]
    return number([(x + step(k)) % k for x, k in zip(at, shape, strict=True)], local_index, shape, per_router)


def fits(pattern, shape, count):
    power, square = count & (count - 1) == 0, len(shape) == 2 and shape[0] == shape[1]
    return {"tornado": max(shape) > 2, "neighbour": True, "random_permutation": True,
            "transpose": square or (power and (int(count).bit_length() - 1) % 2 == 0)}.get(pattern, power)


def seen_at_terminals(network):
    """METRO's traces record that a source has the acknowledgment, but not where the message arrived."""
    return network != "metro"


@pytest.mark.parametrize("pattern", PERMUTATIONS)
@pytest.mark.parametrize("network", NETWORKS)
def test_permutations(network, pattern, tmp_path):
    """A packet to its own source may use the network or not, depending on the model."""
    _, shape, per_router, count = experiment(network)
    try:
        e = experiment(network, traffic__pattern=pattern, traffic__load=0.2)[0]
    except fl.ConfigError as error:
        assert not fits(pattern, shape, count), error
        return
    assert fits(pattern, shape, count)
    if pattern == "random_permutation":
        if seen_at_terminals(network):
            seen = journeys(e, count, 1500)
            sources, to = np.nonzero(seen)
            assert len(set(sources)) == len(set(to)) == len(to) >= count - 4
        return
    expected = [partner(pattern, s, shape, per_router) for s in range(count)]
    # A matrix with a single destination per row must give the same traffic.
    matrix = tmp_path / "matrix.csv"
    matrix.write_text("".join(f"{s},{d},{int(s != d)}\n" for s, d in enumerate(expected)))
    if all(s != d for s, d in enumerate(expected)):
        same = experiment(network, traffic__pattern="matrix", traffic__load=0.2, traffic__matrix_file=str(matrix))[0]
        assert state(same) == state(e)
    if seen_at_terminals(network):
        seen = journeys(e, count, 1500)
        others = {(s, d) for s, d in enumerate(expected) if s != d}
        assert others <= set(zip(*map(list, np.nonzero(seen)), strict=True)) <= set(enumerate(expected))


@pytest.mark.parametrize("network", NETWORKS)
def test_a_hot_region_has_its_documented_position(network):
    _, shape, per_router, count = experiment(network)
    extent = [1 if d % 2 else min(k, 2) for d, k in enumerate(shape)]
    hot = [s for s in range(count) if all(x < n for x, n in zip(where(s, shape, per_router)[0], extent, strict=True))]
    if network == "switch":  # the network is one router
        with pytest.raises(fl.ConfigError, match="coordinates"):
            experiment(network, traffic__pattern="hot_region")
        return
    settings = {"traffic__hot_fraction": 1.0, "traffic__load": 0.05}
    region = experiment(network, traffic__pattern="hot_region", traffic__hot_shape=extent, **settings)[0]
    spot = experiment(network, traffic__pattern="hot_spot", traffic__hot_terminals=hot, **settings)[0]
    assert state(region) == state(spot)
    if seen_at_terminals(network):
        seen = journeys(region, count, 3000)
        cold = [s for s in range(count) if s not in hot]
        assert set(np.flatnonzero(seen[cold].any(axis=0))) == set(hot)
        assert seen[cold].any(axis=1).all()
    # The default shape of the hot region is two nodes in each dimension.
    default = [s for s in range(count) if all(x < 2 for x in where(s, shape, per_router)[0])]
    assert (state(experiment(network, traffic__pattern="hot_region", traffic__load=0.1)[0])
            == state(experiment(network, traffic__pattern="hot_spot", traffic__hot_terminals=default,
                                traffic__load=0.1)[0]))


@pytest.mark.parametrize("network", NETWORKS)
def test_hot_terminals_get_their_part(network):
    _, _, _, count = experiment(network)
    if not seen_at_terminals(network):
        pytest.skip("where METRO's messages go, only their sources know")
    e = experiment(network, traffic__pattern="hot_spot", traffic__hot_terminals=[1, count - 1],
                   traffic__hot_fraction=0.3, traffic__load=0.05)[0]
    seen = journeys(e, count, 6000)
    cold = [s for s in range(count) if s not in (1, count - 1)]
    inside, packets = seen[cold][:, [1, count - 1]].sum(), seen[cold].sum()
    share = 0.3 + 0.7 * 2 / count
    assert abs(inside / packets - share) < 5 * np.sqrt(share * (1 - share) / packets) + 0.7 * 2 / count**2
    assert seen.any(axis=0).all()


@pytest.mark.parametrize("network", NETWORKS)
def test_all_to_region_is_from_outside_to_the_region(network):
    _, shape, per_router, count = experiment(network)
    extent = [min(k, 2) if d == 0 else 1 for d, k in enumerate(shape)]
    hot = [s for s in range(count) if all(x < n for x, n in zip(where(s, shape, per_router)[0], extent, strict=True))]
    settings = {"traffic__mode": "batch", "traffic__pattern": "all_to_region", "traffic__rounds": 2}
    if network == "switch":
        with pytest.raises(fl.ConfigError, match="coordinates"):
            experiment(network, **settings)
        return
    e = experiment(network, traffic__hot_shape=extent, **settings)[0]
    seen = journeys(e, count, 12000)
    outside = [s for s in range(count) if s not in hot]
    assert (seen.sum(axis=1) == [0 if s in hot else 2 * len(hot) for s in range(count)]).all()
    if seen_at_terminals(network):
        expected = np.zeros((count, count), int)
        expected[np.ix_(outside, hot)] = 2
        assert (seen == expected).all()


@pytest.mark.parametrize("network", NETWORKS)
def test_all_to_all_reaches_all_terminals(network):
    e, _, _, count = experiment(network, traffic__mode="batch", traffic__pattern="all_to_all", traffic__rounds=1)
    seen = journeys(e, count, 12000)
    assert (seen.sum(axis=1) == count - 1).all()
    if seen_at_terminals(network):
        assert (seen == 1 - np.eye(count, dtype=int)).all()


@pytest.mark.parametrize("network", NETWORKS)
def test_uniform_traffic_goes_everywhere_alike(network):
    e, _, _, count = experiment(network, traffic__load=0.05)
    seen = journeys(e, count, 8000)
    received = seen.sum(axis=0)
    assert abs(received - received.mean()).max() < 6 * np.sqrt(received.mean())


@pytest.mark.parametrize("network", NETWORKS)
def test_exchanges(network):
    _, _, _, count = experiment(network)
    bits = [1 << b for b in range(count.bit_length() - 1)]
    if count & (count - 1):
        for pattern in ("fft", "divide"):
            with pytest.raises(fl.ConfigError, match="power-of-two"):
                experiment(network, traffic__pattern=pattern)
        return
    if not seen_at_terminals(network):
        pytest.skip("where METRO's messages go, only their sources know")
    # A binomial tree: clearing the lowest set bit of a node's number gives its parent.
    tree = {(i, i & (i - 1)) for i in range(1, count)}
    edges = {"fft": {(i, i ^ b) for i in range(count) for b in bits}, "divide": tree | {(b, a) for a, b in tree}}
    for pattern, pairs in edges.items():
        seen = journeys(experiment(network, traffic__pattern=pattern, traffic__load=0.1)[0], count, 8000)
        assert set(zip(*map(list, np.nonzero(seen)), strict=True)) == pairs


@pytest.mark.parametrize("network", NETWORKS)
def test_a_matrix_may_send_to_the_sender_where_that_is_traffic(network, tmp_path):
    """A matrix may send packets from a terminal to itself, in models where that is allowed. On Blue Gene/L such a
    packet once blocked its queue."""
    count = experiment(network)[3]
    matrix = tmp_path / "matrix.csv"
    matrix.write_text("".join(f"{s},{s if s == 2 else (s + 1) % count},1\n" for s in range(count)))
    settings = {"traffic__pattern": "matrix", "traffic__matrix_file": str(matrix), "traffic__load": 0.1}
    net = fl.Network(experiment(network, **settings)[0]).step(1000)
    net.check()
    assert net.terminal(2).received > 0
    with pytest.raises(fl.ConfigError, match=r"terminal 2 sends to itself, and traffic\.self = false"):
        fl.Network(experiment(network, **settings, traffic__self=False)[0])


def test_these_are_all_patterns():
    named = {*PERMUTATIONS, "hot_region", "all_to_region", "all_to_all", "uniform", "hot_spot", "fft", "divide",
             "next_router", "next_group"}
    assert named | {"matrix"} == set(WORDS)


@pytest.mark.parametrize("pattern", ["tornado", "neighbour", "hot_region", "all_to_region"])
def test_patterns_by_coordinates_need_coordinates(pattern):
    """A tree has no coordinates. The message names only parameters that the user has set."""
    with pytest.raises(fl.ConfigError, match=f'traffic.pattern = "{pattern}" needs coordinates, which this network'):
        fl.Experiment.from_dict({"router.kind": "sconnect", "topology.kind": "tree", "traffic.pattern": pattern})


def test_a_region_with_idle_terminals_is_named_in_the_error():
    with pytest.raises(fl.ConfigError, match=r"traffic\.hot_shape: terminal 20 takes no part"):
        fl.Network(fl.Experiment.from_dict({
            "router.kind": "t3e", "topology.shape": [4, 4, 2], "topology.partitions": [0, 9, 12, 7],
            "traffic.pattern": "hot_region"}))
