"""Virtual-channel flow control (Dally 1990 and 1992): throughput with a constant amount of buffers per channel."""

from __future__ import annotations

from functools import partial

from flitlab.classics.published.measuring import FLITS, HIGHEST, context, highest, network, ratio, relation
from flitlab.reproduction import once

DALLY_1990 = "Virtual-Channel Flow Control (ISCA 1990), abstract"
DALLY_1992 = "Virtual-Channel Flow Control (TPDS 1992), abstract"
STORAGE = 16  # flits of buffers per channel
VCS = (1, 2, 4, 8)
NETWORKS = {
    "8x8 mesh": ({"topology__kind": "mesh"}, (0.25, 0.3, 0.35, 0.4, 0.5)),
    "hypercube, 64 nodes": ({"topology__kind": "hypercube", "topology__dimensions": 6}, (0.5, 0.6, 0.7, 0.8)),
    "hypercube, 256 nodes": ({"topology__kind": "hypercube", "topology__dimensions": 8}, (0.5, 0.6, 0.7, 0.8)),
}
READING = (
    "Only the abstracts were read. They give factors of 3.5 (1990) and 4 (1992, 10 stages) for multistage networks of "
    "2 x 2 switches, which flitlab does not have; so only the relations are judged, in other networks. Uniform "
    f"traffic, packets of 20 flits, dimension-order routing, wormhole flow control, {STORAGE} flits of buffers per "
    "channel, divided equally. Dimension-order routing in a hypercube of n dimensions visits its channels in the order "
    "of an n-stage network, but each channel is needed by half of the packets only. With many virtual channels the "
    f"buffers are shorter than the round trip of a credit, so throughput falls again. {HIGHEST}")


def throughput(name: str, vcs: int) -> float:
    settings, loads = NETWORKS[name]
    return highest(network(**settings, router__vcs=vcs, router__buffer_flits=STORAGE // vcs, traffic__packet_flits=20),
                   loads)


def virtual_channels() -> list[dict]:
    """Throughput against the number of virtual channels, and its dependence on the depth of the network."""
    common = {"experiment": "classics.virtual_channels", "reading": READING}
    at = {(name, vcs): once(throughput, name, vcs) for name in NETWORKS for vcs in VCS}
    rows = []
    for name in NETWORKS:
        rows += [context(quantity=f"throughput, {vcs} virtual channel{'s' * (vcs > 1)}", setting=name,
                         source=DALLY_1992, measured=at[name, vcs], unit=FLITS, **common) for vcs in VCS]
        rows.append(relation(quantity="best number of virtual channels over 1", setting=name, source=DALLY_1990,
                             measured=partial(lambda name: max(at[name, vcs]() for vcs in VCS[1:]) / at[name, 1](),
                                              name),
                             **common))
    shallow, deep = "hypercube, 64 nodes", "hypercube, 256 nodes"
    kept = {vcs: ratio(at[deep, vcs], at[shallow, vcs]) for vcs in VCS}
    rows += [context(quantity=f"throughput of 8 over 6 dimensions, {vcs} virtual channel{'s' * (vcs > 1)}",
                     setting="hypercubes", source=DALLY_1992, measured=kept[vcs], unit="times", **common)
             for vcs in (1, 2, 4)]
    return rows + [relation(quantity=f"throughput kept in 8 dimensions, {vcs} virtual channels over 1",
                            setting="hypercubes", source=DALLY_1992, measured=ratio(kept[vcs], kept[1]), **common)
                   for vcs in (2, 4)]


EXPERIMENTS = {
    "classics.virtual_channels": ("buffers divided into virtual channels raise the throughput (3 s)",
                                  virtual_channels),
}
