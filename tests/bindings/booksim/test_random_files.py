"""flitlab-booksim on random files, without BookSim: exit codes, results that fit the traffic, and equal runs."""

import re

import pytest
from booksim_files import LINKS, random_file

from flitlab.booksim import program

SHORT = ["sample_period=200", "warmup_periods=1", "sim_count=1"]
SEEDS = range(20)


def of_classes(name, out):
    return [float(value) for value in re.findall(rf"^{name} average = (\S+) \(", out, re.MULTILINE)]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_file(seed, tmp_path, monkeypatch, capsys):
    made = random_file(seed)
    assert random_file(seed) == made
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c").write_text(made.text())
    (tmp_path / LINKS).write_text(made.links)
    first, second = ((program.main(["c", *SHORT]), *capsys.readouterr()) for _ in range(2))
    time = re.compile("Total run time .*")
    assert [first[0], time.sub("", first[1])] == [second[0], time.sub("", second[1])]
    status, out, errors = first
    assert status in (0, 255), errors
    assert all("this stage of BookSim" in line or "does not adapt" in line for line in errors.splitlines())
    assert ("unstable" in out) == (status == 0)
    if status == 0:
        return
    injected, accepted, latency, network, hops = (of_classes(name, out) for name in (
        "Injected flit rate", "Accepted flit rate", "Packet latency", "Network latency", "Hops"))
    assert len(latency) == made.classes
    for numbers in zip(injected, accepted, latency, network, hops, strict=True):
        assert 0 < numbers[1] <= 1 and numbers[0] <= 1
        # Each router takes at least two cycles.
        assert numbers[2] >= numbers[3] > 2 * numbers[4] > 0
