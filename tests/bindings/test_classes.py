"""Several classes of packets: configurations in all forms, results, bounds, and messages."""

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

import flitlab as fl
from flitlab.scope.recorder import settings_of

MESH = {"topology.kind": "mesh", "topology.shape": [4, 4], "traffic.classes": 2, "traffic.load": 0.2}


def test_lists_of_words_in_all_forms(tmp_path):
    """A list, a text with commas, and both in TOML are the same configuration."""
    expected = fl.Experiment(MESH | {"traffic.class_pattern": ["uniform", "transpose"]})
    assert expected.flat()["traffic.class_pattern"] == "uniform,transpose"
    for form in ("uniform,transpose", "uniform, transpose", ("uniform", "transpose")):
        assert fl.Experiment(MESH | {"traffic.class_pattern": form}).flat() == expected.flat()
    file = tmp_path / "two.toml"
    file.write_text('[topology]\nkind = "mesh"\nshape = [4, 4]\n[traffic]\nclasses = 2\nload = 0.2\n'
                    'class_pattern = ["uniform", "transpose"]\n')
    assert fl.load(file).flat() == expected.flat()
    expected.save(tmp_path / "again.toml")
    assert fl.load(tmp_path / "again.toml").flat() == expected.flat()


@pytest.mark.parametrize(("change", "message"), [
    ({"traffic.class_pattern": ["uniform", "transpos"]}, r"\"transpos\" is not known: did you mean \"transpose\"\?"),
    ({"traffic.class_pattern": ["uniform"]}, r"class_pattern = \"uniform\" has 1 entry: give 2, one for each"),
    ({"traffic.class_share": [1, 2, 3]}, r"class_share = \[1.0, 2.0, 3.0\] has 3 entries: give 2"),
    ({"traffic.class_flits": [1]}, r"class_flits = \[1\] has 1 entry: give 2"),
    ({"traffic.class_priority": [1, 2, 3]}, r"class_priority = \[1, 2, 3\] has 3 entries: give 2"),
    ({"traffic.classes": 9}, "traffic.classes = 9 is out of range: allowed are 1 to 8 classes"),
    ({"traffic.classes": 1, "traffic.class_flits": [1]}, r"belongs to traffic.classes other than 1"),
    ({"traffic.classes": 1, "traffic.class_priority": [1]}, "has no effect with traffic.classes = 1"),
    ({"traffic.classes": 8}, "router.vcs = 4 is too few.* with virtual channels for each of traffic.classes = 8"),
    ({"traffic.mode": "batch"}, "traffic.classes = 2 has no effect here: it belongs to traffic.mode = \"open\""),
    ({"router.kind": "bless", "topology.kind": None}, "it belongs to router.kind = \"vc\", and router.kind is"),
    ({"traffic.hot_terminals": [3]}, "belongs to traffic.pattern or traffic.class_pattern = \"hot_spot\""),
    ({"topology.shape": [3, 3], "traffic.class_pattern": ["bit_reverse", "uniform"]},
     "class 0 of traffic.classes: .*bit_reverse.* does not fit 9 terminals"),
    ({"traffic.class_pattern": ["uniform,transpose"]}, "\"uniform,transpose\" is not known"),
    ({"traffic.class_pattern": ["uniform", ""]}, "\"\" is not known"),
    ({"topology.kind": ["mesh"]}, r"topology.kind = \[\"mesh\"\] has the wrong type"),
    ({"traffic.classes": None, "traffic.mode": "request_reply", "traffic.class_priority": [0, 1]},
     "no effect in a closed loop with router.arbiter = \"round_robin\""),
    ({"traffic.class_pattern": ["tornado", "uniform"], "topology.kind": "dragonfly", "topology.shape": None},
     "\"tornado\" needs coordinates"),
    ({"traffic.pattern": "matrix", "traffic.matrix_values": "rates", "traffic.load": None},
     "\"rates\" does not fit traffic.classes = 2"),
    ({"traffic.injection": "on_off", "traffic.burst_load": 0.1, "traffic.class_share": [3, 1]},
     "class 0 of traffic.classes: traffic.load = 0.15.* must be below traffic.burst_load"),
    ({"traffic.classes": None, "traffic.mode": "request_reply", "traffic.message_classes": 1,
      "traffic.class_priority": [0, 1]}, "does not fit traffic.message_classes = 1"),
    ({"traffic.classes": None, "traffic.mode": "request_reply", "traffic.class_priority": [0]},
     "give 2, one for requests and one for replies"),
])
def test_bad_input(change, message):
    config = {k: v for k, v in (MESH | change).items() if v is not None}
    with pytest.raises(fl.ConfigError, match=message):
        fl.Experiment(config)


def test_patterns_of_classes_have_their_parameters():
    config = MESH | {"traffic.class_pattern": ["uniform", "hot_spot"], "traffic.hot_terminals": [5],
                     "traffic.hot_fraction": 1.0, "traffic.class_share": [9, 1]}
    seen = fl.flows(config, 500, 0)
    assert set(seen.of_class(1).packets["destination"]) == {5}
    assert len(set(seen.of_class(0).packets["destination"])) == 16


def test_bounds_and_means_are_over_all_classes():
    """A mean over packets weights each class with share / length; at the bound, the loads of all classes add up on the
    channels in the middle, which are the busiest for both patterns."""
    uniform = fl.Experiment(MESH | {"traffic.classes": 1}).derived()
    complement = fl.Experiment(MESH | {"traffic.classes": 1, "traffic.pattern": "bit_complement"}).derived()
    both = fl.Experiment(MESH | {"traffic.class_pattern": "uniform,bit_complement", "traffic.class_flits": [1, 3]})
    derived = both.derived()
    packets = [0.5 / 1, 0.5 / 3]  # in proportion to share / length
    mean = (packets[0] * uniform["hops_mean"] + packets[1] * complement["hops_mean"]) / sum(packets)
    assert derived["hops_mean"] == pytest.approx(mean)
    length = sum(p * n for p, n in zip(packets, [1, 3], strict=True)) / sum(packets)
    assert derived["zero_load_latency_cycles"] == pytest.approx(5 * mean + length + 5)
    bounds = uniform["saturation_load_bound"], complement["saturation_load_bound"]
    assert derived["saturation_load_bound"] == pytest.approx(1 / (0.5 / bounds[0] + 0.5 / bounds[1]))
    quiet = fl.run(both.set("traffic.load", 0.01))
    assert quiet.latency_cycles.mean == pytest.approx(derived["zero_load_latency_cycles"], rel=0.03)


def test_means_weight_classes_by_their_senders(tmp_path):
    """Terminal 0 is the only source of class 0; its packets make 6 hops. All terminals send packets of class 1."""
    file = tmp_path / "one.csv"
    file.write_text("0,15,1\n" + "".join(f"{i},0,0\n" for i in range(1, 16)))
    one = fl.Experiment(MESH | {"traffic.class_pattern": ["matrix", "neighbour"], "traffic.matrix_file": str(file),
                                "traffic.class_flits": [1, 1], "traffic.load": 0.04})
    alone = fl.Experiment(MESH | {"traffic.classes": 1, "traffic.pattern": "neighbour"}).derived()["hops_mean"]
    derived, measured = one.derived(), fl.run(one.set("run.measure_cycles", 50000))
    assert derived["hops_mean"] == pytest.approx((6 + 16 * alone) / 17)
    assert derived["hops_mean"] == pytest.approx(measured.hops_mean, rel=0.02)
    assert derived["zero_load_latency_cycles"] == pytest.approx(measured.latency_cycles.mean, rel=0.02)
    # At a load of 1 the channel from terminal 0 to its router is full: it has half of the load from each class.
    assert derived["saturation_load_bound"] == 1
    file.write_text("".join(f"{i},0,0\n" for i in range(16)))  # no packets of class 0 at all
    empty = one.set("traffic.class_pattern", ["matrix", "uniform"]).derived()
    assert empty["hops_mean"] == pytest.approx(fl.Experiment(MESH | {"traffic.classes": 1}).derived()["hops_mean"])


def test_accepted_loads_add_up():
    result = fl.run(MESH | {"traffic.class_flits": [40, 1], "traffic.load": 0.9, "traffic.class_vcs": "shared",
                            "run.warmup_cycles": 1000, "run.measure_cycles": 2000})
    for name in ("accepted", "offered"):
        parts = [getattr(result.model, f"{name}_class_{c}") for c in (0, 1)]
        assert sum(parts) == pytest.approx(getattr(result, name), rel=1e-12 if name == "accepted" else 0.01)


def test_classes_have_different_random_permutations():
    seen = fl.flows(MESH | {"traffic.pattern": "random_permutation"}, 1000, 0)
    frames = [seen.of_class(c).frame for c in (0, 1)]
    to = [dict(zip(f["source"], f["destination"], strict=True)) for f in frames]
    assert to[0] != to[1] and all(sorted(t.values()) == sorted(t) for t in to)


def test_what_a_description_shows():
    e = fl.Experiment(MESH | {"traffic.class_pattern": ["transpose", "uniform"]})
    assert "transpose,uniform at 0.2" in repr(e)
    assert "traffic.pattern" not in settings_of(fl.Network(e)) and "traffic.load" in settings_of(fl.Network(e))


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_totals_of_classes_add_up(data):
    classes = data.draw(st.integers(2, 8))
    per_class = st.lists(st.integers(1, 5), min_size=classes, max_size=classes)
    config = MESH | {
        "traffic.classes": classes, "traffic.class_vcs": "shared", "router.vcs": data.draw(st.integers(1, 4)),
        "traffic.load": data.draw(st.floats(0.05, 0.9)), "traffic.class_flits": data.draw(per_class),
        "traffic.class_share": [float(n) for n in data.draw(per_class)],
        "traffic.class_priority": data.draw(per_class), "run.seed": data.draw(st.integers(0, 999)),
        "router.arbiter": data.draw(st.sampled_from(["round_robin", "highest_priority_first", "matrix"])),
    }
    network = fl.Network(config)
    network.step(600)
    totals = network.totals
    of = [sum(totals[f"packets_delivered_class_{c}"] for c in range(classes)), totals["packets_delivered"]]
    assert of[0] == of[1]
    assert f"packets_delivered_class_{classes}" not in totals
    for terminal in range(16):
        t = network.terminal(terminal)
        assert t.queued == t.created - t.sent
    kept = network.state_hash
    again = fl.Network(config)
    again.step(600)
    assert again.state_hash == kept


def test_one_class_has_no_totals_of_classes():
    assert not [name for name in fl.Network(MESH | {"traffic.classes": 1}).totals if "class" in name]


def test_a_checkpoint_keeps_the_classes(tmp_path):
    config = MESH | {"traffic.classes": 3, "traffic.class_vcs": "shared", "traffic.load": 0.6}
    one, two = fl.Network(config), fl.Network(config)
    one.step(300)
    one.save(tmp_path / "classes.chk")
    one.step(300)
    two.load(tmp_path / "classes.chk")
    two.step(300)
    assert one.state_hash == two.state_hash
