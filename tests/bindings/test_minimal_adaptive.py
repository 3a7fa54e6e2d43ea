"""Times at which a packet may take a virtual channel under minimal adaptive routing with wormhole flow control, derived
by hand from the pipeline in kernels/routers/vc/README.md. Virtual channel 0 is the escape channel, 1 is adaptive."""

import flitlab as fl


def events(tmp_path, shape, lines, kind, router):
    """Returns events of one kind in a router or at its terminal."""
    trace = tmp_path / "trace.csv"
    trace.write_text("".join(f"0,{source},{destination},1\n" for source, destination in lines))
    net = fl.Network({"topology.kind": "mesh", "topology.shape": shape, "routing.algorithm": "minimal_adaptive",
                      "router.vcs": 2, "router.flow_control": "wormhole", "traffic.mode": "trace",
                      "traffic.trace_file": str(trace)}, trace=True).step(40)
    return [e for e in net.events() if e["kind"] == kind and e["index"] == router]


def test_an_adaptive_channel_between_routers_must_be_empty(tmp_path):
    """Six one-flit packets from terminal 0 to its neighbour. The first takes the adaptive channel in cycle 2. Its flit
    wins the switch in 3, arrives in 6 and wins the next router's switch in 8, so its credit returns in 11: only then
    does another packet take the adaptive channel. The escape channel is free as soon as a tail has won the switch,
    however full its buffer is."""
    granted = [e for e in events(tmp_path, [2, 2], 6 * [(0, 1)], "vc_granted", 0) if e["out_port"] == 0]
    assert [e["cycle"] for e in granted if e["out_vc"] == 1] == [2, 11]
    assert [e["cycle"] for e in granted if e["out_vc"] == 0] == [3, 5, 7, 9]


def test_a_channel_to_a_terminal_need_not_be_empty(tmp_path):
    """A terminal accepts every arriving flit, so a packet never waits in front of it. Packets of four neighbours reach
    one router in cycle 6 and leave it in four consecutive cycles over two channels. The first, granted in 7, wins the
    switch in 8, arrives in 11, and its credit returns in 14; its channel is free for the third packet in 9."""
    lines = [(neighbour, 4) for neighbour in (1, 3, 5, 7)]
    assert [e["cycle"] for e in events(tmp_path, [3, 3], lines, "vc_granted", 4)] == [7, 8, 9, 10]
    assert [e["cycle"] for e in events(tmp_path, [3, 3], lines, "delivered", 4)] == [11, 12, 13, 14]
