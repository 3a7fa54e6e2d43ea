"""Courses: samples after each window, several courses at a time, and courses that are saved. A saved course resumes,
and is not confused with another course."""

import json

import pytest

import flitlab as fl
from flitlab import courses
from flitlab.courses import Course, all_delivered, follow
from flitlab.journal import line_of

TORUS = fl.Experiment.from_dict({"router.kind": "bgl", "topology.shape": [4, 4], "traffic.load": 0.1,
                                 "traffic.packet_flits": 8})
BATCH = fl.Experiment.from_dict({"router.kind": "bgl", "topology.shape": [4, 4], "traffic.mode": "batch",
                                 "traffic.batch_packets": 5, "traffic.packet_flits": 8})


def test_samples_are_those_of_a_network():
    samples = follow({"a": Course(TORUS, 500, 3, observe=lambda n: {"seen": n.cycle})})["a"]
    network = fl.Network(TORUS)
    for sample in samples:
        assert sample == {"cycle": network.step(500).cycle} | network.totals | {"seen": network.cycle}
    assert len(samples) == 3


def test_a_batch_ends_when_it_has_been_delivered():
    (samples,) = follow({"a": Course(BATCH, 200, 1000, until=all_delivered)}).values()
    assert all_delivered(samples[-1]) and not any(map(all_delivered, samples[:-1]))
    assert samples[-1]["packets_delivered"] == 16 * 5


def test_each_course_has_its_own_samples():
    by_seed = {str(seed): Course(TORUS.set("run.seed", seed), 500, 2) for seed in range(5)}
    together = follow(by_seed)
    assert all(together[name] == follow({name: course})[name] for name, course in by_seed.items())
    assert len({json.dumps(s) for s in together.values()}) == 5


class Stopped(Exception):
    pass


def stops_after(windows):
    """Returns an observe function that interrupts a course after some windows."""
    def observe(network):
        if network.cycle > windows * 500:
            raise Stopped
        return {}
    return observe


def test_a_kept_course_resumes(tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(courses, "SAVE_SECONDS", 0)
    monkeypatch.setattr(courses, "PROBE_SECONDS", 0.01)
    whole = follow({"a": Course(TORUS, 500, 6)})
    with pytest.raises(Stopped):
        follow({"a": Course(TORUS, 500, 6, observe=stops_after(4))}, tmp_path)
    assert len(json.loads((tmp_path / "a.json").read_text())["result"]) == 4
    stepped = []
    course = Course(TORUS, 500, 6, observe=lambda n: stepped.append(n.cycle) or {})
    assert follow({"a": course}, tmp_path) == whole
    assert stepped == [2500, 3000]  # only the last two windows were run again
    assert "1 runs of 16 nodes" in capfd.readouterr().err
    assert not (tmp_path / "a.checkpoint").exists()
    assert follow({"a": course}, tmp_path) == whole and len(stepped) == 2  # nothing is run again
    assert capfd.readouterr().err == ""


def test_another_course_begins_anew(tmp_path, monkeypatch):
    monkeypatch.setattr(courses, "PROBE_SECONDS", 0.01)
    follow({"a": Course(TORUS, 500, 2)}, tmp_path)
    other = Course(TORUS.set("run.seed", 7), 500, 2)
    assert follow({"a": other}, tmp_path) == follow({"a": other})


def _digit_changed(line: str) -> bytes:
    at = line.index('"packets_delivered": ') + len('"packets_delivered": ')
    return (line[:at] + str(9 - int(line[at])) + line[at + 1:]).encode()


@pytest.mark.parametrize("damaged", [
    _digit_changed, lambda line: b"[1]", lambda line: b'{"x":1}', lambda line: b"{",
    lambda line: b"\xff" + line.encode(), lambda line: b'{"a":' * 100000, lambda line: line[:-20].encode(),
    lambda line: line_of("key", [1]).encode(),
    lambda line: line_of("key", [{"cycle": 500}, {"cycle": 400}]).encode(),
    lambda line: line.replace('"schema": 1', '"schema": 2').encode(),
])
def test_damaged_samples_are_made_again(damaged, tmp_path, monkeypatch):
    monkeypatch.setattr(courses, "PROBE_SECONDS", 0.01)
    course = Course(TORUS, 500, 2)
    whole = follow({"a": course}, tmp_path)
    file = tmp_path / "a.json"
    file.write_bytes(damaged(file.read_text()))
    with pytest.warns(UserWarning, match=r"a\.json is damaged, or from another version of flitlab; its windows run"):
        assert follow({"a": course}, tmp_path) == whole


def test_samples_are_not_written_through_links(tmp_path, monkeypatch):
    monkeypatch.setattr(courses, "PROBE_SECONDS", 0.01)
    precious = tmp_path / "precious"
    precious.write_text("kept")
    (tmp_path / "a.new").symlink_to(precious)
    follow({"a": Course(TORUS, 500, 2)}, tmp_path)
    assert precious.read_text() == "kept"


def test_a_checkpoint_behind_its_samples(tmp_path, monkeypatch):
    """If the process is killed after writing the samples and before writing the checkpoint, the samples beyond the old
    checkpoint are computed again."""
    monkeypatch.setattr(courses, "SAVE_SECONDS", 0)
    monkeypatch.setattr(courses, "PROBE_SECONDS", 0.01)
    with pytest.raises(Stopped):
        follow({"a": Course(TORUS, 500, 6, observe=stops_after(2))}, tmp_path)
    early = (tmp_path / "a.checkpoint").read_bytes()
    with pytest.raises(Stopped):
        follow({"a": Course(TORUS, 500, 6, observe=stops_after(4))}, tmp_path)
    (tmp_path / "a.checkpoint").write_bytes(early)
    assert follow({"a": Course(TORUS, 500, 6)}, tmp_path) == follow({"a": Course(TORUS, 500, 6)})


def test_a_deadlock_ends_it():
    ring = fl.Experiment.from_dict({
        "router.kind": "bgl", "topology.shape": [8], "traffic.pattern": "tornado", "traffic.load": 1.0,
        "traffic.packet_flits": [[1, 1], [8, 4]], "routing.dynamic": 0.0, "router.network_first": 0.0,
        "router.bubble_rule": "actual_size", "router.acks": "charged"})
    with pytest.raises(fl.RunError, match="wait for one another in a cycle"):
        follow({str(seed): Course(ring.set("run.seed", seed), 10000, 100) for seed in range(4)})
