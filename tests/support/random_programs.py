"""Random message-passing programs, and networks of every model that runs them without software of its own."""

import random

import flitlab as fl

# Networks whose routes and priorities do not depend on a packet's number, which differs in the naive execution.
NETWORKS = {
    "vc": {"topology.kind": "mesh", "topology.shape": [3, 3]},
    "vc, two terminals": {"topology.kind": "mesh", "topology.shape": [3, 2], "topology.concentration": 2,
                          "router.vcs": 2, "router.buffer_flits": 2},
    "vc, iSLIP": {"topology.kind": "mesh", "topology.shape": [2, 2, 2], "router.switch_allocator": "islip",
                  "topology.channel_delay": 3},
    "switch": {"router.kind": "switch", "topology.ports": 8},
    "adaptive": {"router.kind": "adaptive", "topology.kind": "mesh", "topology.shape": [3, 3],
                 "traffic.flit_bytes": 256},
    "bless": {"router.kind": "bless", "topology.kind": "mesh", "topology.shape": [3, 3]},
    "sconnect": {"router.kind": "sconnect", "traffic.flit_bytes": 256},
    "t3e": {"router.kind": "t3e", "topology.shape": [4, 4, 1], "routing.adaptive": False},
}


def random_places(draw: random.Random, ranks: int, terminals: int) -> list[tuple]:
    """[rank] (terminal,) or (terminal, processor)."""
    return [draw.choice([(terminal,), (terminal, 0), (terminal, 0), (terminal, 7)])
            for terminal in draw.choices(range(terminals), k=ranks)]


def random_calls(draw: random.Random, ranks: int, messages: int,
                 places: list[tuple] | None = None) -> list[list[tuple]]:
    """A program that ends: every message is sent, in the order of this list, before it is received. Two messages of a
    pair of ranks have different tags, because networks may reorder them. With places, ranks of a terminal also notify
    one another."""
    calls = [[] for _ in range(ranks)]
    handles = [[] for _ in range(ranks)]
    for tag in range(messages):
        source, destination = draw.sample(range(ranks), 2)
        size = draw.choice([0, 1, 100, 240, 241, 700, 1500])
        for rank in (source, destination):
            if draw.random() < .4:
                calls[rank].append(("compute", draw.randrange(40)))
        if places and places[source][0] == places[destination][0] and draw.random() < .4:
            calls[source].append(("notify", destination, tag))
            calls[destination].append(("after", source, tag))
            continue
        if draw.random() < .5:
            calls[source].append(("send", destination, size, tag))
        else:
            calls[source].append(("isend", destination, size, tag, tag))
            handles[source].append(tag)
        if draw.random() < .5:
            calls[destination].append(("recv", source, tag))
        else:
            calls[destination].append(("irecv", source, tag, tag + messages))
            handles[destination].append(tag + messages)
        if handles[destination] and draw.random() < .3:
            calls[destination].append(("wait", handles[destination].pop(0)))
    for rank, own in enumerate(handles):
        calls[rank] += [("wait", handle) for handle in own]
    return calls


def text(calls: list[list[tuple]], places: list[tuple] | None = None) -> str:
    """The lines of a file."""
    lines = [f"ranks,{len(calls)}"]
    lines += [",".join(map(str, ("place", rank, *place))) for rank, place in enumerate(places or [])]
    for rank, own in enumerate(calls):
        for call, *arguments in own:
            if call in ("recv", "irecv"):
                arguments.insert(1, "")  # any size
            lines.append(",".join(map(str, (rank, call, *arguments))))
    return "\n".join(lines) + "\n"


def experiment(network: dict, calls: list[list[tuple]], path, places: list[tuple] | None = None,
               **more) -> fl.Experiment:
    path.write_text(text(calls, places))
    return fl.Experiment.from_dict({**network, "traffic.mode": "program", "traffic.program_file": str(path),
                                    "traffic.self": False, **more})
