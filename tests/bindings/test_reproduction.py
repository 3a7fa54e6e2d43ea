"""The table that `flitlab reproduce` ends with."""

import flitlab.reproduction as reproduction
from flitlab.reproduction import row, table


def measured(published, value, experiment="x.one", **settings):
    return row(experiment, "speed", "a paper", "alone", published, value, "m/s", 0.5, reading="as told", **settings)


def test_a_line_for_each_experiment_their_sum_and_what_is_out():
    one = [measured(2, 2.5), measured(2, 3), measured(None, 7)]
    two = [measured(2, 3, "x.two", higher_is_better=True), measured(2, 1, "x.two", higher_is_better=True)]
    lines = list(table({"x.one": (one, 1.4), "x.two": (two, 2.2)}))
    assert [line.split() for line in lines[:4]] == [
        ["experiment", "match", "better", "out", "skipped", "seconds"],
        ["x.one", "1", "1", "1", "1"],
        ["x.two", "1", "1", "2"],
        ["all", "1", "1", "2", "1", "4"],
    ]
    assert len({len(line) for line in lines[:4]}) == 1
    assert lines[4] == ""
    assert [line.split()[:2] for line in lines[5:]] == [["out", "x.one"], ["out", "x.two"]]


def test_nothing_out_is_not_listed():
    assert len(list(table({"x.one": ([measured(2, 2)], 1)}))) == 3


def test_several_experiments_end_with_one_table(monkeypatch, capsys):
    known = {"x.one": ("help", lambda: [measured(2, 2)]), "x.two": ("help", lambda: [measured(2, 9, "x.two")])}
    monkeypatch.setattr(reproduction, "experiments", lambda: known)
    assert reproduction.main([], False, False, False, "out") == 1
    shown = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in shown if line.startswith(("experiment", "x.", "all"))] == [
        "experiment", "x.one", "x.two", "all"]
    assert shown[-1] == "1 match, 1 out"
    assert reproduction.main(["x.one"], False, False, False, "out") == 0
    assert "experiment " not in capsys.readouterr().out
